#include "judge/death/consequence.h"

#include "base/units.h"

/* A failure within this time after a memory kill is its consequence. */
static const uint64_t consequence_ns = 60 * NS_PER_S;

bool consequence_of_kill(uint64_t killed_ns, uint64_t failed_ns)
{
	return failed_ns >= killed_ns && failed_ns - killed_ns < consequence_ns;
}

bool consequence_only_rest(const struct consequence_rank *rank, size_t n, bool any_failed, int64_t killed_unix_ms)
{
	for (size_t i = 0; i < n; i++)
		if (rank[i].running || rank[i].ended_unix_ms >= killed_unix_ms)
			return false;
	return !any_failed;
}
