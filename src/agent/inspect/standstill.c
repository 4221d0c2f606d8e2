#include "agent/inspect/standstill.h"

#include <string.h>

#include "sense/proc/proc.h"
#include "sense/wait/threadlist.h"

bool standstill_token(const struct world *w, pid_t via, pid_t tid, char token[static STANDSTILL_TOKEN],
		      struct threadwait *ret)
{
	size_t n = 0, more = 0;
	if (task_file_read(w, via, tid, "schedstat", token, 96, &n) != 0 ||
	    task_file_read(w, via, tid, "syscall", token + n, STANDSTILL_TOKEN - n, &more) != 0)
		return false;
	struct span turns = span_trim((struct span){token, n});
	const char *last = span_rfind(turns, " ");
	/* A kernel that does not count turns writes 0. */
	if (!last || span_eq((struct span){last + 1, (size_t)(turns.p + turns.len - last - 1)}, "0"))
		return false;
	*ret = (struct threadwait){.nr = -1};
	return threadwait_syscall_parse((struct span){token + n, more}, ret) == 0 && ret->has_syscall;
}

bool standstill_moved(const struct world *w, pid_t via, pid_t tid, const char *token)
{
	char now[STANDSTILL_TOKEN];
	struct threadwait call;
	return !standstill_token(w, via, tid, now, &call) || strcmp(now, token) != 0;
}
