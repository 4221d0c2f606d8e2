/*
 * A job that takes nothing in (sense/proc/lookups): none of its threads has had a file, an answer or a connection of
 * anybody for some seconds. Threads that only wake up by their own clocks then bring nothing that they do not have
 * already, so a standstill ends by a count or a time of their own, if at all.
 */
#include <string.h>

#include "base/units.h"
#include "judge/standstill/hang_ask.h"

/* Longer waits than this may not have ended while it was looked at. */
static const uint64_t tick_most_ns = 6 * NS_PER_S;
/* It has gone off so often since the job came to a stand. */
static const uint64_t ticks_least = 4;
/* Processor time of two seconds: more than that may be work. */
static const uint64_t light_most_ns = 40 * NS_PER_MS;

/*
 * The JVM's one thread with a limit of a minute that runs code of Java, and so is not told from the program's own by
 * its stack. It clears references.
 */
static bool is_cleaner(const struct hang_work *w, const struct waitgraph_node *n)
{
	const struct waitgraph *g = w->c->graph;
	if (strcmp(n->thread->name, "Common-Cleaner") != 0)
		return false;
	for (size_t i = 0; i < g->n_nodes; i++)
		if (g->node[i].thread && g->node[i].process == n->process &&
		    strcmp(g->node[i].thread->name, "VM Thread") == 0)
			return true;
	return false;
}

/* The function whose variables were read: its innermost one, or the one that has called Python's threading. */
static const struct dump_frame *looping_function(const struct dump_thread *t)
{
	for (size_t i = 0; i < t->n_frames; i++) {
		const struct dump_frame *f = &t->frames[i];
		if (f->kind == FRAME_PYTHON && (f->state || !f->file || !strstr(f->file, "/threading.py")))
			return hang_own_top(t) ? f : NULL;
	}
	return NULL;
}

/*
 * True if the variables of its function are other ones at a look, or are not known, as those of a module's own code: it
 * may count. One of them that is a time near now may say until when it goes on.
 */
static bool may_count(const struct hang_work *w, const struct waitgraph_node *n)
{
	uint64_t state = 0;
	for (size_t i = 0; i < w->c->n_dumps; i++) {
		const struct dump_thread *t = hang_thread_in(w->c->dumps[i], n->thread->pid, n->thread->tid);
		const struct dump_frame *f = t && t->has_python ? looping_function(t) : NULL;
		if (!t || !t->has_python)
			continue;
		if (!f || f->state == 0 || f->clocked || (state && f->state != state))
			return true;
		state = f->state;
	}
	return false;
}

static bool waits_within_job(const struct waitgraph_node *n)
{
	switch (n->end) {
	case WAITEND_CLOCK:
	case WAITEND_NONE:
	case WAITEND_OWN:
	case WAITEND_NOBODY:
	case WAITEND_CIRCLE:
	case WAITEND_ANY:
	case WAITEND_VISITOR:
		return true;
	default:
		return false;
	}
}

/* True of a thread of the JVM itself: all of its stack is there, so that it runs no code of the program. */
static bool is_jvms(const struct hang_work *w, const struct waitgraph_node *n)
{
	const struct stackdump *d = hang_newest(w);
	const struct dump_thread *t = d ? hang_thread_in(d, n->thread->pid, n->thread->tid) : NULL;
	bool jvm = false;
	for (size_t i = 0; t && i < t->n_frames; i++) {
		const char *module = t->frames[i].module;
		const bool in_jvm = module && strstr(module, "libjvm.so");
		if (!in_jvm && (!module || !hang_c_library(module)))
			return false;
		jvm |= in_jvm;
	}
	return jvm;
}

/* The same where the beginning of its stack was found: below the functions of the JVM nothing else has called them. */
static bool is_whole(const struct hang_work *w, const struct waitgraph_node *n)
{
	const struct stackdump *d = hang_newest(w);
	const struct dump_thread *t = d ? hang_thread_in(d, n->thread->pid, n->thread->tid) : NULL;
	const char *first = t && t->n_frames > 0 ? t->frames[t->n_frames - 1].module : NULL;
	return first && hang_c_library(first);
}

bool hang_keeps_house(const struct hang_work *w, const struct waitgraph_node *n)
{
	if (!n->thread || n->end == WAITEND_RUNS)
		return false;
	return is_cleaner(w, n) || (!n->main && is_jvms(w, n) && is_whole(w, n));
}

/* Its looks take longer, and of its variables more is known than how long it was awake. */
static bool of_python(const struct hang_work *w, const struct waitgraph_node *n)
{
	const struct stackdump *d = hang_newest(w);
	const struct dump_thread *t = d ? hang_thread_in(d, n->thread->pid, n->thread->tid) : NULL;
	return t && t->has_python;
}

/* Of a wait that is known by its end: when that is; 0: it does not come soon. */
static uint64_t ends_soon(const struct hang_work *w, const struct waitgraph_node *n)
{
	const bool soon = n->thread && n->thread->left_ns > 0 && n->thread->left_ns <= tick_most_ns;
	return soon ? w->p->now_ns + n->thread->left_ns : 0;
}

void hang_armed_keep(struct hang_work *w)
{
	const struct waitgraph *g = w->c->graph;
	struct hang_verdict *v = w->v;
	v->n_armed = 0;
	for (size_t i = 0; g && i < g->n_nodes && v->n_armed < HANG_ARMED; i++) {
		const uint64_t until_ns = ends_soon(w, &g->node[i]);
		if (until_ns > 0)
			v->armed[v->n_armed++] = (struct hang_armed){g->node[i].thread->tid, until_ns};
	}
}

/* True if it was about to wake up at the look before, and waits for a later time now. */
static bool made_again(const struct hang_work *w, const struct waitgraph_node *n)
{
	const uint64_t slack_ns = 3 * NS_PER_S; /* between a look at it and the time of the verdict */
	const uint64_t until_ns = ends_soon(w, n);
	for (size_t i = 0; until_ns > 0 && i < w->m->n_armed; i++)
		if (w->m->armed[i].tid == n->thread->tid)
			return until_ns > w->m->armed[i].until_ns + slack_ns;
	return false;
}

/*
 * True of a thread that has woken up and waits again without a limit, and did next to nothing, while processes of the
 * job ask each other: it answers. It brings what it was asked for, and nothing by itself.
 */
static bool answers(const struct hang_work *w, const struct waitgraph_node *n)
{
	const bool waits = n->end == WAITEND_RUNS && n->light && !n->timed && n->thread->limit_ns == 0;
	return w->c->graph->asks && waits && n->ran_ns <= light_most_ns;
}

bool hang_ticks(const struct hang_work *w, const struct waitgraph_node *n)
{
	const struct waitgraph *g = w->c->graph;
	if (!g->closed || !n->thread || !n->process)
		return false;
	if (is_cleaner(w, n))
		return true;
	if (answers(w, n))
		return true;
	const uint64_t limit_ns = MAX(n->thread->limit_ns, n->thread->left_ns); /* of a time of its end what is left */
	const bool caught = n->hint && n->hint->kind == WAITHINT_RETRY && n->hint->caught;
	/* A limit of a day, as of pools whose threads end when they are idle, is none. */
	const bool never = n->timed && limit_ns >= HANG_SLEEP_SURE_NS && n->end != WAITEND_RUNS;
	if (never && n->end != WAITEND_CLOCK && waits_within_job(n))
		return true;
	if (limit_ns == 0 || limit_ns > tick_most_ns || w->standstill_ns < limit_ns * ticks_least)
		return false;
	/* One that runs has woken up, and waits again by another lock. */
	if (!waits_within_job(n) && !(n->end == WAITEND_RUNS && n->timed))
		return false;
	/* How long one lasts in all may not be known, but when it ends: that it was made again tells. */
	if (!n->woke && n->thread->limit_ns == 0 && !made_again(w, n))
		return false;
	if (caught || (n->ran_ns <= light_most_ns && is_jvms(w, n)))
		return true;
	return of_python(w, n) ? n->ran_ns <= light_most_ns && !may_count(w, n) : n->lightly;
}

bool hang_only_ticks(const struct hang_work *w)
{
	const struct waitgraph *g = w->c->graph;
	if (!g || !g->closed || !w->stepping)
		return false;
	for (size_t i = 0; i < w->g.n; i++) /* by memory that it shares with its device */
		if (hang_gpu_works(w, w->g.rank[i].rank))
			return false;
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		/* One that naps and looks at memory alone acts as well, if it goes on at a time of its own. */
		const bool naps = n->thread && n->main && n->naps && n->end == WAITEND_CLOCK && of_python(w, n);
		if (!hang_ticks(w, n) && (naps || hang_may_act(w, n)))
			return false;
	}
	return true;
}
