#include "model/jobs/ownranks.h"

#include "base/bisect.h"

struct sorted {
	struct ownranks_process *p;
	size_t n;
};

static size_t ownranks_find(const struct ownranks_process *p, size_t n, pid_t pid)
{
	const size_t at = bisect(n, i, p[i].pid < pid);
	return at < n && p[at].pid == pid ? at : SIZE_MAX;
}

const struct ownranks_process *ownranks_parent(const struct ownranks_process *all, size_t n,
					       const struct ownranks_process *p)
{
	size_t at = p->ppid != p->pid ? ownranks_find(all, n, p->ppid) : SIZE_MAX;
	return at != SIZE_MAX ? &all[at] : NULL;
}

static struct ownranks_process *parent_of(const struct sorted *s, const struct ownranks_process *p)
{
	const struct ownranks_process *up = ownranks_parent(s->p, s->n, p);
	return up ? &s->p[up - s->p] : NULL;
}

/* True for a program without a rank of its own, and for one that is known to only start ranks. */
static bool may_start(const struct role_info *parent)
{
	return parent->rank == NO_RANK && (parent->role == ROLE_MAIN || parent->own_number);
}

/* The same, or a shell that starts them in a loop. */
static bool may_start_by(enum ownranks_source how, const struct role_info *parent)
{
	bool shell = parent->rank == NO_RANK && (parent->role == ROLE_SHELL || parent->role == ROLE_LAUNCHER);
	return may_start(parent) || ((how == OWNRANKS_BY_OPTION || how == OWNRANKS_BY_SIBLINGS) && shell);
}

static bool may_be_by_option(const struct role_info *who)
{
	return who->has_option && (who->role == ROLE_MAIN || who->role == ROLE_HELPER || role_serves(who->role));
}

bool ownranks_may_be(const struct role_info *who, const struct role_info *parent)
{
	if (who->rank == NO_RANK && may_be_by_option(who))
		return may_start_by(OWNRANKS_BY_OPTION, parent);
	return role_serves(who->role) && who->rank == NO_RANK && may_start(parent);
}

static bool has_reported(const struct ownranks_process *p, pid_t parent)
{
	return p->ppid == parent && p->reported != OWNRANKS_NOTHING && !p->ended;
}

/* True if o was started by p, or by somebody who was: what p has set it has from p. */
static bool is_below(const struct sorted *s, const struct ownranks_process *o, const struct ownranks_process *p)
{
	for (size_t i = 0; o && i < s->n; i++) {
		if (o->ppid == p->pid)
			return true;
		o = parent_of(s, o);
	}
	return false;
}

static bool is_taken(const struct sorted *s, const struct ownranks_process *p)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct ownranks_process *o = &s->p[i];
		bool sibling = has_reported(o, p->ppid), rank = sibling || (o->who.role == ROLE_MAIN && !o->ended);
		if (o != p && rank && !is_below(s, o, p) && (sibling ? o->number : o->who.rank) == p->number)
			return true;
	}
	return false;
}

static bool has_world(enum ownranks_source how)
{
	return how == OWNRANKS_BY_WORLD || how == OWNRANKS_BY_SIBLINGS;
}

/*
 * Number of children that reported a rank; 0 if a number is doubtful: reported twice, or also held by another
 * process.
 */
static size_t reported_below(const struct sorted *s, pid_t parent)
{
	size_t n = 0, by_torch = 0, by_option = 0, by_world = 0;
	int32_t world = 0;
	bool first = false;
	for (size_t i = 0; i < s->n; i++) {
		const struct ownranks_process *p = &s->p[i];
		if (!has_reported(p, parent))
			continue;
		if (is_taken(s, p))
			return 0;
		n++;
		by_torch += p->reported == OWNRANKS_BY_TORCH;
		by_option += p->reported == OWNRANKS_BY_OPTION;
		by_world += has_world(p->reported);
		world = has_world(p->reported) ? MAX(world, p->world) : world;
		first |= p->number == 0;
	}
	if (by_world > 0 && (by_world != n || n != (size_t)world))
		return 0;
	if (by_option > 0 && !first) /* --rank 8 may be the size of an adapter, and those that run a sweep */
		return 0;
	return n == 1 && by_torch == 0 ? 0 : n;
}

/* What it has started with its own variables are no ranks beside it. */
static void helpers_name(const struct sorted *s, const struct ownranks_process *p)
{
	for (size_t i = 0; i < s->n; i++) {
		struct ownranks_process *o = &s->p[i];
		if (o->who.role == ROLE_MAIN && o->who.rank == p->number && o != p && is_below(s, o, p))
			o->who.role = ROLE_HELPER;
	}
}

static void children_name(const struct sorted *s, struct ownranks_process *parent, size_t reported)
{
	parent->who.role = parent->who.role == ROLE_SHELL ? ROLE_SHELL : ROLE_LAUNCHER;
	parent->who.own_number = true;
	for (size_t i = 0; i < s->n; i++) {
		struct ownranks_process *p = &s->p[i];
		if (!has_reported(p, parent->pid))
			continue;
		p->who = (struct role_info){
			.rank = p->number, .local_rank = p->number, .role = ROLE_MAIN, .own_number = true};
		helpers_name(s, p);
		p->who.world_size = (size_t)p->number < reported ? (int32_t)reported : 0;
	}
}

static void reported_name(const struct sorted *s)
{
	for (size_t i = 0; i < s->n; i++) {
		struct ownranks_process *parent = s->p[i].reported ? parent_of(s, &s->p[i]) : NULL;
		size_t reported = parent && may_start_by(s->p[i].reported, &parent->who) && !s->p[i].who.own_number
					  ? reported_below(s, parent->pid)
					  : 0;
		if (reported)
			children_name(s, parent, reported);
	}
}

/* Numbers the only parent of ranks with local numbers as rank 0, where no process is rank 0 yet. */
static void first_name(const struct sorted *s)
{
	struct ownranks_process *first = NULL;
	for (size_t i = 0; i < s->n; i++) {
		const struct ownranks_process *p = &s->p[i];
		struct ownranks_process *up = parent_of(s, p);
		if (p->who.rank == 0)
			return;
		if (!p->who.own_number || p->who.role != ROLE_MAIN || !up || up->who.rank != NO_RANK ||
		    up->who.role != ROLE_MAIN)
			continue;
		if (first && first != up)
			return;
		first = up;
		first->who.world_size = p->who.world_size;
	}
	if (!first)
		return;
	first->who.rank = first->who.local_rank = 0;
	first->who.own_number = true;
}

/* Workers of two runs at once have the same numbers, which then say nothing. */
static bool is_twice(const struct sorted *s, const struct ownranks_process *p)
{
	for (size_t i = 0; i < s->n; i++)
		if (&s->p[i] != p && s->p[i].reported == OWNRANKS_BY_RAY && s->p[i].number == p->number &&
		    !s->p[i].ended)
			return true;
	return false;
}

static void ray_name(const struct sorted *s)
{
	for (size_t i = 0; i < s->n; i++) {
		struct ownranks_process *p = &s->p[i];
		if (p->reported != OWNRANKS_BY_RAY || p->ended || p->who.rank != NO_RANK || is_twice(s, p))
			continue;
		p->who.rank = p->number;
		p->who.local_rank = p->local;
		p->who.own_number = true;
	}
}

static void inherit(const struct sorted *s)
{
	for (bool more = true; more;) {
		more = false;
		for (size_t i = 0; i < s->n; i++) {
			struct ownranks_process *p = &s->p[i];
			const struct ownranks_process *up = p->who.rank == NO_RANK ? parent_of(s, p) : NULL;
			if (!up || up->who.rank == NO_RANK || p->who.role == ROLE_LAUNCHER)
				continue;
			p->who.rank = up->who.rank;
			more = true;
		}
	}
}

void ownranks_name(struct ownranks_process *p, size_t n)
{
	const struct sorted s = {p, n};
	reported_name(&s);
	first_name(&s);
	ray_name(&s);
	inherit(&s);
}
