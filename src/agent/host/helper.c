#include "agent/host/helper.h"

#include <errno.h>
#include <unistd.h>

#include "base/clock.h"

static struct helpers *list_in_use;

void helper_list_use(struct helpers *list)
{
	list_in_use = list;
}

static _Atomic int32_t *helper_slot(pid_t pid)
{
	for (size_t i = 0; list_in_use && i < HELPERS_MAX; i++)
		if (atomic_load(&list_in_use->pid[i]) == pid)
			return &list_in_use->pid[i];
	return NULL;
}

/* Time now in the unit of /proc's start times: never 0, and never later than the start of a process forked next. */
static uint64_t now_ticks(void)
{
	return MAX(clock_boot_ns() / (NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK)), UINT64_C(1));
}

pid_t helper_fork(void)
{
	if (!list_in_use)
		return fork();
	_Atomic int32_t *place = helper_slot(0);
	if (!place) {
		errno = EAGAIN;
		return -1;
	}
	atomic_store(&list_in_use->since_ticks, now_ticks());
	pid_t pid = fork();
	if (pid == 0) {
		list_in_use = NULL;
		return 0;
	}
	if (pid > 0)
		atomic_store(place, pid);
	atomic_store(&list_in_use->since_ticks, 0);
	return pid;
}

void helper_reaped(pid_t pid)
{
	_Atomic int32_t *place = pid > 0 ? helper_slot(pid) : NULL;
	if (place)
		atomic_store(place, 0);
}

size_t helpers_find(struct helpers *list, const struct tasks *tasks, pid_t parent, pid_t *ret, size_t cap)
{
	size_t n = 0;
	/* the order matters: a fork that ends after since_ticks was read is in the list by then */
	uint64_t since = atomic_load(&list->since_ticks);
	for (size_t i = 0; i < HELPERS_MAX && n < cap; i++) {
		pid_t pid = atomic_load(&list->pid[i]);
		if (pid)
			ret[n++] = pid;
	}
	for (size_t i = 0; since && i < tasks->n && n < cap; i++)
		if (tasks->rows[i].ppid == parent && tasks->rows[i].start_ticks >= since)
			ret[n++] = tasks->rows[i].pid;
	return n;
}
