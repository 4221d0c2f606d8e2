#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/inspect/raylook.h"
#include "agent/jobs/members.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/units.h"
#include "base/vec.h"
#include "cli/options/commands.h"
#include "agent/jobs/past.h"
#include "cli/screen/view.h"
#include "model/incident/incident.h"
#include "sense/framework/rayworker.h"
#include "tell/jobs/job_json.h"
#include "tell/text/textcols.h"

struct ps_options {
	bool all;
	bool json;
	const char *state;
};

static const struct option options[] = {
	{.name = "all",
	 .letter = 'a',
	 .type = OPTION_FLAG,
	 .help = "show processes that have ended, too",
	 .offset = offsetof(struct ps_options, all)},
	OPTION_JSON(ps_options),
	OPTION_STATE(ps_options),
	OPTION_END,
};

#define TASKS_CAP 65536
/* Time for the names of Ray's actors. */
#define NAMES_MOST_NS (NS_PER_S / 2)

struct list {
	const struct view *view;
	const struct ps_options *options;
	bool all, one; /* one: of one job */
	size_t shown;
	struct view_ends ends;
	struct job_steps steps; /* of the current job */
	uint64_t names_ns; /* time that names of Ray's actors have taken */
	struct live_state live; /* what its supervisor says; n 0: nothing */
	/* all tasks of the machine, read once */
	struct tasks tasks;
	bool listed;
	struct members members; /* of the current job, as it runs now */
	/* processes of the current job that were shown from the store */
	struct proc_id *stored; /* owned */
	size_t n_stored, stored_cap;
};

static void list_done(struct list *l)
{
	free(l->stored);
	members_done(&l->members);
	live_done(&l->live);
	if (l->listed)
		tasks_done(&l->tasks);
}

/* In 80 columns there is room for how far each rank is, and of one job for what each process is. */
static const struct textcol columns[] = {
	{.head = "JOB", .width = 20, .left = true, .cut = true},
	{.head = "TRY", .width = 3, .spare = 9},
	{.head = "RANK", .width = 4},
	{.head = "ROLE", .width = 10, .left = true, .cut = true, .spare = 5},
	{.head = "PID", .width = 7},
	{.head = "OWN", .width = 10, .least = 8},
	{.head = "RESIDENT", .width = 10, .spare = 7},
	{.head = "SHARED", .width = 10, .spare = 8},
	{.head = "PEAK", .width = 10, .spare = 6},
	{.head = "STEP", .width = 11, .least = 9, .spare = 2},
	{.head = "RATE", .width = 7, .least = 6, .spare = 3},
	{.head = "LEFT", .width = 9, .spare = 4},
	{.head = "STATE", .width = 8, .left = true, .spare = 5},
	{.head = "COMMAND", .width = 9, .gap = 2},
};

/* The name of the job is the first to go where one job was asked for. */
static void list_row(const struct list *l, const struct textcells *cells)
{
	struct textcol cols[ARRAY_SIZE(columns)];
	memcpy(cols, columns, sizeof(cols));
	cols[0].spare = l->one ? 10 : 0;
	if (cells)
		textcols_row(&l->view->paper, cols, ARRAY_SIZE(cols), 0, cells);
	else
		textcols_head(&l->view->paper, cols, ARRAY_SIZE(cols), 0, true);
}

/* Of two runs of Ray Train at once a rank says nothing without its run. False: it is none of these, or ended. */
static bool train_read(const struct list *l, const struct job_process *p, bool live, struct rayworker_train *ret)
{
	return live && p->rank == NO_RANK && strcmp(p->role, role_name(ROLE_RAY_WORKER)) == 0 &&
	       rayworker_train_read(&l->view->world, p->pid, ret);
}

/* By what its supervisor says now. */
static bool rank_is_slow(const struct list *l, int32_t rank)
{
	const struct health *h = &l->live.health;
	if (h->level != HEALTH_SLOW || rank == NO_RANK)
		return false;
	for (size_t i = 0; i < h->n_culprits; i++)
		if (h->culprit[i] == rank)
			return true;
	return false;
}

/* The name that the program gave the actor; "": none, or other actors have taken the time for it. */
static void actor_name_read(struct list *l, const struct job_process *p, bool live, char dst[static RAYHANDLE_NAME])
{
	const uint64_t now_ns = l->view->world.mono_ns();
	dst[0] = '\0';
	if (!live || l->names_ns > NAMES_MOST_NS || strcmp(p->role, role_name(ROLE_RAY_WORKER)) != 0)
		return;
	raylook_given_name(&l->view->world, p->pid, dst);
	l->names_ns += l->view->world.mono_ns() - now_ns;
}

static void print_row(struct list *l, const struct job_process *p, bool live)
{
	char command[600], actor[RAYHANDLE_NAME];
	struct rayworker_train train;
	char rank[12] = "-", own[16], rss[16], shared[16], peak[16], exit[24], attempt[16], pid[16];
	struct job_step_cells steps;
	job_step_cells(&l->steps, past_step_of(&l->steps, p), live ? clock_unix_ms() : 0, &steps);
	TEXT_COPY(command, p->command[0] ? p->command : p->name);
	if (train_read(l, p, live, &train)) {
		(void)snprintf(rank, sizeof(rank), "%d", train.rank);
		TEXT_FORMAT(command, "run %s: %s", train.run[0] ? train.run : "?", p->command);
	}
	actor_name_read(l, p, live, actor);
	if (actor[0])
		TEXT_FORMAT(command, "actor %s: %s", actor, p->command);
	if (p->rank != NO_RANK)
		(void)snprintf(rank, sizeof(rank), "%d", p->rank);
	TEXT_FORMAT(attempt, "%u", p->attempt);
	TEXT_FORMAT(pid, "%ld", (long)p->pid);
	if (l->shown == 0)
		list_row(l, NULL);
	bool measured = p->rss_bytes > 0;
	const char *now = rank_is_slow(l, p->rank) ? "slow" : "running";
	const char *state = live ? now : view_ended(&l->ends, p, exit);
	const struct textcells cells = {
		.text = {p->job, attempt, rank, p->role[0] ? p->role : "-", pid,
			 measured || p->own_bytes > 0 ? size_format(p->own_bytes, own) : "-",
			 measured ? size_format(p->rss_bytes, rss) : "-",
			 measured ? size_format(p->shared_bytes, shared) : "-",
			 p->peak_own_bytes > 0 ? size_format(p->peak_own_bytes, peak) : "-", steps.step, steps.rate,
			 steps.left, state, command},
	};
	list_row(l, &cells);
}

/* Ray's own ids of a worker, by which its logs and Ray's commands name it. */
static void ray_put(struct list *l, struct js *o, const struct job_process *p, bool live)
{
	struct rayworker r;
	if (!live || strcmp(p->role, role_name(ROLE_RAY_WORKER)) != 0 || !rayworker_read(&l->view->world, p->pid, &r))
		return;
	struct js *ray = js_object();
	js_put_text(ray, "worker_id", r.worker_id);
	js_put_text_if(ray, "job_id", r.job_id);
	char actor[RAYHANDLE_NAME];
	actor_name_read(l, p, live, actor);
	js_put_text_if(ray, "actor_name", actor);
	struct rayworker_train t;
	if (rayworker_train_read(&l->view->world, p->pid, &t)) {
		js_put_i64(ray, "train_rank", t.rank);
		js_put_text_if(ray, "train_run", t.run);
	}
	js_put(o, "ray", ray);
}

static void show_row(struct list *l, const struct job_process *p, bool live)
{
	if (l->options->json) {
		cleanup(js_freep) struct js *o = process_json(p);
		const struct job_step *s = past_step_of(&l->steps, p);
		js_put_bool(o, "running", live);
		if (live && rank_is_slow(l, p->rank))
			js_put_bool(o, "slow", true);
		ray_put(l, o, p, live);
		if (s)
			js_put_u64(o, "step", s->step);
		if (s && s->has_total)
			js_put_u64(o, "steps_total", s->total);
		ignore(js_write(o, stdout, 0), "main looks at stdout in the end");
	} else {
		print_row(l, p, live);
	}
	l->shown++;
}

/* The most that it had, which is stored at its end only. */
static void peak_put(const struct list *l, struct job_process *p)
{
	const struct live_process *now = live_find(&l->live, p->pid, p->start_ticks);
	if (now && now->peak_own_bytes > 0)
		p->peak_own_bytes = MAX(now->peak_own_bytes, p->own_bytes);
}

static int show_process(void *ctx, const struct job_process *stored)
{
	struct list *l = ctx;
	struct job_process p = *stored;
	bool live = view_process_now(l->view, &p);
	const struct member *now = live ? member_find(&l->members, p.pid) : NULL;
	/* a worker of Ray Train gets its number long after its start */
	if (now && now->task->start_ticks == p.start_ticks && p.rank == NO_RANK)
		p.rank = now->who.rank;
	if (live && vec_room(&l->stored, &l->stored_cap, l->n_stored + 1) < 0)
		return -ENOMEM;
	if (live)
		l->stored[l->n_stored++] = (struct proc_id){p.pid, p.start_ticks};
	if (live)
		peak_put(l, &p);
	if (live || l->all)
		show_row(l, &p, live);
	return 0;
}

static bool is_stored(const struct list *l, const struct task_row *t)
{
	for (size_t i = 0; i < l->n_stored; i++)
		if (l->stored[i].pid == t->pid && l->stored[i].start_ticks == t->start_ticks)
			return true;
	return false;
}

/* The processes of a job that runs. */
static int members_now(struct list *l, const struct job *j)
{
	const struct world *w = &l->view->world;
	const struct members_want want = {
		.ask = true, .job_id = j->id, .uid = j->uid, .root = j->adopted ? j->pid : 0, .group = j->cgroup};
	members_done(&l->members);
	if (!l->view->has_world || !job_is_open(j))
		return 0;
	if (!l->listed) {
		int r = tasks_init(&l->tasks, TASKS_CAP, -1);
		l->listed = r == 0;
		if (r == 0)
			r = tasks_scan(&l->tasks, w);
		if (r)
			return r;
	}
	return members_read(w, &l->tasks, &want, &l->members);
}

/* Shows workers and other processes that the ranks started, as they run now: the store has the ranks only. */
static void show_members(struct list *l, const struct job *j)
{
	for (size_t i = 0; i < l->members.n; i++) {
		const struct member *x = &l->members.row[i];
		if (is_stored(l, x->task))
			continue;
		struct job_process p = {.attempt = j->attempt,
					.pid = x->task->pid,
					.ppid = x->task->ppid,
					.start_ticks = x->task->start_ticks,
					.rank = x->who.rank};
		TEXT_COPY(p.job, j->id);
		TEXT_COPY(p.role, role_name(x->who.role));
		TEXT_COPY(p.name, proc_known_as(x->task->comm));
		TEXT_COPY(p.command, x->command);
		if (!view_process_now(l->view, &p))
			continue;
		peak_put(l, &p);
		show_row(l, &p, true);
	}
}

static int show_processes(struct list *l, struct job *j)
{
	l->n_stored = 0;
	(void)view_live(j, &l->live);
	past_steps(j, &l->steps);
	int unlisted = members_now(l, j);
	int r = past_each_process(l->view->store, j, show_process, l);
	if (r < 0)
		return r;
	show_members(l, j);
	return unlisted;
}

static int show_job(void *ctx, const struct job *stored)
{
	struct list *l = ctx;
	struct job j = *stored;
	view_refresh(l->view, &j);
	if (!l->options->all && !job_is_open(&j) && j.state != JOB_LOST)
		return 0;
	int r = show_processes(l, &j);
	if (r < 0)
		ignore(view_failed(l->view, r, "the processes"), "the other jobs can still be shown");
	return 0;
}

static int one_job(struct list *l, const char *name)
{
	struct job j;
	int status = view_job(l->view, name, &j);
	if (status != 0)
		return status;
	l->all = l->options->all || (!job_is_open(&j) && j.state != JOB_LOST);
	l->one = true;
	int r = show_processes(l, &j);
	if (r < 0)
		return view_failed(l->view, r, "the processes");
	view_ends_print(&l->view->paper, &l->ends);
	if (l->shown == 0 && !l->options->json)
		log_info("no process of job %s is known to run (%s)", j.id, job_state_word(&j));
	return 0;
}

static int ps_run(const void *opts, int argc, char **argv)
{
	const struct ps_options *o = opts;
	cleanup(view_done) struct view v = {.store = NULL};
	int status = view_words("ps", argc, argv, 1);
	if (status == 0)
		status = view_open(o->state, &v);
	if (status != 0)
		return status;
	cleanup(list_done) struct list l = {.view = &v, .options = o, .all = o->all};
	if (argc == 1)
		return one_job(&l, argv[0]);
	int r = v.store ? store_each_job(v.store, 0, show_job, &l) : 0;
	if (r < 0)
		return view_failed(&v, r, "the jobs");
	view_ends_print(&v.paper, &l.ends);
	if (l.shown == 0 && !o->json)
		log_info("%s", v.store ? "no process of any job is running" : v.none);
	return 0;
}

const struct command command_ps = {
	.name = "ps",
	.usage = "vigil ps [JOB|PID|last] [--all] [--json]",
	.summary = "list the processes of running jobs with their memory",
	.about = "OWN is what ending the process would free: its private memory, each page counted once among the "
		 "forks that have it (resident less shared where that cannot be read within 3 s). Numbers of "
		 "running processes are read as the command runs; those of ended ones are the last that were seen. "
		 "STEP, RATE (over the last minute) and LEFT are by what the rank prints. Of "
		 "a job that has ended its main processes are listed, of one that runs all.",
	.examples = "vigil ps\n"
		    "vigil ps last --all",
	.options = options,
	.options_size = sizeof(struct ps_options),
	.run = ps_run,
	.paged = true,
	.usage_status = EXIT_USAGE,
};
