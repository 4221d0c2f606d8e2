/* Questions of the hang judge's parts about a rank, and how long each kind of proof has to wait. */
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "judge/standstill/hang_ask.h"

/* How long nothing may have moved before a verdict of each strength. */
static const uint64_t certain_ns = 10 * NS_PER_S;
static const uint64_t firm_stepping_ns = 25 * NS_PER_S, firm_ns = 40 * NS_PER_S;
static const uint64_t vague_stepping_ns = 60 * NS_PER_S, vague_ns = 2 * 60 * NS_PER_S;
static const uint64_t vague_first_ns = 5 * 60 * NS_PER_S;
static const uint64_t explained_stepping_ns = 40 * NS_PER_S, explained_ns = 90 * NS_PER_S;
static const double firm_gaps = 3, vague_gaps = 5;
static const uint64_t doubtful_times = 3;

bool hang_steps_are(const struct hang_work *w, bool made)
{
	size_t n = 0;
	for (size_t i = 0; i < w->p->n; i++) {
		const struct liveness_counters *c = &w->p->rank[i].seen;
		if (!c->has_progress || !c->progress.has_total)
			continue;
		if ((c->progress.step + 1 >= c->progress.total) != made) /* they may count from 0 */
			return false;
		n++;
	}
	return n > 0;
}

static uint64_t needed_ns(const struct hang_work *w, enum hang_proof proof)
{
	if (proof == HANG_DOUBTFUL)
		return needed_ns(w, HANG_VAGUE) * doubtful_times;
	const bool counted = w->stepping || w->counting;
	double gap = w->gap_ns;
	uint64_t need = certain_ns;
	if (proof == HANG_FIRM)
		need = counted ? MAX(firm_stepping_ns, (uint64_t)(gap * firm_gaps)) : firm_ns;
	else if (proof == HANG_EXPLAINED)
		need = counted ? MAX(explained_stepping_ns, (uint64_t)(gap * vague_gaps)) : explained_ns;
	else if (proof == HANG_VAGUE)
		need = !w->stepping    ? w->first_step ? vague_first_ns : vague_ns
		       : hang_steps_are(w, true) ? vague_ns
					: MAX(vague_stepping_ns, (uint64_t)(gap * vague_gaps));
	/* A time that was given holds. */
	return w->s->has_after ? MAX(w->s->after_ns, (uint64_t)(gap * firm_gaps)) : need;
}

bool hang_old_enough(struct hang_work *w, enum hang_proof proof)
{
	uint64_t need = needed_ns(w, proof);
	if (w->standstill_ns >= need || w->s->rule == HANG_RULE_IO_GPU)
		return true;
	w->v->kind = HANG_NONE;
	w->v->proved = false;
	w->v->id[0] = '\0';
	w->v->n_culprits = w->v->n_advice = w->v->n_evidence = 0;
	w->v->again_ns = MAX(need - w->standstill_ns, NS_PER_S);
	w->v->too_soon = true;
	TEXT_COPY(w->v->text, "it stands still, but not for long enough to be sure");
	return false;
}

bool hang_gpu_works(const struct hang_work *w, int32_t rank)
{
	const struct liveness *l = liveness_find(w->p, rank);
	return l && l->gpu_known && w->p->now_ns - l->gpu_alive_ns < 5 * NS_PER_S;
}

double hang_queues(const struct hang_work *w, int32_t rank)
{
	const struct liveness *l = liveness_find(w->p, rank);
	return l && l->trace[LIVENESS_RUN_WAIT].known ? l->trace[LIVENESS_RUN_WAIT].rate / 1e9 : 0;
}

/* In a job of many ranks a wait for the device is a wait for the others, unless the device does real work. */
bool hang_waits(const struct hang_work *w, const struct stackgroup_rank *r)
{
	if (activity_waits_for_ranks(r->activity.kind) ||
	    (w->c->graph && r->process && waitgraph_waits(w->c->graph, r->process->pid)))
		return true;
	bool device = r->activity.kind == ACTIVITY_GPU_SYNC || r->activity.kind == ACTIVITY_BACKWARD;
	return w->many && device && !hang_gpu_works(w, r->rank);
}

bool hang_works(const struct hang_work *w, const struct stackgroup_rank *r)
{
	/* A side thread that counts or prints is not the program. */
	const double side_thread_cores = 0.2;
	const struct liveness *l = liveness_find(w->p, r->rank);
	bool runs = r->acting && r->acting->wait.kind == WAIT_RUNNING;
	if (hang_awaits_kernel(w, r)) /* it is the wait that takes the processor */
		return liveness_reads(w->p, l) || liveness_writes(w->p, l);
	if (r->compared && !r->idle && (runs || !r->unchanged || r->cores >= side_thread_cores))
		return true;
	if (!r->compared && l && liveness_moves(w->p, l, LIVENESS_CPU))
		return true;
	return l && (liveness_reads(w->p, l) || liveness_writes(w->p, l) || hang_gpu_works(w, r->rank));
}

const struct stackgroup_rank *hang_culprit(const struct hang_work *w)
{
	for (size_t i = 0; i < w->n_blocking; i++)
		if (!w->benign[i])
			return &w->g.rank[w->blocking[i]];
	return NULL;
}

const struct stackgroup_rank *hang_first_waiting(const struct hang_work *w)
{
	for (size_t i = 0; i < w->g.n; i++)
		if (hang_waits(w, &w->g.rank[i]))
			return &w->g.rank[i];
	return NULL;
}

/* True when every rank was seen, stands where it stood, and uses no processor; those in a wait may spin. */
bool hang_all_still(const struct hang_work *w)
{
	size_t ranks = 0;
	for (size_t i = 0; i < w->p->n; i++)
		ranks += !w->p->rank[i].serves && !w->p->rank[i].seen.exited;
	if (w->g.n < ranks || w->c->n_dumps < 2)
		return false;
	for (size_t i = 0; i < w->g.n; i++) {
		const struct stackgroup_rank *r = &w->g.rank[i];
		if (!r->has_stack || !r->unchanged || (!hang_waits(w, r) && !r->idle))
			return false;
	}
	return true;
}

static bool is_of_rank(const struct waitgraph_edge *e)
{
	return e->hint && (e->hint->kind == WAITHINT_RANK || (e->hint->kind == WAITHINT_KEY && e->hint->by_rank));
}

bool hang_several_missing(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph *g = w->c->graph;
	for (size_t i = 0; i < g->n_nodes; i++) {
		size_t n = 0;
		bool leads = false;
		for (uint32_t k = 0; k < g->node[i].n_edges; k++) {
			const struct waitgraph_edge *e = &g->edge[g->node[i].first_edge + k];
			n += is_of_rank(e);
			leads |= is_of_rank(e) && g->node[e->to].component == g->node[s->node].component;
		}
		if (leads && n > 1)
			return true;
	}
	return false;
}

/* The one arrow of a main thread that waits for the rank that its send or receive names; NULL: it is none. */
static const struct waitgraph_edge *peer_arrow(const struct hang_work *w, const struct waitgraph_node *n)
{
	const struct waitgraph_edge *e = n->n_edges == 1 ? &w->c->graph->edge[n->first_edge] : NULL;
	const struct stackgroup_rank *r = n->main && n->who ? stackgroups_find(&w->g, n->who->rank) : NULL;
	return e && is_of_rank(e) && r && r->activity.kind == ACTIVITY_P2P ? e : NULL;
}

const struct stackgroup_rank *hang_peer(const struct hang_work *w, const struct stackgroup_rank *r)
{
	const struct waitgraph *g = w->c->graph;
	for (size_t i = 0; g && i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		const struct waitgraph_edge *e = n->main && n->who && n->who->rank == r->rank ? peer_arrow(w, n) : NULL;
		if (e && g->node[e->to].who)
			return stackgroups_find(&w->g, g->node[e->to].who->rank);
	}
	return NULL;
}

const struct waitgraph_sink *hang_message_circle(const struct hang_work *w)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_sink *s = g && g->n_sinks > 0 ? &g->sink[0] : NULL;
	if (!s || s->end != WAITEND_CIRCLE || !s->closed || s->n_ranks < 2)
		return NULL;
	for (size_t i = 0; i < g->n_nodes; i++)
		if (g->node[i].component == g->node[s->node].component && !peer_arrow(w, &g->node[i]))
			return NULL;
	return s;
}

/* ---- of a circle, the one that is elsewhere ---- */

bool hang_same_code(const struct dump_frame *a, const struct dump_frame *b)
{
	return a->kind == b->kind && strcmp(a->name, b->name) == 0 &&
	       strcmp(a->file ? a->file : "", b->file ? b->file : "") == 0;
}

/* The next frame of the program's own from here on outwards, as an index; n_frames: none. */
static size_t own_from(const struct dump_thread *t, size_t at)
{
	while (at < t->n_frames && !activity_is_user(&t->frames[at]))
		at++;
	return at;
}

static bool is_in_function(const struct stackgroup_rank *r, const struct dump_frame *f)
{
	for (size_t i = 0; i < r->acting->n_frames; i++)
		if (hang_same_code(&r->acting->frames[i], f))
			return true;
	return false;
}

/* True if the rank is in this function, called from the same line of the same one. */
static bool is_in_call(const struct stackgroup_rank *r, const struct dump_frame *f, const struct dump_frame *from)
{
	const struct dump_thread *t = r->acting;
	for (size_t i = own_from(t, 0); i < t->n_frames; i = own_from(t, i + 1)) {
		const size_t out = own_from(t, i + 1);
		if (hang_same_code(&t->frames[i], f) && out < t->n_frames && hang_same_code(&t->frames[out], from) &&
		    t->frames[out].line == from->line)
			return true;
	}
	return false;
}

/* The only one of these ranks that is not in a call that all others are in; NULL: none, or several. */
static const struct stackgroup_rank *outside_of(const struct hang_work *w, const int32_t *rank, size_t n,
						const struct dump_frame *f, const struct dump_frame *from)
{
	const struct stackgroup_rank *odd = NULL;
	for (size_t i = 0; i < n; i++) {
		const struct stackgroup_rank *r = stackgroups_find(&w->g, rank[i]);
		if (is_in_call(r, f, from))
			continue;
		if (odd || is_in_function(r, f) || own_from(r->acting, 0) == r->acting->n_frames)
			return NULL;
		odd = r;
	}
	return odd;
}

/* Of three ranks and more the one that is elsewhere; ret_call: what the others are in. NULL: there is no such one. */
static const struct stackgroup_rank *odd_of(const struct hang_work *w, const int32_t *rank, size_t n,
					    const struct dump_frame **ret_call)
{
	const struct stackgroup_rank *odd = NULL;
	for (size_t i = 0; i < n; i++) {
		const struct stackgroup_rank *r = stackgroups_find(&w->g, rank[i]);
		if (!r || !r->acting || r->acting->n_frames == 0)
			return NULL;
	}
	for (size_t k = 0; k < 2 && n >= 3 && !odd; k++) { /* the first may be the one that is elsewhere */
		const struct dump_thread *t = stackgroups_find(&w->g, rank[k])->acting;
		for (size_t i = own_from(t, 0); i < t->n_frames && !odd; i = own_from(t, i + 1)) {
			const size_t out = own_from(t, i + 1);
			*ret_call = &t->frames[i];
			odd = out < t->n_frames ? outside_of(w, rank, n, *ret_call, &t->frames[out]) : NULL;
		}
	}
	return odd;
}

void hang_one_elsewhere(struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct dump_frame *call = NULL;
	const struct stackgroup_rank *odd = NULL;
	if (s->end == WAITEND_CIRCLE && w->v->n_culprits >= 3)
		odd = odd_of(w, s->rank, s->n_ranks, &call);
	if (!odd)
		return;
	w->v->n_culprits = 0;
	hang_accuse(w, odd->rank);
	hang_says(w, "Rank %d alone is not in %s (%s), in which the others of the circle are.", odd->rank, call->name,
		  frame_file_short(call->file));
}

const struct stackgroup_rank *hang_naps_elsewhere(const struct hang_work *w, const struct dump_frame **ret_call)
{
	cleanup(freep) int32_t *rank = calloc(w->g.n ? w->g.n : 1, sizeof(*rank));
	if (!rank || w->n_blocking != w->g.n || w->n_unseen > 0 || !hang_all_nap(w))
		return NULL;
	for (size_t i = 0; i < w->g.n; i++) {
		if (w->g.rank[i].activity.kind != ACTIVITY_SLEEP)
			return NULL;
		rank[i] = w->g.rank[i].rank;
	}
	return odd_of(w, rank, w->g.n, ret_call);
}

void hang_naps_elsewhere_is(struct hang_work *w, const struct stackgroup_rank *odd, const struct dump_frame *call)
{
	char doing[300];
	hang_doing(w, odd, doing, sizeof(doing));
	hang_accuse(w, odd->rank);
	w->v->confidence = CONFIDENCE_LOW; /* it may look for what one of the others has left out */
	hang_says(w, "All ranks nap. Rank %d alone is not in %s (%s), in which all others are, but in %s.", odd->rank,
		  call->name, frame_file_short(call->file), doing);
}

/* ---- what a server has had of each rank, and sent to each ---- */

struct talk {
	uint64_t asked_bytes, answered_bytes;
};

static bool talk_of(const struct waitgraph *g, const struct waitgraph_node *server, int32_t rank, struct talk *ret)
{
	for (uint32_t i = 0; i < server->n_edges; i++) {
		const struct waitgraph_edge *e = &g->edge[server->first_edge + i];
		const struct waitgraph_who *to = g->node[e->to].who;
		if (!e->fact || e->fact->kind != WAITFACT_TCP || !to || !to->main || to->rank != rank)
			continue;
		*ret = (struct talk){e->fact->received_bytes, e->fact->sent_bytes};
		return true;
	}
	return false;
}

static bool waits_for_process(const struct waitgraph *g, const struct stackgroup_rank *r,
			      const struct waitgraph_node *to)
{
	const struct waitgraph_node *n = r->process ? waitgraph_thread(g, r->process->pid, 0) : NULL;
	for (uint32_t i = 0; n && i < n->n_edges; i++)
		if (g->node[g->edge[n->first_edge + i].to].process == to->process)
			return true;
	return false;
}

/* The thread beside the ranks that waits for all of them over connections; NULL: none, or several. */
static const struct waitgraph_node *server_of_ranks(const struct hang_work *w)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *one = NULL;
	struct talk t;
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		bool all = n->thread && !(n->who && n->who->main);
		for (size_t k = 0; all && k < w->g.n; k++)
			all = talk_of(g, n, w->g.rank[k].rank, &t);
		if (all && one)
			return NULL;
		one = all ? n : one;
	}
	return one;
}

/* What all ranks but this one have in common with the server; false: they differ, or nothing is known. */
static bool talk_of_others(const struct hang_work *w, const struct waitgraph_node *server,
			   const struct stackgroup_rank *odd, struct talk *ret)
{
	size_t n = 0;
	for (size_t i = 0; i < w->g.n; i++) {
		struct talk t;
		const struct stackgroup_rank *r = &w->g.rank[i];
		if (r == odd || !talk_of(w->c->graph, server, r->rank, &t))
			continue;
		if (n++ > 0 && (t.asked_bytes != ret->asked_bytes || t.answered_bytes != ret->answered_bytes))
			return false;
		*ret = t;
	}
	return n >= 2;
}

/*
 * Of a rank that alone waits for a server, or alone does not, it may be that the others have not made its call, or that
 * they have had their answers already. Which one it is the bytes tell that the server has had of each and sent to each:
 * where all have had as many, nobody was answered who has asked alike. A rank that asks as it alone does by design is
 * named with low confidence, and so is one of which nothing is known from before; rank 0 often has work of its own.
 */
static bool talk_says(struct hang_work *w, const struct stackgroup_rank *odd)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *server = g ? server_of_ranks(w) : NULL;
	struct talk others = {0}, own = {0};
	char who[160];
	if (!server || !talk_of_others(w, server, odd, &others) || !talk_of(g, server, odd->rank, &own))
		return false;
	const bool asks = waits_for_process(g, odd, server);
	const bool alone = asks && own.asked_bytes > others.asked_bytes;
	const bool out = !asks && own.asked_bytes < others.asked_bytes;
	waitgraph_who_text(g, (uint32_t)(server - g->node), who, sizeof(who));
	text_capital(who);
	if (own.answered_bytes == others.answered_bytes && (alone || out)) {
		hang_says(w,
			  "%s has had %llu bytes of it and %llu of each other one, and has sent as many to each: %s.",
			  who, (unsigned long long)own.asked_bytes, (unsigned long long)others.asked_bytes,
			  alone ? "the others have not made the call in which it waits"
				: "it has not made the call in which they wait");
		if (odd->rank != 0)
			hang_accuse(w, odd->rank);
		if (odd->rank != 0 && MIN(own.asked_bytes, others.asked_bytes) > 0)
			w->v->confidence = CONFIDENCE_MEDIUM;
		return true;
	}
	if (asks && own.asked_bytes == others.asked_bytes && own.answered_bytes < others.answered_bytes) {
		hang_says(w, "%s has had %llu bytes of each rank, and has sent less to rank %d than to the others: its "
			     "answer to that one is missing.",
			  who, (unsigned long long)own.asked_bytes, odd->rank);
		return true;
	}
	return false;
}

/* The thread that is no rank's main one for which this rank is likely to wait; NULL: none. */
static const struct waitgraph_node *asks_beside(const struct hang_work *w, const struct stackgroup_rank *r)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *n = r->process ? waitgraph_thread(g, r->process->pid, 0) : NULL;
	const struct waitgraph_edge *e = n && n->n_edges == 1 ? &g->edge[n->first_edge] : NULL;
	const struct waitgraph_node *to = e && e->quality >= WAITGRAPH_LIKELY ? &g->node[e->to] : NULL;
	return to && to->thread && !(to->who && to->who->main) ? to : NULL;
}

/* Where all ranks but this one wait for the same process beside them: for which, and where that one stands. */
static void server_says(struct hang_work *w, const struct stackgroup_rank *odd)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *one = NULL;
	char who[160], thread[60], wait[300];
	struct buf b = BUF_ON(thread);
	for (size_t i = 0; g && i < w->g.n; i++) {
		const struct waitgraph_node *to = &w->g.rank[i] == odd ? one : asks_beside(w, &w->g.rank[i]);
		if (&w->g.rank[i] != odd && (!to || (one && to->process != one->process)))
			return;
		one = to;
	}
	if (!one)
		return;
	waitgraph_who_text(g, (uint32_t)(waitgraph_thread(g, one->process->pid, 0) - g->node), who, sizeof(who));
	waitgraph_thread_text(one->thread, "", &b);
	waitgraph_wait_text(one, wait, sizeof(wait));
	hang_says(w, "The others wait for %s, of which %s stands: %s.", who, thread, wait);
}

void hang_elsewhere_says(struct hang_work *w)
{
	const struct dump_frame *call = NULL;
	cleanup(freep) int32_t *rank = calloc(w->g.n ? w->g.n : 1, sizeof(*rank));
	if (!rank || w->n_unseen > 0)
		return;
	for (size_t i = 0; i < w->g.n; i++)
		rank[i] = w->g.rank[i].rank;
	const struct stackgroup_rank *odd = odd_of(w, rank, w->g.n, &call);
	if (!odd)
		return;
	hang_says(w, "All ranks wait for each other. Rank %d alone is not in %s (%s), in which all others are.",
		  odd->rank, call->name, frame_file_short(call->file));
	if (talk_says(w, odd))
		return;
	server_says(w, odd);
	hang_says(w, "Whether it or what it waits for is to blame is not known.");
}

bool hang_may_await_bytes(const struct stackgroup_rank *r)
{
	if (!r->acting || !r->process || r->acting->wait.kind != WAIT_LOCK)
		return true;
	for (size_t i = 0; i < r->process->n_threads; i++)
		switch (r->process->threads[i].wait.kind) {
		case WAIT_LOCK:
		case WAIT_SLEEP:
		case WAIT_SIGNAL:
		case WAIT_ZOMBIE:
			break;
		default:
			return true;
		}
	return false;
}

/* ---- a kernel that does not end ---- */

/* Who spins for the device uses one processor; more than this is another thread's work. */
static const double spinner_cores = 1.2;

static const struct dump_frame *top_python(const struct dump_thread *t)
{
	for (size_t i = 0; t && i < t->n_frames; i++)
		if (t->frames[i].kind == FRAME_PYTHON)
			return &t->frames[i];
	return NULL;
}

/*
 * True if it is one wait, not one of a loop of short kernels: the thread has not run, or its own function's variables
 * had the same values at each look.
 */
static bool is_one_wait(const struct hang_work *w, const struct stackgroup_rank *r)
{
	const struct dump_frame *top = top_python(r->acting);
	if (r->idle)
		return true;
	if (!top || top != r->activity.user || top->state == 0)
		return false;
	for (size_t i = 0; i < MIN(w->c->n_dumps, HANG_DUMPS); i++) {
		const struct dump_thread *t = hang_thread_in(w->c->dumps[i], r->process->pid, r->acting->tid);
		const struct dump_frame *f = top_python(t);
		if (!f || f->state != top->state)
			return false;
	}
	return true;
}

bool hang_awaits_kernel(const struct hang_work *w, const struct stackgroup_rank *r)
{
	const struct liveness *l = liveness_find(w->p, r->rank);
	return !w->many && r->activity.kind == ACTIVITY_GPU_SYNC && r->compared && r->unchanged &&
	       r->cores <= spinner_cores && l && l->gpu_spins && !hang_gpu_works(w, r->rank) && is_one_wait(w, r);
}
