#include <string.h>

#include "base/units.h"
#include "judge/hang/hang_parts.h"
#include "model/jobs/role.h"

/*
 * A loop of the program's own code that calls nothing is a spin after this time and this number of usual gaps. One of
 * compiled code, of which it is not known whether it computes, gets longer, as does one of Python whose variables
 * change: it may go through the same things again and again, and Python takes longer for what it computes.
 */
static const uint64_t spin_ns = 45 * NS_PER_S, compute_ns = 90 * NS_PER_S, busy_ns = 5 * 60 * NS_PER_S;
static const uint64_t go_through_ns = 2 * 60 * NS_PER_S;
static const double go_through_steps = 600;
static const uint64_t gpu_busy_ns = 30 * 60 * NS_PER_S, busy_again_ns = 30 * NS_PER_S;
static const uint64_t missed_again_ns = 5 * NS_PER_S;
/* More ranks that only stand somewhere are not named. */
static const size_t most_named = 2;
static const double spin_gaps = 20, busy_gaps = 30;
static const double spin_cores = 0.8;
/* The same where only the log is silent. */
static const uint64_t silent_log_spin_ns = 3 * 60 * NS_PER_S, silent_log_busy_ns = 15 * 60 * NS_PER_S;
static const uint64_t silent_log_again_ns = 60 * NS_PER_S;
static const double silent_log_spin_lines = 30, silent_log_busy_lines = 60;

void hang_accuse_all(struct hang_work *w)
{
	for (size_t i = 0; i < w->n_blocking; i++)
		if (!w->benign[i])
			hang_accuse(w, w->g.rank[w->blocking[i]].rank);
}

/*
 * True when the same function of the program itself was on top in each dump: it loops and calls nothing that takes
 * time.
 */
static bool circles(const struct hang_work *w, const struct stackgroup_rank *r)
{
	const struct dump_frame *top = r->acting ? hang_own_top(r->acting) : NULL;
	/* Processor time that others took away counts as wanted. */
	double wants = r->cores + hang_queues(w, r->rank);
	if (!r->compared || !top || wants < spin_cores || (top->kind == FRAME_PYTHON && top != r->activity.user))
		return false;
	for (size_t i = 0; i < MIN(w->c->n_dumps, HANG_DUMPS); i++) {
		const struct dump_frame *f = hang_own_top_at(w->c->dumps[i], r);
		if (!f || strcmp(f->name, top->name) != 0)
			return false;
	}
	return true;
}

/* True if its stack could not be read at one of the looks: a thread that gets no processor does not stop in time. */
static bool was_missed(const struct hang_work *w, const struct stackgroup_rank *r)
{
	size_t missed = 0, own = 0;
	for (size_t i = 0; r->acting && i < MIN(w->c->n_dumps, HANG_DUMPS); i++) {
		const struct dump_thread *t = hang_acting_at(w->c->dumps[i], r);
		missed += !t || t->n_frames == 0 || t->note[0];
		own += t && hang_own_top(t);
	}
	return missed > 0 && own > 0;
}

/*
 * The same variables, or in compiled code the same registers and the same frame, at each look: it waits for a change
 * that somebody else makes. Nobody who acts may be about to make it.
 */
static bool looks_in_vain(const struct hang_work *w, const struct stackgroup_rank *r)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *n = g && r->process ? waitgraph_thread(g, r->process->pid, 0) : NULL;
	return hang_same_variables(w, r) && (n ? hang_nobody_acts_but(w, n) : r->acting->has_python);
}

/* True of a rank that circles, if it gives the processor away on the way: who computes does not. */
static bool yields(const struct hang_work *w, const struct stackgroup_rank *r)
{
	for (size_t i = 0; i < MIN(w->c->n_dumps, HANG_DUMPS); i++) {
		const struct dump_thread *t = hang_acting_at(w->c->dumps[i], r);
		if (t && t->n_frames > 0 && strstr(t->frames[0].name, "sched_yield"))
			return true;
	}
	return false;
}

/* Who could change what it looks at: the only process that could write memory of its, and that stands itself. */
static void beside_says(struct hang_work *w, const struct stackgroup_rank *r)
{
	char who[160], wait[480];
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *n = g && r->process ? waitgraph_thread(g, r->process->pid, 0) : NULL;
	if (!n || n->beside == WAITGRAPH_NONE)
		return;
	waitgraph_who_text(g, n->beside, who, sizeof(who));
	waitgraph_wait_text(&g->node[n->beside], wait, sizeof(wait));
	hang_says(w, "Of other processes only %s could change memory of its, and that one does not run: %s.", who,
		  wait);
}

static bool busy_is(struct hang_work *w, const struct stackgroup_rank *r, const char *id, bool looks)
{
	char who[HANG_WHO], doing[300], stood[24];
	/* where it stands, and not why: memory may be somebody's outside as well */
	hang_is(w, id, CONFIDENCE_LOW);
	hang_accuse_all(w);
	hang_doing(w, r, doing, sizeof(doing));
	hang_says(w, "%s uses %.1f cores but has made no step for %s: %s.", hang_who(r->rank, who), r->cores,
		  duration_format(w->standstill_ns, stood), doing);
	if (strcmp(id, "spin") == 0)
		hang_says(w, "It is in the same function at each look: %s.",
			  looks ? "it goes round there without an end"
				: "it goes round there without an end, or computes for long");
	if (strcmp(id, "spin") == 0)
		beside_says(w, r);
	hang_says_who_waits(w);
	return true;
}

/*
 * Ranks that go round in one place look at memory that another one has to change. If one rank stands in a wait of its
 * own, that leads to none of them, it is the one they look for: they are not accused. True if so.
 */
static bool spin_for_another(struct hang_work *w)
{
	size_t spinning = 0;
	bool spins[STACKGROUP_RANKS] = {};
	if (!w->stepping || !hang_graph_stands(w))
		return false;
	for (size_t i = 0; i < w->n_blocking; i++) {
		const struct stackgroup_rank *r = &w->g.rank[w->blocking[i]];
		spins[i] = !w->benign[i] && hang_works(w, r) && circles(w, r);
		spinning += spins[i];
		if (!w->benign[i] && hang_works(w, r) && !spins[i])
			return false;
	}
	for (size_t i = 0; spinning > 0 && i < w->n_blocking; i++)
		w->benign[i] |= spins[i];
	return spinning > 0;
}

/*
 * A rank ended when the job came to a stand, and the others go round in one place or wait: who looks for a change that
 * somebody else has to make looks for what that one would have done.
 */
static bool left_behind(struct hang_work *w, const struct stackgroup_rank *r)
{
	char who[HANG_WHO], doing[300], ranks[200];
	for (size_t i = 0; i < w->n_blocking; i++)
		if (!w->benign[i] && !circles(w, &w->g.rank[w->blocking[i]]))
			return false;
	if (!hang_rank_left_then(w))
		return false;
	if (!hang_old_enough(w, HANG_EXPLAINED))
		return true;
	hang_is(w, "abandoned_wait", CONFIDENCE_MEDIUM);
	for (size_t i = 0; i < w->p->n; i++)
		if (hang_is_left_then(w, &w->p->rank[i]))
			hang_accuse(w, w->p->rank[i].rank);
	hang_ranks_text(w->v->culprits, w->v->n_culprits, ranks, sizeof(ranks));
	hang_doing(w, r, doing, sizeof(doing));
	hang_who(r->rank, who);
	who[0] = r->rank == NO_RANK ? 'T' : 'R';
	hang_says(w, "%s ended when the job came to a stand.", ranks);
	hang_says(w, "%s goes round and looks for a change that does not come: %s.", who, doing);
	hang_says_who_waits(w);
	return true;
}

/* All other ranks wait, in a job that makes steps, and this one neither reads nor writes nor uses its GPU. */
static bool waited_for_alone(const struct hang_work *w, const struct stackgroup_rank *r)
{
	const struct liveness *l = liveness_find(w->p, r->rank);
	return w->stepping && w->many && w->n_blocking == 1 && hang_first_waiting(w) && l && !liveness_reads(w->p, l) &&
	       !liveness_writes(w->p, l) && !hang_gpu_works(w, r->rank);
}

/* True of a server at its door that is asked in vain: what the job reads is read by the tools that ask it. */
static bool is_asked(const struct hang_work *w, const struct stackgroup_rank *r)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *n = g && r->process ? waitgraph_thread(g, r->process->pid, 0) : NULL;
	return n && n->end == WAITEND_VISITOR && hang_asks_in_vain(w, n);
}

/* Something works, so it may be work. */
bool hang_busy(struct hang_work *w)
{
	const struct stackgroup_rank *r = NULL;
	if (spin_for_another(w))
		return false;
	for (size_t i = 0; i < w->n_blocking && !r; i++)
		if (!w->benign[i] && !hang_polls(w, &w->g.rank[w->blocking[i]]) &&
		    hang_works(w, &w->g.rank[w->blocking[i]]) && !is_asked(w, &w->g.rank[w->blocking[i]]))
			r = &w->g.rank[w->blocking[i]];
	if (!r)
		return false;
	bool missed = w->stepping || hang_first_waiting(w);
	double gap = w->stepping ? w->p->gap_ns : 0;
	uint64_t most = MAX(hang_gpu_works(w, r->rank) ? gpu_busy_ns : busy_ns, (uint64_t)(gap * busy_gaps));
	bool spins = missed && circles(w, r);
	bool looks = spins && looks_in_vain(w, r) && !hang_reads_a_clock(w, r);
	bool looks_on = looks || (spins && yields(w, r));
	uint64_t compute = w->s->has_after ? MAX(w->s->after_ns, spin_ns) : compute_ns;
	const double step = w->p->has_step_time ? w->p->step_time_ns : gap;
	const bool goes_through = spins && !looks && r->acting->has_python;
	if (goes_through)
		compute = MAX(compute, MAX(go_through_ns, hang_gap_times(step, go_through_steps)));
	uint64_t spin = MAX(looks_on ? spin_ns : compute, (uint64_t)(gap * spin_gaps));
	if (looks_on && w->stepping && left_behind(w, r))
		return true;
	if (spins && (!goes_through || waited_for_alone(w, r)) && w->standstill_ns >= spin)
		return busy_is(w, r, "spin", looks);
	if (w->stepping && w->standstill_ns >= most)
		return busy_is(w, r, "busy_without_steps", false);
	char doing[300], who[HANG_WHO];
	hang_doing(w, r, doing, sizeof(doing));
	hang_says(w, "%s works: %s", hang_who(r->rank, who), doing);
	const uint64_t left_ns = sub_floor(w->standstill_ns < spin ? spin : most, w->standstill_ns);
	const bool soon = was_missed(w, r) && w->standstill_ns < busy_ns;
	if (missed)
		w->v->again_ns = MAX(MIN(left_ns, soon ? missed_again_ns : busy_again_ns), NS_PER_S);
	return true;
}

/*
 * A job that printed, but not its steps, works and is silent for many times its usual interval. A phase of its own may
 * look the same, so this is reported with low confidence, and no job is ended for it.
 */
bool hang_silent_log(struct hang_work *w)
{
	const struct stackgroup_rank *r = NULL;
	char who[HANG_WHO], doing[300], stood[24], usual[24];
	for (size_t i = 0; i < w->n_blocking && !r; i++)
		if (!w->benign[i] && hang_works(w, &w->g.rank[w->blocking[i]]))
			r = &w->g.rank[w->blocking[i]];
	if (!r)
		return false;
	const struct liveness *l = liveness_find(w->p, r->rank);
	bool still = l && !liveness_reads(w->p, l) && !liveness_writes(w->p, l) && !hang_gpu_works(w, r->rank);
	uint64_t asked = w->s->has_after ? w->s->after_ns : silent_log_spin_ns;
	uint64_t spin_after = MAX(asked, (uint64_t)(w->usual_line_s * silent_log_spin_lines * 1e9));
	uint64_t busy_after =
		MAX(MAX(asked, silent_log_busy_ns), (uint64_t)(w->usual_line_s * silent_log_busy_lines * 1e9));
	bool spins = circles(w, r) && w->standstill_ns >= spin_after;
	if (!spins && !(still && w->standstill_ns >= busy_after)) {
		uint64_t next = w->standstill_ns < spin_after ? spin_after : busy_after;
		w->v->again_ns = MAX(MIN(sub_floor(next, w->standstill_ns), silent_log_again_ns), NS_PER_S);
		return false;
	}
	hang_is(w, spins ? "spin" : "busy_without_steps", CONFIDENCE_LOW);
	hang_accuse_all(w);
	hang_doing(w, r, doing, sizeof(doing));
	hang_says(w, "%s uses %.1f cores but has printed nothing for %s, where a line came every %s: %s.",
		  hang_who(r->rank, who), r->cores, duration_format(w->standstill_ns, stood),
		  duration_format((uint64_t)(w->usual_line_s * 1e9), usual), doing);
	if (spins)
		hang_says(w, "It is in the same function at each look.");
	hang_says(w, "It prints no steps, so a phase that says nothing would look the same.");
	return true;
}

static bool idle_worker(const struct dump_process *p)
{
	struct activity_found f;
	if (p->n_threads == 0)
		return false;
	activity_of(&p->threads[0], &f);
	for (size_t i = 0; i < p->threads[0].n_frames; i++) {
		const struct dump_frame *x = &p->threads[0].frames[i];
		if (x->kind == FRAME_PYTHON && x->file && strstr(x->file, "multiprocessing/queues.py") &&
		    strstr(x->name, "get"))
			return true;
	}
	return false;
}

/* Whom a stuck worker waits for, where that one waits for the worker: as a child whose output nobody reads. */
static void loader_circle_says(struct hang_work *w, pid_t worker)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *n = g ? waitgraph_thread(g, worker, 0) : NULL;
	char who[120], wait[300];
	if (!n || !n->dead || n->n_edges != 1)
		return;
	const uint32_t to = g->edge[n->first_edge].to;
	const struct waitgraph_node *x = &g->node[to];
	if (!x->dead || !x->thread || x->n_edges != 1 || x->process == n->process ||
	    &g->node[g->edge[x->first_edge].to] != n)
		return;
	waitgraph_who_text(g, to, who, sizeof(who));
	waitgraph_wait_text(x, wait, sizeof(wait));
	who[0] = who[0] == 'p' ? 'P' : who[0];
	hang_says(w, "%s waits for that worker in turn: %s. Neither can go on.", who, wait);
}

/* For whom a worker waits that is neither of its rank nor proved to hang: somebody outside, or another rank. */
static const struct waitgraph_node *somebody_else_for(const struct hang_work *w, pid_t worker)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *n = g ? waitgraph_thread(g, worker, 0) : NULL;
	for (uint32_t i = 0; n && !n->dead && i < n->n_edges; i++) {
		const struct waitgraph_node *to = &g->node[g->edge[n->first_edge + i].to];
		const bool of_it = to->process && (to->process == n->process || to->process->pid == n->process->ppid ||
						   to->process->ppid == n->process->pid);
		if (!of_it)
			return to;
	}
	return NULL;
}

static void other_says(struct hang_work *w, const struct waitgraph_node *other)
{
	char who[160];
	if (!other)
		return;
	waitgraph_who_text(w->c->graph, (uint32_t)(other - w->c->graph->node), who, sizeof(who));
	hang_says(w, "It waits for %s: whether that one hangs is not known.", who);
}

/* True if a worker of the rank waits for somebody who is none of the job, as one that reads from a store. */
static bool loader_asks_outside(const struct hang_work *w, const struct stackgroup_rank *r)
{
	const struct stackdump *d = w->c->dumps[MIN(w->c->n_dumps, HANG_DUMPS) - 1];
	for (size_t i = 0; i < d->n; i++) {
		const struct dump_process *p = &d->processes[i];
		const struct waitgraph_node *to =
			p->rank == r->rank && role_name_serves(p->role) ? somebody_else_for(w, p->pid) : NULL;
		if (to && to->end == WAITEND_OUTSIDE)
			return true;
	}
	return false;
}

/*
 * It waits for a data loader's workers. One that has none (num_workers=0) is in its own data set, and in no wait: it
 * has the frames that a worker has else.
 */
static bool waits_for_loader(const struct stackgroup_rank *r)
{
	bool itself = false;
	for (size_t i = 0; r->acting && i < r->acting->n_frames; i++) {
		const struct dump_frame *f = &r->acting->frames[i];
		itself |= f->file && strstr(f->file, "utils/data/_utils/fetch.py");
	}
	return r->activity.kind == ACTIVITY_LOADER_WAIT && !itself;
}

/* Names what the data loader's workers of a rank do. */
static void loader_is(struct hang_work *w, const struct stackgroup_rank *r)
{
	const struct stackdump *d = w->c->dumps[MIN(w->c->n_dumps, HANG_DUMPS) - 1];
	const struct liveness *l = liveness_find(w->p, r->rank);
	const struct dump_process *stuck = NULL;
	char who[HANG_WHO], doing[300];
	size_t n = 0;
	for (size_t i = 0; i < d->n; i++) {
		const struct dump_process *p = &d->processes[i];
		if (p->rank != r->rank || !role_name_serves(p->role))
			continue;
		n++;
		if (!stuck && !idle_worker(p) && p->state != 'Z')
			stuck = p;
	}
	bool gone = l && role_name_serves(l->seen.last_gone.role);
	hang_doing(w, r, doing, sizeof(doing));
	hang_who(r->rank, who);
	if (gone && !stuck) {
		hang_is(w, "loader_worker_dead", n == 0 ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM);
		hang_says(w,
			  "The main process of %s waits for its data loader (%s), but worker %d (%s) has ended%s; %zu "
			  "%s left.",
			  who, doing, (int)l->seen.last_gone.pid, l->seen.last_gone.name,
			  l->seen.last_gone.has_status && (l->seen.last_gone.wait_status & 0x7f) == 9 ? " by SIGKILL"
												      : "",
			  n, n == 1 ? "is" : "are");
		return;
	}
	const struct waitgraph_node *other = stuck ? somebody_else_for(w, stuck->pid) : NULL;
	hang_is(w, "loader_stuck", other ? CONFIDENCE_LOW : stuck ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM);
	hang_says(w, "The main process of %s waits for its data loader: %s.", who, doing);
	if (stuck && stuck->n_threads > 0) {
		struct stackgroup_rank s = {.rank = INT32_MIN, .process = stuck, .acting = &stuck->threads[0]};
		activity_of(s.acting, &s.activity);
		hang_doing(w, &s, doing, sizeof(doing));
		hang_says(w, "Worker %d does not move: %s; %s.", (int)stuck->pid, doing,
			  s.acting->wait.text[0] ? s.acting->wait.text : s.acting->wait_kind);
		loader_circle_says(w, stuck->pid);
		other_says(w, other);
	} else if (n > 0) {
		hang_says(w,
			  "Its %zu workers wait for work themselves: what they made, or what they were asked for, got "
			  "lost.",
			  n);
	} else {
		hang_says(w, "It has no worker.");
	}
}

static void lock_says(struct hang_work *w, const struct stackgroup_rank *r)
{
	const struct dump_thread *t = r->acting;
	if (t->wait.kind != WAIT_LOCK || t->wait.owner == 0)
		return;
	for (size_t i = 0; i < r->process->n_threads; i++) {
		const struct dump_thread *o = &r->process->threads[i];
		struct stackgroup_rank s = {.rank = INT32_MIN, .process = r->process, .acting = o};
		char doing[300];
		if (o->tid != t->wait.owner)
			continue;
		activity_of(o, &s.activity);
		hang_doing(w, &s, doing, sizeof(doing));
		hang_says(w, "The lock is held by thread %d (%s), which is: %s.", (int)o->tid, o->name, doing);
	}
}

static const char *waits_for(const struct stackgroup_rank *r)
{
	return hang_joins_thread(r) ? "waits_for_thread" : "waits_for_process";
}

/* What Python calls a lock or a queue may be a pipe: then another process is at its other end. */
static const char *at_a_lock(const struct hang_work *w, const struct stackgroup_rank *r)
{
	const enum wait_kind kind = r->acting ? r->acting->wait.kind : WAIT_UNKNOWN;
	if (hang_first_waiting(w))
		return NULL;
	return kind == WAIT_PIPE || kind == WAIT_POLL ? "waits_for_process" : "lock_wait";
}

/* The thread of this job at the other end of the connection that the rank reads from; WAITGRAPH_NONE: nobody of it. */
static uint32_t asked_of_the_job(const struct hang_work *w, const struct stackgroup_rank *r)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *n =
		g && r->process && r->acting ? waitgraph_thread(g, r->process->pid, r->acting->tid) : NULL;
	for (uint32_t i = 0; n && i < n->n_edges; i++) {
		const struct waitgraph_edge *e = &g->edge[n->first_edge + i];
		if (e->fact && (e->fact->kind == WAITFACT_TCP || e->fact->kind == WAITFACT_UNIX) &&
		    !e->fact->to_write && g->node[e->to].thread)
			return e->to;
	}
	return WAITGRAPH_NONE;
}

/* Whoever should answer is of this job, and is found where it stands. */
static void asked_says(struct hang_work *w, const struct stackgroup_rank *r)
{
	const uint32_t to = asked_of_the_job(w, r);
	char who[160], wait[300] = "";
	if (to == WAITGRAPH_NONE)
		return;
	const struct waitgraph_node *n = &w->c->graph->node[to];
	waitgraph_who_text(w->c->graph, to, who, sizeof(who));
	waitgraph_wait_text(n, wait, sizeof(wait));
	hang_says(w, "Who should answer is of this job: %s%s%s.", who, wait[0] ? ", which waits itself: " : "", wait);
}

/* The cause's id by what the rank stands in; NULL: nothing specific. */
static const char *hang_stand_cause_of(const struct hang_work *w, const struct stackgroup_rank *r, enum confidence *ret)
{
	const bool bytes = hang_may_await_bytes(r);
	*ret = CONFIDENCE_MEDIUM;
	switch (r->activity.kind) {
	case ACTIVITY_DATA_COPY:
		return bytes ? "data_copy_stuck" : at_a_lock(w, r);
	case ACTIVITY_REMOTE_WRITER:
		return "tensorboard_remote"; /* its callers wait for its queue, which is a lock */
	case ACTIVITY_CHECKPOINT:
		return bytes ? "checkpoint_stuck" : at_a_lock(w, r);
	case ACTIVITY_DOWNLOAD:
		if (!bytes)
			return at_a_lock(w, r);
		return asked_of_the_job(w, r) == WAITGRAPH_NONE ? "download_stuck" : "network_wait";
	case ACTIVITY_EXIT:
		return w->many ? "rank_finishing" : waits_for(r);
	case ACTIVITY_DEBUGGER:
		return "rank_traced";
	case ACTIVITY_GPU_SYNC:
		return "gpu_stuck";
	case ACTIVITY_SLEEP:
		return hang_sleep_ns_of(w, r) > 0 && hang_sleep_ns_of(w, r) < w->standstill_ns / 3 ? "poll_loop"
												   : "rank_sleeps";
	case ACTIVITY_JOIN:
		return hang_first_waiting(w) ? NULL : waits_for(r);
	case ACTIVITY_LOCK:
		return at_a_lock(w, r);
	default:
		break;
	}
	if (r->activity.also_checkpoint)
		return bytes ? "checkpoint_stuck" : at_a_lock(w, r);
	if (!hang_first_waiting(w) && r->acting &&
	    (r->acting->wait.kind == WAIT_SOCKET || r->acting->wait.kind == WAIT_PIPE))
		return r->acting->wait.kind == WAIT_SOCKET ? "network_wait" : "waits_for_process";
	return NULL;
}

/*
 * The output that ranks share, as a launcher's do, ends with an error, and its lines do not say whose it is. Where
 * exactly one rank is at its end, the error is that rank's.
 */
bool hang_shared_error(struct hang_work *w)
{
	const struct stackgroup_rank *one = NULL;
	char doing[300];
	size_t n = 0;
	if (!w->c->nobodys_error || !w->c->nobodys_error[0] || w->g.n < 2)
		return false;
	for (size_t i = 0; i < w->g.n; i++) {
		if (w->g.rank[i].activity.kind != ACTIVITY_EXIT)
			continue;
		one = &w->g.rank[i];
		n++;
	}
	if (n != 1 || !one->has_stack || one->rank == NO_RANK || (one->compared && !one->unchanged))
		return false;
	if (!hang_old_enough(w, HANG_FIRM))
		return true;
	hang_is(w, "one_rank_failed", CONFIDENCE_MEDIUM);
	hang_accuse(w, one->rank);
	hang_doing(w, one, doing, sizeof(doing));
	hang_says(w, "The output that the ranks share ends with an error: %s.", w->c->nobodys_error);
	hang_says(w, "Its lines do not say whose it is, but rank %d alone is at its end and does not get there: %s.",
		  one->rank, doing);
	hang_says_who_waits(w);
	return true;
}

/* Causes that say no more than where a thread stands: they explain nothing of ranks that all stand. */
static bool says_no_more_than_where(const char *id)
{
	static const char *const ids[] = {"lock_wait",	      "network_wait", "waits_for_process",
					  "waits_for_thread", "poll_loop",    "rank_sleeps"};
	for (size_t i = 0; id && i < ARRAY_SIZE(ids); i++)
		if (strcmp(ids[i], id) == 0)
			return true;
	return !id;
}

bool hang_stands_for_a_cause(const struct hang_work *w, int32_t rank)
{
	enum confidence c;
	const struct stackgroup_rank *r = stackgroups_find(&w->g, rank);
	if (!r || !r->has_stack)
		return false;
	return waits_for_loader(r) || !says_no_more_than_where(hang_stand_cause_of(w, r, &c));
}

/* What it waits for, as the graph has it where that knows more than the kernel: the queue of which a lock is a part. */
static void waits_says(struct hang_work *w, const struct stackgroup_rank *r, const char *text, const char *doing)
{
	char wait[300] = "";
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *n = g && r->process ? waitgraph_thread(g, r->process->pid, r->acting->tid) : NULL;
	if (n && n->hint && n->hint->text[0] && n->hint->kind != WAITHINT_RETRY)
		waitgraph_wait_text(n, wait, sizeof(wait));
	else
		TEXT_COPY(wait, r->acting->wait.text);
	hang_says(w, "%s %s%s%s.", text, doing, wait[0] ? "; " : "", wait);
}

static bool nobody_changes(const struct hang_work *w, const struct stackgroup_rank *r)
{
	return hang_looks_in_vain(w, r) || hang_looks_alone(w, r);
}

/* What a loop of naps is for. Who has made a file that is in its way is not known, and may be at work. */
static void loop_says(struct hang_work *w, const struct stackgroup_rank *r)
{
	char slept[24];
	const struct waithint *retry = hang_retries(w, r);
	hang_says(w, "It sleeps for at most %s at a time, again and again: a loop that waits for something.",
		  duration_format(hang_sleep_ns_of(w, r), slept));
	if (retry)
		hang_says(w, "It %s%s%s.", retry->text, retry->owner_text[0] ? "; " : "", retry->owner_text);
	if (hang_looks_at_memory(w, r))
		hang_says(w, "It makes no system call in between, so it looks at memory alone%s.",
			  nobody_changes(w, r) ? ", and nobody is left who changes that" : "");
	const struct hang_asked *asks = hang_asks_in_vain(w, NULL);
	if (hang_all_look(w) > 0)
		hang_all_look_says(w);
	else if (asks && r->process && asks->pid == r->process->pid)
		hang_asks_in_vain_says(w, asks);
	else
		hang_says_who_naps(w, r);
	hang_says_ranks_left_then(w);
	if (hang_awaits_file_of_failed(w, r) && hang_says_who_left_then(w))
		hang_advise(w, "look at what that process says, and ask for its status before its file is waited for");
	if (retry && retry->held)
		hang_advise(w, "look at what the process that has the lock does; it is none of this job's, so one of "
			       "an earlier run that was left behind has to be ended by hand");
	if (!retry || (!retry->exists && !retry->orphan))
		return;
	w->v->confidence = MIN(w->v->confidence, CONFIDENCE_LOW);
	if (hang_is_stale(w, retry))
		hang_says(w, "It has been there for %s: since before the job began, so it was left by somebody else.",
			  duration_format(retry->old_ns, slept));
	hang_advise(w, "if nobody is at work on it any more, remove the file or folder that is in the way: a lock that "
		       "is a file stays when its owner is killed, one of flock() does not");
}

/* True if the kernel was asked to tell of many things at once, by calls that do not say which. */
static bool waits_for_anything(const struct stackgroup_rank *r)
{
	static const char *const calls[] = {"io_uring_enter", "io_getevents", "io_pgetevents"};
	for (size_t i = 0; r->acting && i < ARRAY_SIZE(calls); i++)
		if (strcmp(r->acting->syscall, calls[i]) == 0)
			return true;
	return false;
}

/* Of ranks that all stand, where nobody is named, the first that stands at another line of the program. */
static void another_says(struct hang_work *w, const struct stackgroup_rank *r)
{
	char doing[300];
	const struct dump_frame *at = r->activity.user;
	for (size_t i = 0; at && i < w->n_blocking; i++) {
		const struct stackgroup_rank *o = &w->g.rank[w->blocking[i]];
		const struct dump_frame *there = o->activity.user;
		if (o->rank == NO_RANK || !there || (hang_same_code(at, there) && at->line == there->line))
			continue;
		hang_doing(w, o, doing, sizeof(doing));
		hang_says(w, "Rank %d stands elsewhere: %s.", o->rank, doing);
		return;
	}
}

/* A rank that stands for a reason that is not known may wait for a helper of its own that sleeps. */
static bool may_wait_for_a_sleeper(const struct hang_work *w, const char *id)
{
	for (size_t i = 0; says_no_more_than_where(id) && i < w->n_blocking; i++) {
		const struct stackgroup_rank *r = &w->g.rank[w->blocking[i]];
		if (r->process && hang_sleeper_below(w, r->process->pid))
			return true;
	}
	return false;
}

/* The door of its own process, where what it waits for comes from a thread of its own that waits for visitors. */
static const struct waitfact *door_of_its_own(const struct waitgraph *g, const struct waitgraph_node *n)
{
	for (uint32_t i = 0; i < n->n_edges; i++)
		if (g->node[g->edge[n->first_edge + i].to].process != n->process)
			return NULL;
	for (size_t i = 0; i < g->n_nodes; i++)
		if (g->node[i].process == n->process && &g->node[i] != n && g->node[i].door)
			return g->node[i].door;
	return NULL;
}

/* What it waits for, where anybody may bring that, from outside as well; NULL: it waits for no such thing. */
static const struct waitfact *awaits_anybody(const struct hang_work *w, const struct stackgroup_rank *r)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *n =
		g && r->process && r->acting ? waitgraph_thread(g, r->process->pid, r->acting->tid) : NULL;
	/* memory that itself alone of the job has somebody outside may have, or come to have */
	const bool lonely = n && n->fact && n->fact->kind == WAITFACT_SHARED && n->fact->n_holders <= 1;
	if (!n || n->dead)
		return NULL;
	const bool own = n->end == WAITEND_OWN || n->n_edges > 0;
	return n->end == WAITEND_VISITOR || lonely ? n->fact : own ? door_of_its_own(g, n) : NULL;
}

/*
 * Who should answer it, or take what it sends, is outside of the job, and may be at work on that. A file system that
 * does not answer is a cause by itself.
 */
static bool asks_outside(const struct hang_work *w, const struct stackgroup_rank *r)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *n =
		g && r->process && r->acting ? waitgraph_thread(g, r->process->pid, r->acting->tid) : NULL;
	if (!n || (n->fact && (n->fact->kind == WAITFACT_FUSE || n->fact->kind == WAITFACT_STORAGE)))
		return false;
	for (uint32_t i = 0; i < n->n_edges; i++)
		if (g->node[g->edge[n->first_edge + i].to].end == WAITEND_OUTSIDE)
			return true;
	return n->end == WAITEND_OUTSIDE;
}

/* Somebody outside may make what it looks for in a loop of naps, as nothing tells who makes that. */
static bool looks_for_anybodys(const struct hang_work *w, const struct stackgroup_rank *r, const char *id)
{
	const struct waitgraph_node *n =
		w->c->graph && r->process ? waitgraph_thread(w->c->graph, r->process->pid, 0) : NULL;
	const bool within = n && n->n_edges > 0; /* what it looks at is of the job, as memory that others have */
	return id && strcmp(id, "poll_loop") == 0 && !within && !hang_knows_maker(w, r) &&
	       !hang_looks_at_memory(w, r) && !hang_tries_in_vain(w, r) && !hang_awaits_file_of_failed(w, r);
}

/* It is in a circle of which an arrow is no more than possible: that the others wait for it may be a mistake. */
static bool in_a_vague_circle(const struct hang_work *w, const struct stackgroup_rank *r)
{
	const struct waitgraph_sink *s =
		w->c->graph && r->process ? waitgraph_end_of(w->c->graph, r->process->pid) : NULL;
	return s && s->end == WAITEND_CIRCLE && !s->dead && s->circle == WAITGRAPH_POSSIBLE;
}

/* Who stands still, and where. */
static void stands_says(struct hang_work *w, const struct stackgroup_rank *r, const char *doing)
{
	char who[HANG_WHO], stands[HANG_WHO + 60];
	hang_who(r->rank, who);
	if (r->rank == NO_RANK && r->process)
		TEXT_FORMAT(stands, "The job's process %d (%s) stands still:", (int)r->process->pid, r->process->name);
	else
		TEXT_FORMAT(stands,
			    hang_first_waiting(w) ? "%s is not with the others: it stands still,"
						  : "%s stands still:",
			    who);
	waits_says(w, r, stands, doing);
}

bool hang_one_stands(struct hang_work *w)
{
	const struct stackgroup_rank *r = hang_culprit(w);
	enum confidence c = CONFIDENCE_MEDIUM;
	char doing[300];
	if (!r || !r->has_stack)
		return false;
	bool loader = waits_for_loader(r), makes_none = hang_ranks_make_none(w, r);
	const char *id = hang_stand_cause_of(w, r, &c);
	/* Several ranks stand, and none is known to wait for another: which one is to blame only a log may tell. */
	bool named = w->c->book && w->c->book->valid && w->c->book->n_culprits > 0;
	bool anyone = !loader && !named && w->n_blocking > 1 && !hang_first_waiting(w) && says_no_more_than_where(id);
	anyone |= !id && !named && waits_for_anything(r);
	if (!loader && !id && !hang_first_waiting(w))
		return false;
	/* One that naps in a loop, and was found awake, does not stand either. */
	bool awake = r->acting && r->acting->wait.kind == WAIT_RUNNING;
	if (!id && !loader && (awake || (r->compared && !r->unchanged)))
		return false;
	bool changed = r->compared && !r->unchanged, kernel = hang_awaits_kernel(w, r);
	const struct dump_frame *call = NULL;
	const struct stackgroup_rank *odd = anyone ? hang_naps_elsewhere(w, &call) : NULL;
	/* hang_benign has given the loop its time */
	const struct waithint *retry = hang_retries(w, r);
	const size_t lookers = !hang_first_waiting(w) && hang_looks_at_memory(w, r) ? hang_all_look(w) : 0;
	const bool makers = hang_knows_maker(w, r);
	const bool unsure = lookers > 2 || (r->acting && r->acting->has_python);
	bool told = !anyone || odd || lookers || makers || hang_looks_in_circle(w, r) || hang_tries_in_vain(w, r) ||
		    makes_none || (retry && retry->exists) || hang_polls_by_ticks(w, r) || hang_polls_by_file(w, r);
	enum hang_proof need = HANG_VAGUE;
	const bool vague = says_no_more_than_where(id) && in_a_vague_circle(w, r), outside = asks_outside(w, r);
	if (told && !kernel)
		need = vague || outside ? HANG_EXPLAINED : HANG_FIRM;
	else if (changed || kernel)
		need = HANG_DOUBTFUL;
	else if (hang_all_wait_in_circle(w))
		need = HANG_EXPLAINED;
	const struct waitfact *anybody = awaits_anybody(w, r);
	const bool word = anybody && anybody->kind == WAITFACT_SIGNAL; /* of a scheduler, or a person */
	const bool sleeper = loader ? loader_asks_outside(w, r) : !kernel && (word || may_wait_for_a_sleeper(w, id));
	/* kernels of minutes that keep one multiprocessor busy are rare, but healthy */
	if ((sleeper && !hang_outlasts_helpers(w)) || !hang_old_enough(w, need))
		return true;
	if (kernel) {
		hang_kernel_is(w, r);
	} else if (loader) {
		loader_is(w, r);
	} else {
		/* Whom the others wait for is known by name or by the graph; why it stands is not proved. */
		enum confidence by_graph = CONFIDENCE_LOW;
		bool sure = hang_all_still(w) && hang_first_waiting(w);
		bool drawn = hang_graph_names(w, r->rank, &by_graph), why = !says_no_more_than_where(id);
		bool known = sure && activity_waits_for_ranks(hang_first_waiting(w)->activity.kind);
		if (known || (sure && drawn && by_graph == CONFIDENCE_HIGH && why))
			c = CONFIDENCE_HIGH;
		else if (drawn && (why || w->many))
			c = MIN(by_graph, CONFIDENCE_MEDIUM);
		else if (makers)
			c = CONFIDENCE_MEDIUM; /* who should make what it looks for */
		else if (lookers ? unsure : !why && !hang_joins_thread(r) && !hang_first_waiting(w))
			c = CONFIDENCE_LOW; /* where, and neither who nor why */
		const bool others = sleeper || vague || anybody || outside || looks_for_anybodys(w, r, id);
		w->may_end |= others;
		hang_is(w, id ? id : "missing_rank", others || (anyone && !lookers) ? CONFIDENCE_LOW : c);
		w->v->unexplained = !why;
		w->by_ticks |= hang_polls_by_ticks(w, r);
		w->by_file |= hang_polls_by_file(w, r);
		if (odd) {
			hang_naps_elsewhere_is(w, odd, call);
			return true;
		}
		hang_doing(w, r, doing, sizeof(doing));
		stands_says(w, r, doing);
		if (anyone)
			another_says(w, r);
		if (r->activity.kind == ACTIVITY_DOWNLOAD || (id && strcmp(id, "network_wait") == 0))
			asked_says(w, r);
		lock_says(w, r);
		if (hang_joins_thread(r) && !hang_thread_of_graph(w, r->process->pid))
			hang_thread_of_stacks(w, r);
		if (id && strcmp(id, "poll_loop") == 0)
			loop_says(w, r);
		else if (id && strcmp(id, "lock_wait") == 0 && r->acting->wait.owner == 0)
			hang_own_code_says(w, r);
		if (!hang_says_refused(w, r->rank) && !why && !hang_first_waiting(w))
			hang_says_who_left_then(w);
		if (anyone && !lookers && hang_all_wait_in_circle(w))
			hang_elsewhere_says(w);
	}
	if (!anyone || lookers)
		hang_accuse_all(w);
	const bool all_of_few = lookers > 0 && w->v->n_culprits <= 2 * most_named;
	/* most stand: one of the few may be it */
	if (w->v->n_culprits > most_named && !all_of_few && says_no_more_than_where(id)) {
		w->v->n_culprits = 0;
		w->v->confidence = CONFIDENCE_LOW;
	}
	hang_says_who_waits(w);
	return true;
}
