#include "agent/web/webchild.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/private.h"
#include "base/text.h"

/*
 * The job's processes come first. But on a busy machine who is below them waits long for little: so a child has the
 * server's own priority for so much processor time, at most so long.
 */
#define HURRY_CPU_NS (100 * NS_PER_MS)
#define HURRY_NS (10 * NS_PER_S)
#define HURRY_LOOK_MS 50
#define NICE 5
/* After SIGINT a command writes what it has. */
#define GRACE_NS (5 * NS_PER_S)

struct webchild {
	pid_t pid; /* 0: free */
	int pid_fd, err_fd;
	uint64_t until_ns; /* then it is told to end; again: killed */
	uint64_t hurry_until_ns; /* 0: it has the lower priority */
	bool told;
	void (*done)(void *ctx, int wait_status, const char *said);
	void *ctx;
};

struct webchildren {
	struct webchild of[WEBCHILDREN_MOST];
};

/* In the child: nothing of the server but the three descriptors. */
static _Noreturn void child_become(const struct web *w, const struct webchild_want *want, int err_fd, pid_t parent)
{
	sigset_t none;
	const char *argv[32] = {"vigil"};
	size_t n = 1;
	const int proc_fd = w->world.proc_fd;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)setsid();
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)signal(SIGPIPE, SIG_DFL);
	if (want->background)
		(void)setpriority(PRIO_PROCESS, 0, MAX(getpriority(PRIO_PROCESS, 0), NICE));
	if (w->want->state_given)
		(void)setenv("VIGIL_STATE_DIR", w->want->state_dir, 1);
	for (size_t i = 0; want->argv[i] && n < ARRAY_SIZE(argv) - 1; i++)
		argv[n++] = want->argv[i];
	int null_fd = file_null();
	if (getppid() != parent || null_fd < 0 || dup2(null_fd, STDIN_FILENO) < 0 ||
	    dup2(want->out_fd, STDOUT_FILENO) < 0 || dup2(err_fd, STDERR_FILENO) < 0)
		_exit(125);
	(void)syscall(SYS_close_range, 3u, ~0u, CLOSE_RANGE_CLOEXEC);
	(void)execveat(proc_fd, "self/exe", (char *const *)(uintptr_t)argv, environ, 0);
	_exit(127);
}

static struct webchild *child_free_place(struct web *w)
{
	if (!w->children)
		w->children = calloc(1, sizeof(*w->children));
	for (size_t i = 0; w->children && i < WEBCHILDREN_MOST; i++)
		if (w->children->of[i].pid == 0)
			return &w->children->of[i];
	return NULL;
}

int webchild_start(struct web *w, const struct webchild_want *want, struct webchild **ret)
{
	struct webchild *c = child_free_place(w);
	pid_t parent = getpid();
	if (!c)
		return -EAGAIN;
	cleanup(closep) int err_fd = memfd_create("stderr", MFD_CLOEXEC);
	if (err_fd < 0)
		return -errno;
	pid_t pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0)
		child_become(w, want, err_fd, parent);
	*c = (struct webchild){.pid = pid,
			       .pid_fd = (int)syscall(SYS_pidfd_open, pid, 0),
			       .err_fd = take_fd(&err_fd),
			       .until_ns = clock_mono_ns() + want->limit_ns,
			       .hurry_until_ns = want->background ? 0 : clock_mono_ns() + HURRY_NS,
			       .done = want->done,
			       .ctx = want->ctx};
	*ret = c;
	return 0;
}

void webchild_cancel(struct webchild *c)
{
	if (c->pid > 0)
		(void)kill(c->pid, c->told ? SIGKILL : SIGINT);
	c->told = true;
	c->until_ns = clock_mono_ns() + GRACE_NS;
}

size_t webchild_fds(const struct web *w, struct pollfd *dst)
{
	size_t n = 0;
	for (size_t i = 0; w->children && i < WEBCHILDREN_MOST; i++)
		if (w->children->of[i].pid > 0 && w->children->of[i].pid_fd >= 0)
			dst[n++] = (struct pollfd){.fd = w->children->of[i].pid_fd, .events = POLLIN};
	return n;
}

/* The last line that is a sentence for a person. */
static void said_read(int fd, char dst[static 500])
{
	char text[8192];
	size_t len = 0;
	struct span rest, line, last = {"", 0};
	off_t size = lseek(fd, 0, SEEK_END);
	uint64_t from = size > (off_t)sizeof(text) ? (uint64_t)size - sizeof(text) : 0;
	if (file_read_from(fd, from, text, sizeof(text), &len) < 0)
		len = 0;
	rest = (struct span){text, len};
	while (span_line(&rest, &line)) /* a message may quote a command of several lines */
		if (span_starts(line, "vigil: "))
			last = (struct span){line.p + 7, (size_t)(text + len - line.p) - 7};
	last = span_trim(last);
	span_copy(last, dst, 500);
	for (char *p = dst; *p; p++)
		if (*p == '?' && last.p[p - dst] == '\n')
			*p = ' ';
}

static void child_done(struct webchild *c, int status)
{
	char said[500];
	said_read(c->err_fd, said);
	closep(&c->err_fd);
	closep(&c->pid_fd);
	void (*done)(void *, int, const char *) = c->done;
	void *ctx = c->ctx;
	*c = (struct webchild){.pid = 0};
	done(ctx, status, said);
}

/* False: it had its time in a hurry. Its group is what it has started itself, too. */
static bool child_hurries(struct webchild *c, uint64_t now_ns)
{
	clockid_t clock;
	struct timespec t;
	if (c->hurry_until_ns == 0)
		return false;
	if (clock_getcpuclockid(c->pid, &clock) != 0 || clock_gettime(clock, &t) < 0)
		return true; /* it ends */
	uint64_t cpu_ns = (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
	if (cpu_ns < HURRY_CPU_NS && now_ns < c->hurry_until_ns)
		return true;
	if (setpriority(PRIO_PGRP, (id_t)c->pid, MAX(getpriority(PRIO_PROCESS, 0), NICE)) == 0)
		c->hurry_until_ns = 0;
	return c->hurry_until_ns != 0;
}

int webchild_turn(struct web *w)
{
	bool any = false, hurry = false;
	uint64_t now_ns = clock_mono_ns();
	for (size_t i = 0; w->children && i < WEBCHILDREN_MOST; i++) {
		struct webchild *c = &w->children->of[i];
		int status;
		if (c->pid == 0)
			continue;
		if (waitpid(c->pid, &status, WNOHANG) == c->pid) {
			child_done(c, status);
			continue;
		}
		any = true;
		hurry |= child_hurries(c, now_ns);
		if (now_ns >= c->until_ns)
			webchild_cancel(c);
	}
	return hurry ? HURRY_LOOK_MS : any ? 500 : -1;
}

void webchild_free(struct web *w)
{
	for (size_t i = 0; w->children && i < WEBCHILDREN_MOST; i++) {
		struct webchild *c = &w->children->of[i];
		if (c->pid == 0)
			continue;
		(void)kill(c->pid, SIGKILL);
		(void)waitpid(c->pid, NULL, 0);
		closep(&c->err_fd);
		closep(&c->pid_fd);
	}
	free(w->children);
	w->children = NULL;
}
