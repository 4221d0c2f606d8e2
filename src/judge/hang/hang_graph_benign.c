/* What the graph of waits excuses: the work or the sleep that the others wait for, and limits. */
#include <signal.h>
#include <string.h>

#include "base/units.h"
#include "judge/hang/hang_parts.h"
#include "judge/hang/hang_store.h"

/* Work and sleep beside a rank are looked at again after this time. */
static const uint64_t beside_again_ns = 30 * NS_PER_S;
/* The same, and for how long, of an end that a look has met awake by chance. */
static const uint64_t awake_again_ns = 5 * NS_PER_S, awake_most_ns = 150 * NS_PER_S;
/* So long may a process or thread beside the ranks sleep, be it once or in a loop, or be stopped, while they wait. */
static const uint64_t side_sleep_ns = 2 * 60 * NS_PER_S, side_stop_ns = 75 * NS_PER_S;
/* A rank that waits for another thread of its own, which lives, may be waiting for its work. */
static const uint64_t own_thread_ns = 80 * NS_PER_S;
/* The same where the threads of its own are only services, and of a stop where nobody in the job could end it. */
static const uint64_t own_services_ns = 30 * NS_PER_S, nobodys_stop_ns = 25 * NS_PER_S;
/* A rank that only wakes up now and then counts as working for this long. */
static const uint64_t runs_ns = 5 * 60 * NS_PER_S;

/*
 * In a job of steps a time limit of half an hour or more says nothing of how long its wait usually takes. It is an
 * excuse for so long, or for the time of so many steps, where somebody outside may end the wait. Within the job it
 * is one for as long as a loop that looks has: who of it may end the wait has an excuse of its own.
 */
static const uint64_t long_limit_ns = 30 * 60 * NS_PER_S, long_limit_excuse_ns = 90 * NS_PER_S;
static const double long_limit_steps = 60;

/* How long something may last that healthy programs do as well; a time that was given holds. */
static uint64_t patience(const struct hang_work *w, uint64_t usual_ns)
{
	return w->s->has_after ? MIN(usual_ns, w->s->after_ns) : usual_ns;
}

bool hang_outlasts_helpers(struct hang_work *w)
{
	const uint64_t sleep_ns = patience(w, MIN(hang_time(w->s->sleep_ns, HANG_SLEEP_NS), side_sleep_ns));
	if (w->standstill_ns < sleep_ns)
		w->v->again_ns = sleep_ns - w->standstill_ns;
	return w->standstill_ns >= sleep_ns;
}

/*
 * True of an end that took next to no processor between the looks, though the last one met it awake: a loop of naps, as
 * it seems, of which another look may see what it looks for. For a while it is looked at often.
 */
static bool met_awake(const struct hang_work *w, const struct waitgraph_sink *s)
{
	return w->stepping && s->end == WAITEND_RUNS && w->c->graph->node[s->node].light &&
	       w->standstill_ns < awake_most_ns;
}

static bool benign_end(struct hang_work *w, const struct waitgraph_sink *s, const char *id, const char *why,
		       uint64_t most_ns)
{
	char way[300];
	w->v->kind = HANG_NONE;
	w->v->benign = true;
	TEXT_COPY(w->v->id, id);
	waitgraph_way_text(w->c->graph, s, way, sizeof(way));
	hang_says(w, "%s: %s", why, way);
	w->v->again_ns = met_awake(w, s) ? awake_again_ns : beside_again_ns;
	if (most_ns > 0)
		w->v->again_ns = MIN(w->v->again_ns, MAX(sub_floor(most_ns, w->standstill_ns), NS_PER_S));
	return true;
}

/*
 * How long after its beginning the standstill may last by the limit of a call; 0: it has none, or it is unknown. A
 * sleep is no limit, and a limit that ends later than the one before is that of another call: a loop.
 */
static uint64_t limit_of_call(struct hang_work *w, const struct waitgraph_node *n)
{
	if (n->calls && n->hint) /* it wakes up more often than the call may last */
		return MAX(n->hint->limit_ns, n->hint->left_ns ? w->standstill_ns + n->hint->left_ns : 0);
	if (!n->thread || !n->timed || !n->fact || n->fact->kind == WAITFACT_CLOCK)
		return 0;
	uint64_t until_ns = n->thread->left_ns ? w->p->now_ns + n->thread->left_ns : 0;
	w->v->limit_until_ns = MAX(w->v->limit_until_ns, until_ns);
	if (until_ns > 0 && w->m->limit_until_ns > 0 && until_ns > w->m->limit_until_ns + NS_PER_S)
		return 0;
	return MAX(n->thread->limit_ns, until_ns ? w->standstill_ns + n->thread->left_ns : 0);
}

bool hang_end_is_main(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph_node *n = &w->c->graph->node[s->node];
	return n->main && n->who && n->who->main;
}

/*
 * The longest limit within which main processes wait for an end beside them that sleeps or is stopped: they go on by
 * themselves, whatever that one does. 0: one of them has none.
 */
static uint64_t limit_of_waiters(struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph *g = w->c->graph;
	uint64_t limit_ns = 0;
	if ((s->end != WAITEND_CLOCK && s->end != WAITEND_STOPPED) || hang_end_is_main(w, s))
		return 0;
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		bool waits = false;
		for (uint32_t k = 0; k < n->n_edges; k++)
			waits |= g->edge[n->first_edge + k].to == s->node;
		if (!waits || !n->main || !n->who || !n->who->main)
			continue;
		uint64_t one_ns = limit_of_call(w, n);
		if (one_ns == 0)
			return 0;
		limit_ns = MAX(limit_ns, one_ns);
	}
	return limit_ns;
}

/* The longest of the time limits of the waits at the end, or for it; 0: none, or unknown. */
static uint64_t limit_of(struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *end = &g->node[s->node];
	uint64_t limit_ns = MAX(limit_of_call(w, end), limit_of_waiters(w, s));
	/* A server that waits for its visitors ends no wait by itself: the limit of who waits for it does. */
	bool serves = s->end == WAITEND_VISITOR && !hang_end_is_main(w, s);
	for (size_t i = 0; i < g->n_nodes && s->end == WAITEND_CIRCLE; i++) /* any of them may end the circle */
		if (g->node[i].thread && g->node[i].component == end->component)
			limit_ns = MAX(limit_ns, limit_of_call(w, &g->node[i]));
	for (size_t i = 0; i < g->n_nodes && (!end->thread || serves); i++) {
		const struct waitgraph_node *n = &g->node[i];
		for (uint32_t k = 0; k < n->n_edges; k++)
			if (g->edge[n->first_edge + k].to == s->node)
				limit_ns = MAX(limit_ns, limit_of_call(w, n));
	}
	return limit_ns;
}

/*
 * True where the waiting ends at threads of the job that wait as well, and nobody outside is known to come into it, as
 * ranks on other machines do.
 */
static bool ends_within_job(const struct hang_work *w, const struct waitgraph_sink *s)
{
	if (hang_world_size(w) > w->g.n)
		return false;
	switch (s->end) {
	case WAITEND_NONE:
	case WAITEND_NOBODY:
	case WAITEND_OWN:
	case WAITEND_CIRCLE:
		return true;
	case WAITEND_VISITOR: /* a request to a server of the job comes from the job, as a rule */
		return !hang_end_is_main(w, s);
	default:
		return false;
	}
}

/* For how much of a time limit nothing is told. */
static uint64_t excused_of(const struct hang_work *w, const struct waitgraph_sink *s, uint64_t limit_ns)
{
	if (!w->stepping || limit_ns < long_limit_ns)
		return limit_ns + limit_ns / 8 + NS_PER_S;
	if (ends_within_job(w, s))
		return patience(w, MIN(limit_ns, hang_looks_most_ns(w)));
	return patience(w, MIN(limit_ns, MAX(long_limit_excuse_ns, hang_gap_times(w->gap_ns, long_limit_steps))));
}

/* The wait may end by itself, but only after a time that costs more than a look by a person. */
void hang_limit_says(struct hang_work *w, const struct waitgraph_sink *s)
{
	char left[24], ago[24];
	const uint64_t limit_ns = limit_of(w, s);
	if (limit_ns <= w->standstill_ns)
		return;
	w->v->confidence = MIN(w->v->confidence, CONFIDENCE_MEDIUM);
	hang_says(w, "This wait has a time limit, which is over in %s; no step was made for %s.",
		  duration_format(limit_ns - w->standstill_ns, left), duration_format(w->standstill_ns, ago));
}

/* No stack of a thread shows that a goroutine sleeps. */
static bool goroutine_sleeps(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph_node *n = &w->c->graph->node[s->node];
	return s->end == WAITEND_CLOCK && n->thread && n->thread->goroutine;
}

/* True for an event loop with nothing to wait for but its timers: a sleep, which no stack shows. */
static bool by_timer(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph_node *n = &w->c->graph->node[s->node];
	return n->timed && n->fact && n->fact->kind != WAITFACT_CLOCK;
}

/*
 * True if nothing of a job that has made steps is at work but threads that wake up all the time and do next to nothing,
 * as event loops with timers do. Who sleeps, or may be brought something, may be who the others wait for. Unlike
 * hang_only_ticks it asks nothing of what the loops may look at, and shortens no more than a helper's half hour.
 */
static bool all_wait_or_tick(const struct hang_work *w)
{
	const struct waitgraph *g = w->c->graph;
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		const bool ticks = n->light || n->naps || (n->who && n->who->launcher);
		const bool waits = n->end == WAITEND_NONE || n->end == WAITEND_NOBODY || n->end == WAITEND_OWN ||
				   n->end == WAITEND_ANY || n->end == WAITEND_CIRCLE || n->end == WAITEND_GONE ||
				   n->end == WAITEND_VISITOR;
		if (!ticks && !waits)
			return false;
	}
	return w->stepping;
}

/*
 * True if the end runs, and is not one whose processor time says more (hang_busy): a process beside the ranks, for as
 * long as a checkpoint may take, or a rank that wakes up now and then, as one that receives a little at a time.
 */
static bool runs_along(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const double busy_cores = 0.2;
	const struct waitgraph_node *n = &w->c->graph->node[s->node];
	const uint64_t checkpoint_ns = hang_time(w->s->checkpoint_ns, HANG_CHECKPOINT_NS);
	const uint64_t beside_ns = all_wait_or_tick(w) ? MIN(runs_ns, checkpoint_ns) : checkpoint_ns;
	if (!hang_end_is_main(w, s))
		return w->standstill_ns < patience(w, beside_ns);
	const struct stackgroup_rank *r = stackgroups_find(&w->g, n->who->rank);
	return w->standstill_ns < patience(w, runs_ns) && (!r || r->cores + hang_queues(w, r->rank) < busy_cores);
}

/* True if a thread of the same process waits for the end by habit alone. */
static bool is_habit_of_own(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph *g = w->c->graph;
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		const struct waitgraph_edge *e = n->n_edges == 1 ? &g->edge[n->first_edge] : NULL;
		if (e && e->to == s->node && n->usual && e->hint == n->usual && n->process == g->node[s->node].process)
			return true;
	}
	return false;
}

/* True of a thread of a server that waits for visitors, while others of it may be at work on what has come. */
static bool is_a_door(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph_node *n = &w->c->graph->node[s->node];
	return s->end == WAITEND_VISITOR && n->thread && n->fact && n->fact->kind == WAITFACT_LISTEN;
}

static bool runs_at_a_door(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph *g = w->c->graph;
	for (size_t i = 0; is_a_door(w, s) && i < g->n_nodes; i++)
		if (g->node[i].thread && g->node[i].process == g->node[s->node].process &&
		    g->node[i].end == WAITEND_RUNS)
			return true;
	return false;
}

/* A thread that works, waits for somebody outside, or has slept for long and goes on with that. */
static bool may_work(const struct waitgraph_node *n)
{
	const uint64_t long_ns = 60 * NS_PER_S;
	if (n->end == WAITEND_CLOCK)
		return !n->naps && MAX(n->thread->limit_ns, n->thread->left_ns) >= long_ns;
	return n->end == WAITEND_RUNS || n->end == WAITEND_OUTSIDE || n->end == WAITEND_STORAGE;
}

/* True if another thread of this one's process, which is a helper's and only wakes up now and then, may be at work. */
static bool one_works_beside(const struct hang_work *w, const struct waitgraph_node *end)
{
	const struct waitgraph *g = w->c->graph;
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		if (n->thread && n != end && n->process == end->process && n->end != WAITEND_RUNS && may_work(n))
			return true;
	}
	return false;
}

/* True of a circle of which no arrow is more than possible, if a thread beside those in it may be at work. */
static bool vague_beside_one_at_work(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph *g = w->c->graph;
	if (w->many || s->end != WAITEND_CIRCLE || s->dead || s->circle != WAITGRAPH_POSSIBLE)
		return false;
	for (size_t i = 0; i < g->n_nodes; i++)
		if (g->node[i].component == g->node[s->node].component && g->node[i].process &&
		    one_works_beside(w, &g->node[i]))
			return true;
	return false;
}

/*
 * True if the thread of its own that the main one waits for may be an event loop, which wakes up all the time, and
 * hears of children of the process, one of whom may be at work: so the client of a pool of processes waits.
 */
static bool hears_of_a_child_at_work(const struct hang_work *w, const struct waitgraph_node *end)
{
	const struct waitgraph *g = w->c->graph;
	bool loop = false, works = false;
	for (size_t i = 0; i < g->n_nodes && end->main; i++) {
		const struct waitgraph_node *n = &g->node[i];
		if (!n->thread || n->shows)
			continue;
		loop |= n->process == end->process && n != end && (n->naps || n->light);
		works |= n->process->ppid == end->process->pid && may_work(n);
	}
	return loop && works;
}

/*
 * True if another thread of the end's process sleeps, or waits, for longer than the job has stood still: it may be the
 * one that wakes the others. One that has woken up since is a heartbeat; of a call that names the end of its wait it is
 * not known when it began, so one that has long to go counts, and so does a sleep that names its length of half a
 * minute or more.
 */
static bool sleeps_beside(const struct hang_work *w, const struct waitgraph_node *end)
{
	const uint64_t long_ns = 6 * NS_PER_S, length_ns = 30 * NS_PER_S;
	const struct waitgraph *g = w->c->graph;
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		if (!n->thread || n->process != end->process || n->component == end->component || n->naps || n->shows ||
		    hang_keeps_house(w, n))
			continue;
		const bool sleeps = n->end == WAITEND_CLOCK && n->fact && n->fact->kind == WAITFACT_CLOCK;
		const uint64_t least_ns = sleeps && n->thread->left_ns == 0 ? MIN(length_ns, w->standstill_ns)
									    : w->standstill_ns;
		const bool endless = n->end == WAITEND_CLOCK && n->thread->limit_ns == 0;
		if (n->thread->limit_ns > least_ns || n->thread->left_ns > long_ns || endless)
			return true;
	}
	return false;
}

/*
 * True if a thread in the end, a circle of one process, waits within a limit, and has woken up by that since the job
 * stands: what it looks at then, or how often it does, may end the waits.
 */
static bool looks_within(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph *g = w->c->graph;
	for (size_t i = 0; s->end == WAITEND_CIRCLE && s->one_process && i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		/* who waits for a call looks for its answer so, whatever else it does */
		const bool waits = n->thread && n->timed && !n->calls && !n->handles && n->fact &&
				   n->fact->kind == WAITFACT_FUTEX;
		const uint64_t limit_ns = waits ? MAX(n->thread->limit_ns, n->thread->left_ns) : 0;
		if (limit_ns > 0 && limit_ns < w->standstill_ns && n->component == g->node[s->node].component)
			return true;
	}
	return false;
}

/*
 * True if one of a circle, or whoever comes to an end that nobody brings, waits for the end of somebody whom a process
 * that acts may end: a helper's, as no rank is ended so. Who waits for a message of another program would be told then
 * that it has failed. Of a Go program it is not known whether a timer of it ends the child, as a context's limit does.
 */
bool hang_is_spared(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph *g = w->c->graph;
	const bool circle = s->end == WAITEND_CIRCLE;
	bool helper = false, spared = false;
	if (!circle && s->end != WAITEND_NOBODY && s->end != WAITEND_GONE && s->end != WAITEND_OWN)
		return false;
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		const bool within = n->component == g->node[s->node].component;
		helper |= within && n->who && !n->who->main;
		const bool message = n->fact && n->fact->kind == WAITFACT_TCP;
		const bool limits = n->thread && n->thread->goroutine && n->fact && n->fact->kind == WAITFACT_CHILD;
		const bool meant = circle ? within : n->sink == (uint32_t)(s - g->sink);
		spared |= meant && (n->spared || limits) && !n->dead && !message;
	}
	return helper && spared;
}

/* What is written to a pipe is to be read: who does not read it is no less stuck for it that somebody may end it. */
static bool writes_within(const struct waitgraph *g, const struct waitgraph_sink *s)
{
	for (size_t i = 0; i < g->n_nodes; i++)
		if (g->node[i].component == g->node[s->node].component && g->node[i].fact && g->node[i].fact->to_write)
			return true;
	return false;
}

/* True if a child, or one of a child's, makes a long sleep, and its process is told of its end by a signal. */
static bool hears_of_a_sleeper(const struct hang_work *w, const struct waitfact_process *p)
{
	const struct waitgraph *g = w->c->graph;
	for (size_t i = 0; (p->handled >> (SIGCHLD - 1) & 1) && i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		if (!n->thread || !n->main || n->end != WAITEND_CLOCK || n->naps || (n->who && n->who->main))
			continue;
		const struct waitgraph_node *parent = waitgraph_thread(g, n->process->ppid, 0);
		if (n->process->ppid == p->pid || (parent && parent->process && parent->process->ppid == p->pid))
			return true;
	}
	return false;
}

/* True of a circle of which one hears of a child that sleeps, as a server of terminals does. */
static bool hears_within(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph *g = w->c->graph;
	for (size_t i = 0; s->end == WAITEND_CIRCLE && !s->dead && i < g->n_nodes; i++)
		if (g->node[i].component == g->node[s->node].component && g->node[i].main && g->node[i].process &&
		    hears_of_a_sleeper(w, g->node[i].process))
			return true;
	return false;
}

/* True if who waits for the end of a helper that sleeps has another thread with a time of its own, to end it then. */
static bool may_be_ended_within(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *end = &g->node[s->node];
	for (size_t i = 0; s->end == WAITEND_CLOCK && i < g->n_nodes; i++)
		for (uint32_t k = 0; k < g->node[i].n_edges; k++) {
			const struct waitgraph_edge *e = &g->edge[g->node[i].first_edge + k];
			if (&g->node[e->to] == end && e->fact && e->fact->kind == WAITFACT_CHILD &&
			    sleeps_beside(w, &g->node[i]))
				return true;
		}
	return false;
}

bool hang_may_be_woken(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph_node *end = &w->c->graph->node[s->node];
	if (may_be_ended_within(w, s))
		return true;
	if (!s->holds && ((hang_is_spared(w, s) && !writes_within(w->c->graph, s)) || hears_within(w, s)))
		return true;
	if (s->dead || !end->thread || end->thread->goroutine)
		return false;
	if (!s->one_process)
		return hang_awaits_signal(w, s);
	/* a thread that takes the signals of its process, and tells the main one */
	if (s->end == WAITEND_VISITOR && !end->main && end->fact && end->fact->kind == WAITFACT_SIGNAL)
		return s->n_followers == 1 && waitgraph_end_of(w->c->graph, end->process->pid) == s;
	if (hang_awaits_signal(w, s) || (end->process && end->process->has_timers))
		return true;
	const bool vague = s->end == WAITEND_OWN || (s->end == WAITEND_CIRCLE && s->circle < WAITGRAPH_PROOF);
	return looks_within(w, s) || (vague && sleeps_beside(w, end));
}

static bool is_asleep(const struct waitgraph_node *n)
{
	return n->end == WAITEND_CLOCK && !n->naps;
}

/* True of a thread that waits for the answer of somebody who is none of the job. */
static bool waits_outside(const struct waitgraph *g, const struct waitgraph_node *n)
{
	bool outside = n->end == WAITEND_OUTSIDE;
	for (uint32_t i = 0; i < n->n_edges && !n->dead; i++)
		outside |= g->node[g->edge[n->first_edge + i].to].end == WAITEND_OUTSIDE;
	return outside;
}

bool hang_sleeper_may_come(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *end = &g->node[s->node];
	bool sleeper = false, other = false;
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		const bool helper = n->thread && n->main && !(n->who && (n->who->main || n->who->launcher));
		other |= helper && n->process != end->process && (waits_outside(g, n) || is_asleep(n));
		/* who starts what has failed anew mostly pauses before */
		const bool starter = n->thread && n->who && n->who->launcher && hang_rank_left_then(w);
		sleeper |= (helper && waits_outside(g, n)) || ((helper || starter) && is_asleep(n));
	}
	const bool own = end->process && waitgraph_end_of(g, end->process->pid) == s;
	const bool may = other || (sleeper && (own || hang_end_is_main(w, s)));
	return may && s->end == WAITEND_VISITOR && !end->dead_within;
}

/*
 * How long this excuse lasts: ticks_ns, if it would last longer, and nothing of the job goes on but clocks of its own.
 * What is told earlier by that alone is low, as one of them may count how often it wakes up.
 */
static uint64_t at_most(struct hang_work *w, uint64_t excuse_ns, uint64_t ticks_ns)
{
	if (excuse_ns <= ticks_ns || !hang_only_ticks(w))
		return excuse_ns;
	w->by_ticks |= w->standstill_ns >= ticks_ns && w->standstill_ns < excuse_ns;
	return ticks_ns;
}

/*
 * True if it asks again and again, between naps of whatever length, whether a process is there that waits for it in
 * turn, while nobody else acts.
 */
static bool asks_for_a_waiter(const struct hang_work *w, const struct waitgraph_node *n)
{
	const struct waitgraph *g = w->c->graph;
	const pid_t pid = n->hint && n->hint->kind == WAITHINT_RETRY && !n->hint->missing ? n->hint->owner_pid : 0;
	const bool asks = pid && n->end == WAITEND_CLOCK && w->stepping;
	const struct waitgraph_sink *s = asks ? waitgraph_end_of(g, pid) : NULL;
	return s && &g->node[s->node] == n && hang_nobody_acts_but(w, n);
}

/*
 * How long a nap is an excuse: less than sleep_ns where it looks for a file that is this run's own to make, for the end
 * of a process that waits for it, or belongs to a loop that was there before the standstill. What is told earlier by
 * that alone is low.
 */
static uint64_t sleep_of_loop(struct hang_work *w, const struct waitgraph_node *n, uint64_t sleep_ns)
{
	const uint64_t most_ns = patience(w, hang_looks_most_ns(w));
	const bool file = sleep_ns > most_ns && hang_end_awaits_file_of_run(w, n);
	const bool loop = sleep_ns > most_ns && !file && hang_loops_on(w, n);
	const bool asks = sleep_ns > most_ns && !file && !loop && asks_for_a_waiter(w, n);
	w->by_file |= file && w->standstill_ns < sleep_ns;
	w->by_loop |= loop && w->standstill_ns < sleep_ns;
	w->by_pid |= asks && w->standstill_ns < sleep_ns;
	return file || loop || asks ? most_ns : sleep_ns;
}

/* True of a process beside the ranks that is in one long sleep, whatever the names of the ranks' calls say. */
static bool is_helper_asleep(const struct hang_work *w, const struct waitgraph_sink *s)
{
	return s->end == WAITEND_CLOCK && !hang_end_is_main(w, s) && is_asleep(&w->c->graph->node[s->node]);
}

/*
 * True of a job without steps, and of one main process, that waits for the end of helpers alone, where it comes to a
 * helper at a door: so a server's master waits for its workers. The end of a process shows in a pipe as well.
 */
static bool masters_a_server(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *end = &g->node[s->node];
	bool masters = false;
	if (w->stepping || w->counting || w->many || !is_a_door(w, s) || !end->main || hang_end_is_main(w, s))
		return false;
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		if (!n->main || !n->who || !n->who->main || n->process == end->process)
			continue;
		for (uint32_t k = 0; k < n->n_edges; k++) {
			const struct waitgraph_edge *e = &g->edge[n->first_edge + k];
			const bool by_end = e->fact && !e->fact->to_write &&
					    (e->fact->kind == WAITFACT_CHILD || e->fact->kind == WAITFACT_PIPE);
			const struct waitfact_process *to = g->node[e->to].process;
			if (!by_end || !to || to->ppid != n->process->pid)
				return false;
			masters |= to == end->process;
		}
	}
	return masters;
}

/* How long a helper may have slept: no longer than its process lives. What naps begins anew all the time. */
static uint64_t slept_ns(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const uint64_t long_ns = 30 * NS_PER_S, tick_ns = 10 * NS_PER_MS; /* of what /proc counts starts in */
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *n = &g->node[s->node];
	if (w->stepping || s->end != WAITEND_CLOCK || !n->thread || !n->process || n->thread->limit_ns < long_ns)
		return w->standstill_ns;
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *first = &g->node[i];
		if (!first->main || !first->process || !first->who || !first->who->main)
			continue;
		const uint64_t later_ns = sub_floor(n->process->start_ticks, first->process->start_ticks) * tick_ns;
		return MIN(w->standstill_ns, sub_floor(w->p->job_age_ns, later_ns));
	}
	return w->standstill_ns;
}

/* ---- doors of a library ---- */

/* True if a thread beside the rank's main one, of that name, has a door. */
static bool has_a_door(const struct stackgroup_rank *r, const char *name)
{
	for (size_t i = 0; r->process && i < r->process->n_threads; i++) {
		const struct dump_thread *t = &r->process->threads[i];
		if (!t->main && t->wait.listens && strcmp(t->name, name) == 0)
			return true;
	}
	return false;
}

/* True if it has a thread with a door such as every other rank has as well: a library's, by which ranks meet. */
static bool has_a_door_of_all(const struct hang_work *w, const struct stackgroup_rank *r)
{
	for (size_t i = 0; r->process && i < r->process->n_threads; i++) {
		const struct dump_thread *t = &r->process->threads[i];
		size_t n = 0;
		for (size_t k = 0; k < w->g.n && !t->main && t->wait.listens; k++)
			n += has_a_door(&w->g.rank[k], t->name);
		if (n > 1 && n == w->g.n)
			return true;
	}
	return false;
}

/*
 * Ranks are in a call of all: the main thread of the end is in one as well, or its process has no other door than all
 * have. So it is no server, whatever threads a library keeps beside it.
 */
static bool is_no_server(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph_node *end = &w->c->graph->node[s->node];
	const struct stackgroup_rank *waits = w->many ? hang_first_waiting(w) : NULL;
	const struct stackgroup_rank *r = waits && end->who ? stackgroups_find(&w->g, end->who->rank) : NULL;
	return r && activity_waits_for_ranks(waits->activity.kind) &&
	       (activity_waits_for_ranks(r->activity.kind) || has_a_door_of_all(w, r));
}

/*
 * The others wait for a process that works, sleeps, or waits within a limit. Main processes of ranks are judged by
 * what they do (hang_benign, hang_busy), as their stacks say more.
 */
bool hang_graph_benign(struct hang_work *w)
{
	const struct waitgraph_sink *s = hang_graph_end(w);
	size_t known = 0; /* ranks in calls of a communication library, whose own threads run now and then */
	for (size_t i = 0; i < w->g.n; i++)
		known += activity_waits_for_ranks(w->g.rank[i].activity.kind);
	if (!s || (known > 0 && known == w->g.n && !is_helper_asleep(w, s)))
		return false;
	uint64_t limit = limit_of(w, s), long_sleep = hang_time(w->s->sleep_ns, HANG_SLEEP_NS);
	uint64_t sleep = MIN(long_sleep, side_sleep_ns);
	uint64_t excused = limit > 0 ? excused_of(w, s, limit) : 0;
	/* Where a process of it has failed, what the main thread waits for may have been that one's part. */
	if (hang_serves_beside(w, s) && !hang_failed_then(w) && !is_no_server(w, s))
		return benign_end(w, s, "server", "idle by design, another thread of it waits for visitors", 0);
	if (masters_a_server(w, s))
		return benign_end(w, s, "server", "idle by design, it waits for visitors", 0);
	if (w->standstill_ns < excused)
		return benign_end(w, s, "time_limit", "it waits within a time limit", excused);
	const bool ticks = s->end == WAITEND_RUNS && hang_ticks(w, &w->c->graph->node[s->node]);
	if (s->end == WAITEND_RUNS && runs_along(w, s) &&
	    (!ticks || w->standstill_ns < at_most(w, runs_ns, patience(w, hang_ticks_most_ns(w)))))
		return benign_end(w, s, "work", "what it waits for works", runs_ns);
	if (s->n_followers > 0 && runs_at_a_door(w, s) && w->standstill_ns < patience(w, runs_ns))
		return benign_end(w, s, "work", "another thread of the server that it waits for works", runs_ns);
	if (s->n_followers > 0 && is_a_door(w, s) && w->standstill_ns < sleep && hang_worker_beside(w, s))
		return benign_end(w, s, "sleep", "another thread of the server that it waits for sleeps", sleep);
	if (is_habit_of_own(w, s)) /* as of any other thread of its own */
		sleep = MIN(sleep, patience(w, own_thread_ns));
	const struct waitgraph_node *napper = s->end == WAITEND_CLOCK ? &w->c->graph->node[s->node] : NULL;
	if (napper && (hang_all_look(w) > 0 || hang_sibling_crashed(w, napper) || hang_end_awaits_own_file(w, napper)))
		sleep = MIN(sleep, patience(w, hang_looks_most_ns(w)));
	if (napper)
		sleep = sleep_of_loop(w, napper, sleep);
	if (napper && !hang_end_is_main(w, s) && !hang_end_outsleeps(w, s, sleep) && hang_ticks(w, napper))
		sleep = at_most(w, sleep, patience(w, hang_ticks_most_ns(w)));
	if (napper && napper->naps && one_works_beside(w, napper))
		sleep = MAX(sleep, patience(w, runs_ns));
	const uint64_t slept = slept_ns(w, s);
	if (s->end == WAITEND_CLOCK && !hang_end_is_main(w, s) && slept < sleep && !hang_end_outsleeps(w, s, sleep))
		return benign_end(w, s, "sleep", "what it waits for sleeps", w->standstill_ns - slept + sleep);
	if (goroutine_sleeps(w, s) && w->standstill_ns < sleep)
		return benign_end(w, s, "sleep", "a goroutine sleeps, or waits within a time limit", sleep);
	if (s->end == WAITEND_CLOCK && by_timer(w, s) && w->standstill_ns < (s->n_followers > 0 ? sleep : long_sleep))
		return benign_end(w, s, "sleep", "an event loop waits for its timers",
				  s->n_followers > 0 ? sleep : long_sleep);
	bool none_works = s->end == WAITEND_OWN && (hang_only_services_beside(w, s) || hang_none_could_bring(w, s));
	uint64_t own = none_works ? own_services_ns : own_thread_ns;
	const struct waitgraph_node *end = &w->c->graph->node[s->node];
	if (s->end == WAITEND_OWN && !w->many && hears_of_a_child_at_work(w, end))
		own = runs_ns;
	else if (s->end == WAITEND_OWN && !none_works && sleeps_beside(w, end))
		own = MAX(own, sleep);
	bool by_thread = !waitgraph_awaits_its_own(end) || hang_worker_beside(w, s);
	by_thread = by_thread && !waitgraph_waits_for_itself(end);
	if (s->end == WAITEND_OWN && by_thread && !s->dead)
		own = at_most(w, own, patience(w, hang_ticks_most_ns(w)));
	if (s->end == WAITEND_OWN && by_thread && !s->dead && w->standstill_ns < patience(w, own))
		return benign_end(w, s, "own_thread", "it waits for another thread of its own", own);
	if (hang_sleeper_may_come(w, s) && w->standstill_ns < sleep)
		return benign_end(w, s, "sleep", "a helper sleeps that may come to it", sleep);
	if (hang_may_answer(w, s) && w->standstill_ns < sleep)
		return benign_end(w, s, "asks", "a helper that reads datagrams, or runs, may answer it", sleep);
	if (hang_may_be_woken(w, s)) {
		const uint64_t least_ns = patience(w, hang_ticks_most_ns(w));
		own = looks_within(w, s) ? at_most(w, own_thread_ns, least_ns) : sleep;
		if (w->standstill_ns < patience(w, own))
			return benign_end(w, s, "own_thread", "a thread or a timer of its own may end it", own);
	}
	if (vague_beside_one_at_work(w, s) && w->standstill_ns < patience(w, runs_ns))
		return benign_end(w, s, "sleep", "a thread beside those that it may wait for sleeps", runs_ns);
	if (s->end == WAITEND_TRACED && !hang_end_is_main(w, s) && w->standstill_ns < sleep)
		return benign_end(w, s, "debugger", "a debugger holds what it waits for", sleep);
	bool stopped = s->end == WAITEND_STOPPED && !hang_end_is_main(w, s);
	uint64_t stop = stopped && !hang_stopper_lives(w, s) ? nobodys_stop_ns : side_stop_ns;
	if (stopped && w->standstill_ns < patience(w, stop))
		return benign_end(w, s, "stopped", "what it waits for was stopped a moment ago", stop);
	return false;
}
