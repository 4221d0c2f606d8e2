#include "sense/net/socklimit.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "base/file.h"

#define STACK_BYTES (64 * KIB)
/* Copies that one process has at a time. */
#define BATCH 128

struct batch {
	struct socklimit *s;
	size_t n;
};

static void ask(int copy, struct socklimit *s)
{
	struct stat st;
	struct timeval limit;
	unsigned int user_ms;
	socklen_t len = sizeof(limit);
	if (fstat(copy, &st) != 0 || !S_ISSOCK(st.st_mode) || st.st_ino != s->inode ||
	    getsockopt(copy, SOL_SOCKET, s->sends ? SO_SNDTIMEO : SO_RCVTIMEO, &limit, &len) != 0)
		return;
	s->limit_ns = (uint64_t)limit.tv_sec * NS_PER_S + (uint64_t)limit.tv_usec * 1000;
	len = sizeof(user_ms);
	if (getsockopt(copy, IPPROTO_TCP, TCP_USER_TIMEOUT, &user_ms, &len) == 0)
		s->user_ns = user_ms * NS_PER_MS;
	s->known = true;
}

/* In the process of its own: system calls only. What it has open is closed by its end. */
static int batch_main(void *arg)
{
	const struct batch *b = arg;
	int pidfd = -1;
	for (size_t i = 0; i < b->n; i++) {
		if (i == 0 || b->s[i].pid != b->s[i - 1].pid)
			pidfd = (int)syscall(SYS_pidfd_open, b->s[i].pid, 0);
		const int copy = pidfd < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, pidfd, b->s[i].fd, 0);
		if (copy >= 0)
			ask(copy, &b->s[i]);
	}
	return 0;
}

static void batch_ask(char *stack, struct batch *b)
{
	sigset_t all, old;
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old); /* no handler of ours may run in there */
	const pid_t pid = clone(batch_main, stack + STACK_BYTES, CLONE_VM | CLONE_VFORK, b);
	while (pid > 0 && waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
		continue;
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* The lines of the groups that give sockets a class; "": there are none. */
static void classes(const struct world *w, const char *who, char *dst, size_t cap)
{
	char path[32], text[4096];
	size_t len, at = 0;
	struct span line;
	dst[0] = '\0';
	TEXT_FORMAT(path, "%s/cgroup", who);
	if (file_read_at(w->proc_fd, path, text, sizeof(text), &len) != 0)
		return;
	for (struct span rest = {text, len}; span_line(&rest, &line);) {
		const struct span names = span_before(span_after(line, ":"), ":");
		if (!span_has(names, "net_cls") && !span_has(names, "net_prio"))
			continue;
		span_copy(line, dst + at, cap - at);
		at += strlen(dst + at);
	}
}

/* True of a process whose sockets would get another class from us. */
static bool is_of_another_class(const struct world *w, const char *ours, pid_t pid)
{
	char who[16], theirs[512];
	if (!ours[0])
		return false;
	TEXT_FORMAT(who, "%d", (int)pid);
	classes(w, who, theirs, sizeof(theirs));
	return strcmp(ours, theirs) != 0;
}

void socklimit_read(const struct world *w, struct socklimit *s, size_t n)
{
	char ours[512];
	for (size_t i = 0; i < n; i++)
		s[i].known = false;
	if (n == 0 || w->recorded || w->proc_fd < 0)
		return;
	char *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (stack == MAP_FAILED)
		return;
	classes(w, "self", ours, sizeof(ours));
	for (size_t i = 0; i < n;) {
		struct batch b = {.s = &s[i]};
		const bool differs = is_of_another_class(w, ours, s[i].pid);
		/* One process is one batch where groups have to be compared. */
		while (i < n && b.n < BATCH && (!ours[0] || s[i].pid == b.s->pid)) {
			i++;
			b.n++;
		}
		if (!differs)
			batch_ask(stack, &b);
	}
	(void)munmap(stack, STACK_BYTES);
}
