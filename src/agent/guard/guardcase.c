#include "agent/guard/guardcase.h"

#include <string.h>

#include "agent/guard/memlock.h"
#include "base/buf.h"
#include "base/units.h"

static enum memory_scope scope_of(enum ledger_scope s)
{
	switch (s) {
	case LEDGER_CONTAINER:
		return MEMORY_SCOPE_CONTAINER;
	case LEDGER_JOB:
		return MEMORY_SCOPE_JOB;
	case LEDGER_NODE:
		break;
	}
	return MEMORY_SCOPE_NODE;
}

static void write_trigger(struct evict *h, struct incident *in, const struct ledger *l, const struct guard_step *step)
{
	const struct ledger_level *v = &l->level[step->level];
	const struct guard_settings *s = &h->shm->settings;
	char size[16], free[16];
	in->memory.valid = true;
	in->memory.used_bytes = v->used_bytes;
	in->memory.total_bytes = v->total_bytes;
	in->memory.available_bytes = v->available_bytes;
	in->memory.kernel_used_bytes = v->kernel_used_bytes;
	in->memory.reclaimable_bytes = v->reclaimable_bytes;
	in->memory.swap_total_bytes = v->swap_total_bytes;
	in->memory.swap_free_bytes = v->swap_free_bytes;
	in->memory.ratio = ledger_ratio(v);
	in->memory.threshold_ratio = v->total_bytes ? (double)step->threshold_bytes / (double)v->total_bytes : 0;
	in->memory.scope = scope_of(v->scope);
	in->memory.has_rate = true;
	in->memory.growth_bytes_per_s = (int64_t)MIN(step->rate_bytes_per_s, (uint64_t)INT64_MAX);
	in->memory.time_to_limit_ms =
		step->time_to_limit_ns == UINT64_MAX ? UINT64_MAX : step->time_to_limit_ns / NS_PER_MS;
	memwatch_level_name(h->memwatch, l, step->level, in->memory.level, sizeof(in->memory.level));
	size_format(step->threshold_bytes, size);
	if (s->has_min_free)
		TEXT_FORMAT(in->memory.threshold,
			    "%s: the larger of %.3g of the total and the total less %s (--min-free)", size,
			    s->threshold_ratio, size_format(s->min_free_bytes, free));
	else
		TEXT_FORMAT(in->memory.threshold, "%s: %.3g of the total (--memory-threshold)", size,
			    s->threshold_ratio);
}

static void unit_name(const struct unit *u, char *dst, size_t cap)
{
	if (u->rank != NO_RANK)
		(void)text_format(dst, cap, "rank %d (%s)", u->rank, u->comm);
	else
		(void)text_format(dst, cap, "%s", u->comm);
}

static uint64_t shm_job_bytes(const struct evict *h)
{
	return h->shm->now.job_bytes[h->units->unit[h->choice.order[0]].job];
}

static void write_victim(struct evict *h, struct incident *in)
{
	const struct unit *u = &h->units->unit[h->choice.order[0]];
	in->victim.valid = true;
	in->victim.pid = u->pid;
	in->victim.rank = u->rank;
	TEXT_COPY(in->victim.name, u->comm);
	if (!guardnames_command(&h->shm->names, (struct proc_id){u->pid, u->start_ticks}, in->victim.command,
				sizeof(in->victim.command)))
		TEXT_COPY(in->victim.command, u->comm);
	in->victim.has_memory = true;
	/* forks whose sharing was not read yet may count more than there is */
	in->victim.own_bytes = MIN(u->own_bytes, in->memory.used_bytes);
	in->victim.rss_bytes = u->rss_bytes;
	in->victim.shared_bytes = sub_floor(u->rss_bytes, u->own_bytes);
	in->victim.rss_bytes = in->victim.own_bytes + in->victim.shared_bytes;
	in->memory.shm_bytes = h->memwatch->meminfo.bytes[MEMINFO_SHMEM];
	in->memory.job_bytes = shm_job_bytes(h);
	in->victim.swap_bytes = u->swap_bytes;
}

static struct guard_case *next_case(struct guard_shm *shm)
{
	return &shm->cases[atomic_load(&shm->cases_n) % GUARD_CASES];
}

void guardcase_prepare(struct guard_shm *shm)
{
	struct guard_case *c = next_case(shm);
	memlock_populate(c, sizeof(*c));
}

struct guard_case *guardcase_begin(struct evict *h, const struct ledger *l, const struct guard_step *step)
{
	struct guard_shm *shm = h->shm;
	uint32_t number = atomic_load(&shm->cases_n) + 1;
	struct guard_case *c = next_case(shm);
	atomic_store(&c->phase, CASE_EMPTY);
	atomic_store(&c->seen, CASE_SEEN_NOT);
	atomic_store(&c->progress, 0);
	atomic_store(&c->described, 0);
	atomic_store(&c->stored, 0);
	c->frozen = false;
	memset(&c->incident, 0, sizeof(c->incident));
	c->number = number;
	c->job = h->units->unit[h->choice.order[0]].job;
	c->n_victims = (uint32_t)MIN(h->n_targets, (size_t)GUARD_CASE_PIDS);
	for (size_t i = 0; i < c->n_victims; i++)
		c->victim[i] = h->target[i].id;
	struct incident *in = &c->incident;
	in->kind = INCIDENT_MEMORY_KILL;
	in->killer = KILLER_VIGIL;
	in->time_unix_ms = h->w->unix_ms();
	in->attempt = h->jobs[c->job].attempt;
	TEXT_COPY(in->job, h->jobs[c->job].id);
	write_trigger(h, in, l, step);
	write_victim(h, in);
	TEXT_COPY(in->policy.name, victim_policy_name(shm->policy));
	char why[160];
	victim_explain(h->units, shm->policy, &h->choice, 0, why, sizeof(why));
	TEXT_FORMAT(in->policy.reason, "it was %s", why);
	if (h->choice.n > h->choice.n_chosen)
		unit_name(&h->units->unit[h->choice.order[h->choice.n_chosen]], in->policy.next,
			  sizeof(in->policy.next));
	in->action.valid = true;
	in->action.processes_ended = (uint32_t)h->n_targets;
	atomic_store(&c->phase, CASE_BEGUN);
	atomic_store(&shm->cases_n, number);
	return c;
}

static void write_candidates(struct evict *h, struct incident *in)
{
	in->n_candidates_all = h->choice.n;
	in->n_candidates = MIN(h->choice.n, (size_t)INCIDENT_CANDIDATES);
	for (size_t i = 0; i < in->n_candidates; i++) {
		const struct unit *u = &h->units->unit[h->choice.order[i]];
		struct incident_candidate *c = &in->candidates[i];
		unit_name(u, c->name, sizeof(c->name));
		c->pid = u->pid;
		c->rank = u->rank;
		c->processes = u->processes;
		c->own_bytes = unit_weight(u);
		c->growth_bytes_per_s = u->growth_bytes_per_s;
		c->chosen = i < h->choice.n_chosen;
		c->retriable = u->retriable;
		victim_explain(h->units, h->shm->policy, &h->choice, i, c->why, sizeof(c->why));
	}
}

static const struct unit_member *member_of_row(const struct unit_table *t, uint32_t row)
{
	for (size_t i = 0; i < t->n_members; i++)
		if (t->member[i].row == row)
			return &t->member[i];
	return NULL;
}

static void write_top_row(struct evict *h, uint32_t row_index, struct incident_process *p)
{
	const struct task_row *row = &h->tasks->rows[row_index];
	const struct unit_member *m = member_of_row(h->units, row_index);
	*p = (struct incident_process){
		.pid = row->pid,
		.rank = m ? h->units->unit[m->unit].rank : NO_RANK,
		.own_bytes = unit_own(h->known, row),
		.rss_bytes = task_rss_bytes(row),
		.shared_bytes = row->rss_file_bytes + row->rss_shmem_bytes,
		.swap_bytes = row->swap_bytes,
	};
	if (m)
		TEXT_COPY(p->role, role_name((enum role)m->role));
	if (!guardnames_command(&h->shm->names, (struct proc_id){row->pid, row->start_ticks}, p->command,
				sizeof(p->command)))
		TEXT_COPY(p->command, row->comm);
}

/* The largest processes; at a limit of the job's own those that count there. */
static void write_top(struct evict *h, uint64_t jobs, struct incident *in)
{
	uint32_t top[INCIDENT_TOP];
	size_t n = 0;
	const bool of_job = in->memory.scope == MEMORY_SCOPE_JOB;
	for (size_t k = 0; k < (of_job ? h->units->n_members : h->tasks->n); k++) {
		const struct unit_member *m = of_job ? &h->units->member[k] : NULL;
		const uint32_t i = m ? m->row : (uint32_t)k;
		if (m && !(jobs >> h->units->unit[m->unit].job & 1))
			continue;
		uint64_t own = unit_own(h->known, &h->tasks->rows[i]);
		size_t at = n;
		while (at > 0 && own > unit_own(h->known, &h->tasks->rows[top[at - 1]]))
			at--;
		if (at >= INCIDENT_TOP)
			continue;
		n = MIN(n + 1, (size_t)INCIDENT_TOP);
		memmove(&top[at + 1], &top[at], (n - 1 - at) * sizeof(top[0]));
		top[at] = i;
	}
	in->n_top = n;
	for (size_t i = 0; i < n; i++)
		write_top_row(h, top[i], &in->top[i]);
}

size_t guardcase_growers(const struct evict *h, uint64_t jobs, struct incident_grower ret[static INCIDENT_GROWERS])
{
	size_t n = 0;
	for (size_t i = 0; i < h->units->n_members; i++) {
		const struct unit_member *m = &h->units->member[i];
		const struct unit *u = &h->units->unit[m->unit];
		const struct task_row *row = &h->tasks->rows[m->row];
		struct growth_said grown = unit_grown(h->known, row);
		size_t at = n;
		while (at > 0 && grown.grown_bytes > (int64_t)ret[at - 1].grown_bytes)
			at--;
		if (at >= INCIDENT_GROWERS || grown.grown_bytes <= 0 || !(jobs >> u->job & 1))
			continue;
		n = MIN(n + 1, (size_t)INCIDENT_GROWERS);
		memmove(&ret[at + 1], &ret[at], (n - 1 - at) * sizeof(ret[0]));
		ret[at] = (struct incident_grower){
			.pid = row->pid,
			.rank = u->rank,
			.own_bytes = unit_own(h->known, row),
			.growth_bytes_per_s = grown.bytes_per_s,
			.grown_bytes = (uint64_t)grown.grown_bytes,
			.over_ms = grown.over_ns / NS_PER_MS,
		};
		TEXT_COPY(ret[at].role, role_name((enum role)m->role));
		TEXT_COPY(ret[at].name, row->comm);
	}
	return n;
}

/*
 * What was in use of the level with this total; another one may have been the tightest then, and says nothing about it.
 * False: it is not known.
 */
static bool sample_used(const struct guard_sample *s, uint64_t total_bytes, uint64_t *ret)
{
	for (size_t k = 0; k < GUARD_SAMPLE_LEVELS && s->level[k].total_bytes != 0; k++) {
		if (s->level[k].total_bytes != total_bytes)
			continue;
		*ret = s->level[k].used_bytes;
		return true;
	}
	return false;
}

struct growth_said guardcase_growth(const struct guard_shm *shm, uint64_t total_bytes, uint64_t used_bytes,
				    int64_t now_unix_ms)
{
	static struct growth g;
	uint32_t end = atomic_load(&shm->history_n), n = MIN(end, (uint32_t)GUARD_HISTORY);
	const int64_t since = atomic_load(&shm->growth_since_unix_ms);
	while (n > 0 && shm->history[(end - n) % GUARD_HISTORY].time_unix_ms < since)
		n--;
	int64_t first = n ? shm->history[(end - n) % GUARD_HISTORY].time_unix_ms : 0;
	g = (struct growth){.n = 0};
	for (uint32_t i = end - n; i < end; i++) {
		const struct guard_sample *s = &shm->history[i % GUARD_HISTORY];
		uint64_t used;
		if (sample_used(s, total_bytes, &used) && s->time_unix_ms >= first)
			growth_add(&g, (uint64_t)(s->time_unix_ms - first) * NS_PER_MS, used);
	}
	if (now_unix_ms <= first)
		return (struct growth_said){.over_ns = 0};
	return growth_say(&g, (uint64_t)(now_unix_ms - first) * NS_PER_MS, used_bytes);
}

/* Replaces the worst rate of the last 2 s by what the level has grown by, over minutes where it was watched so long. */
static void write_growth(struct evict *h, struct incident *in)
{
	struct growth_said said =
		guardcase_growth(h->shm, in->memory.total_bytes, in->memory.used_bytes, in->time_unix_ms);
	if (said.over_ns < 2 * NS_PER_S || said.bytes_per_s <= 0)
		return;
	in->memory.growth_bytes_per_s = said.bytes_per_s;
	in->memory.growth_over_ms = said.over_ns / NS_PER_MS;
	in->memory.time_to_limit_ms = (uint64_t)((double)in->memory.available_bytes * 1000 / (double)said.bytes_per_s);
}

/* Add the last minute of the history of the memory that the case is about, one sample a second. */
static void write_history(struct evict *h, struct incident *in)
{
	const struct guard_shm *shm = h->shm;
	uint32_t end = atomic_load(&shm->history_n), n = MIN(end, (uint32_t)GUARD_HISTORY);
	int64_t now = in->time_unix_ms, last = now - 120000;
	in->n_history = 0;
	for (uint32_t i = end - n; i < end && in->n_history < INCIDENT_HISTORY; i++) {
		const struct guard_sample *s = &shm->history[i % GUARD_HISTORY];
		uint64_t used;
		if (now - s->time_unix_ms > 60000 || s->time_unix_ms - last < 950 ||
		    !sample_used(s, in->memory.total_bytes, &used))
			continue;
		last = s->time_unix_ms;
		in->history[in->n_history++] = (struct incident_sample){
			.age_ms = (uint32_t)MAX(now - s->time_unix_ms, 0),
			.used_bytes = used,
			.job_bytes = s->job_bytes,
		};
	}
}

void guardcase_method(struct evict *h)
{
	struct incident *in = &h->now->incident;
	struct buf b = BUF_ON(in->action.method);
	if (h->asked)
		buf_add(&b, "SIGTERM, then at the deadline ");
	if (h->shm->freeze && h->group_frozen)
		buf_add(&b, "freezer, ");
	else if (h->shm->freeze && atomic_load(&h->shm->n_frozen) > 0)
		buf_add(&b, "SIGSTOP, ");
	buf_add(&b, h->n_held > 0 && h->target[0].pidfd >= 0 ? "SIGKILL by pidfd" : "SIGKILL by checked pid");
}

/* Add every level above the job as evidence, and memory that ending processes does not free. */
static void write_levels(struct evict *h, struct incident *in, const struct ledger *l)
{
	const struct meminfo *m = &h->memwatch->meminfo;
	char name[200], used[16], total[16], huge[16], locked[16];
	for (size_t i = 0; i < l->n; i++) {
		const struct ledger_level *v = &l->level[i];
		memwatch_level_name(h->memwatch, l, i, name, sizeof(name));
		incident_evidence_add(in, "ledger", "memory of each level", in->time_unix_ms,
				      "%s: %s of %s in use (%.1f %%)", name, size_format(v->used_bytes, used),
				      size_format(v->total_bytes, total), ledger_ratio(v) * 100);
	}
	if (m->bytes[MEMINFO_HUGETLB] + m->bytes[MEMINFO_MLOCKED] > 64 * MIB)
		incident_evidence_add(in, "ledger", "meminfo", in->time_unix_ms,
				      "%s lie in the pool of huge pages and %s are locked: ending processes frees "
				      "neither pool nor pins",
				      size_format(m->bytes[MEMINFO_HUGETLB], huge),
				      size_format(m->bytes[MEMINFO_MLOCKED], locked));
	for (uint32_t i = 0; i < h->shm->n_notes; i++)
		incident_evidence_add(in, "not_read", "guard", 0, "%s", h->shm->notes[i]);
	if (h->tasks->source == TASKS_PROC)
		incident_evidence_add(in, "not_read", "BPF", 0,
				      "no BPF task iterator: processes were read one by one from the process table");
}

void guardcase_describe(struct evict *h, const struct ledger *l)
{
	struct incident *in = &h->now->incident;
	write_candidates(h, in);
	write_top(h, h->memwatch->jobs_of[h->level], in);
	in->n_growers = guardcase_growers(h, UINT64_MAX, in->growers);
	write_history(h, in);
	write_growth(h, in);
	guardcase_method(h);
	write_levels(h, in, l);
	if (h->memwatch->clamps)
		incident_evidence_add(in, "ledger", "meminfo", 0,
				      "the kernel's numbers were absurd %llu times and were clamped",
				      (unsigned long long)h->memwatch->clamps);
	atomic_store(&h->now->described, 1);
}

void guardcase_finish(struct evict *h)
{
	struct incident *in = &h->now->incident;
	uint64_t now_ns = h->w->mono_ns();
	in->action.freed_bytes = sub_floor(h->used_at_kill, h->used_least);
	in->action.freed_us = (now_ns - h->crossing_ns) / NS_PER_US;
	in->action.reaped = reaper_worked(h->reaper) - h->reaped_before;
	atomic_store(&h->shm->growth_since_unix_ms, h->w->unix_ms());
	if (in->action.reaped > 0) {
		struct buf b = BUF_ON(in->action.method);
		b.len = strlen(in->action.method);
		buf_add(&b, " + process_mrelease");
	}
}
