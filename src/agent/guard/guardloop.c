#include "agent/guard/guardloop.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#include "act/oomadj.h"
#include "agent/guard/evict.h"
#include "agent/guard/guardcase.h"
#include "agent/guard/guardrecover.h"
#include "agent/guard/leavers.h"
#include "agent/guard/memlock.h"
#include "agent/guard/memwatch.h"
#include "base/buf.h"
#include "base/clock.h"

/* Candidates are swept this often while memory is near its limit, and while it is far. */
static const uint64_t sweep_near_ns = 250 * NS_PER_MS;
static const uint64_t sweep_far_ns = 60 * NS_PER_S;
/*
 * Work put off until a job has lived this long: the first sweep, and the PSI trigger, which takes the kernel 10 ms to
 * close.
 */
static const uint64_t settle_ns = 500 * NS_PER_MS;
/* On a crowded machine sweeps are rarer: they cost at most 1/40000 of a core (1.5 ms a minute), 1/6000 at first. */
#define SWEEP_SHARE_YOUNG 6000
#define SWEEP_SHARE 40000
static const uint64_t young_ns = 4 * NS_PER_S;
/* Names that were asked for are there soon: so many sweeps come early for them, at most 1/100 of the time. */
static const uint64_t sweep_names_ns = 100 * NS_PER_MS;
#define SWEEP_NAMES_SHARE 100
#define SWEEP_NAMES_MOST 3
/*
 * Where a limit is kept by adding up processes, those of the jobs are read at each sample, and all of the machine so
 * often, for at most 1/200 of the time; 1/100 near the limit.
 */
static const uint64_t sweep_sure_ns = 10 * NS_PER_S;
#define SWEEP_SURE_SHARE 200
/* Such samples take at most 1/40 of the time, but come at least as often. */
static const uint64_t look_most_ns = 5 * NS_PER_MS;
#define LOOK_SHARE 40
/* Orphaned jobs get this long between SIGTERM and SIGKILL. */
static const uint64_t orphan_grace_ns = 5 * NS_PER_S;

/* On v1 a job is throttled only if its memory would reach a limit within this time. */
static const uint64_t brake_ahead_ns = 500 * NS_PER_MS;

/* Killed processes leave their group within this time, or it stays. */
static const uint64_t remove_wait_ns = 3 * NS_PER_S;

enum { WAKE_COMMAND, WAKE_SUPERVISOR };

struct guard {
	const struct world *w;
	struct guard_shm *shm;
	struct memwatch memwatch;
	struct evict evict;
	struct tasks tasks;
	struct unit_memory known;
	struct unit_table units;
	struct reaper reaper;
	struct guard_history history;
	struct guard_job jobs[UNIT_JOBS_MAX];
	bool said_unwatched;
	char shown[UNIT_JOBS_MAX][64]; /* ids of the jobs whose groups memwatch has open */
	struct warning_state warning[LEDGER_MAX_LEVELS];
	uint64_t levels; /* fingerprint of the levels that the history is of */
	size_t n_jobs;
	uint32_t jobs_seq;
	uint64_t job_used[UNIT_JOBS_MAX];
	int epoll_fd, command_fd, supervisor_fd;
	uint64_t last_history_ns, born_ns;
	uint64_t likely_ns; /* of the sweep by which the likely ones were named */
	enum guard_state state; /* at the last sample */
	uint32_t names_sweeps; /* early ones since the last sweep that lacked no name */
	bool orphaned, settled;
	bool leavers_young; /* a process seems to have left its group, but is too young to be believed */
};

static guardloop_orphan_fn *on_orphan;

void guardloop_on_orphan(guardloop_orphan_fn *fn)
{
	on_orphan = fn;
}

static void note(struct guard_shm *shm, const char *text)
{
	if (shm->n_notes < ARRAY_SIZE(shm->notes))
		TEXT_COPY(shm->notes[shm->n_notes++], text);
}

/* The guard must run when other processes cannot: high priority, exempt from the OOM killer. */
static void privileges_take(struct guard *g)
{
	struct sched_param p = {.sched_priority = 2}; /* the supervisor is lent the one below at times */
	if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &p) < 0 && setpriority(PRIO_PROCESS, 0, -20) < 0)
		note(g->shm, "normal priority (no CAP_SYS_NICE): reaction may be slower under CPU load");
	if (oomadj_exempt_self(g->w) < 0)
		note(g->shm, "the kernel may pick the guard itself (no CAP_SYS_RESOURCE): its memory is tiny");
	(void)prctl(PR_SET_TIMERSLACK, 1000UL);
	(void)prctl(PR_SET_NAME, "vigil-guard");
}

/* After a restart the copied list does not have this guard yet, although it is a child of the job's reaper. */
static void exclude_ourselves(struct unit_job *u)
{
	size_t last = MIN(u->n_not_ours, ARRAY_SIZE(u->not_ours) - 1);
	u->not_ours[last] = getpid();
	u->n_not_ours = last + 1;
}

/* Open the control groups of new jobs and close those of jobs whose slot was reused. */
static void groups_update(struct guard *g, size_t n)
{
	for (size_t j = 0; j < n; j++) {
		const struct guard_job *job = &g->jobs[j];
		bool over = !job->unit.active && !job->unit.reaper;
		if (over || strcmp(g->shown[j], job->id) != 0)
			memwatch_drop_job(&g->memwatch, j);
		if (job->unit.active)
			memwatch_add_job(&g->memwatch, job, j);
		TEXT_COPY(g->shown[j], job->id);
	}
	if (g->memwatch.unwatched > 0 && !g->said_unwatched) {
		g->said_unwatched = true;
		note(g->shm, "more limited groups than one guard watches: those of the jobs that came last are not "
			     "watched as groups, only the machine is");
	}
}

static void jobs_copy(struct guard *g)
{
	struct guard_shm *shm = g->shm;
	for (int tries = 0; tries < 1000; tries++) {
		uint32_t before = atomic_load(&shm->jobs_seq);
		if (before & 1) {
			(void)sched_yield();
			continue;
		}
		if (before == g->jobs_seq)
			return;
		size_t n = MIN(shm->n_jobs, (uint32_t)UNIT_JOBS_MAX);
		struct guard_job old;
		for (size_t j = 0; j < n; j++) {
			old = g->jobs[j];
			g->jobs[j] = shm->jobs[j];
			if (j < g->n_jobs) /* the supervisor does not know how far the job is throttled */
				g->jobs[j].group.throttle_bytes = old.group.throttle_bytes;
			exclude_ourselves(&g->jobs[j].unit);
		}
		if (atomic_load(&shm->jobs_seq) != before)
			continue;
		groups_update(g, n);
		g->n_jobs = g->evict.n_jobs = n;
		g->jobs_seq = before;
		return;
	}
}

static uint64_t job_group_bytes(const struct guard *g, size_t j)
{
	for (size_t i = 0; i < g->memwatch.n_groups; i++) {
		const struct memwatch_group *e = &g->memwatch.group[i];
		uint64_t away = g->memwatch.away >> j & 1 ? g->job_used[j] : 0;
		if (e->own && e->job == j && e->readable)
			return MAX(away, sub_floor(e->last.current_bytes, ledger_group_reclaimable(&e->last)));
	}
	return g->job_used[j];
}

static void wake_supervisor(const struct guard *g)
{
	const uint64_t one = 1;
	ignore(write(g->evict.kick_fd, &one, sizeof(one)), "a full eventfd wakes as well");
}

/* True if the set of likely victims has changed; their order is ignored, it changes all the time. */
static bool likely_update(struct guard *g)
{
	pid_t now[GUARD_LIKELY], *known = g->shm->now.likely;
	size_t same = 0;
	if (g->likely_ns == g->evict.swept_ns)
		return false;
	g->likely_ns = g->evict.swept_ns;
	evict_likely(&g->evict, now);
	for (size_t i = 0; i < GUARD_LIKELY; i++)
		for (size_t k = 0; k < GUARD_LIKELY; k++)
			if (now[i] == known[k]) {
				same++;
				break;
			}
	memcpy(known, now, sizeof(now));
	return same < GUARD_LIKELY;
}

/* Report clamped values once and at once, since other tools show the raw ones. */
static void clamped_report(struct guard *g)
{
	if (g->memwatch.clamps == 0 || atomic_load(&g->shm->clamped))
		return;
	atomic_store(&g->shm->clamped, 1);
	wake_supervisor(g);
}

static void sample_levels(const struct ledger *l, size_t tight, struct guard_sample *s)
{
	s->level[0].used_bytes = l->level[tight].used_bytes;
	s->level[0].total_bytes = l->level[tight].total_bytes;
	for (size_t k = 0, n = 1; k < l->n && n < GUARD_SAMPLE_LEVELS; k++) {
		if (k == tight)
			continue;
		s->level[n].used_bytes = l->level[k].used_bytes;
		s->level[n++].total_bytes = l->level[k].total_bytes;
	}
}

static void now_publish(struct guard *g, const struct ledger *l, const struct guard_step *step)
{
	struct guard_shm *shm = g->shm;
	if (l->n == 0)
		return;
	size_t tight = ledger_tightest(l);
	uint64_t all = 0;
	shm->now.used_bytes = l->level[tight].used_bytes;
	shm->now.total_bytes = l->level[tight].total_bytes;
	enum guard_state before = shm->now.state;
	shm->now.state = step->state;
	bool others = step->state >= GUARD_WARN && g->evict.phase == EVICT_IDLE && likely_update(g);
	if (others || (before < GUARD_WARN && step->state >= GUARD_WARN)) {
		wake_supervisor(g); /* it opens the likely victims and copies heap profiles */
		guardcase_prepare(shm);
		evict_prepare(&g->evict);
	}
	if (l->level[0].scope == LEDGER_NODE) {
		shm->now.node_used_bytes = l->level[0].used_bytes;
		shm->now.node_total_bytes = l->level[0].total_bytes;
	}
	for (size_t j = 0; j < g->n_jobs; j++) {
		uint64_t bytes = job_group_bytes(g, j);
		shm->now.job_bytes[j] = bytes;
		shm->now.job_peak_bytes[j] = MAX(shm->now.job_peak_bytes[j], bytes);
		all += bytes;
	}
	if (l->mono_ns - g->last_history_ns < 500 * NS_PER_MS && g->last_history_ns != 0)
		return;
	g->last_history_ns = l->mono_ns;
	uint32_t n = atomic_load(&shm->history_n);
	struct guard_sample s = {.time_unix_ms = g->w->unix_ms(), .job_bytes = all};
	sample_levels(l, tight, &s);
	shm->history[n % GUARD_HISTORY] = s;
	atomic_store(&shm->history_n, n + 1);
}

/* How far a job may still grow before it is throttled, and from which room on it needs a throttle at all. */
struct brake {
	uint64_t room_bytes, reach_bytes;
};

/*
 * The mark lies half-way between the threshold and the limit of the tightest level above the job. On v1 the job's own
 * limit counts for nothing here: no killer of the kernel's stands behind it.
 */
static struct brake brake_of(const struct guard *g, const struct ledger *l, size_t job, enum cgroup_version version)
{
	const struct guard_settings *s = &g->shm->settings;
	struct brake b = {.room_bytes = UINT64_MAX};
	for (size_t k = 0; k < l->n; k++) {
		bool own = l->level[k].scope == LEDGER_JOB && version == CGROUP_V1;
		if (own || !(g->memwatch.jobs_of[k] >> job & 1))
			continue;
		uint64_t threshold = guard_threshold(s, l->level[k].total_bytes);
		uint64_t headroom = sub_floor(l->level[k].total_bytes, threshold);
		uint64_t room = sub_floor(threshold + headroom / 2, l->level[k].used_bytes);
		if (room >= b.room_bytes)
			continue;
		uint64_t leap = (uint64_t)((double)s->fastest_bytes_per_s * (double)s->reaction_ns / 1e9);
		b = (struct brake){room, MAX(2 * headroom, leap)};
	}
	return b;
}

/*
 * Throttle each job at its mark. What is set stays set if all processes of vigil are killed at once, and on v1 a job
 * that reaches its throttle then sleeps (docs/decisions/0047): so on v1 the throttle is set only while the mark is
 * within reach and memory fills so fast that the limit is near in time. The kernel's events wake the guard before a job
 * comes within reach. On v2 the job is only slowed.
 */
static void throttle(struct guard *g, const struct ledger *l, const struct guard_step *step)
{
	for (size_t i = 0; i < g->memwatch.n_groups; i++) {
		struct memwatch_group *e = &g->memwatch.group[i];
		if (!e->own || !e->readable || !g->jobs[e->job].unit.active)
			continue;
		struct jobgroup *group = &g->jobs[e->job].group;
		struct brake b = brake_of(g, l, e->job, group->version);
		bool set = group->throttle_bytes != 0, always = group->version != CGROUP_V1;
		bool fills = step->time_to_limit_ns < brake_ahead_ns;
		bool near = b.room_bytes <= b.reach_bytes || (set && b.room_bytes <= 2 * b.reach_bytes);
		if (b.room_bytes != UINT64_MAX && (always || (near && fills)))
			ignore(jobgroup_throttle(group, add_cap(e->last.current_bytes, MAX(b.room_bytes, MIB))),
			       "watching works without throttling");
		else if (set && !always)
			ignore(jobgroup_unthrottle(group), "watching works without throttling");
	}
}

/* True if a limit has to be kept by adding up processes: there is no group, or one of them is not in it. */
static bool limit_by_processes(const struct guard *g)
{
	for (size_t j = 0; j < g->n_jobs; j++)
		if (g->jobs[j].unit.active && (!g->jobs[j].has_group || (g->memwatch.away >> j & 1)) &&
		    g->jobs[j].limit_bytes != CGROUP_NO_LIMIT)
			return true;
	return false;
}

/* The supervisor loads the BPF iterator while the job already runs; take a copy of its descriptor. */
static void iterator_fetch(struct guard *g)
{
	if (g->tasks.iter_link_fd >= 0 || g->shm->iter_link_fd < 0 || g->supervisor_fd < 0)
		return;
	int fd = (int)syscall(SYS_pidfd_getfd, g->supervisor_fd, g->shm->iter_link_fd, 0);
	g->shm->iter_link_fd = -1; /* one try */
	if (fd < 0)
		return;
	g->tasks.iter_link_fd = fd;
	g->tasks.source = TASKS_BPF;
}

/* Time from a sweep that lacked names to the next; UINT64_MAX: nobody answers, or all are known. */
static uint64_t names_period_ns(const struct guard *g)
{
	if (g->evict.n_want == 0 || g->names_sweeps >= SWEEP_NAMES_MOST)
		return UINT64_MAX;
	return MAX(sweep_names_ns, g->evict.sweep_cost_ns * SWEEP_NAMES_SHARE);
}

/* After a sweep: who is in another group than the job, for the limit and for the supervisor, which tells of it. */
static void leavers_look(struct guard *g)
{
	struct leavers l;
	g->leavers_young = false;
	g->memwatch.away = 0;
	for (size_t j = 0; j < g->n_jobs; j++) {
		leavers_find(&g->evict, j, &l);
		g->leavers_young |= l.young;
		if (l.n == 0)
			continue;
		g->memwatch.away |= UINT64_C(1) << j;
		if (g->shm->away.job == j && g->shm->away.pid == l.pid && g->shm->away.n == l.n)
			continue;
		(void)atomic_fetch_add(&g->shm->away.seq, 1);
		g->shm->away.job = (uint16_t)j;
		g->shm->away.n = l.n;
		g->shm->away.pid = l.pid;
		TEXT_COPY(g->shm->away.name, l.name);
		(void)atomic_fetch_add(&g->shm->away.seq, 1);
		wake_supervisor(g);
	}
}

/* Time from a sweep of the whole machine to the next. */
static uint64_t sweep_period_ns(const struct guard *g, enum guard_state state, bool by_processes)
{
	const uint64_t cost = g->evict.sweep_cost_ns;
	/* a young job changes fast, an old one slowly */
	uint64_t far = MIN(sweep_far_ns, MAX(NS_PER_S, g->w->mono_ns() - g->born_ns));
	far = MAX(far, cost * (far < young_ns ? SWEEP_SHARE_YOUNG : SWEEP_SHARE));
	far = g->leavers_young ? MIN(far, NS_PER_S) : far;
	if (by_processes) {
		far = MIN(far, MAX(NS_PER_S, cost * SWEEP_SURE_SHARE));
		uint64_t near = MAX(sweep_near_ns, cost * (SWEEP_SURE_SHARE / 2));
		return MIN(state >= GUARD_WARN ? near : far, sweep_sure_ns);
	}
	return MIN(state >= GUARD_WARN ? sweep_near_ns : far, names_period_ns(g));
}

static void sweep_taken(struct guard *g)
{
	for (size_t j = 0; j < g->n_jobs; j++)
		g->job_used[j] = evict_job_bytes(&g->evict, j);
	leavers_look(g);
}

/* by_processes: the sample that is about to be taken rests on what the jobs' processes hold. */
static void sweep_if_due(struct guard *g, enum guard_state state, bool by_processes)
{
	bool wanted = by_processes || atomic_load(&g->shm->sweep_wanted) != 0;
	uint64_t age = g->w->mono_ns() - g->evict.swept_ns;
	bool due = g->evict.swept_ns == 0 || age >= sweep_period_ns(g, state, by_processes);
	if (g->evict.phase != EVICT_IDLE || (!wanted && !due) || (!g->settled && !wanted && state < GUARD_WARN))
		return;
	/* from there on BPF sweeps, which costs no more than a look */
	iterator_fetch(g);
	bool looks = by_processes && !due && g->tasks.iter_link_fd < 0 && atomic_load(&g->shm->sweep_wanted) == 0;
	if (!looks || !evict_look(&g->evict, state >= GUARD_WARN, 64)) {
		atomic_store(&g->shm->sweep_wanted, 0);
		g->names_sweeps = g->evict.n_want == 0 ? 0 : g->names_sweeps + 1;
		if (evict_sweep(&g->evict, 64) < 0)
			return;
	}
	sweep_taken(g);
}

/* Drop the history when the set of levels has changed: points of other levels would look like a sudden rise. */
static void history_check(struct guard *g, const struct ledger *l)
{
	uint64_t levels = l->n;
	for (size_t i = 0; i < l->n; i++)
		levels = (levels * 31 + (uint64_t)(g->memwatch.group_of[i] + 1)) * 31 + g->memwatch.jobs_of[i];
	if (levels != g->levels) {
		g->history.n = 0;
		memset(g->warning, 0, sizeof(g->warning));
	}
	g->levels = levels;
}

/* Tell of a level that has been above the early-warning threshold. Memory is not short yet, so a sweep has its time. */
static void warning_tell(struct guard *g, const struct ledger *l, size_t i)
{
	const struct ledger_level *v = &l->level[i];
	struct guard_shm *shm = g->shm;
	struct warning_facts *f = &shm->warning.facts;
	struct incident_grower grower[INCIDENT_GROWERS];
	uint64_t jobs = g->memwatch.jobs_of[i];
	ignore(evict_sweep(&g->evict, 64), "then who grows is as of the last sweep");
	struct growth_said said = guardcase_growth(shm, v->total_bytes, v->used_bytes, g->w->unix_ms());
	(void)atomic_fetch_add(&shm->warning.seq, 1);
	*f = (struct warning_facts){
		.used_bytes = v->used_bytes,
		.total_bytes = v->total_bytes,
		.available_bytes = v->available_bytes,
		.threshold_bytes = guard_threshold(&shm->settings, v->total_bytes),
		.growth_bytes_per_s = said.bytes_per_s,
		.growth_over_ms = said.over_ns / NS_PER_MS,
		.has_grower = guardcase_growers(&g->evict, jobs, grower) > 0,
	};
	if (f->has_grower)
		f->grower = grower[0];
	memwatch_level_name(&g->memwatch, l, i, f->level, sizeof(f->level));
	shm->warning.jobs = jobs;
	(void)atomic_fetch_add(&shm->warning.seq, 1);
	wake_supervisor(g);
}

static void warnings_check(struct guard *g, const struct ledger *l, enum guard_state state)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->level[i].total_bytes > 0 &&
		    warning_due(&g->warning[i], &g->shm->settings, &l->level[i], l->mono_ns) && state < GUARD_ACT &&
		    g->evict.phase == EVICT_IDLE)
			warning_tell(g, l, i);
}

static void settle_if_due(struct guard *g)
{
	if (g->settled || g->w->mono_ns() - g->born_ns < settle_ns)
		return;
	g->settled = true;
	if (g->shm->settings.threshold_ratio > 0)
		memwatch_watch_pressure(&g->memwatch);
}

/* The least time between two samples that rest on processes. */
static uint64_t look_pause_ns(const struct guard *g)
{
	const uint64_t cost = g->evict.look_cost_ns;
	return cost == 0 ? look_most_ns : MIN(look_most_ns, MAX(NS_PER_MS, cost * LOOK_SHARE));
}

/* Sample, judge, act. Returns the time until the next sample. */
static uint64_t guard_round(struct guard *g)
{
	settle_if_due(g);
	struct ledger l;
	uint32_t covered;
	struct guard_step step;
	uint64_t next = NS_PER_S;
	jobs_copy(g);
	if (g->n_jobs == 0)
		return NS_PER_S;
	const bool by_processes = limit_by_processes(g);
	if (by_processes)
		sweep_if_due(g, g->state, true);
	if (memwatch_look(&g->memwatch, g->jobs, g->n_jobs, g->job_used, &l, &covered, &g->shm->settings) < 0)
		return 100 * NS_PER_MS;
	clamped_report(g);
	history_check(g, &l);
	guard_judge(&g->history, &g->shm->settings, &l, covered, &step);
	if (l.n > 0)
		evict_step(&g->evict, &l, &step, &next);
	bool quiet = g->evict.phase == EVICT_IDLE && step.state < GUARD_ACT && !g->shm->dry_run;
	if (quiet && g->shm->settings.threshold_ratio > 0)
		throttle(g, &l, &step);
	if (!limit_by_processes(g))
		sweep_if_due(g, step.state, false);
	g->state = step.state;
	now_publish(g, &l, &step);
	warnings_check(g, &l, step.state);
	atomic_store(&g->shm->beat_ns, l.mono_ns);
	if (by_processes)
		next = MAX(next, look_pause_ns(g));
	return g->settled ? next : MIN(next, settle_ns);
}

/* Returns how many processes were asked to end. */
static size_t end_orphans(struct guard *g)
{
	struct evict *h = &g->evict;
	size_t asked = 0;
	for (int round = 0; round < 2; round++) {
		if (evict_sweep(h, 64) < 0)
			return asked;
		uint64_t until = g->w->mono_ns() + orphan_grace_ns;
		size_t ours = 0;
		for (size_t i = 0; i < g->units.n_members; i++) {
			const struct unit_member *m = &g->units.member[i];
			const struct guard_job *job = &g->jobs[g->units.unit[m->unit].job];
			if (!job->unit.reaper)
				continue; /* adopted: not ours to end */
			const struct task_row *row = &g->tasks.rows[m->row];
			struct target t = {.id = {row->pid, row->start_ticks}, .pidfd = -1};
			ours++;
			ignore(target_signal(g->w, &t, round == 0 ? SIGTERM : SIGKILL), "gone is fine");
		}
		asked = MAX(asked, ours);
		while (round == 0 && ours > 0 && g->units.n_members > 0 && g->w->mono_ns() < until) {
			struct timespec pause = {.tv_nsec = 50 * 1000000L};
			(void)nanosleep(&pause, NULL);
			if (evict_sweep(h, 0) < 0)
				return asked;
		}
	}
	return asked;
}

/* The supervisor is dead, so its control groups are removed here. */
static void groups_remove(struct guard *g)
{
	uint64_t until = g->w->mono_ns() + remove_wait_ns;
	for (size_t j = 0; j < g->n_jobs; j++) {
		struct timespec pause = {.tv_nsec = 10 * 1000000L};
		while (g->jobs[j].has_group && jobgroup_remove(g->w, &g->jobs[j].group) == -EBUSY &&
		       g->w->mono_ns() < until)
			(void)nanosleep(&pause, NULL);
	}
}

/* The supervisor died while it was starting ranks: add those that it had not passed on yet. */
static size_t starting_add(struct guard *g)
{
	size_t n = MIN(atomic_load(&g->shm->n_starting), (uint32_t)UNIT_ROOTS_MAX);
	struct unit_job *u = &g->jobs[0].unit;
	if (n == 0 || u->active)
		return 0;
	if (g->n_jobs == 0) { /* not even the job was passed on */
		g->jobs[0] = g->shm->jobs[0];
		exclude_ourselves(u);
		g->n_jobs = g->evict.n_jobs = 1;
	}
	u->active = true;
	u->n_roots = n;
	for (size_t i = 0; i < n; i++) {
		u->roots[i] = g->shm->starting[i].pid;
		u->root_start_ticks[i] = g->shm->starting[i].start_ticks;
		u->ranks[i] = NO_RANK;
	}
	return n;
}

/* A supervisor that died while it wrote the jobs has left their number odd, and would hide them for good. */
static void jobs_unlock(struct guard_shm *shm)
{
	uint32_t seq = atomic_load(&shm->jobs_seq);
	if (seq & 1)
		(void)atomic_compare_exchange_strong(&shm->jobs_seq, &seq, seq + 1);
}

static void orphan(struct guard *g)
{
	jobs_unlock(g->shm);
	jobs_copy(g);
	size_t starting = starting_add(g), members = MAX(g->units.n_members, starting);
	g->evict.orphaned = true;
	guardrecover_finish(g->w, g->shm); /* a frozen process can neither save its work nor die */
	evict_let_go(&g->evict);
	atomic_store(&g->shm->orphan_phase, GUARD_ORPHAN_BEGUN);
	size_t asked = end_orphans(g);
	groups_remove(g);
	for (size_t j = 0; j < g->n_jobs; j++) /* also those that were only being started */
		g->shm->jobs[j].unit.active |= g->jobs[j].unit.active;
	for (size_t j = 0; j < g->n_jobs && on_orphan; j++)
		on_orphan(g->shm, j, MAX(members, asked));
	atomic_store(&g->shm->orphan_phase, GUARD_ORPHAN_DONE);
}

/* Without a pidfd nobody wakes the guard when its supervisor ends: it looks at its parent, so often. */
static const uint64_t orphan_look_ns = 1 * NS_PER_S;

static bool take_events(struct guard *g, uint64_t wait_ns)
{
	struct epoll_event ev[16];
	if (g->supervisor_fd < 0)
		wait_ns = MIN(wait_ns, orphan_look_ns);
	struct timespec t = {.tv_sec = (time_t)(wait_ns / NS_PER_S), .tv_nsec = (long)(wait_ns % NS_PER_S)};
	int n = epoll_pwait2(g->epoll_fd, ev, ARRAY_SIZE(ev), &t, NULL);
	if (n < 0 && (errno == ENOSYS || errno == EPERM)) /* kernels before 5.11, and filters that do not know it */
		n = epoll_wait(g->epoll_fd, ev, ARRAY_SIZE(ev), (int)((wait_ns + NS_PER_MS - 1) / NS_PER_MS));
	for (int i = 0; i < n; i++) {
		uint64_t count;
		if (ev[i].data.u32 >= MEMWATCH_EVENT_BASE)
			memwatch_event_take(&g->memwatch, ev[i].data.u32 - MEMWATCH_EVENT_BASE);
		else if (ev[i].data.u32 == WAKE_COMMAND)
			ignore(read(g->command_fd, &count, sizeof(count)), "only the wake-up counts");
		else
			g->orphaned = true;
	}
	g->orphaned |= g->supervisor_fd < 0 && getppid() != g->shm->supervisor;
	return !g->orphaned;
}

static int watch_fd(struct guard *g, int fd, uint32_t what)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.u32 = what};
	return epoll_ctl(g->epoll_fd, EPOLL_CTL_ADD, fd, &ev) < 0 ? -errno : 0;
}

static int guard_prepare(struct guard *g, struct guard_shm *shm, const struct world *w, int command_fd, int kick_fd)
{
	g->w = w;
	g->born_ns = w->mono_ns();
	g->shm = shm;
	g->command_fd = command_fd;
	g->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (g->epoll_fd < 0)
		return -errno;
	int r = memwatch_open(&g->memwatch, w, g->epoll_fd);
	if (r == 0)
		r = tasks_init(&g->tasks, UNIT_KNOWN_MAX, -1);
	if (r == 0)
		r = reaper_start(&g->reaper);
	if (r < 0)
		return r;
	g->supervisor_fd = (int)syscall(SYS_pidfd_open, shm->supervisor, 0);
	r = watch_fd(g, command_fd, WAKE_COMMAND);
	g->orphaned = getppid() != shm->supervisor; /* it is gone already */
	if (r == 0 && g->supervisor_fd >= 0)
		r = watch_fd(g, g->supervisor_fd, WAKE_SUPERVISOR);
	g->evict = (struct evict){.w = w,
				  .shm = shm,
				  .memwatch = &g->memwatch,
				  .tasks = &g->tasks,
				  .known = &g->known,
				  .units = &g->units,
				  .reaper = &g->reaper,
				  .kick_fd = kick_fd,
				  .jobs = g->jobs};
	return r;
}

/* Who the guard is, for the process that looks whether it still lives. */
static void identity_note(struct guard_shm *shm, const struct world *w)
{
	struct proc_stat st;
	struct proc_id self = {.pid = getpid()};
	if (proc_stat_read(w, self.pid, &st) == 0)
		self.start_ticks = st.start_ticks;
	shm->guard = self;
}

/* Of the guard or of the rescue process: too large for the stack; zero pages cost nothing until used. */
static struct guard this_guard;

_Noreturn void guardloop_rescue(struct guard_shm *shm, const struct world *w)
{
	struct guard *g = &this_guard;
	int r = guard_prepare(g, shm, w, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), -1);
	if (r == 0)
		orphan(g);
	_exit(r == 0 ? 0 : 1);
}

_Noreturn void guardloop_main(struct guard_shm *shm, const struct world *w, int command_fd, int kick_fd)
{
	struct guard *g = &this_guard;
	static const int quiet[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP, SIGUSR1, SIGUSR2, SIGWINCH};
	(void)setsid();
	for (size_t i = 0; i < ARRAY_SIZE(quiet); i++)
		(void)signal(quiet[i], SIG_IGN);
	sigset_t none;
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	identity_note(shm, w);
	int r = guard_prepare(g, shm, w, command_fd, kick_fd);
	if (r < 0) {
		shm->start_error = r;
		_exit(1);
	}
	privileges_take(g);
	shm->locked = memlock_own(shm, sizeof(*shm), g->tasks.rows, g->tasks.cap * sizeof(*g->tasks.rows));
	if (!shm->locked)
		note(shm, "memory is not locked (RLIMIT_MEMLOCK): the guard may be paged out");
	atomic_store(&shm->ready, 1);
	while (!atomic_load(&shm->stop)) {
		uint64_t wait = guard_round(g);
		atomic_store(&shm->beat_due_ns, w->mono_ns() + wait);
		if (!take_events(g, g->orphaned ? 0 : wait)) {
			if (!atomic_load(&shm->stop))
				orphan(g);
			break;
		}
	}
	evict_let_go(&g->evict);
	_exit(0);
}
