#include "cli/options/subject.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "agent/host/world_open.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/options/commands.h"
#include "cli/options/state.h"
#include "tell/store/store.h"

#define WORKERS_NAMED 8 /* in a message */

static bool process_exists(const struct world *w, pid_t pid)
{
	char path[32];
	TEXT_FORMAT(path, "%d/stat", pid);
	return faccessat(w->proc_fd, path, F_OK, 0) == 0;
}

static int job_find(const char *state, const char *what, struct job *ret, struct fault *f)
{
	cleanup(store_closep) struct store *s = NULL;
	char note[256] = "";
	int r = store_open(state, STORE_READ, &s, note, f);
	if (r < 0)
		return r;
	if (r == 0)
		r = store_find_job(s, what, ret);
	if (r < 0)
		return fault_set(f, r, "cannot read the store in %s: %s", state, strerror(-r));
	return r == 0 ? 0 : SUBJECT_NONE;
}

/* "5269 (Learner.learn), 5270 (Learner)". */
static void workers_list(const struct rayfind *found, char *dst, size_t cap)
{
	struct buf b = {.text = dst, .cap = cap};
	buf_reset(&b);
	for (size_t i = 0; i < MIN(found->n, (size_t)WORKERS_NAMED); i++)
		buf_printf(&b, "%s%d (%s)", i ? ", " : "", found->of[i].pid, found->of[i].title);
	if (found->n_all > WORKERS_NAMED)
		buf_printf(&b, " and %zu more", found->n_all - WORKERS_NAMED);
}

/* What may stand in a file's name: letters, digits, '.', '_' and '-'. */
static void subject_key(const char *what, struct subject *s)
{
	TEXT_FORMAT(s->key, "ray-%s", what);
	for (char *p = s->key; *p; p++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-", *p))
			*p = '_';
}

static void workers_take(const char *what, const struct rayfind *found, struct subject *ret)
{
	struct subject s = {.is_job = false, .pid = found->of[0].pid};
	char shown[96];
	span_copy(span_of(what), shown, sizeof(shown));
	for (size_t i = 1; i < found->n; i++)
		s.also[s.n_also++] = found->of[i].pid;
	if (found->n_all == 1)
		TEXT_FORMAT(s.text, "Ray worker %d, %s", s.pid, found->of[0].title);
	else if (found->n_all > found->n)
		TEXT_FORMAT(s.text, "the first %zu of %zu Ray workers called %s", found->n, found->n_all, shown);
	else
		TEXT_FORMAT(s.text, "%zu Ray workers called %s", found->n, shown);
	subject_key(what, &s);
	*ret = s;
}

struct running {
	struct rayfind_job of[64]; /* the newest */
	size_t n;
};

static int running_add(void *ctx, const struct job *j)
{
	struct running *l = ctx;
	if (!job_is_open(j) || l->n == ARRAY_SIZE(l->of))
		return 0;
	l->of[l->n].pid = j->pid;
	TEXT_COPY(l->of[l->n].id, j->id);
	l->n++;
	return 0;
}

/* Without a store, or with one that may not be read, all workers of the machine count. */
static void running_read(const char *state, struct running *ret)
{
	cleanup(store_closep) struct store *store = NULL;
	char note[256];
	struct fault f = {.text = ""};
	ret->n = 0;
	if (store_open(state, STORE_READ, &store, note, &f) == 0)
		ignore(store_each_job(store, 0, running_add, ret), "what was read until then counts");
}

/* SUBJECT_NONE without a sentence: there is no such worker. */
static int worker_find(const struct world *w, const char *state, const char *what, bool several, struct subject *ret,
		       struct fault *f)
{
	struct rayfind found;
	struct running jobs;
	char list[WORKERS_NAMED * 128];
	running_read(state, &jobs);
	if (rayfind(w, what, jobs.of, jobs.n, &found) != 0 || found.n == 0)
		return SUBJECT_NONE;
	if (found.n_all > 1 && !several) {
		workers_list(&found, list, sizeof(list));
		return fault_set(f, -EINVAL, "%zu Ray workers are called '%s', and one is expected; give its pid: %s",
				 found.n_all, what, list);
	}
	workers_take(what, &found, ret);
	return 0;
}

static int process_subject(pid_t pid, struct subject *ret)
{
	struct subject s = {.is_job = false, .pid = pid};
	TEXT_FORMAT(s.text, "process %d and its descendants", s.pid);
	TEXT_FORMAT(s.key, "pid-%d", s.pid);
	*ret = s;
	return 0;
}

static int none_such(const char *state, const char *what, bool is_number, struct fault *f)
{
	if (is_number)
		return fault_set(f, SUBJECT_NONE,
				 "there is no process %s, and no job of that name in %s; `vigil jobs` lists the jobs",
				 what, state);
	if (strcmp(what, "last") == 0)
		return fault_set(f, SUBJECT_NONE,
				 "no job has been recorded in %s yet; start one with 'vigil run -- COMMAND'", state);
	return fault_set(
		f, SUBJECT_NONE,
		"there is no job '%s' in %s, and no Ray worker runs a task or actor of that name; `vigil jobs` lists "
		"the jobs, `vigil ps` their processes, and a process is named by its number",
		what, state);
}

static int any_find(const struct world *w, const char *state, const char *what, bool several, struct subject *ret,
		    struct fault *f)
{
	struct subject s = {.is_job = true};
	uint64_t number = 0;
	bool is_number = span_u64(span_of(what), &number) == 0 && number > 0 && number <= INT_MAX;
	if (is_number && process_exists(w, (pid_t)number))
		return process_subject((pid_t)number, ret);
	int r = job_find(state, what, &s.job, f);
	if (r < 0)
		return r;
	if (r == SUBJECT_NONE && !is_number)
		r = worker_find(w, state, what, several, ret, f);
	else if (r == 0) {
		s.pid = s.job.pid;
		TEXT_FORMAT(s.text, "job %s", s.job.id);
		TEXT_COPY(s.key, s.job.id);
		*ret = s;
	}
	return r == SUBJECT_NONE ? none_such(state, what, is_number, f) : r;
}

int subject_find(const struct world *w, const char *state, const char *what, struct subject *ret, struct fault *f)
{
	return any_find(w, state, what, false, ret, f);
}

int subject_find_all(const struct world *w, const char *state, const char *what, struct subject *ret, struct fault *f)
{
	return any_find(w, state, what, true, ret, f);
}

struct members_want subject_members(const struct subject *s)
{
	return (struct members_want){
		.ask = true,
		.job_id = s->is_job ? s->job.id : NULL,
		.uid = s->job.uid,
		.root = s->pid,
		.also = s->also,
		.n_also = s->n_also,
		.group = s->is_job ? s->job.cgroup : NULL,
	};
}

struct newest {
	const struct world *w;
	bool ended; /* one that is later than id has ended */
	char id[sizeof(((struct job *)0)->id)]; /* the newest that runs; empty: none */
};

static int newest_take(void *ctx, const struct job *j)
{
	struct newest *n = ctx;
	if (!job_is_open(j) || j->pid <= 0 || !process_exists(n->w, j->pid)) {
		n->ended = true;
		return 0;
	}
	TEXT_COPY(n->id, j->id);
	return 1;
}

/* Commands that look at what runs mean a job that does. */
static void newest_running(const struct world *w, const char *state, struct newest *ret)
{
	cleanup(store_closep) struct store *store = NULL;
	char note[256];
	struct fault f = {.text = ""};
	*ret = (struct newest){.w = w};
	if (store_open(state, STORE_READ, &store, note, &f) == 0)
		ignore(store_each_job(store, 0, newest_take, ret), "without a store there is no last job either");
	if (ret->id[0] && ret->ended)
		log_info("job %s, the newest that runs", ret->id);
}

int subject_open(const char *given, const char *what, struct world *ret_w, char *state, size_t cap, struct subject *ret)
{
	struct fault f = {.text = ""};
	struct newest newest;
	if (world_open(NULL, ret_w, &f) < 0 || state_dir(given, state, cap, &f) < 0) {
		log_error("%s", f.text);
		return EXIT_PROBLEM;
	}
	if (!what) {
		newest_running(ret_w, state, &newest);
		what = newest.id[0] ? newest.id : "last";
	}
	int r = subject_find_all(ret_w, state, what, ret, &f);
	if (r)
		log_error("%s", f.text);
	return r == 0 ? 0 : r == SUBJECT_NONE ? EXIT_ABSENT : r == -EACCES ? EXIT_DENIED : EXIT_PROBLEM;
}
