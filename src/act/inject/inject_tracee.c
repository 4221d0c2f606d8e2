#include "act/inject/inject_parts.h"

#if defined(__x86_64__)

#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "sense/native/stopper.h"

/* Time for a thread to stop; a running one may first have to wait for a processor. */
#define STOP_NS (200 * NS_PER_MS)
/* Longest pause between two checks whether it has stopped. */
#define WAIT_NS_MAX 50000
#define FLAG_TRAP 0x100u
#define FLAG_DIRECTION 0x400u
#define SYSCALL_INSTRUCTION_BYTES 2
#define PAGE_LEAST 4096u

static void pause_ns(long ns)
{
	struct timespec t = {.tv_nsec = ns};
	(void)nanosleep(&t, NULL);
}

int tracee_wait(struct tracee *t, uint64_t until_ns, int *ret_status)
{
	for (long wait_ns = 0;; wait_ns = MIN(wait_ns * 2 + 1000, WAIT_NS_MAX)) {
		uint64_t now_ns = clock_mono_ns();
		pid_t r = waitpid(t->tid, ret_status, WNOHANG | __WALL | __WNOTHREAD);
		if (r == t->tid)
			return WIFSTOPPED(*ret_status) ? 0 : WORLD_GONE;
		if (r < 0 && errno != EINTR)
			return WORLD_GONE;
		t->since_ns = now_ns;
		if (now_ns > until_ns)
			return TRY_AGAIN;
		pause_ns(wait_ns);
	}
}

/* Counts the present stop, which ends now. */
void tracee_stood(const struct tracee *t)
{
	uint64_t ns = clock_mono_ns() - t->since_ns;
	t->result->stopped_ns = MAX(t->result->stopped_ns, ns);
	t->result->stopped_sum_ns += ns;
}

static bool is_group_stop(int status)
{
	int sig = WSTOPSIG(status);
	return status >> 16 == PTRACE_EVENT_STOP &&
	       (sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU);
}

void tracee_let_go(struct tracee *t)
{
	ignore(ptrace(PTRACE_DETACH, t->tid, NULL, (void *)(uintptr_t)(unsigned)t->signal),
	       "killed meanwhile: nothing to let go");
	tracee_stood(t);
}

int tracee_seize(struct tracee *t)
{
	if (ptrace(PTRACE_SEIZE, t->tid, NULL, NULL) == 0)
		return 0;
	return errno == ESRCH ? WORLD_GONE : errno == EPERM || errno == EACCES ? WORLD_DENIED : -errno;
}

int tracee_stop(struct tracee *t)
{
	int status;
	t->signal = 0;
	t->since_ns = clock_mono_ns();
	if (ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL) < 0)
		return WORLD_GONE;
	int r = tracee_wait(t, t->since_ns + STOP_NS, &status);
	if (r)
		return r;
	if (status >> 16 == 0) /* another signal stopped it first; it is delivered at the end */
		t->signal = WSTOPSIG(status);
	if (!is_group_stop(status))
		return 0;
	tracee_let_go(t);
	return INJECT_REFUSED;
}

int tracee_regs(struct tracee *t)
{
	struct iovec io = {.iov_base = &t->now, .iov_len = sizeof(t->now)};
	return ptrace(PTRACE_GETREGSET, t->tid, (void *)(uintptr_t)NT_PRSTATUS, &io) < 0 ? WORLD_GONE : 0;
}

int tracee_save(struct tracee *t)
{
	struct iovec io = {.iov_base = t->xstate, .iov_len = sizeof(t->xstate)};
	struct iovec general = {.iov_base = &t->regs, .iov_len = sizeof(t->regs)};
	if (ptrace(PTRACE_GETREGSET, t->tid, (void *)(uintptr_t)NT_PRSTATUS, &general) < 0)
		return WORLD_GONE;
	if (general.iov_len != sizeof(t->regs))
		return INJECT_REFUSED;
	if (ptrace(PTRACE_GETREGSET, t->tid, (void *)(uintptr_t)NT_X86_XSTATE, &io) < 0 ||
	    io.iov_len == sizeof(t->xstate))
		return INJECT_REFUSED; /* a state that was not saved cannot be put back */
	t->n_xstate = io.iov_len;
	if (ptrace(PTRACE_GETSIGMASK, t->tid, (void *)sizeof(t->mask), &t->mask) < 0)
		return WORLD_GONE;
	return 0;
}

/* Puts back all registers, the vector state and the signal mask. */
int tracee_restore(struct tracee *t)
{
	struct user_regs_struct regs = t->regs;
	struct iovec io = {.iov_base = t->xstate, .iov_len = t->n_xstate};
	struct iovec general = {.iov_base = &regs, .iov_len = sizeof(regs)};
	/*
	 * Some calls fail with EINTR when interrupted, even with SA_RESTART (signal(7)). They have transferred nothing,
	 * so they are restarted.
	 */
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

/* Where one writes, one waits for a page that nobody gives (sense/lockwait); who reads it does not. */
static bool is_there(struct tracee *t, uint64_t at, size_t len)
{
	const uint64_t end = at + len;
	uint8_t byte;
	for (; at < end; at = (at & ~(uint64_t)(PAGE_LEAST - 1)) + PAGE_LEAST)
		if (remote_read(&t->target->remote, at, &byte, 1) != 0)
			return false;
	return true;
}

int tracee_push(struct tracee *t, const void *bytes, size_t len, uint64_t *ret)
{
	t->low = (t->low - len) & ~UINT64_C(63);
	if (!is_there(t, t->low, len))
		return INJECT_UNSAFE;
	if (pwrite(t->mem_fd, bytes, len, (off_t)t->low) != (ssize_t)len)
		return WORLD_GONE;
	*ret = t->low;
	return 0;
}

static int regs_begin(struct tracee *t, uint64_t function, const uint64_t args[3])
{
	uint64_t sp = ((t->low - 256) & ~UINT64_C(15)) - 8; /* alignment as after a call instruction */
	uint64_t back = t->target->trap;
	struct user_regs_struct regs = t->regs;
	struct iovec io = {.iov_base = &regs, .iov_len = sizeof(regs)};
	if (!is_there(t, sp, sizeof(back)))
		return INJECT_UNSAFE;
	if (pwrite(t->mem_fd, &back, sizeof(back), (off_t)sp) != (ssize_t)sizeof(back))
		return WORLD_GONE;
	regs.rip = function;
	regs.rsp = sp;
	regs.rbp = 0;
	regs.rdi = args[0];
	regs.rsi = args[1];
	regs.rdx = args[2];
	regs.rax = 0;
	regs.orig_rax = UINT64_MAX; /* marks that it is in no system call, so that none is restarted */
	regs.eflags &= ~(unsigned long long)(FLAG_TRAP | FLAG_DIRECTION);
	return ptrace(PTRACE_SETREGSET, t->tid, (void *)(uintptr_t)NT_PRSTATUS, &io) < 0 ? WORLD_GONE : 0;
}

static bool has_returned(const struct tracee *t)
{
	const struct inject_target *g = t->target;
	return g->trap ? t->now.rip == g->trap + 1 : t->now.rip == 0;
}

int tracee_call(struct tracee *t, uint64_t function, uint64_t a, uint64_t b, uint64_t c, uint64_t *ret)
{
	const uint64_t args[] = {a, b, c};
	uint64_t since_ns = t->since_ns, until_ns = clock_mono_ns() + CALL_NS;
	bool late = false;
	int status, r = regs_begin(t, function, args);
	if (r == 0 && ptrace(PTRACE_CONT, t->tid, NULL, NULL) < 0)
		r = WORLD_GONE;
	while (r == 0) {
		r = tracee_wait(t, until_ns, &status);
		t->since_ns = since_ns; /* time inside our call counts as stopped */
		if (r == TRY_AGAIN && !late) {
			late = true;
			until_ns += NS_PER_S;
			r = ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL) < 0 ? WORLD_GONE : 0;
			continue;
		}
		if (r)
			break;
		r = tracee_regs(t);
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
		/* A late interrupt of our own, or a SIGSTOP of another process: it takes effect after the detach. */
		if (ptrace(PTRACE_CONT, t->tid, NULL, NULL) < 0)
			r = WORLD_GONE;
	}
	return r == TRY_AGAIN ? INJECT_FAILED : r;
}

#endif
