#include "agent/hand.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "agent/casefile.h"
#include "base/buf.h"
#include "base/file.h"

/* The report's skeleton gets this long to reach the disk while the victim is frozen. */
static const uint64_t save_budget_ns = 10 * NS_PER_MS;
/* …and, once it is there, the stacks of the victim this long in all. */
static const uint64_t stacks_budget_ns = 50 * NS_PER_MS;
/* After this long without dying, a victim counts as stuck (D state) and is reported so. */
static const uint64_t stuck_ns = 2 * NS_PER_S;
static const uint64_t acting_look_ns = 1 * NS_PER_MS;
static const uint64_t nobody_look_ns = 100 * NS_PER_MS;

static void kick(struct hand *h)
{
	uint64_t one = 1;
	ignore(write(h->kick_fd, &one, sizeof(one)), "the supervisor also looks by itself");
}

static void phase_publish(struct hand *h, enum case_phase p)
{
	atomic_store(&h->now->phase, (uint32_t)p);
	kick(h);
}

struct role_reader {
	struct hand *h;
	char environ[4096], command[512], parent_command[512];
};

static void read_role(void *ctx, const struct task_row *row, const struct role_info *parent, struct role_info *ret)
{
	struct role_reader *rr = ctx;
	size_t env_len = 0;
	struct role_input in = {.comm = span_of(row->comm), .parent = parent};
	if (proc_command_read(rr->h->w, row->pid, rr->command, sizeof(rr->command)) == 0)
		in.command = span_of(rr->command);
	if (proc_environ_read(rr->h->w, row->pid, rr->environ, sizeof(rr->environ), &env_len) == 0)
		in.environ = (struct span){rr->environ, env_len};
	const struct task_row *above = parent ? tasks_find(rr->h->tasks, row->ppid) : NULL;
	if (above) {
		in.parent_comm = span_of(above->comm);
		if (proc_command_read(rr->h->w, above->pid, rr->parent_command, sizeof(rr->parent_command)) == 0)
			in.parent_command = span_of(rr->parent_command);
	}
	role_of(&in, ret);
}

static void pids_sort(pid_t *pids, size_t n)
{
	for (size_t gap = n / 2; gap > 0; gap /= 2)
		for (size_t i = gap; i < n; i++) {
			pid_t x = pids[i];
			size_t j = i;
			for (; j >= gap && pids[j - gap] > x; j -= gap)
				pids[j] = pids[j - gap];
			pids[j] = x;
		}
}

/* Pids of adopted groups; a static pool is shared by all jobs, first come first served. */
static void read_group_pids(struct hand *h, struct unit_extra *extra)
{
	static pid_t pool[16384];
	size_t used = 0;
	for (size_t j = 0; j < h->n_jobs; j++) {
		const struct guard_job *job = &h->jobs[j];
		size_t n = 0, room = ARRAY_SIZE(pool) - used;
		extra[j] = (struct unit_extra){.pids = pool + used};
		const char *path = h->orphaned && job->has_group ? job->group.memory : job->adopted_cgroup;
		if (path[0] == '\0' || !job->unit.active)
			continue;
		if (cgroup_pids(h->w, path, pool + used, room, &n) != 0)
			continue;
		extra[j].n = MIN(n, room);
		pids_sort(pool + used, extra[j].n);
		used += extra[j].n;
	}
}

/*
 * statm does not tell shared memory from mapped files. Where it matters (much
 * is shared, on a machine that is filling up), status is read for the few that
 * share most.
 */
static void tell_shared_apart(struct hand *h)
{
	uint64_t worth = MIN(h->shm->now.total_bytes, h->eye->meminfo.bytes[MEMINFO_TOTAL]);
	for (size_t j = 0; j < h->n_jobs; j++)
		worth = MIN(worth, h->jobs[j].limit_bytes);
	worth /= 64;
	size_t left = 64;
	for (size_t i = 0; i < h->tasks->n && left > 0; i++) {
		struct task_row *row = &h->tasks->rows[i];
		struct proc_status st;
		if (row->rss_file_bytes < MAX(worth, MIB))
			continue;
		left--;
		if (proc_status_read(h->w, row->pid, &st) != 0 || !st.has_memory)
			continue;
		row->rss_file_bytes = st.rss_file_bytes;
		row->rss_shmem_bytes = st.rss_shmem_bytes;
	}
}

static void remember_kin(struct hand *h)
{
	for (size_t i = 0; i < h->units->n_members; i++) {
		const struct unit *u = &h->units->unit[h->units->member[i].unit];
		const struct task_row *row = &h->tasks->rows[h->units->member[i].row];
		struct guard_kin *k = &h->shm->kin[(size_t)row->pid & (GUARD_KIN - 1)];
		k->pid = row->pid;
		k->job = u->job;
		k->attempt = h->jobs[u->job].attempt;
		k->rank = u->rank;
		TEXT_COPY(k->role, role_name((enum role)h->units->member[i].role));
		TEXT_COPY(k->name, row->comm);
	}
}

int hand_sweep(struct hand *h, size_t budget)
{
	static struct role_reader reader;
	static struct unit_extra extra[UNIT_JOBS_MAX];
	static struct unit_job jobs[UNIT_JOBS_MAX];
	uint64_t began_ns = h->w->mono_ns();
	int r = tasks_scan(h->tasks, h->w);
	if (r < 0)
		return r;
	for (size_t j = 0; j < h->n_jobs; j++) {
		struct unit_job *u = &jobs[j];
		*u = h->jobs[j].unit;
		u->n_not_ours += ownforks_find(&h->shm->own, h->tasks, h->shm->supervisor, u->not_ours + u->n_not_ours,
					       ARRAY_SIZE(u->not_ours) - u->n_not_ours);
	}
	read_group_pids(h, extra);
	if (h->tasks->source == TASKS_PROC)
		tell_shared_apart(h);
	reader.h = h;
	h->swept_ns = h->w->mono_ns();
	unit_build(h->known, h->tasks, jobs, h->n_jobs, extra, h->swept_ns, read_role, &reader, budget, h->units);
	remember_kin(h);
	h->sweep_cost_ns = h->w->mono_ns() - began_ns;
	return 0;
}

uint64_t hand_job_bytes(const struct hand *h, size_t j)
{
	uint64_t own = 0;
	for (size_t i = 0; i < h->units->n; i++)
		if (h->units->unit[i].job == j)
			own += unit_weight(&h->units->unit[i]);
	return own;
}

/* Jobs that lie below the level that is full, and may be acted on. */
static uint64_t jobs_below(const struct hand *h, size_t level)
{
	return h->eye->jobs_of[level];
}

static bool single_job(uint64_t mask, size_t *ret_job)
{
	if (mask == 0 || (mask & (mask - 1)) != 0)
		return false;
	*ret_job = (size_t)__builtin_ctzll(mask);
	return true;
}

/* Written down before it is done, so that nothing stays stopped should the guard die in between. */
static void stop_one(struct hand *h, struct target *t)
{
	struct guard_shm *shm = h->shm;
	uint32_t n = atomic_load(&shm->n_frozen);
	if (n >= GUARD_FROZEN)
		return;
	shm->frozen[n] = *t;
	shm->frozen[n].pidfd = -1; /* whoever gave it owns the descriptor */
	atomic_store(&shm->n_frozen, n + 1);
	if (target_signal(h->w, t, SIGSTOP) != 0)
		atomic_store(&shm->n_frozen, n);
}

static void freeze_unit(struct hand *h, size_t u)
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

/*
 * Stop the growth at once, before anything is decided: the whole job where it
 * has a group of its own, else the fastest growing unit as last seen. Thawed
 * at the next look when the threshold was not really crossed: such a pulse
 * slows a filler that would otherwise outrun the guard, and harms nobody.
 */
static void freeze_first(struct hand *h, size_t level)
{
	size_t job;
	h->group_frozen = 0;
	atomic_store(&h->shm->n_frozen, 0);
	if (!h->shm->freeze)
		return;
	if (single_job(jobs_below(h, level), &job) && h->jobs[job].has_group &&
	    !h->jobs[job].unit.protected_ && jobgroup_freeze(&h->jobs[job].group) == 0) {
		h->group_frozen = UINT64_C(1) << job;
		return;
	}
	size_t fastest = SIZE_MAX;
	for (size_t i = 0; i < h->units->n; i++) {
		const struct unit *u = &h->units->unit[i];
		if (u->protected_ || u->launcher || !(jobs_below(h, level) >> u->job & 1))
			continue;
		if (fastest == SIZE_MAX || u->growth_bytes_per_s > h->units->unit[fastest].growth_bytes_per_s)
			fastest = i;
	}
	if (fastest != SIZE_MAX)
		freeze_unit(h, fastest);
}

static bool is_victim(const struct hand *h, pid_t pid)
{
	for (size_t i = 0; i < h->n_targets; i++)
		if (h->target[i].id.pid == pid)
			return true;
	return false;
}

/* everything: also the victims (the case was cancelled). */
static void thaw(struct hand *h, bool everything)
{
	for (size_t j = 0; j < h->n_jobs; j++)
		if (h->group_frozen >> j & 1)
			ignore(jobgroup_thaw(&h->jobs[j].group), "a removed group needs no thawing");
	h->group_frozen = 0;
	uint32_t n = atomic_load(&h->shm->n_frozen);
	for (size_t i = 0; i < n; i++)
		if (everything || !is_victim(h, h->shm->frozen[i].id.pid))
			ignore(target_signal(h->w, &h->shm->frozen[i], SIGCONT), "gone is fine");
	atomic_store(&h->shm->n_frozen, 0);
}

void hand_let_go(struct hand *h)
{
	thaw(h, true);
	for (size_t j = 0; j < h->n_jobs; j++)
		ignore(jobgroup_unbrake(&h->jobs[j].group), "the group may be gone");
}

static bool is_undying(const struct hand *h, const struct unit *u)
{
	for (size_t i = 0; i < MIN(h->n_undying, (size_t)HAND_UNDYING); i++)
		if (h->undying[i].pid == u->pid && h->undying[i].start_ticks == u->start_ticks)
			return true;
	return false;
}

/* Who cannot relieve the level, or did not die of the last SIGKILL, is no candidate. */
static void protect_the_uninvolved(struct hand *h, uint64_t below)
{
	for (size_t i = 0; i < h->units->n; i++) {
		struct unit *u = &h->units->unit[i];
		if (!(below >> u->job & 1) || is_undying(h, u))
			u->protected_ = true;
	}
}

/* The table is a ring: the oldest ones have most likely gone by then. */
static size_t note_undying(struct hand *h)
{
	size_t denied = 0;
	for (size_t i = 0; i < h->n_targets; i++) {
		const struct target *t = &h->target[i];
		if (t->gone)
			continue;
		denied += t->denied;
		h->undying[h->n_undying++ % HAND_UNDYING] = t->id;
	}
	return denied;
}

static int by_own_bytes(const struct target *a, const struct target *b)
{
	return a->own_bytes > b->own_bytes ? -1 : a->own_bytes < b->own_bytes;
}

static void targets_sort(struct hand *h)
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
static void targets_collect(struct hand *h)
{
	static bool chosen[UNIT_MAX];
	memset(chosen, 0, sizeof(chosen));
	for (size_t i = 0; i < h->choice.n_chosen; i++)
		chosen[h->choice.order[i]] = true;
	h->n_targets = 0;
	for (size_t i = 0; i < h->units->n_members && h->n_targets < HAND_TARGETS; i++) {
		const struct unit_member *m = &h->units->member[i];
		if (!chosen[m->unit])
			continue;
		const struct task_row *row = &h->tasks->rows[m->row];
		h->target[h->n_targets++] = (struct target){
			.id = {row->pid, row->start_ticks}, .own_bytes = task_own_bytes(row), .pidfd = -1};
	}
	targets_sort(h);
	h->n_held = MIN(h->n_targets, (size_t)HAND_HELD);
	for (size_t i = 0; i < h->n_targets; i++)
		ignore(target_open(h->w, &h->target[i], i < h->n_held), "gone ones are marked so");
}

static void targets_close(struct hand *h)
{
	for (size_t i = 0; i < h->n_targets; i++)
		target_close(&h->target[i]);
	h->n_targets = h->n_held = 0;
}

static void stop_victims(struct hand *h)
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

/* A last line of defence: should the kernel wake up now, it takes our victim. */
static void offer_to_kernel(struct hand *h)
{
	for (size_t i = 0; i < MIN(h->n_targets, (size_t)16); i++) {
		char path[40];
		(void)snprintf(path, sizeof(path), "%d/oom_score_adj", (int)h->target[i].id.pid);
		ignore(file_write_at(h->w->proc_fd, path, "1000"), "only a second line");
	}
}

static bool begin(struct hand *h, const struct ledger *l, const struct guard_step *step)
{
	uint64_t now = l->mono_ns;
	h->crossing_ns = now;
	h->level = step->level;
	bool fresh = h->swept_ns != 0 && now - h->swept_ns < 500 * NS_PER_MS && h->units->n > 0;
	freeze_first(h, step->level);
	uint64_t frozen_ns = h->w->mono_ns();
	bool costly = h->tasks->source == TASKS_PROC && h->tasks->n > 1000;
	if (!(fresh && costly && step->state == GUARD_EMERGENCY))
		ignore(hand_sweep(h, step->state == GUARD_EMERGENCY ? 16 : 256), "the last sweep still serves");
	protect_the_uninvolved(h, jobs_below(h, step->level));
	victim_choose(h->units, h->shm->policy, step->deficit_bytes, &h->choice);
	if (h->choice.n == 0) {
		h->n_targets = 0;
		thaw(h, true);
		return false;
	}
	targets_collect(h);
	h->asked = false;
	h->now = casefile_begin(h, l, step);
	struct incident *in = &h->now->incident;
	in->action.freeze_us = (frozen_ns - h->crossing_ns) / NS_PER_US;
	in->action.notice_us = in->action.freeze_us;
	return true;
}

/* How many were still there to be hit; gone ones are marked so. */
static size_t send_all(struct hand *h, int signal)
{
	size_t hit = 0;
	for (size_t i = 0; i < h->n_targets; i++)
		hit += target_signal(h->w, &h->target[i], signal) != WORLD_GONE;
	return hit;
}

static uint64_t used_at(const struct hand *h, const struct ledger *l)
{
	return l->level[MIN(h->level, l->n - 1)].used_bytes;
}

/* Nobody was ended: everything as before. */
static void drop(struct hand *h, enum case_phase why)
{
	thaw(h, true);
	targets_close(h);
	phase_publish(h, why);
	h->phase = HAND_IDLE;
	h->swept_ns = 0;
}

static bool all_denied(const struct hand *h)
{
	for (size_t i = 0; i < h->n_targets; i++)
		if (!h->target[i].gone && !h->target[i].denied)
			return false;
	return true;
}

static bool whole_job_chosen(const struct hand *h, size_t job)
{
	size_t of_job = 0, chosen = 0;
	for (size_t i = 0; i < h->units->n; i++)
		of_job += h->units->unit[i].job == job;
	for (size_t i = 0; i < h->choice.n_chosen; i++)
		chosen += h->units->unit[h->choice.order[i]].job == job;
	return of_job == chosen;
}

static void go_killing(struct hand *h, const struct ledger *l)
{
	struct incident *in = &h->now->incident;
	uint64_t used = used_at(h, l);
	h->reaped_before = reaper_worked(h->reaper);
	size_t job = h->now->job;
	if (h->jobs[job].has_group && whole_job_chosen(h, job))
		ignore(jobgroup_kill(&h->jobs[job].group), "each process is signalled as well");
	if (send_all(h, SIGKILL) == 0) {
		drop(h, CASE_TOO_LATE);
		return;
	}
	if (all_denied(h)) {
		ignore(note_undying(h), "all of them; they are not chosen again");
		casefile_describe(h, l);
		drop(h, CASE_DENIED);
		return;
	}
	h->killed_ns = h->w->mono_ns();
	/* a v1 freezer holds even dying processes; stopped ones die as they are */
	thaw(h, false);
	for (size_t i = 0; i < h->n_held; i++) {
		if (h->target[i].gone)
			continue;
		target_boost(&h->target[i]);
		if (h->target[i].own_bytes >= MIB)
			ignore(reaper_push(h->reaper, &h->target[i]), "the kernel reaps too");
	}
	in->action.kill_us = (h->killed_ns - h->crossing_ns) / NS_PER_US;
	if (!h->shm->freeze)
		in->action.notice_us = in->action.kill_us;
	h->used_at_kill = h->used_least = used;
	h->phase = HAND_KILLING;
	h->deadline_ns = h->killed_ns + stuck_ns;
	phase_publish(h, CASE_KILLED);
}

static void finish(struct hand *h)
{
	casefile_finish(h);
	targets_close(h);
	phase_publish(h, CASE_DONE);
	h->phase = HAND_IDLE;
	h->swept_ns = 0;
}

static bool all_ended(struct hand *h)
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

static void step_asked(struct hand *h, const struct ledger *l, const struct guard_step *step)
{
	bool relieved = step->state < GUARD_ACT;
	if (all_ended(h)) {
		h->killed_ns = h->w->mono_ns();
		h->now->incident.action.dead_us = (h->killed_ns - h->crossing_ns) / NS_PER_US;
		h->phase = HAND_SETTLING;
		h->still = 0;
		return;
	}
	if (relieved && l->mono_ns < h->deadline_ns)
		return; /* it is going down: leave it its time */
	if (step->state == GUARD_EMERGENCY || l->mono_ns >= h->deadline_ns) {
		stop_victims(h);
		h->now->incident.action.freeze_us = (h->w->mono_ns() - h->crossing_ns) / NS_PER_US;
		casefile_method(h);
		go_killing(h, l);
	}
}

/*
 * Nearly nothing is left. If that is all the victims' doing, they stand still and there is time to see what they were at;
 * if it goes on without them, there is none.
 */
static bool still_filling(struct hand *h, const struct ledger *l, const struct guard_step *step)
{
	const struct ledger_level *v = &l->level[MIN(h->level, l->n - 1)];
	if (h->used_frozen == 0)
		h->used_frozen = v->used_bytes;
	uint64_t noise = MAX(MIB, sub_floor(v->total_bytes, step->threshold_bytes) / 16);
	return v->available_bytes < 2 * MIB || v->used_bytes > h->used_frozen + noise;
}

static void step_frozen(struct hand *h, const struct ledger *l, const struct guard_step *step)
{
	uint32_t saved = atomic_load(&h->now->saved);
	uint64_t deadline_ns = h->deadline_ns + (saved == CASE_SAVED_SKELETON ? stacks_budget_ns - save_budget_ns : 0);
	if (step->state < GUARD_ACT) {
		drop(h, CASE_CANCELLED); /* somebody else's memory came back meanwhile */
		return;
	}
	bool urgent = step->state == GUARD_EMERGENCY && still_filling(h, l, step);
	if (saved == CASE_SAVED_ALL || urgent || l->mono_ns >= deadline_ns)
		go_killing(h, l);
}

static void step_killing(struct hand *h, const struct ledger *l)
{
	if (all_ended(h) && reaper_idle(h->reaper)) {
		h->now->incident.action.dead_us = (h->w->mono_ns() - h->crossing_ns) / NS_PER_US;
		h->phase = HAND_SETTLING;
		h->still = 0;
	} else if (l->mono_ns >= h->deadline_ns) {
		if (note_undying(h) > 0)
			incident_evidence_add(&h->now->incident, "action", "pidfd", h->w->unix_ms(),
					      "vigil may not end a victim: it belongs to another user");
		else
			incident_evidence_add(&h->now->incident, "action", "pidfd", h->w->unix_ms(),
					      "a victim has not died %u s after SIGKILL: it is stuck in the kernel (D "
					      "state: network storage or a driver)", (unsigned)(stuck_ns / NS_PER_S));
		h->phase = HAND_SETTLING;
		h->still = 0;
	}
}

/* The victims are gone; wait until what they held has arrived. */
static void step_settling(struct hand *h, const struct ledger *l)
{
	uint64_t used = used_at(h, l);
	h->still = used + MIB < h->used_least ? 0 : h->still + 1;
	h->used_least = MIN(h->used_least, used);
	if (h->still >= 3)
		finish(h);
}

static void begin_courteously(struct hand *h, const struct ledger *l)
{
	(void)send_all(h, SIGTERM); /* who is gone is seen at the next look */
	h->asked = true;
	casefile_describe(h, l);
	TEXT_COPY(h->now->incident.action.method, "SIGTERM");
	h->now->incident.action.notice_us = (h->w->mono_ns() - h->crossing_ns) / NS_PER_US;
	h->used_at_kill = h->used_least = used_at(h, l);
	h->deadline_ns = l->mono_ns + h->shm->settings.grace_ns;
	h->phase = HAND_ASKED;
	phase_publish(h, CASE_DECIDED);
}

static void step_idle(struct hand *h, const struct ledger *l, const struct guard_step *step)
{
	if (h->group_frozen || atomic_load(&h->shm->n_frozen) > 0)
		thaw(h, true); /* the end of a pulse */
	h->nobody = false;
	if (step->state < GUARD_ACT)
		return;
	if (step->early) {
		freeze_first(h, step->level);
		return;
	}
	uint64_t grace = h->shm->settings.grace_ns;
	bool courteous = grace > 0 && step->state == GUARD_ACT && step->time_to_limit_ns != UINT64_MAX &&
			 step->time_to_limit_ns > 2 * grace;
	bool freeze = h->shm->freeze;
	if (courteous)
		h->shm->freeze = false; /* a frozen process cannot save its work */
	bool begun = begin(h, l, step);
	h->shm->freeze = freeze;
	h->nobody = !begun;
	if (!begun)
		return;
	if (courteous) {
		begin_courteously(h, l);
		return;
	}
	if (!freeze) {
		go_killing(h, l);
		if (h->phase == HAND_KILLING)
			casefile_describe(h, l);
		return;
	}
	stop_victims(h);
	offer_to_kernel(h);
	casefile_describe(h, l);
	h->now->frozen = true;
	h->used_frozen = 0;
	phase_publish(h, CASE_DECIDED);
	h->deadline_ns = h->w->mono_ns() + save_budget_ns;
	h->phase = HAND_FROZEN;
}

void hand_step(struct hand *h, const struct ledger *l, const struct guard_step *step, uint64_t *ret_next_ns)
{
	switch (h->phase) {
	case HAND_IDLE:
		step_idle(h, l, step);
		break;
	case HAND_ASKED:
		step_asked(h, l, step);
		break;
	case HAND_FROZEN:
		step_frozen(h, l, step);
		break;
	case HAND_KILLING:
		step_killing(h, l);
		break;
	case HAND_SETTLING:
		step_settling(h, l);
		break;
	}
	bool pulsing = h->group_frozen || atomic_load(&h->shm->n_frozen) > 0;
	*ret_next_ns = h->phase == HAND_IDLE && !pulsing ? step->next_ns : acting_look_ns;
	if (h->phase == HAND_IDLE && h->nobody)
		*ret_next_ns = MAX(*ret_next_ns, nobody_look_ns); /* nothing to be done: not a thousand times a second */
}
