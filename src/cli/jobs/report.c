#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/foreign_path.h"
#include "base/log.h"
#include "cli/options/commands.h"
#include "agent/incident/report_gather.h"
#include "cli/screen/view.h"
#include "tell/incident/page.h"

struct report_options {
	const char *html;
	bool json;
	const char *state;
};

static const struct option options[] = {
	{.name = "html",
	 .letter = 'o',
	 .type = OPTION_TEXT,
	 .arg = "FILE",
	 .help = "write the page to FILE; - is stdout",
	 .offset = offsetof(struct report_options, html)},
	OPTION_JSON(report_options),
	OPTION_STATE(report_options),
	OPTION_END,
};

/* A file is there as a whole or not at all; what is no plain file (a pipe, a device) is written into. */
static int put_file(const char *path, const char *text, size_t len)
{
	struct stat st;
	if (lstat(path, &st) != 0 || S_ISREG(st.st_mode))
		return foreign_path_replace(path, text, len, 0600);
	FILE *to = foreign_path_fopen(path, false);
	if (!to)
		return -errno;
	errno = 0;
	bool bad = fwrite(text, 1, len, to) != len;
	bad |= fclose(to) != 0;
	return !bad ? 0 : errno ? -errno : -EIO;
}

static int write_file(const struct js *report, const char *path, bool chosen)
{
	cleanup(freep) char *text = NULL;
	size_t len = 0;
	FILE *to = open_memstream(&text, &len);
	int r = to ? page_html(report, to) : -ENOMEM;
	if (to && fclose(to) != 0 && r == 0)
		r = -ENOMEM;
	if (r == 0)
		r = put_file(path, text, len);
	if (r < 0) {
		log_error("cannot write the report to %s: %s", path, strerror(-r));
		return r == -EACCES || r == -EPERM ? EXIT_DENIED : EXIT_PROBLEM;
	}
	if (!chosen || isatty(STDERR_FILENO))
		log_info("the report is in %s; open it in a browser", path);
	return 0;
}

static int tell(const struct report_options *o, const struct job *j, const struct js *report)
{
	char path[100];
	if (o->json) {
		ignore(js_write(report, stdout, 0), "main looks at stdout in the end");
		return 0;
	}
	if (o->html ? strcmp(o->html, "-") == 0 : !isatty(STDOUT_FILENO)) {
		if (page_html(report, stdout) == -ENOMEM) {
			log_error("cannot write the report: %s", strerror(ENOMEM));
			return EXIT_PROBLEM;
		}
		return 0; /* main looks at stdout in the end */
	}
	TEXT_FORMAT(path, "vigil-report-%s.html", j->id);
	return write_file(report, o->html && *o->html ? o->html : path, o->html != NULL);
}

static int gather(const struct view *v, const struct job *j, struct js **ret)
{
	const struct report_from from = {v->store, v->has_world ? &v->world : NULL, v->state};
	int r = report_gather(&from, j, ret);
	return r < 0 ? view_failed(v, r, "the job") : 0;
}

static int report_run(const void *opts, int argc, char **argv)
{
	const struct report_options *o = opts;
	cleanup(view_done) struct view v = {.store = NULL};
	cleanup(js_freep) struct js *report = NULL;
	struct job j;
	int status = view_words("report", argc, argv, 1);
	if (status == 0 && o->json && o->html) {
		log_error("--json goes to stdout, --html to a file: give one of them");
		status = EXIT_USAGE;
	}
	if (status == 0)
		status = view_open(o->state, &v);
	if (status == 0)
		status = view_job(&v, argc == 1 ? argv[0] : NULL, &j);
	if (status == 0)
		status = gather(&v, &j, &report);
	return status != 0 ? status : tell(o, &j, report);
}

const struct command command_report = {
	.name = "report",
	.usage = "vigil report [JOB|PID|last] [--html FILE] [--json]",
	.summary = "write one page about a job, to send to somebody",
	.about = "One HTML file that holds all it shows: the verdict as 'vigil why' says it and what to do, the "
		 "memory over the job's life with its limit, ranks and processes, attempts, events, each incident "
		 "with its evidence and stacks, and the last lines of the kept output. It loads nothing and runs no "
		 "script.\n\n"
		 "Secrets that are known by their name or form are shown as ***, also in the output; read the page "
		 "before you send it on. Only its owner may read the file.\n\n"
		 "Without --html the page goes to stdout; where stdout is a terminal it goes to "
		 "vigil-report-JOB.html in the current directory.",
	.examples = "vigil report last --html report.html\n"
		    "vigil report digits --json",
	.options = options,
	.options_size = sizeof(struct report_options),
	.run = report_run,
	.usage_status = EXIT_USAGE,
};
