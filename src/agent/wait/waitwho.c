#include "agent/wait/waitwho.h"

#include "base/buf.h"

int waitwho_claim(enum role role, bool started)
{
	switch (role) {
	case ROLE_MAIN:
		return 4;
	case ROLE_RAY_WORKER:
		return 3;
	case ROLE_OTHER:
	case ROLE_SHELL:
	case ROLE_LAUNCHER:
	case ROLE_HELPER:
		return started ? 2 : 0;
	default:
		return 0;
	}
}

struct waitgraph_who waitwho_of(pid_t pid, const struct role_info *who, bool main, bool ranks)
{
	struct waitgraph_who w = {.pid = pid, .rank = who->rank};
	bool starts = who->role == ROLE_LAUNCHER || who->role == ROLE_SHELL;
	/* of a job with ranks, a main process without one only starts them */
	w.main = main && (who->rank != NO_RANK || !ranks);
	w.launcher = !w.main && (starts || (main && ranks));
	TEXT_COPY(w.role, role_name(main ? ROLE_MAIN : who->role));
	return w;
}
