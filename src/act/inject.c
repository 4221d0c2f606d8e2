#include "act/inject_parts.h"

#if defined(__x86_64__)

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/signame.h"
#include "sense/native/stopper.h"
#include "sense/proc.h"
#include "sense/threadwait.h"

/* The vector state of an AMX processor is 11 KiB; nobody has announced more than this. */
#define XSTATE_BYTES (64 * 1024)
/* System V ABI 3.2.2: what a leaf function may keep below its stack pointer. */
#define RED_ZONE_BYTES 128
/* dlopen needs some ten; where a thread's stack has less than this left, another thread is taken. */
#define STACK_NEEDED_BYTES (96 * KIB)
/* How long a thread that is asked to stop is waited for; one that runs may have to get a processor first. */
#define STOP_NS (200 * NS_PER_MS)
/* How long the program's loader may take: it may have to wait for another thread that loads something. */
#define CALL_NS (10 * NS_PER_S)
/* Between two looks for a safe place: the program must get on. */
#define PAUSE_NS 200000
#define RUN_OUT_NS (10 * NS_PER_MS)
#define STUCK_NS (2 * NS_PER_S)
#define PATH_BYTES 4096
#define FLAG_TRAP 0x100u
#define FLAG_DIRECTION 0x400u
#define SYSCALL_INSTRUCTION_BYTES 2

enum { TRY_AGAIN = 1000 }; /* inside only: this thread cannot be used now, maybe later */

struct tracee {
	struct inject_target *target;
	pid_t tid;
	int mem_fd;
	int signal; /* that was on its way when the thread stopped: it gets it when it is let go */
	struct user_regs_struct regs, now;
	uint64_t mask;
	size_t n_xstate;
	uint64_t low; /* below here the stack is free */
	int crashed_by; /* a signal that came of a call of ours; 0 and failed: it did not return in time */
	uint64_t since_ns;
	uint8_t xstate[XSTATE_BYTES];
};

struct job {
	struct inject_target *target;
	const struct inject_want *want;
	struct inject_result *result;
	struct fault *f;
	int r;
};

/* ---- stopping and letting go ---------------------------------------------------------------------------------- */

static void pause_ns(long ns)
{
	struct timespec t = {.tv_nsec = ns};
	(void)nanosleep(&t, NULL);
}

/* WORLD_GONE; TRY_AGAIN: not in time. */
static int wait_stop(pid_t tid, uint64_t until_ns, int *ret_status)
{
	for (long wait_ns = 0;; wait_ns = MIN(wait_ns * 2 + 1000, 200000)) {
		pid_t r = waitpid(tid, ret_status, WNOHANG | __WALL | __WNOTHREAD);
		if (r == tid)
			return WIFSTOPPED(*ret_status) ? 0 : WORLD_GONE;
		if (r < 0 && errno != EINTR)
			return WORLD_GONE;
		if (clock_mono_ns() > until_ns)
			return TRY_AGAIN;
		pause_ns(wait_ns);
	}
}

static bool is_group_stop(int status)
{
	int sig = WSTOPSIG(status);
	return status >> 16 == PTRACE_EVENT_STOP &&
	       (sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU);
}

static void let_go(struct tracee *t)
{
	ignore(ptrace(PTRACE_DETACH, t->tid, NULL, (void *)(uintptr_t)(unsigned)t->signal),
	       "killed meanwhile: nothing to let go");
}

static int seize(struct tracee *t)
{
	if (ptrace(PTRACE_SEIZE, t->tid, NULL, NULL) == 0)
		return 0;
	return errno == ESRCH ? WORLD_GONE : errno == EPERM || errno == EACCES ? WORLD_DENIED : -errno;
}

/* TRY_AGAIN leaves it seized: only the end of our own thread lets go of it then. */
static int stop(struct tracee *t)
{
	int status;
	t->signal = 0;
	t->since_ns = clock_mono_ns();
	if (ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL) < 0)
		return WORLD_GONE;
	int r = wait_stop(t->tid, t->since_ns + STOP_NS, &status);
	if (r)
		return r;
	if (status >> 16 == 0) /* a signal was faster than we; it is delivered when all is over */
		t->signal = WSTOPSIG(status);
	if (!is_group_stop(status))
		return 0;
	let_go(t);
	return INJECT_REFUSED;
}

static int regs_now(struct tracee *t)
{
	struct iovec io = {.iov_base = &t->now, .iov_len = sizeof(t->now)};
	return ptrace(PTRACE_GETREGSET, t->tid, (void *)(uintptr_t)NT_PRSTATUS, &io) < 0 ? WORLD_GONE : 0;
}

static int state_save(struct tracee *t)
{
	struct iovec io = {.iov_base = t->xstate, .iov_len = sizeof(t->xstate)};
	struct iovec general = {.iov_base = &t->regs, .iov_len = sizeof(t->regs)};
	if (ptrace(PTRACE_GETREGSET, t->tid, (void *)(uintptr_t)NT_PRSTATUS, &general) < 0)
		return WORLD_GONE;
	if (general.iov_len != sizeof(t->regs))
		return INJECT_REFUSED;
	if (ptrace(PTRACE_GETREGSET, t->tid, (void *)(uintptr_t)NT_X86_XSTATE, &io) < 0 ||
	    io.iov_len == sizeof(t->xstate))
		return INJECT_REFUSED; /* what was not saved cannot be put back */
	t->n_xstate = io.iov_len;
	if (ptrace(PTRACE_GETSIGMASK, t->tid, (void *)sizeof(t->mask), &t->mask) < 0)
		return WORLD_GONE;
	return 0;
}

/* As if nobody had been there. */
static int state_restore(struct tracee *t)
{
	struct user_regs_struct regs = t->regs;
	struct iovec io = {.iov_base = t->xstate, .iov_len = t->n_xstate};
	struct iovec general = {.iov_base = &regs, .iov_len = sizeof(regs)};
	/* signal(7): some calls fail when they are interrupted, whatever SA_RESTART says. They transferred nothing. */
	if ((int64_t)regs.orig_rax >= 0 && (int64_t)regs.rax == -EINTR && t->signal == 0 &&
	    stopper_would_fail((int64_t)regs.orig_rax)) {
		regs.rip -= SYSCALL_INSTRUCTION_BYTES;
		regs.rax = regs.orig_rax;
	}
	int r = ptrace(PTRACE_SETREGSET, t->tid, (void *)(uintptr_t)NT_X86_XSTATE, &io) < 0 ||
		ptrace(PTRACE_SETSIGMASK, t->tid, (void *)sizeof(t->mask), &t->mask) < 0 ||
		ptrace(PTRACE_SETREGSET, t->tid, (void *)(uintptr_t)NT_PRSTATUS, &general) < 0;
	return r ? WORLD_GONE : 0;
}

/* ---- is this the place? --------------------------------------------------------------------------------------- */

static void unwind_regs_of(const struct user_regs_struct *u, struct unwind_regs *ret)
{
	const unsigned long long in_order[] = {u->rax, u->rdx, u->rcx, u->rbx, u->rsi, u->rdi, u->rbp, u->rsp, u->r8,
					       u->r9,  u->r10, u->r11, u->r12, u->r13, u->r14, u->r15, u->rip};
	for (size_t i = 0; i < ARRAY_SIZE(in_order); i++)
		ret->reg[i] = in_order[i];
	ret->valid = (UINT64_C(1) << ARRAY_SIZE(in_order)) - 1;
}

static const char *file_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* Names only of what is in libc: a large program's symbols take seconds to read. */
static bool place_is_safe(struct inject_target *t, const struct unwind_trace *trace, const struct user_regs_struct *u)
{
	static struct inject_frame frames[UNWIND_FRAMES];
	for (size_t i = 0; i < trace->n; i++) {
		const struct map_row *row = maps_find(&t->maps, trace->frame[i].pc - (trace->frame[i].exact ? 0 : 1));
		struct native_symbol s = {.name = ""};
		if (!row)
			return false; /* loaded since: this may be the loader at work */
		frames[i] = (struct inject_frame){.file = file_of(row->path), .path = row->path, .name = ""};
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
	/* The first thread's stack grows by itself. */
	return strcmp(row->path, "[stack]") == 0 || sp - row->start > STACK_NEEDED_BYTES;
}

static int place_check(struct tracee *t, struct unwind_trace *trace)
{
	struct unwind_regs regs;
	int r = state_save(t);
	if (r)
		return r;
	if (!inject_target_same(t->target))
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

/* In code that may hold a lock of malloc or of the loader. */
static bool in_libc(struct inject_target *t, uint64_t pc)
{
	const struct map_row *row = maps_find(&t->maps, pc);
	if (!row || inject_is_libc(file_of(row->path)) || inject_is_loader(file_of(row->path)))
		return true;
	for (size_t i = 0; i < t->n_allocators; i++)
		if (strcmp(row->path, t->allocator[i]) == 0)
			return true;
	return false;
}

static int breakpoint(pid_t tid, uint64_t addr)
{
	/* A breakpoint of this thread alone, without a changed byte of code (ptrace(2), Intel SDM 3B 17.2.4). */
	return ptrace(PTRACE_POKEUSER, tid, offsetof(struct user, u_debugreg[0]), addr) < 0 ||
			       ptrace(PTRACE_POKEUSER, tid, offsetof(struct user, u_debugreg[7]), addr ? 1UL : 0UL) < 0
		       ? TRY_AGAIN
		       : 0;
}

/* The first address outside of malloc, the loader and libc that this thread will come back to; 0: it is not in there. */
static uint64_t way_out(struct tracee *t, const struct unwind_trace *trace)
{
	size_t i = 0;
	while (i < trace->n && in_libc(t->target, trace->frame[i].pc))
		i++;
	bool waits = (int64_t)t->regs.orig_rax >= 0;
	return i == 0 || i == trace->n || waits || trace->frame[i].exact ? 0 : trace->frame[i].pc;
}

/*
 * A program that allocates all the time is hardly ever met elsewhere: so it is
 * let go on until it comes back from malloc. TRY_AGAIN: it did not, soon enough.
 */
static int run_out(struct tracee *t, uint64_t addr)
{
	int status;
	if (addr == 0 || t->signal || breakpoint(t->tid, addr) != 0)
		return TRY_AGAIN;
	if (ptrace(PTRACE_CONT, t->tid, NULL, NULL) < 0)
		return WORLD_GONE;
	int r = wait_stop(t->tid, clock_mono_ns() + RUN_OUT_NS, &status);
	if (r == TRY_AGAIN) {
		if (ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL) < 0)
			return WORLD_GONE;
		r = wait_stop(t->tid, clock_mono_ns() + STUCK_NS, &status);
		if (r)
			return r == TRY_AGAIN ? -ETIMEDOUT : r; /* let go when our thread ends */
	}
	if (r == 0)
		r = regs_now(t);
	if (r)
		return r;
	ignore(breakpoint(t->tid, 0), "it was set a moment ago, so it can be cleared");
	bool there = status >> 16 == 0 && WSTOPSIG(status) == SIGTRAP && t->now.rip == addr;
	if (!there && status >> 16 == 0)
		t->signal = WSTOPSIG(status);
	t->since_ns = clock_mono_ns(); /* until now it did its own work */
	return there ? 0 : TRY_AGAIN;
}

/* ---- calls in the program ------------------------------------------------------------------------------------- */

/* Room on its stack for some bytes; *ret is their address there. */
static int push(struct tracee *t, const void *bytes, size_t len, uint64_t *ret)
{
	t->low = (t->low - len) & ~UINT64_C(63);
	if (pwrite(t->mem_fd, bytes, len, (off_t)t->low) != (ssize_t)len)
		return WORLD_GONE;
	*ret = t->low;
	return 0;
}

static int regs_begin(struct tracee *t, uint64_t function, const uint64_t args[3])
{
	uint64_t sp = ((t->low - 256) & ~UINT64_C(15)) - 8; /* as behind a call instruction */
	uint64_t back = t->target->trap;
	struct user_regs_struct regs = t->regs;
	struct iovec io = {.iov_base = &regs, .iov_len = sizeof(regs)};
	if (pwrite(t->mem_fd, &back, sizeof(back), (off_t)sp) != (ssize_t)sizeof(back))
		return WORLD_GONE;
	regs.rip = function;
	regs.rsp = sp;
	regs.rbp = 0;
	regs.rdi = args[0];
	regs.rsi = args[1];
	regs.rdx = args[2];
	regs.rax = 0;
	regs.orig_rax = UINT64_MAX; /* it is in no system call: nothing to begin again */
	regs.eflags &= ~(unsigned long long)(FLAG_TRAP | FLAG_DIRECTION);
	return ptrace(PTRACE_SETREGSET, t->tid, (void *)(uintptr_t)NT_PRSTATUS, &io) < 0 ? WORLD_GONE : 0;
}

static bool has_returned(const struct tracee *t)
{
	const struct inject_target *g = t->target;
	return g->trap ? t->now.rip == g->trap + 1 : t->now.rip == 0;
}

/*
 * 0: it returned, *ret is the value. INJECT_FAILED: it crashed inside, or took
 * too long; the thread stands, and its state can be put back.
 */
static int call(struct tracee *t, uint64_t function, uint64_t a, uint64_t b, uint64_t c, uint64_t *ret)
{
	const uint64_t args[] = {a, b, c};
	uint64_t until_ns = clock_mono_ns() + CALL_NS;
	bool late = false;
	int status, r = regs_begin(t, function, args);
	if (r == 0 && ptrace(PTRACE_CONT, t->tid, NULL, NULL) < 0)
		r = WORLD_GONE;
	while (r == 0) {
		r = wait_stop(t->tid, until_ns, &status);
		if (r == TRY_AGAIN && !late) {
			late = true;
			until_ns += NS_PER_S;
			r = ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL) < 0 ? WORLD_GONE : 0;
			continue;
		}
		if (r)
			break;
		r = regs_now(t);
		if (r)
			break;
		int sig = WSTOPSIG(status);
		if (status >> 16 == 0 && sig == t->target->trap_signal && has_returned(t)) {
			*ret = t->now.rax;
			return 0;
		}
		bool crashed =
			status >> 16 == 0 && (sig == SIGSEGV || sig == SIGBUS || sig == SIGILL || sig == SIGFPE ||
					      sig == SIGTRAP || sig == SIGSYS || sig == SIGABRT);
		t->crashed_by = crashed ? sig : 0;
		if (crashed || late)
			return INJECT_FAILED;
		/* Our own interrupt that came late, or a SIGSTOP of somebody: it stops for good when all is over. */
		if (ptrace(PTRACE_CONT, t->tid, NULL, NULL) < 0)
			r = WORLD_GONE;
	}
	return r == TRY_AGAIN ? INJECT_FAILED : r;
}

static int loader_words(struct tracee *t, const char *what, struct fault *f)
{
	uint64_t text = 0;
	char words[300] = "";
	if (t->target->dlerror && call(t, t->target->dlerror, 0, 0, 0, &text) == 0 && text)
		ignore(remote_text(&t->target->remote, text, words, sizeof(words)), "no words then");
	return fault_set(f, INJECT_FAILED, "process %d could not load %s: %s", (int)t->target->pid, what,
			 words[0] ? words : "its loader did not say why");
}

static int load_path(struct tracee *t, const char *path, uint64_t *ret_handle)
{
	uint64_t at;
	int r = push(t, path, strlen(path) + 1, &at);
	return r ? r : call(t, t->target->dlopen, at, (uint64_t)t->target->dlopen_flags, 0, ret_handle);
}

static int copy_file(const char *from, int to)
{
	cleanup(closep) int in = open(from, O_RDONLY | O_CLOEXEC);
	char block[64 * 1024];
	ssize_t n;
	if (in < 0)
		return -errno;
	while ((n = read(in, block, sizeof(block))) > 0) {
		int r = file_write_all(to, block, (size_t)n);
		if (r < 0)
			return r;
	}
	return n < 0 ? -errno : 0;
}

/* The program makes a file in memory, we fill it, the program loads it: nothing needs to be seen in its folders. */
static int load_copy(struct tracee *t, const char *library, uint64_t *ret_handle, struct fault *f)
{
	static const char name[] = "vigil-heap";
	char path[64];
	uint64_t at, their_fd = 0, ignored;
	if (!t->target->memfd_create || !t->target->close)
		return fault_set(
			f, INJECT_REFUSED,
			"process %d does not see %s (it lives in a container or a chroot), and its libc is too old to "
			"make a file in memory",
			(int)t->target->pid, library);
	int r = push(t, name, sizeof(name), &at);
	if (r == 0)
		r = call(t, t->target->memfd_create, at, 1 /* MFD_CLOEXEC */, 0, &their_fd);
	if (r)
		return r;
	if ((int)their_fd < 0)
		return fault_set(f, INJECT_FAILED, "process %d could not make a file in memory for the library",
				 (int)t->target->pid);
	TEXT_FORMAT(path, "%d/fd/%d", (int)t->target->pid, (int)their_fd);
	cleanup(closep) int fd = openat(t->target->w->proc_fd, path, O_WRONLY | O_CLOEXEC);
	r = fd < 0 ? -errno : copy_file(library, fd);
	if (r < 0) {
		fault_set(f, r, "the library could not be copied into process %d: %s", (int)t->target->pid,
			  strerror(-r));
	} else {
		TEXT_FORMAT(path, "/%s/self/fd/%d", "proc", (int)their_fd);
		r = load_path(t, path, ret_handle);
		if (r == 0 && *ret_handle == 0)
			r = loader_words(t, "a copy of vigil's library from its memory", f);
	}
	if (r <= 0 || r == INJECT_FAILED)
		ignore(call(t, t->target->close, their_fd, 0, 0, &ignored), "it has what it was for");
	return r;
}

/* A chroot without /proc: a file in its /tmp, for as long as it takes. */
static int load_file(struct tracee *t, const char *library, uint64_t *ret_handle, struct fault *f)
{
	char inner[64], path[96];
	TEXT_FORMAT(inner, "/tmp/vigil-heap-%d.so", (int)t->target->pid);
	TEXT_FORMAT(path, "%d/root%s", (int)t->target->pid, inner);
	cleanup(closep) int fd =
		openat(t->target->w->proc_fd, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0755);
	if (fd < 0)
		return INJECT_FAILED; /* what the loader said before stands */
	int r = copy_file(library, fd);
	closep(&fd);
	if (r == 0)
		r = load_path(t, inner, ret_handle);
	(void)unlinkat(t->target->w->proc_fd, path, 0);
	if (r == 0 && *ret_handle == 0)
		return loader_words(t, inner, f);
	if (r == 0)
		f->text[0] = '\0';
	return r;
}

static int load(struct tracee *t, const struct job *j, uint64_t *ret_function)
{
	uint64_t handle = 0, at;
	int r = 0;
	if (t->target->symbol) {
		j->result->was_loaded = true;
		*ret_function = t->target->symbol;
		return 0;
	}
	if (t->target->sees_file)
		r = load_path(t, j->want->library, &handle);
	if (r == 0 && handle == 0 && t->target->sees_file && !t->target->memfd_create)
		return loader_words(t, j->want->library, j->f);
	if (r == 0 && handle == 0) { /* also where it sees the file and may not read it */
		j->result->in_memory = true;
		r = load_copy(t, j->want->library, &handle, j->f);
		if (r == INJECT_FAILED && handle == 0)
			r = load_file(t, j->want->library, &handle, j->f);
	}
	if (r)
		return r;
	r = push(t, j->want->symbol, strlen(j->want->symbol) + 1, &at);
	if (r == 0)
		r = call(t, t->target->dlsym, handle, at, 0, ret_function);
	if (r == 0 && *ret_function == 0)
		return fault_set(j->f, INJECT_FAILED, "%s has no function %s", j->want->library, j->want->symbol);
	return r;
}

static int run_symbol(struct tracee *t, const struct job *j)
{
	uint64_t function = 0, arg = 0, value = 0;
	int r = load(t, j, &function);
	if (r == 0 && j->want->arg_bytes)
		r = push(t, j->want->arg, j->want->arg_bytes, &arg);
	if (r == 0)
		r = call(t, function, arg, j->want->arg_bytes, 0, &value);
	if (r == 0 && j->want->arg_bytes)
		r = remote_read(&t->target->remote, arg, j->want->arg, j->want->arg_bytes);
	if (r == 0)
		j->result->value = (int64_t)value;
	return r;
}

/* ---- one thread ----------------------------------------------------------------------------------------------- */

/* What went wrong inside, and where: nobody can look later. */
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
	return fault_set(f, INJECT_FAILED,
			 "process %d: loading the library %s, at %s%s; its registers were put back", (int)t->target->pid,
			 how, place, (int64_t)t->now.orig_rax >= 0 ? ", in a system call" : "");
}

static int inject_here(struct tracee *t, const struct job *j)
{
	/* A handler that ran now would run inside dlopen. What comes of the calls themselves is for us. */
	static const int ours[] = {SIGSEGV, SIGTRAP, SIGBUS, SIGILL, SIGFPE, SIGSYS, SIGABRT};
	uint64_t mask = UINT64_MAX;
	for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
		mask &= ~(UINT64_C(1) << (ours[i] - 1));
	if (ptrace(PTRACE_SETSIGMASK, t->tid, (void *)sizeof(mask), &mask) < 0)
		return WORLD_GONE;
	int r = run_symbol(t, j);
	if (r == WORLD_GONE)
		return r;
	int e = state_restore(t);
	if (r == INJECT_FAILED && !j->f->text[0])
		(void)did_not_return(t, j->f);
	return r ? r : e;
}

/* TRY_AGAIN: not here, not now. */
static int try_thread(struct job *j, pid_t tid, bool *ret_lost)
{
	static struct tracee tracee;
	static struct unwind_trace trace;
	struct tracee *t = &tracee;
	char path[64];
	*t = (struct tracee){.target = j->target, .tid = tid, .mem_fd = -1};
	TEXT_FORMAT(path, "%d/mem", (int)j->target->pid);
	int r = seize(t);
	if (r)
		return r;
	r = stop(t);
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
		r = run_out(t, way_out(t, &trace));
		if (r == 0)
			r = place_check(t, &trace);
		else if (r == TRY_AGAIN && state_save(t) != 0)
			r = WORLD_GONE;
	}
	if (r == 0)
		r = inject_here(t, j);
	else if (r == TRY_AGAIN && state_restore(t) != 0) /* for calls that fail when interrupted */
		r = WORLD_GONE;
	let_go(t);
	j->result->tid = tid;
	j->result->stopped_ns = clock_mono_ns() - t->since_ns;
	if (r == INJECT_REFUSED && !j->f->text[0])
		fault_set(j->f, r, "process %d: the registers of its thread %d cannot be saved whole",
			  (int)j->target->pid, (int)tid);
	return r;
}

/* ---- which thread --------------------------------------------------------------------------------------------- */

struct candidate {
	pid_t tid;
	int rank; /* the less the better */
};

static int rank_of(const struct inject_target *t, pid_t tid)
{
	struct threadwait w;
	if (threadwait_read(t->w, t->pid, tid, NULL, false, &w) != 0)
		return -1;
	int first = tid == t->pid ? 0 : 1; /* the first thread has the roomiest stack */
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
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	if (!dir) {
		int e = errno;
		closep(&fd);
		return world_condition(-e);
	}
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
		int rank = rank_of(t, tids[i]);
		if (rank >= 0)
			list[n++] = (struct candidate){tids[i], rank};
	}
	qsort(list, n, sizeof(*list), by_rank);
	*ret_n = n;
	return 0;
}

/* So that names and call frame information are read before a thread stands still. */
static void warm_up(struct inject_target *t, pid_t tid)
{
	static struct unwind_stack stack;
	static struct unwind_trace trace;
	struct unwind_regs regs;
	struct native_symbol s;
	if (stopper_blocked(t->w, t->pid, tid, &t->remote, &regs, &stack, NULL, NULL) != 0)
		return;
	native_unwind(t->native, &regs, &stack, &trace);
	for (size_t i = 0; i < trace.n; i++) {
		const struct map_row *row = maps_find(&t->maps, trace.frame[i].pc);
		if (row && inject_is_libc(file_of(row->path)))
			native_symbol(t->native, trace.frame[i].pc, trace.frame[i].exact, &s);
	}
}

static bool same_process(const struct inject_target *t)
{
	struct proc_stat st;
	return proc_stat_read(t->w, t->pid, &st) == 0 && st.start_ticks == t->start_ticks;
}

static int find_and_inject(struct job *j)
{
	cleanup(freep) struct candidate *list = calloc(INJECT_THREADS, sizeof(*list));
	uint64_t until_ns = clock_mono_ns() + j->want->deadline_ns;
	bool lost = false;
	size_t n = 0;
	if (!list)
		return -ENOMEM;
	do {
		int r = candidates(j->target, list, &n);
		if (r)
			return r;
		for (size_t i = 0; i < MIN(n, 8u); i++) {
			if (!same_process(j->target))
				return WORLD_GONE;
			warm_up(j->target, list[i].tid);
			r = try_thread(j, list[i].tid, &lost);
			bool ended = r == WORLD_GONE && list[i].tid != j->target->pid && same_process(j->target);
			if (r != TRY_AGAIN && !ended)
				return r;
			if (lost)
				return INJECT_UNSAFE; /* our thread must end to let go of it */
		}
		pause_ns(PAUSE_NS);
		/* What was loaded since would look like a hole. */
		if (j->result->tries % 8 == 7)
			inject_target_renew(j->target);
	} while (clock_mono_ns() < until_ns);
	return INJECT_UNSAFE;
}

static void *thread_main(void *arg)
{
	struct job *j = arg;
	/* A thread stands still meanwhile: wait for microseconds, and, if we may, not behind others. */
	(void)prctl(PR_SET_TIMERSLACK, 1000UL);
	(void)setpriority(PRIO_PROCESS, (id_t)gettid(), -20);
	j->r = find_and_inject(j);
	return NULL;
}

/* ptrace belongs to a thread, and one that ends lets go of everything for certain. */
static int in_own_thread(struct job *j)
{
	pthread_t thread;
	sigset_t all, old;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int r = pthread_create(&thread, NULL, thread_main, j);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (r)
		return -r;
	pthread_join(thread, NULL);
	return j->r;
}

static int explain(const struct inject_target *t, int r, struct fault *f)
{
	struct proc_stat st;
	if (f->text[0] || r == 0)
		return r;
	/* What is about to end may not be traced either. */
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
			"malloc, the loader or fork, or did not stop); nothing was changed, try again",
			(int)t->pid);
	return fault_set(f, r, "process %d: %s", (int)t->pid, r < 0 ? strerror(-r) : "its memory could not be written");
}

int inject_library(const struct world *w, pid_t pid, const struct inject_want *want, struct inject_result *ret,
		   struct fault *f)
{
	struct inject_target target;
	if (want->arg_bytes > INJECT_ARG_BYTES)
		return -E2BIG;
	*ret = (struct inject_result){.value = 0};
	struct job j = {.target = &target, .want = want, .result = ret, .f = f, .r = INJECT_FAILED};
	int r = inject_target_open(w, pid, want, &target, f);
	if (r == 0)
		r = in_own_thread(&j);
	r = explain(&target, r, f);
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
