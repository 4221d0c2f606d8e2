/*
 * Which threads can never run again. A thread is live if it may be woken by the clock or by somebody outside, or if
 * anybody who could wake it is live; this spreads along "could wake" until nothing is added. What is left is dead.
 *
 * It works on the facts alone, not on the narrowed arrows: every holder counts, and any thread of it.
 */
#include <signal.h>
#include <string.h>

#include "base/bisect.h"
#include "base/vec.h"
#include "model/hang/waitgraph_parts.h"

#define SIGNAL_BIT(n) (UINT64_C(1) << ((n)-1))
/* An alarm, and that input has come, are sent by the kernel, which does not say whether they will be. */
#define SIGNALS_OF_KERNEL (SIGNAL_BIT(SIGALRM) | SIGNAL_BIT(SIGIO))
/*
 * Those that programs send each other: all from 34 on are free (the C library keeps 32 and 33). What asks a process to
 * end (SIGTERM, SIGINT) or what its own fault raises is none: it ends a hang as anybody may, and proves no life.
 */
#define SIGNALS_OF_PROGRAMS (SIGNAL_BIT(SIGUSR1) | SIGNAL_BIT(SIGUSR2) | ~UINT64_C(0) << 33)
/*
 * What somebody outside of the job, or the kernel for what comes from there, sends to tell a process something: a
 * change of a folder, a message in a queue, a file that others want (fcntl(2) F_SETSIG, mq_notify(3)), an operator's
 * word.
 */
#define SIGNALS_OF_OUTSIDE                                                                                             \
	(SIGNALS_OF_PROGRAMS | SIGNAL_BIT(SIGHUP) | SIGNAL_BIT(SIGCONT) | SIGNAL_BIT(SIGWINCH) | SIGNAL_BIT(SIGURG) |  \
	 SIGNAL_BIT(SIGPWR) | SIGNAL_BIT(SIGTSTP))
/* Go's runtime has handlers for all of them, wanted or not. */
#define SIGNALS_OF_GO (SIGNAL_BIT(SIGURG) | SIGNAL_BIT(SIGPROF) | SIGNAL_BIT(SIGUSR1) | SIGNAL_BIT(SIGALRM))
/* Java's virtual machine handles these for itself: SIGHUP ends it, SIGUSR2 stops a thread of its own. */
#define SIGNALS_OF_FAULTS (SIGNAL_BIT(SIGILL) | SIGNAL_BIT(SIGBUS) | SIGNAL_BIT(SIGFPE) | SIGNAL_BIT(SIGSEGV))
#define SIGNALS_OF_JAVA (SIGNALS_OF_FAULTS | SIGNAL_BIT(SIGQUIT) | SIGNAL_BIT(SIGPIPE) | SIGNAL_BIT(SIGUSR2))
/* Node has one for SIGUSR1, by which its debugger is started, and of the faults one for SIGSEGV alone. */
#define SIGNALS_OF_NODE (SIGNAL_BIT(SIGUSR1) | SIGNAL_BIT(SIGSEGV) | SIGNAL_BIT(SIGTERM))

/*
 * "If `by` is live, `node` is." by: a node, or, from n_nodes on, a process: any thread of it. Behind the processes
 * stand the same by those of their threads alone that act by themselves, the same as ones that somebody who acts may
 * end, and the locks of which all holders have to let go: such a one is live when each of them is.
 */
struct wakes {
	uint32_t by, node;
};

struct spread {
	struct wakes *wake; /* sorted by `by` */
	size_t n, cap;
	bool *live; /* nodes, then processes three times, then locks */
	size_t n_live;
	uint32_t *pending;
	size_t n_pending;
	uint32_t n_nodes;
	uint32_t first_acting; /* index of the first process once more: as one whose threads act by themselves */
	uint32_t first_ended; /* the same, as one that others may end */
	uint32_t first_lock, n_locks; /* index of the first one; how many there are so far */
	uint32_t *missing; /* of each lock: holders that are not live yet */
	/* nobody outside of the job has its shared memory, opens its FIFOs, or sends its processes signals */
	bool shared_is_whole;
	bool fifos; /* several processes open one */
	bool possible; /* what is possible, and explains nothing, is spread: it takes proofs away only */
	bool signals; /* several wait for one that programs send, and none of those who could is live */
	const struct waitfacts *now;
	struct waitgraph_node *node;
};

static int by_source(const void *a, const void *b)
{
	const struct wakes *x = a, *y = b;
	return (x->by > y->by) - (x->by < y->by);
}

static void is_live(struct spread *s, uint32_t i)
{
	if (s->live[i])
		return;
	s->live[i] = true;
	if (s->possible && i < s->n_nodes)
		s->node[i].doubtful |= !s->shared_is_whole;
	s->n_live++;
	s->pending[s->n_pending++] = i;
}

static int wake_add(struct spread *s, uint32_t by, uint32_t node)
{
	if (vec_room(&s->wake, &s->cap, s->n + 1) < 0)
		return -ENOMEM;
	s->wake[s->n++] = (struct wakes){by, node};
	return 0;
}

/* Index of a process behind the nodes; WAITGRAPH_NONE: not one whose threads are known. */
static uint32_t process_index(const struct spread *s, pid_t pid)
{
	const struct waitfact_process *p = waitfacts_process(s->now, pid);
	return p && p->n_threads > 0 ? s->n_nodes + (uint32_t)(p - s->now->process) : WAITGRAPH_NONE;
}

static bool has_ended(const struct spread *s, pid_t pid)
{
	const struct waitfact_process *p = waitfacts_process(s->now, pid);
	return p && p->state == 'Z';
}

/*
 * True if several processes of the job open a FIFO, each of which nobody has open: they may open each other's. Or if
 * several wait for signals that programs send: they may send each other's.
 */
static bool several_wait(const struct waitfacts *now, enum waitfact_kind kind)
{
	pid_t first = 0;
	for (size_t i = 0; i < now->n_threads; i++) {
		const struct waitfact_thread *t = &now->thread[i];
		const struct waitfact *f = &now->fact[t->first];
		if (t->n != 1 || f->kind != kind || (kind == WAITFACT_SIGNAL && !f->of_programs) || t->pid == first)
			continue;
		if (first)
			return true;
		first = t->pid;
	}
	return false;
}

/*
 * True if another process of the job has the memory as well, or had it and has ended; what one has alone may be another
 * job's.
 */
static bool is_shared_within(const struct spread *s, const struct waitgraph_node *x, const struct waitfact *f)
{
	if (f->kind == WAITFACT_FIFO)
		return s->fifos;
	if (f->kind == WAITFACT_SIGNAL)
		return s->signals && (f->of_programs || !x->main);
	for (uint32_t k = 0; f->kind == WAITFACT_SHARED && k < f->n_holders; k++)
		if (s->now->holder[f->first_holder + k].pid != x->process->pid)
			return true;
	return waitgraph_left_alone(s->now, x, f);
}

/*
 * All holders have to let go. One that is not live keeps the thread where it is, whoever else may hold the lock as
 * well, so the list need not be whole.
 */
static int all_wake(struct build *b, struct spread *s, uint32_t i, const struct waitfact *f)
{
	const uint32_t lock = s->first_lock + s->n_locks;
	uint32_t *missing = &s->missing[s->n_locks++];
	for (uint32_t k = 0; k < f->n_holders; k++) {
		const struct waitfact_holder *h = &s->now->holder[f->first_holder + k];
		uint32_t by = h->tid ? waitgraph_node_of(b, h->pid, h->tid) : process_index(s, h->pid);
		if (by == WAITGRAPH_NONE) /* it may let go, or has */
			continue;
		++*missing;
		if (wake_add(s, by, lock) < 0)
			return -ENOMEM;
	}
	if (*missing == 0)
		is_live(s, i);
	return wake_add(s, lock, i);
}

/*
 * What another process should bring may be ended by a thread of the waiting one: it shuts the socket down, ends the
 * child that it waits for, or whoever has the other end of a pipe, as a watchdog or a timer for a limit does.
 */
static bool is_brought_by_others(const struct spread *s, const struct waitgraph_node *x, const struct waitfact *f)
{
	if (f->kind != WAITFACT_CHILD && f->kind != WAITFACT_PIPE && f->kind != WAITFACT_TCP &&
	    f->kind != WAITFACT_UNIX)
		return false;
	for (uint32_t k = 0; k < f->n_holders; k++)
		if (s->now->holder[f->first_holder + k].pid != x->process->pid)
			return true;
	return false;
}

/*
 * The end of one of these processes would end the wait: that of a child, of the other end of a connection, of who has a
 * lock. Not where the waiting process has the pipe's other end as well.
 */
static bool ends_with_holder(const struct spread *s, const struct waitgraph_node *x, const struct waitfact *f)
{
	if (f->kind == WAITFACT_FILE_LOCK)
		return true;
	for (uint32_t k = 0; k < f->n_holders; k++)
		if (s->now->holder[f->first_holder + k].pid == x->process->pid)
			return false;
	return is_brought_by_others(s, x, f);
}

/* Who may end the wait by ending somebody: a thread of its own that acts, or whoever may end one of the holders. */
static int enders_of(struct spread *s, uint32_t i, const struct waitgraph_node *x, const struct waitfact *f)
{
	const uint32_t own = process_index(s, x->process->pid);
	const bool ends = ends_with_holder(s, x, f);
	if (own != WAITGRAPH_NONE && is_brought_by_others(s, x, f) &&
	    wake_add(s, own - s->n_nodes + s->first_acting, i) < 0)
		return -ENOMEM;
	for (uint32_t k = 0; ends && k < f->n_holders; k++) {
		const uint32_t by = process_index(s, s->now->holder[f->first_holder + k].pid);
		if (by != WAITGRAPH_NONE && wake_add(s, by - s->n_nodes + s->first_ended, i) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* It has the lock itself, as who uses one for a signal: any other thread of its process may give it back. */
static bool is_own_lock(const struct spread *s, const struct waitgraph_node *x, const struct waitfact *f)
{
	const struct waitfact_holder *h = f->n_holders == 1 ? &s->now->holder[f->first_holder] : NULL;
	return f->kind == WAITFACT_LOCK && h && h->pid == x->process->pid && h->tid == x->thread->tid;
}

/* Everybody who could make this alternative happen. */
static int wakers_of(struct build *b, struct spread *s, uint32_t i, const struct waitfact *f)
{
	const struct waitgraph_node *x = &b->g->node[i];
	bool of_process = f->kind == WAITFACT_FUTEX && f->n_holders == 0;
	bool shared = s->shared_is_whole && is_shared_within(s, x, f);
	if (enders_of(s, i, x, f) < 0)
		return -ENOMEM;
	if (f->all)
		return all_wake(b, s, i, f);
	if (f->kind == WAITFACT_CLOCK || (!f->complete && !f->owner_gone && !shared)) {
		is_live(s, i);
		return 0;
	}
	const uint32_t own = process_index(s, x->process->pid);
	if ((of_process || is_own_lock(s, x, f)) && wake_add(s, own, i) < 0)
		return -ENOMEM;
	for (uint32_t k = 0; k < f->n_holders; k++) {
		const struct waitfact_holder *h = &s->now->holder[f->first_holder + k];
		uint32_t by = h->tid ? waitgraph_node_of(b, h->pid, h->tid) : process_index(s, h->pid);
		if (by == WAITGRAPH_NONE && !has_ended(s, h->pid))
			is_live(s, i); /* its threads are not known, so it may do anything */
		else if (by != WAITGRAPH_NONE && wake_add(s, by, i) < 0)
			return -ENOMEM;
	}
	return 0;
}

/*
 * A descriptor that only the process itself has is often the alarm of its event loop, which a signal handler sets off
 * as well: that of a child's end, for one. Where its handlers are known, it has to have that one.
 */
static int children_wake(struct build *b, struct spread *s, uint32_t i, const struct waitfact *f)
{
	const uint64_t handled = b->g->node[i].process->handled;
	pid_t pid = b->g->node[i].process->pid;
	if (handled && !(handled & SIGNAL_BIT(SIGCHLD)))
		return 0;
	if (f->kind != WAITFACT_UNIX && f->kind != WAITFACT_PIPE && f->kind != WAITFACT_EVENTFD)
		return 0;
	for (uint32_t k = 0; k < f->n_holders; k++)
		if (s->now->holder[f->first_holder + k].pid != pid)
			return 0;
	for (size_t k = 0; k < s->now->n_processes; k++) {
		const struct waitfact_process *p = &s->now->process[k];
		uint32_t by = p->ppid == pid ? process_index(s, p->pid) : WAITGRAPH_NONE;
		if (by != WAITGRAPH_NONE && wake_add(s, by, i) < 0)
			return -ENOMEM;
	}
	return 0;
}

static const struct waithint *proved_hint(const struct waitgraph_node *x, enum waithint_kind kind)
{
	return x->hint && x->hint->kind == kind && x->hint->proof ? x->hint : NULL;
}

static int wakers_of_node(struct build *b, struct spread *s, uint32_t i)
{
	const struct waitgraph_node *x = &b->g->node[i];
	const struct waitfact_thread *t = x->thread;
	const struct waithint *owner = proved_hint(x, WAITHINT_OWNER);
	size_t n;
	const struct waitfact *f = waitgraph_facts(b, x, &n);
	if (x->end == WAITEND_GONE && t && t->ended)
		return 0;
	if (!t || x->end == WAITEND_RUNS || x->spins || x->timed || t->cut || n == 0) {
		is_live(s, i);
		return 0;
	}
	if (proved_hint(x, WAITHINT_NOBODY))
		return 0;
	if (owner) {
		uint32_t by = waitgraph_node_of(b, owner->owner_pid, owner->owner_tid);
		if (by != WAITGRAPH_NONE)
			return wake_add(s, by, i);
	}
	for (size_t k = 0; k < n; k++)
		if (wakers_of(b, s, i, &f[k]) < 0 || children_wake(b, s, i, &f[k]) < 0)
			return -ENOMEM;
	return 0;
}

/* A holder that becomes live is counted once, as it does so once. */
static void woken(struct spread *s, uint32_t i)
{
	if (i < s->first_lock || --s->missing[i - s->first_lock] == 0)
		is_live(s, i);
}

static void spread(struct spread *s)
{
	while (s->n_pending > 0) {
		uint32_t by = s->pending[--s->n_pending];
		size_t lo = bisect(s->n, mid, s->wake[mid].by < by);
		for (; lo < s->n && s->wake[lo].by == by; lo++)
			woken(s, s->wake[lo].node);
	}
}

/* Whoever is live may send a signal to whoever waits for one. */
static void signals_spread(struct build *b, struct spread *s)
{
	bool sender = false;
	for (uint32_t i = 0; i < s->n_nodes; i++)
		sender |= s->live[i] && b->g->node[i].thread && !b->g->node[i].thread->ended;
	for (uint32_t i = 0; sender && i < s->n_nodes; i++) {
		const struct waitfact *f = b->g->node[i].fact;
		if (b->g->node[i].thread && f && f->kind == WAITFACT_SIGNAL)
			is_live(s, i);
	}
	spread(s);
}

static bool is_go(const struct waitfact_process *p)
{
	return (p->handled & SIGNALS_OF_GO) == SIGNALS_OF_GO;
}

/*
 * What a word from outside may end: an event, a queue, whatever the process itself brings. A lock is given back by who
 * has it, and what another process should bring is given up by handlers of alarms alone, as a rule. Programs that train
 * have handlers for such words (to save, to print their stacks), and nothing would be proved of any of them.
 */
static bool may_be_told(const struct spread *s, const struct waitgraph_node *x)
{
	const struct waitfact *f = x->fact;
	if (x->hint && x->hint->lock)
		return false;
	return !f || (f->kind != WAITFACT_LOCK && f->kind != WAITFACT_FILE_LOCK && f->kind != WAITFACT_THREAD &&
		      !is_brought_by_others(s, x, f));
}

/*
 * A handler may do anything: all threads of its process may be woken, but those of Python's for whose lock no handler
 * has a reference. Python runs handlers in its main thread, whatever that waits for. by_word: a signal from outside.
 */
static void handler_runs(struct build *b, struct spread *s, const struct waitfact_process *p, bool by_word)
{
	const uint32_t first = waitgraph_first_node(b, p);
	for (uint32_t i = first; first != WAITGRAPH_NONE && i < s->n_nodes && b->g->node[i].process == p; i++) {
		struct waitgraph_node *x = &b->g->node[i];
		if (s->live[i] || !x->thread || x->thread->ended || (!x->main && proved_hint(x, WAITHINT_NOBODY)))
			continue;
		if (by_word && !may_be_told(s, x))
			continue;
		x->signalled |= !s->shared_is_whole && !s->possible;
		is_live(s, i);
	}
}

static bool has_all(const struct waitfact_process *p, uint64_t those)
{
	return (p->handled & those) == those;
}

/* The signals for which its program has a handler, without those that its runtime has for itself. */
static uint64_t handled_by_program(const struct waitfact_process *p)
{
	if (is_go(p))
		return 0;
	if (has_all(p, SIGNALS_OF_JAVA))
		return p->handled & ~(SIGNALS_OF_JAVA | SIGNAL_BIT(SIGHUP));
	if (has_all(p, SIGNALS_OF_NODE) && (p->handled & SIGNALS_OF_FAULTS) == SIGNAL_BIT(SIGSEGV))
		return p->handled & ~SIGNAL_BIT(SIGUSR1);
	return p->handled;
}

/* A clock, the kernel or somebody outside of the job may send the process a signal. */
static void outside_spreads(struct build *b, struct spread *s, const struct waitfact_process *p)
{
	const uint64_t handled = handled_by_program(p);
	if (p->has_timers || (handled & SIGNALS_OF_KERNEL))
		handler_runs(b, s, p, false);
	else if (!s->shared_is_whole && (handled & SIGNALS_OF_OUTSIDE))
		handler_runs(b, s, p, true);
}

static void process_is_spared(struct build *b, const struct spread *s, const struct waitfact_process *p)
{
	const uint32_t first = waitgraph_first_node(b, p);
	for (uint32_t i = first; first != WAITGRAPH_NONE && i < s->n_nodes && b->g->node[i].process == p; i++)
		b->g->node[i].spared |= !s->shared_is_whole && !s->possible;
}

/* Those whose wait a thread of their own that acts, or another process, may end by ending somebody. */
static void spared_mark(struct build *b, const struct spread *s)
{
	for (size_t i = 0; i < s->n && !s->shared_is_whole; i++) {
		const struct wakes *e = &s->wake[i];
		if (e->by >= s->first_acting && e->by < s->first_lock && e->node < s->n_nodes && s->live[e->by])
			b->g->node[e->node].spared = true;
	}
}

static bool is_loader(const struct build *b, pid_t pid)
{
	const struct waitgraph_who *who = waitgraph_who_of(b->in, pid);
	return who && strcmp(who->role, "loader") == 0;
}

/*
 * A process that could send others a signal: one of its threads is live. One that starts and serves the ranks passes on
 * what it was sent, and sends none of these.
 */
static bool is_sender(const struct build *b, const struct spread *s, const struct waitfact_process *p)
{
	const struct waitgraph_who *who = waitgraph_who_of(b->in, p->pid);
	return p->n_threads > 0 && p->state != 'Z' && !(who && who->launcher) &&
	       s->live[s->n_nodes + (size_t)(p - s->now->process)];
}

/*
 * Whoever acts may send a signal that ends a process: a shell's child that sleeps before the shell kills another one, a
 * watchdog, a tool that makes a limit. Helpers are ended so; that a rank is would be no plan of the job's. Launchers
 * and shells look after their children, and a loader's workers have nothing to do with others.
 */
static bool may_end_others(const struct build *b, const struct spread *s, const struct waitfact_process *p)
{
	const struct waitgraph_who *who = waitgraph_who_of(b->in, p->pid);
	return who && !who->main && !who->launcher && strcmp(who->role, "loader") != 0 &&
	       s->live[s->first_acting + (size_t)(p - s->now->process)];
}

/* True if one of these sleeps for longer than a look at something takes. */
static bool one_sleeps(const struct build *b, const struct spread *s)
{
	for (uint32_t i = 0; i < s->n_nodes; i++) {
		const struct waitgraph_node *x = &b->g->node[i];
		if (x->thread && x->main && !x->naps && x->fact && x->fact->kind == WAITFACT_CLOCK && x->process &&
		    may_end_others(b, s, x->process))
			return true;
	}
	return false;
}

/*
 * Who has a handler of its own for the request to end may go on by it, if a helper sleeps that may send it. Without one
 * nothing of the job is known to: anybody may end a hang so. request: SIGTERM; or SIGINT, for which Python has one.
 */
static void helper_asks_to_end(struct build *b, struct spread *s, int request)
{
	const bool sleeps = one_sleeps(b, s);
	for (size_t i = 0; sleeps && i < s->now->n_processes; i++) {
		const struct waitfact_process *p = &s->now->process[i];
		if ((p->handled & SIGNAL_BIT(request)) && !has_all(p, SIGNALS_OF_GO) && !has_all(p, SIGNALS_OF_JAVA) &&
		    !has_all(p, SIGNALS_OF_NODE))
			handler_runs(b, s, p, true);
	}
}

static void enders_spread(struct build *b, struct spread *s)
{
	const struct waitfact_process *ender = NULL;
	size_t n = 0;
	for (size_t i = 0; i < s->now->n_processes; i++)
		if (may_end_others(b, s, &s->now->process[i])) {
			ender = &s->now->process[i];
			n++;
		}
	for (size_t i = 0; i < s->now->n_processes; i++) {
		const struct waitgraph_who *who = waitgraph_who_of(b->in, s->now->process[i].pid);
		if (who && !who->main && (n > 1 || (n == 1 && ender != &s->now->process[i])))
			is_live(s, s->first_ended + (uint32_t)i);
	}
	helper_asks_to_end(b, s, SIGTERM);
	spread(s);
}

/*
 * The end of a child is told by a signal. A loader's handler looks for workers that were killed, and wakes nobody while
 * they live. Children mostly come behind their parents, so a chain of them is gone through in one pass.
 */
static void parents_spread(struct build *b, struct spread *s)
{
	for (size_t i = s->now->n_processes; i-- > 0;) {
		const struct waitfact_process *p = &s->now->process[i];
		const struct waitfact_process *parent = waitfacts_process(s->now, p->ppid);
		if (parent && !is_go(parent) && (parent->handled & SIGNAL_BIT(SIGCHLD)) && is_sender(b, s, p) &&
		    !is_loader(b, p->pid)) {
			handler_runs(b, s, parent, false);
			process_is_spared(b, s, parent);
			spread(s);
		}
	}
}

/* Whoever is live may send a signal to a process that has a handler for it, and that makes more of them live. */
static void handlers_spread(struct build *b, struct spread *s)
{
	bool sender = false, more = true;
	while (more) {
		const size_t n_before = s->n_live;
		for (size_t i = 0; !sender && i < s->now->n_processes; i++)
			sender = is_sender(b, s, &s->now->process[i]);
		for (size_t i = 0; sender && i < s->now->n_processes; i++) {
			const struct waitfact_process *p = &s->now->process[i];
			if (handled_by_program(p) & SIGNALS_OF_PROGRAMS)
				handler_runs(b, s, p, false);
		}
		spread(s);
		parents_spread(b, s);
		more = s->n_live != n_before;
	}
}

/*
 * True of a thread that runs, or that a clock wakes: it may look after the others of its process. One that waits for a
 * visitor does what that one asks for, and a bar of progress shows itself.
 */
static bool acts_by_itself(const struct waitgraph_node *x)
{
	return !x->shows && x->thread && !x->thread->ended &&
	       (x->end == WAITEND_RUNS || x->timed || (x->fact && x->fact->kind == WAITFACT_CLOCK));
}

/*
 * A thread of another rank, or of a launcher, that makes one long sleep may end a helper then: a limit that the job has
 * made. A nap looks after something else.
 */
static bool one_sleeps_long(const struct build *b, const struct spread *s, const struct waitfact_process *but)
{
	for (uint32_t i = 0; i < s->n_nodes; i++) {
		const struct waitgraph_node *x = &b->g->node[i];
		const struct waitfact_thread *t = x->thread;
		const bool starts = x->who && (x->who->main || x->who->launcher);
		/* A limit of the main thread's own wait is for that wait. */
		const bool waits = x->main && !(x->fact && x->fact->kind == WAITFACT_CLOCK);
		const bool acts = starts && !waits && x->end != WAITEND_RUNS && !x->naps && acts_by_itself(x);
		if (!t || !acts || x->process == but)
			continue;
		const struct waitfact_thread *before = waitfacts_thread(b->in->before, t->pid, t->tid);
		if (before && before->runs_so_far == t->runs_so_far)
			return true;
	}
	return false;
}

/*
 * A helper's alarm ends it, or is none: where that could not be asked, nobody who waits for its end is dead. fork(2)
 * takes alarms away, and the workers of loaders set none of their own.
 */
static bool may_have_an_alarm(const struct build *b, const struct waitfact_process *p)
{
	return p->alarm_unknown && !is_loader(b, p->pid);
}

/* Who waits for the end of a helper is not dead where that may come by what nothing tells of. */
static void possible_spread(struct build *b, struct spread *s)
{
	s->possible = true;
	for (size_t i = 0; i < s->now->n_processes; i++) {
		const struct waitfact_process *p = &s->now->process[i];
		const struct waitgraph_who *who = waitgraph_who_of(b->in, p->pid);
		const bool helper = who && !who->main && p->state != 'Z';
		if (helper && (may_have_an_alarm(b, p) || one_sleeps_long(b, s, p)))
			is_live(s, s->first_ended + (uint32_t)i);
	}
	helper_asks_to_end(b, s, SIGINT);
	spread(s);
	handlers_spread(b, s);
}

static int mark_all(struct build *b, struct spread *s)
{
	for (uint32_t i = 0; i < s->n_nodes; i++) {
		const struct waitgraph_node *x = &b->g->node[i];
		uint32_t own = x->thread ? process_index(s, x->process->pid) : WAITGRAPH_NONE;
		/* A live thread makes its process live. */
		if (own != WAITGRAPH_NONE && wake_add(s, i, own) < 0)
			return -ENOMEM;
		if (own != WAITGRAPH_NONE && acts_by_itself(x) &&
		    wake_add(s, i, own - s->n_nodes + s->first_acting) < 0)
			return -ENOMEM;
		if (wakers_of_node(b, s, i) < 0)
			return -ENOMEM;
	}
	if (s->n)
		qsort(s->wake, s->n, sizeof(*s->wake), by_source);
	spread(s);
	for (size_t i = 0; i < s->now->n_processes; i++)
		outside_spreads(b, s, &s->now->process[i]);
	spread(s);
	enders_spread(b, s);
	handlers_spread(b, s);
	spared_mark(b, s);
	possible_spread(b, s);
	if (s->signals)
		signals_spread(b, s);
	for (uint32_t i = 0; i < s->n_nodes; i++) {
		struct waitgraph_node *x = &b->g->node[i];
		bool never = x->thread && !x->thread->ended && !s->live[i];
		x->dead |= never && !s->shared_is_whole;
		x->dead_within |= never;
		b->g->n_dead += never && !s->shared_is_whole;
	}
	return 0;
}

static size_t locks_of_all(const struct waitfacts *now)
{
	size_t n = 0;
	for (size_t i = 0; i < now->n_facts; i++)
		n += now->fact[i].all;
	return n;
}

static int mark_with(struct build *b, bool shared_is_whole)
{
	const size_t first_acting = b->g->n_nodes + b->in->now->n_processes;
	const size_t first_ended = first_acting + b->in->now->n_processes;
	const size_t first_lock = first_ended + b->in->now->n_processes, n_locks = locks_of_all(b->in->now);
	const size_t n = first_lock + n_locks;
	cleanup(freep) bool *live = calloc(n, sizeof(*live));
	cleanup(freep) uint32_t *pending = calloc(n, sizeof(*pending));
	cleanup(freep) uint32_t *missing = calloc(n_locks + 1, sizeof(*missing));
	struct spread s = {.live = live,
			   .pending = pending,
			   .n_nodes = (uint32_t)b->g->n_nodes,
			   .first_acting = (uint32_t)first_acting,
			   .first_ended = (uint32_t)first_ended,
			   .first_lock = (uint32_t)first_lock,
			   .missing = missing,
			   .shared_is_whole = shared_is_whole,
			   .fifos = several_wait(b->in->now, WAITFACT_FIFO),
			   .signals = shared_is_whole && several_wait(b->in->now, WAITFACT_SIGNAL),
			   .now = b->in->now,
			   .node = b->g->node};
	if (!live || !pending || !missing)
		return -ENOMEM;
	int r = mark_all(b, &s);
	free(s.wake);
	return r;
}

int waitgraph_mark_dead(struct build *b)
{
	bool shares = false;
	if (b->g->one_look || b->in->now->cut || b->g->n_nodes + b->in->now->n_processes == 0)
		return 0;
	for (size_t i = 0; i < b->in->now->n_facts && !shares; i++) {
		const struct waitfact *f = &b->in->now->fact[i];
		shares = f->kind == WAITFACT_SHARED || f->kind == WAITFACT_FIFO || f->of_programs;
	}
	int r = mark_with(b, false);
	return r == 0 && shares ? mark_with(b, true) : r;
}
