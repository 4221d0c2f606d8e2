/*
 * Who uses a message queue. Nothing lists the users of a System V queue: the kernel tells who sent to it and who
 * received from it last, and whoever waits at it is one as well. A process whose only thread waits at a queue sends
 * nothing to itself meanwhile, so that it was the last to send names nobody.
 */
#include "model/hang/waitgraph_parts.h"

/* Users that are told apart; of more, each one is only possible. */
#define USERS_MOST 64

bool waitgraph_has_a_name(const struct waitfact *f)
{
	return f->kind == WAITFACT_SEMAPHORE || f->kind == WAITFACT_MESSAGE;
}

bool waitgraph_nobody_known(const struct waitfacts *now, const struct waitgraph_node *n, const struct waitfact *f)
{
	if (!waitgraph_has_a_name(f) || f->complete)
		return false;
	for (uint32_t i = 0; i < f->n_holders; i++)
		if (now->holder[f->first_holder + i].pid != n->process->pid || n->process->n_threads > 1)
			return false;
	return true;
}

/* What a thread waits for at the same queue, if it is no rival: who waits for the same is helped by the same. */
static const struct waitfact *waits_at_queue(const struct build *b, uint32_t node, const struct waitfact *f)
{
	size_t n;
	const struct waitfact *x = waitgraph_facts(b, &b->g->node[node], &n);
	for (size_t i = 0; i < n; i++) {
		bool same = x[i].to_write == f->to_write && (f->to_write || x[i].message_type == f->message_type);
		if (x[i].kind == WAITFACT_MESSAGE && x[i].id == f->id && !same)
			return &x[i];
	}
	return NULL;
}

static bool is_user(const struct build *b, const struct waiting_on *o, uint32_t from, const struct waitfact *f)
{
	return o->id == f->id && o->kind == WAITFACT_MESSAGE &&
	       b->g->node[o->node].process != b->g->node[from].process && waits_at_queue(b, o->node, f);
}

int waitgraph_queue_users(struct build *b, uint32_t from, const struct waitfact *f)
{
	uint32_t user[USERS_MOST];
	size_t n = 0;
	for (size_t i = 0; f->id != 0 && i < b->n_on && n < USERS_MOST; i++)
		if (is_user(b, &b->on[i], from, f))
			user[n++] = b->on[i].node;
	/* Another thread of the waiting process may be the one to send. */
	bool alone = n == 1 && b->g->node[from].process->n_threads == 1;
	for (size_t i = 0; i < n; i++)
		if (waitgraph_arrow(b, from, user[i], alone ? WAITGRAPH_LIKELY : WAITGRAPH_POSSIBLE, f, NULL) < 0)
			return -ENOMEM;
	return (int)n;
}
