/*
 * Locks that are never released: proved by their owners where those can be read (a mutex of glibc's), else by there
 * being no thread left that could release them (Python's own locks have no owner).
 */
#include <linux/futex.h>
#include <signal.h>
#include <string.h>

#include "base/buf.h"
#include "base/text.h"
#include "judge/hang/hang_advice.h"
#include "model/jobs/role.h"

/* ---- processes and places ---- */

/* ---- locks with owners ---- */

static bool fork_lock(struct hang_work *w, const struct dump_process *p, const struct dump_thread *t)
{
	const struct dump_process *parent = hang_process_in(hang_newest(w), p->ppid);
	const struct dump_thread *owner = hang_thread_in(hang_newest(w), p->ppid, t->wait.owner);
	bool forked = parent && (owner || role_name_serves(p->role) || strcmp(parent->name, p->name) == 0);
	char who[120], at[300];
	if (!forked)
		return false;
	hang_is(w, "fork_lock", owner && w->c->n_dumps > 1 ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM);
	hang_accuse(w, p->rank);
	hang_process_who(p, who, sizeof(who));
	hang_place(w, p, t, at, sizeof(at));
	hang_says(w,
		  "%s waits for ever for a lock (%s): its owner is thread %d%s%s%s, which does not exist in this "
		  "process.",
		  who, at, (int)t->wait.owner, owner ? " of the parent (" : "", owner ? owner->name : "",
		  owner ? ")" : "");
	hang_says(w, "The lock was held by that thread at the moment of the fork.");
	hang_evidence(w, "lock", "system call and memory of the thread", "thread %d: %s", (int)t->tid, t->wait.text);
	return true;
}

static bool hang_locks_ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), k = strlen(end);
	return n >= k && strcmp(text + n - k, end) == 0;
}

static bool in_file(const struct dump_frame *f, const char *end)
{
	if (!f || !f->file || !hang_locks_ends_with(f->file, end))
		return false;
	size_t rest = strlen(f->file) - strlen(end);
	return rest == 0 || f->file[rest - 1] == '/';
}

/*
 * True of a thread that Python's multiprocessing has made for itself (the feeder of a queue, the server of shared
 * descriptors): it runs nothing of the program, and stands.
 */
static bool serves_multiprocessing(const struct dump_thread *t)
{
	static const char *const files[] = {"threading.py", "socket.py", "selectors.py"};
	bool own = false;
	for (size_t i = 0; i < t->n_frames; i++) {
		const struct dump_frame *f = &t->frames[i];
		bool known = f->kind != FRAME_PYTHON;
		for (size_t k = 0; k < ARRAY_SIZE(files) && !known; k++)
			known = in_file(f, files[k]);
		if (!known && !(f->file && strstr(f->file, "/multiprocessing/") && !activity_is_user(f)))
			return false;
		own |= !known;
	}
	return own && t->wait.kind != WAIT_RUNNING && t->wait.kind != WAIT_UNKNOWN;
}

/* Its main thread has no other beside it but those of multiprocessing: none that could do what it waits for. */
static bool is_alone(const struct dump_process *p)
{
	for (size_t i = 1; i < p->n_threads; i++)
		if (!serves_multiprocessing(&p->threads[i]))
			return false;
	return p->n_threads > 0 && p->threads[0].tid == p->pid;
}

static const char *alone_words(const struct dump_process *p)
{
	return p->n_threads > 1 ? "no thread but this one and those of multiprocessing" : "no thread but this one";
}

static bool in_openmp(const struct dump_thread *t)
{
	static const char *const modules[] = {"libgomp", "libiomp", "libomp.so"};
	for (size_t i = 0; i < t->n_frames; i++)
		for (size_t k = 0; t->frames[i].module && k < ARRAY_SIZE(modules); k++)
			if (strstr(t->frames[i].module, modules[k]))
				return true;
	return false;
}

/* No other thread of it was begun by OpenMP: each of its stacks was read, and such a thread's ends in that library. */
static bool has_no_team(const struct dump_process *p)
{
	for (size_t i = 1; i < p->n_threads; i++)
		if (p->threads[i].n_frames == 0 || in_openmp(&p->threads[i]))
			return false;
	return p->n_threads > 0 && p->threads[0].tid == p->pid;
}

static bool openmp_fork(struct hang_work *w, const struct dump_process *p, const struct dump_thread *t)
{
	struct activity_found found;
	const struct dump_process *parent = hang_process_in(hang_newest(w), p->ppid);
	char who[120];
	activity_of(t, &found);
	const bool alone = is_alone(p), forked = parent && parent->n_threads > 1 && role_name_serves(p->role);
	if (found.kind != ACTIVITY_OPENMP || !parent || !(alone || (forked && t->tid == p->pid && has_no_team(p))))
		return false;
	hang_is(w, "openmp_fork", alone ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM);
	hang_accuse(w, p->rank);
	hang_process_who(p, who, sizeof(who));
	hang_says(w,
		  "%s waits for the threads of an OpenMP team that were not copied when it was forked: it has %s, "
		  "and stands in %s.",
		  who, p->n_threads == 1 ? "one thread" : alone ? alone_words(p) : "no thread of such a team",
		  found.frame && found.frame->module ? found.frame->module : "OpenMP");
	return true;
}

struct holder {
	const struct dump_process *p;
	const struct dump_thread *t;
};

/* True if it tries for a lock within a time limit, as pthread_mutex_timedlock() does: it goes on without it then. */
static bool has_a_limit(const struct dump_thread *t)
{
	return strcmp(t->syscall, "futex") == 0 && t->wait.arg[3] != 0;
}

/* True when the thread has not run between the dumps: it is in the very same wait. */
static bool same_wait(const struct dump_thread *a, const struct dump_thread *b)
{
	return a->wait.kind == WAIT_LOCK && a->wait.owner == b->wait.owner &&
	       a->wait.user_ticks == b->wait.user_ticks && a->wait.system_ticks == b->wait.system_ticks;
}

/* The thread that holds what t waits for, if it is the same in each dump; NULL: unknown, or it changed. */
static struct holder holder_of(const struct hang_work *w, const struct dump_process *p, const struct dump_thread *t)
{
	const struct stackdump *d = hang_newest(w);
	if (t->wait.kind != WAIT_LOCK || t->wait.owner == 0 || t->wait.owner_gone || has_a_limit(t))
		return (struct holder){NULL, NULL};
	for (size_t i = 0; i < MIN(w->c->n_dumps, HANG_DUMPS); i++) {
		const struct dump_thread *before = hang_thread_in(w->c->dumps[i], p->pid, t->tid);
		if (!before || !same_wait(before, t))
			return (struct holder){NULL, NULL};
	}
	/* A lock in shared memory may belong to another process. */
	for (size_t i = 0; i < d->n; i++)
		for (size_t k = 0; k < d->processes[i].n_threads; k++)
			if (d->processes[i].threads[k].tid == t->wait.owner)
				return (struct holder){&d->processes[i], &d->processes[i].threads[k]};
	return (struct holder){NULL, NULL};
}

/* The number of threads in the circle of waits that this one is in; 0: it is in none. */
static size_t circle_of(const struct hang_work *w, const struct dump_process *p, const struct dump_thread *t)
{
	const size_t most = 64;
	struct holder h = {p, t};
	for (size_t n = 1; n <= most; n++) {
		h = holder_of(w, h.p, h.t);
		if (!h.t)
			return 0;
		if (h.t == t)
			return n;
	}
	return 0;
}

static void thread_who(const struct dump_process *p, const struct dump_thread *t, char *dst, size_t cap)
{
	text_format(dst, cap, "thread %d (%s%s%s)", (int)t->tid, t->name, t->main && t->name[0] ? ", " : "",
		    t->main ? "the main one" : "");
	if (p->rank != NO_RANK && p->role[0] && strcmp(p->role, "main") != 0)
		text_format(dst, cap, "thread %d of %s %d", (int)t->tid, p->role, (int)p->pid);
}

/* True if another thread of its process may go on: it may give a lock back that is used for a signal. */
static bool others_live(const struct hang_work *w, const struct dump_process *p, const struct dump_thread *t)
{
	const struct waitgraph *g = w->c->graph;
	for (size_t i = 0; i < p->n_threads; i++) {
		const struct waitgraph_node *n = g ? waitgraph_thread(g, p->pid, p->threads[i].tid) : NULL;
		if (p->threads[i].tid != t->tid && (!n || !n->dead))
			return true;
	}
	return false;
}

/*
 * Threads that wait for each other's locks, or one for its own: this alone is a proof, but for one's own lock where
 * another thread of the process lives.
 */
static bool deadlock(struct hang_work *w, const struct dump_process *p, const struct dump_thread *t)
{
	char who[120], name[64], at[300];
	const size_t shown = 3;
	size_t n = circle_of(w, p, t);
	if (n == 0)
		return false;
	const bool open = n == 1 && others_live(w, p, t);
	if (open && !hang_outlasts_helpers(w))
		return true;
	hang_is(w, "deadlock", w->c->n_dumps > 1 && !open ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM);
	hang_process_who(p, who, sizeof(who));
	w->advice = n == 1 ? HANG_ADVICE_OWN_LOCK : NULL;
	if (n == 1)
		hang_says(w, "A thread of %s waits for a lock that it holds itself%s.", who,
			  open ? ", unless another of its threads gives it back" : "");
	else
		hang_says(w, "%s threads of %s wait for each other's locks in a circle.", n == 2 ? "Two" : "Several",
			  who);
	struct holder h = {p, t};
	for (size_t i = 0; i < n; i++, h = holder_of(w, h.p, h.t)) {
		hang_accuse(w, h.p->rank);
		hang_evidence(w, "lock", "system call and memory of the thread", "thread %d: %s", (int)h.t->tid,
			      h.t->wait.text);
		if (i >= shown)
			continue;
		thread_who(h.p, h.t, name, sizeof(name));
		name[0] = 'T';
		hang_place(w, h.p, h.t, at, sizeof(at));
		hang_says(w, "%s stands %s%s and waits for thread %d.", name, strncmp(at, "in ", 3) == 0 ? "" : "at ",
			  at, (int)h.t->wait.owner);
	}
	return true;
}

/*
 * True if who started the process has set itself an alarm, as `timeout` has, or, of a job without ranks, if another
 * process has one, or sleeps, and may end it then, as a shell's `(sleep 100; kill $pid) &` does.
 */
static bool may_be_ended(const struct waitgraph *g, const struct dump_process *p)
{
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *n = &g->node[i];
		if (!n->process || !n->thread || n->process->pid == p->pid)
			continue;
		const bool launcher = n->who && n->who->launcher, main = n->thread->tid == n->process->pid;
		if ((n->process->has_timers && (launcher || p->rank == NO_RANK)) ||
		    (p->rank == NO_RANK && main && n->end == WAITEND_CLOCK))
			return true;
	}
	return false;
}

/*
 * True if a main process is held up by this thread: it can go on no more either. A helper that hangs may be ended by
 * who has set it a limit, and a thread that nobody waits for is in nobody's way. A loader's worker is ended by nobody,
 * and asked again and again.
 */
static bool holds_up_the_job(const struct hang_work *w, const struct dump_process *p, const struct dump_thread *t)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *n = g ? waitgraph_thread(g, p->pid, t->tid) : NULL;
	for (size_t i = 0; n && i < g->n_sinks; i++)
		if (g->node[g->sink[i].node].component == n->component)
			return (g->sink[i].holds && !may_be_ended(g, p)) || strcmp(p->role, "loader") == 0;
	return !g;
}

/* Proofs by one thread itself, whatever the others do; that it holds up the job is one of the graph's. */
bool hang_lock_proofs(struct hang_work *w)
{
	const struct stackdump *d = hang_newest(w);
	for (size_t i = 0; i < d->n; i++)
		for (size_t k = 0; k < d->processes[i].n_threads; k++) {
			const struct dump_process *p = &d->processes[i];
			const struct dump_thread *t = &p->threads[k];
			const bool locked = t->wait.kind == WAIT_LOCK && !has_a_limit(t);
			if (!locked || !hang_all_along(w, p->pid, t->tid, WAIT_LOCK))
				continue;
			if ((t->wait.owner_gone && fork_lock(w, p, t)) || openmp_fork(w, p, t) || deadlock(w, p, t)) {
				const bool proved = w->v->confidence == CONFIDENCE_HIGH && holds_up_the_job(w, p, t);
				w->v->confidence = MIN(w->v->confidence, proved ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM);
				w->v->proved = proved;
				hang_old_enough(w, proved ? HANG_CERTAIN : HANG_EXPLAINED);
				return true;
			}
		}
	return false;
}

/* ---- Python's own locks ---- */

static const struct dump_frame *python_frame(const struct dump_thread *t)
{
	for (size_t i = 0; i < t->n_frames; i++)
		if (t->frames[i].kind == FRAME_PYTHON)
			return &t->frames[i];
	return NULL;
}

/* True when it waits for a message and not for a lock: joins, conditions, queues, pools. */
static bool waits_by_library(const struct dump_thread *t)
{
	static const char *const files[] = {"threading.py",
					    "queue.py",
					    "multiprocessing/queues.py",
					    "concurrent/futures/thread.py",
					    "concurrent/futures/_base.py",
					    "multiprocessing/synchronize.py",
					    "multiprocessing/popen_fork.py",
					    "subprocess.py",
					    "selectors.py",
					    "concurrent/futures/process.py"};
	const struct dump_frame *f = python_frame(t);
	/* `with condition:`, as a queue's put does, takes the condition's lock. */
	if (f && in_file(f, "threading.py") && hang_locks_ends_with(f->name, "__enter__"))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (in_file(f, files[i]))
			return true;
	/* queue.SimpleQueue is written in C: it has no Python frame. */
	for (size_t i = 0; i < t->n_frames; i++) {
		const struct dump_frame *n = &t->frames[i];
		if (n->kind == FRAME_NATIVE &&
		    (strstr(n->name, "SimpleQueue") || (n->module && strstr(n->module, "_queue."))))
			return true;
	}
	return false;
}

/* True for a wait for a lock of this process alone, in each dump; limited: within a time limit, else without one. */
static bool waits_privately(const struct hang_work *w, const struct dump_process *p, const struct dump_thread *t,
			    bool limited)
{
	uint32_t op = (uint32_t)t->wait.arg[1];
	uint32_t command = op & (uint32_t)FUTEX_CMD_MASK;
	return t->has_python && t->gil != DUMP_GIL_WAITS && t->wait.kind == WAIT_LOCK && t->wait.owner == 0 &&
	       !t->wait.owner_gone && strcmp(t->syscall, "futex") == 0 && (op & FUTEX_PRIVATE_FLAG) &&
	       (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET) && has_a_limit(t) == limited &&
	       hang_all_along(w, p->pid, t->tid, WAIT_LOCK);
}

static bool waits_for_ever(const struct hang_work *w, const struct dump_process *p, const struct dump_thread *t)
{
	return waits_privately(w, p, t, false);
}

/*
 * True when a library waits below the innermost Python frame, as in a collective or a queue of C++: no lock of
 * Python's.
 */
static bool library_waits(const struct dump_thread *t)
{
	static const char *const takes[] = {"PyThread_acquire_lock", "acquire_timed", "rlock_acquire", "_PyMutex_Lock"};
	for (size_t i = 0; i < t->n_frames && t->frames[i].kind != FRAME_PYTHON; i++) {
		const struct dump_frame *f = &t->frames[i];
		if (f->kind != FRAME_NATIVE || hang_c_library(f->module))
			continue;
		for (size_t k = 0; k < ARRAY_SIZE(takes); k++)
			if (strstr(f->name, takes[k]))
				return false;
		if (f->module && f->module[0] && !strstr(f->module, "python"))
			return true;
	}
	return false;
}

/* True for a lock that the program takes itself, or its logging. */
static bool wants_lock(const struct hang_work *w, const struct dump_process *p, const struct dump_thread *t)
{
	return waits_for_ever(w, p, t) && python_frame(t) && !waits_by_library(t) && !library_waits(t);
}

static bool is_copy(const struct dump_process *parent, const struct dump_process *p)
{
	return role_name_serves(p->role) ||
	       (p->command[0] && strcmp(p->command, parent->command) == 0 && strcmp(p->python, parent->python) == 0);
}

/* The only thread of a forked process waits for a lock of that process, so no thread is left that could release it. */
static bool python_fork_lock(struct hang_work *w, const struct dump_process *p)
{
	const struct dump_process *parent = hang_process_in(hang_newest(w), p->ppid);
	const struct dump_thread *t = &p->threads[0];
	char who[120], at[300];
	if (!parent || p->n_threads != 1 || parent->n_threads < 2 || !wants_lock(w, p, t) || !is_copy(parent, p))
		return false;
	if (!hang_old_enough(w, HANG_CERTAIN))
		return true;
	hang_is(w, "python_fork_lock", CONFIDENCE_MEDIUM);
	hang_accuse(w, p->rank);
	hang_process_who(p, who, sizeof(who));
	hang_place(w, p, t, at, sizeof(at));
	hang_says(w,
		  "%s waits for ever for a lock of Python's, %s. It is a fork of process %d and has no thread but this "
		  "one, so nobody is left who could release it: one of the %zu other threads of process %d held the "
		  "lock at the moment of the fork (or it was taken twice).",
		  who, at, (int)parent->pid, parent->n_threads - 1, (int)parent->pid);
	hang_evidence(w, "lock", "system call and threads of the process", "thread %d, the only one: %s", (int)t->tid,
		      t->wait.text);
	return true;
}

/* True if others wait for this process in the end. */
static bool others_wait_for(const struct hang_work *w, const struct dump_process *p)
{
	const struct waitgraph *g = w->c->graph;
	for (size_t i = 0; g && i < g->n_sinks; i++) {
		const struct waitgraph_node *n = &g->node[g->sink[i].node];
		if (n->process && n->process->pid == p->pid && g->sink[i].n_followers > 0)
			return true;
	}
	return false;
}

static bool in_the_program(const struct dump_thread *t)
{
	for (size_t i = 0; i < t->n_frames; i++)
		if (activity_is_user(&t->frames[i]))
			return true;
	return false;
}

/* A thread beside the main one that is in the program's own code; NULL: none, or several that may be meant. */
static const struct dump_thread *only_own_thread(const struct dump_process *p)
{
	const struct dump_thread *found = NULL;
	for (size_t i = 0; i < p->n_threads; i++) {
		const struct dump_thread *t = &p->threads[i];
		if (t->tid == p->pid || !in_the_program(t))
			continue;
		if (found)
			return NULL;
		found = t;
	}
	return found;
}

/* A thread of a library in C that waits for work: it runs no Python. */
static bool rests_in_a_pool(const struct dump_thread *t)
{
	return !t->has_python && t->n_frames > 0 && t->wait.kind == WAIT_LOCK;
}

/* The thread of the program in a forked process that has none but this one and those of multiprocessing; NULL. */
static const struct dump_thread *left_alone(const struct dump_process *p)
{
	const struct dump_thread *found = NULL;
	for (size_t i = 0; i < p->n_threads; i++) {
		if (p->threads[i].tid == p->pid)
			found = &p->threads[i];
		else if (!serves_multiprocessing(&p->threads[i]) && !rests_in_a_pool(&p->threads[i]))
			return NULL;
	}
	return found && in_the_program(found) && waits_by_library(found) ? found : NULL;
}

/* True if a word of somebody else may end its wait: its handler for one may set what it waits for. */
static bool hears_a_word(const struct hang_work *w, const struct dump_process *p)
{
	const uint64_t words = UINT64_C(1) << (SIGALRM - 1) | UINT64_C(1) << (SIGUSR1 - 1) |
			       UINT64_C(1) << (SIGUSR2 - 1) | UINT64_C(1) << (SIGHUP - 1);
	const struct waitgraph_node *n = w->c->graph ? waitgraph_thread(w->c->graph, p->pid, 0) : NULL;
	return n && n->process && (n->process->has_timers || n->process->handled & words);
}

/*
 * A forked process waits for what a thread of its own should do (fill a queue, set an event), and has no thread of the
 * program's but the one that waits; its parent has one, which is not copied.
 */
static bool python_fork_wait(struct hang_work *w, const struct dump_process *p)
{
	const struct dump_process *parent = hang_process_in(hang_newest(w), p->ppid);
	const struct dump_thread *t = left_alone(p), *other = parent ? only_own_thread(parent) : NULL;
	char who[120], at[300], there[300];
	if (!t || !other || strcmp(p->command, parent->command) != 0 || !is_copy(parent, p) ||
	    !waits_for_ever(w, p, t) || !others_wait_for(w, p))
		return false;
	const bool hears = hears_a_word(w, p);
	if (!hang_old_enough(w, HANG_FIRM) || (hears && !hang_outlasts_helpers(w)))
		return true;
	hang_is(w, "python_fork_lock", hears ? CONFIDENCE_LOW : CONFIDENCE_MEDIUM);
	hang_accuse(w, p->rank);
	hang_process_who(p, who, sizeof(who));
	hang_place(w, p, t, at, sizeof(at));
	hang_place(w, parent, other, there, sizeof(there));
	hang_says(w,
		  "%s waits for ever for another thread of its own process, %s. It is a fork of process %d and has no "
		  "other thread of the program's: a fork copies none. Of process %d this may be the one that is "
		  "missing: thread %d (%s), %s.",
		  who, at, (int)parent->pid, (int)parent->pid, (int)other->tid, other->name, there);
	if (hears)
		hang_says(w, "Or the handler of a signal is to end its wait (SIGUSR1, SIGALRM and the like).");
	hang_evidence(w, "lock", "system call and threads of the process",
		      "thread %d, the only one of the program's: %s", (int)t->tid, t->wait.text);
	return true;
}

/* True if the thread waits at one and the same address in all dumps. */
static bool same_address(const struct hang_work *w, const struct dump_process *p, const struct dump_thread *t)
{
	for (size_t i = 0; i < MIN(w->c->n_dumps, HANG_DUMPS); i++) {
		const struct dump_thread *x = hang_thread_in(w->c->dumps[i], p->pid, t->tid);
		if (!x || x->wait.arg[0] != t->wait.arg[0])
			return false;
	}
	return true;
}

/* True if a thread of the parent's, beside its main one, is in the library in which this one waits. */
static bool has_threads_in_it(const struct dump_process *parent, const struct dump_thread *t)
{
	const char *module = NULL;
	for (size_t i = 0; i < t->n_frames && t->frames[i].kind != FRAME_PYTHON && !module; i++)
		if (t->frames[i].kind == FRAME_NATIVE && !hang_c_library(t->frames[i].module))
			module = t->frames[i].module;
	for (size_t i = 0; module && i < parent->n_threads; i++) {
		const struct dump_thread *x = &parent->threads[i];
		for (size_t k = 0; x->tid != parent->pid && k < x->n_frames; k++)
			if (x->frames[k].module && strcmp(x->frames[k].module, module) == 0)
				return true;
	}
	return false;
}

/*
 * The only thread of a forked process waits in a library, again and again within a time limit, for another thread of
 * its own process: the library's threads were not copied. Looking again does not bring them.
 */
static bool library_fork_wait(struct hang_work *w, const struct dump_process *p)
{
	const struct dump_process *parent = hang_process_in(hang_newest(w), p->ppid);
	const struct dump_thread *t = &p->threads[0];
	char who[120], at[300];
	if (!parent || !is_alone(p) || parent->n_threads < 2 || !waits_privately(w, p, t, true) ||
	    !library_waits(t) || !is_copy(parent, p) || !same_address(w, p, t) || !others_wait_for(w, p) ||
	    !has_threads_in_it(parent, t))
		return false;
	if (!hang_old_enough(w, HANG_FIRM))
		return true;
	hang_is(w, "fork_lock", CONFIDENCE_MEDIUM);
	hang_accuse(w, p->rank);
	hang_process_who(p, who, sizeof(who));
	hang_place(w, p, t, at, sizeof(at));
	hang_says(w,
		  "%s waits in a library (%s), again and again, for another thread of its own process. It is a fork of "
		  "process %d and has %s: the %zu other threads of process %d, the library's among "
		  "them, were not copied.",
		  who, at, (int)parent->pid, alone_words(p), parent->n_threads - 1, (int)parent->pid);
	hang_evidence(w, "lock", "system call and threads of the process", "thread %d, the only one: %s", (int)t->tid,
		      t->wait.text);
	return true;
}

/* From Python 3.13 on a thread waits at an address of its own, which does not identify the lock. */
static bool address_is_lock(const struct dump_process *p)
{
	uint64_t minor;
	return strncmp(p->python, "3.", 2) == 0 && span_u64_prefix(span_of(p->python + 2), &minor) == 0 && minor < 13;
}

/*
 * Two threads of a Python program want different locks, and all others wait as well, for these or for a message: the
 * holders of the locks are among the waiting threads, or have ended.
 */
static bool python_deadlock(struct hang_work *w, const struct dump_process *p)
{
	const struct dump_thread *one = NULL, *other = NULL;
	char who[120], a[300], b[300];
	for (size_t i = 0; i < p->n_threads; i++) {
		const struct dump_thread *t = &p->threads[i];
		if (!t->has_python)
			continue;
		if (!wants_lock(w, p, t) && !(waits_by_library(t) && waits_for_ever(w, p, t)))
			return false;
		if (!wants_lock(w, p, t))
			continue;
		if (!one)
			one = t;
		else if (!other && t->wait.arg[0] != one->wait.arg[0])
			other = t;
	}
	if (!one || !other || !address_is_lock(p))
		return false;
	if (!hang_old_enough(w, HANG_CERTAIN))
		return true;
	hang_is(w, "deadlock", CONFIDENCE_MEDIUM);
	hang_accuse(w, p->rank);
	hang_process_who(p, who, sizeof(who));
	hang_place(w, p, one, a, sizeof(a));
	hang_place(w, p, other, b, sizeof(b));
	hang_says(w,
		  "Two threads of %s want different locks of Python's, and no other thread of it runs that could "
		  "release one: thread %d (%s) wants %s; thread %d (%s) wants %s. Each has what the other wants, as "
		  "far as can be told.",
		  who, (int)one->tid, one->name, a, (int)other->tid, other->name, b);
	return true;
}

static bool any_process(struct hang_work *w, bool (*part)(struct hang_work *w, const struct dump_process *p))
{
	const struct stackdump *d = hang_newest(w);
	for (size_t i = 0; i < d->n && w->c->n_dumps > 1 && !d->cut; i++)
		if (d->processes[i].n_threads > 0 && part(w, &d->processes[i]))
			return true;
	return false;
}

bool hang_python_fork_locks(struct hang_work *w)
{
	return any_process(w, python_fork_lock) || any_process(w, library_fork_wait) ||
	       any_process(w, python_fork_wait);
}

bool hang_python_locks(struct hang_work *w)
{
	return any_process(w, python_deadlock);
}

/* ---- a lock of a file that is kept over a call of all ranks ---- */

/* The one that a main thread waits for by trying again and again for a lock, or in a lock; NULL: it does not. */
static const struct waitgraph_node *kept_by(const struct waitgraph *g, const struct waitgraph_node *n)
{
	const struct waitgraph_edge *e = n->n_edges == 1 ? &g->edge[n->first_edge] : NULL;
	const bool file = e && ((n->naps && e->hint && e->hint->kind == WAITHINT_OWNER) || n->polled ||
				(e->fact && e->fact->kind == WAITFACT_FILE_LOCK));
	return file && e->quality >= WAITGRAPH_LIKELY && g->node[e->to].main ? &g->node[e->to] : NULL;
}

static bool is_ranks(const struct waitgraph_node *n)
{
	return n->main && n->who && n->who->main && n->who->rank != NO_RANK;
}

/* The rank that has the lock for which each other rank of the circle waits, and one of these; NULL: there is none. */
static const struct waitgraph_node *keeper_of(const struct waitgraph *g, const struct waitgraph_sink *s,
					      const struct waitgraph_node **ret_waiter)
{
	const struct waitgraph_node *keeper = NULL;
	size_t n = 0;
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct waitgraph_node *x = &g->node[i], *by = NULL;
		if (x->component != g->node[s->node].component || !is_ranks(x))
			continue;
		by = kept_by(g, x);
		if (by && keeper && by != keeper)
			return NULL;
		keeper = by ? by : keeper;
		*ret_waiter = by ? x : *ret_waiter;
		n += by != NULL;
	}
	return keeper && is_ranks(keeper) && n + 1 == s->n_ranks ? keeper : NULL;
}

/*
 * A rank has the lock of a file and is in a call for which the others are needed, while these wait for the lock: by
 * descriptors that are closed between two tries nothing else leads to it.
 */
bool hang_lock_kept(struct hang_work *w)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_sink *s = g && g->n_sinks > 0 ? &g->sink[0] : NULL;
	const struct waitgraph_node *waiter = NULL;
	const bool circle = s && s->end == WAITEND_CIRCLE && w->many;
	const struct waitgraph_node *keeper = circle ? keeper_of(g, s, &waiter) : NULL;
	const struct stackgroup_rank *r = keeper ? stackgroups_find(&w->g, keeper->who->rank) : NULL;
	char doing[300], wait[300];
	if (!r || !activity_waits_for_ranks(r->activity.kind) || (r->compared && !r->unchanged))
		return false;
	if (!hang_old_enough(w, HANG_FIRM))
		return true;
	hang_is(w, "deadlock", CONFIDENCE_HIGH);
	hang_accuse(w, r->rank);
	hang_doing(w, r, doing, sizeof(doing));
	waitgraph_wait_text(waiter, wait, sizeof(wait));
	hang_says(w,
		  "Rank %d has the lock of a file and waits for the others in %s, and these wait for the lock: rank %d "
		  "%s.",
		  r->rank, doing, waiter->who->rank, wait);
	hang_advise(w, "let rank %d give the lock back before it makes a call for which all ranks are needed", r->rank);
	return true;
}
