#include <string.h>

#include "base/units.h"
#include "judge/hang/hang_parts.h"

/* How long a silent upload at the end may take. */
static const uint64_t upload_ns = 5 * 60 * NS_PER_S;
static const uint64_t work_again_ns = 30 * NS_PER_S;
/* So long may a debugger hold one of several ranks: a breakpoint may have been left in, a tool been forgotten. */
static const uint64_t debugger_ns = 75 * NS_PER_S;
/* So long may a helper of the job pause one of several ranks. */
static const uint64_t paused_ns = 75 * NS_PER_S;
/* A sleep of known length may take this many times as long; after that it is a loop that waits for something. */
static const uint64_t sleep_times = 3;
/* So long may a rank try again and again, with pauses, while others wait for it: many servers come back within it. */
static const uint64_t waited_for_ns = 2 * 60 * NS_PER_S;

/* A file that was there before the job began is in the way of none that it has started. */
static const uint64_t stale_least_ns = 10 * 60 * NS_PER_S, stale_ns = 60 * NS_PER_S;

/* So long may one nap whose shared memory nobody is left to write: it may look at something else. */
static const uint64_t deserted_ns = 80 * NS_PER_S;
static const uint64_t looks_ns = 40 * NS_PER_S;
/* So long where processes of the job ask each other: a server may work lightly, and a lease ends by itself. */
static const uint64_t asks_ns = 2 * 60 * NS_PER_S;
static const double looks_steps = 20, looks_gaps = 5; /* gaps: between two lines that tell of steps */
/* For so long a loop of naps beside one that left is looked at often: a look may meet it awake. */
static const uint64_t left_most_ns = 4 * 60 * NS_PER_S;

static uint64_t debugger_most_ns(const struct hang_work *w)
{
	return MIN(debugger_ns, hang_time(w->s->sleep_ns, HANG_SLEEP_NS));
}

/* As one that a debugger has attached to. Somebody may be typing at a terminal; a port may wait for nobody. */
static uint64_t breakpoint_most_ns(const struct hang_work *w, const struct stackgroup_rank *r)
{
	bool typed = r->acting && r->acting->wait.kind == WAIT_TTY;
	return typed ? hang_time(w->s->sleep_ns, HANG_SLEEP_NS) : debugger_most_ns(w);
}

struct benign_reason {
	const char *id;
	uint64_t most_ns; /* 0: no limit */
	bool must_work;
};

/* True when something of the rank works meanwhile, be it a process that it waits for. */
static bool works_beside(const struct hang_work *w, const struct stackgroup_rank *r)
{
	const double beside_cores = 0.2;
	const struct liveness *l = liveness_find(w->p, r->rank);
	return r->cores >= beside_cores ||
	       (l && (liveness_reads(w->p, l) || liveness_writes(w->p, l) || hang_gpu_works(w, r->rank)));
}

const struct waithint *hang_retries(const struct hang_work *w, const struct stackgroup_rank *r)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *n = g && r->process ? waitgraph_thread(g, r->process->pid, 0) : NULL;
	return n && n->hint && n->hint->kind == WAITHINT_RETRY && r->acting && r->acting->tid == n->thread->tid
		       ? n->hint
		       : NULL;
}

/* True if it printed something now and then, so that it did what it is for. */
static bool has_printed(const struct hang_work *w)
{
	const uint64_t least = 2; /* in three seconds: more than greetings at the start */
	for (size_t i = 0; i < w->p->n; i++)
		if (w->p->rank[i].log.n_gaps >= least)
			return true;
	return false;
}

bool hang_tries_in_vain(const struct hang_work *w, const struct stackgroup_rank *r)
{
	const struct waithint *retry = w->many ? hang_retries(w, r) : NULL;
	return hang_is_refused(w, r->rank) || (retry && retry->missing && retry->others_there);
}

/*
 * True if all ranks try in vain, again and again: to connect to a server that has gone, or was never started, or to
 * find one of several files, of which the others are there.
 */
static bool all_try_in_vain(const struct hang_work *w)
{
	for (size_t i = 0; i < w->n_blocking; i++)
		if (!hang_tries_in_vain(w, &w->g.rank[w->blocking[i]]))
			return false;
	return w->n_blocking > 0 && w->n_blocking == w->g.n;
}

bool hang_is_stale(const struct hang_work *w, const struct waithint *retry)
{
	return retry && retry->exists && retry->old_ns > w->p->job_age_ns + stale_least_ns;
}

/* True if it connects again and again to a server of the job, whose answer is never what it waits for. */
static bool asks_in_vain(const struct hang_work *w, const struct stackgroup_rank *r)
{
	const struct hang_asked *a = hang_asks_in_vain(w, NULL);
	return a && r->process && a->pid == r->process->pid;
}

/* True if the main thread of another process naps as well, or (any) a thread beside this one waits. */
static bool another_is_there(const struct waitgraph *g, const struct waitgraph_node *one, bool any)
{
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		if (!n->thread || n->thread->ended || n == one || n->shows || (n->who && n->who->launcher))
			continue;
		if (any || (n->main && n->naps && n->process != one->process))
			return true;
	}
	return false;
}

/* True of a main thread that only naps, where nothing of the job goes on but that and clocks of its own. */
static bool only_ticks(const struct hang_work *w, const struct stackgroup_rank *r, bool any)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *n = g && r->process ? waitgraph_thread(g, r->process->pid, 0) : NULL;
	return n && hang_ticks(w, n) && hang_only_ticks(w) && another_is_there(g, n, any);
}

/*
 * True if other ranks wait for such a one, or another process naps too: each may look for what another one is to do. So
 * does one whose own thread waits for a lock.
 */
static bool ticks_in_vain(const struct hang_work *w, const struct stackgroup_rank *r)
{
	return only_ticks(w, r, (w->many && w->n_blocking < w->g.n) || hang_lock_waiter(w, r));
}

/*
 * The time after which short sleeps that go on are a loop that waits for something; 0: never. Where no rank waits for
 * it and no step was ever made, sleeping may be what the program is for.
 */
static uint64_t polls_after_ns(const struct hang_work *w, const struct stackgroup_rank *r)
{
	uint64_t said = hang_sleep_ns_of(w, r);
	bool in_vain = all_try_in_vain(w);
	bool waited_for = (in_vain && has_printed(w)) || (w->many && w->n_blocking < w->g.n);
	/* It tries for a lock again and again; of a file, who made it is long done, as a rule, or has ended. */
	const struct waithint *retry = hang_retries(w, r);
	bool lock_file = retry && (retry->exists || retry->held), no_maker = hang_ranks_make_none(w, r);
	bool for_something = w->stepping || w->counting || lock_file || in_vain || no_maker;
	if (r->activity.kind != ACTIVITY_SLEEP || said == 0 || said >= 60 * NS_PER_S || works_beside(w, r) ||
	    (!for_something && w->n_blocking == w->g.n))
		return 0;
	uint64_t least = hang_time(w->s->sleep_ns, HANG_SLEEP_NS);
	bool left = w->many && w->stepping && hang_rank_left_then(w);
	bool errs = w->stepping && retry && retry->caught; /* what has failed for two minutes seldom works by itself */
	bool sooner = waited_for || lock_file || left || errs || no_maker || (w->stepping && hang_all_nap(w)) ||
		      hang_looks_alone(w, r) || asks_in_vain(w, r) || (w->stepping && hang_dead_beside(w, r)) ||
		      (w->stepping && hang_lock_waiter(w, r)) ||
		      only_ticks(w, r, true);
	uint64_t most = hang_is_stale(w, retry) ? stale_ns : sooner ? waited_for_ns : least;
	return MAX(said * sleep_times, MIN(least, most));
}

uint64_t hang_looks_most_ns(const struct hang_work *w)
{
	const double step_ns = w->stepping ? hang_usual_step_ns(w->p) : w->gap_ns;
	return MAX(looks_ns, MAX(hang_gap_times(step_ns, looks_steps), hang_gap_times(w->gap_ns, looks_gaps)));
}

uint64_t hang_ticks_most_ns(const struct hang_work *w)
{
	const uint64_t least_ns = hang_looks_most_ns(w);
	return w->c->graph && w->c->graph->asks ? MAX(asks_ns, least_ns) : least_ns;
}

/* True if nobody of the job changes what it looks at, as far as is known. */
static bool looks_in_vain(const struct hang_work *w, const struct stackgroup_rank *r)
{
	return hang_looks_in_vain(w, r) || hang_dials_elsewhere(w, r) || hang_awaits_own_file(w, r) ||
	       hang_awaits_file_of_failed(w, r) || hang_awaits_orphan(w, r) ||
	       (hang_looks_at_memory(w, r) && hang_all_look(w) > 0);
}

/* The same time, or less where it is known that nobody brings what it looks for. */
static uint64_t vain_after_ns(const struct hang_work *w, const struct stackgroup_rank *r)
{
	const uint64_t after = polls_after_ns(w, r);
	if (after > 0 && (looks_in_vain(w, r) || hang_awaits_file_of_run(w, r)))
		return MIN(after, hang_looks_most_ns(w));
	return after > 0 && ticks_in_vain(w, r) ? MIN(after, hang_ticks_most_ns(w)) : after;
}

bool hang_polls(const struct hang_work *w, const struct stackgroup_rank *r)
{
	const uint64_t after = vain_after_ns(w, r);
	return after > 0 && w->standstill_ns > after;
}

bool hang_polls_by_ticks(const struct hang_work *w, const struct stackgroup_rank *r)
{
	return w->standstill_ns <= polls_after_ns(w, r) && !looks_in_vain(w, r) && ticks_in_vain(w, r);
}

bool hang_polls_by_file(const struct hang_work *w, const struct stackgroup_rank *r)
{
	return w->standstill_ns <= polls_after_ns(w, r) && !looks_in_vain(w, r) && hang_awaits_file_of_run(w, r);
}

/* A process or rank ended when the job came to a stand. */
static bool somebody_left(const struct hang_work *w)
{
	return hang_left_then(w) || hang_rank_left_then(w);
}

/*
 * True of a loop of naps whose shared memory nobody is left to write, if a process of the job ended when it came to a
 * stand: that one may have been to write it. Who looks for a file or a server looks elsewhere.
 */
static bool is_deserted(const struct hang_work *w, const struct stackgroup_rank *r)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *n = g && r->process ? waitgraph_thread(g, r->process->pid, 0) : NULL;
	return n && n->deserted && !n->polled && !(n->hint && n->hint->kind == WAITHINT_RETRY) &&
	       !hang_is_refused(w, r->rank) && somebody_left(w);
}

/*
 * How long a sleep is benign: without limit where all sleep (0), for a while where others wait, not at all in a loop of
 * short ones.
 */
static uint64_t sleep_most_ns(const struct hang_work *w, const struct stackgroup_rank *r)
{
	bool waited_for = w->many && w->n_blocking < w->g.n;
	uint64_t most = waited_for ? hang_time(w->s->sleep_ns, HANG_SLEEP_NS) : 0;
	uint64_t after = vain_after_ns(w, r);
	if (is_deserted(w, r))
		after = after == 0 ? deserted_ns : MIN(after, deserted_ns);
	return most == 0 ? after : after == 0 ? most : MIN(most, after);
}

/* True if it sleeps between looks at what another process has to bring, by the graph. */
static bool looks_for_another(const struct hang_work *w, const struct stackgroup_rank *r)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *n = g && r->process ? waitgraph_thread(g, r->process->pid, 0) : NULL;
	const bool by_hint = n && n->hint && (n->hint->kind == WAITHINT_TASK || n->hint->kind == WAITHINT_OWNER);
	const bool looks = n && (n->polled || n->watches || by_hint);
	for (uint32_t i = 0; looks && i < n->n_edges; i++)
		if (g->edge[n->first_edge + i].quality >= WAITGRAPH_LIKELY)
			return true;
	return false;
}

/* A server without clients. Where a rank waits for others, or steps were made, clients should have come. */
static bool serves(const struct hang_work *w, const struct stackgroup_rank *r)
{
	const struct dump_thread *t = r->acting;
	bool plain = r->activity.kind == ACTIVITY_UNKNOWN || r->activity.kind == ACTIVITY_LOCK;
	return plain && t && t->wait.listens && (t->wait.kind == WAIT_POLL || t->wait.kind == WAIT_SOCKET) &&
	       !w->stepping && w->n_blocking == w->g.n;
}

/* What may take long without a step, and under which condition. */
static bool benign_reason_of(const struct hang_work *w, const struct stackgroup_rank *r, struct benign_reason *ret)
{
	const struct hang_settings *s = w->s;
	const struct activity_found *f = &r->activity;
	const struct liveness *l = liveness_find(w->p, r->rank);
	uint64_t first = hang_time(s->first_step_ns, HANG_FIRST_STEP_NS);
	uint64_t compile = hang_time(s->compile_ns, HANG_COMPILE_NS);
	uint64_t download = hang_time(s->download_ns, HANG_DOWNLOAD_NS);
	uint64_t checkpoint = hang_time(s->checkpoint_ns, HANG_CHECKPOINT_NS);
	switch (f->kind) {
	case ACTIVITY_DEBUGGER:
		*ret = (struct benign_reason){"debugger", w->many ? breakpoint_most_ns(w, r) : 0, false};
		return true;
	case ACTIVITY_SLEEP:
		if (hang_outsleeps(w, r) || looks_for_another(w, r))
			return false;
		*ret = (struct benign_reason){"sleep", sleep_most_ns(w, r), false};
		return true;
	case ACTIVITY_INPUT:
		*ret = (struct benign_reason){"input", w->many ? hang_time(s->sleep_ns, HANG_SLEEP_NS) : 0, false};
		return true;
	case ACTIVITY_CHECKPOINT:
		*ret = (struct benign_reason){"checkpoint", checkpoint, true};
		return true;
	case ACTIVITY_DOWNLOAD:
		*ret = (struct benign_reason){"download", download, true};
		return true;
	case ACTIVITY_DATA_COPY:
		*ret = (struct benign_reason){"data_copy", download, true};
		return true;
	case ACTIVITY_COMPILE:
		*ret = (struct benign_reason){"compile", compile, true};
		return true;
	case ACTIVITY_IMPORT:
		*ret = (struct benign_reason){"import", first, true};
		return true;
	case ACTIVITY_UPLOAD:
		*ret = (struct benign_reason){"upload", hang_works(w, r) ? download : upload_ns, false};
		return true;
	default:
		break;
	}
	if (serves(w, r))
		*ret = (struct benign_reason){"server", 0, false};
	else if (f->also_evaluate || f->kind == ACTIVITY_EVALUATE)
		*ret = (struct benign_reason){"evaluation", hang_time(s->evaluation_ns, HANG_EVALUATION_NS), true};
	else if (f->also_checkpoint)
		*ret = (struct benign_reason){"checkpoint", checkpoint, true};
	else if (f->also_compile || (l && l->seen.n_compilers > 0))
		*ret = (struct benign_reason){"compile", compile, true};
	else if (w->first_step)
		*ret = (struct benign_reason){"first_step", first, true};
	else
		return false;
	return true;
}

static bool is_benign(const struct hang_work *w, const struct stackgroup_rank *r, struct benign_reason *ret)
{
	const struct liveness *l = liveness_find(w->p, r->rank);
	if (l && l->seen.tracer != 0) { /* attached, and lets it run now and then: somebody is at work */
		*ret = (struct benign_reason){"debugger", w->many ? hang_time(w->s->sleep_ns, HANG_SLEEP_NS) : 0,
					      false};
		return ret->most_ns == 0 || w->standstill_ns < ret->most_ns;
	}
	if (!benign_reason_of(w, r, ret))
		return false;
	if (ret->must_work && !hang_works(w, r))
		return false;
	return ret->most_ns == 0 || w->standstill_ns < ret->most_ns;
}

static const char *phrase(const char *id)
{
	static const char *const words[][2] = {
		{"debugger", "a debugger looks at it"},
		{"sleep", "idle by design"},
		{"input", "it waits for input"},
		{"server", "idle by design, it waits for visitors"},
		{"checkpoint", "a checkpoint is being written or read"},
		{"download", "data are being fetched"},
		{"data_copy", "data are being copied"},
		{"compile", "it compiles"},
		{"import", "it imports"},
		{"upload", "the end: results are being uploaded"},
		{"evaluation", "it evaluates"},
		{"first_step", "before the first step, and it works"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strcmp(words[i][0], id) == 0)
			return words[i][1];
	return id;
}

static void benign_is(struct hang_work *w, const char *id, uint64_t most_ns)
{
	w->v->kind = HANG_NONE;
	w->v->benign = true;
	TEXT_COPY(w->v->id, id);
	/* Ask again when the allowed time is over; the history may do so earlier. */
	if (most_ns > 0)
		w->v->again_ns = MAX(sub_floor(most_ns, w->standstill_ns), NS_PER_S);
}

/*
 * True of a rank that waits for a word from anybody, while nobody waits for it but because it does not come itself: who
 * works or sleeps may be the one to speak.
 */
static bool waits_for_a_word(const struct hang_work *w, const struct stackgroup_rank *r)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_sink *s = g && r->process ? waitgraph_end_of(g, r->process->pid) : NULL;
	const bool unasked = s && s->end == WAITEND_VISITOR && s->of_main && (s->n_followers == 0 || g->by_absence);
	return unasked && !hang_works(w, r);
}

bool hang_benign(struct hang_work *w)
{
	struct benign_reason first = {.id = NULL}, e;
	uint64_t soonest = UINT64_MAX; /* the first allowed time to end */
	bool works = false, sleeps = false;
	const struct stackgroup_rank *who = NULL;
	size_t n = 0;
	for (size_t i = 0; i < w->n_blocking; i++) {
		const struct stackgroup_rank *r = &w->g.rank[w->blocking[i]];
		w->benign[i] = is_benign(w, r, &e);
		n += w->benign[i];
		if (!w->benign[i])
			continue;
		soonest = e.most_ns ? MIN(soonest, e.most_ns) : soonest;
		works |= e.must_work;
		sleeps |= strcmp(e.id, "sleep") == 0 && !hang_retries(w, r);
		if (!first.id) {
			first = e;
			who = r;
		}
	}
	for (size_t i = 0; (works || sleeps) && i < w->n_blocking; i++) {
		bool word = !w->benign[i] && waits_for_a_word(w, &w->g.rank[w->blocking[i]]);
		w->benign[i] |= word;
		n += word;
	}
	if (n == 0 || n < w->n_blocking)
		return false;
	char doing[300], rank[HANG_WHO];
	benign_is(w, first.id, soonest == UINT64_MAX ? 0 : soonest);
	/* What is benign because it works has to go on working; a nap may be missed at a look. */
	const struct waithint *retry = hang_retries(w, who);
	if (works || (retry && retry->exists))
		w->v->again_ns = MIN(w->v->again_ns, work_again_ns);
	else if (sleeps && somebody_left(w) && w->standstill_ns < left_most_ns)
		w->v->again_ns = MIN(w->v->again_ns ? w->v->again_ns : work_again_ns, work_again_ns);
	hang_doing(w, who, doing, sizeof(doing));
	hang_says(w, "%s: ", phrase(first.id));
	struct buf b = {.text = w->v->text, .len = strlen(w->v->text), .cap = sizeof(w->v->text)};
	buf_add(&b, doing);
	if (w->many && n < w->g.n)
		buf_printf(&b, " (%s; the others wait for it)", hang_who(who->rank, rank));
	return true;
}

static bool stopped(const struct liveness *l)
{
	return l->seen.frozen || l->seen.state == 'T' || l->seen.state == 't';
}

/*
 * The debugger is no person's: it waits itself for what nobody is left to do, so it will never let go. NULL: not
 * proved.
 */
static const struct waitgraph_node *dead_debugger(const struct hang_work *w, const struct liveness *l)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *held = g ? waitgraph_thread(g, l->seen.pid, 0) : NULL;
	const struct waitgraph_node *by = held ? waitgraph_thread(g, l->seen.tracer, 0) : NULL;
	return by && by->dead && held->dead ? by : NULL;
}

/* Who is stopped of those for whom this thread waits, likely at least; NULL: nobody. */
static const struct waitgraph_node *stopped_for(const struct waitgraph *g, const struct waitgraph_node *n)
{
	for (uint32_t i = 0; i < n->n_edges; i++) {
		const struct waitgraph_edge *e = &g->edge[n->first_edge + i];
		if (g->node[e->to].end == WAITEND_STOPPED && e->quality >= WAITGRAPH_LIKELY)
			return &g->node[e->to];
	}
	return NULL;
}

/*
 * The first process of a job without ranks is stopped, and another main one is not: it waits for one that is, as a
 * client for its server. Nobody has stopped the whole job then.
 */
static bool client_of_stopped(struct hang_work *w, const struct liveness *first)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *to = NULL, *n = NULL;
	for (size_t i = 0; g && !w->many && !first->seen.frozen && first->seen.tracer == 0 && i < g->n_nodes; i++) {
		n = &g->node[i];
		const bool main = n->main && n->thread && n->who && (n->who->main || strcmp(n->who->role, "main") == 0);
		if (main && n->process->pid != first->seen.pid && (to = stopped_for(g, n)))
			break;
	}
	if (!to)
		return false;
	if (!hang_old_enough(w, HANG_EXPLAINED))
		return true;
	char wait[300];
	waitgraph_wait_text(n, wait, sizeof(wait));
	hang_is(w, "process_stopped", CONFIDENCE_MEDIUM);
	hang_says(w, "Process %d (%s) waits: %s. Process %d (%s), for which it waits, is stopped (SIGSTOP).",
		  (int)n->process->pid, n->process->name, wait, (int)to->process->pid, to->process->name);
	hang_advise(w, "let it go on: kill -CONT %d, and the others that were stopped with it", (int)to->process->pid);
	return true;
}

/* Stopped by hand: a job of which all ranks are stopped is meant to stand; one stopped rank holds up the rest. */
bool hang_stopped(struct hang_work *w)
{
	size_t n = 0, live = 0;
	const struct liveness *one = NULL;
	char who[HANG_WHO];
	for (size_t i = 0; i < w->p->n; i++) {
		const struct liveness *l = &w->p->rank[i];
		if (l->serves || l->seen.exited)
			continue;
		live++;
		n += stopped(l);
		if (stopped(l) && !one)
			one = l;
	}
	if (n == 0)
		return false;
	if (n == live && client_of_stopped(w, one))
		return true;
	if (n == live) {
		benign_is(w, one->seen.frozen ? "frozen" : one->seen.tracer ? "debugger" : "stopped", 0);
		hang_says(w, "%s",
			  one->seen.frozen   ? "its control group is frozen"
			  : one->seen.tracer ? "a debugger holds it"
					     : "it is stopped (SIGSTOP)");
		return true;
	}
	bool traced = one->seen.tracer != 0;
	const struct waitgraph_node *by = traced ? dead_debugger(w, one) : NULL;
	if (traced && !by && w->standstill_ns < debugger_most_ns(w)) {
		benign_is(w, "debugger", debugger_most_ns(w));
		hang_says(w, "a debugger (pid %d) holds %s, the others wait for it", (int)one->seen.tracer,
			  hang_who(one->rank, who));
		return true;
	}
	const bool by_hand = !traced && !one->seen.frozen;
	const struct waitgraph_node *stopper = by_hand ? hang_pauser(w, one->seen.pid, paused_ns) : NULL;
	if (stopper && w->standstill_ns < paused_ns) {
		benign_is(w, "stopped", paused_ns);
		hang_says(w, "%s is stopped, and process %d (%s), which sleeps, may let it go on",
			  hang_who(one->rank, who), (int)stopper->process->pid, stopper->process->name);
		return true;
	}
	if (!hang_old_enough(w, HANG_FIRM))
		return true;
	hang_is(w, traced ? "rank_traced" : "rank_stopped", CONFIDENCE_HIGH);
	for (size_t i = 0; i < w->p->n; i++)
		if (!w->p->rank[i].serves && !w->p->rank[i].seen.exited && stopped(&w->p->rank[i]))
			hang_accuse(w, w->p->rank[i].rank);
	char ranks[200];
	hang_ranks_text(w->v->culprits, w->v->n_culprits, ranks, sizeof(ranks));
	hang_says(w, "%s (pid %d) %s %s, and the others wait for %s.", ranks, (int)one->seen.pid, n == 1 ? "is" : "are",
		  one->seen.frozen ? "frozen by a control group"
		  : traced	   ? "held by a debugger"
				   : "stopped (state T: SIGSTOP)",
		  n == 1 ? "it" : "them");
	if (by) {
		char waits[200];
		waitgraph_wait_text(by, waits, sizeof(waits));
		hang_says(w, "The debugger (process %d) will never let go: %s. This is proved, seen twice.",
			  (int)one->seen.tracer, waits);
		w->v->proved = true;
	}
	if (by_hand)
		hang_advise(w, "let it go on: kill -CONT %d", (int)one->seen.pid);
	return true;
}
