#include "agent/jobs/joblife.h"

#include <string.h>
#include <unistd.h>

#include "sense/proc/proc.h"

bool joblife_runs(const struct world *w, pid_t pid, uint64_t start_ticks)
{
	struct proc_stat st;
	int r = proc_stat_read(w, pid, &st);
	if (r == WORLD_DENIED)
		return true; /* there is one, but it may not be read */
	return r == 0 && st.start_ticks == start_ticks && !proc_is_over(&st);
}

bool joblife_is_lost(const struct world *w, const struct job *j)
{
	char here[80] = "";
	if (!job_is_open(j) || j->supervisor_pid <= 0)
		return false;
	if (gethostname(here, sizeof(here) - 1) == 0 && j->node[0] && strcmp(here, j->node) != 0)
		return false;
	return !joblife_runs(w, j->supervisor_pid, j->supervisor_start_ticks);
}
