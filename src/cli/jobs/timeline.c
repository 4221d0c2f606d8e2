#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/foreign_path.h"
#include "base/log.h"
#include "cli/options/commands.h"
#include "agent/jobs/past.h"
#include "agent/speed/tracefile.h"
#include "cli/screen/view.h"
#include "tell/jobs/timeline.h"

struct timeline_options {
	const char *output, *ray, *from, *to;
	uint32_t points;
	bool json;
	const char *state;
};

static const struct option options[] = {
	{.name = "output",
	 .letter = 'o',
	 .type = OPTION_TEXT,
	 .arg = "FILE",
	 .help = "write to FILE; - is stdout",
	 .offset = offsetof(struct timeline_options, output)},
	{.name = "ray",
	 .type = OPTION_TEXT,
	 .arg = "FILE",
	 .help = "show the tasks in FILE, which `ray timeline` wrote, with it",
	 .offset = offsetof(struct timeline_options, ray)},
	{.name = "points",
	 .type = OPTION_U32,
	 .arg = "N",
	 .help = "at most N points of each curve, of each part of the time the most memory; all there are by itself",
	 .offset = offsetof(struct timeline_options, points)},
	{.name = "from",
	 .type = OPTION_TEXT,
	 .arg = "MS",
	 .help = "curves from this time on, in milliseconds since 1970",
	 .offset = offsetof(struct timeline_options, from)},
	{.name = "to",
	 .type = OPTION_TEXT,
	 .arg = "MS",
	 .help = "curves up to this time",
	 .offset = offsetof(struct timeline_options, to)},
	{.name = "json",
	 .type = OPTION_FLAG,
	 .help = "accepted as everywhere; the timeline is JSON anyway",
	 .offset = offsetof(struct timeline_options, json)},
	OPTION_STATE(timeline_options),
	OPTION_END,
};

/* What is wanted of the curves; EXIT_USAGE after a sentence. */
static int range_parse(const struct timeline_options *o, struct timeline_want *ret)
{
	const struct {
		const char *name, *text;
		int64_t *to;
	} times[] = {{"--from", o->from, &ret->from_unix_ms}, {"--to", o->to, &ret->to_unix_ms}};
	for (size_t i = 0; i < ARRAY_SIZE(times); i++) {
		int64_t v;
		if (!times[i].text)
			continue;
		if (span_i64(span_of(times[i].text), &v) < 0 || v <= 0) {
			log_error("%s: '%s' is no time; milliseconds since 1970 are expected", times[i].name,
				  times[i].text);
			return EXIT_USAGE;
		}
		*times[i].to = v;
	}
	ret->points = o->points;
	return 0;
}

/* What `ray timeline` wrote; NULL: it is not wanted. */
static int ray_read(const char *path, struct tracefacts *facts, const struct tracefacts **ret)
{
	struct fault f = {.text = ""};
	*ret = NULL;
	if (!path)
		return 0;
	int r = tracefile_read(path, NULL, facts, &f);
	if (r == 0 && !facts->ray)
		r = fault_set(&f, TRACEFILE_OTHER, "%s has no task of Ray: expected what `ray timeline` writes", path);
	if (r) {
		log_error("%s", f.text);
		return EXIT_PROBLEM;
	}
	if (facts->cut_off)
		log_warning("%s ends within: only the tasks before that are shown", path);
	*ret = facts;
	return 0;
}

static int timeline_write_to(const struct view *v, const struct job *j, const struct timeline_want *range, FILE *to)
{
	size_t len, n_ray = 0;
	int error;
	cleanup(freep) char *series = past_read(j, &len, &error);
	if (error)
		log_warning("cannot read %s/%s (%s); the timeline has no counters", j->log_dir, SERIES_FILE,
			    strerror(error));
	struct timeline_want want = *range;
	want.store = v->store;
	want.job = j;
	want.series = (struct span){series, len};
	want.now_unix_ms = clock_unix_ms();
	want.running = job_is_open(j);
	want.ret_ray_tasks = &n_ray;
	int r = timeline_write(&want, to);
	if (want.ray && n_ray == 0)
		log_warning("no task in Ray's file was at work while the job ran: it is of another time");
	return r < 0 ? view_failed(v, r, "the timeline") : 0;
}

static int write_file(const struct view *v, const struct job *j, const struct timeline_want *range, const char *path,
		      bool chosen)
{
	struct stat st;
	FILE *to = foreign_path_fopen(path, false);
	if (!to) {
		log_error("cannot write the timeline to %s: %s", path, strerror(errno));
		return EXIT_PROBLEM;
	}
	bool regular = lstat(path, &st) == 0 && S_ISREG(st.st_mode); /* false for a link such as /dev/stdout */
	int status = timeline_write_to(v, j, range, to);
	errno = 0;
	bool bad = ferror(to) != 0;
	int error = fclose(to) == 0 && !bad ? 0 : errno ? errno : EIO;
	if (error && status == 0) {
		log_error("cannot write the timeline to %s: %s", path, strerror(error));
		status = EXIT_PROBLEM;
	}
	if (status != 0 && regular)
		ignore(foreign_path_unlink(path), "no program opens half a trace; it is told that it failed");
	if (status == 0 && (!chosen || isatty(STDERR_FILENO)))
		log_info("the timeline is in %s; open it in https://ui.perfetto.dev or chrome://tracing", path);
	return status;
}

static int timeline_run(const void *opts, int argc, char **argv)
{
	const struct timeline_options *o = opts;
	cleanup(view_done) struct view v = {.store = NULL};
	cleanup(tracefacts_done) struct tracefacts facts = {.n_rows = 0};
	struct timeline_want range = {.points = 0};
	struct job j;
	char path[100];
	int status = view_words("timeline", argc, argv, 1);
	if (status == 0)
		status = range_parse(o, &range);
	if (status == 0)
		status = view_open(o->state, &v);
	if (status == 0)
		status = view_job(&v, argc == 1 ? argv[0] : NULL, &j);
	if (status == 0)
		status = ray_read(o->ray, &facts, &range.ray);
	if (status != 0)
		return status;
	bool to_stdout = o->output ? strcmp(o->output, "-") == 0 : !isatty(STDOUT_FILENO);
	if (to_stdout)
		return timeline_write_to(&v, &j, &range, stdout); /* main checks stdout at the end */
	TEXT_FORMAT(path, "vigil-timeline-%s.json", j.id);
	return write_file(&v, &j, &range, o->output && *o->output ? o->output : path, o->output != NULL);
}

const struct command command_timeline = {
	.name = "timeline",
	.usage = "vigil timeline [JOB|PID|last] [-o FILE] [--ray FILE]",
	.summary = "write a job's timeline as a Chrome trace",
	.about = "Attempts, events, kills and freezes, the processes of each rank, and counters of CPU, memory and IO, "
		 "as Chrome trace JSON, which https://ui.perfetto.dev and chrome://tracing open. Without -o it goes to "
		 "stdout; where stdout is a terminal it goes to vigil-timeline-JOB.json in the current directory. A "
		 "running job's timeline ends now, that of a lost job where its vigil was last heard of.\n\n"
		 "Ranks are lanes. CPU is in cores, disk is what was read from and written to disks, IO calls count "
		 "the cache and pipes as well. Samples are taken every second in the first minute and every five "
		 "seconds later, less often where looking costs more. When 8 MiB are full, the last hour stays as it "
		 "was sampled, the last day at 10 s, 30 days at a minute, what is older at an hour, and all of it "
		 "coarser where that does not fit; of each part of time the sample with most memory stays.\n\n"
		 "--ray joins what Ray itself knows: each of its nodes is a lane, each worker a row with its tasks and "
		 "calls, on the job's clock.",
	.examples = "vigil timeline last -o run.json\n"
		    "vigil timeline digits | gzip > digits.json.gz\n"
		    "ray timeline && vigil timeline last --ray /tmp/ray-timeline-2026-11-25_10-00-00.json",
	.options = options,
	.options_size = sizeof(struct timeline_options),
	.run = timeline_run,
	.usage_status = EXIT_USAGE,
};
