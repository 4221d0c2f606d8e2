/*
 * Loaded into vigil by LD_PRELOAD in the end-to-end tests. Sleeps until the
 * process calls itself "vigil-guard"; from its first wait on it writes a line
 * for every allocation into the file GUARDTRAP_LOG, and does once what
 * GUARDTRAP_DO names when the guard is about to send its first SIGKILL:
 *
 *   die        the guard is killed, before the victim is
 *   die-after  the guard is killed, just after the victim was
 *   too-late   the victim is ended by somebody else first
 *
 * "once" is the creation of the file GUARDTRAP_ONCE.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* glibc's own names for the real ones: dlsym would allocate. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t size);
extern void *__libc_memalign(size_t align, size_t size);
void *reallocarray(void *p, size_t n, size_t size);

static _Atomic int is_guard, armed;
static int log_fd = -1;

static long raw(long n, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
	long ret;
	__asm__ volatile("syscall" : "=a"(ret) : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}

static long checked(long ret)
{
	if (ret < 0 && ret > -4096) {
		errno = (int)-ret;
		return -1;
	}
	return ret;
}

static void say(const char *what, size_t size)
{
	char line[96], digits[24];
	size_t n = strlen(what), d = 0;
	memcpy(line, what, n);
	line[n++] = ' ';
	do
		digits[d++] = (char)('0' + size % 10);
	while ((size /= 10) != 0);
	while (d > 0)
		line[n++] = digits[--d];
	line[n++] = '\n';
	(void)raw(SYS_write, log_fd, (long)line, (long)n, 0, 0, 0);
}

static void arm(void)
{
	const char *path = getenv("GUARDTRAP_LOG");
	if (atomic_exchange(&armed, 1) || !path)
		return;
	log_fd = (int)raw(SYS_openat, AT_FDCWD, (long)path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644, 0, 0);
	say("armed", (size_t)getpid());
}

void *malloc(size_t size)
{
	if (log_fd >= 0)
		say("malloc", size);
	return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	if (log_fd >= 0)
		say("calloc", n * size);
	return __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
	if (log_fd >= 0)
		say("realloc", size);
	return __libc_realloc(p, size);
}

void *reallocarray(void *p, size_t n, size_t size)
{
	if (log_fd >= 0)
		say("reallocarray", n * size);
	return __libc_realloc(p, n * size);
}

void *aligned_alloc(size_t align, size_t size)
{
	if (log_fd >= 0)
		say("aligned_alloc", size);
	return __libc_memalign(align, size);
}

int posix_memalign(void **ret, size_t align, size_t size)
{
	if (log_fd >= 0)
		say("posix_memalign", size);
	*ret = __libc_memalign(align, size);
	return *ret ? 0 : ENOMEM;
}

void *mmap(void *at, size_t len, int prot, int flags, int fd, off_t offset)
{
	if (log_fd >= 0)
		say("mmap", len);
	return (void *)checked(raw(SYS_mmap, (long)at, (long)len, prot, flags, fd, offset));
}

int brk(void *to)
{
	if (log_fd >= 0)
		say("brk", 0);
	return (void *)raw(SYS_brk, (long)to, 0, 0, 0, 0, 0) == to ? 0 : -1;
}

int prctl(int option, ...)
{
	va_list ap;
	va_start(ap, option);
	long a = va_arg(ap, long), b = va_arg(ap, long), c = va_arg(ap, long), d = va_arg(ap, long);
	va_end(ap);
	if (option == PR_SET_NAME && strcmp((const char *)a, "vigil-guard") == 0)
		atomic_store(&is_guard, 1);
	return (int)checked(raw(SYS_prctl, option, a, b, c, d, 0));
}

int epoll_pwait2(int fd, struct epoll_event *ev, int max, const struct timespec *t, const sigset_t *set)
{
	if (atomic_load(&is_guard))
		arm();
	return (int)checked(raw(SYS_epoll_pwait2, fd, (long)ev, max, (long)t, (long)set, 8));
}

static int first_time(void)
{
	const char *path = getenv("GUARDTRAP_ONCE");
	if (!path)
		return 0;
	long fd = raw(SYS_openat, AT_FDCWD, (long)path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644, 0, 0);
	if (fd >= 0)
		(void)raw(SYS_close, fd, 0, 0, 0, 0, 0);
	return fd >= 0;
}

static void die(void)
{
	(void)raw(SYS_kill, raw(SYS_getpid, 0, 0, 0, 0, 0, 0), SIGKILL, 0, 0, 0, 0);
}

/* The pid behind a pidfd is not told; the test says whom. */
static void end_victim(int pidfd)
{
	(void)raw(SYS_pidfd_send_signal, pidfd, SIGKILL, 0, 0, 0, 0);
	/* a frozen one dies when it is thawed by whoever watches the freezer: wait until it is gone or half a second */
	for (int i = 0; i < 500; i++) {
		struct timespec ms = {.tv_nsec = 1000000};
		if (raw(SYS_pidfd_send_signal, pidfd, 0, 0, 0, 0, 0) == -ESRCH)
			return;
		(void)raw(SYS_nanosleep, (long)&ms, 0, 0, 0, 0, 0);
	}
}

static long trapped_kill(long n, long a, long b, long c, long d, long e, long f)
{
	const char *what = getenv("GUARDTRAP_DO");
	if (!what || !first_time())
		return raw(n, a, b, c, d, e, f);
	if (strcmp(what, "die") == 0)
		die();
	if (strcmp(what, "too-late") == 0 && n == SYS_pidfd_send_signal)
		end_victim((int)a);
	long ret = raw(n, a, b, c, d, e, f);
	if (strcmp(what, "die-after") == 0)
		die();
	return ret;
}

int kill(pid_t pid, int sig)
{
	if (atomic_load(&is_guard) && sig == SIGKILL)
		return (int)checked(trapped_kill(SYS_kill, pid, sig, 0, 0, 0, 0));
	return (int)checked(raw(SYS_kill, pid, sig, 0, 0, 0, 0));
}

long syscall(long n, ...)
{
	va_list ap;
	va_start(ap, n);
	long a = va_arg(ap, long), b = va_arg(ap, long), c = va_arg(ap, long);
	long d = va_arg(ap, long), e = va_arg(ap, long), f = va_arg(ap, long);
	va_end(ap);
	if (atomic_load(&is_guard) && n == SYS_pidfd_send_signal && b == SIGKILL)
		return checked(trapped_kill(n, a, b, c, d, e, f));
	return checked(raw(n, a, b, c, d, e, f));
}
