#include "agent/jobs/past.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/jobs/jobfolder.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "sense/proc/proc.h"
#include "sense/rank.h"
#include "tell/jobs/bulklife.h"

char *past_read(const struct job *j, size_t *ret_len, int *ret_error)
{
	char *text = NULL;
	*ret_len = 0;
	*ret_error = 0;
	if (!j->log_dir[0])
		return NULL;
	int r = jobfolder_slurp(j->log_dir, SERIES_FILE, PAST_READ_MAX, &text, ret_len);
	if (r == 0)
		return text;
	*ret_len = 0;
	*ret_error = r == -ENOENT ? 0 : -r;
	return NULL;
}

/* What makes a file a series; a reader passes over the part of a record that follows it here. */
#define SERIES_HEAD 8
/* A minute of a few ranks; where that does not tell the steps, 16 times as much is read, and so on. */
#define STEPS_FIRST (32 * KIB)
/* Minutes of 64 ranks that are looked at each second. */
#define STEPS_TAIL (512 * KIB)

char *past_read_tail(const struct job *j, size_t most, size_t *ret_len)
{
	struct stat st;
	size_t head = 0, len = 0;
	cleanup(closep) int fd = -1;
	if (jobfolder_file_open(j->log_dir, SERIES_FILE, &fd) < 0 || fstat(fd, &st) < 0)
		return NULL;
	cleanup(freep) char *text = malloc(most + SERIES_HEAD);
	uint64_t from = MAX(sub_floor((uint64_t)st.st_size, most), (uint64_t)SERIES_HEAD);
	from -= from % 8; /* records are multiples of eight bytes */
	if (!text || file_read_from(fd, 0, text, SERIES_HEAD, &head) < 0 || head < SERIES_HEAD ||
	    file_read_from(fd, from, text + SERIES_HEAD, most, &len) < 0)
		return NULL;
	*ret_len = SERIES_HEAD + len;
	return take(&text);
}

/* From so much of the end as tells them, and at most so much. */
static void steps_read(const struct job *j, size_t most, struct job_steps *ret)
{
	for (size_t n = STEPS_FIRST;; n = MIN(n * 16, most)) {
		size_t len = 0;
		cleanup(freep) char *text = past_read_tail(j, n, &len);
		bool sure = job_steps_of((struct span){text, len}, j->attempt, ret);
		if (sure || len < n + SERIES_HEAD || n == most)
			return; /* shorter: that was the whole file */
	}
}

void past_steps(const struct job *j, struct job_steps *ret)
{
	steps_read(j, PAST_READ_MAX, ret);
}

void past_steps_tail(const struct job *j, struct job_steps *ret)
{
	steps_read(j, STEPS_TAIL, ret);
}

void past_pace_tail(const struct job *j, struct steppace *ret)
{
	size_t len = 0;
	cleanup(freep) char *text = past_read_tail(j, STEPS_TAIL, &len);
	job_pace_of((struct span){text, len}, j->attempt, ret);
	if (len >= STEPS_TAIL) /* it is not the attempt's start */
		ret->start_per_s = 0;
}

/* Now, of steps that go on; 0: they do not. */
static int64_t steps_now_ms(const struct job *j)
{
	return job_is_open(j) && j->state != JOB_WAITING ? clock_unix_ms() : 0;
}

void past_steps_text(const struct job *j, const struct job_steps *s, char *dst, size_t cap)
{
	job_steps_text(s, steps_now_ms(j), dst, cap);
}

void past_steps_put(struct js *o, const struct job_steps *s)
{
	if (s->n == 0)
		return;
	js_put(o, "steps", job_steps_json(s));
	js_put_i64(o, "steps_unix_ms", s->time_unix_ms);
}

void past_step_cells(const struct job *j, struct job_step_cells *ret)
{
	static struct job_steps s;
	past_steps_tail(j, &s);
	job_step_cells(&s, job_steps_low(&s), steps_now_ms(j), ret);
}

const struct job_step *past_step_of(const struct job_steps *s, const struct job_process *p)
{
	if (strcmp(p->role, "main") != 0 || p->attempt != s->attempt)
		return NULL;
	/* of an output that ranks share, rank 0 writes the bar */
	const struct job_step *own = job_steps_find(s, p->rank);
	return own || p->rank != 0 ? own : job_steps_find(s, NO_RANK);
}

/* ---- processes ---- */

/* Of workers there may be thousands; ranks and what starts them are what a person looks for. */
static bool is_shown(const struct series_process *p)
{
	static const char *const always[] = {"launcher", "ray_worker"};
	for (size_t i = 0; i < ARRAY_SIZE(always); i++)
		if (strcmp(p->role, always[i]) == 0)
			return true;
	return strcmp(p->role, "main") == 0 && p->rank != NO_RANK;
}

struct past {
	const struct job *job;
	struct series_process *of;
	size_t n;
	size_t next; /* behind the one that was found last: both lists are in nearly the same order */
	past_process_fn *fn;
	void *ctx;
	struct bulklife *large; /* owned; those whose memory was told apart */
	size_t n_large;
};

static struct series_process *past_find(struct past *p, pid_t pid, uint64_t start_ticks)
{
	for (size_t k = 0; k < p->n; k++) {
		const size_t i = (p->next + k) % p->n;
		if (p->of[i].pid == pid && p->of[i].start_ticks == start_ticks) {
			p->next = i + 1;
			return &p->of[i];
		}
	}
	return NULL;
}

static void peak_take(const struct past *p, struct job_process *one)
{
	const struct bulklife *l = bulklife_find(p->large, p->n_large, one->pid, one->start_ticks);
	if (l && one->peak_own_bytes < l->peak_own_bytes)
		one->peak_own_bytes = l->peak_own_bytes;
}

static int stored_take(void *ctx, const struct job_process *stored)
{
	struct past *p = ctx;
	struct job_process one = *stored;
	struct series_process *known = past_find(p, one.pid, one.start_ticks);
	if (known) {
		one.rank = one.rank == NO_RANK ? known->rank : one.rank;
		TEXT_COPY(one.role, known->role);
		TEXT_COPY(one.name, known->name);
		one.own_bytes = one.own_bytes > 0 ? one.own_bytes : known->own_bytes;
		known->pid = 0; /* told */
	}
	peak_take(p, &one);
	return p->fn(p->ctx, &one);
}

static struct job_process past_process_of(const struct job *j, const struct series_process *s)
{
	struct job_process p = {.attempt = s->attempt,
				.pid = s->pid,
				.ppid = s->ppid,
				.start_ticks = s->start_ticks,
				.rank = s->rank,
				.own_bytes = s->ended_unix_ms > 0 ? s->own_bytes : 0,
				.started_unix_ms = s->started_unix_ms,
				.ended_unix_ms = s->ended_unix_ms};
	TEXT_COPY(p.job, j->id);
	TEXT_COPY(p.role, s->role);
	TEXT_COPY(p.name, s->name);
	return p;
}

bool past_find_running(const struct world *w, const struct job *j, pid_t pid, struct job_process *ret)
{
	size_t len, n = 0;
	int error;
	struct proc_stat st;
	if (proc_stat_read(w, pid, &st) != 0 || proc_is_over(&st))
		return false;
	cleanup(freep) char *text = past_read(j, &len, &error);
	cleanup(freep) struct series_process *list = NULL;
	if (job_processes_of((struct span){text, len}, &list, &n) < 0)
		return false;
	for (size_t i = 0; i < n; i++)
		if (list[i].pid == pid && list[i].start_ticks == st.start_ticks) {
			*ret = past_process_of(j, &list[i]);
			return true;
		}
	return false;
}

/* One that the series alone has, and how long it lived. */
struct seen {
	struct series_process *process;
	int64_t lived_ms;
};

static int longest_first(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;
	return x->lived_ms > y->lived_ms ? -1 : x->lived_ms < y->lived_ms;
}

/* Who had no end when it was told last lived until the job's end. */
static int64_t past_lived_ms(const struct past *p, const struct series_process *s)
{
	int64_t ms, ended_ms = s->ended_unix_ms > 0 ? s->ended_unix_ms : p->job->ended_unix_ms;
	return __builtin_sub_overflow(ended_ms, s->started_unix_ms, &ms) ? 0 : ms;
}

/* Leaves out those that lived shortest. */
static int shortest_drop(struct past *p, size_t most, uint64_t *ret_left_out)
{
	cleanup(freep) struct seen *of = calloc(p->n ? p->n : 1, sizeof(*of));
	size_t n = 0;
	if (!of)
		return -ENOMEM;
	for (size_t i = 0; i < p->n; i++)
		if (p->of[i].pid != 0 && !is_shown(&p->of[i]))
			of[n++] = (struct seen){&p->of[i], past_lived_ms(p, &p->of[i])};
	if (n > most)
		qsort(of, n, sizeof(*of), longest_first);
	for (size_t i = most; i < n; i++)
		of[i].process->pid = 0;
	*ret_left_out = sub_floor(n, most);
	return 0;
}

/* all: those that the series alone has, too. */
static int past_told(struct past *p, bool all)
{
	int r = 0;
	for (size_t i = 0; r == 0 && i < p->n; i++) {
		const struct series_process *s = &p->of[i];
		if (s->pid == 0 || (!all && !is_shown(s)))
			continue;
		struct job_process one = past_process_of(p->job, s);
		peak_take(p, &one);
		r = p->fn(p->ctx, &one);
	}
	return r;
}

/* ret_left_out NULL: those that are shown; else `most` of the others too, and the most memory that is known of each. */
static int past_tell(struct store *store, struct past *p, struct span series, size_t most, uint64_t *ret_left_out)
{
	int r = job_processes_of(series, &p->of, &p->n);
	if (r == 0 && ret_left_out)
		r = bulklife_read(series, INT64_MIN, INT64_MAX, &p->large, &p->n_large);
	if (r == 0)
		r = store_each_process(store, p->job->id, stored_take, p);
	if (r == 0 && ret_left_out)
		r = shortest_drop(p, most, ret_left_out);
	if (r == 0)
		r = past_told(p, ret_left_out != NULL);
	free(p->of);
	free(p->large);
	return r;
}

int past_each_process(struct store *store, const struct job *j, past_process_fn *fn, void *ctx)
{
	size_t len;
	int error;
	cleanup(freep) char *text = past_read(j, &len, &error);
	return past_each_process_of(store, j, (struct span){text, len}, fn, ctx);
}

int past_each_process_of(struct store *store, const struct job *j, struct span series, past_process_fn *fn, void *ctx)
{
	return past_tell(store, &(struct past){.job = j, .fn = fn, .ctx = ctx}, series, 0, NULL);
}

int past_each_seen(struct store *store, const struct job *j, size_t most, past_process_fn *fn, void *ctx,
		   uint64_t *ret_left_out)
{
	size_t len;
	int error;
	cleanup(freep) char *text = past_read(j, &len, &error);
	struct past p = {.job = j, .fn = fn, .ctx = ctx};
	return past_tell(store, &p, (struct span){text, len}, most, ret_left_out);
}
