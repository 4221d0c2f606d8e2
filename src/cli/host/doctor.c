#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/host/world_open.h"
#include "agent/incident/leftover.h"
#include "agent/jobs/unguarded.h"
#include "base/log.h"
#include "cli/host/doctor_file.h"
#include "cli/host/doctor_job.h"
#include "cli/options/commands.h"
#include "cli/options/state.h"
#include "cli/options/subject.h"
#include "cli/screen/view.h"
#include "judge/host/doctor.h"
#include "tell/host/findings.h"
#include "tell/text/textout.h"

struct doctor_options {
	const char *state;
	uint64_t for_ns;
	bool json;
};

static const struct doctor_options defaults = {.for_ns = 5 * NS_PER_S};

static const struct option doctor_options[] = {
	{.name = "for",
	 .letter = 'd',
	 .type = OPTION_DURATION,
	 .arg = "SECONDS",
	 .help = "how long a job is watched, 1 to 600",
	 .offset = offsetof(struct doctor_options, for_ns)},
	OPTION_STATE(doctor_options),
	OPTION_JSON(doctor_options),
	OPTION_END,
};

static void doctor_show(const struct findings *all)
{
	size_t warnings = 0;
	for (size_t i = 0; i < all->n; i++)
		warnings += all->row[i].severity >= SEVERITY_WARNING ? 1 : 0;
	findings_text(all, view_colour(), stdout);
	const struct textout p = {.to = stdout, .width = textout_width(stdout)};
	if (all->n)
		putchar('\n');
	if (warnings)
		textout_text(&p, 0, "%zu of %zu finding%s need%s attention.", warnings, all->n, all->n == 1 ? "" : "s",
			     warnings == 1 ? "s" : "");
	else
		textout_text(&p, 0, "Nothing on this machine endangers long jobs%s.",
			     all->n ? "; the notes say what vigil does in another way here" : "");
}

static void crowd_finding(const struct unguarded *u, struct findings *all)
{
	char text[200];
	unguarded_text(u, text, sizeof(text));
	struct finding *f = finding_add(all, "jobs-unguarded", SEVERITY_WARNING, "%s", text);
	finding_advice(f, "name fewer programs in the agent's --command, or start large ones under vigil run");
}

static int doctor_here(const struct doctor_options *o)
{
	struct world w;
	struct fault f = {.text = ""};
	struct unguarded crowd;
	bool crowded = false;
	static struct probe p;
	static struct findings all;
	int r = world_open(NULL, &w, &f);
	if (r == 0) {
		char state[256];
		struct fault none;
		if (state_dir(NULL, state, sizeof(state), &none) == 0) {
			leftover_clear(&w, state);
			crowded = unguarded_read(&w, state, &crowd);
		}
		r = probe_read(&w, &p);
		if (r)
			fault_set(&f, r, "cannot look at this machine: %s", strerror(-r));
		world_close(&w);
	}
	if (r) {
		log_error("%s", f.text);
		return r == -EACCES ? EXIT_DENIED : EXIT_PROBLEM;
	}
	doctor_machine(&p, &all);
	if (crowded)
		crowd_finding(&crowd, &all);
	findings_sort(&all);
	if (o->json) {
		struct js *j = findings_json(&all);
		ignore(js_write(j, stdout, 0), "main looks at stdout in the end");
		js_free(j);
	} else {
		doctor_show(&all);
	}
	return findings_worst(&all) >= SEVERITY_WARNING ? EXIT_PROBLEM : 0;
}

/* What looks like a path is a file; jobs have no '/' in their names. */
static bool is_file(const char *what)
{
	static const char *const ends[] = {".json", ".gz", ".trace"};
	const size_t n = strlen(what);
	if (strchr(what, '/'))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		if (n > strlen(ends[i]) && strcmp(what + n - strlen(ends[i]), ends[i]) == 0)
			return true;
	return false;
}

/* A file that looks like none. A job goes before a file of the same name; "./NAME" means the file. */
static bool is_plain_file(const char *what, const char *given)
{
	struct stat st;
	struct world w;
	struct subject s;
	char state[256];
	struct fault none = {.text = ""};
	if (stat(what, &st) < 0 || !S_ISREG(st.st_mode) || strcmp(what, "last") == 0)
		return false;
	if (world_open(NULL, &w, &none) < 0)
		return true;
	const bool named = state_dir(given, state, sizeof(state), &none) == 0 &&
			   subject_find_all(&w, state, what, &s, &none) != SUBJECT_NONE;
	world_close(&w);
	return !named;
}

static int doctor_run(const void *options, int argc, char **argv)
{
	const struct doctor_options *o = options;
	if (argc == 0)
		return doctor_here(o);
	if (argc > 1) {
		log_error("one JOB or PID is expected, not %d words; see 'vigil help doctor'", argc);
		return EXIT_USAGE;
	}
	if (o->for_ns < NS_PER_S || o->for_ns > 600 * NS_PER_S) {
		log_error("--for: expected 1 to 600 seconds; a shorter look proves nothing");
		return EXIT_USAGE;
	}
	if (is_file(argv[0]) || is_plain_file(argv[0], o->state))
		return doctor_file(argv[0], o->json);
	const struct doctor_job d = {.state = o->state, .what = argv[0], .for_ns = o->for_ns, .json = o->json};
	return doctor_job(&d);
}

const struct command command_doctor = {
	.name = "doctor",
	.usage = "vigil doctor [OPTIONS] [JOB|PID|last|FILE]",
	.summary = "why a job is not faster; what is unsafe on this machine",
	.about = "With a JOB or PID, watches it and its descendants for some seconds and says what holds it back, in "
		 "the order of what it costs, each with the evidence, the remedy, and how much faster the job would be "
		 "at most: too few processors, quotas, more threads than processors, Python's GIL, locks, loaders that "
		 "cannot keep up, one worker that serves everything, unequal or tiny tasks, data handed out piece by "
		 "piece, a process for each task, sleeping, disks, output that nobody takes, tiny reads, page faults, "
		 "busy waiting (as root), memory, memory bandwidth (as root, where it is counted), a broken loss. "
		 "Nothing is stopped or changed. Where nothing is "
		 "found, it says what was looked at.\n"
		 "\n"
		 "With a FILE, judges a trace in Chrome's format, packed with gzip or not, as `ray timeline`, "
		 "torch.profiler and others write it: tasks that are too small or of unequal length, one worker that "
		 "does everything, workers that work one after another, times in which nobody works. A name with a '/' "
		 "or "
		 "one that ends in .json, .gz or .trace is a file. The file is read part by part; of one that is cut "
		 "off, "
		 "what is there is judged.\n"
		 "\n"
		 "Without an argument, tries what vigil needs and looks at what endangers long jobs on this machine: "
		 "kernel settings, limits, other programs that end processes. Each finding says what suffers, on what "
		 "evidence, and what to do.\n"
		 "\n"
		 "Exit status 1 when something needs attention (a warning or a problem), else 0; 4 if there is no such "
		 "job, process or file.",
	.examples = "vigil doctor\nvigil doctor last\nvigil doctor 4711 --for 10\nvigil doctor timeline.json\nvigil "
		    "doctor last --json | jq "
		    "'.findings[0]'",
	.options = doctor_options,
	.options_size = sizeof(struct doctor_options),
	.defaults = &defaults,
	.run = doctor_run,
	.paged = true,
	.usage_status = EXIT_USAGE,
};
