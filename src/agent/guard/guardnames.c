#include "agent/guard/guardnames.h"

#include <string.h>

#include "base/buf.h"

static const struct guard_named *place_of(const struct guard_names *n, pid_t pid)
{
	return &n->named[(size_t)pid & (GUARD_NAMED - 1)];
}

bool guardnames_find(const struct guard_names *n, struct proc_id id, struct guard_named *ret)
{
	const struct guard_named *p = place_of(n, id.pid);
	uint32_t seq = atomic_load(&p->seq);
	if ((seq & 1) || p->id.pid != id.pid || p->id.start_ticks != id.start_ticks)
		return false;
	memcpy(ret, p, sizeof(*ret));
	ret->comm[sizeof(ret->comm) - 1] = ret->command[sizeof(ret->command) - 1] = '\0';
	return atomic_load(&p->seq) == seq;
}

bool guardnames_command(const struct guard_names *n, struct proc_id id, char *dst, size_t cap)
{
	struct guard_named named;
	if (!guardnames_find(n, id, &named) || named.command[0] == '\0')
		return false;
	text_copy(dst, cap, named.command);
	return true;
}

void guardnames_want(struct guard_names *n, const struct guard_wanted *want, size_t n_want)
{
	(void)atomic_fetch_add(&n->want_seq, 1);
	n->n_want = (uint32_t)MIN(n_want, (size_t)GUARD_ASKED);
	memcpy(n->want, want, n->n_want * sizeof(want[0]));
	(void)atomic_fetch_add(&n->want_seq, 1);
}

bool guardnames_wanted(const struct guard_names *n, struct guard_wanted ret[static GUARD_ASKED], size_t *ret_n,
		       uint32_t *ret_seq)
{
	uint32_t seq = atomic_load(&n->want_seq);
	if (seq & 1)
		return false;
	*ret_n = MIN(n->n_want, (uint32_t)GUARD_ASKED);
	memcpy(ret, n->want, *ret_n * sizeof(ret[0]));
	*ret_seq = seq;
	return atomic_load(&n->want_seq) == seq;
}

void guardnames_answer(struct guard_names *n, const struct guard_named *named)
{
	struct guard_named *p = (struct guard_named *)place_of(n, named->id.pid);
	(void)atomic_fetch_add(&p->seq, 1);
	p->id = named->id;
	memcpy(p->comm, named->comm, sizeof(p->comm));
	memcpy(p->command, named->command, sizeof(p->command));
	p->numbers = named->numbers;
	p->proof = named->proof;
	(void)atomic_fetch_add(&p->seq, 1);
}
