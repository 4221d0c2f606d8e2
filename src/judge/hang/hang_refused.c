/* Loops that try again and again: to connect to an address at which nobody is, and children that fail each time. */
#include <errno.h>
#include <string.h>
#include <sys/wait.h>

#include "base/units.h"
#include "judge/hang/hang_advice.h"
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

/* ---- children that fail and are started anew ---- */

/* So often has a child failed in a row, each time with the same status; so far apart are two of them at most. */
static const uint64_t child_least = 8, child_gap_ns = 15 * NS_PER_S;
/* It goes on if the last one is not older than this, and than so many usual gaps. */
static const uint64_t child_ago_ns = 10 * NS_PER_S, child_ago_gaps = 3;
/*
 * So long since the last step may one fail, with steps known and without; and may one ask, as others wait for a service
 * that is started late. A job without steps may ask for as long as it may sleep.
 */
static const uint64_t child_fails_stepping_ns = 40 * NS_PER_S, child_fails_ns = 2 * 60 * NS_PER_S;
static const uint64_t child_asks_stepping_ns = 2 * 60 * NS_PER_S;
static const double child_gaps = 5;
/* A look is asked for so much earlier than the verdict is due, and again after this time. */
static const uint64_t child_look_ns = 5 * NS_PER_S, child_again_ns = 30 * NS_PER_S;

static uint64_t child_since(const struct liveness_set *p, const struct respawn *r)
{
	return MAX(r->since_ns, p->step_ns);
}

static bool child_goes_on(const struct liveness_set *p, const struct respawn *r)
{
	const uint64_t gap_ns = respawn_gap_ns(r), ago_ns = sub_floor(p->now_ns, renewals_last_ns(&r->failed));
	return r->n >= child_least && r->n_same >= child_least && gap_ns <= child_gap_ns &&
	       ago_ns < MAX(child_ago_ns, child_ago_gaps * gap_ns) &&
	       renewals_since(&r->failed, child_since(p, r)) == RENEWALS_KEPT;
}

static bool child_errs(const struct respawn *r)
{
	return respawn_by_fault(r) || respawn_words_of(r) == RESPAWN_FAILS;
}

static uint64_t child_due_ns(const struct hang_settings *s, const struct liveness_set *p, bool errs)
{
	const bool stepping = p->progress_known && p->has_gap;
	const uint64_t gaps_ns = stepping ? hang_gap_times(p->gap_ns, child_gaps) : 0;
	if (errs)
		return s->has_after ? MAX(s->after_ns, gaps_ns)
				    : MAX(stepping ? child_fails_stepping_ns : child_fails_ns, gaps_ns);
	const uint64_t asks_ns = stepping ? child_asks_stepping_ns : hang_time(s->sleep_ns, HANG_SLEEP_NS);
	return MAX(MAX(asks_ns, gaps_ns), s->has_after ? s->after_ns : 0);
}

/* The one that errs, else any, the longest so; NULL: none. */
static const struct respawn *child_of(const struct liveness_set *p)
{
	const struct respawn *best = NULL;
	for (size_t i = 0; i < p->respawns.n; i++) {
		const struct respawn *r = &p->respawns.of[i];
		if (!child_goes_on(p, r) || (best && child_errs(best) && !child_errs(r)))
			continue;
		if (!best || child_errs(r) != child_errs(best) || r->since_ns < best->since_ns)
			best = r;
	}
	return best;
}

uint64_t hang_made_anew(const struct hang_settings *s, const struct liveness_set *p, char *text, size_t cap)
{
	const struct respawn *r = child_of(p);
	const uint64_t since_ns = r ? child_since(p, r) : 0;
	if (!r || sub_floor(p->now_ns, since_ns) + child_look_ns < child_due_ns(s, p, child_errs(r)))
		return 0;
	text_format(text, cap, "a child of %s (pid %d) has failed %llu times in a row", r->parent_name, (int)r->parent,
		    (unsigned long long)r->n);
	return since_ns;
}

/* What all others of the job do meanwhile. */
enum others { OTHERS_WAIT, OTHERS_MAY_ACT, OTHERS_WORK };

/* Processor time that was not spent by what failed. */
static bool others_compute(const struct hang_work *w, const struct respawn *r)
{
	const double most_cores = 0.3;
	const double over_ns = (double)sub_floor(renewals_last_ns(&r->failed), r->since_ns);
	const double failed = over_ns > 0 ? (double)r->spent_ns / over_ns : 0;
	double all = 0;
	for (size_t i = 0; i < w->p->n; i++)
		all += w->p->rank[i].trace[LIVENESS_CPU].known ? w->p->rank[i].trace[LIVENESS_CPU].rate / 1e9 : 0;
	return all > most_cores + failed * (1 + most_cores);
}

static const struct waitfact_process *process_with(const struct waitgraph *g, pid_t pid)
{
	for (size_t i = 0; i < g->n_nodes; i++)
		if (g->node[i].thread && g->node[i].process && g->node[i].process->pid == pid)
			return g->node[i].process;
	return NULL;
}

static bool in_dump(const struct stackdump *d, pid_t pid)
{
	for (size_t i = 0; i < d->n; i++)
		if (d->processes[i].pid == pid)
			return true;
	return false;
}

/* True if this process starts a child that fails again and again; name: of that name, NULL: any. */
static bool starts_such(const struct hang_work *w, pid_t pid, const char *name)
{
	for (size_t i = 0; i < w->p->respawns.n; i++) {
		const struct respawn *r = &w->p->respawns.of[i];
		if (r->parent == pid && child_goes_on(w->p, r) && (!name || strcmp(r->name, name) == 0))
			return true;
	}
	return false;
}

/* True of a process that came during the look, and of the only child of a parent and name that fails; and theirs. */
static bool is_child(const struct hang_work *w, const struct waitfact_process *x)
{
	const struct waitgraph *g = w->c->graph;
	const int most = 8;
	for (int up = 0; x && up < most; up++, x = process_with(g, x->ppid)) {
		size_t like = 0;
		if (w->c->n_dumps > 1 && !in_dump(w->c->dumps[0], x->pid))
			return true;
		if (!starts_such(w, x->ppid, x->name))
			continue;
		for (size_t i = 0; i < g->n_nodes; i++)
			like += g->node[i].main && g->node[i].thread && g->node[i].process->ppid == x->ppid &&
				strcmp(g->node[i].process->name, x->name) == 0;
		return like == 1;
	}
	return false;
}

static enum others main_thread_is(const struct hang_work *w, const struct respawn *r, const struct waitgraph_node *n)
{
	const bool sleeps_on = MAX(n->thread->limit_ns, n->thread->left_ns) >= HANG_SLEEP_SURE_NS;
	switch (n->end) {
	case WAITEND_NONE:
	case WAITEND_NOBODY:
	case WAITEND_GONE:
	case WAITEND_CIRCLE:
	case WAITEND_OWN:
	case WAITEND_ANY:
		return OTHERS_WAIT;
	case WAITEND_VISITOR: /* without steps a server that nobody asks is well, whatever fails beside it */
		if (child_errs(r) && n->fact && n->fact->kind == WAITFACT_SIGNAL)
			return OTHERS_WAIT;
		return w->stepping ? OTHERS_WAIT : OTHERS_WORK;
	case WAITEND_OUTSIDE:
	case WAITEND_DEVICE:
		return w->stepping ? OTHERS_WAIT : OTHERS_WORK;
	case WAITEND_RUNS:
		return n->glances ? OTHERS_WAIT : OTHERS_WORK;
	case WAITEND_CLOCK:
		/* Who sleeps for half an hour may bring what is asked for, not mend what fails. */
		return n->naps || (sleeps_on && child_errs(r)) ? OTHERS_WAIT : OTHERS_MAY_ACT;
	default:
		return OTHERS_MAY_ACT;
	}
}

/* True if a device of the job works, or, where no steps tell, if bytes come or go over the network. */
static bool others_move(const struct hang_work *w)
{
	for (size_t i = 0; i < w->p->n; i++) {
		const struct liveness *l = &w->p->rank[i];
		const bool net = liveness_moves(w->p, l, LIVENESS_NET_SENT) ||
				 liveness_moves(w->p, l, LIVENESS_NET_RECEIVED);
		if (hang_gpu_works(w, l->rank) || (net && !w->stepping))
			return true;
	}
	return false;
}

/*
 * True if a thread of who starts the child, or of another process, ran in each dump, or was ready to. The main thread
 * of who starts it may be ready for long on a crowded machine; that it makes no step tells that it does not compute.
 */
static bool others_run(const struct hang_work *w)
{
	const struct stackdump *d = hang_newest(w);
	for (size_t i = 0; d && i < d->n; i++) {
		const struct dump_process *x = &d->processes[i];
		const struct waitfact_process *f = w->c->graph ? process_with(w->c->graph, x->pid) : NULL;
		const bool starts = starts_such(w, x->pid, NULL);
		if (!starts && (!f || is_child(w, f)))
			continue;
		for (size_t k = 0; k < x->n_threads; k++)
			if (!(starts && w->stepping && x->threads[k].main) &&
			    hang_all_along(w, x->pid, x->threads[k].tid, WAIT_RUNNING))
				return true;
	}
	return false;
}

static enum others what_others_do(const struct hang_work *w, const struct respawn *r)
{
	const struct waitgraph *g = w->c->graph;
	enum others most = OTHERS_WAIT;
	if (others_compute(w, r) || others_move(w) || others_run(w))
		return OTHERS_WORK;
	for (size_t i = 0; g && i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		if (!n->main || !n->thread || !n->process || starts_such(w, n->process->pid, NULL) ||
		    (n->who && n->who->launcher) || is_child(w, n->process))
			continue;
		most = MAX(most, main_thread_is(w, r, n));
	}
	return g ? most : MAX(most, OTHERS_MAY_ACT);
}

/* True if a process that is neither this one nor a child of it waits for one of these. */
static bool some_wait_for(const struct waitgraph *g, pid_t pid)
{
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		if (!n->process || n->process->pid == pid || n->process->ppid == pid)
			continue;
		for (uint32_t k = 0; k < n->n_edges; k++) {
			const struct waitfact_process *to = g->node[g->edge[n->first_edge + k].to].process;
			if (to && (to->pid == pid || to->ppid == pid))
				return true;
		}
	}
	return false;
}

/*
 * True if it is this child that the job waits for: the main thread of who starts it does nothing else, and is a rank's
 * or what others wait for. A helper beside a rank may fail for ever while that one waits for something else.
 */
static bool child_is_waited_for(const struct hang_work *w, const struct respawn *r)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *n = g ? waitgraph_thread(g, r->parent, 0) : NULL;
	if (!n)
		return false;
	const bool by_fact = n->fact && (n->fact->kind == WAITFACT_CHILD || n->fact->kind == WAITFACT_PIPE);
	/* One that naps may have arrows, as if it looked for what others bring. */
	if (!by_fact && !n->naps && n->end != WAITEND_RUNS && n->end != WAITEND_CLOCK)
		return false;
	return (n->who && (n->who->main || (n->who->launcher && !w->many))) || some_wait_for(g, r->parent);
}

/* "with status 1", "by signal 11" */
static const char *child_how(const struct respawn *r, char dst[static 32])
{
	if (WIFSIGNALED(r->wait_status))
		text_format(dst, 32, "by signal %d", WTERMSIG(r->wait_status));
	else
		text_format(dst, 32, "with status %d", WEXITSTATUS(r->wait_status));
	return dst;
}

/* "process 812 (bash) starts "python3 load.py" anew each 300 ms: it ended with status 1 each time, 97 times …" */
static void child_text(const struct hang_work *w, const struct respawn *r, char *dst, size_t cap)
{
	char each[24], since[24], how[32], who[HANG_WHO], of[HANG_WHO + 8] = "";
	if (r->rank != NO_RANK)
		TEXT_FORMAT(of, " of %s", hang_who(r->rank, who));
	const char *quote = r->command[0] ? "\"" : "";
	text_format(dst, cap,
		    "process %d (%s)%s starts %s%s%s%s anew each %s: it ended %s each time, %llu times in a row in %s",
		    (int)r->parent, r->parent_name, of, r->command[0] ? "" : "a child called ", quote,
		    r->command[0] ? r->command : r->name, quote,
		    duration_format(respawn_gap_ns(r), each), child_how(r, how), (unsigned long long)r->n,
		    duration_format(sub_floor(w->p->now_ns, r->since_ns), since));
}

static void child_says(struct hang_work *w, const struct respawn *r)
{
	char text[400];
	child_text(w, r, text, sizeof(text));
	hang_says(w, "%s.", text);
	if (respawn_words_of(r) != RESPAWN_SILENT)
		hang_says(w, "The last line each time: %s", r->words);
}

/* Not yet: false if others may say something meanwhile. */
static bool child_too_young(struct hang_work *w, uint64_t stood_ns, uint64_t due_ns)
{
	if (stood_ns >= due_ns)
		return false;
	w->v->kind = HANG_NONE;
	w->v->again_ns = MAX(MIN(due_ns - stood_ns, child_again_ns), NS_PER_S);
	TEXT_COPY(w->v->text, "a child fails again and again, but not for long enough to be sure");
	return true;
}

/*
 * Accuses the ranks that start a child which fails, unless all of them do: then it is what they have in common. Says of
 * a second one.
 */
static void child_accuses(struct hang_work *w, const struct respawn *first)
{
	const struct respawn *second = NULL;
	int32_t rank[RESPAWNS_KEPT];
	size_t n = 0;
	bool ended;
	for (size_t i = 0; i < w->p->respawns.n; i++) {
		const struct respawn *r = &w->p->respawns.of[i];
		size_t k = 0;
		if (r->rank == NO_RANK || !child_goes_on(w->p, r) || !child_errs(r))
			continue;
		while (k < n && rank[k] != r->rank)
			k++;
		second = !second && r->rank != first->rank ? r : second;
		if (k == n)
			rank[n++] = r->rank;
	}
	for (size_t i = 0; i < n && n < hang_live_ranks(w->p, &ended); i++)
		hang_accuse(w, rank[i]);
	if (second)
		child_says(w, second);
}

bool hang_child_fails(struct hang_work *w)
{
	const struct respawn *r = child_of(w->p);
	if (!r || !child_errs(r) || what_others_do(w, r) != OTHERS_WAIT || !child_is_waited_for(w, r))
		return false;
	if (child_too_young(w, sub_floor(w->p->now_ns, child_since(w->p, r)), child_due_ns(w->s, w->p, true)))
		return true;
	hang_is(w, "child_fails", CONFIDENCE_MEDIUM);
	child_says(w, r);
	if (w->many) {
		child_accuses(w, r);
		hang_says_who_waits(w);
	}
	return true;
}

/* What this process, or a child of it that has ended, tries to connect to; NULL: nothing is known. */
static const struct hang_refused *child_asks_at(const struct hang_work *w, const struct respawn *r)
{
	for (size_t i = 0; i < w->c->n_refused; i++)
		if (w->c->refused[i].pid == r->parent && goes_on(w, &w->c->refused[i]))
			return &w->c->refused[i];
	return NULL;
}

/* A silent child that prints other lines, or others that do: something goes on. */
static bool others_print(const struct hang_work *w, const struct respawn *r)
{
	const uint64_t lately_ns = 10 * NS_PER_S;
	bool prints = false;
	for (size_t i = 0; i < w->p->n; i++) {
		const struct liveness_trace *t = &w->p->rank[i].trace[LIVENESS_LOG_LINES];
		prints |= t->known && t->ever_moved && sub_floor(w->p->now_ns, t->moved_ns) < lately_ns;
	}
	return prints && respawn_words_of(r) == RESPAWN_SILENT;
}

bool hang_child_asks(struct hang_work *w)
{
	const struct respawn *r = child_of(w->p);
	const enum others others = r ? what_others_do(w, r) : OTHERS_WORK;
	if (!r || others == OTHERS_WORK || (others == OTHERS_MAY_ACT && !child_errs(r)) || others_print(w, r))
		return false;
	const uint64_t stood_ns = sub_floor(w->p->now_ns, child_since(w->p, r));
	if (child_too_young(w, stood_ns, child_due_ns(w->s, w->p, false)))
		return w->made_anew;
	const struct hang_refused *at = child_asks_at(w, r);
	hang_is(w, "child_fails", CONFIDENCE_LOW);
	w->advice = HANG_ADVICE_ASKS;
	if (at)
		hang_says(w, "The job waits for somebody to answer at %s: %s.", at->address, why_of(at));
	child_says(w, r);
	if (!at && !child_errs(r))
		hang_says(w, "It may ask each time for something that is not there yet.");
	return true;
}

static void child_evidence(struct hang_work *w)
{
	char text[360];
	for (size_t i = 0; i < w->p->respawns.n; i++) {
		const struct respawn *r = &w->p->respawns.of[i];
		if (!child_goes_on(w->p, r))
			continue;
		child_text(w, r, text, sizeof(text));
		hang_evidence(w, "waits", "ends of processes (BPF)", "%s", text);
	}
}

/* ---- evidence ---- */

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
	child_evidence(w);
}
