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
