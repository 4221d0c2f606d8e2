#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "base/text.h"
#include "base/units.h"
#include "judge/hang/hang_parts.h"

/* So long may a rank that has done its work take to end while nothing of it moves. */
static const uint64_t finishing_ns = 30 * NS_PER_S;

/* How a rank, or the first of several, ended, in words. */
static void ending(const struct liveness *l, bool several, char *dst, size_t cap)
{
	int status = l->seen.wait_status;
	const char *have = several ? "have" : "has";
	if (!l->seen.has_status)
		text_format(dst, cap, "%s ended", have);
	else if (WIFEXITED(status))
		text_format(dst, cap, "%s ended with exit code %d", have, WEXITSTATUS(status));
	else
		text_format(dst, cap, "%s ended by signal %d", several ? "were" : "was", WTERMSIG(status));
}

static bool ended_well(const struct liveness *l)
{
	if (l->seen.has_status)
		return WIFEXITED(l->seen.wait_status) && WEXITSTATUS(l->seen.wait_status) == 0;
	return l->seen.has_progress && l->seen.progress.has_total && l->seen.progress.step >= l->seen.progress.total;
}

static bool is_over(const struct hang_work *w, const struct stackgroup_rank *r)
{
	const struct liveness *l = liveness_find(w->p, r->rank);
	return l && l->seen.exited;
}

/* True if it waits, in the end, for ranks that live, as far as the graph knows: then not for one that has ended. */
static bool waits_for_living(const struct hang_work *w, const struct stackgroup_rank *r)
{
	const struct waitgraph_sink *s =
		w->c->graph && r->process ? waitgraph_end_of(w->c->graph, r->process->pid) : NULL;
	if (!s || s->end == WAITEND_GONE || activity_waits_for_ranks(r->activity.kind))
		return false;
	for (size_t i = 0; i < s->n_ranks; i++) {
		const struct liveness *l = liveness_find(w->p, s->rank[i]);
		if (!l || l->seen.exited)
			return false;
	}
	return s->n_ranks > 0;
}

/* True if the end is a server beside the ranks that waits for another request: who has ended could have made it. */
static bool is_server_beside(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph_node *n = &w->c->graph->node[s->node];
	return s->end == WAITEND_VISITOR && n->thread && !s->of_main && s->n_followers > 0;
}

/*
 * True if the end is a circle of ranks and of one server beside them that reads from them, and may have visitors, as it
 * is not proved to be dead: what it waits for is another request of theirs, or of who has ended.
 */
static bool is_circle_of_a_server(const struct hang_work *w, const struct waitgraph_sink *s)
{
	const struct waitgraph *g = w->c->graph;
	size_t servers = 0;
	for (size_t i = 0; s->end == WAITEND_CIRCLE && !s->dead && i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		if (n->component != g->node[s->node].component || (n->main && n->who && n->who->main))
			continue;
		if (!n->main || !n->fact || n->fact->to_write)
			return false;
		if (n->fact->kind != WAITFACT_LISTEN && n->fact->kind != WAITFACT_TCP && n->fact->kind != WAITFACT_UNIX)
			return false;
		servers++;
	}
	return servers == 1;
}

/* False of the alarm of its own process's threads: who has ended did not have it. */
static bool may_be_of_others(const struct waitgraph_node *n)
{
	return !n->fact || n->fact->kind != WAITFACT_EVENTFD;
}

/* True of the main thread of a rank that waits for a message which anybody could send it. */
static bool awaits_a_letter(const struct waitgraph *g, const struct waitgraph_sink *s)
{
	const struct waitgraph_node *n = &g->node[s->node];
	return s->end == WAITEND_VISITOR && n->main && n->fact && n->fact->kind == WAITFACT_DATAGRAM &&
	       !n->fact->to_write;
}

/*
 * True if each rank that lives waits on memory that it shares with others (a barrier), so that any of them could end
 * it, for a server that waits for somebody to come, or for somebody who has ended; where a rank ended when the steps
 * did, for a message without a connection, too, and for a server that waits for the ranks, if nobody acts.
 */
static bool all_wait_on_shared(const struct hang_work *w)
{
	size_t n = 0;
	const bool letters = w->stepping && hang_rank_left_then(w);
	const bool still = letters && w->c->graph && hang_nobody_acts(w);
	for (size_t i = 0; w->c->graph && i < w->g.n; i++) {
		const struct stackgroup_rank *r = &w->g.rank[i];
		if (is_over(w, r))
			continue;
		const struct waitgraph_sink *s = r->process ? waitgraph_end_of(w->c->graph, r->process->pid) : NULL;
		const bool any = s && s->end == WAITEND_ANY && may_be_of_others(&w->c->graph->node[s->node]);
		const bool letter = letters && s && awaits_a_letter(w->c->graph, s);
		const bool circle = still && s && is_circle_of_a_server(w, s);
		if (!s || (!any && !letter && !circle && s->end != WAITEND_GONE && !is_server_beside(w, s)))
			return false;
		n++;
	}
	return n > 0;
}

/* Of the ranks that live: the number that waits for others, and the number that is at its end. */
static void living(const struct hang_work *w, size_t *ret_waiting, size_t *ret_ending, size_t *ret_all)
{
	*ret_waiting = *ret_ending = *ret_all = 0;
	for (size_t i = 0; i < w->g.n; i++) {
		const struct stackgroup_rank *r = &w->g.rank[i];
		if (is_over(w, r))
			continue;
		++*ret_all;
		*ret_waiting += hang_waits(w, r) && !waits_for_living(w, r);
		*ret_ending += r->activity.kind == ACTIVITY_UPLOAD || r->activity.kind == ACTIVITY_EXIT ||
			       r->activity.kind == ACTIVITY_JOIN;
	}
}

static void progress_of_ends(struct hang_work *w)
{
	for (size_t i = 0; i < w->p->n; i++) {
		const struct liveness *l = &w->p->rank[i];
		if (l->serves || !l->seen.has_progress || !l->seen.progress.has_step)
			continue;
		hang_evidence(w, "progress", "log", "rank %d: epoch %.6g, step %llu%s", l->rank, l->seen.progress.epoch,
			      (unsigned long long)l->seen.progress.step, l->seen.exited ? ", ended" : "");
	}
}

struct ends {
	const struct liveness *bad; /* the rank that failed first; NULL: none failed */
	const struct liveness *good; /* a rank that ended well; NULL: none did */
};

/* True if a ended before b, as far as is known: what was first seen at the same look, by its own time. */
static bool ended_before(const struct liveness *a, const struct liveness *b)
{
	if (a->exited_ns != b->exited_ns || a->seen.ended_unix_ms == 0 || b->seen.ended_unix_ms == 0)
		return a->exited_ns < b->exited_ns;
	return a->seen.ended_unix_ms < b->seen.ended_unix_ms;
}

/* True of a rank that somebody ended once this one had failed: that it has ended follows from that. */
static bool was_ended_for(const struct liveness *l, const struct liveness *first)
{
	const int status = l->seen.wait_status, by = l->seen.has_status && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	const bool asked = by == SIGTERM || by == SIGINT || by == SIGHUP;
	return asked && l != first && first->seen.has_status && first->seen.wait_status != status &&
	       ended_before(first, l);
}

static struct ends ends_of(const struct liveness_set *p)
{
	struct ends e = {.bad = NULL};
	for (size_t i = 0; i < p->n; i++) {
		const struct liveness *l = &p->rank[i];
		if (l->serves || !l->seen.exited)
			continue;
		if (ended_well(l) && !e.good)
			e.good = l;
		else if (!ended_well(l) && (!e.bad || ended_before(l, e.bad)))
			e.bad = l;
	}
	return e;
}

/* The verdict on ranks that have ended: names those that failed, or, where none failed, all that have ended. */
static void dead_is(struct hang_work *w, const struct ends *e, bool sure)
{
	char ranks[200], how[64], stood[32];
	const struct liveness *one = e->bad ? e->bad : e->good;
	/* Whoever has taken its status knows of its end, and may start it anew. */
	sure &= w->has_stacks && one->seen.has_status && one->seen.ended_unix_ms == 0;
	hang_is(w, e->bad ? "dead_rank" : "uneven_last_epoch", sure ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM);
	for (size_t i = 0; i < w->p->n; i++) {
		const struct liveness *l = &w->p->rank[i];
		if (!l->serves && l->seen.exited && (!e->bad || (!ended_well(l) && !was_ended_for(l, e->bad))))
			hang_accuse(w, l->rank);
	}
	hang_ranks_text(w->v->culprits, w->v->n_culprits, ranks, sizeof(ranks));
	ending(one, w->v->n_culprits > 1, how, sizeof(how));
	hang_says(w, "%s %s, %s; the job lives on, the other ranks wait for %s.", ranks, how,
		  ago_format(sub_floor(w->p->now_ns, one->exited_ns), stood), w->v->n_culprits == 1 ? "it" : "them");
	if (!e->bad)
		hang_says(w, "%s had fewer batches than the others: the data are split unevenly.",
			  w->v->n_culprits > 1 ? "They" : "It");
	for (size_t i = 0; e->bad && i < w->p->n; i++)
		if (w->p->rank[i].seen.exited && was_ended_for(&w->p->rank[i], e->bad))
			hang_says(w, "Rank %d was ended by signal %d after it.", w->p->rank[i].rank,
				  WTERMSIG(w->p->rank[i].seen.wait_status));
	/* One of several may have been ended because of another, and then it is none that the job lacks. */
	if (e->bad && !e->bad->seen.has_status && w->v->n_culprits > 1) {
		w->v->confidence = CONFIDENCE_LOW;
		hang_says(w, "How they ended, and which of them went first, is not known.");
	}
	progress_of_ends(w);
	w->v->proved = e->bad && sure;
}

/* True if each rank that lives has done its work, and waits for a thread of its own before it ends. */
static bool all_join_threads(const struct hang_work *w)
{
	size_t n = 0;
	for (size_t i = 0; i < w->g.n; i++) {
		const struct stackgroup_rank *r = &w->g.rank[i];
		if (is_over(w, r))
			continue;
		if (!hang_joins_thread(r))
			return false;
		n++;
	}
	return n > 0;
}

/* True if each rank that lives looks for something again and again, between naps. */
static bool all_look(const struct hang_work *w)
{
	size_t n = 0;
	for (size_t i = 0; w->c->graph && i < w->g.n; i++) {
		const struct stackgroup_rank *r = &w->g.rank[i];
		if (is_over(w, r))
			continue;
		const struct waitgraph_node *x = r->process ? waitgraph_thread(w->c->graph, r->process->pid, 0) : NULL;
		if (!x || x->end != WAITEND_CLOCK || !x->naps)
			return false;
		n++;
	}
	return n > 0;
}

/* A rank failed when the job came to a stand, and the others look since then for what does not come. */
static bool left_looking(struct hang_work *w, const struct ends *e)
{
	const bool failed = e->bad && e->bad->seen.has_status;
	if (!e->bad || (!w->stepping && !failed) || !hang_then(w, e->bad->exited_ns) || !all_look(w))
		return false;
	if (!hang_old_enough(w, HANG_EXPLAINED))
		return true;
	dead_is(w, e, false);
	return true;
}

/* A rank has ended while others wait for it. */
bool hang_dead(struct hang_work *w)
{
	struct ends e = ends_of(w->p);
	size_t waiting, at_end, all;
	if (!e.bad && !e.good)
		return false;
	living(w, &waiting, &at_end, &all);
	const bool failed = e.bad && e.bad->seen.has_status;
	const bool finishing = !failed && w->has_stacks && at_end == all && all_join_threads(w);
	if (finishing && w->standstill_ns >= finishing_ns)
		return false;
	const bool shared = !finishing && all_wait_on_shared(w);
	if (shared) /* who has ended was one of those who could have ended their waits */
		waiting = all;
	if (!shared && !e.bad && w->n_blocking > 0 && waiting > 0) /* they may wait for a rank that is still there */
		return false;
	if (w->has_stacks && (waiting == 0 || finishing)) {
		if (left_looking(w, &e))
			return true;
		if (e.bad || all == 0 || at_end < all)
			return false;
		w->v->benign = true;
		TEXT_COPY(w->v->id, "end");
		hang_says(w, "the end: some ranks have finished, the rest are about to");
		return true;
	}
	if (hang_old_enough(w, w->has_stacks && !shared ? HANG_CERTAIN : HANG_FIRM))
		dead_is(w, &e, !shared);
	return true;
}

/* ---- ranks that never started ---- */

static const struct rankenv_finding *hang_proofs_finding(const struct hang_work *w, enum rankenv_kind kind)
{
	const struct rankenv *e = w->c->environment;
	for (size_t i = 0; e && i < e->n_findings; i++)
		if (e->finding[i].kind == kind)
			return &e->finding[i];
	return NULL;
}

/* The variables of some ranks contradict each other. */
static bool contradiction(struct hang_work *w)
{
	static const enum rankenv_kind kinds[] = {RANKENV_RANK_TWICE,	  RANKENV_RANK_RANGE,
						  RANKENV_RANK_MISSING,	  RANKENV_WORLD_DIFFERS,
						  RANKENV_MASTER_MISSING, RANKENV_MASTER_DIFFERS};
	const struct rankenv_finding *f = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(kinds) && !f; i++)
		f = hang_proofs_finding(w, kinds[i]);
	if (!f)
		return false;
	if (!hang_old_enough(w, HANG_CERTAIN))
		return true;
	hang_is(w, "rendezvous_mismatch", CONFIDENCE_HIGH);
	for (size_t i = 0; i < f->n_ranks; i++)
		hang_accuse(w, f->ranks[i]);
	hang_says(w, "The ranks cannot meet: %s: %s.", f->variable, f->text);
	w->v->proved = true;
	if (f->n_ranks == 0 && f->n_pids > 0)
		hang_says(w, "It is pid %d.", (int)f->pids[0]);
	return true;
}

/* True if ranks wait for one that waits for somebody to come, by the graph. */
static bool waits_for_a_visitor(const struct hang_work *w)
{
	const struct waitgraph_sink *s = w->c->graph && w->c->graph->n_sinks > 0 ? &w->c->graph->sink[0] : NULL;
	return s && s->end == WAITEND_VISITOR && s->of_main && s->n_followers > 0;
}

/* True if a process that is no rank's main one sleeps, other than in naps. */
static bool somebody_sleeps(const struct hang_work *w)
{
	const struct waitgraph *g = w->c->graph;
	for (size_t i = 0; g && i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		if (n->thread && n->main && !(n->who && n->who->main && n->who->rank != NO_RANK) &&
		    n->end == WAITEND_CLOCK && !n->naps)
			return true;
	}
	return false;
}

/* A rank is not there, or its variables keep the others from meeting it. Only before the first step. */
bool hang_not_started(struct hang_work *w)
{
	char ranks[200];
	bool by_name = !w->has_stacks || w->g.n_waiting > 0;
	if (w->stepping || (!by_name && !waits_for_a_visitor(w)))
		return false;
	if (contradiction(w))
		return true;
	const struct rankenv_finding *f = hang_proofs_finding(w, RANKENV_NOT_STARTED);
	if (!f)
		return false;
	const bool starts = somebody_sleeps(w); /* as who starts one rank after the other, with pauses */
	if (!hang_old_enough(w, by_name ? HANG_CERTAIN : HANG_FIRM) || (starts && !hang_outlasts_helpers(w)))
		return true;
	hang_is(w, "rank_not_started", w->has_stacks && by_name ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM);
	for (size_t i = 0; i < f->n_ranks; i++)
		hang_accuse(w, f->ranks[i]);
	hang_ranks_text(w->v->culprits, w->v->n_culprits, ranks, sizeof(ranks));
	hang_says(w, "%s: %s %s missing, and the others wait for %s.", f->text, ranks, f->n_ranks == 1 ? "is" : "are",
		  f->n_ranks == 1 ? "it" : "them");
	return true;
}

/* ---- the interpreter's lock, and the disk ---- */

/* A thread that waits for it wakes up now and then, so one dump of several may find it between two waits. */
static bool wants_gil(const struct hang_work *w, pid_t pid, const struct dump_thread *now)
{
	bool wants = now->gil == DUMP_GIL_WAITS;
	for (size_t i = 0; !wants && i < MIN(w->c->n_dumps, HANG_DUMPS); i++) {
		const struct dump_thread *t = hang_thread_in(w->c->dumps[i], pid, now->tid);
		wants = t && t->gil == DUMP_GIL_WAITS && now->gil != DUMP_GIL_HOLDS;
	}
	return wants;
}

/* So long may who brings what the holder of that lock waits for sleep, or work. */
static const uint64_t gil_brought_ns = 2 * 60 * NS_PER_S;

/* True of an end that somebody who is not seen to hang may bring: he works, sleeps, or is none of the job. */
static bool may_bring(const struct waitgraph_node *n)
{
	return n->end == WAITEND_CLOCK || n->end == WAITEND_RUNS || n->end == WAITEND_OUTSIDE ||
	       n->end == WAITEND_PERSON || n->end == WAITEND_VISITOR || n->spared;
}

/* True of a thread that sleeps, by its call, for less than it takes until its sleep is no excuse. */
static bool sleeps_for_a_while(const struct waitgraph_node *n)
{
	const uint64_t ns = MAX(n->thread->limit_ns, n->thread->left_ns);
	return n->end == WAITEND_CLOCK && ns > 0 && ns < HANG_SLEEP_NS;
}

/* True of a thread that waits for a signal, of a process that has no handler but Python's own for what ends it. */
static bool hears_nothing(const struct waitgraph_node *n)
{
	/* the last two are the C library's own, among its threads */
	static const uint8_t ends[] = {SIGINT, SIGQUIT, SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGPIPE, 32, 33};
	uint64_t words = n->process ? n->process->handled : 0;
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		words &= ~(UINT64_C(1) << (ends[i] - 1));
	return n->fact && n->fact->kind == WAITFACT_SIGNAL && n->process && words == 0 && !n->process->has_timers;
}

/* True if somebody who sleeps, runs, or is none of the job brings what this thread waits for, or the clock does. */
static bool is_brought(const struct hang_work *w, pid_t pid, pid_t tid)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *n = g ? waitgraph_thread(g, pid, tid) : NULL;
	if (!n || n->dead)
		return false;
	for (uint32_t i = 0; i < n->n_edges; i++) {
		const struct waitgraph_node *to = &g->node[g->edge[n->first_edge + i].to];
		if (to->process != n->process && may_bring(to))
			return true;
	}
	return n->n_edges == 0 && (n->end == WAITEND_CLOCK ? sleeps_for_a_while(n) : may_bring(n) && !hears_nothing(n));
}

/* One thread has the interpreter's lock in each dump, stands where it stood, and others want it. */
static bool gil_is_held(struct hang_work *w, bool by_one_that_runs)
{
	const struct stackdump *d = hang_newest(w);
	for (size_t i = 0; i < d->n && w->c->n_dumps > 1; i++) {
		const struct dump_process *p = &d->processes[i];
		const struct dump_thread *holder = NULL;
		size_t waiting = 0;
		for (size_t k = 0; k < p->n_threads; k++) {
			if (p->threads[k].gil == DUMP_GIL_HOLDS)
				holder = &p->threads[k];
			waiting += wants_gil(w, p->pid, &p->threads[k]);
		}
		bool still = holder && waiting > 0;
		for (size_t k = 0; still && k < MIN(w->c->n_dumps, HANG_DUMPS); k++) {
			const struct dump_thread *t = hang_thread_in(w->c->dumps[k], p->pid, holder->tid);
			still = t && t->gil == DUMP_GIL_HOLDS && stackgroup_key(t) == stackgroup_key(holder);
		}
		bool blocked = still && holder->wait.kind != WAIT_RUNNING && holder->wait.kind != WAIT_STOPPED;
		bool native = still && holder->n_frames > 0 && holder->frames[0].kind == FRAME_NATIVE &&
			      (!holder->frames[0].module || !strstr(holder->frames[0].module, "python"));
		if (!blocked && !(native && by_one_that_runs))
			continue;
		const bool brought = is_brought(w, p->pid, holder->tid);
		if (brought && w->standstill_ns < gil_brought_ns)
			continue;
		if (!hang_old_enough(w, HANG_FIRM))
			return true;
		char who[120], at[300];
		hang_is(w, "gil_held", brought ? CONFIDENCE_LOW : blocked ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM);
		hang_accuse(w, p->rank);
		hang_process_who(p, who, sizeof(who));
		hang_place(w, p, holder, at, sizeof(at));
		hang_says(w,
			  "In %s, thread %d (%s) holds Python's interpreter lock in native code and does not give it "
			  "back: %s; %s. %zu thread%s of the process wait%s for it.",
			  who, (int)holder->tid, holder->name, at, blocked ? holder->wait.text : "it runs", waiting,
			  waiting == 1 ? "" : "s", waiting == 1 ? "s" : "");
		return true;
	}
	return false;
}

bool hang_gil_blocked(struct hang_work *w)
{
	return gil_is_held(w, false);
}

bool hang_gil(struct hang_work *w)
{
	return gil_is_held(w, true);
}

static bool of_blocking(const struct hang_work *w, int32_t rank)
{
	for (size_t i = 0; i < w->n_blocking; i++)
		if (w->g.rank[w->blocking[i]].rank == rank && !w->benign[i])
			return true;
	return false;
}

/* A thread is in state D in each dump, in the same function of the kernel. */
bool hang_disk(struct hang_work *w)
{
	const struct stackdump *d = hang_newest(w);
	for (size_t i = 0; i < d->n; i++)
		for (size_t k = 0; k < d->processes[i].n_threads; k++) {
			const struct dump_process *p = &d->processes[i];
			const struct dump_thread *t = &p->threads[k];
			const struct dump_thread *first = hang_thread_in(w->c->dumps[0], p->pid, t->tid);
			const struct liveness *l = liveness_find(w->p, p->rank);
			/* who opens a file may have to wait until a program permits it */
			const bool permits = strncmp(t->wait.wchan, "fanotify", strlen("fanotify")) == 0;
			if (t->wait.kind != WAIT_DISK || permits || !of_blocking(w, p->rank) ||
			    !hang_all_along(w, p->pid, t->tid, WAIT_DISK) || !first ||
			    strcmp(first->wait.wchan, t->wait.wchan) != 0)
				continue;
			if (l && (liveness_moves(w->p, l, LIVENESS_DISK_READ) ||
				  liveness_moves(w->p, l, LIVENESS_DISK_WRITTEN)))
				continue;
			if (!hang_old_enough(w, HANG_FIRM))
				return true;
			char who[120], at[300];
			hang_is(w, "storage_stall", w->c->n_dumps > 1 ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM);
			hang_accuse(w, p->rank);
			hang_process_who(p, who, sizeof(who));
			hang_place(w, p, t, at, sizeof(at));
			hang_says(w,
				  "%s is in uninterruptible sleep (state D) in the kernel%s%s%s%s, %s: the storage "
				  "does not answer.",
				  who, t->wait.wchan[0] ? ", in " : "", t->wait.wchan, t->wait.target[0] ? ", on " : "",
				  t->wait.target, at);
			hang_evidence(w, "wait", "wchan of the thread", "thread %d: state D, %s", (int)t->tid,
				      t->wait.text[0] ? t->wait.text : t->wait.wchan);
			return true;
		}
	return false;
}
