#include "model/memory/unit.h"

#include <string.h>

#include "base/bisect.h"
#include "base/buf.h"
#include "base/hash.h"
#include "model/incident/incident.h"

enum { ROW_OPEN = -1, ROW_OTHERS = -2 };

#define CHAIN_MAX 64 /* a deeper process joins the unit where the walk stopped */
#define PROBES_MAX 64

struct build {
	struct unit_memory *mem;
	const struct tasks *tasks;
	const struct unit_job *jobs;
	size_t n_jobs;
	const struct unit_extra *extra;
	uint64_t mono_ns;
	unit_role_fn *role;
	void *role_ctx;
	size_t budget;
	struct unit_table *out;
};

static struct unit_known *known_find(struct unit_memory *mem, const struct task_row *row, bool *ret_fresh)
{
	size_t h = hash_slot((uint64_t)row->pid, UNIT_KNOWN_MAX - 1);
	struct unit_known *spare = NULL;
	for (uint32_t i = 0; i < PROBES_MAX; i++) {
		struct unit_known *k = &mem->known[(h + i) & (UNIT_KNOWN_MAX - 1)];
		if (k->pid == row->pid && k->start_ticks == row->start_ticks && k->seen != 0) {
			*ret_fresh = false;
			return k;
		}
		bool stale = k->seen == 0 || k->seen + 1 < mem->sweep;
		if (stale && !spare)
			spare = k;
		if (k->seen == 0)
			break;
	}
	if (!spare)
		spare = &mem->known[h]; /* the table is crowded: replace the entry of the home slot */
	*spare = (struct unit_known){.pid = row->pid, .start_ticks = row->start_ticks};
	spare->role.rank = NO_RANK;
	spare->role.role = ROLE_OTHER;
	*ret_fresh = true;
	return spare;
}

/* ---- how a process has grown ---- */

static struct unit_past *past_get(const struct unit_memory *mem, pid_t pid, uint64_t start_ticks)
{
	size_t h = hash_slot((uint64_t)pid, UNIT_PAST_MAX - 1);
	for (uint32_t i = 0; i < PROBES_MAX; i++) {
		const struct unit_past *p = &mem->past[(h + i) & (UNIT_PAST_MAX - 1)];
		if (p->seen == 0)
			break;
		if (p->pid == pid && p->start_ticks == start_ticks)
			return (struct unit_past *)p;
	}
	return NULL;
}

/* NULL: the table is full there. */
static struct unit_past *past_new(struct unit_memory *mem, const struct task_row *row)
{
	size_t h = hash_slot((uint64_t)row->pid, UNIT_PAST_MAX - 1);
	for (uint32_t i = 0; i < PROBES_MAX; i++) {
		struct unit_past *p = &mem->past[(h + i) & (UNIT_PAST_MAX - 1)];
		if (p->seen != 0 && p->seen + 1 >= mem->sweep)
			continue;
		*p = (struct unit_past){.pid = row->pid, .start_ticks = row->start_ticks, .seen = mem->sweep};
		p->origin = (struct unit_origin){row->pid, row->start_ticks};
		return p;
	}
	return NULL;
}

struct growth_said unit_grown(const struct unit_memory *mem, const struct task_row *row)
{
	const struct unit_past *p = past_get(mem, row->pid, row->start_ticks);
	return p ? p->grown : (struct growth_said){.over_ns = 0};
}

/* before_ns: when it was last seen, or, if it is new, when it was not there yet; 0: unknown. */
static void past_grow(struct build *b, struct unit_past *p, uint64_t own, uint64_t own_before, uint64_t before_ns)
{
	if (p->growth.n == 0 && before_ns != 0)
		growth_add(&p->growth, before_ns, own_before);
	uint64_t asked = add_cap(own, p->copied_bytes);
	p->grown = growth_say(&p->growth, b->mono_ns, asked);
	growth_add(&p->growth, b->mono_ns, asked);
	p->seen = b->mem->sweep;
}

/* A fork has its parent's pages from its first moment on: it has not grown by them. */
static uint64_t past_inherit(struct build *b, struct unit_past *p, uint64_t own, const struct unit_known *parent)
{
	const struct unit_past *of = past_get(b->mem, parent->pid, parent->start_ticks);
	if (!of)
		return 0;
	p->inherited_bytes = MIN(own, parent->last_own_bytes);
	p->origin = of->origin;
	return p->inherited_bytes;
}

static void past_begin(struct build *b, struct unit_past *p, uint64_t own, uint64_t before_ns)
{
	p->first_ns = b->mono_ns;
	p->first_own_bytes = own;
	p->before_ns = before_ns;
}

/* It was taken for a fork until its role was read, and is none: what it came with it has taken itself. */
static void past_is_no_fork(struct unit_past *p)
{
	if (p->inherited_bytes == 0 || p->has_share)
		return;
	p->inherited_bytes = 0;
	p->origin = (struct unit_origin){p->pid, p->start_ticks};
	p->growth = (struct growth){.n = 0};
	if (p->before_ns != 0)
		growth_add(&p->growth, p->before_ns, 0);
	growth_add(&p->growth, p->first_ns, p->first_own_bytes);
}

/*
 * When a process that is new was not there yet: at the last sweep, which between two attempts of a job is long ago, or
 * at its own start. What a program takes as it starts is no rate of a moment, so that is at least a second ago.
 */
static uint64_t absent_ns(const struct build *b, const struct task_row *row)
{
	const struct unit_memory *mem = b->mem;
	if (mem->last_sweep_ns == 0 || mem->tick_ns == 0)
		return mem->last_sweep_ns;
	uint64_t born_ns = sub_floor(row->start_ticks * mem->tick_ns, mem->boot_ahead_ns);
	return MAX(mem->last_sweep_ns, MIN(born_ns, sub_floor(b->mono_ns, NS_PER_S)));
}

static void known_grow(struct build *b, const struct task_row *row, struct unit_known *k, bool fresh,
		       const struct unit_known *parent)
{
	uint64_t before_ns = fresh ? absent_ns(b, row) : k->last_mono_ns;
	uint64_t own = task_own_bytes(row), dt = sub_floor(b->mono_ns, before_ns);
	struct unit_past *p = past_get(b->mem, row->pid, row->start_ticks);
	if (!p)
		p = past_new(b->mem, row);
	if (p && fresh)
		past_begin(b, p, own, before_ns);
	if (p && fresh && parent && (k->role.forked || !k->named))
		k->last_own_bytes = past_inherit(b, p, own, parent);
	if (before_ns != 0 && dt > NS_PER_MS)
		k->burst_bytes_per_s = (int64_t)(((double)own - (double)k->last_own_bytes) * 1e9 / (double)dt);
	if (p)
		past_grow(b, p, own, k->last_own_bytes, before_ns);
	k->last_own_bytes = own;
	k->last_mono_ns = b->mono_ns;
}

/* False: its role is not known yet. */
static bool role_update(struct build *b, const struct task_row *row, struct unit_known *k,
			const struct unit_known *parent)
{
	struct role_info was = k->role;
	b->budget--;
	if (!b->role(b->role_ctx, row, parent ? &parent->role : NULL, &k->role)) {
		if (k->named)
			k->role = was;
		return false;
	}
	TEXT_COPY(k->comm, row->comm);
	k->named = true;
	/* a new title may have overwritten the environment that held the rank */
	if (k->role.rank == NO_RANK && k->role.role != ROLE_LAUNCHER) {
		k->role.rank = was.rank;
		k->role.local_rank = was.local_rank;
		k->role.world_size = was.world_size;
	}
	return true;
}

static void known_update(struct build *b, const struct task_row *row, struct unit_known *k, bool fresh,
			 const struct unit_known *parent)
{
	bool first = !k->named;
	bool unread = !k->named || strcmp(k->comm, row->comm) != 0;
	if (b->role && b->budget > 0 && unread && role_update(b, row, k, parent) && !fresh && !k->role.forked) {
		struct unit_past *p = past_get(b->mem, row->pid, row->start_ticks);
		if (p && first)
			past_is_no_fork(p);
	}
	if (k->seen == b->mem->sweep)
		return;
	known_grow(b, row, k, fresh, parent);
	k->seen = b->mem->sweep;
}

static bool has_pid(const pid_t *pids, size_t n, pid_t pid)
{
	for (size_t i = 0; i < n; i++)
		if (pids[i] == pid)
			return true;
	return false;
}

static bool has_pid_sorted(const struct unit_extra *e, pid_t pid)
{
	const size_t at = bisect(e->n, i, e->pids[i] < pid);
	return at < e->n && e->pids[at] == pid;
}

/* True if a job begins with this process. *ret_rank: its rank if it is a started rank, else NO_RANK. */
static bool job_root(const struct build *b, const struct task_row *row, bool parent_is_ours, size_t *ret_job,
		     int32_t *ret_rank)
{
	for (size_t j = 0; j < b->n_jobs; j++) {
		const struct unit_job *job = &b->jobs[j];
		if (!job->active)
			continue;
		*ret_job = j;
		*ret_rank = NO_RANK;
		for (size_t i = 0; i < job->n_roots; i++) {
			uint64_t start = job->root_start_ticks[i];
			if (job->roots[i] != row->pid || (start != 0 && start != row->start_ticks))
				continue;
			*ret_rank = job->ranks[i];
			return true;
		}
		if (job->reaper && row->ppid == job->reaper && !has_pid(job->not_ours, job->n_not_ours, row->pid))
			return true;
		if (!parent_is_ours && b->extra && has_pid_sorted(&b->extra[j], row->pid) &&
		    !has_pid(job->not_ours, job->n_not_ours, row->pid))
			return true;
	}
	return false;
}

static bool starts_others(enum role r)
{
	return r == ROLE_SHELL || r == ROLE_LAUNCHER || r == ROLE_RAY_SYSTEM;
}

/* True if a child is a unit of its own, false if it ends with its parent. */
static bool stands_alone(const struct role_info *child, const struct role_info *parent)
{
	if (child->role == ROLE_RAY_WORKER)
		return true;
	if (child->role == ROLE_RAY_SYSTEM && parent->role == ROLE_RAY_SYSTEM)
		return false; /* the raylet ends itself when one of its agents is gone */
	if (starts_others(parent->role))
		return true;
	return child->role == ROLE_MAIN && child->rank != NO_RANK && child->rank != parent->rank;
}

/* A program that only borrows a name grows beyond 32 MiB; a launcher in Python that imports a framework has 512. */
static bool is_believed(const struct role_info *r, const struct task_row *row)
{
	static const uint64_t most[] = {
		[ROLE_UNPROVEN] = 32 * MIB, [ROLE_LIKELY] = 512 * MIB, [ROLE_PROVEN] = UINT64_MAX};
	/* a program that starts Ray borrows no name, and its driver is of the size of a launcher */
	return task_own_bytes(row) < most[r->role == ROLE_MAIN ? MAX(r->proof, ROLE_LIKELY) : r->proof];
}

static int32_t unit_new(struct build *b, size_t job, const struct task_row *row, const struct unit_known *k,
			int32_t rank)
{
	struct unit_table *t = b->out;
	if (t->n >= UNIT_MAX)
		return ROW_OTHERS;
	struct unit *u = &t->unit[t->n];
	*u = (struct unit){
		.job = (uint16_t)job,
		.pid = row->pid,
		.start_ticks = row->start_ticks,
		.rank = rank != NO_RANK ? rank : k->role.rank,
		.role = k->role.role,
		.wish = (enum wish)k->role.wish,
		.retriable = b->jobs[job].retriable,
		.protected_ = b->jobs[job].protected_,
		.believed = is_believed(&k->role, row),
	};
	/* all of Ray on the node dies with any of its daemons, also with one that starts no process */
	u->launcher = k->role.role == ROLE_RAY_SYSTEM && u->believed;
	TEXT_COPY(u->comm, row->comm);
	/*
	 * Killing the guard of another vigil frees nothing and leaves its job unguarded.
	 */
	if (strcmp(u->comm, "vigil-guard") == 0 && is_believed(&(struct role_info){.proof = ROLE_UNPROVEN}, row))
		u->protected_ = true;
	return (int32_t)t->n++;
}

static void unit_add(struct build *b, uint32_t row_index, int32_t unit, const struct unit_known *k)
{
	struct unit_table *t = b->out;
	struct unit *u = &t->unit[unit];
	const struct task_row *row = &b->tasks->rows[row_index];
	u->processes++;
	t->n_unnamed += k->named ? 0 : 1;
	if (u->wish == WISH_NONE && k->role.wish == WISH_PREFER)
		u->wish = WISH_PREFER;
	u->rss_bytes += task_rss_bytes(row);
	u->swap_bytes += row->swap_bytes;
	u->shmem_bytes = MAX(u->shmem_bytes, row->rss_shmem_bytes);
	u->growth_bytes_per_s += unit_grown(b->mem, row).bytes_per_s;
	u->burst_bytes_per_s += k->burst_bytes_per_s;
	if (t->n_members >= UNIT_MEMBERS_MAX) {
		t->n_dropped++;
		u->own_bytes += task_own_bytes(row);
		return;
	}
	t->member[t->n_members++] =
		(struct unit_member){.row = row_index, .unit = (uint16_t)unit, .role = (uint8_t)k->role.role};
}

/* Places one row; its parent is placed already. */
static void place(struct build *b, uint32_t i, int32_t parent_row)
{
	const struct task_row *row = &b->tasks->rows[i];
	int32_t *places = b->mem->unit_of_row;
	int32_t above = parent_row >= 0 ? places[parent_row] : ROW_OTHERS;
	size_t job;
	int32_t rank;
	bool root = job_root(b, row, above >= 0, &job, &rank);
	if (!root && above < 0) {
		places[i] = ROW_OTHERS;
		return;
	}
	bool fresh, parent_fresh;
	const struct unit_known *parent =
		above >= 0 ? known_find(b->mem, &b->tasks->rows[parent_row], &parent_fresh) : NULL;
	struct unit_known *k = known_find(b->mem, row, &fresh);
	known_update(b, row, k, fresh, parent);
	int32_t unit = above;
	if (root) {
		unit = unit_new(b, job, row, k, rank);
	} else if (stands_alone(&k->role, &parent->role)) {
		int32_t own = unit_new(b, b->out->unit[above].job, row, k, NO_RANK);
		if (own >= 0) {
			if (starts_others(parent->role.role))
				b->out->unit[above].launcher = b->out->unit[above].believed;
			unit = own;
		}
	}
	places[i] = unit;
	if (unit >= 0)
		unit_add(b, i, unit, k);
}

static int32_t unit_row_at(const struct tasks *t, pid_t pid)
{
	const struct task_row *row = tasks_find(t, pid);
	return row ? (int32_t)(row - t->rows) : -1;
}

/* Walks up to a placed ancestor, then places rows on the way down. */
static void place_with_parents(struct build *b, uint32_t i)
{
	int32_t chain[CHAIN_MAX + 1];
	size_t n = 0;
	int32_t at = (int32_t)i;
	while (at >= 0 && b->mem->unit_of_row[at] == ROW_OPEN && n < CHAIN_MAX) {
		chain[n++] = at;
		const struct task_row *row = &b->tasks->rows[at];
		at = row->ppid != row->pid ? unit_row_at(b->tasks, row->ppid) : -1;
		for (size_t k = 0; k < n && at >= 0; k++)
			if (chain[k] == at)
				at = -1; /* a reused pid made a circle */
	}
	chain[n] = at;
	if (at >= 0 && b->mem->unit_of_row[at] == ROW_OPEN)
		chain[n] = -1;
	while (n-- > 0)
		place(b, (uint32_t)chain[n], chain[n + 1]);
}

/* ---- pages that are shared with forks ---- */

static struct unit_family *family_of(struct unit_memory *mem, const struct unit_origin *o)
{
	for (size_t i = 0; i < mem->n_families; i++)
		if (mem->family[i].origin.pid == o->pid && mem->family[i].origin.start_ticks == o->start_ticks)
			return &mem->family[i];
	return NULL;
}

/*
 * Pages of others that it has written to since the last reading, or, for a fork, since it came: its private part grew
 * by more than it grew itself. Pages that all others have copied are private too, to whoever has them from the
 * beginning: who wrote has had a fault for each.
 */
static void past_copied(struct unit_past *p, const struct unit_share *now)
{
	uint64_t private = p->has_share ? p->share.private_bytes : 0;
	uint64_t anon = p->has_share ? p->share.anon_bytes : p->inherited_bytes;
	uint64_t from_ns = p->has_share ? p->share.mono_ns : p->growth.first_ns;
	uint64_t copied = sub_floor(sub_floor(now->private_bytes, private), sub_floor(now->anon_bytes, anon));
	if (p->has_share)
		copied = MIN(copied, sub_floor(now->faulted_bytes, p->share.faulted_bytes));
	growth_raise(&p->growth, from_ns, now->mono_ns, copied);
	p->copied_bytes = add_cap(p->copied_bytes, copied);
}

void unit_shares(struct unit_memory *mem, const struct unit_share *share, size_t n)
{
	struct unit_family was[UNIT_SHARES];
	size_t n_was = mem->n_families;
	memcpy(was, mem->family, sizeof(was));
	mem->n_families = 0;
	for (size_t i = 0; i < n && i < UNIT_SHARES; i++) {
		struct unit_family *f = family_of(mem, &share[i].origin);
		if (!f) {
			f = &mem->family[mem->n_families++];
			*f = (struct unit_family){.origin = share[i].origin};
		}
		f->read++;
	}
	for (size_t i = 0; i < n && i < UNIT_SHARES; i++) {
		const struct unit_share *s = &share[i];
		struct unit_past *p = past_get(mem, s->pid, s->start_ticks);
		if (!p)
			continue;
		/* where one of them has ended, its part went to the others, and nobody has written */
		uint32_t before = 0;
		for (size_t j = 0; j < n_was; j++)
			if (was[j].origin.pid == s->origin.pid && was[j].origin.start_ticks == s->origin.start_ticks)
				before = was[j].read;
		bool alike = before != 0 && family_of(mem, &s->origin)->read >= before;
		if (p->has_share ? alike : p->inherited_bytes > 0)
			past_copied(p, s);
		/* a fork that is first seen late may have grown meanwhile: what is private is not what it came with */
		p->inherited_bytes = MIN(p->inherited_bytes, sub_floor(s->anon_bytes, s->private_bytes));
		p->share = *s;
		p->has_share = true;
	}
}

/* Whether all processes live whose sharing was read together. If not, their parts have become larger. */
static bool share_holds(const struct unit_memory *mem, const struct unit_past *p)
{
	const struct unit_family *f = p->has_share ? family_of((struct unit_memory *)mem, &p->share.origin) : NULL;
	return f && f->alive == f->read;
}

static uint64_t past_own(const struct unit_memory *mem, const struct unit_past *p, uint64_t anon_bytes)
{
	const struct unit_share *s = &p->share;
	if (share_holds(mem, p)) {
		if (anon_bytes >= s->anon_bytes)
			return add_cap(s->pss_bytes, anon_bytes - s->anon_bytes);
		return (uint64_t)((double)s->pss_bytes * (double)anon_bytes / (double)s->anon_bytes);
	}
	/* not read yet: they count with the process that they come from, if it lives */
	const struct unit_past *of = p->inherited_bytes ? past_get(mem, p->origin.pid, p->origin.start_ticks) : NULL;
	return of && of->seen == mem->sweep ? sub_floor(anon_bytes, p->inherited_bytes) : anon_bytes;
}

uint64_t unit_own(const struct unit_memory *mem, const struct task_row *row)
{
	const struct unit_past *p = past_get(mem, row->pid, row->start_ticks);
	return p ? past_own(mem, p, task_own_bytes(row)) : task_own_bytes(row);
}

static void own_sum(struct build *b)
{
	struct unit_table *t = b->out;
	for (size_t i = 0; i < b->mem->n_families; i++)
		b->mem->family[i].alive = 0;
	for (size_t i = 0; b->mem->n_families > 0 && i < t->n_members; i++) {
		const struct task_row *row = &b->tasks->rows[t->member[i].row];
		const struct unit_past *p = past_get(b->mem, row->pid, row->start_ticks);
		struct unit_family *f = p && p->has_share ? family_of(b->mem, &p->share.origin) : NULL;
		if (f)
			f->alive++;
	}
	for (size_t i = 0; i < t->n_members; i++) {
		const struct task_row *row = &b->tasks->rows[t->member[i].row];
		t->unit[t->member[i].unit].own_bytes += unit_own(b->mem, row);
	}
}

/* The row of a process that is of a unit; else NULL. */
static const struct task_row *member_row(const struct tasks *tasks, const struct unit_memory *mem,
					 const struct unit_origin *o)
{
	const struct task_row *row = tasks_find(tasks, o->pid);
	return row && row->start_ticks == o->start_ticks && past_get(mem, o->pid, o->start_ticks) ? row : NULL;
}

static struct unit_share share_wanted(const struct unit_memory *mem, const struct task_row *row,
				      const struct unit_origin *origin)
{
	return (struct unit_share){
		.pid = row->pid,
		.start_ticks = row->start_ticks,
		.origin = *origin,
		.anon_bytes = task_own_bytes(row),
		.pss_bytes = unit_own(mem, row),
	};
}

size_t unit_sharers(const struct unit_memory *mem, const struct tasks *tasks, const struct unit_table *units,
		    uint64_t least_bytes, struct unit_share ret[static UNIT_SHARES])
{
	size_t n = 0;
	for (size_t i = 0; i < units->n_members; i++) {
		const struct task_row *row = &tasks->rows[units->member[i].row];
		const struct unit_past *p = past_get(mem, row->pid, row->start_ticks);
		if (!p || p->inherited_bytes < MAX(least_bytes, UINT64_C(1)))
			continue;
		const struct task_row *of = member_row(tasks, mem, &p->origin);
		bool has = !of;
		for (size_t j = 0; j < n && !has; j++)
			has = ret[j].pid == p->origin.pid && ret[j].start_ticks == p->origin.start_ticks;
		if (n + 1 + (has ? 0 : 1) > UNIT_SHARES)
			return 0;
		if (!has)
			ret[n++] = share_wanted(mem, of, &p->origin);
		ret[n++] = share_wanted(mem, row, &p->origin);
	}
	return n;
}

static void count_groups(struct unit_table *t)
{
	uint16_t sizes[UNIT_JOBS_MAX][ROLE_MAX] = {{0}};
	for (size_t i = 0; i < t->n; i++)
		if (!t->unit[i].launcher)
			sizes[t->unit[i].job][t->unit[i].role]++;
	for (size_t i = 0; i < t->n; i++) {
		struct unit *u = &t->unit[i];
		u->group = (uint16_t)(u->job * ROLE_MAX + u->role);
		u->group_size = u->launcher ? 0 : sizes[u->job][u->role];
	}
}

void unit_build(struct unit_memory *mem, const struct tasks *tasks, const struct unit_job *jobs, size_t n_jobs,
		const struct unit_extra *extra, uint64_t mono_ns, unit_role_fn *role, void *role_ctx, size_t budget,
		struct unit_table *ret)
{
	size_t n = MIN(tasks->n, (size_t)UNIT_KNOWN_MAX);
	struct build b = {
		.mem = mem,
		.tasks = tasks,
		.jobs = jobs,
		.n_jobs = MIN(n_jobs, (size_t)UNIT_JOBS_MAX),
		.extra = extra,
		.mono_ns = mono_ns,
		.role = role,
		.role_ctx = role_ctx,
		.budget = budget,
		.out = ret,
	};
	mem->sweep++;
	ret->n = ret->n_members = ret->n_dropped = ret->n_unnamed = 0;
	for (size_t i = 0; i < n; i++)
		mem->unit_of_row[i] = ROW_OPEN;
	for (uint32_t i = 0; i < n; i++)
		if (mem->unit_of_row[i] == ROW_OPEN)
			place_with_parents(&b, i);
	own_sum(&b);
	count_groups(ret);
	mem->last_sweep_ns = mono_ns;
}
