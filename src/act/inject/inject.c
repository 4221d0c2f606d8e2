#include "act/inject/inject_parts.h"

#if defined(__x86_64__)

#include <dirent.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/path.h"
#include "base/signame.h"
#include "sense/lockwait.h"
#include "sense/native/stopper.h"
#include "sense/proc/proc.h"
#include "sense/wait/threadwait.h"

/* Red zone: bytes below its stack pointer that a leaf function may use (System V ABI 3.2.2). */
#define RED_ZONE_BYTES 128
/* dlopen needs about 10 KiB of stack. A thread with less free stack than this is not used. */
#define STACK_NEEDED_BYTES (96 * KIB)
/* Pause between two attempts, so that the program can go on. */
#define PAUSE_NS 200000
#define RUN_OUT_NS (10 * NS_PER_MS)
#define STUCK_NS (2 * NS_PER_S)
#define TRAP_BIT (UINT64_C(1) << (SIGTRAP - 1))
#define PATH_BYTES 4096
#define TRACER_STACK_BYTES (8 * MIB)

struct job {
	struct inject_target *target;
	const struct inject_want *want;
	struct inject_result *result;
	struct fault *f;
	int perf_fd; /* see breakpoints_prepare(); -1: not opened yet */
	pid_t warmed; /* thread whose stack has been read in advance, by warm_up() */
	pid_t vigil; /* who waits for the tracer */
	bool hurries; /* as that one (sense/lockwait) */
	int r;
};
/* ---- safe places ---- */

static void unwind_regs_of(const struct user_regs_struct *u, struct unwind_regs *ret)
{
	const unsigned long long in_order[] = {u->rax, u->rdx, u->rcx, u->rbx, u->rsi, u->rdi, u->rbp, u->rsp, u->r8,
					       u->r9,  u->r10, u->r11, u->r12, u->r13, u->r14, u->r15, u->rip};
	for (size_t i = 0; i < ARRAY_SIZE(in_order); i++)
		ret->reg[i] = in_order[i];
	ret->valid = (UINT64_C(1) << ARRAY_SIZE(in_order)) - 1;
}

/* Looks up names of functions in libc only: reading the symbols of a large program takes seconds. */
static bool place_is_safe(struct inject_target *t, const struct unwind_trace *trace, const struct user_regs_struct *u)
{
	static struct inject_frame frames[UNWIND_FRAMES];
	for (size_t i = 0; i < trace->n; i++) {
		const struct map_row *row = maps_find(&t->maps, trace->frame[i].pc - (trace->frame[i].exact ? 0 : 1));
		struct native_symbol s = {.name = ""};
		if (!row)
			return false; /* a file loaded later: the loader may be running now */
		frames[i] = (struct inject_frame){.file = path_name(row->path), .path = row->path, .name = ""};
		if (!inject_is_libc(frames[i].file))
			continue;
		native_symbol(t->native, trace->frame[i].pc, trace->frame[i].exact, &s);
		if (s.kind != NATIVE_UNKNOWN)
			frames[i].name = s.name;
	}
	int64_t nr = (int64_t)u->orig_rax >= 0 ? (int64_t)u->orig_rax : -1;
	return inject_is_safe(frames, trace->n, trace->end == UNWIND_COMPLETE, nr, u->rsi, u->rdx, t->allocator,
			      t->n_allocators);
}

static bool has_stack(const struct inject_target *t, uint64_t sp)
{
	const struct map_row *row = maps_find(&t->maps, sp);
	if (!row || !(row->flags & MAP_WRITE))
		return false;
	/* The kernel extends the stack of the first thread when needed. */
	return strcmp(row->path, "[stack]") == 0 || sp - row->start > STACK_NEEDED_BYTES;
}

static int place_check(struct tracee *t, struct unwind_trace *trace)
{
	struct unwind_regs regs;
	int r = tracee_save(t);
	if (r)
		return r;
	/* asked once it is traced: such a one keeps its number */
	if (!proc_has_thread(t->target->pid, t->tid) || !inject_target_same(t->target))
		return WORLD_GONE;
	if (!has_stack(t->target, t->regs.rsp))
		return TRY_AGAIN;
	unwind_regs_of(&t->regs, &regs);
	native_unwind(t->target->native, &regs, NULL, trace);
	if (!place_is_safe(t->target, trace, &t->regs))
		return TRY_AGAIN;
	t->low = t->regs.rsp - RED_ZONE_BYTES;
	return 0;
}

/* True for code of libc, the loader or an allocator: it may hold a lock of malloc or of the loader. */
static bool in_libc(struct inject_target *t, uint64_t pc)
{
	const struct map_row *row = maps_find(&t->maps, pc);
	if (!row || inject_is_libc(path_name(row->path)) || inject_is_loader(path_name(row->path)))
		return true;
	for (size_t i = 0; i < t->n_allocators; i++)
		if (strcmp(row->path, t->allocator[i]) == 0)
			return true;
	return false;
}

/*
 * A hardware breakpoint is a perf event of a task. The first such event on the machine makes the kernel wait about 10
 * ms until all processors have been informed. Opening an event here keeps that wait out of the time in which a thread
 * is stopped.
 */
static void breakpoints_prepare(struct job *j)
{
	struct perf_event_attr a = {.type = PERF_TYPE_SOFTWARE,
				    .size = sizeof(a),
				    .config = PERF_COUNT_SW_DUMMY,
				    .exclude_kernel = 1,
				    .exclude_hv = 1};
	long fd = syscall(SYS_perf_event_open, &a, 0, -1, -1, (unsigned long)PERF_FLAG_FD_CLOEXEC);
	/* Where perf events are not permitted, the first breakpoint is slow. */
	j->perf_fd = fd < 0 ? open("/dev/null", O_RDONLY | O_CLOEXEC) : (int)fd;
}

static int breakpoint(pid_t tid, uint64_t addr)
{
	/* Sets a hardware breakpoint for this thread only; no code is changed (ptrace(2), Intel SDM 3B 17.2.4). */
	return ptrace(PTRACE_POKEUSER, tid, offsetof(struct user, u_debugreg[0]), addr) < 0 ||
			       ptrace(PTRACE_POKEUSER, tid, offsetof(struct user, u_debugreg[7]), addr ? 1UL : 0UL) < 0
		       ? TRY_AGAIN
		       : 0;
}

/* The first return address outside malloc, the loader and libc; 0: the thread is not inside them. */
static uint64_t way_out(struct tracee *t, const struct unwind_trace *trace)
{
	size_t i = 0;
	while (i < trace->n && in_libc(t->target, trace->frame[i].pc))
		i++;
	bool waits = (int64_t)t->regs.orig_rax >= 0;
	return i == 0 || i == trace->n || waits || trace->frame[i].exact ? 0 : trace->frame[i].pc;
}

static bool trap_pending(const struct tracee *t)
{
	char path[64], text[8192], hex[32];
	struct span pending;
	size_t len;
	TEXT_FORMAT(path, "%d/task/%d/status", (int)t->target->pid, (int)t->tid);
	if (file_read_at(t->target->w->proc_fd, path, text, sizeof(text), &len) < 0 ||
	    text_field((struct span){text, len}, "SigPnd:", &pending) != 0)
		return false;
	span_copy(span_trim(pending), hex, sizeof(hex));
	return strtoull(hex, NULL, 16) & TRAP_BIT;
}

/*
 * A program that allocates all the time is nearly always inside malloc. The thread is therefore run until it returns
 * from there. TRY_AGAIN: it did not return within run_out_ns.
 */
static int run_out(struct tracee *t, uint64_t addr, uint64_t run_out_ns)
{
	uint64_t mask = t->mask & ~TRAP_BIT;
	int status;
	if (addr == 0 || t->signal || t->target->trap_signal != SIGTRAP)
		return TRY_AGAIN;
	/* Unblocks SIGTRAP: for a blocked trap the kernel would drop the handler of the program (signal(7)). */
	if (ptrace(PTRACE_SETSIGMASK, t->tid, (void *)sizeof(mask), &mask) < 0)
		return WORLD_GONE;
	if (breakpoint(t->tid, addr) != 0)
		return TRY_AGAIN; /* tracee_restore() puts the mask back */
	if (ptrace(PTRACE_CONT, t->tid, NULL, NULL) < 0)
		return WORLD_GONE;
	tracee_stood(t);
	t->since_ns = clock_mono_ns();
	int r = tracee_wait(t, t->since_ns + run_out_ns, &status);
	if (r == TRY_AGAIN) {
		if (ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL) < 0)
			return WORLD_GONE;
		r = tracee_wait(t, clock_mono_ns() + STUCK_NS, &status);
		if (r)
			return r == TRY_AGAIN ? -ETIMEDOUT : r; /* the end of the tracer detaches it */
	}
	if (r == 0)
		r = tracee_regs(t);
	if (r)
		return r;
	ignore(breakpoint(t->tid, 0), "it was set a moment ago, so it can be cleared");
	/* It may have reached the breakpoint while it was being stopped; the pending SIGTRAP would kill it. */
	if (status >> 16 != 0 && trap_pending(t)) {
		if (ptrace(PTRACE_CONT, t->tid, NULL, NULL) < 0)
			return WORLD_GONE;
		r = tracee_wait(t, clock_mono_ns() + STUCK_NS, &status);
		if (r == 0)
			r = tracee_regs(t);
		if (r)
			return r == TRY_AGAIN ? -ETIMEDOUT : r;
	}
	if (ptrace(PTRACE_SETSIGMASK, t->tid, (void *)sizeof(t->mask), &t->mask) < 0)
		return WORLD_GONE;
	bool there = status >> 16 == 0 && WSTOPSIG(status) == SIGTRAP && t->now.rip == addr;
	if (!there && status >> 16 == 0)
		t->signal = WSTOPSIG(status);
	return there ? 0 : TRY_AGAIN;
}

static int run_symbol(struct tracee *t, const struct job *j)
{
	uint64_t function = 0, arg = 0, value = 0;
	int r = inject_load(t, j->want, j->f, &function);
	if (r == 0 && !t->target->symbol) {
		t->target->symbol = function;
		return LOADED;
	}
	if (r == 0 && j->want->arg_bytes)
		r = tracee_push(t, j->want->arg, j->want->arg_bytes, &arg);
	if (r == 0)
		r = tracee_call(t, function, arg, j->want->arg_bytes, 0, &value);
	if (r == 0 && j->want->arg_bytes)
		r = remote_read(&t->target->remote, arg, j->want->arg, j->want->arg_bytes);
	if (r == 0)
		j->result->value = (int64_t)value;
	j->result->calls += r == 0;
	return r;
}

/* ---- one thread ---- */

/* Reports the error and its place. The place has to be read now, while the thread is stopped. */
static int did_not_return(const struct tracee *t, struct fault *f)
{
	const struct map_row *row = maps_find(&t->target->maps, t->now.rip);
	char how[64], place[PATH_BYTES] = "memory of no file";
	if (t->crashed_by)
		TEXT_FORMAT(how, "was ended by %s", signame(t->crashed_by));
	else
		TEXT_FORMAT(how, "did not return within %u s", (unsigned)(CALL_NS / NS_PER_S));
	if (row && row->path[0])
		TEXT_FORMAT(place, "%s+0x%llx", row->path, (unsigned long long)(t->now.rip - row->start + row->offset));
	return fault_set(f, INJECT_FAILED, "process %d: loading the library %s, at %s%s; its registers were put back",
			 (int)t->target->pid, how, place, (int64_t)t->now.orig_rax >= 0 ? ", in a system call" : "");
}

static int inject_here(struct tracee *t, const struct job *j)
{
	/*
	 * A signal handler that ran now would run inside dlopen, so all signals are blocked except those that a failing
	 * call itself raises; they are handled here.
	 */
	static const int ours[] = {SIGSEGV, SIGTRAP, SIGBUS, SIGILL, SIGFPE, SIGSYS, SIGABRT};
	uint64_t mask = UINT64_MAX;
	for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
		mask &= ~(UINT64_C(1) << (ours[i] - 1));
	if (ptrace(PTRACE_SETSIGMASK, t->tid, (void *)sizeof(mask), &mask) < 0)
		return WORLD_GONE;
	int r = run_symbol(t, j);
	if (r == WORLD_GONE)
		return r;
	int e = tracee_restore(t);
	if (r == INJECT_FAILED && !j->f->text[0])
		(void)did_not_return(t, j->f);
	return r ? r : e;
}

/* TRY_AGAIN: the thread is not at a safe place now. */
static int try_thread(struct job *j, pid_t tid, bool *ret_lost)
{
	bool ready = j->perf_fd >= 0;
	static struct tracee tracee;
	static struct unwind_trace trace;
	struct tracee *t = &tracee;
	char path[64];
	*t = (struct tracee){.target = j->target, .tid = tid, .mem_fd = -1, .result = j->result};
	TEXT_FORMAT(path, "%d/mem", (int)j->target->pid);
	int r = tracee_seize(t);
	if (r)
		return r;
	r = tracee_stop(t);
	if (r) {
		*ret_lost = r == TRY_AGAIN; /* still seized */
		return r == INJECT_REFUSED ? fault_set(j->f, r, "process %d is stopped: continue it (kill -CONT %d)",
						       (int)j->target->pid, (int)j->target->pid)
					   : r;
	}
	j->result->tries++;
	cleanup(closep) int mem = openat(j->target->w->proc_fd, path, O_RDWR | O_CLOEXEC);
	t->mem_fd = mem;
	trace.n = 0;
	r = mem < 0 ? world_condition(-errno) : place_check(t, &trace);
	if (r == TRY_AGAIN) {
		uint64_t ns = j->want->run_out_ns ? j->want->run_out_ns : RUN_OUT_NS;
		r = ready ? run_out(t, way_out(t, &trace), ns) : TRY_AGAIN;
		if (r == 0)
			r = place_check(t, &trace);
		else if (r == TRY_AGAIN && tracee_save(t) != 0)
			r = WORLD_GONE;
	}
	if (r == 0)
		r = inject_here(t, j);
	else if (r == TRY_AGAIN && tracee_restore(t) != 0) /* for calls that fail when interrupted */
		r = WORLD_GONE;
	tracee_let_go(t);
	if (r == TRY_AGAIN && !ready)
		breakpoints_prepare(j);
	j->result->tid = tid;
	if (r == INJECT_REFUSED && !j->f->text[0])
		fault_set(j->f, r, "process %d: the registers of its thread %d cannot be saved whole",
			  (int)j->target->pid, (int)tid);
	return r;
}

/* ---- choice of a thread ---- */

struct candidate {
	pid_t tid;
	int rank; /* lower is better */
};

static int inject_rank_of(const struct inject_target *t, pid_t tid)
{
	struct threadwait w;
	if (threadwait_read(t->w, t->pid, tid, NULL, false, &w) != 0)
		return -1;
	int first = tid == t->pid ? 0 : 1; /* 0 for the first thread: it has the largest stack */
	switch (w.kind) {
	case WAIT_ZOMBIE:
	case WAIT_STOPPED:
	case WAIT_DISK:
		return -1;
	case WAIT_RUNNING:
		return 4 + first;
	default:
		return w.has_syscall && stopper_would_fail(w.nr) ? 2 + first : first;
	}
}

static int by_rank(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	return x->rank != y->rank ? (x->rank < y->rank ? -1 : 1) : x->tid < y->tid ? -1 : 1;
}

static int tids_read(const struct inject_target *t, pid_t *tids, size_t cap, size_t *ret_n)
{
	char path[32];
	size_t n = 0;
	TEXT_FORMAT(path, "%d/task", (int)t->pid);
	int fd = openat(t->w->proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = file_folder(fd);
	if (!dir)
		return world_condition(-errno);
	for (const struct dirent *d; n < cap && (d = readdir(dir));) {
		uint64_t tid;
		if (span_u64(span_of(d->d_name), &tid) == 0)
			tids[n++] = (pid_t)tid;
	}
	(void)closedir(dir);
	*ret_n = n;
	return 0;
}

static int candidates(const struct inject_target *t, struct candidate *list, size_t *ret_n)
{
	cleanup(freep) pid_t *tids = calloc(INJECT_THREADS, sizeof(*tids));
	size_t n_tids = 0, n = 0;
	int r = tids ? tids_read(t, tids, INJECT_THREADS, &n_tids) : -ENOMEM;
	if (r)
		return r;
	for (size_t i = 0; i < n_tids; i++) {
		int rank = inject_rank_of(t, tids[i]);
		if (rank >= 0)
			list[n++] = (struct candidate){tids[i], rank};
	}
	qsort(list, n, sizeof(*list), by_rank);
	*ret_n = n;
	return 0;
}

/* Copies the stack of a running thread; the thread is stopped only while its stack is copied. */
static bool stack_copy(struct job *j, pid_t tid, struct unwind_regs *ret, struct unwind_stack *stack, bool *ret_lost)
{
	static struct tracee tracee;
	struct tracee *t = &tracee;
	*t = (struct tracee){.target = j->target, .tid = tid, .mem_fd = -1, .result = j->result};
	if (tracee_seize(t) != 0)
		return false;
	int r = tracee_stop(t);
	*ret_lost = r == TRY_AGAIN;
	if (r)
		return false;
	bool seen = tracee_save(t) == 0;
	const struct map_row *row = seen ? maps_find(&j->target->maps, t->regs.rsp) : NULL;
	stack->sp = seen ? t->regs.rsp - RED_ZONE_BYTES : 0;
	stack->n_bytes = row ? MIN(sizeof(stack->bytes), row->end - stack->sp) : 0;
	seen = row && remote_read(&j->target->remote, stack->sp, stack->bytes, stack->n_bytes) == 0;
	if (seen)
		unwind_regs_of(&t->regs, ret);
	if (t->n_xstate)
		ignore(tracee_restore(t), "for calls that fail when interrupted; it may have ended");
	tracee_let_go(t);
	return seen;
}

/* Reads names and call frame information in advance, so that a thread is not stopped meanwhile. */
static void warm_up(struct job *j, pid_t tid, bool *ret_lost)
{
	static struct unwind_stack stack;
	static struct unwind_trace trace;
	struct inject_target *t = j->target;
	struct unwind_regs regs;
	struct native_symbol s;
	int r = j->warmed == tid ? WORLD_ABSENT
				 : stopper_blocked(t->w, t->pid, tid, &t->remote, &regs, &stack, NULL, NULL);
	j->warmed = tid;
	if (r != 0 && (r != STOPPER_RUNNING || !stack_copy(j, tid, &regs, &stack, ret_lost)))
		return;
	native_unwind(t->native, &regs, &stack, &trace);
	for (size_t i = 0; i < trace.n; i++) {
		const struct map_row *row = maps_find(&t->maps, trace.frame[i].pc);
		if (row && inject_is_libc(path_name(row->path)))
			native_symbol(t->native, trace.frame[i].pc, trace.frame[i].exact, &s);
	}
}

static int refuse_filter(const struct inject_target *t, const char *call, struct fault *f)
{
	if (call)
		return fault_set(
			f, INJECT_REFUSED,
			"process %d has a seccomp filter that may end it for the call %s, which vigil's heap library "
			"needs: nothing is loaded into it",
			(int)t->pid, call);
	return fault_set(
		f, INJECT_REFUSED,
		"process %d is the first of its container and has a seccomp filter, and what that forbids cannot be "
		"read (it takes root, outside of the container): nothing is loaded into it; start it with vigil run "
		"--heap instead",
		(int)t->pid);
}

/* Reads the filters themselves where possible: they are more reliable than what their origin suggests. */
static int filters_check(struct job *j)
{
	static struct tracee tracee;
	const char *call = NULL;
	struct tracee *t = &tracee;
	if (j->target->filters == FILTERS_NONE || j->target->filters == FILTERS_OURS)
		return 0;
	*t = (struct tracee){.target = j->target, .tid = j->target->pid, .mem_fd = -1, .result = j->result};
	int r = tracee_seize(t);
	if (r == 0)
		r = tracee_stop(t);
	if (r)
		return r == TRY_AGAIN ? INJECT_UNSAFE : r;
	int said = inject_seccomp_harmless(t->tid, &call);
	r = tracee_save(t);
	if (r == 0)
		r = tracee_restore(t);
	tracee_let_go(t);
	if (said == INJECT_REFUSED || (said != 0 && j->target->filters == FILTERS_UNKNOWN))
		return refuse_filter(j->target, call, j->f);
	return r;
}

/* Each thread can have filters of its own. */
static bool has_same_filters(const struct inject_target *t, pid_t tid)
{
	struct inject_seccomp s;
	return inject_seccomp_read(t->w, t->pid, tid, &s) == 0 && inject_seccomp_same(&s, &t->seccomp);
}

static bool target_exists(const struct inject_target *t)
{
	struct proc_stat st;
	return proc_is_same(t->w, (struct proc_id){.pid = t->pid, .start_ticks = t->start_ticks}, &st);
}

/* The signals that wait for vigil, as of /proc/PID/status; all of them where it is gone. */
static uint64_t waiting_for(const struct job *j, const char *which)
{
	char path[32], text[8192], hex[32];
	struct span pending;
	size_t len;
	TEXT_FORMAT(path, "%d/status", (int)j->vigil);
	if (getppid() != j->vigil)
		return UINT64_MAX;
	if (file_read_at(j->target->w->proc_fd, path, text, sizeof(text), &len) < 0 ||
	    text_field((struct span){text, len}, which, &pending) != 0)
		return 0;
	span_copy(span_trim(pending), hex, sizeof(hex));
	return strtoull(hex, NULL, 16);
}

/* True: vigil is gone, or a signal waits that ends it. No further thread is stopped then. */
static bool asked_to_end(const struct job *j)
{
	static const int end[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	uint64_t waiting = waiting_for(j, "ShdPnd:") | waiting_for(j, "SigPnd:");
	bool any = false;
	for (size_t i = 0; i < ARRAY_SIZE(end); i++)
		any |= waiting >> (end[i] - 1) & 1;
	return any;
}

/* A page of a file whose server never answers, which any user can have: the reader of it was left behind. */
static int refuse_memory(const struct inject_target *t, struct fault *f)
{
	return fault_set(f, INJECT_REFUSED, "process %d: its memory does not answer (a file on a server that is gone)",
			 (int)t->pid);
}

static int find_and_inject(struct job *j)
{
	cleanup(freep) struct candidate *list = calloc(INJECT_THREADS, sizeof(*list));
	uint64_t until_ns = clock_mono_ns() + j->want->deadline_ns;
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	bool lost = false;
	size_t n = 0;
	if (!list)
		return -ENOMEM;
	do {
		int r = candidates(j->target, list, &n);
		if (r)
			return r;
		for (size_t i = 0; i < MIN(n, 8u); i++) {
			if (!target_exists(j->target))
				return WORLD_GONE;
			if (!has_same_filters(j->target, list[i].tid))
				continue;
			warm_up(j, list[i].tid, &lost);
			r = lost ? TRY_AGAIN : try_thread(j, list[i].tid, &lost);
			if (r != 0 && r != LOADED && lockwait_ask(j->target->w->proc_fd, j->target->pid) != 0)
				return refuse_memory(j->target, j->f);
			bool ended = r == WORLD_GONE && list[i].tid != j->target->pid && target_exists(j->target);
			if (r != TRY_AGAIN && !ended)
				return r;
			if (lost)
				return INJECT_UNSAFE; /* only the end of the tracer detaches it */
		}
		(void)nanosleep(&pause, NULL);
		/* Code loaded meanwhile would look unmapped. */
		if (j->result->tries % 8 == 7)
			inject_target_renew(j->target);
	} while (clock_mono_ns() < until_ns && !asked_to_end(j));
	return INJECT_UNSAFE;
}

/* What traces: a process that shares all memory and descriptors with vigil, but does not end with it. */
static int tracer_main(void *arg)
{
	struct job *j = arg;
	/* What ends a whole group of processes, as a terminal and timeout(1) do, leaves it alone. */
	(void)setpgid(0, 0);
	(void)prctl(PR_SET_NAME, "vigil-attach");
	/* Vigil's own place in this is vigil's by its number; so is its helper, which has no higher priority. */
	if (j->hurries) {
		lockwait_begin();
		lockwait_start(j->target->w->proc_fd);
	}
	/*
	 * A thread is stopped meanwhile: sleep in microseconds and, if permitted, with a higher priority. Niceness
	 * counts only among the processes of one session (sched(7), autogroup).
	 */
	(void)prctl(PR_SET_TIMERSLACK, 1000UL);
	const struct sched_param first = {.sched_priority = 1};
	if (sched_setscheduler(0, SCHED_FIFO, &first) != 0)
		(void)setpriority(PRIO_PROCESS, 0, -20);
	j->r = filters_check(j);
	if (j->r == 0)
		do
			j->r = find_and_inject(j);
		while (j->r == LOADED ||
		       (j->r == 0 && j->want->again && j->want->again(j->want->arg) && !asked_to_end(j)));
	if (j->hurries)
		lockwait_drop();
	return 0; /* clone(2) ends it with that, and its end detaches everything */
}

/*
 * A vigil that ends in the middle of a call would leave the program there, on its way to an address that ends it. So no
 * signal is taken until then, and for SIGKILL the calls are made by a process of its own, which finishes what it has
 * begun. CLONE_VFORK keeps this thread out of its memory and its thread-local data meanwhile, and lets SIGKILL through
 * (clone(2)).
 */
static int in_own_process(struct job *j)
{
	sigset_t all, old;
	char *stack = mmap(NULL, TRACER_STACK_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
	if (stack == MAP_FAILED)
		return -errno;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	j->vigil = getpid();
	j->hurries = lockwait_hurries();
	pid_t pid = clone(tracer_main, stack + TRACER_STACK_BYTES, CLONE_VM | CLONE_FILES | CLONE_VFORK, j);
	int r = pid < 0 ? -errno : 0;
	if (pid > 0)
		(void)waitpid(pid, NULL, __WALL);
	if (j->hurries)
		lockwait_begin();
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	(void)munmap(stack, TRACER_STACK_BYTES);
	return r ? r : j->r;
}

static int inject_explain(const struct inject_target *t, int r, struct fault *f)
{
	struct proc_stat st;
	if (f->text[0] || r == 0)
		return r;
	/* Tracing a process that is about to end is refused as well; that is no missing right. */
	if (r == WORLD_DENIED && proc_stat_read(t->w, t->pid, &st) == 0 && st.state != 'Z' && st.state != 'X')
		return r;
	if (r == WORLD_DENIED)
		r = WORLD_GONE;
	if (r == WORLD_GONE)
		return fault_set(f, r, "process %d ended, or became another program, meanwhile", (int)t->pid);
	if (r == INJECT_UNSAFE)
		return fault_set(
			f, r,
			"process %d: no thread was at a place where the library can be loaded safely (all were inside "
			"malloc, the loader or fork, or did not stop); %s; --what growth shows where its memory grows "
			"without loading anything",
			(int)t->pid, t->symbol ? "the library is there and does nothing yet" : "nothing was changed");
	return fault_set(f, r, "process %d: %s", (int)t->pid, r < 0 ? strerror(-r) : "its memory could not be written");
}

int inject_library(const struct world *w, pid_t pid, const struct inject_want *want, struct inject_result *ret,
		   struct fault *f)
{
	struct inject_target target;
	if (want->arg_bytes > INJECT_ARG_BYTES)
		return -E2BIG;
	*ret = (struct inject_result){.value = 0};
	struct job j = {.target = &target, .want = want, .result = ret, .f = f, .perf_fd = -1, .r = INJECT_FAILED};
	int r = inject_target_open(w, pid, want, &target, f);
	ret->was_loaded = target.symbol != 0;
	if (r == 0)
		r = in_own_process(&j);
	closep(&j.perf_fd);
	r = inject_explain(&target, r, f);
	inject_target_close(&target);
	return r;
}

#else

int inject_library(const struct world *w, pid_t pid, const struct inject_want *want, struct inject_result *ret,
		   struct fault *f)
{
	(void)w;
	(void)want;
	(void)ret;
	return fault_set(
		f, INJECT_REFUSED,
		"process %d: on this kind of machine vigil cannot load anything into a running program yet; start "
		"the job with vigil run --heap",
		(int)pid);
}

#endif
