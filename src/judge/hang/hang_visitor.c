/*
 * A rank that all the others wait for, and that waits for what does not come: a visitor, or bytes beyond those that lie
 * there. And a process beside the ranks that all of them wait for, while it waits for them.
 */
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "judge/hang/hang_parts.h"

/* True if it is waited for because it has a lock, so that nobody but itself can let the others go on. */
static bool has_a_lock(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph *g = w->c->graph;
	size_t n = 0;
	for (size_t i = 0; i < g->n_edges; i++) {
		const struct waitgraph_edge *e = &g->edge[i];
		if (e->to != s->node)
			continue;
		if (!e->fact || e->fact->kind != WAITFACT_FILE_LOCK)
			return false;
		n++;
	}
	return n > 0;
}

/* True if no rank is left that the end could wait for: each one waits for it. */
static bool all_have_come(const struct hang_work *w, const struct waitgraph_sink *s)
{
	size_t ranks = 0;
	for (size_t i = 0; i < w->p->n; i++)
		ranks += !w->p->rank[i].serves && !w->p->rank[i].seen.exited;
	return w->many && s->n_followers + s->of_main >= ranks && !has_a_lock(w, s);
}

/* True if the end is its process's main thread, or one whose end that thread waits for. */
static bool of_the_main_thread(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph *g = w->c->graph;
	if (g->node[s->node].main)
		return true;
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		const struct waitgraph_edge *e = n->n_edges == 1 ? &g->edge[n->first_edge] : NULL;
		if (e && n->main && n->process == g->node[s->node].process && e->to == s->node && e->fact &&
		    e->fact->kind == WAITFACT_THREAD)
			return true;
	}
	return false;
}

/* True of a server at its door, of no rank, another thread of which reads from a client. */
static bool reads_clients_beside(const struct waitgraph *g, const struct waitgraph_node *n)
{
	if (!n->fact || n->fact->kind != WAITFACT_LISTEN || (n->who && n->who->rank != NO_RANK))
		return false;
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *x = &g->node[i];
		bool connected = x->fact && (x->fact->kind == WAITFACT_TCP || x->fact->kind == WAITFACT_UNIX);
		if (x != n && x->thread && x->process == n->process && connected && !x->fact->to_write)
			return true;
	}
	return false;
}

/* Where another rank waits at its door as well, who should have come to whom is not known, and nobody is named. */
static void other_door(struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitfact *f = g->node[s->node].fact;
	char who[160];
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		if (i == s->node || !n->main || !n->who || !n->who->main || n->end != WAITEND_VISITOR || n->handles ||
		    !f || !n->fact || n->fact->kind != f->kind)
			continue;
		w->v->confidence = CONFIDENCE_LOW;
		w->v->n_culprits = 0;
		waitgraph_who_text(g, i, who, sizeof(who));
		text_capital(who);
		hang_says(w, "%s waits for somebody to come as well: who should have come to whom is not known.", who);
		return;
	}
}

/* True if a thread of each rank waits for this end itself, not for a rank that does. */
static bool all_ask_it(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph *g = w->c->graph;
	for (size_t i = 0; i < w->g.n; i++) {
		const struct stackgroup_rank *r = &w->g.rank[i];
		bool asks = false;
		for (size_t k = 0; k < g->n_nodes && !asks && r->process; k++)
			for (uint32_t e = 0; e < g->node[k].n_edges && g->node[k].process; e++)
				asks |= g->node[k].process->pid == r->process->pid &&
					g->edge[g->node[k].first_edge + e].to == s->node;
		if (!asks)
			return false;
	}
	return w->many;
}

/*
 * All stand at one place, and one rank has called it with another text than all others, or, of two ranks, with a
 * smaller number in it: it is behind, which says who and not why. *ret: that rank.
 */
static bool odd_text_says(struct hang_work *w, const struct stackgroup_rank **ret)
{
	const struct waitgraph *g = w->c->graph;
	for (size_t i = 0; i < w->g.n; i++) {
		const struct stackgroup_rank *r = &w->g.rank[i];
		const struct waitgraph_node *n = r->process ? waitgraph_thread(g, r->process->pid, 0) : NULL;
		if (!n || !n->odd || n->odd->root)
			continue;
		const bool two = w->g.n == 2;
		if (two)
			hang_says(w, "Rank %d is behind: there %s; of the other rank it is %s.", r->rank, n->odd->text,
				  n->odd->owner_text);
		else
			hang_says(w, "Of rank %d alone %s; of all others it is %s.", r->rank, n->odd->text,
				  n->odd->owner_text);
		if (n->odd->by_number && w->stepping) {
			hang_accuse(w, r->rank);
			w->v->confidence = two ? CONFIDENCE_LOW : CONFIDENCE_MEDIUM;
		}
		*ret = r;
		return true;
	}
	return false;
}

/* A helper of a rank is at its door, and all ranks have come to it: what they miss may be the fault of any of them. */
static void at_a_helpers_door(struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph_node *n = &w->c->graph->node[s->node];
	if (!n->who || n->who->rank == NO_RANK || !n->fact || n->fact->kind != WAITFACT_LISTEN || !all_ask_it(w, s))
		return;
	w->v->confidence = CONFIDENCE_LOW;
	w->v->n_culprits = 0;
	hang_says(w, "All ranks have come to it: whether it or one of them has lost what they wait for is not known.");
	const struct stackgroup_rank *one = NULL;
	if (w->g.n == 2)
		ignore(odd_text_says(w, &one), "they may be called alike");
}

/*
 * All other ranks wait for one that waits for somebody, and that is none of them. In a job that has made steps it is
 * this rank that holds the others up; before, a person may have to come. Of a server in a thread of its own it is not
 * known what its clients miss.
 */
void hang_visitor_of_none(struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph_node *n = &w->c->graph->node[s->node];
	if (!n->handles && reads_clients_beside(w->c->graph, n)) {
		/* what those who have come should ask for next is as likely */
		w->v->confidence = CONFIDENCE_LOW;
		return;
	}
	if (!n->who || !n->who->main) {
		at_a_helpers_door(w, s);
		return;
	}
	if (!all_have_come(w, s)) {
		other_door(w, s);
		return;
	}
	if (n->handles) { /* the others have come, and have no answer */
		w->v->confidence = w->stepping ? w->v->confidence : CONFIDENCE_LOW;
		hang_says(w, "No rank is left whose request could bring it.");
		return;
	}
	const bool nobody = w->stepping && w->v->confidence > CONFIDENCE_LOW && of_the_main_thread(w, s);
	w->v->confidence = CONFIDENCE_LOW;
	if (nobody) {
		hang_says(w, "No rank is left that could come, so it is somebody else, or nobody.");
		return;
	}
	const struct waitgraph_node *other = hang_may_answer(w, s);
	if (!other) {
		w->v->n_culprits = 0;
		return;
	}
	hang_says(w,
		  "It waits within a time limit. Process %d (%s) %s: whether it owes the answer is not known.",
		  (int)other->process->pid, other->process->name,
		  other->end == WAITEND_RUNS ? "runs" : "reads datagrams as well");
}

bool hang_visitor_left(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph_node *n = &w->c->graph->node[s->node];
	const bool has_left = n->usual && n->usual->owner_tid == 0;
	if (s->end != WAITEND_VISITOR || !w->stepping || (n->usual && !has_left))
		return false;
	/* a server whose client has ended may be there for the next one */
	const bool door = n->fact && n->fact->kind == WAITFACT_LISTEN;
	return (has_left && !door) || (hang_left_then(w) && hang_steps_are(w, false));
}

void hang_visitor_left_says(struct hang_work *w, bool ended_its_waits)
{
	/* who is missing is none of the ranks that wait; who ended well may have done all that it was for */
	w->v->n_culprits = 0;
	if (!ended_its_waits && !hang_failed_then(w))
		w->v->confidence = CONFIDENCE_LOW;
	hang_says_who_left_then(w);
}

static bool is_of_the_job(const struct waitgraph *g, pid_t pid)
{
	for (size_t i = 0; i < g->n_nodes; i++)
		if (g->node[i].thread && g->node[i].process && g->node[i].process->pid == pid)
			return true;
	return false;
}

pid_t hang_reads_what_was_left(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *end = &g->node[s->node];
	if (s->end != WAITEND_VISITOR || !w->stepping || w->many || !end->process || !end->thread ||
	    is_of_the_job(g, end->process->ppid))
		return 0;
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		const struct waitgraph_edge *e = n->n_edges == 1 ? &g->edge[n->first_edge] : NULL;
		if (e && n->who && n->who->launcher && g->node[e->to].process == end->process && e->fact &&
		    e->fact->kind == WAITFACT_PIPE && !e->fact->to_write)
			return n->process->pid;
	}
	return 0;
}

pid_t hang_waits_for_the_deaf(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph *g = w->c->graph;
	for (size_t i = 0; i < g->n_nodes && s->end == WAITEND_VISITOR && w->stepping && !w->many; i++) {
		const struct waitgraph_node *n = &g->node[i];
		const struct waitgraph_edge *e = n->n_edges == 1 ? &g->edge[n->first_edge] : NULL;
		if (e && n->process && g->node[e->to].process == g->node[s->node].process && e->fact && e->fact->deaf)
			return n->process->pid;
	}
	return 0;
}

const struct waitgraph_node *hang_locked_out(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *end = &g->node[s->node];
	if (s->end != WAITEND_VISITOR || !w->stepping || w->many || !end->thread)
		return NULL;
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		const struct waitgraph_edge *e = n->n_edges == 1 ? &g->edge[n->first_edge] : NULL;
		if (e && n->thread && g->node[e->to].process == end->process && e->fact && e->fact->owner &&
		    e->fact->kind == WAITFACT_FILE_LOCK && e->fact->inherited)
			return n;
	}
	return NULL;
}

void hang_locked_out_says(struct hang_work *w, const struct waitgraph_sink *s, const struct waitgraph_node *n)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitfact_process *has = g->node[s->node].process;
	hang_says(w,
		  "Process %d (%s) waits for the lock of %s. Who took it has ended; process %d (%s) has inherited its "
		  "descriptor, and the lock with it, and keeps both for as long as it lives.",
		  (int)n->process->pid, n->process->name, g->edge[n->first_edge].fact->text, (int)has->pid, has->name);
	hang_advise(w, "close the lock's descriptor for what is started in the background: command 9>&- &");
}

/* ---- who asks a server for another answer ---- */

/* So often, and within so long before the look, somebody asks who does so again and again. */
static const uint64_t asked_least = 15, asked_lately_ns = 20 * NS_PER_S;

/* The thread at the door of this port of another process; NULL: none. */
static const struct waitgraph_node *door_of(const struct waitgraph *g, const struct hang_asked *a)
{
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		const bool door = n->thread && n->end == WAITEND_VISITOR && n->fact && n->fact->kind == WAITFACT_LISTEN;
		if (door && n->fact->port == a->port && n->process->pid != a->pid)
			return n;
	}
	return NULL;
}

static bool asks_on(const struct hang_work *w, const struct hang_asked *a)
{
	return a->n >= asked_least && sub_floor(w->p->now_ns, a->last_ns) <= asked_lately_ns;
}

/* True of a thread that goes on for a moment: a loop of naps, or one that was in another wait at the look before. */
static bool goes_round(const struct waitgraph_node *n)
{
	return n && (n->end == WAITEND_RUNS || (n->end == WAITEND_CLOCK && n->naps));
}

/*
 * True of a child that does nothing but sleep within a limit, as a script's `sleep 1` does. One that was not there at
 * the look before counts as running, so it is known by its call.
 */
static bool is_a_pause(const struct waitgraph_node *n, pid_t of)
{
	const bool sleeps = n->thread->wait == WAIT_SLEEP || (n->fact && n->fact->kind == WAITFACT_CLOCK);
	return n->process->ppid == of && n->main && n->timed && sleeps;
}

/* True of a thread that waits for another one, for a request, or for nobody that is left. */
static bool does_nothing(const struct waitgraph_node *n)
{
	const bool door = n->end == WAITEND_VISITOR && n->fact && n->fact->kind == WAITFACT_LISTEN;
	if (!n->thread || n->thread->ended || door)
		return true;
	const bool others = n->end == WAITEND_NONE || n->end == WAITEND_NOBODY || n->end == WAITEND_OWN ||
			    n->end == WAITEND_CIRCLE || n->end == WAITEND_ANY;
	return others && !n->timed;
}

/* True if nobody of the job does anything but the one that asks: who would change the answer is not seen. */
static bool only_asks(const struct waitgraph *g, pid_t asker)
{
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		const bool other = n->thread && n->process->pid != asker && !(n->who && n->who->launcher);
		if (other && !does_nothing(n) && !is_a_pause(n, asker))
			return false;
	}
	return true;
}

const struct hang_asked *hang_asks_in_vain(const struct hang_work *w, const struct waitgraph_node *door)
{
	const struct waitgraph *g = w->c->graph;
	for (size_t i = 0; g && w->stepping && !w->many && i < w->c->n_asked; i++) {
		const struct hang_asked *a = &w->c->asked[i];
		const struct waitgraph_node *to = door_of(g, a);
		if (to && (!door || to->process == door->process) && asks_on(w, a) &&
		    goes_round(waitgraph_thread(g, a->pid, 0)) && only_asks(g, a->pid))
			return a;
	}
	return NULL;
}

void hang_asks_in_vain_says(struct hang_work *w, const struct hang_asked *a)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitfact_process *p = waitgraph_thread(g, a->pid, 0)->process, *to = door_of(g, a)->process;
	char since[24];
	hang_says(w,
		  "Process %d (%s) goes round in a loop with pauses, and has connected to process %d (%s), port %u, "
		  "%llu times in %s: it has an answer each time, and waits for another one.",
		  (int)p->pid, p->name, (int)to->pid, to->name, (unsigned)a->port, (unsigned long long)a->n,
		  duration_format(w->standstill_ns, since));
	hang_advise(w, "ask the server by hand as the loop does (curl -i), and compare the path, the status and the "
		       "words of its answer with what the loop wants");
}

/* ---- what lies there already ---- */

static const struct waitgraph_edge *unread_edge(const struct waitgraph *g, const struct waitgraph_node *n)
{
	for (uint32_t i = 0; i < n->n_edges; i++) {
		const struct waitgraph_edge *e = &g->edge[n->first_edge + i];
		if (e->fact && e->fact->unread > 0)
			return e;
	}
	return NULL;
}

static bool is_message(const struct waitgraph_edge *e)
{
	return e->fact->kind == WAITFACT_MESSAGE;
}

const struct waitgraph_node *hang_unread_by(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *one = NULL;
	for (size_t i = 0; i < g->n_nodes && s->end == WAITEND_CIRCLE; i++) {
		const struct waitgraph_node *n = &g->node[i];
		if (n->component != g->node[s->node].component || !unread_edge(g, n))
			continue;
		if (one)
			return NULL;
		one = n;
	}
	const bool known = one && ((one->who && one->who->rank != NO_RANK) || is_message(unread_edge(g, one)));
	return known ? one : NULL;
}

void hang_unread_says(struct hang_work *w, const struct waitgraph_node *n)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_edge *e = unread_edge(g, n);
	char who[160], bytes[16];
	w->v->n_culprits = 0;
	if (n->who && n->who->rank != NO_RANK)
		hang_accuse(w, n->who->rank);
	waitgraph_who_text(g, (uint32_t)(n - g->node), who, sizeof(who));
	if (is_message(e)) {
		hang_says(w, "%s lie in the queue (%s), sent last by another one; %s waits for messages of other types "
			     "(msgrcv, type %lld) and does not take what lies there.",
			  size_format(e->fact->unread, bytes), e->fact->text, who, (long long)e->fact->message_type);
		hang_advise(w, "compare the type that the answer is given with the one that is waited for: a pid in a "
			       "request is that of the process that sends it, which may be a child");
		return;
	}
	hang_says(w, "%s has not read the %s that lie in its socket (%s), and waits for the next ones.", who,
		  size_format(e->fact->unread, bytes), e->fact->text);
	hang_advise(w, "read until there is nothing left: an edge-triggered wait (EPOLLET) tells of new bytes only");
}

/* ---- a server beside the ranks ---- */

/* A node of the circle that has to do with a stream: its handler, or who brings its messages; NULL: there is none. */
static const struct waitgraph_node *stream_part(const struct waitgraph *g, const struct waitgraph_sink *s, bool handler)
{
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		if (n->component == g->node[s->node].component && n->streams && n->handles == handler)
			return n;
	}
	return NULL;
}

bool hang_stream_says(struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *one = NULL;
	if (s->end != WAITEND_CIRCLE || !stream_part(g, s, true))
		return false;
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		if (n->component != g->node[s->node].component || !n->main || !n->who || !n->who->main)
			continue;
		if (one)
			return false;
		one = n;
	}
	const struct waitgraph_node *feeds = stream_part(g, s, false);
	char who[160], wait[480];
	if (!one || !feeds || feeds->process != one->process)
		return false;
	w->v->n_culprits = 0;
	if (one->who->rank != NO_RANK)
		hang_accuse(w, one->who->rank);
	waitgraph_who_text(g, (uint32_t)(one - g->node), who, sizeof(who));
	waitgraph_wait_text(feeds, wait, sizeof(wait));
	hang_says(w, "The call is a stream of messages that was not ended, and %s has to send the next one: %s.", who,
		  wait);
	hang_advise(w, "look who puts the messages of the stream, and ends it, also where there are none or an error "
		       "comes between: the iterator that is given to the call has to end");
	return true;
}

/*
 * The process to whose threads all arrows of a node lead, if it is no rank's main one (a rank may have started it);
 * NULL: none, or several.
 */
static const struct waitfact_process *only_server(const struct waitgraph *g, const struct waitgraph_node *n)
{
	const struct waitfact_process *p = NULL;
	for (uint32_t i = 0; i < n->n_edges; i++) {
		const struct waitgraph_node *to = &g->node[g->edge[n->first_edge + i].to];
		bool is_rank = to->who && to->who->rank != NO_RANK && to->who->main;
		if (!to->thread || !to->process || is_rank || (p && to->process != p))
			return NULL;
		p = to->process;
	}
	return p;
}

/* The one for which all ranks wait, if all are in its circle; WAITGRAPH_NONE: there is none. */
static uint32_t server_of_all(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitfact_process *server = NULL;
	for (size_t i = 0; i < w->g.n; i++) {
		const struct stackgroup_rank *r = &w->g.rank[i];
		const struct waitgraph_node *n = r->process ? waitgraph_thread(g, r->process->pid, 0) : NULL;
		const struct waitfact_process *p = n ? only_server(g, n) : NULL;
		if (!p || (server && p != server) || n->component != g->node[s->node].component || hang_works(w, r))
			return WAITGRAPH_NONE;
		server = p;
	}
	for (uint32_t i = 0; server && i < g->n_nodes; i++)
		if (g->node[i].process == server && g->node[i].component == g->node[s->node].component)
			return i;
	return WAITGRAPH_NONE;
}

/* True of a thread of a server that neither works on a call nor acts: at its door, or a library's that waits. */
static bool only_attends(const struct waitgraph_node *n)
{
	switch (n->end) {
	case WAITEND_NONE:
	case WAITEND_NOBODY:
	case WAITEND_OWN:
	case WAITEND_CIRCLE:
		return true;
	case WAITEND_VISITOR:
		return n->main || (n->fact && n->fact->kind == WAITFACT_LISTEN);
	default:
		return false;
	}
}

/* The server's threads that work on calls, if all of them wait in the circle, and no other thread acts; else 0. */
static size_t handlers_in(const struct waitgraph *g, const struct waitgraph_sink *s, const struct waitfact_process *p)
{
	size_t handlers = 0;
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		const bool within = n->component == g->node[s->node].component;
		if (n->process != p || !n->thread || n->thread->ended)
			continue;
		if (n->handles ? !within || n->calls : !only_attends(n) || (n->idle && !n->main))
			return 0;
		handlers += n->handles;
	}
	return handlers;
}

bool hang_calls_fill(struct hang_work *w)
{
	char who[160], wait[480];
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_sink *s = g && g->n_sinks > 0 ? &g->sink[0] : NULL;
	const bool circle = s && w->many && w->stepping && s->end == WAITEND_CIRCLE;
	const uint32_t at = circle ? server_of_all(w, s) : WAITGRAPH_NONE;
	const size_t handlers = at != WAITGRAPH_NONE ? handlers_in(g, s, g->node[at].process) : 0;
	for (size_t i = 0; i < w->g.n; i++) {
		const struct stackgroup_rank *r = &w->g.rank[i];
		const struct waitgraph_node *n = g && r->process ? waitgraph_thread(g, r->process->pid, 0) : NULL;
		if (!n || !n->calls || !n->hint || n->hint->limit_ns || n->hint->left_ns)
			return false;
	}
	if (handlers == 0 || w->g.n <= handlers)
		return false;
	if (!hang_old_enough(w, HANG_EXPLAINED))
		return true;
	hang_is(w, "call_unanswered", CONFIDENCE_MEDIUM);
	waitgraph_who_text(g, at, who, sizeof(who));
	waitgraph_wait_text(&g->node[at], wait, sizeof(wait));
	hang_says(w, "%zu calls wait for %s, which has %zu thread%s for calls, and none of these is free: %s.", w->g.n,
		  who, handlers, handlers == 1 ? "" : "s", wait);
	hang_says(w, "If they wait for one more call, that one waits for a thread.");
	return true;
}

/* How many frames two stacks have in common, seen from outside. */
static size_t frames_shared(const struct dump_thread *a, const struct dump_thread *b)
{
	size_t n = 0;
	while (n < MIN(a->n_frames, b->n_frames)) {
		const struct dump_frame *x = &a->frames[a->n_frames - 1 - n], *y = &b->frames[b->n_frames - 1 - n];
		if (!hang_same_code(x, y) || x->line != y->line)
			break;
		n++;
	}
	return n;
}

/*
 * The one rank that has come to where it stands from another line of a function than all others, which are in one call
 * from there, wherever below it; NULL: there is none. ret_at: how many frames lie outside of that function.
 */
static const struct stackgroup_rank *comes_from_elsewhere(const struct hang_work *w, size_t *ret_at)
{
	const struct stackgroup_rank *rank = w->g.rank;
	for (size_t i = 0; i < w->g.n; i++)
		if (!rank[i].acting)
			return NULL;
	for (size_t i = 0; i < w->g.n && w->g.n >= 3; i++) {
		const size_t first = i == 0;
		const size_t at = frames_shared(rank[i].acting, rank[first].acting);
		bool odd = true;
		for (size_t k = 0; k < w->g.n && odd; k++)
			odd = k == i || (frames_shared(rank[i].acting, rank[k].acting) == at &&
					 (k == first || frames_shared(rank[k].acting, rank[first].acting) > at));
		*ret_at = at;
		if (odd)
			return &rank[i];
	}
	return NULL;
}

/*
 * Where most ranks have come from, and where one has. Of rank 0 it is words alone, as it often has work of its own; of
 * another one in a job whose ranks have made steps together it is what does not fit.
 */
static void odd_place_says(struct hang_work *w, size_t at, const struct stackgroup_rank *b)
{
	const struct dump_thread *mine = b ? b->acting : NULL, *theirs = b ? w->g.rank[b == w->g.rank].acting : NULL;
	if (!b || at >= mine->n_frames || at >= theirs->n_frames)
		return;
	const struct dump_frame *y = &mine->frames[mine->n_frames - 1 - at];
	const struct dump_frame *x = &theirs->frames[theirs->n_frames - 1 - at];
	if (x->kind != FRAME_PYTHON || !hang_same_code(x, y))
		return;
	hang_says(w, "Rank %d has come to it from line %d of %s, the others from line %d.", b->rank, y->line, x->name,
		  x->line);
	if (b->rank == 0 || !w->stepping)
		return;
	hang_accuse(w, b->rank);
	w->v->confidence = CONFIDENCE_MEDIUM;
}

/* It waits for the one thread that has its connection in hand, whatever its stack says of its work. */
static bool asks_one_thread(const struct waitgraph *g, const struct stackgroup_rank *r)
{
	const struct waitgraph_node *n = r->process ? waitgraph_thread(g, r->process->pid, 0) : NULL;
	return n && n->n_edges == 1 && g->edge[n->first_edge].quality >= WAITGRAPH_LIKELY;
}

/*
 * Every rank waits for the answer of one process beside them, and that one waits for the ranks: what they have sent
 * does not fit together, or something was lost. Whose fault it is is not known.
 */
bool hang_server_of_all(struct hang_work *w)
{
	char who[160], wait[480];
	size_t at = 0;
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_sink *s = g && g->n_sinks > 0 ? &g->sink[0] : NULL;
	if (!s || !w->many || w->g.n < 2 || s->end != WAITEND_CIRCLE || !s->all_wait || hang_first_waiting(w))
		return false;
	for (size_t i = 0; i < w->g.n; i++)
		if (!asks_one_thread(g, &w->g.rank[i]) && hang_stands_for_a_cause(w, w->g.rank[i].rank))
			return false;
	const uint32_t server = server_of_all(w, s);
	if (server == WAITGRAPH_NONE)
		return false;
	/* Where nothing else of the job could bring an answer the circle explains itself. */
	if (!hang_old_enough(w, w->stepping && hang_nobody_acts(w) ? HANG_EXPLAINED : HANG_VAGUE))
		return true;
	hang_is(w, "wait_circle", CONFIDENCE_LOW);
	waitgraph_who_text(g, server, who, sizeof(who));
	waitgraph_wait_text(&g->node[server], wait, sizeof(wait));
	hang_says(w, "All ranks wait for %s, and that one waits for them: %s.", who, wait);
	/* Another word may be other work by design; where the same rank has come from elsewhere as well, it is not. */
	const struct stackgroup_rank *text = NULL, *place = comes_from_elsewhere(w, &at);
	if (!odd_text_says(w, &text) || (w->v->n_culprits == 0 && text == place))
		odd_place_says(w, at, place);
	return true;
}

/* What has come to a rank's main process over the connection of the circle that brought most. */
static uint64_t heard_of(const struct hang_work *w, const struct waitgraph_sink *s, int32_t rank)
{
	const struct waitgraph *g = w->c->graph;
	uint64_t most = 0;
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		if (n->who && n->who->main && n->who->rank == rank && n->component == g->node[s->node].component)
			most = MAX(most, n->heard_bytes);
	}
	return most;
}

/*
 * What is sent to all comes to each rank in the same number of bytes. If it has to all but one, that one has missed
 * some of it, most likely as it came late, or has connected again. It names with low confidence, as a rank may be told
 * less by design.
 */
void hang_heard_least(struct hang_work *w, const struct waitgraph_sink *s)
{
	const uint64_t far_less = 2; /* times */
	int32_t odd = NO_RANK;
	uint64_t most = 0, least = UINT64_MAX;
	for (size_t i = 0; i < s->n_ranks; i++) {
		const uint64_t n = heard_of(w, s, s->rank[i]);
		most = MAX(most, n);
		odd = n < least ? s->rank[i] : odd;
		least = MIN(least, n);
	}
	for (size_t i = 0; i < s->n_ranks; i++)
		if (s->rank[i] != odd && heard_of(w, s, s->rank[i]) != most)
			return;
	if (s->n_ranks < 3 || !w->stepping || least == 0 || least > most / far_less)
		return;
	hang_accuse(w, odd);
	hang_says(w,
		  "To rank %d alone %llu bytes have come over its connection, to each of the others %llu: it may have "
		  "connected again, and missed what was sent to all meanwhile.",
		  odd, (unsigned long long)least, (unsigned long long)most);
}

/*
 * Of a circle of messages one member has stopped to read from the connection of another one, and waits for its end
 * alone: what that one sends does not arrive. It may have stopped as it has more than it can take, for want of another
 * message, so both are named with low confidence.
 */
bool hang_not_listened_to(struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *from = NULL, *to = NULL;
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		for (uint32_t k = 0; n->component == g->node[s->node].component && k < n->n_edges; k++) {
			const struct waitgraph_edge *e = &g->edge[n->first_edge + k];
			if (!e->fact || !e->fact->unheard || g->node[e->to].component != n->component)
				continue;
			if (to && g->node[e->to].process != to->process)
				return false;
			from = n;
			to = &g->node[e->to];
		}
	}
	if (!to || !from->who || !to->who || from->who->rank == NO_RANK || to->who->rank == NO_RANK)
		return false;
	hang_accuse(w, from->who->rank);
	hang_accuse(w, to->who->rank);
	hang_says(w, "Rank %d does not read from its connection with rank %d: what that one sends does not arrive.",
		  from->who->rank, to->who->rank);
	hang_advise(w, "look at how many may connect to that socket, and at the limit of its queue: a further one is "
		       "let in and not listened to, by ZeroMQ's PAIR for example");
	return true;
}
