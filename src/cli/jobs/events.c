#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/units.h"
#include "cli/jobs/follow.h"
#include "cli/options/commands.h"
#include "cli/screen/pager.h"
#include "cli/screen/view.h"
#include "tell/jobs/job_json.h"
#include "tell/text/textcols.h"

struct events_options {
	bool follow;
	uint32_t tail;
	bool json;
	const char *state;
};

#define TAIL_ALL UINT32_MAX

static const struct events_options defaults = {.tail = TAIL_ALL};

static const struct option options[] = {
	{.name = "follow",
	 .letter = 'f',
	 .type = OPTION_FLAG,
	 .help = "go on with what happens from now on",
	 .offset = offsetof(struct events_options, follow)},
	{.name = "tail",
	 .letter = 'n',
	 .type = OPTION_U32,
	 .arg = "N",
	 .help = "begin with the last N events only",
	 .offset = offsetof(struct events_options, tail)},
	OPTION_JSON(events_options),
	OPTION_STATE(events_options),
	OPTION_END,
};

struct list {
	struct view *view;
	const struct events_options *options;
	const char *job; /* its id; NULL: all */
	uint64_t last_seq; /* of the newest event that was shown or skipped */
	uint64_t skip; /* events of the first round that --tail leaves out */
};

static enum textout_ink kind_ink(const char *kind)
{
	static const char *const bad[] = {"kill", "oom", "crash", "error", "hang", "died", "failed", "full", "lost"};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (strstr(kind, bad[i]))
			return INK_RED;
	return strncmp(kind, "retry", 5) == 0 || strncmp(kind, "hold", 4) == 0 ? INK_YELLOW : INK_PLAIN;
}

static int count_event(void *ctx, const struct job_event *e)
{
	(void)e;
	++*(uint64_t *)ctx;
	return 0;
}

static const struct textcol columns[] = {
	{.head = "TIME", .width = 19, .left = true, .spare = 2},
	{.head = "JOB", .width = 20, .least = 12, .gap = 2, .left = true, .cut = true, .spare = 1},
	{.head = "TRY", .width = 3, .spare = 3},
	{.head = "KIND", .width = 15, .least = 10, .gap = 2, .left = true, .cut = true},
	{.head = "TEXT", .width = 30, .least = 12, .gap = 2, .wrap = true},
};
/* On a terminal, of one job: its name in each line would take the room of what happened. */
static const struct textcol columns_of_one[] = {
	{.head = "TIME", .width = 19, .left = true, .spare = 1},
	{.head = "TRY", .width = 3, .spare = 2},
	{.head = "KIND", .width = 15, .least = 10, .gap = 2, .left = true, .cut = true},
	{.head = "TEXT", .width = 30, .least = 12, .gap = 2, .wrap = true},
};

static int show_event(void *ctx, const struct job_event *e)
{
	struct list *l = ctx;
	const struct textout *p = &l->view->paper;
	char when[24], attempt[16], text[sizeof(e->text) + sizeof(e->incident) + 2];
	l->last_seq = e->seq;
	if (l->skip > 0) {
		l->skip--;
		return 0;
	}
	if (l->options->json) {
		cleanup(js_freep) struct js *o = event_json(e);
		ignore(js_write(o, stdout, 0), "main looks at stdout in the end");
		return 0;
	}
	/* a terminal has no room for the incident's id */
	const bool with_id = e->incident[0] && p->width == 0;
	TEXT_FORMAT(attempt, "%u", e->attempt);
	TEXT_FORMAT(text, "%s%s%s", e->text, with_id ? "  " : "", with_id ? e->incident : "");
	time_format(e->time_unix_ms, when);
	if (l->job && p->width > 0) {
		const struct textcells one = {.text = {when, attempt, e->kind, text},
					      .ink = {[0] = INK_DIM, [2] = kind_ink(e->kind)}};
		textcols_row(p, columns_of_one, ARRAY_SIZE(columns_of_one), 0, &one);
		return 0;
	}
	const struct textcells cells = {
		.text = {when, e->job, attempt, e->kind, text},
		.ink = {[0] = INK_DIM, [3] = kind_ink(e->kind)},
	};
	textcols_row(p, columns, ARRAY_SIZE(columns), 0, &cells);
	return 0;
}

static int show_new(struct list *l)
{
	if (!l->view->store)
		return 0;
	int r = store_each_event(l->view->store, l->job, l->last_seq, show_event, l);
	l->skip = 0;
	(void)fflush(stdout);
	return r < 0 ? view_failed(l->view, r, "the events") : 0;
}

static int skip_to_tail(struct list *l)
{
	uint64_t n = 0;
	if (l->options->tail == TAIL_ALL || !l->view->store)
		return 0;
	int r = store_each_event(l->view->store, l->job, 0, count_event, &n);
	l->skip = sub_floor(n, l->options->tail);
	return r < 0 ? view_failed(l->view, r, "the events") : 0;
}

/* Opens a store that was made or replaced in the meantime. Its event numbers begin anew. */
static int open_again(struct list *l)
{
	view_done(l->view);
	l->last_seq = 0;
	return view_open(l->options->state, l->view);
}

/* Shows events until the job has ended; without a job until a signal ends this process. */
static int events_follow(struct list *l, struct job *j)
{
	cleanup(follow_done) struct follow f = {.inotify_fd = -1, .pid_fd = -1};
	pager_leave();
	int r = follow_open(l->view->state, &f);
	if (r < 0) {
		log_error("cannot watch the state directory %s: %s", l->view->state, strerror(-r));
		return r == -ENOENT ? EXIT_ABSENT : EXIT_PROBLEM;
	}
	if (j)
		follow_process(&f, j->supervisor_pid);
	for (int status = 0; status == 0;) {
		bool live = !j || job_is_open(j);
		status = show_new(l);
		if (status != 0 || !live)
			return status;
		unsigned what = 0;
		if ((r = follow_wait(&f, &what)) < 0) {
			log_error("cannot wait for events: %s", strerror(-r));
			return EXIT_PROBLEM;
		}
		if (what & FOLLOW_NO_READER)
			return 0;
		/* a new file is first empty: until its tables exist, every change is a reason to open it again */
		if ((what & FOLLOW_NEW_STORE) || ((what & FOLLOW_STORE) && !l->view->store))
			status = open_again(l);
		if (status == 0 && j && l->view->store)
			status = view_job(l->view, l->job, j);
	}
	return EXIT_PROBLEM;
}

static int events_run(const void *opts, int argc, char **argv)
{
	const struct events_options *o = opts;
	cleanup(view_done) struct view v = {.store = NULL};
	struct job j;
	int status = view_words("events", argc, argv, 1);
	if (status == 0)
		status = view_open(o->state, &v);
	if (status == 0 && argc == 1)
		status = view_job(&v, argv[0], &j);
	if (status != 0)
		return status;
	struct list l = {.view = &v, .options = o, .job = argc == 1 ? j.id : NULL};
	status = skip_to_tail(&l);
	if (status != 0)
		return status;
	if (o->follow) {
		char id[sizeof(j.id)] = ""; /* a copy, because j is read again */
		if (argc == 1)
			memcpy(id, j.id, sizeof(id));
		l.job = argc == 1 ? id : NULL;
		return events_follow(&l, argc == 1 ? &j : NULL);
	}
	if (!v.store && !o->json)
		log_info("%s", v.none);
	return show_new(&l);
}

const struct command command_events = {
	.name = "events",
	.usage = "vigil events [JOB|PID|last] [--follow] [--tail N] [--json]",
	.summary = "list what happened, oldest first",
	.about = "With --follow and a job it ends when the job ends; without a job it goes on until it is stopped.",
	.examples = "vigil events last\n"
		    "vigil events --follow --tail 0 --json",
	.options = options,
	.options_size = sizeof(struct events_options),
	.defaults = &defaults,
	.run = events_run,
	.paged = true,
	.usage_status = EXIT_USAGE,
};
