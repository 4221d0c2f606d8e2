#include "act/target.h"

#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#ifndef SYS_process_mrelease
#define SYS_process_mrelease 448
#endif

static bool target_lives(const struct world *w, const struct target *t)
{
	struct proc_stat st;
	return proc_is_same(w, t->id, &st) && !proc_is_over(&st);
}

int target_open(const struct world *w, struct target *t, bool hold)
{
	t->pidfd = -1;
	t->gone = t->denied = false;
	int fd = hold ? (int)syscall(SYS_pidfd_open, t->id.pid, 0) : -1;
	if (hold && fd < 0 && errno == ESRCH) {
		t->gone = true;
		return WORLD_GONE;
	}
	if (!target_lives(w, t)) {
		closep(&fd);
		t->gone = true;
		return WORLD_GONE;
	}
	/* -1 on old kernels or without free descriptors: signals then go to the pid after a check of its start time */
	t->pidfd = fd;
	return 0;
}

void target_close(struct target *t)
{
	closep(&t->pidfd);
}

int target_signal(const struct world *w, struct target *t, int signal)
{
	int r;
	if (t->pidfd >= 0) {
		r = (int)syscall(SYS_pidfd_send_signal, t->pidfd, signal, NULL, 0);
	} else {
		if (!target_lives(w, t)) {
			t->gone = true;
			return WORLD_GONE;
		}
		r = kill(t->id.pid, signal);
	}
	if (r == 0)
		return 0;
	if (errno == ESRCH)
		t->gone = true;
	if (errno == EPERM)
		t->denied = true;
	return world_condition(-errno);
}

void target_boost(const struct target *t)
{
	int ours = getpriority(PRIO_PROCESS, 0);
	(void)setpriority(PRIO_PROCESS, (id_t)t->id.pid, MIN(ours, 0));
}

int target_reap(const struct target *t)
{
	if (t->pidfd < 0)
		return -EBADF;
	for (int i = 0; i < 10; i++) {
		if (syscall(SYS_process_mrelease, t->pidfd, 0) == 0)
			return 0;
		if (errno == ESRCH)
			return WORLD_GONE;
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
	}
	return -EAGAIN;
}

bool target_ended(const struct world *w, const struct target *t)
{
	if (t->gone)
		return true;
	if (t->pidfd < 0)
		return proc_has_ended(w, t->id);
	struct pollfd p = {.fd = t->pidfd, .events = POLLIN};
	return poll(&p, 1, 0) > 0;
}
