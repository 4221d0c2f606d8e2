#include "sense/proc/kcmp.h"

#include <errno.h>
#include <linux/kcmp.h>
#include <sys/syscall.h>
#include <unistd.h>

/* 0: the same; above: they differ; below: it cannot be asked. */
static long compare(const struct world *w, pid_t a, pid_t b, int what)
{
	return w->recorded ? -1 : syscall(SYS_kcmp, a, b, what, 0UL, 0UL);
}

bool tasks_may_share(const struct world *w, pid_t a, int fd_of_a, pid_t b, int fd_of_b)
{
	const long r = w->recorded ? -1 : syscall(SYS_kcmp, a, b, KCMP_FILE, (long)fd_of_a, (long)fd_of_b);
	return r == 0 || (r < 0 && errno != EBADF && errno != ESRCH);
}

bool epoll_may_watch(const struct world *w, pid_t pid, int epoll, int fd)
{
	struct kcmp_epoll_slot slot = {.efd = (uint32_t)epoll, .tfd = (uint32_t)fd};
	const long first = w->recorded ? -1 : syscall(SYS_kcmp, pid, pid, KCMP_EPOLL_TFD, (long)fd, &slot);
	slot.toff = 1;
	const long second = first < 0 ? -1 : syscall(SYS_kcmp, pid, pid, KCMP_EPOLL_TFD, (long)fd, &slot);
	return first <= 0 && second < 0;
}

int tasks_same_memory(const struct world *w, pid_t a, pid_t b)
{
	const long r = compare(w, a, b, KCMP_VM);
	return r == 0 ? 1 : r > 0 || w->recorded || errno == ESRCH ? 0 : -1;
}

int tasks_memory_order(const struct world *w, pid_t a, pid_t b, int *ret)
{
	const long r = compare(w, a, b, KCMP_VM);
	if (r >= 0 && r <= 2)
		*ret = r == 0 ? 0 : r == 1 ? -1 : 1;
	else
		*ret = a < b ? -1 : 1;
	return r >= 0 || w->recorded || errno == ESRCH ? 0 : -EPERM;
}

bool tasks_part_files(const struct world *w, pid_t a, pid_t b)
{
	return compare(w, a, b, KCMP_FILES) > 0;
}
