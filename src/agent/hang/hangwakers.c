#include "agent/hang/hangwakers.h"

#include <string.h>

#include "agent/hang/wakesample.h"
#include "agent/memory/ownroom.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/text.h"
#include "base/vec.h"
#include "sense/wait/wakers.h"

/* The program is on for this long of each minute. */
static const uint64_t on_ns = 2 * NS_PER_S, minute_ns = 60 * NS_PER_S;
/* Again after this time for a job of which little is known: it has been counted less than NEW_ROUNDS times. */
#define NEW_ROUNDS 3
static const uint64_t new_job_ns = 8 * NS_PER_S, first_ns = 4 * NS_PER_S;
/* While no job works. */
static const uint64_t idle_again_ns = 5 * NS_PER_S;
/* Memory is short for the moment: what the program is for can wait. */
static const uint64_t no_room_again_ns = 10 * NS_PER_S;
/* Time in the kernel that a minute may cost, and what a wake takes at most: 0.03 % of a core, and sampling 0.02. */
static const uint64_t minute_cost_ns = 20 * NS_PER_MS, wake_cost_ns = 350;
/* Pause between two samples of places. */
static const uint64_t sample_gap_ns = 10 * NS_PER_MS;
/* When it is known how often the machine switches. */
static const uint64_t rate_ns = 50 * NS_PER_MS;
/* Processes of one job that are watched, if others need room. */
#define JOB_LEAST 32

/* A process that is watched. */
struct waked {
	struct wake_who who; /* of its main thread */
	uint32_t job;
	uint64_t start_ticks; /* of the process */
};

struct hangwakers {
	const struct world *w;
	struct wakers *bpf; /* NULL: not loaded yet, or not permitted */
	bool tried, learned;
	struct wakesample *sample; /* NULL without memory */
	struct waked *waked; /* sorted by pid; owned */
	size_t n, cap;
	uint64_t began_ns, end_ns; /* of the counting; end 0: it is off */
	uint64_t switches; /* of the machine, when it began */
	uint64_t off_ns; /* when it was last switched off; 0: never was on */
	uint64_t next_ns;
};

struct hangwakers *hangwakers_new(const struct world *w)
{
	struct hangwakers *h = calloc(1, sizeof(*h));
	if (h) {
		h->w = w;
		h->next_ns = w->mono_ns() + first_ns;
		h->sample = wakesample_new(w);
	}
	return h;
}

bool hangwakers_counts(const struct hangwakers *h)
{
	return h->end_ns != 0;
}

bool hangwakers_learned(struct hangwakers *h)
{
	bool learned = h->learned;
	h->learned = false;
	return learned;
}

/* How often all processors together went from one thread to another so far; 0: unknown. */
static uint64_t switches_read(const struct world *w)
{
	cleanup(freep) char *text = NULL;
	size_t len;
	struct span line, word;
	uint64_t n;
	if (file_slurp(w->proc_fd, "stat", MIB, &text, &len) != 0)
		return 0;
	for (struct span rest = {text, len}; span_line(&rest, &line);)
		if (span_word(&line, &word) && span_eq(word, "ctxt") && span_word(&line, &word) &&
		    span_u64(word, &n) == 0)
			return n;
	return 0;
}

/* ---- who is watched ---- */

static int by_pid(const void *a, const void *b)
{
	const struct waked *x = a, *y = b;
	return (x->who.pid > y->who.pid) - (x->who.pid < y->who.pid);
}

static const struct waked *waked_find(const struct hangwakers *h, pid_t pid)
{
	const struct waked key = {.who = {.pid = pid}};
	return h->n ? bsearch(&key, h->waked, h->n, sizeof(key), by_pid) : NULL;
}

static int waked_add(struct hangwakers *h, const struct hangwakers_job *j, const struct hangprocs_member *m)
{
	struct waked *x;
	if (vec_room(&h->waked, &h->cap, h->n + 1) < 0)
		return -ENOMEM;
	if (wakers_watch(h->bpf, m->pid, j->number) < 0)
		return 0;
	x = &h->waked[h->n++];
	*x = (struct waked){
		.who = {.pid = m->pid, .tid = m->pid, .rank = m->who.rank, .main = true},
		.job = j->number,
		.start_ticks = m->start_ticks,
	};
	TEXT_COPY(x->who.role, role_name(m->main ? ROLE_MAIN : m->who.role));
	return 0;
}

/* Main processes come first; each job has its share of the room. */
static int job_watch(struct hangwakers *h, const struct hangwakers_job *j, size_t n_jobs)
{
	size_t room = MAX((size_t)WAKERS_PROCESSES / n_jobs, (size_t)JOB_LEAST), n = 0;
	for (int turn = 0; turn < 2; turn++)
		for (size_t i = 0; i < j->procs->n_now; i++) {
			const struct hangprocs_member *m = &j->procs->now[i];
			if (m->main != (turn == 0) || m->state == 'Z' || n >= room)
				continue;
			n++;
			if (waked_add(h, j, m) < 0)
				return -ENOMEM;
			wakesample_process(h->sample, m->pid);
		}
	return 0;
}

/* ---- on and off ---- */

static bool load_once(struct hangwakers *h)
{
	char why[200];
	if (!h->tried && wakers_open(h->w, &h->bpf, why, sizeof(why)) != 0)
		h->bpf = NULL; /* vigil doctor says what is missing */
	h->tried = true;
	return h->bpf != NULL;
}

static void counting_end(struct hangwakers *h)
{
	wakers_off(h->bpf);
	wakers_clear(h->bpf);
	h->end_ns = 0;
	h->n = 0;
	h->off_ns = h->w->mono_ns();
	h->next_ns = h->off_ns + new_job_ns;
}

static void counting_begin(struct hangwakers *h, const struct hangwakers_job *job, size_t n)
{
	wakers_clear(h->bpf);
	wakesample_begin(h->sample);
	h->n = 0;
	int r = 0;
	for (size_t i = 0; i < n && r == 0; i++) {
		wakehist_round(job[i].hist);
		r = job_watch(h, &job[i], n);
	}
	if (h->n)
		qsort(h->waked, h->n, sizeof(*h->waked), by_pid);
	h->began_ns = h->w->mono_ns();
	h->end_ns = h->began_ns + on_ns;
	h->switches = switches_read(h->w);
	h->next_ns = h->began_ns + sample_gap_ns;
	bool on = r == 0 && h->n > 0;
	if (on && wakers_on(h->bpf) < 0) { /* attaching is forbidden, though loading is not: it stays off */
		h->bpf = wakers_free(h->bpf);
		h->end_ns = 0;
		h->next_ns = UINT64_MAX;
	} else if (!on) {
		counting_end(h);
	}
}

/* A machine that switches very often has its time in less of it. */
static void counting_shorten(struct hangwakers *h, uint64_t now_ns)
{
	uint64_t took_ns = now_ns - h->began_ns;
	uint64_t n = h->switches && took_ns >= rate_ns ? switches_read(h->w) - h->switches : 0;
	if (n == 0)
		return;
	uint64_t most_ns = minute_cost_ns / wake_cost_ns * took_ns / n;
	h->end_ns = MIN(h->end_ns, h->began_ns + most_ns);
	h->switches = 0;
}

/* ---- what was counted ---- */

static const struct hangwakers_job *hangwakers_job_of(const struct hangwakers_job *job, size_t n, uint32_t number)
{
	for (size_t i = 0; i < n; i++)
		if (job[i].number == number)
			return &job[i];
	return NULL;
}

/*
 * A thread of a watched process, as the history knows it. False: the process is none, or another one has its number. A
 * thread that has begun meanwhile may share its number with one that has ended.
 */
static bool who_of(const struct hangwakers *h, const struct waker_thread *t, struct wake_who *ret, uint32_t *ret_job)
{
	const struct waked *p = waked_find(h, t->pid);
	if (!p || t->process_start_ticks != p->start_ticks)
		return false;
	*ret = p->who;
	ret->tid = t->tid;
	ret->main = t->tid == t->pid;
	ret->start_ticks = t->start_ticks;
	const char *python = wakesample_name(h->sample, t->pid, t->tid);
	TEXT_COPY(ret->name, python && python[0] ? python : t->name);
	*ret_job = p->job;
	return true;
}

static void wake_keep(struct hangwakers *h, const struct hangwakers_job *job, size_t n, const struct waker_row *r,
		      uint64_t place)
{
	struct wake_who wakee, waker;
	uint32_t number = 0, other = 0;
	const struct wake_wait wait = {.kind = r->kind, .arg = r->arg, .place = place};
	if (r->kind == WAKE_NONE || !who_of(h, &r->wakee, &wakee, &number))
		return;
	const struct hangwakers_job *j = hangwakers_job_of(job, n, number);
	bool known = r->waker.tid != 0 && who_of(h, &r->waker, &waker, &other) && other == number;
	if (j)
		ignore(wakehist_add(j->hist, &wakee, &wait, known ? &waker : NULL, r->n), "less is known");
}

static void counting_take(struct hangwakers *h, const struct hangwakers_job *job, size_t n)
{
	static struct waker_row row[WAKERS_ROWS]; /* large; there is one watcher */
	size_t n_rows = 0;
	if (wakers_take(h->bpf, row, ARRAY_SIZE(row), &n_rows) < 0)
		return;
	for (size_t i = 0; i < n_rows; i++)
		if (row[i].kind != WAKE_LOCK || !wakesample_name(h->sample, row[i].wakee.pid, row[i].wakee.tid))
			wake_keep(h, job, n, &row[i], 0);
	h->learned = n_rows > 0;
}

struct keeping {
	struct hangwakers *h;
	const struct hangwakers_job *job;
	size_t n;
};

static void sample_keep(void *ctx, const struct waker_row *r, uint64_t place)
{
	struct keeping *k = ctx;
	wake_keep(k->h, k->job, k->n, r, place);
}

/* ---- steps ---- */

static bool is_new(const struct hangwakers_job *job, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (job[i].hist->round < NEW_ROUNDS)
			return true;
	return false;
}

static void maybe_begin(struct hangwakers *h, const struct hangwakers_job *job, size_t n, uint64_t now_ns)
{
	if (h->off_ns && !is_new(job, n) && now_ns < h->off_ns + minute_ns - on_ns) {
		h->next_ns = MIN(now_ns + idle_again_ns, h->off_ns + minute_ns - on_ns);
		return;
	}
	if (!h->tried && !ownroom_has(h->w, OWNROOM_BPF_BYTES))
		h->next_ns = now_ns + no_room_again_ns;
	else if (load_once(h))
		counting_begin(h, job, n);
	else
		h->next_ns = UINT64_MAX;
}

void hangwakers_end(struct hangwakers *h, const struct hangwakers_job *job, size_t n)
{
	struct keeping keeping = {h, job, n};
	if (h->end_ns == 0)
		return;
	wakers_off(h->bpf);
	wakesample_take(h->sample, h->bpf, false, sample_keep, &keeping);
	counting_take(h, job, n);
	counting_end(h);
}

uint64_t hangwakers_step(struct hangwakers *h, const struct hangwakers_job *job, size_t n)
{
	uint64_t now_ns = h->w->mono_ns();
	struct keeping keeping = {h, job, n};
	if (now_ns < h->next_ns)
		return h->next_ns;
	if (h->end_ns == 0 && n == 0) /* asked at each sample anyway, so one that begins to work is not missed */
		return now_ns + idle_again_ns;
	if (h->end_ns == 0) {
		maybe_begin(h, job, n, now_ns);
		return h->next_ns;
	}
	counting_shorten(h, now_ns);
	if (now_ns >= h->end_ns) {
		hangwakers_end(h, job, n);
		return h->next_ns;
	}
	wakesample_take(h->sample, h->bpf, true, sample_keep, &keeping);
	h->next_ns = MIN(now_ns + sample_gap_ns, h->end_ns);
	return h->next_ns;
}
