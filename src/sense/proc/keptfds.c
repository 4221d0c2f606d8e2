#include "sense/proc/keptfds.h"

#include <sys/resource.h>

static size_t kept;

bool keptfds_take(void)
{
	static size_t most;
	struct rlimit limit;
	if (most == 0)
		most = getrlimit(RLIMIT_NOFILE, &limit) == 0 ? (size_t)limit.rlim_cur / 4 : 64;
	if (kept >= most)
		return false;
	kept++;
	return true;
}

void keptfds_give(size_t n)
{
	kept -= n;
}
