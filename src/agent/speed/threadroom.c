#include "agent/speed/threadroom.h"

#include "sense/speed/cpustat.h"
#include "sense/speed/threadcost.h"

void threadroom_read(const struct world *w, struct threadroom *ret)
{
	cleanup(freep) struct cputopo *topo = malloc(sizeof(*topo));
	struct cpuset_bits allowed;
	struct cpuquota quota;
	const long online = sysconf(_SC_NPROCESSORS_ONLN);
	*ret = (struct threadroom){.cores = online > 0 ? (uint32_t)online : 1};
	ret->cpus = ret->cores;
	if (threadcost_allowed_read(w, getpid(), getpid(), &allowed) == 0 && cpuset_count(&allowed) > 0) {
		ret->cpus = ret->cores = cpuset_count(&allowed);
		if (topo && cputopo_read(w, topo) == 0)
			ret->cores = MAX(cputopo_cores(topo, &allowed), 1u);
	}
	if (cpuquota_read(w, 0, &quota) == 0)
		ret->quota_cores = quota.cores;
}
