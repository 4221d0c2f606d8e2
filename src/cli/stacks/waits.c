#include <stdio.h>
#include <stdlib.h>

#include "agent/wait/waitsread.h"
#include "base/log.h"
#include "cli/options/commands.h"
#include "cli/options/subject.h"
#include "cli/screen/pager.h"
#include "cli/screen/stopkey.h"
#include "cli/screen/view.h"
#include "tell/jobs/health_json.h"
#include "tell/stacks/waits_show.h"

struct waits_options {
	const char *state;
	uint64_t apart_ns;
	bool all;
	bool json;
	bool dot;
};

static const struct waits_options defaults = {.apart_ns = WAITSREAD_LEAST_NS};

static const struct option waits_options[] = {
	{.name = "all",
	 .letter = 'a',
	 .type = OPTION_FLAG,
	 .help = "every thread, also those that are in nobody's way (--json always has them)",
	 .offset = offsetof(struct waits_options, all)},
	{.name = "seconds",
	 .letter = 's',
	 .type = OPTION_DURATION,
	 .arg = "SECONDS",
	 .help = "time between the two looks, 2 or more; 0: one look, which proves nothing",
	 .offset = offsetof(struct waits_options, apart_ns)},
	{.name = "dot",
	 .type = OPTION_FLAG,
	 .help = "print the graph in the DOT language of graphviz",
	 .offset = offsetof(struct waits_options, dot)},
	OPTION_STATE(waits_options),
	OPTION_JSON(waits_options),
	OPTION_END,
};

static void progress(void *ctx, uint64_t left_ns)
{
	(void)ctx;
	(void)fprintf(stderr, "\rthe second look is in %.1f s ", (double)left_ns / 1e9);
	(void)fflush(stderr);
}

/* What is told of a job that hangs or is slow; NULL: nothing. Good until the next call. */
static const struct health *waits_told(const struct subject *s)
{
	static struct live_state live; /* large */
	struct job job = s->job;
	const bool known = s->is_job && job_is_open(&job) && view_live(&job, &live);
	return known && (live.health.level == HEALTH_HUNG || live.health.level == HEALTH_SLOW) ? &live.health : NULL;
}

static void waits_show(const struct waits_options *o, const struct subject *s, const struct waitsread *r)
{
	const struct waits_view view = {
		.graph = &r->graph,
		.now = &r->look[r->n_looks - 1],
		.title = s->text,
		.health = waits_told(s),
		.captured_unix_ms = r->captured_unix_ms,
		.apart_ns = r->apart_ns,
		.took_ns = r->took_ns,
		.stopped = r->stopped,
		.cut = r->cut,
		.hints_late = r->hints_late,
		.n_denied = r->n_denied,
	};
	const struct waits_how how = {.all = o->all};
	if (o->json) {
		struct js *j = waits_json(&view);
		if (view.health)
			js_put(j, "health", health_json(view.health));
		ignore(js_write(j, stdout, 0), "main looks at stdout in the end");
		js_free(j);
	} else if (o->dot) {
		pager_whole_lines();
		waits_dot(&view, &how, stdout);
	} else {
		const struct textout paper = {.to = stdout, .colour = view_colour(), .width = textout_width(stdout)};
		waits_text(&view, &how, &paper);
	}
}

static int take_and_show(const struct world *w, const struct waits_options *o, const char *state,
			 const struct subject *s)
{
	cleanup(wakehist_done) struct wakehist wakes = {.n = 0};
	const struct members_want members = subject_members(s);
	bool shows = view_progress();
	const struct waitsread_want want = {
		.members = &members,
		.wakes = &wakes,
		.apart_ns = o->apart_ns,
		.stop = stopkey_begin(false),
		.progress = shows ? progress : NULL,
	};
	struct waitsread r;
	struct fault f = {.text = ""};
	if (s->is_job)
		waitsread_wakes(state, s->job.id, &wakes);
	int e = waitsread_take(w, &want, &r, &f);
	if (shows)
		(void)fputs("\r\033[K", stderr);
	if (e) {
		log_error("%s: %s", s->text, f.text);
		return e == WAITSREAD_NONE || e == WAITSREAD_ENDED ? EXIT_ABSENT
		       : e == WORLD_DENIED			   ? EXIT_DENIED
								   : EXIT_PROBLEM;
	}
	waits_show(o, s, &r);
	bool denied = r.subject_denied;
	waitsread_done(&r);
	if (denied)
		log_error(
			"process %d itself may not be looked into, and only its descendants are shown; be its user, or "
			"root",
			(int)s->pid);
	return denied ? EXIT_DENIED : 0;
}

static int check(const struct waits_options *o, int argc)
{
	if (argc > 1) {
		log_error("one JOB or PID is expected, not %d; see 'vigil help waits'", argc);
		return EXIT_USAGE;
	}
	if (o->json && o->dot) {
		log_error("--json and --dot are two forms of the same; name one of them");
		return EXIT_USAGE;
	}
	if (o->apart_ns != 0 && (o->apart_ns < WAITSREAD_LEAST_NS || o->apart_ns > 3600 * NS_PER_S)) {
		log_error("--seconds: expected 2 to 3600, or 0 for one look; looks that are nearer to each other prove "
			  "nothing");
		return EXIT_USAGE;
	}
	return 0;
}

static int waits_run(const void *options, int argc, char **argv)
{
	const struct waits_options *o = options;
	struct world w;
	struct subject s;
	char state[256];
	int r = check(o, argc);
	if (r)
		return r;
	r = subject_open(o->state, argc == 1 ? argv[0] : NULL, &w, state, sizeof(state), &s);
	if (r)
		return r;
	return take_and_show(&w, o, state, &s);
}

const struct command command_waits = {
	.name = "waits",
	.usage = "vigil waits [OPTIONS] [JOB|PID|last]",
	.summary = "who waits for whom in a job, and where the waiting ends",
	.about = "Looks twice at what each thread of a job, or of a process and its descendants, waits for and at who "
		 "could end that wait: the other end of a connection or pipe, the owner of a lock, a child, a file "
		 "server. The job need not hang. First come the threads at which the waiting ends, the one that most "
		 "main processes wait for first, with the way to it; then each process, and of its threads those that "
		 "are in somebody's way. Ranks that wait in NCCL's calls are known where the job was started with "
		 "'vigil run --collectives'. Nothing is stopped or changed.\n"
		 "\n"
		 "Without JOB it is the newest job that runs. JOB may also be the name of a Ray task or actor "
		 "(preprocess, Learner, Learner.learn, or the name that get_actor() takes): all workers of the running "
		 "jobs, or else of this machine, that "
		 "are called so.\n"
		 "\n"
		 "An end is proved if it is certain that none of its threads can ever run again: nobody else is able "
		 "to end their waits, and no time limit does. A process that may not be looked into, a host without "
		 "vigil or a listening socket make that impossible to prove, and the words then say less.\n"
		 "\n"
		 "The rights are those of `vigil stack`. Ctrl-C ends the pause between the looks and shows what one "
		 "look gives. Exit status: 3 if none of the processes may be looked into, 4 if there is no such job or "
		 "process, or if it ended meanwhile.",
	.examples = "vigil waits last\nvigil waits 4711 --all\nvigil waits last --dot | dot -Tsvg > waits.svg\n"
		    "vigil waits last --json | jq '.ends[0]'",
	.options = waits_options,
	.options_size = sizeof(struct waits_options),
	.defaults = &defaults,
	.run = waits_run,
	.paged = true,
	.usage_status = EXIT_USAGE,
};
