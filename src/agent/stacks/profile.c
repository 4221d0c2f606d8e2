#include "agent/stacks/profile.h"

#include <string.h>
#include <time.h>

#include "agent/jobs/jobpids.h"
#include "agent/host/host.h"
#include "agent/stacks/profproc.h"
#include "base/buf.h"
#include "base/foreign.h"
#include "base/hash.h"
#include "base/vec.h"

#define PROFILE_TASKS 65536
/*
 * Intervals of listing all processes of the machine, and of checking the root's descendants. Both get longer where they
 * would take more than a two hundredth of the time.
 */
#define LIST_EVERY_NS (2 * NS_PER_S)
#define CHECK_EVERY_NS (300 * NS_PER_MS)
#define LIST_SHARE 200
#define PROGRESS_NS (100 * NS_PER_MS)

struct recording {
	const struct world *w;
	const struct profile_want *want;
	struct natives *natives;
	struct instant *instant;
	struct tasks tasks;
	struct profproc **procs;
	size_t n, cap;
	struct stackset *set;
	struct profproc_tally tally;
	struct pystack_stats python; /* totals of processes that have ended */
	struct stopper_stats pauses;
	struct jobpids *family; /* the root's descendants at the last check */
	uint64_t family_sum;
	struct spawnranks *spawned; /* processes that were asked for their rank */
	uint64_t begin_ns, next_list_ns, next_check_ns, next_progress_ns;
	uint64_t rounds, late;
	uint64_t random;
	size_t denied;
	pid_t *refused; /* pids that may not be read, not to be tried again; owned */
	size_t n_refused, cap_refused;
	char missing[500]; /* what cannot be shown of the first process with a note; "" */
	size_t n_missing; /* number of processes with a note */
	struct fault first_denied;
};

/* Counts the process if not all of it can be shown, and keeps the reason of the first one. */
static void missing_note(struct recording *r, const struct profproc *t)
{
	const struct procview *l = t->view;
	if (!l->note[0] && !t->threadless)
		return;
	if (r->n_missing++ > 0)
		return;
	if (l->note[0])
		TEXT_FORMAT(r->missing, "process %d: %s", l->pid, l->note);
	else
		TEXT_FORMAT(r->missing,
			    "process %d: what runs in other interpreters, because CPython 3.%u does not tell which "
			    "thread runs it; "
			    "'vigil stack' has it",
			    l->pid, l->rt.minor);
}

static void account(struct recording *r, const struct profproc *t)
{
	missing_note(r, t);
	struct procview_totals s;
	procview_count(t->view, &s);
	r->python.samples += s.python.samples;
	r->python.dropped += s.python.dropped;
	r->python.unproved += s.python.unproved;
	r->python.retries += s.python.retries;
	r->python.walks += s.python.walks;
	r->python.shortened += s.python.shortened;
	stopper_stats_add(&r->pauses, &s.pauses);
}

static void recording_done(struct recording *r)
{
	for (size_t i = 0; i < r->n; i++)
		profproc_close(r->procs[i]);
	free(r->procs);
	free(r->refused);
	free(r->family);
	free(r->spawned);
	tasks_done(&r->tasks);
	r->natives = natives_free(r->natives);
	r->instant = instant_free(r->instant);
	r->set = stackset_free(r->set);
}

static struct profproc *track_of(const struct recording *r, pid_t pid, uint64_t start_ticks)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->procs[i]->view->pid == pid && r->procs[i]->view->start_ticks == start_ticks &&
		    !r->procs[i]->gone)
			return r->procs[i];
	return NULL;
}

static bool is_refused(const struct recording *r, pid_t pid)
{
	for (size_t i = 0; i < r->n_refused; i++)
		if (r->refused[i] == pid)
			return true;
	return false;
}

static int profile_refuse(struct recording *r, pid_t pid, const struct fault *f)
{
	if (vec_room(&r->refused, &r->cap_refused, r->n_refused + 1) < 0)
		return -ENOMEM;
	r->refused[r->n_refused++] = pid;
	bool asked = !r->want->members->job_id && pid == r->want->members->root;
	if (r->denied++ == 0 || asked)
		r->first_denied = *f;
	stackset_meta(r->set)->subject_denied |= asked;
	return 0;
}

static int member_add(struct recording *r, const struct member *m)
{
	struct fault f = {.text = ""};
	const struct procview_want want = {
		.natives = r->natives, .native_without_python = !r->want->native, .instant = r->instant};
	struct profproc *t = track_of(r, m->task->pid, m->task->start_ticks);
	if (t) {
		t->seen = true;
		profproc_name(t, m);
		return 0;
	}
	/* vigil leaves itself out where it was started by the process that it records */
	if (is_refused(r, m->task->pid) || m->task->pid == getpid() || foreign_is_own_helper(m->task->pid))
		return 0;
	if (vec_room(&r->procs, &r->cap, r->n + 1) < 0)
		return -ENOMEM;
	int e = profproc_open(r->w, m, &want, r->want->threads_apart, &t, &f);
	if (e == WORLD_DENIED)
		return profile_refuse(r, m->task->pid, &f);
	if (e)
		return e == WORLD_GONE || e > 0 ? 0 : e;
	t->seen = true;
	r->procs[r->n++] = t;
	return 0;
}

static void sweep(struct recording *r)
{
	size_t kept = 0;
	for (size_t i = 0; i < r->n; i++) {
		if (r->procs[i]->gone || !r->procs[i]->seen) {
			account(r, r->procs[i]);
			profproc_close(r->procs[i]);
		} else {
			r->procs[kept++] = r->procs[i];
		}
	}
	r->n = kept;
}

/* True for the recorded process itself; of a job, for the main process of each rank. */
static bool is_main(const struct recording *r, const struct member *m)
{
	return members_is_root(r->want->members, m->task->pid) ||
	       (r->want->members->job_id && m->who.role == ROLE_MAIN);
}

/*
 * True: the root has other descendants than at the last check. False also without a root, and where the kernel does not
 * list children.
 */
static bool family_changed(struct recording *r)
{
	struct jobpids_want want = {.root = r->want->members->root, .root_is_ours = true};
	uint64_t sum = 0;
	for (size_t i = 0; i < MIN(r->want->members->n_also, (size_t)JOBPIDS_ALSO); i++)
		want.also[i].pid = r->want->members->also[i];
	if (want.root == 0 || !r->want->children || !r->family)
		return false;
	r->family->n = 0;
	jobpids_find(r->family, r->w, &want, false);
	for (size_t i = 0; i < r->family->n; i++)
		sum = hash_mix(sum ^ (uint64_t)r->family->of[i].pid);
	bool changed = sum != r->family_sum;
	r->family_sum = sum;
	return changed;
}

static int profile_list(struct recording *r, uint64_t now_ns)
{
	struct members m = {.n = 0};
	struct members_want who = *r->want->members;
	who.spawned = r->spawned;
	for (size_t i = 0; i < r->n; i++)
		r->procs[i]->seen = false;
	int e = tasks_scan(&r->tasks, r->w);
	if (e == 0)
		e = members_read(r->w, &r->tasks, &who, &m);
	for (size_t i = 0; e == 0 && i < m.n; i++)
		if (r->want->children || is_main(r, &m.row[i]))
			e = member_add(r, &m.row[i]);
	members_done(&m);
	if (e == 0)
		sweep(r);
	if (r->rounds == 0)
		(void)family_changed(r); /* takes the first sample for the next check to compare with */
	uint64_t took_ns = r->w->mono_ns() - now_ns;
	uint64_t every_ns = r->want->members->root ? LIST_EVERY_NS : CHECK_EVERY_NS;
	r->next_list_ns = now_ns + MAX(every_ns, took_ns * LIST_SHARE);
	return e;
}

static bool list_is_due(struct recording *r, uint64_t now_ns)
{
	if (now_ns >= r->next_list_ns)
		return true;
	if (now_ns < r->next_check_ns)
		return false;
	bool changed = family_changed(r);
	uint64_t took_ns = r->w->mono_ns() - now_ns;
	r->next_check_ns = now_ns + MAX(CHECK_EVERY_NS, took_ns * LIST_SHARE);
	return changed;
}

static void report(struct recording *r, uint64_t now_ns)
{
	if (!r->want->progress || now_ns < r->next_progress_ns)
		return;
	r->next_progress_ns = now_ns + PROGRESS_NS;
	size_t threads = 0;
	for (size_t i = 0; i < r->n; i++)
		threads += r->procs[i]->n_threads;
	const struct profile_progress p = {.elapsed_ns = now_ns - r->begin_ns,
					   .duration_ns = r->want->duration_ns,
					   .samples = r->tally.samples,
					   .processes = r->n,
					   .threads = threads};
	r->want->progress(r->want->ctx, &p);
}

/*
 * A random part of half a period, so that a program with a regular rhythm is not always sampled at the same point of
 * it.
 */
static uint64_t jitter(struct recording *r, uint64_t period_ns)
{
	r->random ^= r->random << 13;
	r->random ^= r->random >> 7;
	r->random ^= r->random << 17;
	return period_ns / 2 ? r->random % (period_ns / 2) : 0;
}

static void wait_until(uint64_t at_ns)
{
	const struct timespec t = {.tv_sec = (time_t)(at_ns / NS_PER_S), .tv_nsec = (long)(at_ns % NS_PER_S)};
	/* A signal ends the sleep early; the loop then checks whether it is to stop. */
	(void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static bool stopped(const struct recording *r)
{
	return r->want->stop && *r->want->stop;
}

static int profile_round(struct recording *r, uint64_t weight_ns)
{
	int e = 0;
	for (size_t i = 0; e == 0 && i < r->n; i++)
		if (!r->procs[i]->gone && !stopped(r))
			e = profproc_sample(r->procs[i], r->set, weight_ns, &r->tally);
	r->rounds++;
	return e;
}

static int profile_loop(struct recording *r)
{
	uint64_t period_ns = (uint64_t)((double)NS_PER_S / r->want->rate_hz);
	uint64_t due_ns = r->begin_ns, last_ns = r->begin_ns - period_ns;
	uint64_t end_ns = r->begin_ns + r->want->duration_ns;
	int e = 0;
	for (uint64_t now_ns = r->begin_ns; e == 0 && now_ns < end_ns && !stopped(r); now_ns = r->w->mono_ns()) {
		if (list_is_due(r, now_ns))
			e = profile_list(r, now_ns);
		if (e || r->n == 0)
			break;
		now_ns = r->w->mono_ns();
		e = profile_round(r, now_ns - last_ns);
		last_ns = now_ns;
		report(r, now_ns);
		due_ns += period_ns;
		now_ns = r->w->mono_ns();
		if (now_ns >
		    /* Behind schedule: missed samples are not made up for, the next one has a larger weight. */
		    due_ns + period_ns) {
			r->late += (now_ns - due_ns) / period_ns;
			due_ns = now_ns;
		}
		uint64_t wake_ns = due_ns + jitter(r, period_ns) - period_ns / 4;
		wait_until(MIN(wake_ns, end_ns));
	}
	return e;
}

/* Minimum number of samples to report a ratio. */
#define WRONG_LEAST 30

/*
 * A sample of a thread that stood still, or was stopped, is exact. So is one of a thread that moved, but for a known
 * small ratio (stackset.h). A try that failed for another reason counts as a move, so the ratio is never too small.
 */
static void ratios_fill(const struct recording *r, struct stackset_meta *m)
{
	const struct pystack_stats *s = &r->python;
	m->has_wrong_ratio = m->samples >= WRONG_LEAST;
	if (!m->has_wrong_ratio || s->samples == 0)
		return;
	/* Zero events in n tries: up to three in n are possible with 95 % confidence. */
	uint64_t moved = MIN(MAX(s->retries + s->shortened, UINT64_C(3)), s->samples);
	m->moved_ratio = MIN((double)moved / (double)m->samples, 1.0);
	m->wrong_ratio = MIN(m->moved_ratio * STACK_WRONG_OF_MOVED + (double)s->unproved / (double)m->samples, 1.0);
}

static void missing_fill(const struct recording *r, struct stackset_meta *m)
{
	struct buf b = {.text = m->missing, .cap = sizeof(m->missing)};
	buf_reset(&b);
	if (r->denied)
		buf_printf(&b, "%zu process%s: %s", r->denied, r->denied == 1 ? "" : "es", r->first_denied.text);
	if (r->n_missing)
		buf_printf(&b, "%s%s", b.len ? "; " : "", r->missing);
	if (r->n_missing > 1)
		buf_printf(&b, " (and %zu more)", r->n_missing - 1);
}

static void meta_fill(struct recording *r)
{
	struct stackset_meta *m = stackset_meta(r->set);
	uint64_t took_ns = r->w->mono_ns() - r->begin_ns;
	for (size_t i = 0; i < r->n; i++)
		account(r, r->procs[i]);
	m->duration_ns = took_ns;
	m->rate_hz = r->want->rate_hz;
	m->rate_got_hz = took_ns ? (double)r->rounds * (double)NS_PER_S / (double)took_ns : 0;
	m->samples = r->tally.samples;
	m->dropped = r->tally.dropped;
	m->unproved = r->python.unproved;
	m->shortened = MIN(r->python.shortened, m->samples);
	ratios_fill(r, m);
	m->late = r->late;
	m->merged = r->tally.merged;
	m->approximate = r->tally.approximate;
	m->native_missing = r->tally.native_missing;
	m->incomplete = r->tally.incomplete;
	m->pauses = r->pauses.stops;
	m->pauses_caught = r->pauses.caught;
	m->pause_ns_max = r->pauses.pause_ns_max;
	m->pause_ns_sum = r->pauses.pause_ns_sum;
	m->pause_ns_median = stopper_median_ns(&r->pauses);
	m->native = r->want->native;
	m->interrupted = stopped(r);
	missing_fill(r, m);
}

int profile_record(const struct world *w, const struct profile_want *want, struct stackset **ret, struct fault *f)
{
	cleanup(recording_done) struct recording r = {.w = w, .want = want, .random = w->mono_ns() | 1};
	r.set = stackset_new();
	r.natives = natives_new();
	r.instant = instant_new(w);
	r.family = calloc(1, sizeof(*r.family));
	r.spawned = spawnranks_new();
	int e = r.set && r.natives && r.instant ? tasks_init(&r.tasks, PROFILE_TASKS, -1) : -ENOMEM;
	if (e == 0) {
		stackset_meta(r.set)->start_unix_ms = w->unix_ms();
		r.begin_ns = w->mono_ns();
		e = profile_loop(&r);
	}
	if (e < 0) {
		fault_set(f, e, "the recording failed: %s", strerror(-e));
		return e;
	}
	if (r.rounds == 0 && r.denied > 0) {
		*f = r.first_denied;
		return WORLD_DENIED;
	}
	if (r.rounds == 0) {
		return procview_why_none(w, want->members->root, f) == WORLD_DENIED ? WORLD_DENIED : PROFILE_NONE;
	}
	meta_fill(&r);
	*ret = take(&r.set);
	return 0;
}
