/*
 * What the graph of waits says of a job that stands: proofs (a circle, a wait that nobody is left to end), and whom the
 * others wait for in the end. What it excuses: hang_graph_benign.c.
 */
#include <string.h>

#include "base/units.h"
#include "judge/hang/hang_parts.h"

/* So long may somebody take to read what a terminal has in the way. */
static const uint64_t terminal_ns = 2 * 60 * NS_PER_S;
/* So long may somebody ask a server of the job again and again. */
static const uint64_t asked_ns = 2 * 60 * NS_PER_S;
/* So long may a program that makes no steps wait for somebody outside of the job, who may be at work for it. */
static const uint64_t outside_ns = 2 * 60 * NS_PER_S;

/* The end that most ranks wait for; NULL: none, or no rank has anything to do with it. */
const struct waitgraph_sink *hang_graph_end(const struct hang_work *w)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_sink *s = g && g->n_sinks > 0 ? &g->sink[0] : NULL;
	return s && (s->n_followers > 0 || s->of_main) ? s : NULL;
}

/* True of two ends in the same wait: rivals for what one that has ended has taken along, for example. */
static bool is_same_end(const struct waitgraph *g, const struct waitgraph_sink *a, const struct waitgraph_sink *b)
{
	const struct waitfact *x = g->node[a->node].fact, *y = g->node[b->node].fact;
	/* Several requests of one server that wait for the same. */
	if (a->end == WAITEND_VISITOR && b->end == WAITEND_VISITOR && x && y && x->kind == WAITFACT_OBJECT &&
	    y->kind == WAITFACT_OBJECT && x->id == y->id && g->node[a->node].process == g->node[b->node].process)
		return true;
	return a == b || (a->end == WAITEND_GONE && b->end == WAITEND_GONE && x && y && x->kind == y->kind &&
			  x->id == y->id && x->left == y->left);
}

/* True if ranks that wait have no other end to go to, so that it does not matter which of several ways is meant. */
static bool is_only_end(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph *g = w->c->graph;
	for (size_t i = 0; i < g->n_sinks; i++)
		if (g->sink[i].n_followers > 0 && !is_same_end(g, s, &g->sink[i]))
			return false;
	return s->n_followers > 0;
}

/* True if somebody comes to this end by sleeping: until tasks of its pool, or its children, are done, most likely. */
static bool slept_for(const struct waitgraph *g, const struct waitgraph_sink *s)
{
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		bool slept = n->watches || (n->hint && n->hint->kind == WAITHINT_TASK);
		if (n->n_edges > 0 && slept && n->sink == (uint32_t)(s - g->sink))
			return true;
	}
	return false;
}

/* That the others look again and again for what this end should bring is a guess. */
static bool guessed(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph *g = w->c->graph;
	return s->n_followers > 0 && ((g->by_polling && s->quality == WAITGRAPH_POSSIBLE) || slept_for(g, s));
}

/* How sure it is that this is what the others wait for. */
static enum confidence confidence_of(const struct hang_work *w, const struct waitgraph_sink *s)
{
	if (guessed(w, s))
		return CONFIDENCE_MEDIUM;
	bool all_ways = s->holds && is_only_end(w, s) && !w->c->graph->by_history;
	if (s->n_followers == 0 || s->quality == WAITGRAPH_PROOF || all_ways)
		return CONFIDENCE_HIGH;
	if (s->quality == WAITGRAPH_LIKELY || is_only_end(w, s))
		return CONFIDENCE_MEDIUM;
	return CONFIDENCE_LOW;
}

/* True if one of the end, or who comes to it, may go on by what nobody could ask about. */
static bool is_doubtful(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph *g = w->c->graph;
	for (size_t i = 0; i < g->n_nodes; i++)
		if (g->node[i].doubtful && g->node[i].sink == (uint32_t)(s - g->sink))
			return true;
	return false;
}

/* ---- proofs ---- */

/* True of a goroutine that waits for the end itself, and for nobody else, so that no visitor wakes it. */
static bool waits_for_the_end(const struct waitgraph *g, const struct waitgraph_node *n,
			      const struct waitgraph_node *end)
{
	for (uint32_t i = 0; i < n->n_edges; i++)
		if (g->node[g->edge[n->first_edge + i].to].component != end->component)
			return false;
	return n->thread->goroutine && n->n_edges > 0;
}

/* Programs whose threads do the work leave their main thread in a wait that does not end. */
bool hang_serves_beside(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *end = &g->node[s->node];
	if (s->n_followers > 0 || w->stepping || (end->hint && end->hint->lost))
		return false;
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		bool ticks = n->fact && n->fact->kind == WAITFACT_CLOCK;
		bool never = n->dead || (n->dead_within && end->dead_within);
		if (n->thread && n->process == end->process && n != end && !never && !ticks &&
		    !waits_for_the_end(g, n, end))
			return true;
	}
	return false;
}

static const char *proof_id(const struct hang_work *w, const struct waitgraph_sink *s)
{
	switch (s->end) {
	case WAITEND_CIRCLE:
		return s->one_process ? "deadlock" : "wait_circle";
	case WAITEND_OWN:
		return waitgraph_awaits_its_own(&w->c->graph->node[s->node]) ? "orphaned_wait" : "deadlock";
	case WAITEND_NOBODY:
		return "orphaned_wait";
	case WAITEND_GONE:
		return "abandoned_wait";
	default:
		return NULL;
	}
}

/* True if all ranks of a circle wait in calls that are known by name: which calls they are tells who is wrong. */
static bool in_known_calls(const struct hang_work *w, const struct waitgraph_sink *s)
{
	size_t known = 0;
	for (size_t i = 0; i < s->n_ranks; i++) {
		const struct stackgroup_rank *r = stackgroups_find(&w->g, s->rank[i]);
		known += r && activity_waits_for_ranks(r->activity.kind);
	}
	return s->end == WAITEND_CIRCLE && s->n_ranks > 1 && known == s->n_ranks;
}

/* Of several ranks that live it holds up none but itself, as far as the graph knows: other parts say what it means. */
static bool stands_alone(const struct hang_work *w, const struct waitgraph_sink *s)
{
	bool ended;
	return w->many && s->n_followers == 0 && s->n_ranks == 1 && hang_live_ranks(w->p, &ended) > 1;
}

/* True if each rank that lives stands in a wait of its own that nobody is left to end. */
static bool each_is_dead(const struct hang_work *w)
{
	size_t live = 0, dead = 0;
	for (size_t i = 0; i < w->p->n; i++)
		live += !w->p->rank[i].serves && !w->p->rank[i].seen.exited;
	for (size_t i = 0; i < w->c->graph->n_sinks; i++) {
		const struct waitgraph_sink *s = &w->c->graph->sink[i];
		dead += s->dead && s->of_main && stands_alone(w, s) && proof_id(w, s) && !hang_serves_beside(w, s);
	}
	return live > 0 && dead == live;
}

/* True if every other rank goes round without a step: it runs, or naps between looks. */
static bool all_others_run(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph *g = w->c->graph;
	size_t others = 0;
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		if (!n->main || !n->who || !n->who->main || n->component == g->node[s->node].component)
			continue;
		if (n->end != WAITEND_RUNS && !(n->end == WAITEND_CLOCK && n->naps))
			return false;
		others++;
	}
	return others > 0;
}

/*
 * One rank of several can never go on, which is proved, and the others make no step though they run: they look for what
 * it should have done, in memory that they share for example. That they do is concluded.
 */
static bool one_is_dead(struct hang_work *w, const struct waitgraph_sink *s)
{
	if (!w->stepping || !all_others_run(w, s) || hang_stands_for_a_cause(w, s->rank[0]))
		return false;
	if (!hang_old_enough(w, HANG_FIRM))
		return true;
	hang_graph_is(w, s, proof_id(w, s), CONFIDENCE_MEDIUM);
	hang_says(w, "It can never go on: this is proved by its threads' waits, seen twice.");
	hang_says(w, "The others run, and make no step.");
	return true;
}

/* What lies in a socket of a helper's while it waits for something else: it may, or may not, be for it to read now. */
static void unread_says(struct hang_work *w, const struct waitgraph_node *x)
{
	const struct waitgraph *g = w->c->graph;
	char bytes[16];
	for (uint32_t i = 0; i < x->n_edges; i++) {
		const struct waitfact *f = g->edge[x->first_edge + i].fact;
		if (!f || f->unread == 0 || (f->kind != WAITFACT_TCP && f->kind != WAITFACT_UNIX))
			continue;
		hang_says(w, "Process %d (%s) has not read the %s that lie in its socket (%s).", (int)x->process->pid,
			  x->process->name, size_format(f->unread, bytes), f->text);
		hang_advise(w, "look why it does not read that: EPOLLET tells of new bytes only, and EPOLLONESHOT of "
			       "nothing until it is armed anew");
		return;
	}
}

/* Of a circle of which nobody is named: who is in it, by rank and process, and the only helper in it. */
static void members_say(struct hang_work *w, const struct waitgraph_sink *s)
{
	const size_t most = 4;
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *helper = NULL;
	char list[260];
	struct buf b = {.text = list, .cap = sizeof(list)};
	size_t n = 0, helpers = 0;
	buf_reset(&b);
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *x = &g->node[i];
		if (x->component != g->node[s->node].component || !x->thread || x->thread->tid != x->thread->pid)
			continue;
		if (!x->who || !x->who->main) {
			helper = x;
			helpers++;
		} else if (n < most) {
			buf_printf(&b, "%srank %d (process %d)", n ? ", " : "", (int)x->who->rank, (int)x->who->pid);
			n++;
		}
	}
	if (n < 2)
		return;
	if (helpers == 1)
		buf_printf(&b, ", process %d (%s)", (int)helper->process->pid, helper->process->name);
	hang_says(w, "In the circle are %s: which of them is to blame is not known.", list);
	if (helpers == 1)
		unread_says(w, helper);
}

/* Threads that can never run again: nobody who could wake them is left. */
bool hang_graph_proof(struct hang_work *w)
{
	const struct waitgraph_sink *s = hang_graph_end(w);
	if (!s || !s->dead || s->outside || guessed(w, s) || hang_serves_beside(w, s))
		return false;
	const char *id = proof_id(w, s);
	bool alone = stands_alone(w, s);
	if (id && alone && !each_is_dead(w))
		return one_is_dead(w, s);
	if (!id)
		return false;
	w->dead = alone || in_known_calls(w, s) || hang_several_missing(w, s) ||
		  (s->n_ranks == 1 && hang_stands_for_a_cause(w, s->rank[0]));
	if (w->dead)
		return false;
	/* Else who comes to it may be woken by somebody who lives: the end is dead, the job need not be. */
	const bool proved = s->holds || s->n_followers == 0;
	if (!proved && hang_may_be_woken(w, s) && hang_graph_benign(w))
		return true;
	if (!hang_old_enough(w, proved ? HANG_CERTAIN : HANG_EXPLAINED))
		return true;
	/* That none of many can go on is proved; which of them is to blame is not, where each waits for several. */
	bool guess = !s->closed || s->circle < WAITGRAPH_LIKELY;
	bool nameless = s->end == WAITEND_CIRCLE && guess && s->n_ranks > 1;
	const struct waitgraph_node *reader = hang_unread_by(w, s);
	hang_graph_is(w, s, id, !proved || (nameless && !reader) ? CONFIDENCE_LOW : confidence_of(w, s));
	if (reader)
		hang_unread_says(w, reader);
	else
		hang_one_elsewhere(w, s);
	if (nameless && !reader && w->v->n_culprits > 1) { /* none of them alone is in another call */
		w->v->n_culprits = 0;
		members_say(w, s);
	}
	w->v->proved = proved;
	hang_says(w, proved ? "It cannot go on by itself: this is proved by the threads' waits, seen twice."
			    : "It can never go on. That this is what the others wait for is likely, and not proved.");
	return true;
}

/* ---- what may be ---- */

/* ---- explanations ---- */

bool hang_graph_stands(const struct hang_work *w)
{
	const struct waitgraph_sink *s = hang_graph_end(w);
	const struct stackgroup_rank *r = NULL;
	if (!s || s->end == WAITEND_RUNS || s->n_followers == 0 || guessed(w, s))
		return false;
	for (size_t i = 0; i < w->n_blocking; i++) {
		r = &w->g.rank[w->blocking[i]];
		if (r->process && !hang_works(w, r) && (!r->compared || r->unchanged) &&
		    waitgraph_end_of(w->c->graph, r->process->pid) == s)
			return true;
	}
	return false;
}

bool hang_graph_names(const struct hang_work *w, int32_t rank, enum confidence *ret)
{
	const struct waitgraph *g = w->c->graph;
	for (size_t i = 0; g && i < g->n_sinks; i++) {
		const struct waitgraph_sink *s = &g->sink[i];
		for (size_t k = 0; s->n_followers > 0 && k < s->n_ranks; k++)
			if (s->rank[k] == rank) {
				*ret = confidence_of(w, s);
				return true;
			}
	}
	return false;
}

/* True of a main process and its child that wait for each other, the child to write, by threads beside the main one. */
static bool holds_its_child(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph *g = w->c->graph;
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		const struct waitgraph_edge *e = n->n_edges == 1 ? &g->edge[n->first_edge] : NULL;
		if (!e || !e->fact || !e->fact->to_write || n->component != g->node[s->node].component)
			continue;
		const struct waitgraph_node *to = &g->node[e->to];
		if (to->who && to->who->main && to->component == n->component && n->process->ppid == to->process->pid)
			return s->n_nodes == 2;
	}
	return false;
}

/* True of a circle over shared memory, if whoever comes to it waits for the end of its children, and nothing else. */
static bool only_for_its_children(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph *g = w->c->graph;
	for (size_t i = 0; i < g->n_edges; i++) {
		const struct waitgraph_edge *e = &g->edge[i];
		const bool known = e->fact && (e->fact->kind == WAITFACT_CHILD || e->fact->kind == WAITFACT_SHARED);
		if (!known && g->node[e->to].component == g->node[s->node].component)
			return false;
	}
	return is_only_end(w, s);
}

#define REACHED_MOST 256
/* True if whatever this thread waits for, at any way, comes to the circle: no arrow leads to an end beside it. */
static bool all_ways_lead_to(const struct waitgraph *g, uint32_t from, uint32_t component)
{
	uint32_t queue[REACHED_MOST];
	size_t n = 0, done = 0;
	queue[n++] = from;
	for (; done < n; done++) {
		const struct waitgraph_node *x = &g->node[queue[done]];
		if (x->component == component)
			continue;
		if (x->n_edges == 0 || x->timed || n + x->n_edges > REACHED_MOST)
			return false;
		for (uint32_t k = 0; k < x->n_edges; k++) {
			const uint32_t to = g->edge[x->first_edge + k].to;
			bool seen = false;
			for (size_t i = 0; i < n && !seen; i++)
				seen = queue[i] == to;
			if (!seen)
				queue[n++] = to;
		}
	}
	return true;
}

/*
 * True if every main process waits for the end of children, as a shell does for those of its pipeline, and whichever of
 * them it is, that one is in the circle or waits for it, while nobody of the job acts.
 */
static bool all_children_come_to(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph *g = w->c->graph;
	size_t mains = 0;
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		if (!n->main || !n->who || !n->who->main)
			continue;
		for (uint32_t k = 0; k < n->n_edges; k++) {
			const struct waitfact *f = g->edge[n->first_edge + k].fact;
			if (!f || f->kind != WAITFACT_CHILD)
				return false;
		}
		if (!all_ways_lead_to(g, i, g->node[s->node].component))
			return false;
		mains++;
	}
	return mains > 0 && hang_nobody_acts(w);
}

/*
 * True of a circle that a main process comes to by its children, where one of it waits at a FIFO that has a name:
 * somebody outside may open that and read, or write.
 */
static bool may_be_opened(const struct waitgraph *g, const struct waitgraph_sink *s)
{
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		for (uint32_t k = 0; n->component == g->node[s->node].component && k < n->n_edges; k++) {
			const struct waitfact *f = g->edge[n->first_edge + k].fact;
			if (f && f->kind == WAITFACT_PIPE && !f->complete && f->text[0] == '/')
				return s->end == WAITEND_CIRCLE && !s->of_main && s->quality < WAITGRAPH_PROOF;
		}
	}
	return false;
}

/* True if one of the circle, which need not be its first, works on the call of another process. */
static bool handles_within(const struct waitgraph *g, const struct waitgraph_sink *s)
{
	for (size_t i = 0; i < g->n_nodes; i++)
		if (g->node[i].handles && g->node[i].component == g->node[s->node].component)
			return true;
	return false;
}

/*
 * True for a circle that a main process is in, or waits for by what the kernel says, as for the end of a child or of
 * any child, or one of threads that work on calls, where all answers that are waited for are theirs.
 */
static bool in_the_way(const struct hang_work *w, const struct waitgraph_sink *s)
{
	if (holds_its_child(w, s) && is_only_end(w, s))
		return true;
	return s->of_main || (s->n_followers > 0 && s->quality == WAITGRAPH_PROOF) || only_for_its_children(w, s) ||
	       all_children_come_to(w, s) || (handles_within(w->c->graph, s) && is_only_end(w, s));
}

/*
 * True of event loops beside the main threads that read from each other, if each rank waits for its own: no message is
 * on its way, and nobody is left who could send one, but for visitors. In a job that has made steps these are none.
 */
static bool of_messages(const struct hang_work *w, const struct waitgraph_sink *s)
{
	return w->p->progress_known && s->end == WAITEND_CIRCLE && !s->of_main && s->all_wait && s->n_ranks > 1;
}

/* Of a circle in which nobody acts what one of its members does not take lies there, and the others wait for it. */
static const struct waitgraph_node *lies_there(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph_node *n = s->n_followers == 0 || is_only_end(w, s) ? hang_unread_by(w, s) : NULL;
	return n && hang_nobody_acts(w) ? n : NULL;
}

/* True of what a process of this machine has at its other end, whichever it is. */
static bool is_of_the_machine(const struct waitfact *f)
{
	return f && (f->kind == WAITFACT_PIPE || f->kind == WAITFACT_FIFO || f->kind == WAITFACT_UNIX);
}

static const char *explained_id(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph_node *n = &w->c->graph->node[s->node];
	if (n->fact && n->fact->kind == WAITFACT_SIGNAL)
		return "waits_for_process";
	switch (s->end) {
	case WAITEND_STOPPED:
		return "process_stopped";
	case WAITEND_FROZEN:
		return "process_frozen";
	case WAITEND_TRACED:
		return "rank_traced";
	case WAITEND_OUTSIDE:
		return n->process || is_of_the_machine(n->fact) ? "waits_for_process" : "network_wait";
	case WAITEND_VISITOR:
		return n->handles ? "call_unanswered" : "waits_for_visitor";
	case WAITEND_PERSON:
		return waitgraph_writes_terminal(n) ? "terminal_stopped" : "waits_for_input";
	case WAITEND_CLOCK:
		return "rank_sleeps";
	case WAITEND_STORAGE:
		return "storage_stall";
	case WAITEND_NOBODY:
		return "orphaned_wait";
	case WAITEND_GONE:
		return "abandoned_wait";
	case WAITEND_OWN:
		if (waitgraph_waits_for_itself(n))
			return "deadlock";
		return s->n_followers > 0 && waitgraph_awaits_its_own(n) && !hang_end_is_main(w, s)
			       ? "waits_for_process"
			       : NULL;
	case WAITEND_CIRCLE: /* event loops beside the main threads are idle when all is well, too */
		if (of_messages(w, s) || (s->dead && slept_for(w->c->graph, s)))
			return proof_id(w, s);
		if (s->one_process && n->thread && n->thread->goroutine)
			return NULL; /* that nobody else comes to it is what hang_goroutines asks for */
		if (lies_there(w, s))
			return proof_id(w, s);
		return s->closed && in_the_way(w, s) && s->circle >= WAITGRAPH_LIKELY ? proof_id(w, s) : NULL;
	default:
		return NULL;
	}
}

/* Of ranks that all wait for the same thing outside of the job none is the one to blame. */
static void spare_all(struct hang_work *w)
{
	size_t live = 0;
	for (size_t i = 0; i < w->p->n; i++)
		live += !w->p->rank[i].serves && !w->p->rank[i].seen.exited;
	if (w->many && w->v->n_culprits >= live)
		w->v->n_culprits = 0;
}

/* Where there are two of them both are named: whatever the other one does, it cannot go on. */
static void two_are_dead(struct hang_work *w)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *both[2] = {NULL, NULL};
	size_t n = 0;
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *x = &g->node[i];
		if (!x->main || !x->who || !x->who->main || x->who->rank == NO_RANK)
			continue;
		if (n == ARRAY_SIZE(both))
			return;
		both[n++] = x;
	}
	for (size_t i = 0; n == ARRAY_SIZE(both) && i < n; i++)
		hang_accuse(w, both[i]->who->rank);
	if (n == ARRAY_SIZE(both) && hang_is_apart(both[0]) && hang_is_apart(both[1]))
		w->v->confidence = CONFIDENCE_MEDIUM;
}

/* Each rank stands for ever, for a reason of its own, and the log names none. */
static bool each_stands(struct hang_work *w, const struct waitgraph_sink *s)
{
	bool named = w->c->book && w->c->book->valid && w->c->book->n_culprits > 0;
	if (!w->dead || named || hang_stands_for_a_cause(w, s->rank[0]))
		return false;
	if (!hang_old_enough(w, HANG_CERTAIN))
		return true;
	hang_graph_is(w, s, proof_id(w, s), CONFIDENCE_LOW);
	w->v->n_culprits = 0;
	two_are_dead(w);
	hang_says(w, "The other ranks stand for ever as well, each in a wait of its own that nobody is left to end: "
		     "this is proved, and none of them waits for another.");
	return true;
}

/*
 * Something moves, but the log is silent, and the main thread waits for what was asked for and is lost: what moves does
 * not end that.
 */
bool hang_lost(struct hang_work *w)
{
	const struct waitgraph_sink *s = hang_graph_end(w);
	const struct waitgraph_node *n = s ? &w->c->graph->node[s->node] : NULL;
	return n && n->main && s->of_main && s->end == WAITEND_NOBODY && n->hint && n->hint->lost &&
	       hang_graph_explains(w);
}

/* Why it naps without end, where that is known. */
static void sleeper_says(struct hang_work *w, const struct waitgraph_node *n, size_t lookers)
{
	if (lookers > 0)
		hang_all_look_says(w);
	else if (hang_sibling_crashed(w, n))
		ignore(hang_says_who_left_then(w), "one has, as was asked");
	else if (hang_end_awaits_own_file(w, n) && n->hint->owner_text[0])
		hang_says(w, "As for what it looks for, %s.", n->hint->owner_text);
}

static void reader_says(struct hang_work *w, pid_t reader)
{
	w->v->confidence = CONFIDENCE_LOW; /* it may be meant to end by a visitor */
	hang_says(w, "Process %d reads its output to the end; who started it left it in the background.", (int)reader);
	hang_advise(w, "give a service in the background an output of its own: command >service.log 2>&1 &");
}

static void deaf_says(struct hang_work *w, pid_t waiter)
{
	hang_says(w, "Process %d waits for its end, and it ignores SIGTERM.", (int)waiter);
	hang_advise(w, "end it by another signal (kill -INT, -KILL): what a script starts ignores what the script "
		       "itself does by trap '' TERM");
}

/* What is known of a circle beside its arrows: what lies there unread, who is elsewhere, who was told least. */
static void circle_says(struct hang_work *w, const struct waitgraph_sink *s)
{
	if (hang_stream_says(w, s))
		return;
	const struct waitgraph_node *unread = lies_there(w, s);
	const bool open = of_messages(w, s) && !s->closed;
	if (unread)
		hang_unread_says(w, unread);
	if (open && !unread) {
		w->v->confidence = CONFIDENCE_LOW; /* who should have sent the next one is not known */
		hang_says(w, "Each rank waits for a message of another one.");
	}
	if (!unread)
		hang_one_elsewhere(w, s);
	if (open && w->v->n_culprits > 2)
		w->v->n_culprits = 0; /* all are none */
	if (open && w->v->n_culprits == 0 && !unread && !hang_not_listened_to(w, s))
		hang_heard_least(w, s);
}

/*
 * True of a circle, or a thread, of one process that others may end as well, or a time limit which could not be asked:
 * memory of a file that anybody may have, a socket whose holders are not all known. And of one that follows a file
 * which nobody of the job has open to write: who does is outside, and may be at work.
 */
static bool is_open_to_others(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitfact *end = g->node[s->node].fact;
	if (end && end->kind == WAITFACT_CHANGE && end->n_holders == 0)
		return true;
	if (s->dead || !s->one_process || (s->end != WAITEND_CIRCLE && s->end != WAITEND_OWN))
		return false;
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitfact *f = g->node[i].component == g->node[s->node].component ? g->node[i].fact : NULL;
		if (f && !f->complete &&
		    (f->kind == WAITFACT_SHARED || f->kind == WAITFACT_UNIX || f->kind == WAITFACT_TCP))
			return true;
	}
	return false;
}

/* True if it could not be asked whether the sockets of those who wait there have time limits. */
static bool is_unasked(const struct waitgraph *g, const struct waitgraph_sink *s)
{
	for (size_t i = 0; i < g->n_nodes; i++)
		if (g->node[i].component == g->node[s->node].component && g->node[i].fact && g->node[i].fact->unasked)
			return true;
	return false;
}

/* A thread of a main process waits for visitors for that one: who comes may be on its way to somebody of the job. */
static bool by_strangers(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph_node *n = &w->c->graph->node[s->node];
	return s->end == WAITEND_VISITOR && s->n_followers == 1 && n->process && !hang_end_is_main(w, s) &&
	       waitgraph_end_of(w->c->graph, n->process->pid) == s;
}

/*
 * True of a circle without ranks, or within one, of which nothing is proved, if one in it waits for several things: a
 * visitor may be one of them. Of ranks that have made steps together visitors are none.
 */
static bool has_other_ways(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph *g = w->c->graph;
	const bool open = s->end == WAITEND_CIRCLE && !s->dead && (!w->many || s->one_process);
	for (size_t i = 0; open && i < g->n_nodes; i++)
		if (g->node[i].component == g->node[s->node].component && g->node[i].thread &&
		    g->node[i].thread->n > 1)
			return true;
	return false;
}

/*
 * True of a helper that waits for visitors in a job that makes no steps: anybody may come, whenever that is. And of one
 * that sleeps: `sleep infinity |` keeps a program's input open.
 */
static bool is_meant_so(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const bool quiet = s->end == WAITEND_VISITOR || s->end == WAITEND_CLOCK;
	return quiet && !w->stepping && !w->counting && !w->many;
}

/* True if something may end this wait that the graph does not show, or that is meant to. */
static bool may_end_otherwise(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph_node *n = &w->c->graph->node[s->node];
	/* nobody was found, and yet something lives that could: a child whose end its handler tells of */
	const bool nobody = n->end == WAITEND_NOBODY && !s->dead && !n->dead_within && !n->hint;
	/* nothing says of who is outside that it is not at work on what it is asked for, makes, or has */
	return nobody || s->outside || is_meant_so(w, s) || has_other_ways(w, s) ||
	       may_be_opened(w->c->graph, s) || hang_by_design(w, s) || hang_may_be_woken(w, s) || by_strangers(w, s) ||
	       hang_sleeper_may_come(w, s) || hang_may_answer(w, s) || is_open_to_others(w, s);
}

/* An end that says why: a stopped helper, a silent server. Such a wait may still end, so it takes longer to tell. */
bool hang_graph_explains(struct hang_work *w)
{
	const struct waitgraph_sink *s = hang_graph_end(w);
	const struct waitgraph_node *n = s ? &w->c->graph->node[s->node] : NULL;
	const char *id = s ? explained_id(w, s) : NULL;
	bool held = s && (s->end == WAITEND_STOPPED || s->end == WAITEND_FROZEN || s->end == WAITEND_NOBODY ||
			  s->end == WAITEND_GONE || waitgraph_waits_for_itself(n) ||
			  (s->end == WAITEND_CIRCLE && !of_messages(w, s) && !may_be_opened(w->c->graph, s)));
	bool by_stacks = s && (s->end == WAITEND_CLOCK || s->end == WAITEND_STOPPED || s->end == WAITEND_TRACED ||
			       s->end == WAITEND_STORAGE || s->end == WAITEND_PERSON);
	const bool writes = s && waitgraph_writes_terminal(n);
	if (!id || (hang_end_is_main(w, s) && by_stacks && !writes))
		return false; /* hang_stopped, hang_benign and hang_disk know more */
	bool by_absence = w->c->graph->by_absence && s->n_followers == 1;
	const bool left = hang_visitor_left(w, s);
	const pid_t reader = hang_reads_what_was_left(w, s);
	bool visitor = s->end == WAITEND_VISITOR && s->n_followers == 0 && !left && !reader;
	const pid_t deaf = visitor ? hang_waits_for_the_deaf(w, s) : 0;
	const struct hang_asked *asker = visitor ? hang_asks_in_vain(w, n) : NULL;
	const struct waitgraph_node *locked = visitor ? hang_locked_out(w, s) : NULL;
	if ((visitor || by_absence) && !w->stepping)
		return false; /* a server without clients */
	if (visitor && n->dead_within && n->fact && n->fact->kind == WAITFACT_FIFO)
		return false; /* who could come stands as well: hang_closed_job */
	/* Somebody reads what it has printed; a server that loads answers so for long. */
	const bool stranger = s->end == WAITEND_OUTSIDE && !w->stepping && !w->counting && !w->many;
	const uint64_t other_ns = stranger && !w->s->has_after ? outside_ns : 0;
	const uint64_t patient_ns = writes ? terminal_ns : asker ? asked_ns : other_ns;
	if (w->standstill_ns < patient_ns) {
		w->v->again_ns = patient_ns - w->standstill_ns;
		return true;
	}
	if (s->end == WAITEND_PERSON && !writes && ((!w->stepping && !w->many) || s->n_followers == 0))
		return false; /* a job that somebody works with, at its terminal */
	const struct stackgroup_rank *waiting = hang_first_waiting(w);
	bool guess = w->c->graph->by_absence || guessed(w, s);
	if (guess && waiting && activity_waits_for_ranks(waiting->activity.kind))
		return false; /* a call that is known by name says better that a rank is missing */
	bool notice = n->fact && (n->fact->kind == WAITFACT_SIGNAL || n->fact->kind == WAITFACT_CHANGE);
	if (n->who && n->who->main && notice)
		return false; /* where a rank waits for a signal, or for a file to change, says more */
	if (stands_alone(w, s) && !hang_serves_beside(w, s))
		return each_stands(w, s);
	if (hang_serves_beside(w, s) || in_known_calls(w, s) || hang_several_missing(w, s) ||
	    (s->n_ranks == 1 && hang_stands_for_a_cause(w, s->rank[0])))
		return false;
	bool seen = held || s->end == WAITEND_PERSON; /* no more is to be learned by waiting */
	w->counting &= s->end != WAITEND_VISITOR; /* a visitor may bring the next thing to count */
	const enum hang_proof open = !visitor || locked ? HANG_EXPLAINED
				     : deaf || asker	? HANG_VAGUE
							: HANG_DOUBTFUL;
	if (!hang_old_enough(w, seen ? HANG_FIRM : open))
		return true;
	/* read from a pool, which proves nothing; a server of the same port may have its connection */
	bool lost = (n->hint && n->hint->lost) || waitgraph_waits_for_itself(n);
	bool sure = held && s->circle == WAITGRAPH_PROOF && !lost && !is_unasked(w->c->graph, s) &&
		    !hang_stopper_sleeps(w, s) && !hang_is_spared(w, s) && !is_doubtful(w, s);
	hang_graph_is(w, s, left ? "abandoned_wait" : asker ? "poll_loop" : id,
		 sure ? confidence_of(w, s) : MIN(confidence_of(w, s), CONFIDENCE_MEDIUM));
	circle_says(w, s);
	if (hang_each_for_its_own(w)) {
		w->v->confidence = CONFIDENCE_LOW;
		w->v->n_culprits = 0;
		hang_says(w, "So does each of the others, for a thread of its own: who is to blame is not known.");
	}
	if (s->end == WAITEND_NOBODY && n->end == WAITEND_NONE)
		hang_says(w, "All who share it wait for it themselves: nobody is left who could end these waits, so "
			     "who had it has probably ended.");
	if (s->outside && !w->many && w->g.n == 1 && w->g.rank[0].process && hang_joins_thread(&w->g.rank[0]) &&
	    hang_thread_of_graph(w, w->g.rank[0].process->pid))
		TEXT_COPY(w->v->id, "waits_for_thread");
	const size_t lookers = s->end == WAITEND_CLOCK ? hang_all_look(w) : 0;
	if (s->end == WAITEND_CLOCK)
		sleeper_says(w, n, lookers);
	/* a person may come; sleeping may be what the program is for; or who could end it is not known */
	w->may_end |= may_end_otherwise(w, s);
	if ((visitor && !locked) || lookers > 2 || w->may_end)
		w->v->confidence = CONFIDENCE_LOW;
	if (reader)
		reader_says(w, reader);
	else if (left)
		hang_visitor_left_says(w, n->usual != NULL);
	else if (locked)
		hang_locked_out_says(w, s, locked);
	else if (deaf)
		deaf_says(w, deaf);
	else if (asker)
		hang_asks_in_vain_says(w, asker);
	else if (s->end == WAITEND_VISITOR)
		hang_visitor_of_none(w, s);
	hang_limit_says(w, s);
	if (is_unasked(w->c->graph, s))
		hang_says(w, "Whether sockets have time limits (SO_RCVTIMEO, SO_SNDTIMEO) may not be asked here "
			     "(pidfd_getfd is refused), so this is not proved.");
	if (s->outside)
		spare_all(w);
	if (s->end == WAITEND_STOPPED && n->process)
		hang_advise(w, "let it go on: kill -CONT %d", (int)n->process->pid);
	return true;
}
