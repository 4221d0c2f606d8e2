#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "agent/jobs/forget.h"
#include "agent/jobs/unguarded.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/units.h"
#include "cli/options/commands.h"
#include "agent/jobs/past.h"
#include "cli/screen/view.h"
#include "tell/jobs/health_json.h"
#include "tell/jobs/job_json.h"
#include "tell/store/store_files.h"
#include "tell/text/textcols.h"

struct jobs_options {
	uint32_t limit;
	bool running;
	bool json;
	bool names; /* for completion: ids and names, a line each, without anything that a shell could mistake */
	uint64_t forget_ns; /* UINT64_MAX: none */
	const char *state;
};

static const struct jobs_options defaults = {.limit = 50, .forget_ns = UINT64_MAX};

static const struct option options[] = {
	{.name = "limit",
	 .letter = 'n',
	 .type = OPTION_U32,
	 .arg = "N",
	 .help = "show the newest N; 0 shows all",
	 .offset = offsetof(struct jobs_options, limit)},
	{.name = "running",
	 .letter = 'r',
	 .type = OPTION_FLAG,
	 .help = "show only jobs that run",
	 .offset = offsetof(struct jobs_options, running)},
	{.name = "forget",
	 .type = OPTION_DURATION,
	 .arg = "TIME",
	 .help = "remove the records, output and profiles of jobs that ended longer ago than this (30d); nothing else "
		 "does",
	 .offset = offsetof(struct jobs_options, forget_ns)},
	{.name = "names", .type = OPTION_FLAG, .offset = offsetof(struct jobs_options, names)},
	OPTION_JSON(jobs_options),
	OPTION_STATE(jobs_options),
	OPTION_END,
};

struct list {
	const struct view *view;
	const struct jobs_options *options;
	int64_t now_unix_ms;
	size_t shown;
};

static enum textout_ink state_ink(const struct job *j)
{
	if (j->stopped)
		return INK_PLAIN;
	switch (j->state) {
	case JOB_RUNNING:
	case JOB_DONE:
		return INK_GREEN;
	case JOB_FAILED:
	case JOB_LOST:
		return INK_RED;
	default:
		return INK_YELLOW;
	}
}

/* How a job that runs is, by what its supervisor says now; NULL: not known. Good until the next one. */
static const struct health *health_now(const struct job *j)
{
	static struct live_state live; /* large */
	struct job copy = *j;
	return job_is_open(j) && view_live(&copy, &live) ? &live.health : NULL;
}

/* What is wrong with a job that runs; NULL: nothing that is known. */
static const char *wrong_text(const struct job *j)
{
	const struct health *h = health_now(j);
	const bool wrong = h && (h->level == HEALTH_HUNG || h->level == HEALTH_SLOW || h->level == HEALTH_MEMORY);
	return wrong ? health_level_name(h->level) : NULL;
}

static const struct textcol columns[] = {
	{.head = "JOB", .width = 20, .left = true, .cut = true},
	{.head = "STATE", .width = 8, .left = true, .cut = true},
	{.head = "EXIT", .width = 4, .spare = 1},
	{.head = "STARTED", .width = 19, .spare = 6},
	{.head = "RAN", .width = 10, .least = 9},
	{.head = "TRY", .width = 3, .spare = 8},
	{.head = "PEAK", .width = 8, .spare = 5},
	{.head = "MEM+OTH", .width = 7, .spare = 7},
	{.head = "STEP", .width = 11, .least = 9, .spare = 2},
	{.head = "RATE", .width = 7, .least = 6, .spare = 3},
	{.head = "LEFT", .width = 9, .spare = 4},
	{.head = "COMMAND", .width = 7, .gap = 2},
};

static void print_row(const struct list *l, const struct job *j)
{
	const struct textout *p = &l->view->paper;
	char when[24], ran[24], peak[16] = "-", exit[16] = "-", kills[16] = "-", attempt[16];
	struct job_step_cells steps;
	past_step_cells(j, &steps);
	if (j->has_exit)
		(void)snprintf(exit, sizeof(exit), "%d", j->exit_status);
	if (j->peak_bytes > 0)
		(void)size_format(j->peak_bytes, peak);
	if (j->memory_kills + j->other_deaths > 0)
		(void)snprintf(kills, sizeof(kills), "%u+%u", j->memory_kills, j->other_deaths);
	TEXT_FORMAT(attempt, "%u", j->attempt);
	const char *wrong = wrong_text(j);
	if (l->shown == 0)
		textcols_head(p, columns, ARRAY_SIZE(columns), 0, true);
	const struct textcells cells = {
		.text = {j->id, wrong ? wrong : job_state_word(j), exit, time_format(j->started_unix_ms, when),
			 job_ran(j, l->now_unix_ms, ran), attempt, peak, kills, steps.step,
			 steps.rate, steps.left, j->command},
		.ink = {[1] = wrong ? INK_RED : state_ink(j)},
	};
	textcols_row(p, columns, ARRAY_SIZE(columns), 0, &cells);
}

static void print_word(const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
	if (text[0] && text[0] != '-' && text[strspn(text, plain)] == '\0')
		puts(text);
}

static int jobs_show_one(void *ctx, const struct job *stored)
{
	struct list *l = ctx;
	struct job j = *stored;
	view_refresh(l->view, &j);
	if (l->options->running && !job_is_open(&j))
		return 0;
	if (l->options->limit > 0 && l->shown >= l->options->limit)
		return 1;
	if (l->options->names) {
		print_word(j.id);
		print_word(j.name);
	} else if (l->options->json) {
		cleanup(js_freep) struct js *o = job_json(&j);
		static struct job_steps known;
		past_steps_tail(&j, &known);
		past_steps_put(o, &known);
		const struct health *h = health_now(&j);
		if (h)
			js_put(o, "health", health_json(h));
		ignore(js_write(o, stdout, 0), "main looks at stdout in the end");
	} else {
		print_row(l, &j);
	}
	l->shown++;
	return 0;
}

/* Lost jobs may be forgotten. A job of another machine, whose processes are out of sight, counts as running. */
static bool lives(void *ctx, const struct job *stored)
{
	struct job j = *stored;
	if (!job_is_open(stored))
		return false;
	view_refresh(ctx, &j);
	return job_is_open(&j);
}

struct forgetting {
	struct view *v;
	int64_t before_unix_ms;
	struct forgotten gone;
	struct fault f;
};

static int forget_act(void *arg)
{
	struct forgetting *g = arg;
	struct view *v = g->v;
	char note[256];
	const struct forget_want want = {g->before_unix_ms, g->before_unix_ms, lives, v};
	int r = store_open(v->state, STORE_WRITE, &v->store, note, &g->f);
	if (r == 0 && note[0])
		log_warning("%s", note);
	return r == 0 ? forget_jobs(v->store, v->state, &want, &g->gone, &g->f) : r;
}

static int forget(struct view *v, const struct jobs_options *o)
{
	struct forgetting g = {.v = v,
			       .before_unix_ms = clock_unix_ms() - (int64_t)(o->forget_ns / NS_PER_MS),
			       .f = {.text = ""}};
	char path[PATH_MAX], size[16], age[24];
	TEXT_FORMAT(path, "%s/" STORE_FILE, v->state);
	v->store = store_close(v->store);
	/* of a user's state directory root removes what the user could remove: folders there may be links */
	int r = store_as_owner(path, forget_act, &g);
	const struct forgotten gone = g.gone;
	if (r < 0) {
		log_error("%s", g.f.text);
		return r == -EACCES || r == -EPERM || r == -EROFS ? EXIT_DENIED : EXIT_PROBLEM;
	}
	if (o->json)
		printf("{\"schema\":\"vigil.forgotten/1\",\"jobs\":%zu,\"kept\":%zu,\"profiles\":%zu,\"bytes\":%llu}\n",
		       gone.jobs, gone.kept, gone.folders, (unsigned long long)gone.bytes);
	else
		log_info("%zu job%s that ended more than %s ago forgotten, %zu kept; %s given back", gone.jobs,
			 gone.jobs == 1 ? "" : "s", duration_format(o->forget_ns, age), gone.kept,
			 size_format(gone.bytes, size));
	return 0;
}

/* Programs that the agent should guard and has no place for. */
static void crowd_show(const struct view *v, bool json)
{
	struct unguarded crowd;
	char text[200];
	if (json || !unguarded_read(&v->world, v->state, &crowd))
		return;
	unguarded_text(&crowd, text, sizeof(text));
	log_info("%s", text);
}

static int jobs_run(const void *opts, int argc, char **argv)
{
	const struct jobs_options *o = opts;
	cleanup(view_done) struct view v = {.store = NULL};
	int status = view_words("jobs", argc, argv, 0);
	if (status == 0)
		status = view_open(o->state, &v);
	if (status != 0)
		return status;
	if (o->forget_ns != UINT64_MAX && v.store)
		return forget(&v, o);
	struct list l = {.view = &v, .options = o, .now_unix_ms = clock_unix_ms()};
	int r = v.store ? store_each_job(v.store, 0, jobs_show_one, &l) : 0;
	if (r < 0)
		return view_failed(&v, r, "the jobs");
	if (o->names)
		return 0;
	if (l.shown == 0 && !o->json)
		log_info("%s", v.store && o->running ? "no job is running" : v.store ? "no job is recorded" : v.none);
	crowd_show(&v, o->json);
	if (!o->json)
		view_others(&v);
	return 0;
}

const struct command command_jobs = {
	.name = "jobs",
	.usage = "vigil jobs [--running] [-n N] [--forget TIME] [--json]",
	.summary = "list the jobs, newest first",
	.about = "MEM+OTH counts the processes that were ended for memory and those that died otherwise. A job is lost "
		 "when the vigil in charge of it is gone without saying how the job ended, and stopped when its "
		 "user ended it. STEP is of the rank "
		 "that is behind, by what it prints; RATE (over the last minute) and LEFT are of jobs that run.\n",
	.examples = "vigil jobs\n"
		    "vigil jobs --running --json\n"
		    "vigil jobs --forget 30d        # what is older is removed from the state directory",
	.options = options,
	.options_size = sizeof(struct jobs_options),
	.defaults = &defaults,
	.run = jobs_run,
	.paged = true,
	.usage_status = EXIT_USAGE,
};
