/* Loops that try to connect to an address at which nobody is. */
#include <errno.h>

#include "base/units.h"
#include "judge/hang/hang_gone.h"

/* One attempt that fails may be a look whether somebody is there. */
static const uint64_t attempts_least = 2;
/* A server that is started again, or late, has this time before its caller is told of, as a loop of tries has. */
static const uint64_t call_refused_ns = 2 * 60 * NS_PER_S, call_again_ns = 30 * NS_PER_S;
/* Who tried no more for so long does something else now. */
static const uint64_t given_up_ns = 60 * NS_PER_S;

static bool goes_on(const struct hang_work *w, const struct hang_refused *r)
{
	return r->n >= attempts_least && sub_floor(w->p->now_ns, r->last_ns) < given_up_ns;
}

static const char *why_of(const struct hang_refused *r)
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
		if (r->rank == rank && r->main && goes_on(w, r))
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
		  r->address, (unsigned long long)r->n, why_of(r));
	const struct waitgraph_node *door = other_door(w, rank);
	if (door && r->error == ECONNREFUSED)
		hang_says(w, "Rank %d waits for visitors elsewhere: %s.", (int)door->who->rank, door->fact->text);
	hang_advise(w,
		    "look for who should listen at %s: whether it was started, whether it ended, and whether it "
		    "listens at that address",
		    r->address);
	return true;
}

/* ---- calls ---- */

/*
 * The main thread of a rank that others wait for, where it waits for the answer of a call and its arrows do not leave
 * its process: no connection was found by which the answer could come. NULL: there is none.
 */
static const struct waitgraph_node *unconnected_call(const struct hang_work *w)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_sink *s = g && g->n_sinks > 0 ? &g->sink[0] : NULL;
	const struct waitgraph_node *n = s && s->one_process && s->n_followers > 0 ? &g->node[s->node] : NULL;
	const bool main_calls = n && n->main && n->calls && n->who && n->who->main && n->hint;
	return main_calls && !n->hint->limit_ns && !n->hint->left_ns ? n : NULL;
}

bool hang_call_refused(struct hang_work *w)
{
	char who[HANG_WHO];
	const struct waitgraph_node *n = unconnected_call(w);
	if (!n || !hang_is_refused(w, n->who->rank))
		return false;
	uint64_t most_ns = MIN(hang_time(w->s->sleep_ns, HANG_SLEEP_NS), call_refused_ns);
	most_ns = w->s->has_after ? MIN(most_ns, w->s->after_ns) : most_ns;
	hang_who(n->who->rank, who);
	if (w->standstill_ns < most_ns) {
		w->v->kind = HANG_NONE;
		w->v->benign = true;
		TEXT_COPY(w->v->id, "call_refused");
		hang_says(w, "its server may come back: %s waits for the %s", who, n->hint->text);
		w->v->again_ns = MAX(MIN(call_again_ns, most_ns - w->standstill_ns), NS_PER_S);
		return true;
	}
	hang_is(w, "call_unanswered", CONFIDENCE_MEDIUM);
	hang_accuse(w, n->who->rank);
	who[0] = n->who->rank == NO_RANK ? 'T' : 'R';
	hang_says(w, "%s waits for the %s.", who, n->hint->text);
	ignore(hang_says_refused(w, n->who->rank), "it is, as was asked");
	ignore(hang_says_who_left_then(w), "nobody need have left");
	hang_says_who_waits(w);
	return true;
}

void hang_refused_evidence(struct hang_work *w)
{
	char who[HANG_WHO];
	for (size_t i = 0; i < w->c->n_refused; i++) {
		const struct hang_refused *r = &w->c->refused[i];
		if (goes_on(w, r))
			hang_evidence(w, "waits", "states of TCP sockets (BPF)",
				      "process %d of %s tried %llu times in vain to connect to %s, and %s", (int)r->pid,
				      hang_who(r->rank, who), (unsigned long long)r->n, r->address, why_of(r));
	}
}
