#include "agent/jobs/jobran.h"

#include <string.h>

#include "agent/host/host.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/units.h"

/* Time since the supervisor of a job that runs here began, by a clock that cannot be set. False: not known. */
static bool lived_here(const struct job *j, uint64_t *ret_ns)
{
	char node[sizeof(j->node)];
	uint64_t ticks_per_s = (uint64_t)sysconf(_SC_CLK_TCK), now_ns = clock_boot_ns();
	uint64_t began_ns = j->supervisor_start_ticks * (NS_PER_S / ticks_per_s);
	host_name(node, sizeof(node));
	if (j->ended_unix_ms > 0 || j->adopted || began_ns == 0 || began_ns > now_ns || strcmp(node, j->node) != 0)
		return false;
	*ret_ns = now_ns - began_ns;
	return true;
}

char *job_ran(const struct job *j, int64_t now_unix_ms, char dst[static 24])
{
	int64_t end = j->ended_unix_ms > 0 ? j->ended_unix_ms : now_unix_ms;
	uint64_t lived_ns;
	if (j->state != JOB_LOST && lived_here(j, &lived_ns))
		return duration_format(lived_ns, dst);
	if (j->started_unix_ms <= 0 || end < j->started_unix_ms || (j->state == JOB_LOST && j->ended_unix_ms <= 0))
		return text_copy(dst, 24, "-"); /* the end of a lost job was not seen */
	return duration_format((uint64_t)(end - j->started_unix_ms) * NS_PER_MS, dst);
}
