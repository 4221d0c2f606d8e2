/* What else lives in the job beside the end of a chain of waits: who could end it, and who surely will not. */
#include <string.h>

#include "base/units.h"
#include "judge/standstill/hang_ask.h"

/* A sleep of this length may be the pause that somebody makes before he lets a stopped process go on. */
static const uint64_t pause_least_ns = 5 * NS_PER_S;

static uint64_t sleeps_for(const struct waitgraph_node *n)
{
	return MAX(n->thread->limit_ns, n->thread->left_ns);
}

/* True if it may act by itself: it runs, sleeps, or waits within a limit. */
static bool acts(const struct waitgraph_node *n)
{
	return n->thread && (n->end == WAITEND_RUNS || n->end == WAITEND_CLOCK || n->timed);
}

/* The innermost function of the program's own that a process's main thread is in; NULL: unknown. */
static const struct dump_frame *own_function(const struct hang_work *w, const struct waitgraph_node *n)
{
	const struct stackdump *d = hang_newest(w);
	const struct dump_thread *t = d && n->main ? hang_thread_in(d, n->thread->pid, n->thread->tid) : NULL;
	for (size_t i = 0; t && i < t->n_frames; i++) {
		const struct dump_frame *f = &t->frames[i];
		if (t->has_python ? f->kind == FRAME_PYTHON : !hang_c_library(f->module))
			return f;
	}
	return NULL;
}

/*
 * True of a helper of another rank that naps, if the rank of the stopped process has one in the same function, which is
 * the stopped one itself, or waits: each rank has such helpers for its own work, so this one stops none of another's.
 */
static bool is_counterpart(const struct hang_work *w, const struct waitgraph_node *n,
			   const struct waitgraph_node *stopped)
{
	const struct waitgraph *g = w->c->graph;
	const struct dump_frame *f = n->main && n->naps && !n->who->main ? own_function(w, n) : NULL;
	bool found = false;
	if (!f || !stopped->who || n->who->rank == NO_RANK || stopped->who->rank == NO_RANK ||
	    n->who->rank == stopped->who->rank)
		return false;
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *x = &g->node[i];
		if (!x->thread || !x->main || !x->who || x->who->main || x->who->rank != stopped->who->rank)
			continue;
		const struct dump_frame *own = own_function(w, x);
		if (!own || !hang_same_code(own, f))
			continue;
		if (acts(x))
			return false;
		found = true;
	}
	return found;
}

const struct waitgraph_node *hang_may_answer(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *end = &g->node[s->node];
	const struct waitgraph_node *awake = NULL;
	if (s->end != WAITEND_VISITOR || !end->timed || !end->fact || end->fact->kind != WAITFACT_DATAGRAM)
		return NULL;
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		const bool rank = n->who && (n->who->main || n->who->launcher);
		const bool helper = n->thread && n->process != end->process && !rank;
		if (helper && n->end == WAITEND_VISITOR && n->fact && n->fact->kind == WAITFACT_DATAGRAM)
			return n;
		if (helper && n->end == WAITEND_RUNS) /* a look may meet it with a question in hand */
			awake = n;
	}
	return awake;
}

const struct waitgraph_node *hang_pauser(const struct hang_work *w, pid_t stopped, uint64_t most_ns)
{
	const struct waitgraph *g = w->c->graph;
	for (size_t i = 0; g && i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		const bool helper = n->thread && n->main && !(n->who && (n->who->main || n->who->launcher));
		const bool sleeps = n->end == WAITEND_CLOCK && n->fact && n->fact->kind == WAITFACT_CLOCK && !n->naps;
		if (!helper || !sleeps || n->process->pid == stopped || sleeps_for(n) < pause_least_ns)
			continue;
		const uint64_t left_ns = n->thread->left_ns;
		if (left_ns > 0 ? w->standstill_ns + left_ns <= most_ns : n->thread->limit_ns <= most_ns)
			return n;
	}
	return NULL;
}

/*
 * True if a process of the job may be the one that stopped this end for a while: a helper that is awake or sleeps, or
 * a thread of a rank that runs or makes a long pause. Launchers look at their children now and then.
 */
bool hang_stopper_lives(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitfact_process *stopped = g->node[s->node].process;
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		if (!acts(n) || n->process == stopped || !n->who || n->who->launcher ||
		    is_counterpart(w, n, &g->node[s->node]))
			continue;
		uint64_t sleep_ns = sleeps_for(n);
		bool short_one = n->naps || (sleep_ns > 0 && sleep_ns < pause_least_ns);
		if (!n->who->main || n->end == WAITEND_RUNS || !short_one)
			return true;
	}
	return false;
}

bool hang_stopper_sleeps(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph *g = w->c->graph;
	for (size_t i = 0; s->end == WAITEND_STOPPED && i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		const bool helper = n->thread && n->main && n->who && !n->who->main && !n->who->launcher;
		if (helper && n->process != g->node[s->node].process && n->end == WAITEND_CLOCK && !n->naps &&
		    (sleeps_for(n) == 0 || sleeps_for(n) >= pause_least_ns))
			return true;
	}
	return false;
}

/* True of a server at its door: it looks up now and then whether it is to end, and brings nothing by that. */
static bool is_at_a_door(const struct waitgraph_node *n)
{
	return n->end == WAITEND_VISITOR && n->fact && n->fact->kind == WAITFACT_LISTEN;
}

/* True if it is seen to run Python code, in which looks take longer, and of which variables are known. */
static bool runs_python(const struct hang_work *w, const struct waitgraph_node *n)
{
	const struct stackdump *d = hang_newest(w);
	const struct dump_thread *t = d ? hang_thread_in(d, n->thread->pid, n->thread->tid) : NULL;
	return t && t->has_python;
}

/*
 * True of a main thread that naps and makes no system call in between: it only looks whether memory has changed. One
 * that is awake for longer each time computes, with pauses.
 */
static bool only_looks(const struct hang_work *w, const struct waitgraph_node *n)
{
	return n->main && n->end == WAITEND_CLOCK && n->naps && n->only_sleeps && (n->glances || runs_python(w, n));
}

bool hang_looks_at_memory(const struct hang_work *w, const struct stackgroup_rank *r)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *n = g && r->process ? waitgraph_thread(g, r->process->pid, 0) : NULL;
	return n && only_looks(w, n);
}

/* A rank's main thread, which runs, was not read at a look: it had no processor on which to stop in time. */
static bool was_late(const struct hang_work *w)
{
	for (size_t i = 0; i < w->g.n; i++)
		for (size_t k = 0; w->g.rank[i].main && k < MIN(w->c->n_dumps, HANG_DUMPS); k++) {
			const struct stackgroup_rank *r = &w->g.rank[i];
			const struct dump_thread *t = hang_thread_in(w->c->dumps[k], r->process->pid, r->main->tid);
			if (t && t->n_frames == 0 && t->note[0] && t->wait.kind == WAIT_RUNNING)
				return true;
		}
	return false;
}

void hang_look_again(struct hang_work *w)
{
	static const uint64_t from_ns = 30 * NS_PER_S, until_ns = 150 * NS_PER_S, again_ns = 5 * NS_PER_S;
	const struct waitgraph *g = w->c->graph;
	bool awake = false;
	for (size_t i = 0; g && i < g->n_nodes; i++)
		awake |= g->node[i].main && g->node[i].only_sleeps && g->node[i].end == WAITEND_RUNS;
	awake = (awake && w->standstill_ns >= from_ns) || (w->many && was_late(w));
	if (awake && w->stepping && w->standstill_ns < until_ns)
		w->v->again_ns = w->v->again_ns ? MIN(w->v->again_ns, again_ns) : again_ns;
}

bool hang_looks_in_vain(const struct hang_work *w, const struct stackgroup_rank *r)
{
	if (!w->many || !w->stepping || !hang_looks_at_memory(w, r) || !hang_nobody_acts(w))
		return false;
	if (r->acting && r->acting->has_python && !hang_same_variables(w, r))
		return false;
	const struct dump_frame *call = NULL;
	const bool deserted = waitgraph_thread(w->c->graph, r->process->pid, 0)->deserted;
	return w->n_blocking < w->g.n ? deserted : hang_naps_elsewhere(w, &call) != NULL;
}

/* True if both nap at one place of the program: threads of one kind. */
static bool are_twins(const struct waitgraph_node *a, const struct waitgraph_node *b)
{
	if (!b->thread || !b->naps || b->main || a->thread->nr != b->thread->nr)
		return false;
	if (a->place || b->place)
		return a->place && b->place && strcmp(a->place->text, b->place->text) == 0;
	return strncmp(a->thread->name, b->thread->name, sizeof(a->thread->name)) == 0;
}

/* True of the main thread of a rank, if it is known that it waits, and for no thread of its own. */
static bool waits_elsewhere(const struct waitgraph_node *n)
{
	return n->end == WAITEND_NONE || n->end == WAITEND_NOBODY || n->end == WAITEND_CIRCLE;
}

static bool is_waited_for(const struct waitgraph *g, const struct waitgraph_node *n)
{
	for (size_t i = 0; i < g->n_edges; i++)
		if (&g->node[g->edge[i].to] == n)
			return true;
	return false;
}

/*
 * True of a thread beside the main one that naps, as one of each other rank does at the same place, if nobody waits for
 * it, and each rank (`but` apart) waits for somebody else: a heartbeat, a writer of numbers. None brings what the ranks
 * wait for.
 */
static bool is_service(const struct waitgraph *g, const struct waitgraph_node *of, const struct waitgraph_node *but)
{
	bool has[STACKGROUP_RANKS] = {};
	size_t others = 0;
	if (of->shows)
		return true;
	if (of->main || !of->thread || !of->naps || !of->who || !of->who->main || is_waited_for(g, of))
		return false;
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		if (n->who && n->who->main && n->who->rank >= 0 && n->who->rank < STACKGROUP_RANKS)
			has[n->who->rank] |= n->process == of->process || are_twins(of, n);
	}
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		if (!n->main || !n->who || !n->who->main)
			continue;
		const bool known = n->who->rank >= 0 && n->who->rank < STACKGROUP_RANKS;
		if (!known || !has[n->who->rank] || (n != but && !waits_elsewhere(n)))
			return false;
		others += n->process != of->process;
	}
	return others > 0;
}

/* True unless the thread waits for another one, for a request, or for nobody that is left. */
static bool may_act_alone(const struct hang_work *w, const struct waitgraph_node *n)
{
	/* A node without a thread is somebody outside for whom one waits. */
	if (n->end == WAITEND_GONE || is_at_a_door(n) || only_looks(w, n) || (n->who && n->who->launcher) ||
	    hang_keeps_house(w, n))
		return false;
	switch (n->end) {
	case WAITEND_NONE:
	case WAITEND_NOBODY:
	case WAITEND_CIRCLE:
	case WAITEND_OWN:
	case WAITEND_ANY:
		return n->timed;
	default:
		return true;
	}
}

bool hang_may_act(const struct hang_work *w, const struct waitgraph_node *n)
{
	return may_act_alone(w, n) && !is_service(w->c->graph, n, NULL);
}

bool hang_nobody_acts_but(const struct hang_work *w, const struct waitgraph_node *but)
{
	const struct waitgraph *g = w->c->graph;
	for (size_t i = 0; i < g->n_nodes; i++)
		if (&g->node[i] != but && hang_may_act(w, &g->node[i]))
			return false;
	return true;
}

/* A shell's looks follow upon naps that a child makes for it, none of them longer than this. */
static const uint64_t nap_most_ns = 6 * NS_PER_S;

/* Of a process that makes one short sleep: the one that waits for its end, as a shell does; NULL: nobody. */
static const struct waitgraph_node *napping_for(const struct waitgraph *g, const struct waitgraph_node *n)
{
	const struct waitgraph_node *parent = n->process ? waitgraph_thread(g, n->process->ppid, 0) : NULL;
	const bool nap = n->thread && n->thread->limit_ns > 0 && n->thread->limit_ns <= nap_most_ns;
	for (uint32_t i = 0; parent && nap && i < parent->n_edges; i++) {
		const struct waitgraph_edge *e = &g->edge[parent->first_edge + i];
		if (&g->node[e->to] == n && e->fact && e->fact->kind == WAITFACT_CHILD)
			return parent;
	}
	return NULL;
}

/* True if somebody waits for the end of this process, and for nothing else. */
static bool end_is_waited_for(const struct waitgraph *g, const struct waitgraph_node *of)
{
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		const struct waitgraph_edge *e = n->n_edges == 1 ? &g->edge[n->first_edge] : NULL;
		if (e && &g->node[e->to] == of && e->fact && e->fact->kind == WAITFACT_CHILD)
			return true;
	}
	return false;
}

bool hang_loops_on(const struct hang_work *w, const struct waitgraph_node *n)
{
	const uint64_t tick_ns = NS_PER_S / 100, least_ns = 5 * NS_PER_S;
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *loop = napping_for(g, n);
	if (!loop || !w->stepping || n->process->start_ticks < loop->process->start_ticks)
		return false;
	const uint64_t age_ns = (n->process->start_ticks - loop->process->start_ticks) * tick_ns;
	/* the nap itself began no longer ago than it lasts */
	return age_ns + n->thread->limit_ns > w->standstill_ns + least_ns && end_is_waited_for(g, loop) &&
	       hang_nobody_acts_but(w, n);
}

/* The file that a main thread looks for between naps, or a child's naps; NULL: none. */
static const struct waithint *missing_file(const struct waitgraph *g, const struct waitgraph_node *n)
{
	if (!n->main || n->end != WAITEND_CLOCK)
		return NULL;
	const struct waitgraph_node *looker = napping_for(g, n);
	const struct waithint *h = looker && !n->hint ? looker->hint : n->naps ? n->hint : NULL;
	return h && h->kind == WAITHINT_RETRY && h->missing && !h->held ? h : NULL;
}

/*
 * True of a file of a kind that other processes of the job have made so far, and nobody else, or to which a link points
 * that was made since the job began.
 */
static bool is_jobs_own(const struct hang_work *w, const struct waithint *h)
{
	return h->own_kind || (h->link_old_ns > 0 && h->link_old_ns < w->p->job_age_ns);
}

/*
 * True of a main thread that looks, between naps, for a file that only the job itself would make: a mark of which the
 * others are there, one of a kind that others of the job made so far, or one in a folder that was made since it began.
 */
static bool looks_for_own_file(const struct hang_work *w, const struct waitgraph_node *n)
{
	const struct waithint *h = missing_file(w->c->graph, n);
	const bool new_folder = h && !h->others_folder && h->old_ns > 0 && h->old_ns < w->p->job_age_ns;
	return h && (h->others_there || new_folder || is_jobs_own(w, h));
}

/*
 * True if it looks for a change of a file that other processes of the job have made, and nobody else, or reads a file
 * on from behind its end, of which nothing comes.
 */
static bool watches_own_file(const struct waitgraph_node *n)
{
	const struct waithint *h = n->main && n->end == WAITEND_CLOCK && n->naps ? n->hint : NULL;
	const bool looks = h && h->kind == WAITHINT_RETRY && !h->missing && !h->held && !h->exists && !h->caught;
	return looks && (h->own_kind || h->behind);
}

/*
 * True if nobody acts, but by looking for files that are the job's own to make. Where the file of this one is known to
 * be, others may look for one of which none was made yet, or for a change of one.
 */
static bool nobody_makes(const struct hang_work *w, const struct waitgraph_node *one)
{
	const struct waitgraph *g = w->c->graph;
	const bool known = is_jobs_own(w, one->hint);
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		const struct waithint *other = known ? missing_file(w->c->graph, n) : NULL;
		const bool own = (other && other->own_folder) || (known && watches_own_file(n));
		if (hang_may_act(w, n) && !looks_for_own_file(w, n) && !own)
			return false;
	}
	return true;
}

/* A folder that was made so shortly before the job began was made for it, as by the script that starts it. */
static const uint64_t before_start_ns = 60 * NS_PER_S;

/* True of a file in a folder that is most likely this run's own; somebody outside may write there all the same. */
static bool is_of_this_run(const struct hang_work *w, const struct waithint *h)
{
	return h && !h->others_folder &&
	       (h->own_folder || (h->old_ns > 0 && h->old_ns < w->p->job_age_ns + before_start_ns));
}

static bool looks_for_file_of_run(const struct hang_work *w, const struct waitgraph_node *n)
{
	return is_of_this_run(w, missing_file(w->c->graph, n)) || looks_for_own_file(w, n);
}

/*
 * True if it waits for one that looks so, and for nobody else, within a limit that has been over several times: it asks
 * again each time.
 */
static bool asks_a_looker(const struct hang_work *w, const struct waitgraph_node *n)
{
	const uint64_t least = 4;
	const struct waitgraph *g = w->c->graph;
	const uint64_t limit_ns = n->thread ? MAX(n->thread->limit_ns, n->thread->left_ns) : 0;
	if (n->n_edges == 0 || limit_ns == 0 || limit_ns > w->standstill_ns / least)
		return false;
	for (uint32_t i = 0; i < n->n_edges; i++)
		if (!looks_for_file_of_run(w, &g->node[g->edge[n->first_edge + i].to]))
			return false;
	return true;
}

bool hang_end_awaits_file_of_run(const struct hang_work *w, const struct waitgraph_node *n)
{
	const struct waitgraph *g = w->c->graph;
	if (!w->stepping || !is_of_this_run(w, missing_file(g, n)))
		return false;
	for (size_t i = 0; i < g->n_nodes; i++)
		if (hang_may_act(w, &g->node[i]) && !looks_for_file_of_run(w, &g->node[i]) &&
		    !asks_a_looker(w, &g->node[i]))
			return false;
	return true;
}

bool hang_end_awaits_own_file(const struct hang_work *w, const struct waitgraph_node *n)
{
	const struct waithint *h = missing_file(w->c->graph, n);
	return h && w->stepping && is_jobs_own(w, h) && nobody_makes(w, n);
}

/* The main thread of a rank; NULL: unknown. */
static const struct waitgraph_node *main_thread(const struct hang_work *w, const struct stackgroup_rank *r)
{
	return w->c->graph && r->process ? waitgraph_thread(w->c->graph, r->process->pid, 0) : NULL;
}

bool hang_awaits_file_of_run(const struct hang_work *w, const struct stackgroup_rank *r)
{
	const struct waitgraph_node *n = main_thread(w, r);
	return n && (w->many || hang_all_nap(w)) && hang_end_awaits_file_of_run(w, n);
}

bool hang_looks_in_circle(const struct hang_work *w, const struct stackgroup_rank *r)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *one = main_thread(w, r);
	const struct waithint *h = one ? missing_file(g, one) : NULL;
	size_t watch = 0;
	if (!h || !h->own_folder || w->many || !w->stepping)
		return false;
	for (size_t i = 0; i < g->n_nodes; i++) {
		const bool watches = watches_own_file(&g->node[i]);
		watch += watches;
		if (&g->node[i] != one && !watches && hang_may_act(w, &g->node[i]))
			return false;
	}
	return watch > 0;
}

bool hang_ranks_make_none(const struct hang_work *w, const struct stackgroup_rank *r)
{
	/* where steps are known hang_knows_maker says more, of one rank alone */
	const struct waitgraph_node *n = w->many && !w->stepping ? main_thread(w, r) : NULL;
	for (size_t i = 0; n && i < w->g.n; i++) {
		const struct waitgraph_node *x = main_thread(w, &w->g.rank[i]);
		const struct waithint *h = x ? missing_file(w->c->graph, x) : NULL;
		if (!h || !is_jobs_own(w, h))
			return false; /* a service that keeps times may look for a word to end between its naps */
	}
	return n && nobody_makes(w, n);
}

bool hang_knows_maker(const struct hang_work *w, const struct stackgroup_rank *r)
{
	const struct waitgraph_node *n = main_thread(w, r);
	return n && hang_end_awaits_own_file(w, n);
}

bool hang_awaits_own_file(const struct hang_work *w, const struct stackgroup_rank *r)
{
	const struct waitgraph_node *n = main_thread(w, r);
	if (!n || !w->stepping)
		return false;
	if (hang_looks_in_circle(w, r))
		return true;
	if (!looks_for_own_file(w, n))
		return false;
	return (w->many || is_jobs_own(w, n->hint) || hang_dead_beside(w, r)) && nobody_makes(w, n);
}

/* True of a main thread that looks, between naps, whether a file is gone whose maker cannot remove it any more. */
static bool asks_for_orphan(const struct waitgraph_node *n)
{
	const struct waithint *h = n->main && n->end == WAITEND_CLOCK && n->naps ? n->hint : NULL;
	return h && h->kind == WAITHINT_RETRY && h->orphan;
}

bool hang_awaits_orphan(const struct hang_work *w, const struct stackgroup_rank *r)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *one = main_thread(w, r);
	if (!one || !w->stepping || !asks_for_orphan(one))
		return false;
	for (size_t i = 0; i < g->n_nodes; i++)
		if (hang_may_act(w, &g->node[i]) && !asks_for_orphan(&g->node[i]))
			return false;
	return true;
}

/* True of a child of this process, for whose end it has not asked, that failed when the job came to a stand. */
static bool child_failed_then(const struct hang_work *w, const struct waitgraph_node *of)
{
	const struct waitgraph *g = w->c->graph;
	const struct liveness *l = hang_left_then(w);
	for (size_t i = 0; l && i < g->n_nodes; i++) {
		const struct waitfact_process *p = g->node[i].process;
		if (p && g->node[i].main && p->pid == l->seen.last_gone.pid && p->ppid == of->process->pid)
			return p->state == 'Z' && p->has_exit && p->exit_status != 0;
	}
	return false;
}

/* True of the child of another rank's main process that naps: it makes that rank's files, not this one's. */
static bool is_helper_of_another(const struct waitgraph *g, const struct waitgraph_node *n,
				 const struct waitgraph_node *one)
{
	if (!n->naps || !n->main || !n->who || n->who->main || n->who->rank == NO_RANK || !one->who ||
	    one->who->rank == NO_RANK || n->who->rank == one->who->rank)
		return false;
	const struct waitgraph_node *parent = waitgraph_thread(g, n->process->ppid, 0);
	return parent && parent->who && parent->who->main && parent->who->rank == n->who->rank;
}

bool hang_awaits_file_of_failed(const struct hang_work *w, const struct stackgroup_rank *r)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *n = g && r->process ? waitgraph_thread(g, r->process->pid, 0) : NULL;
	const struct waithint *h = n ? n->hint : NULL;
	if (!h || h->kind != WAITHINT_RETRY || !h->missing || h->held || !n->naps || !w->stepping ||
	    !child_failed_then(w, n))
		return false;
	for (size_t i = 0; i < g->n_nodes; i++)
		if (&g->node[i] != n && may_act_alone(w, &g->node[i]) && !is_service(g, &g->node[i], n) &&
		    !is_helper_of_another(g, &g->node[i], n))
			return false;
	return true;
}

bool hang_nobody_acts(const struct hang_work *w)
{
	return hang_nobody_acts_but(w, NULL);
}

bool hang_all_wait_in_circle(const struct hang_work *w)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_sink *s = g && g->n_sinks > 0 ? &g->sink[0] : NULL;
	return s && s->end == WAITEND_CIRCLE && s->all_wait && w->many && w->stepping && !hang_steps_are(w, true) &&
	       hang_nobody_acts(w);
}

bool hang_none_could_bring(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitfact *f = w->c->graph->node[s->node].fact;
	const bool pipe = f && f->kind == WAITFACT_PIPE;
	return w->stepping && hang_nobody_acts(w) && (!pipe || hang_left_then(w));
}

bool hang_looks_alone(const struct hang_work *w, const struct stackgroup_rank *r)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *one = g && r->process ? waitgraph_thread(g, r->process->pid, 0) : NULL;
	if (!one || w->many || !w->stepping || !only_looks(w, one) || runs_python(w, one) || !hang_nobody_acts(w))
		return false;
	for (size_t i = 0; i < g->n_nodes; i++)
		if (&g->node[i] != one && only_looks(w, &g->node[i]))
			return false;
	return true;
}

/*
 * In Python a loop up to a time of its own has the same variables at each look as well, and is usual: it counts after
 * the time that any loop of naps has.
 */
static bool looks_in_python(const struct hang_work *w, const struct waitgraph_node *n)
{
	static const uint64_t python_ns = 2 * 60 * NS_PER_S;
	if (w->standstill_ns < python_ns)
		return false;
	for (size_t i = 0; i < w->g.n; i++)
		if (w->g.rank[i].process && w->g.rank[i].process->pid == n->thread->pid)
			return hang_same_variables(w, &w->g.rank[i]);
	return false;
}

size_t hang_all_look(const struct hang_work *w)
{
	const struct waitgraph *g = w->c->graph;
	size_t n = 0;
	if (!g || !w->stepping || !hang_nobody_acts(w))
		return 0;
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *x = &g->node[i];
		if (!x->thread || x->thread->ended || !only_looks(w, x))
			continue;
		if (!x->beside_nap || (runs_python(w, x) && !looks_in_python(w, x)))
			return 0;
		n++;
	}
	return n > 1 ? n : 0;
}

void hang_all_look_says(struct hang_work *w)
{
	const size_t most = 4; /* that are named */
	const struct waitgraph *g = w->c->graph;
	char list[400], who[160];
	struct buf b = {.text = list, .cap = sizeof(list)};
	size_t n = 0;
	buf_reset(&b);
	for (uint32_t i = 0; i < g->n_nodes && n < most; i++) {
		const struct waitgraph_node *x = &g->node[i];
		if (!x->thread || x->thread->ended || !only_looks(w, x))
			continue;
		waitgraph_who_text(g, i, who, sizeof(who));
		buf_printf(&b, "%s%s", n ? ", " : "", who);
		n++;
	}
	hang_says(w, "All that does not wait looks at memory that it shares, between naps, and calls nothing else: %s.",
		  list);
	hang_says(w, "Nobody is left who changes that, so each waits for another one of them.");
}

static bool has_twin(const struct waitgraph *g, const struct waitgraph_node *of, const struct waitfact_process *in)
{
	for (size_t i = 0; i < g->n_nodes; i++)
		if (g->node[i].process == in && are_twins(of, &g->node[i]))
			return true;
	return false;
}

/* True if each other rank, none of which waits for a thread of its own, has such a thread, which naps there as well. */
static bool in_all_others(const struct waitgraph *g, const struct waitgraph_node *of)
{
	size_t others = 0;
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		if (!n->main || !n->who || !n->who->main || n->process == of->process)
			continue;
		if (n->end == WAITEND_OWN || !has_twin(g, of, n->process))
			return false;
		others++;
	}
	return others > 0;
}

bool hang_worker_beside(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *end = &g->node[s->node];
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		bool acts = n->end == WAITEND_RUNS || (n->end == WAITEND_CLOCK && !n->naps);
		if (n->thread && n->process == end->process && n != end && acts)
			return true;
	}
	return false;
}

static bool is_below(const struct waitgraph *g, const struct waitfact_process *p, pid_t pid)
{
	const int generations_most = 8; /* a number that was used again could make a circle */
	for (int k = 0; p && k < generations_most; k++) {
		if (p->ppid == pid)
			return true;
		const struct waitgraph_node *parent = waitgraph_thread(g, p->ppid, 0);
		p = parent ? parent->process : NULL;
	}
	return false;
}

bool hang_sleeper_below(const struct hang_work *w, pid_t pid)
{
	const struct waitgraph *g = w->c->graph;
	for (size_t i = 0; g && i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		if (n->thread && n->main && n->end == WAITEND_CLOCK && !n->naps && is_below(g, n->process, pid))
			return true;
	}
	return false;
}

/*
 * A main thread waits for another thread of its own, and all that are alive there show how far it is, or only nap:
 * heartbeats, which the other ranks have as well, at the same place, while these do not wait for a thread. Nobody then
 * makes what it waits for.
 */
bool hang_only_services_beside(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *end = &g->node[s->node];
	if (!w->stepping || !end->main)
		return false;
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		if (!n->thread || n->process != end->process || n == end || n->dead || n->end == WAITEND_GONE)
			continue;
		if (!n->shows && (!w->many || !n->naps || !in_all_others(g, n)))
			return false;
	}
	return true;
}

bool hang_by_design(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitfact *f = g->node[s->node].fact;
	if (w->many || w->stepping)
		return false;
	if (s->end == WAITEND_VISITOR && f && f->kind == WAITFACT_CHANGE)
		return true;
	if (s->end != WAITEND_CLOCK)
		return false;
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		const struct waitgraph_edge *e = n->n_edges == 1 ? &g->edge[n->first_edge] : NULL;
		if (e && e->to == s->node && e->fact && e->fact->kind == WAITFACT_CHILD)
			return true;
	}
	return false;
}

/* Of a rank that circles: it computes nothing, and looks for a change that somebody else has to make. */
bool hang_same_variables(const struct hang_work *w, const struct stackgroup_rank *r)
{
	const struct dump_frame *top = r->acting ? hang_own_top(r->acting) : NULL;
	for (size_t i = 0; top && i < MIN(w->c->n_dumps, HANG_DUMPS); i++) {
		const struct dump_frame *f = hang_own_top_at(w->c->dumps[i], r);
		if (!f || f->state != top->state)
			return false;
	}
	return top && top->state != 0;
}
