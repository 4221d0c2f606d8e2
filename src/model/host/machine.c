#include "model/host/machine.h"

static const struct {
	const char *name, *rule;
} kinds[OOM_DAEMON_MAX] = {
	[OOM_DAEMON_NONE] = {"none", ""},
	[OOM_DAEMON_EARLYOOM] =
		{"earlyoom",
		 "ends the process with the highest oom_score when free memory and free swap are both below its limits "
		 "(10 % unless told otherwise); it leaves processes with oom_score_adj -1000 alone"},
	[OOM_DAEMON_NOHANG] =
		{"nohang",
		 "ends the process with the highest badness when memory and swap are low (5 % soft, 2 % hard unless "
		 "told otherwise), or on pressure if so configured"},
	[OOM_DAEMON_SYSTEMD_OOMD] =
		{"systemd-oomd",
		 "ends whole control groups by memory pressure or when memory and swap are both used up; it does "
		 "not look at oom_score_adj"},
	[OOM_DAEMON_META_OOMD] = {"oomd",
				  "ends whole control groups by its own rule set; it does not look at oom_score_adj"},
	[OOM_DAEMON_RAY] =
		{"Ray",
		 "ends Ray workers when the node is above RAY_memory_usage_threshold (0.95 unless told otherwise); "
		 "only processes that Ray started"},
	[OOM_DAEMON_KUBELET] =
		{"kubelet",
		 "evicts whole pods when the node's memory.available falls below its limit (100Mi hard by default)"},
	[OOM_DAEMON_SLURM] =
		{"Slurm", "ends job steps that pass their requested memory when JobAcctGather or cgroup limits say so"},
	[OOM_DAEMON_LMKD] = {"lmkd", "ends processes by pressure, lowest importance first"},
};

const char *oom_daemon_name(enum oom_daemon_kind k)
{
	return k < OOM_DAEMON_MAX ? kinds[k].name : "none";
}

const char *oom_daemon_rule(enum oom_daemon_kind k)
{
	return k < OOM_DAEMON_MAX ? kinds[k].rule : "";
}

const char *machine_cgroup_layout(const struct probe *p)
{
	if (p->hybrid)
		return "hybrid (memory on v1)";
	switch (p->memory_version) {
	case CGROUP_V1:
		return "v1";
	case CGROUP_V2:
		return "v2";
	default:
		return "none";
	}
}
