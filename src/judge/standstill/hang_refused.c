/* Who tries again and again to connect to an address at which nobody is. */
#include <errno.h>

#include "base/units.h"
#include "judge/standstill/hang_ask.h"

/* One attempt that fails may be a look whether somebody is there. */
static const uint64_t attempts_least = 2;
/* Who tried no more for so long does something else now. */
static const uint64_t given_up_ns = 60 * NS_PER_S;

bool hang_refused_goes_on(const struct hang_work *w, const struct hang_refused *r)
{
	return r->n >= attempts_least && sub_floor(w->p->now_ns, r->last_ns) < given_up_ns;
}

const char *hang_refused_why(const struct hang_refused *r)
{
	switch (r->error) {
	case ECONNREFUSED:
		return "it was refused: nobody listens there";
	case EHOSTUNREACH:
	case ENETUNREACH:
		return "it cannot be reached";
	default:
		return "nobody answered";
	}
}

/* What the main process of a rank tries; NULL: nothing is known. */
static const struct hang_refused *refused_of(const struct hang_work *w, int32_t rank)
{
	for (size_t i = 0; i < w->c->n_refused; i++) {
		const struct hang_refused *r = &w->c->refused[i];
		if (r->rank == rank && r->main && hang_refused_goes_on(w, r))
			return r;
	}
	return NULL;
}

bool hang_is_refused(const struct hang_work *w, int32_t rank)
{
	return refused_of(w, rank) != NULL;
}

/* The main thread of another rank that waits for visitors at a listening socket; NULL: none. */
static const struct waitgraph_node *other_door(const struct hang_work *w, int32_t rank)
{
	const struct waitgraph *g = w->c->graph;
	for (size_t i = 0; g && i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		const bool door = n->main && n->thread && n->fact && n->fact->kind == WAITFACT_LISTEN;
		if (door && n->who && n->who->main && n->who->rank != NO_RANK && n->who->rank != rank)
			return n;
	}
	return NULL;
}

bool hang_dials_elsewhere(const struct hang_work *w, const struct stackgroup_rank *r)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *n = g && r->process ? waitgraph_thread(g, r->process->pid, 0) : NULL;
	const struct hang_refused *tried = refused_of(w, r->rank);
	return n && w->many && w->stepping && tried && tried->error == ECONNREFUSED && other_door(w, r->rank) &&
	       hang_nobody_acts_but(w, n);
}

bool hang_says_refused(struct hang_work *w, int32_t rank)
{
	const struct hang_refused *r = refused_of(w, rank);
	if (!r)
		return false;
	hang_says(w, "It tries again and again to connect to %s, %llu times since this was looked at, and %s.",
		  r->address, (unsigned long long)r->n, hang_refused_why(r));
	const struct waitgraph_node *door = other_door(w, rank);
	if (door && r->error == ECONNREFUSED)
		hang_says(w, "Rank %d waits for visitors elsewhere: %s.", (int)door->who->rank, door->fact->text);
	hang_advise(w,
		    "look for who should listen at %s: whether it was started, whether it ended, and whether it "
		    "listens at that address",
		    r->address);
	return true;
}

void hang_refused_evidence(struct hang_work *w)
{
	char who[HANG_WHO];
	for (size_t i = 0; i < w->c->n_refused; i++) {
		const struct hang_refused *r = &w->c->refused[i];
		if (hang_refused_goes_on(w, r))
			hang_evidence(w, "waits", "states of TCP sockets (BPF)",
				      "process %d of %s tried %llu times in vain to connect to %s, and %s", (int)r->pid,
				      hang_who(r->rank, who), (unsigned long long)r->n, r->address,
				      hang_refused_why(r));
	}
	hang_child_evidence(w);
}
