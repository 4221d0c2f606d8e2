#include "agent/guard/evict.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "agent/guard/guardcase.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/units.h"
#include "judge/memory/guard_plan.h"

/* Time for the supervisor to begin reading the frozen victim's stacks. */
static const uint64_t begin_budget_ns = 8 * NS_PER_MS;
/* The longest for one thread: it may wait for a process for ever. */
static const uint64_t stack_budget_ns = 8 * NS_PER_MS;
/* From the crossing to SIGKILL in all, where the victims are frozen: 20 ms are promised. */
static const uint64_t case_budget_ns = 15 * NS_PER_MS;
/* Time for it to end a look ahead before it begins. */
static const uint64_t preload_budget_ns = 3 * NS_PER_MS;
/* Time for the names of processes that are new, by which victims are chosen, and between two looks for them. */
static const uint64_t names_budget_ns = 4 * NS_PER_MS;
static const uint64_t names_look_ns = 200 * NS_PER_US;
/* A victim that lives this long after SIGKILL is reported as stuck in the kernel (state D). */
static const uint64_t stuck_ns = 2 * NS_PER_S;
static const uint64_t acting_look_ns = 1 * NS_PER_MS;
static const uint64_t no_victim_look_ns = 100 * NS_PER_MS;

void evict_kick(struct evict *h)
{
	uint64_t one = 1;
	ignore(write(h->kick_fd, &one, sizeof(one)), "the supervisor also looks by itself");
}

static void phase_publish(struct evict *h, enum case_phase p)
{
	atomic_store(&h->now->phase, (uint32_t)p);
	evict_kick(h);
}

/* Bits of the jobs below this level, which alone can relieve it. */
static uint64_t jobs_below(const struct evict *h, size_t level)
{
	return h->memwatch->jobs_of[level];
}

static bool single_job(uint64_t mask, size_t *ret_job)
{
	if (mask == 0 || (mask & (mask - 1)) != 0)
		return false;
	*ret_job = (size_t)__builtin_ctzll(mask);
	return true;
}

void evict_prepare(struct evict *h)
{
	/* two descriptors each; victims, groups and what is read need some, too */
	struct rlimit files;
	size_t most = getrlimit(RLIMIT_NOFILE, &files) == 0 ? (size_t)files.rlim_cur / 8 : 0;
	size_t wanted = MIN(h->units->n_members, MIN(most, (size_t)EVICT_CONTINUED));
	while (h->n_cont < wanted && deathsig_open(&h->cont[h->n_cont], SIGCONT) == 0)
		h->n_cont++;
}

/*
 * Note the process in shared memory before it is stopped, so that a guard that dies in between leaves nothing stopped.
 * The kernel continues it if all of vigil dies.
 */
static void stop_one(struct evict *h, struct target *t)
{
	struct guard_shm *shm = h->shm;
	uint32_t n = atomic_load(&shm->n_frozen);
	if (n >= GUARD_FROZEN)
		return;
	shm->frozen[n] = *t;
	shm->frozen[n].pidfd = -1; /* the descriptor stays with the caller */
	atomic_store(&shm->n_frozen, n + 1);
	if (n < h->n_cont)
		ignore(deathsig_set(&h->cont[n], t->id.pid), "gone is fine");
	if (target_signal(h->w, t, SIGSTOP) != 0)
		atomic_store(&shm->n_frozen, n);
}

static void freeze_unit(struct evict *h, size_t u)
{
	const struct unit_table *t = h->units;
	for (size_t i = 0; i < t->n_members; i++) {
		if (t->member[i].unit != u)
			continue;
		const struct task_row *row = &h->tasks->rows[t->member[i].row];
		struct target f = {.id = {row->pid, row->start_ticks}, .pidfd = -1};
		stop_one(h, &f);
	}
}

static bool is_victim(const struct evict *h, pid_t pid)
{
	for (size_t i = 0; i < h->n_targets; i++)
		if (h->target[i].id.pid == pid)
			return true;
	return false;
}

/* Resume frozen processes. With `everything` the victims too, because the case was cancelled. */
static void thaw(struct evict *h, bool everything)
{
	for (size_t j = 0; j < h->n_jobs; j++)
		if (h->group_frozen >> j & 1)
			ignore(jobgroup_thaw(&h->jobs[j].group), "a removed group needs no thawing");
	h->group_frozen = 0;
	uint32_t n = atomic_load(&h->shm->n_frozen);
	for (size_t i = 0; i < n; i++)
		if (everything || !is_victim(h, h->shm->frozen[i].id.pid))
			ignore(target_signal(h->w, &h->shm->frozen[i], SIGCONT), "gone is fine");
	for (size_t i = 0; i < MIN(n, h->n_cont); i++)
		ignore(deathsig_set(&h->cont[i], 0), "0 is always taken");
	atomic_store(&h->shm->n_frozen, 0);
}

/* True while any process or group is frozen by us. */
static bool any_frozen(const struct evict *h)
{
	return h->group_frozen != 0 || atomic_load(&h->shm->n_frozen) > 0;
}

/*
 * Stop the growth at once, before a victim is chosen: freeze the whole job where it has a group of its own, else the
 * unit that grew fastest in the last sweep. A freeze before the threshold was crossed is short: it slows a process that
 * would outrun the guard, and ends with the next sample, which is taken at once. Without `freeze` only resume what is
 * frozen.
 */
static void freeze_first(struct evict *h, size_t level, bool freeze)
{
	size_t job;
	bool single = single_job(jobs_below(h, level), &job);
	if (freeze && single && h->group_frozen == UINT64_C(1) << job)
		return; /* frozen already, by a short freeze */
	thaw(h, true);
	if (!freeze)
		return;
	if (single && h->jobs[job].has_group && !h->jobs[job].unit.protected_ &&
	    jobgroup_freeze(&h->jobs[job].group) == 0) {
		h->group_frozen = UINT64_C(1) << job;
		return;
	}
	size_t fastest = SIZE_MAX;
	for (size_t i = 0; i < h->units->n; i++) {
		const struct unit *u = &h->units->unit[i];
		if (u->protected_ || u->launcher || !(jobs_below(h, level) >> u->job & 1))
			continue;
		if (fastest == SIZE_MAX || u->burst_bytes_per_s > h->units->unit[fastest].burst_bytes_per_s)
			fastest = i;
	}
	if (fastest != SIZE_MAX)
		freeze_unit(h, fastest);
}

/*
 * The guard is about to wait for what the supervisor reads, with the job stopped. It has the processors before anybody
 * else, the supervisor only when it is its turn: without this the guard would wait for all who compute.
 */
static void supervisor_hurry(struct evict *h)
{
	lend(&h->shm->lent[0], h->orphaned ? 0 : h->shm->supervisor);
	lend(&h->shm->lent[1], h->orphaned ? 0 : atomic_load(&h->shm->lock_helper));
}

static void supervisor_rest(struct evict *h)
{
	for (size_t i = 0; i < GUARD_LENT; i++)
		lend_back(&h->shm->lent[i]);
}

void evict_let_go(struct evict *h)
{
	supervisor_rest(h);
	thaw(h, true);
	for (size_t j = 0; j < h->n_jobs; j++)
		ignore(jobgroup_unthrottle(&h->jobs[j].group), "the group may be gone");
}

static bool is_unkillable(const struct evict *h, const struct unit *u)
{
	for (size_t i = 0; i < MIN(h->n_unkillable, (size_t)EVICT_UNKILLABLE); i++)
		if (h->unkillable[i].pid == u->pid && h->unkillable[i].start_ticks == u->start_ticks)
			return true;
	return false;
}

/* Exclude units that cannot relieve the level, and those that survived the last SIGKILL. */
static void exclude_uninvolved(struct evict *h, uint64_t below)
{
	for (size_t i = 0; i < h->units->n; i++) {
		struct unit *u = &h->units->unit[i];
		if (!(below >> u->job & 1) || is_unkillable(h, u))
			u->protected_ = true;
	}
}

/*
 * Note the victims that still live. The table is a ring, its oldest entries are overwritten. Returns how many SIGKILL
 * was denied to.
 */
static size_t note_unkillable(struct evict *h)
{
	size_t denied = 0;
	for (size_t i = 0; i < h->n_targets; i++) {
		const struct target *t = &h->target[i];
		if (t->gone)
			continue;
		denied += t->denied;
		h->unkillable[h->n_unkillable++ % EVICT_UNKILLABLE] = t->id;
	}
	return denied;
}

static int by_own_bytes(const struct target *a, const struct target *b)
{
	return a->own_bytes > b->own_bytes ? -1 : a->own_bytes < b->own_bytes;
}

static void targets_sort(struct evict *h)
{
	/* shell sort: in place, no allocation */
	for (size_t gap = h->n_targets / 2; gap > 0; gap /= 2)
		for (size_t i = gap; i < h->n_targets; i++) {
			struct target x = h->target[i];
			size_t j = i;
			for (; j >= gap && by_own_bytes(&x, &h->target[j - gap]) < 0; j -= gap)
				h->target[j] = h->target[j - gap];
			h->target[j] = x;
		}
}

/* All processes of the chosen units, the largest first. */
static void targets_collect(struct evict *h)
{
	static bool chosen[UNIT_MAX];
	memset(chosen, 0, sizeof(chosen));
	for (size_t i = 0; i < h->choice.n_chosen; i++)
		chosen[h->choice.order[i]] = true;
	h->n_targets = 0;
	for (size_t i = 0; i < h->units->n_members && h->n_targets < EVICT_TARGETS; i++) {
		const struct unit_member *m = &h->units->member[i];
		if (!chosen[m->unit])
			continue;
		const struct task_row *row = &h->tasks->rows[m->row];
		h->target[h->n_targets++] = (struct target){
			.id = {row->pid, row->start_ticks}, .own_bytes = task_own_bytes(row), .pidfd = -1};
	}
	targets_sort(h);
	h->n_held = MIN(h->n_targets, (size_t)EVICT_HELD);
	for (size_t i = 0; i < h->n_targets; i++)
		ignore(target_open(h->w, &h->target[i], i < h->n_held), "gone ones are marked so");
}

static void targets_close(struct evict *h)
{
	for (size_t i = 0; i < h->n_targets; i++)
		target_close(&h->target[i]);
	h->n_targets = h->n_held = 0;
}

static void stop_victims(struct evict *h)
{
	if (!h->shm->freeze || h->group_frozen)
		return;
	for (size_t i = 0; i < h->n_targets; i++) {
		bool already = false;
		uint32_t n = atomic_load(&h->shm->n_frozen);
		for (size_t k = 0; k < n && !already; k++)
			already = h->shm->frozen[k].id.pid == h->target[i].id.pid;
		if (!already && !h->target[i].gone)
			stop_one(h, &h->target[i]);
	}
}

/* Set oom_score_adj of the victims to its maximum: should the kernel's killer run now, it takes the same processes. */
static void offer_to_kernel(struct evict *h)
{
	for (size_t i = 0; i < MIN(h->n_targets, (size_t)16); i++) {
		char path[40];
		(void)snprintf(path, sizeof(path), "%d/oom_score_adj", (int)h->target[i].id.pid);
		ignore(file_write_at(h->w->proc_fd, path, "1000"), "only a second line");
	}
}

/*
 * True while a choice has to wait for the names of processes that are new: without them a worker is not known from the
 * program that it serves. They come within a millisecond where the supervisor runs and nobody keeps it waiting.
 */
static bool names_awaited(struct evict *h, uint64_t now, bool emergency)
{
	bool wanted = h->n_want > 0 && h->units->n_members > 1 && !emergency && !h->orphaned;
	if (wanted && h->named_until_ns == 0)
		h->named_until_ns = now + names_budget_ns;
	bool awaited = wanted && now < h->named_until_ns;
	if (!awaited)
		h->named_until_ns = 0;
	return awaited;
}

/*
 * The jobs' processes as they are now. What others hold may be older: half a second, or, at a job's own limit, which no
 * stranger has to do with, as old as the last sweep.
 */
static void case_sweep(struct evict *h, const struct ledger *l, bool fresh, bool emergency)
{
	bool costly = h->tasks->source == TASKS_PROC && h->tasks->n > 1000;
	bool looks = evict_can_look(h) && (fresh || l->level[h->level].scope == LEDGER_JOB);
	size_t budget = emergency ? 16 : 256;
	h->is_pressing = true;
	if (!evict_refresh(h, budget) && !(looks ? evict_look(h, true, budget) : fresh && costly && emergency))
		ignore(evict_sweep(h, budget), "the last sweep still serves");
	h->is_pressing = false;
}

enum case_beginning { CASE_OPENED, CASE_NO_VICTIM, CASE_NAMES_AWAITED };

/* Freeze, sweep, choose, and open a case. */
static enum case_beginning case_begin(struct evict *h, const struct ledger *l, const struct guard_step *step,
				      bool freeze)
{
	bool fresh = evict_is_fresh(h), again = h->named_until_ns != 0;
	h->level = step->level;
	freeze_first(h, step->level, freeze);
	if (!again) {
		h->crossing_ns = l->mono_ns;
		h->frozen_ns = h->w->mono_ns();
	}
	if (freeze)
		supervisor_hurry(h);
	bool emergency = step->state == GUARD_EMERGENCY;
	case_sweep(h, l, fresh, emergency);
	if (names_awaited(h, l->mono_ns, emergency))
		return CASE_NAMES_AWAITED;
	exclude_uninvolved(h, jobs_below(h, step->level));
	victim_choose(h->units, h->shm->policy, step->deficit_bytes, &h->choice);
	if (h->choice.n == 0) {
		h->n_targets = 0;
		thaw(h, true);
		return CASE_NO_VICTIM;
	}
	targets_collect(h);
	h->asked = false;
	h->now = guardcase_begin(h, l, step);
	struct incident *in = &h->now->incident;
	in->action.notice_us = (h->frozen_ns - h->crossing_ns) / NS_PER_US;
	in->action.freeze_us = any_frozen(h) ? in->action.notice_us : 0;
	return CASE_OPENED;
}

/* Returns how many processes were still there; those that are gone are marked. */
static size_t send_all(struct evict *h, int signal)
{
	size_t hit = 0;
	for (size_t i = 0; i < h->n_targets; i++)
		hit += target_signal(h->w, &h->target[i], signal) != WORLD_GONE;
	return hit;
}

static uint64_t used_at(const struct evict *h, const struct ledger *l)
{
	return l->level[MIN(h->level, l->n - 1)].used_bytes;
}

/* Close the case without a kill and resume everything. */
static void case_drop(struct evict *h, enum case_phase why)
{
	thaw(h, true);
	targets_close(h);
	phase_publish(h, why);
	h->phase = EVICT_IDLE;
	h->swept_ns = 0;
}

static bool all_denied(const struct evict *h)
{
	for (size_t i = 0; i < h->n_targets; i++)
		if (!h->target[i].gone && !h->target[i].denied)
			return false;
	return true;
}

static bool whole_job_chosen(const struct evict *h, size_t job)
{
	size_t of_job = 0, chosen = 0;
	for (size_t i = 0; i < h->units->n; i++)
		of_job += h->units->unit[i].job == job;
	for (size_t i = 0; i < h->choice.n_chosen; i++)
		chosen += h->units->unit[h->choice.order[i]].job == job;
	return of_job == chosen;
}

static void go_killing(struct evict *h, const struct ledger *l)
{
	struct incident *in = &h->now->incident;
	uint64_t used = used_at(h, l);
	h->reaped_before = reaper_worked(h->reaper);
	size_t job = h->now->job;
	if (h->jobs[job].has_group && whole_job_chosen(h, job))
		ignore(jobgroup_kill(&h->jobs[job].group), "each process is signalled as well");
	if (send_all(h, SIGKILL) == 0) {
		case_drop(h, CASE_TOO_LATE);
		return;
	}
	if (all_denied(h)) {
		ignore(note_unkillable(h), "all of them; they are not chosen again");
		guardcase_describe(h, l);
		case_drop(h, CASE_DENIED);
		return;
	}
	h->killed_ns = h->w->mono_ns();
	/* a v1 freezer holds even dying processes, so thaw groups; stopped processes die as they are */
	thaw(h, false);
	for (size_t i = 0; i < h->n_held; i++) {
		if (h->target[i].gone)
			continue;
		target_boost(&h->target[i]);
		if (h->target[i].own_bytes >= MIB)
			ignore(reaper_push(h->reaper, &h->target[i]), "the kernel reaps too");
	}
	in->action.kill_us = (h->killed_ns - h->crossing_ns) / NS_PER_US;
	if (!h->asked && in->action.freeze_us == 0)
		in->action.notice_us = in->action.kill_us; /* the kill was the first action */
	h->used_at_kill = h->used_least = used;
	h->phase = EVICT_KILLING;
	h->deadline_ns = h->killed_ns + stuck_ns;
	phase_publish(h, CASE_KILLED);
}

static void case_finish(struct evict *h)
{
	guardcase_finish(h);
	targets_close(h);
	phase_publish(h, CASE_DONE);
	h->phase = EVICT_IDLE;
	h->swept_ns = 0;
}

static bool all_ended(struct evict *h)
{
	bool ended = true;
	for (size_t i = 0; i < h->n_targets; i++) {
		struct target *t = &h->target[i];
		if (t->gone)
			continue;
		if (target_ended(h->w, t))
			t->gone = true;
		else
			ended = false;
	}
	return ended;
}

static void step_asked(struct evict *h, const struct ledger *l, const struct guard_step *step)
{
	bool relieved = step->state < GUARD_ACT;
	if (all_ended(h)) {
		h->killed_ns = h->w->mono_ns();
		h->now->incident.action.dead_us = (h->killed_ns - h->crossing_ns) / NS_PER_US;
		h->phase = EVICT_SETTLING;
		h->still = 0;
		return;
	}
	if (relieved && l->mono_ns < h->deadline_ns)
		return; /* memory is being freed: leave the job its time */
	if (step->state == GUARD_EMERGENCY || l->mono_ns >= h->deadline_ns) {
		stop_victims(h);
		if (any_frozen(h))
			h->now->incident.action.freeze_us = (h->w->mono_ns() - h->crossing_ns) / NS_PER_US;
		guardcase_method(h);
		go_killing(h, l);
	}
}

/* Until when the supervisor is waited for: longer while it gets on. */
static uint64_t stacks_deadline_ns(struct evict *h, uint32_t seen, uint64_t now)
{
	uint32_t progress = atomic_load(&h->now->progress) + seen;
	if (progress != h->progress_seen)
		h->progress_ns = now;
	h->progress_seen = progress;
	if (seen == CASE_SEEN_NOT)
		return h->deadline_ns + (atomic_load(&h->shm->preloading) ? preload_budget_ns : 0);
	return h->progress_ns + stack_budget_ns;
}

static void step_frozen(struct evict *h, const struct ledger *l, const struct guard_step *step)
{
	uint32_t seen = atomic_load(&h->now->seen);
	uint64_t deadline_ns = MIN(stacks_deadline_ns(h, seen, l->mono_ns), h->now->until_ns);
	if (step->state < GUARD_ACT) {
		case_drop(h, CASE_CANCELLED); /* other processes freed memory meanwhile */
		return;
	}
	const struct ledger_level *level = &l->level[MIN(h->level, l->n - 1)];
	bool urgent = step->state == GUARD_EMERGENCY &&
		      guard_plan_still_filling(level, step->threshold_bytes, &h->used_frozen);
	if (seen == CASE_SEEN_ALL || urgent || l->mono_ns >= deadline_ns)
		go_killing(h, l);
}

static void step_killing(struct evict *h, const struct ledger *l)
{
	if (all_ended(h) && reaper_idle(h->reaper)) {
		h->now->incident.action.dead_us = (h->w->mono_ns() - h->crossing_ns) / NS_PER_US;
		h->phase = EVICT_SETTLING;
		h->still = 0;
	} else if (l->mono_ns >= h->deadline_ns) {
		if (note_unkillable(h) > 0)
			incident_evidence_add(&h->now->incident, "action", "pidfd", h->w->unix_ms(),
					      "vigil may not end a victim: it belongs to another user");
		else
			incident_evidence_add(&h->now->incident, "action", "pidfd", h->w->unix_ms(),
					      "a victim has not died %u s after SIGKILL: it is stuck in the kernel (D "
					      "state: network storage or a driver)",
					      (unsigned)(stuck_ns / NS_PER_S));
		h->phase = EVICT_SETTLING;
		h->still = 0;
	}
}

/* The victims are gone: wait until their memory is free. */
static void step_settling(struct evict *h, const struct ledger *l)
{
	uint64_t used = used_at(h, l);
	h->still = used + MIB < h->used_least ? 0 : h->still + 1;
	h->used_least = MIN(h->used_least, used);
	if (h->still >= 3)
		case_finish(h);
}

static bool evict_is_main(const struct evict *h, pid_t pid)
{
	for (size_t i = 0; i < h->choice.n_chosen; i++)
		if (h->units->unit[h->choice.order[i]].pid == pid)
			return true;
	return false;
}

/*
 * Ask the main process of each unit, which ends its workers itself. Workers are not asked: one that dies under a
 * program that is saving its work makes it fail, and one that has inherited the handler would save a second time.
 */
static void ask_mains(struct evict *h)
{
	size_t asked = 0;
	for (size_t i = 0; i < h->n_targets; i++)
		if (evict_is_main(h, h->target[i].id.pid))
			asked += target_signal(h->w, &h->target[i], SIGTERM) != WORLD_GONE;
	if (asked == 0)
		(void)send_all(h, SIGTERM); /* processes that are gone are noticed at the next sample */
}

/* Memory lasts long enough to ask with SIGTERM first. */
static void ask_first(struct evict *h, const struct ledger *l)
{
	ask_mains(h);
	h->asked = true;
	guardcase_describe(h, l);
	TEXT_COPY(h->now->incident.action.method, "SIGTERM");
	h->now->incident.action.notice_us = (h->w->mono_ns() - h->crossing_ns) / NS_PER_US;
	h->used_at_kill = h->used_least = used_at(h, l);
	h->deadline_ns = l->mono_ns + h->shm->settings.grace_ns;
	h->phase = EVICT_ASKED;
	phase_publish(h, CASE_DECIDED);
}

/* Dry run: say whom it would be, once until memory is no longer short. */
static void would_end(struct evict *h, const struct ledger *l, const struct guard_step *step)
{
	const struct ledger_level *v = &l->level[step->level];
	char why[160], own[16], used[16], total[16];
	if (step->state < GUARD_ACT || step->early) {
		h->would_told = h->would_told && step->state >= GUARD_ACT;
		return;
	}
	if (h->would_told)
		return;
	ignore(evict_sweep(h, 256), "the last sweep still serves");
	if (names_awaited(h, l->mono_ns, false))
		return;
	h->would_told = true;
	exclude_uninvolved(h, jobs_below(h, step->level));
	victim_choose(h->units, h->shm->policy, step->deficit_bytes, &h->choice);
	if (h->choice.n == 0)
		return;
	const struct unit *u = &h->units->unit[h->choice.order[0]];
	victim_explain(h->units, h->shm->policy, &h->choice, 0, why, sizeof(why));
	(void)atomic_fetch_add(&h->shm->would.seq, 1);
	h->shm->would.job = u->job;
	TEXT_FORMAT(
		h->shm->would.text,
		"dry run: %s of %s are in use; without it vigil would now end %s (pid %d, %s of its own)%s: it is %s",
		size_format(v->used_bytes, used), size_format(v->total_bytes, total), u->comm, (int)u->pid,
		size_format(u->own_bytes, own), h->choice.n_chosen > 1 ? " and others" : "", why);
	(void)atomic_fetch_add(&h->shm->would.seq, 1);
	evict_kick(h);
}

/* No case is open; a short freeze may be in effect. */
static void step_idle(struct evict *h, const struct ledger *l, const struct guard_step *step)
{
	bool early = step->state >= GUARD_ACT && step->early, freeze_goes_on = h->brief_freeze && early;
	h->no_victim = h->brief_freeze = false;
	if (freeze_goes_on)
		return;
	if (early || step->state < GUARD_ACT)
		h->named_until_ns = 0;
	if (any_frozen(h) && (early || step->state < GUARD_ACT))
		thaw(h, true); /* end of a short freeze; a job over its threshold stays frozen */
	if (step->state < GUARD_ACT)
		return;
	if (early) {
		freeze_first(h, step->level, h->shm->freeze);
		h->brief_freeze = any_frozen(h);
		return;
	}
	bool ask = guard_plan_ask_first(h->shm->settings.grace_ns, step);
	bool freeze = h->shm->freeze && !ask; /* a frozen process cannot save its work */
	enum case_beginning begun = case_begin(h, l, step, freeze);
	h->no_victim = begun == CASE_NO_VICTIM;
	if (begun != CASE_OPENED)
		return;
	if (ask) {
		ask_first(h, l);
		return;
	}
	if (!freeze) {
		go_killing(h, l);
		if (h->phase == EVICT_KILLING)
			guardcase_describe(h, l);
		return;
	}
	stop_victims(h);
	h->now->frozen = true;
	h->used_frozen = 0;
	h->progress_seen = 0;
	h->deadline_ns = h->w->mono_ns() + begin_budget_ns;
	h->now->until_ns = h->crossing_ns + case_budget_ns;
	phase_publish(h, CASE_DECIDED);
	offer_to_kernel(h);
	guardcase_describe(h, l); /* while the supervisor reads the stacks */
	h->phase = EVICT_FROZEN;
}

void evict_step(struct evict *h, const struct ledger *l, const struct guard_step *step, uint64_t *ret_next_ns)
{
	switch (h->phase) {
	case EVICT_IDLE:
		if (h->shm->dry_run)
			would_end(h, l, step);
		else
			step_idle(h, l, step);
		break;
	case EVICT_ASKED:
		step_asked(h, l, step);
		break;
	case EVICT_FROZEN:
		step_frozen(h, l, step);
		break;
	case EVICT_KILLING:
		step_killing(h, l);
		break;
	case EVICT_SETTLING:
		step_settling(h, l);
		break;
	}
	if (h->phase != EVICT_FROZEN && h->named_until_ns == 0)
		supervisor_rest(h);
	*ret_next_ns = h->phase == EVICT_IDLE && !any_frozen(h) ? step->next_ns : h->brief_freeze ? 0 : acting_look_ns;
	if (h->phase == EVICT_IDLE && (h->no_victim || h->shm->dry_run))
		*ret_next_ns =
			MAX(*ret_next_ns, no_victim_look_ns); /* nothing to be done: not a thousand times a second */
	if (h->phase == EVICT_IDLE && h->named_until_ns != 0)
		*ret_next_ns = names_look_ns;
}
