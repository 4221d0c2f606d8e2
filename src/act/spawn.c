#include "act/spawn.h"

#include <linux/sched.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "act/inherit.h"
#include "act/oomadj.h"
#include "base/heap.h"
#include "base/private.h"

/* execvpe keeps a path on the stack, and a copy of argv where it starts a script that names no interpreter. */
#define STACK_BYTES (128 * KIB)

struct spawn_child {
	const struct spawn *s;
	pid_t parent;
	int error; /* written by the child, in our memory */
};

static void move_fd(int from, int to)
{
	if (from >= 0)
		(void)dup2(from, to);
}

/*
 * Runs in our memory on a stack of its own: system calls only. It never returns, which AddressSanitizer cannot
 * follow.
 */
__attribute__((no_sanitize("address"))) static int spawn_main(void *arg)
{
	struct spawn_child *c = arg;
	const struct spawn *s = c->s;
	(void)setpgid(0, 0);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* vigil died before the death signal was set */
	if (getppid() != c->parent)
		_exit(127);
	oomadj_restore();
	move_fd(s->in_fd, STDIN_FILENO);
	move_fd(s->out_fd, STDOUT_FILENO);
	move_fd(s->err_fd, STDERR_FILENO);
	(void)signal(SIGPIPE, SIG_DFL);
	(void)sigprocmask(SIG_SETMASK, &s->mask, NULL);
	inherit_undo();
	private_umask_undo();
	execvpe(s->argv[0], s->argv, s->env);
	c->error = errno;
	_exit(127);
}

/*
 * clone3 has no wrapper in the C library, and a child on a stack of its own cannot return from syscall(2). Returns the
 * child's number or -errno; in the child spawn_main is called, which does not return.
 */
static long clone3_call(struct clone_args *a, struct spawn_child *c)
{
#if defined(__x86_64__)
	long ret = SYS_clone3;
	__asm__ volatile("syscall\n\t"
			 "test %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "xor %%ebp, %%ebp\n\t"
			 "mov %[c], %%rdi\n\t"
			 "call *%[main]\n\t"
			 "hlt\n"
			 "1:"
			 : "+a"(ret)
			 : "D"(a), "S"(sizeof(*a)), [c] "r"(c), [main] "r"(spawn_main)
			 : "rcx", "r11", "memory", "cc");
	return ret;
#elif defined(__aarch64__)
	register long number __asm__("x8") = SYS_clone3;
	register long ret __asm__("x0") = (long)a;
	register long size __asm__("x1") = (long)sizeof(*a);
	__asm__ volatile("svc #0\n\t"
			 "cbnz x0, 1f\n\t"
			 "mov x29, xzr\n\t"
			 "mov x0, %[c]\n\t"
			 "blr %[main]\n\t"
			 "brk #0\n"
			 "1:"
			 : "+r"(ret)
			 : "r"(number), "r"(size), [c] "r"(c), [main] "r"(spawn_main)
			 : "memory", "cc");
	return ret;
#else
	(void)a, (void)c;
	return -ENOSYS;
#endif
}

static pid_t spawn_in_group(char *stack, size_t stack_bytes, struct spawn_child *c)
{
	struct clone_args a = {.flags = CLONE_VM | CLONE_VFORK | CLONE_INTO_CGROUP,
			       .exit_signal = SIGCHLD,
			       .stack = (uintptr_t)stack,
			       .stack_size = stack_bytes,
			       .cgroup = (uint32_t)c->s->group_fd};
	long pid = c->s->group_fd < 0 ? -ENOENT : clone3_call(&a, c);
	return pid > 0 ? (pid_t)pid : 0;
}

int spawn_start(const struct spawn *s, pid_t *ret_pid, bool *ret_grouped)
{
	size_t argc = 0;
	while (s->argv[argc])
		argc++;
	size_t size = STACK_BYTES + (argc * sizeof(char *) + 65535) / 65536 * 65536;
	static char *stack; /* kept for the next one */
	static size_t stack_bytes;
	if (size > stack_bytes) {
		char *more = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
		if (more == MAP_FAILED)
			return -errno;
		if (stack)
			(void)munmap(stack, stack_bytes);
		stack = more;
		stack_bytes = size;
	}
	struct spawn_child c = {.s = s, .parent = getpid()};
	sigset_t all, old;
	heap_huge_pages_undo(); /* a program gets what the memory has that executes it, which is ours */
	(void)sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, &old); /* no handler of ours may run in the child */
	pid_t pid = spawn_in_group(stack, stack_bytes, &c);
	const bool grouped = pid > 0;
	if (!grouped)
		pid = clone(spawn_main, stack + stack_bytes, CLONE_VM | CLONE_VFORK | SIGCHLD, &c);
	int clone_errno = errno;
	(void)sigprocmask(SIG_SETMASK, &old, NULL);
	heap_huge_pages_redo();
	if (pid < 0)
		return -clone_errno;
	if (c.error) {
		(void)waitpid(pid, NULL, 0);
		return c.error;
	}
	*ret_pid = pid;
	*ret_grouped = grouped;
	return 0;
}
