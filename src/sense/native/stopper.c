#include "sense/native/stopper.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "sense/lockwait.h"
#include "sense/proc/proc.h"

/* Stack for `during`; the default size would be locked whole in a process that locks its memory. */
#define THREAD_STACK_BYTES (512 * 1024)
/* The longest time the kernel needs to end our thread, which also ends the tracing. */
#define DETACH_NS (20 * NS_PER_MS)
#define SPIN_NS (50 * NS_PER_US)
/*
 * A thread without work ends after this time, and with it its helper, which is a copy of our process: who looks at many
 * programs every few seconds would have as many of both.
 */
#define IDLE_NS NS_PER_S
/* A thread that waits for the processor that we left runs on it within this time, or another thread does. */
#define ASIDE_NS (100 * NS_PER_US)
/* New threads have new stacks, but reading the mappings of a large process takes 1 ms. */
#define MAPS_READ_EVERY_NS (100 * NS_PER_MS)

#if defined(__x86_64__)
/* A leaf function may keep values below its stack pointer (System V ABI 3.2.2). */
#define RED_ZONE_BYTES 128
#define REG_SP 7
#define REG_PC 16
static const uint8_t arguments[6] = {5, 4, 1, 10, 8, 9}; /* of system calls: rdi rsi rdx r10 r8 r9 */
#else /* aarch64 */
#define RED_ZONE_BYTES 0
#define REG_SP 31
#define REG_PC 32
static const uint8_t arguments[6] = {0, 1, 2, 3, 4, 5};
#endif

uint64_t unwind_call_argument(const struct unwind_regs *r, size_t i)
{
	return r->reg[arguments[i]];
}

uint64_t unwind_state(const struct unwind_regs *regs, const struct unwind_stack *stack,
		      const struct unwind_trace *trace)
{
	const uint64_t all = (UINT64_C(1) << (REG_PC + 1)) - 1;
	if (regs->in_call || (regs->valid & all) != all || trace->n == 0)
		return 0;
	const uint64_t own = trace->frame[0].cfa > stack->sp ? trace->frame[0].cfa - stack->sp : 0;
	uint64_t h = hash_bytes(HASH_START, regs->reg, REG_PC * sizeof(regs->reg[0]));
	h = hash_bytes(h, stack->bytes, MIN((size_t)own, stack->n_bytes));
	return h ? h : 1;
}

struct take_job {
	pid_t tid;
	struct unwind_regs *regs;
	struct unwind_stack *stack;
	void (*during)(void *ctx);
	void *ctx;
	int result;
};

/* Where a thread was found last; it is often still there. */
struct last_seen {
	pid_t tid;
	uint32_t processor;
	uint64_t stack_lo, stack_end;
};
#define LAST_SEEN_MAX 64

struct stopper {
	const struct world *world; /* borrowed */
	pid_t pid;
	struct remote *remote; /* borrowed */
	bool hurries; /* as who made it (sense/lockwait) */
	pthread_t thread;
	bool has_thread;
	pthread_mutex_t lock; /* of job and quit */
	pthread_cond_t job_posted, job_done;
	struct take_job *job; /* NULL: no work */
	bool quit;
	atomic_bool is_stopped; /* the target thread has stopped: the result follows soon */
	atomic_int thread_tid;
	struct stopper_stats stats;
	struct maps maps; /* bounds of stacks; may be outdated */
	bool maps_outdated; /* a stack pointer was in no mapping */
	uint64_t maps_next_read_ns;
	struct last_seen last_seen[LAST_SEEN_MAX]; /* by tid */
};

/* ---- shared by the three ways ---- */

/* Copies from the stack pointer to the end of the stack (or of the mapping), or as much of it as fits. */
static int stack_copy(struct remote *r, uint64_t sp, uint64_t end, struct unwind_stack *ret)
{
	size_t n = 0;
	for (uint64_t below = RED_ZONE_BYTES;; below = 0) {
		uint64_t from = sp - MIN(sp, below);
		size_t len = MIN(sizeof(ret->bytes), end - from);
		struct iovec into = {ret->bytes, len};
		// NOLINTNEXTLINE(performance-no-int-to-ptr): an address of theirs, not ours
		struct iovec theirs = {(void *)(uintptr_t)from, len};
		int e = remote_readv(r, &into, 1, &theirs, 1, &n);
		if (e)
			return e;
		ret->sp = from;
		ret->n_bytes = n;
		/* The red zone may lie in the guard page; then the copy starts at the stack pointer. */
		if (n > 0 || below == 0)
			return 0;
	}
}

/* Reads one line of the thread's status. WORLD_GONE. */
static int status_field(const struct world *w, pid_t pid, pid_t tid, const char *key, struct span *ret, char *text,
			size_t cap)
{
	char path[64];
	size_t len;
	TEXT_FORMAT(path, "%d/task/%d/status", pid, tid);
	int r = file_read_at(w->proc_fd, path, text, cap, &len);
	if (r < 0)
		return WORLD_GONE;
	return text_field((struct span){text, len}, key, ret) < 0 ? WORLD_GONE : 0;
}

static bool is_gone(const struct stopper *s, pid_t tid)
{
	char text[4096];
	struct span state;
	return status_field(s->world, s->pid, tid, "State:", &state, text, sizeof(text)) != 0 ||
	       span_starts(state, "Z") || span_starts(state, "X");
}

static pid_t tracer_of(const struct stopper *s, pid_t tid)
{
	char text[4096];
	struct span tracer;
	uint64_t v;
	if (status_field(s->world, s->pid, tid, "TracerPid:", &tracer, text, sizeof(text)) != 0 ||
	    span_u64_prefix(tracer, &v) < 0)
		return 0;
	return (pid_t)v;
}

/* ---- the stopper's own thread ---- */

static int regs_read(pid_t tid, struct unwind_regs *ret)
{
	struct user_regs_struct u;
	struct iovec io = {&u, sizeof(u)};
	if (ptrace(PTRACE_GETREGSET, tid, (void *)(uintptr_t)NT_PRSTATUS, &io) < 0)
		return errno == ESRCH ? WORLD_GONE : -errno;
	if (io.iov_len != sizeof(u))
		return STOPPER_FOREIGN;
	*ret = (struct unwind_regs){.valid = 0};
#if defined(__x86_64__)
	const unsigned long long in_order[] = {u.rax, u.rdx, u.rcx, u.rbx, u.rsi, u.rdi, u.rbp, u.rsp, u.r8,
					       u.r9,  u.r10, u.r11, u.r12, u.r13, u.r14, u.r15, u.rip};
	for (size_t i = 0; i < ARRAY_SIZE(in_order); i++)
		ret->reg[i] = in_order[i];
	ret->valid = (UINT64_C(1) << ARRAY_SIZE(in_order)) - 1;
#else
	for (size_t i = 0; i < 31; i++)
		ret->reg[i] = u.regs[i];
	ret->reg[REG_SP] = u.sp;
	ret->reg[REG_PC] = u.pc;
	ret->valid = UNWIND_ALL_VALID;
#endif
	return 0;
}

static int seize(const struct stopper *s, pid_t tid)
{
	if (!proc_has_thread(s->pid, tid))
		return WORLD_GONE;
	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) == 0)
		return 0;
	int e = errno;
	if (e == ESRCH || is_gone(s, tid))
		return WORLD_GONE;
	if (e != EPERM && e != EACCES && e != EBUSY)
		return -e;
	return tracer_of(s, tid) != 0 ? STOPPER_BUSY : WORLD_DENIED;
}

/*
 * A thread on another processor stops within microseconds. Sleeping until then would take longer, while it is stopped.
 */
static bool stops_at_once(pid_t tid, siginfo_t *ret)
{
	uint64_t end_ns = clock_mono_ns() + SPIN_NS;
	do {
		*ret = (siginfo_t){.si_status = 0};
		if (waitid(P_PID, (id_t)tid, ret, WSTOPPED | WNOHANG | __WALL | __WNOTHREAD) < 0 && errno != EINTR)
			return false;
		if (ret->si_pid == tid)
			return true;
	} while (clock_mono_ns() < end_ns);
	return false;
}

/* The only place where our thread may be cancelled. */
static int wait_stop(pid_t tid, siginfo_t *ret)
{
	int r, old, e;
	if (stops_at_once(tid, ret))
		return 0;
	*ret = (siginfo_t){.si_status = 0};
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old);
	/*
	 * Not WEXITED: if the target is a child of this very process, its exit status belongs to the code that started
	 * it.
	 */
	do {
		r = waitid(P_PID, (id_t)tid, ret, WSTOPPED | __WALL | __WNOTHREAD);
		e = errno;
	} while (r < 0 && e == EINTR);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
	return r < 0 ? WORLD_GONE : 0;
}

/* Detaches. A thread in a group stop stays stopped; a signal that was about to be delivered is delivered. */
static void thread_detach(pid_t tid, int status)
{
	int signal = status >> 8 == 0 ? status & 0x7f : 0;
	ignore(ptrace(PTRACE_DETACH, tid, NULL, (void *)(uintptr_t)(unsigned)signal),
	       "killed meanwhile: nothing to let go");
}

static unsigned class_of(uint64_t ns)
{
	unsigned octave = 63 - (unsigned)__builtin_clzll(ns | 4);
	return MIN(octave * 4 + (unsigned)(ns >> (octave - 2) & 3), (unsigned)STOPPER_CLASSES - 1);
}

uint64_t stopper_median_ns(const struct stopper_stats *s)
{
	uint64_t seen = 0;
	for (unsigned i = 0; i < STOPPER_CLASSES && s->stops; i++) {
		seen += s->lengths[i];
		if (seen * 2 >= s->stops) /* the upper end of the class */
			return i < 8 ? 8 : MIN((uint64_t)(4 + i % 4 + 1) << (i / 4 - 2), s->pause_ns_max);
	}
	return s->pause_ns_max;
}

void stopper_stats_add(struct stopper_stats *to, const struct stopper_stats *s)
{
	to->stops += s->stops;
	to->stuck += s->stuck;
	to->caught += s->caught;
	to->pause_ns_sum += s->pause_ns_sum;
	to->pause_ns_max = MAX(to->pause_ns_max, s->pause_ns_max);
	for (unsigned i = 0; i < STOPPER_CLASSES; i++)
		to->lengths[i] += s->lengths[i];
}

static void pause_count(struct stopper *s, uint64_t ns)
{
	s->stats.lengths[class_of(ns)]++;
	s->stats.stops++;
	s->stats.pause_ns_sum += ns;
	s->stats.pause_ns_max = MAX(s->stats.pause_ns_max, ns);
}

/* Other mappings often follow a stack; copying them would keep the thread stopped for longer. */
static uint64_t stack_end(struct stopper *s, uint64_t sp)
{
	const struct map_row *row = maps_find(&s->maps, sp);
	s->maps_outdated |= !row;
	return row ? row->end : UINT64_MAX;
}

/* Called only while no thread is stopped. */
static void maps_renew(struct stopper *s)
{
	struct maps m;
	uint64_t now_ns = clock_mono_ns();
	if (!s->maps_outdated || now_ns < s->maps_next_read_ns)
		return;
	s->maps_outdated = false;
	s->maps_next_read_ns = now_ns + MAPS_READ_EVERY_NS;
	if (maps_read(s->world, s->remote->pid, &m) != 0)
		return;
	maps_done(&s->maps);
	s->maps = m;
}

static int job_do(struct stopper *s, struct take_job *job)
{
	siginfo_t info;
	int r = seize(s, job->tid);
	if (r)
		return r;
	uint64_t start_ns = clock_mono_ns();
	if (ptrace(PTRACE_INTERRUPT, job->tid, NULL, NULL) < 0)
		return WORLD_GONE;
	r = wait_stop(job->tid, &info);
	if (r)
		return r;
	atomic_store(&s->is_stopped, true);
	/* asked again: one that is traced keeps its number */
	r = proc_has_thread(s->pid, job->tid) ? regs_read(job->tid, job->regs) : WORLD_GONE;
	if (r == 0)
		r = stack_copy(s->remote, job->regs->reg[REG_SP], stack_end(s, job->regs->reg[REG_SP]), job->stack);
	if (r == 0 && job->during)
		job->during(job->ctx);
	thread_detach(job->tid, info.si_status);
	pause_count(s, clock_mono_ns() - start_ns);
	return r;
}

static struct timespec timespec_of(uint64_t mono_ns)
{
	return (struct timespec){.tv_sec = (time_t)(mono_ns / NS_PER_S), .tv_nsec = (long)(mono_ns % NS_PER_S)};
}

/* False: there is none, and it is to end. With the lock. */
static bool await_work(struct stopper *s)
{
	const struct timespec end = timespec_of(clock_mono_ns() + IDLE_NS);
	while (!s->quit && !s->job)
		if (pthread_cond_timedwait(&s->job_posted, &s->lock, &end) == ETIMEDOUT && !s->job)
			return false;
	return !s->quit;
}

/* The thread is cancelled while its target does not stop: only its end lets go of that one. */
static void cancelled(void *arg)
{
	(void)arg;
	lockwait_drop();
}

static void *thread_main(void *arg)
{
	struct stopper *s = arg;
	int old;
	const struct sched_param first = {.sched_priority = 1};
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
	/*
	 * A thread of another program is stopped, for microseconds, while this one works: it must not wait for the
	 * scheduler.
	 */
	if (sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &first) < 0)
		(void)setpriority(PRIO_PROCESS, (id_t)gettid(), -20);
	atomic_store(&s->thread_tid, (int)gettid());
	if (s->hurries) { /* the helper is made before anybody is stopped */
		lockwait_begin();
		if (lockwait_reads(s->world->proc_fd, s->remote->pid))
			lockwait_start(s->world->proc_fd);
	}
	pthread_cleanup_push(cancelled, NULL);
	pthread_mutex_lock(&s->lock);
	while (await_work(s)) {
		struct take_job *job = s->job;
		pthread_mutex_unlock(&s->lock);
		int r = job_do(s, job);
		pthread_mutex_lock(&s->lock);
		job->result = r;
		s->job = NULL;
		pthread_cond_signal(&s->job_done);
		/* Seized, but it never stopped: only the end of our thread detaches it. */
		if (r == WORLD_GONE)
			break;
	}
	s->quit = true;
	pthread_mutex_unlock(&s->lock);
	pthread_cleanup_pop(0);
	if (s->hurries)
		lockwait_end();
	return NULL;
}

/* ---- the caller ---- */

static int thread_start(struct stopper *s)
{
	sigset_t all, old;
	pthread_attr_t attr;
	int r = pthread_attr_init(&attr);
	if (r)
		return -r;
	r = pthread_attr_setstacksize(&attr, THREAD_STACK_BYTES);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	s->quit = false;
	if (r == 0)
		r = pthread_create(&s->thread, &attr, thread_main, s);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	s->has_thread = r == 0;
	return -r;
}

static void thread_end(struct stopper *s)
{
	if (!s->has_thread)
		return;
	pthread_mutex_lock(&s->lock);
	s->quit = true;
	pthread_cond_signal(&s->job_posted);
	pthread_mutex_unlock(&s->lock);
	pthread_cancel(s->thread);
	pthread_join(s->thread, NULL);
	s->has_thread = false;
	s->job = NULL;
}

/* pthread_join returns a little before the kernel has detached the target. */
static void await_detach(const struct stopper *s, pid_t tid)
{
	uint64_t end_ns = clock_mono_ns() + DETACH_NS;
	while (tracer_of(s, tid) == atomic_load(&s->thread_tid) && clock_mono_ns() < end_ns)
		sched_yield();
}

/* Hands the work to the thread, which is made first where there is none, or where it has just ended. */
static int job_post(struct stopper *s, struct take_job *job)
{
	for (;;) {
		int r = s->has_thread ? 0 : thread_start(s);
		if (r < 0)
			return r;
		pthread_mutex_lock(&s->lock);
		const bool over = s->quit;
		if (!over) {
			s->job = job;
			pthread_cond_signal(&s->job_posted);
		}
		pthread_mutex_unlock(&s->lock);
		if (!over)
			return 0;
		thread_end(s);
	}
}

/*
 * False: the deadline came first. The deadline limits the wait for the stop only, not the work on the stopped thread.
 */
static bool job_await(struct stopper *s, uint64_t end_ns)
{
	struct timespec end = timespec_of(end_ns);
	pthread_mutex_lock(&s->lock);
	while (s->job) {
		if (atomic_load(&s->is_stopped))
			pthread_cond_wait(&s->job_done, &s->lock);
		else if (pthread_cond_timedwait(&s->job_done, &s->lock, &end) == ETIMEDOUT &&
			 !atomic_load(&s->is_stopped))
			break;
	}
	bool in_time = !s->job;
	pthread_mutex_unlock(&s->lock);
	return in_time;
}

int stopper_take(struct stopper *s, pid_t tid, uint64_t deadline_us, struct unwind_regs *ret_regs,
		 struct unwind_stack *ret_stack, void (*during)(void *ctx), void *ctx)
{
	/* On our stack: when the deadline comes first, the stopper's thread is joined before this returns. */
	struct take_job job = {tid, ret_regs, ret_stack, during, ctx, STOPPER_STUCK};
	uint64_t end_ns = clock_mono_ns() + deadline_us * NS_PER_US;
	atomic_store(&s->is_stopped, false);
	int r = job_post(s, &job);
	if (r < 0)
		return r;
	if (job_await(s, end_ns) && job.result != WORLD_GONE) {
		maps_renew(s);
		return job.result;
	}
	thread_end(s);
	await_detach(s, tid);
	if (job.result == STOPPER_STUCK && is_gone(s, tid))
		return WORLD_GONE;
	s->stats.stuck += job.result == STOPPER_STUCK;
	return job.result;
}

/* ---- a running thread, without stopping it ---- */

static struct last_seen *last_seen_of(struct stopper *s, pid_t tid)
{
	struct last_seen *last = &s->last_seen[(uint32_t)tid % LAST_SEEN_MAX];
	if (last->tid != tid)
		*last = (struct last_seen){.tid = tid, .processor = UINT32_MAX};
	return last;
}

int stopper_catch(struct stopper *s, struct instant *in, pid_t tid, const struct iovec *from, size_t n_from,
		  void *into, size_t *ret_bytes, struct unwind_regs *ret_regs, struct unwind_stack *ret_stack)
{
	struct last_seen *last = last_seen_of(s, tid);
	struct instant_want want = {.pid = s->pid,
				    .tid = tid,
				    .processor = last->processor,
				    .stack_lo = last->stack_lo,
				    .stack_end = last->stack_end,
				    .from = from,
				    .n_from = n_from,
				    .into = into};
	struct instant_seen seen = {.regs = ret_regs, .stack = ret_stack};
	int r = last->processor == UINT32_MAX ? INSTANT_ELSEWHERE : instant_take(in, &want, &seen);
	if (r == INSTANT_ELSEWHERE) {
		int e = proc_processor_read(s->world, s->pid, tid, &last->processor);
		if (e)
			return e == WORLD_GONE ? e : STOPPER_RUNNING;
		want.processor = last->processor;
		r = instant_take(in, &want, &seen);
	}
	if (r == INSTANT_ELSEWHERE && instant_step_aside(in, want.processor)) {
		uint64_t end_ns = clock_mono_ns() + ASIDE_NS;
		while (r == INSTANT_ELSEWHERE && clock_mono_ns() < end_ns)
			r = instant_take(in, &want, &seen);
	}
	if (r)
		return STOPPER_RUNNING;
	s->stats.caught++;
	pause_count(s, seen.pause_ns);
	uint64_t sp = ret_regs->reg[REG_SP];
	if (sp < last->stack_lo || sp >= last->stack_end) {
		const struct map_row *row = maps_find(&s->maps, sp);
		s->maps_outdated |= !row;
		last->stack_lo = row ? row->start : 0;
		last->stack_end = row ? row->end : 0;
		maps_renew(s);
	}
	*ret_bytes = seen.n_bytes;
	return 0;
}

struct stopper *stopper_new(const struct world *w, pid_t pid, struct remote *r)
{
	pthread_condattr_t attr;
	struct stopper *s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->world = w;
	s->pid = pid;
	s->remote = r;
	s->hurries = lockwait_hurries();
	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&s->job_posted, &attr);
	pthread_cond_init(&s->job_done, &attr);
	pthread_condattr_destroy(&attr);
	return s;
}

struct stopper *stopper_free(struct stopper *s)
{
	if (!s)
		return NULL;
	thread_end(s);
	pthread_cond_destroy(&s->job_posted);
	pthread_cond_destroy(&s->job_done);
	pthread_mutex_destroy(&s->lock);
	maps_done(&s->maps);
	free(s);
	return NULL;
}

struct stopper_stats stopper_stats(const struct stopper *s)
{
	return s->stats;
}

/* ---- a waiting thread, without stopping it ---- */

static int stopper_hex_word(struct span *rest, uint64_t *ret)
{
	struct span word;
	uint64_t v = 0;
	if (!span_word(rest, &word) || !span_starts(word, "0x") || word.len < 3 || word.len > 18)
		return -EINVAL;
	for (size_t i = 2; i < word.len; i++) {
		char c = word.p[i];
		if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
			return -EINVAL;
		v = v << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	*ret = v;
	return 0;
}

/* Formats: "NR 6 arguments SP PC"; "-1 SP PC" (waits outside of a system call, in a page fault); "running". */
static int syscall_parse(struct span text, struct unwind_regs *ret)
{
	struct span rest = text, nr;
	struct unwind_regs regs = {.valid = UINT64_C(1) << REG_SP | UINT64_C(1) << REG_PC};
	if (!span_word(&rest, &nr) || span_eq(nr, "running"))
		return STOPPER_RUNNING;
	/* The arguments are still in their registers; vfork keeps its return address in one. */
	for (size_t i = 0; i < ARRAY_SIZE(arguments) && !span_eq(nr, "-1"); i++) {
		if (stopper_hex_word(&rest, &regs.reg[arguments[i]]) < 0)
			return STOPPER_RUNNING;
		regs.valid |= UINT64_C(1) << arguments[i];
	}
	if (stopper_hex_word(&rest, &regs.reg[REG_SP]) < 0 || stopper_hex_word(&rest, &regs.reg[REG_PC]) < 0)
		return STOPPER_RUNNING;
	*ret = regs;
	return 0;
}

int stopper_blocked(const struct world *w, pid_t pid, pid_t tid, struct remote *r, struct unwind_regs *ret_regs,
		    struct unwind_stack *ret_stack, void (*during)(void *ctx), void *ctx)
{
	char path[64], before[256], after[256];
	size_t len;
	struct unwind_regs regs;
	TEXT_FORMAT(path, "%d/task/%d/syscall", pid, tid);
	cleanup(closep) int fd = openat(w->proc_fd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		int e = -errno;
		TEXT_FORMAT(path, "%d/task/%d", pid, tid);
		return e == -ENOENT && faccessat(w->proc_fd, path, F_OK, 0) == 0 ? WORLD_ABSENT : world_condition(e);
	}
	int e = file_read_fd(fd, before, sizeof(before), &len);
	if (e < 0)
		return world_condition(e);
	e = syscall_parse((struct span){before, len}, &regs);
	if (e)
		return e;
	e = stack_copy(r, regs.reg[REG_SP], UINT64_MAX, ret_stack);
	if (e)
		return e;
	if (during)
		during(ctx);
	e = file_read_fd(fd, after, sizeof(after), &len);
	if (e < 0)
		return world_condition(e);
	if (strcmp(before, after) != 0)
		return STOPPER_RUNNING;
	*ret_regs = regs;
	return 0;
}

bool stopper_would_fail(int64_t syscall)
{
	/* The socket calls fail only with a timeout set, which is not visible from outside. */
	static const int64_t failing[] = {
		SYS_epoll_pwait,  SYS_epoll_pwait2,  SYS_semop,		 SYS_semtimedop, SYS_rt_sigtimedwait,
		SYS_io_getevents, SYS_io_pgetevents, SYS_io_uring_enter, SYS_accept,	 SYS_accept4,
		SYS_connect,	  SYS_recvfrom,	     SYS_recvmsg,	 SYS_recvmmsg,	 SYS_sendto,
		SYS_sendmsg,	  SYS_sendmmsg,
#ifdef SYS_epoll_wait /* not on newer machines, which have epoll_pwait only */
		SYS_epoll_wait,
#endif
	};
	for (size_t i = 0; i < ARRAY_SIZE(failing); i++)
		if (failing[i] == syscall)
			return true;
	return false;
}
