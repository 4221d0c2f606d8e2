/*
 * Finds out what vigil may do on this machine, and which settings are dangerous for long jobs. Each ability is tried
 * instead of derived from version numbers, because containers, seccomp and security modules restrict what a kernel
 * offers. Run once at start; takes a few milliseconds.
 *
 * A value of type enum probe_can says whether an ability works. It is PROBE_UNKNOWN in a recorded world, where nothing
 * can be tried.
 */
#pragma once

#include "sense/memory/cgroup.h"
#include "sense/host/oom_daemons.h"
#include "sense/memory/meminfo.h"
#include "sense/host/oomdconf.h"
#include "sense/world.h"

enum probe_can {
	PROBE_UNKNOWN,
	PROBE_YES,
	PROBE_DENIED, /* exists, but this process may not use it */
	PROBE_ABSENT, /* this kernel or container does not have it */
};

/* Bits of struct probe.cap_effective (linux/capability.h). */
enum probe_cap {
	PROBE_CAP_KILL = 5,
	PROBE_CAP_IPC_LOCK = 14,
	PROBE_CAP_SYS_PTRACE = 19,
	PROBE_CAP_SYS_ADMIN = 21,
	PROBE_CAP_SYS_NICE = 23,
	PROBE_CAP_SYS_RESOURCE = 24,
	PROBE_CAP_SYSLOG = 34,
	PROBE_CAP_PERFMON = 38,
	PROBE_CAP_BPF = 39,
};

struct probe_number {
	bool valid;
	int64_t value;
};

struct probe {
	uid_t uid;
	bool has_caps;
	uint64_t cap_effective;
	bool user_namespace; /* we are in a user namespace, so our capabilities are not valid on the host */
	int seccomp; /* 0: none, 1: strict, 2: filter; -1: unknown */

	enum probe_can psi, psi_trigger;
	uint64_t psi_window_us; /* smallest window that the kernel accepted, if psi_trigger is PROBE_YES */
	enum probe_can lower_adj; /* we may lower our oom_score_adj below its present value */
	int own_adj;
	bool has_own_adj;
	enum probe_can pidfd, mrelease, bpf, btf, kmsg, ptrace_others;
	enum probe_can openat2; /* names of jobs are held below the job's own root with it */
	uint64_t memlock_bytes, files_limit; /* RLIMIT_MEMLOCK, RLIMIT_NOFILE; UINT64_MAX: unlimited */
	bool own_pids; /* we are in a pid namespace that is not the machine's first one */
	bool proc_hidden; /* /proc is mounted with hidepid: processes of other users are not shown */

	enum cgroup_version memory_version;
	bool hybrid;
	bool has_place;
	struct cgroup_place place;
	enum probe_can cgroup_write; /* we may create a group below our own and move processes into it */
	enum probe_can cgroup_memory; /* we may also set its memory limit */

	bool has_meminfo;
	struct meminfo meminfo;
	bool has_shm;
	uint64_t shm_total_bytes, shm_free_bytes;

	struct probe_number panic_on_oom, oom_kill_allocating_task, oom_dump_tasks;
	struct probe_number overcommit_memory, overcommit_ratio;
	struct probe_number ptrace_scope, perf_event_paranoid, dmesg_restrict, unprivileged_bpf_disabled;
	char core_pattern[256]; /* "": unknown */
	uint64_t core_limit_bytes;
	char kernel[96];
	char container[48]; /* "docker", "kubernetes", "podman" …; "": none found */

	struct oom_daemons oom_daemons;
	struct oomdconf oomd; /* meaningful when systemd-oomd runs */
};

int must_check probe_read(const struct world *w, struct probe *ret);
static inline bool probe_has_cap(const struct probe *p, enum probe_cap cap)
{
	return p->has_caps && (p->cap_effective >> cap & 1);
}

/*
 * Name of the container runtime, from the text of our own /proc/self/cgroup and the environment of process 1; NULL:
 * none found. Pure.
 */
const char *probe_container_of(struct span cgroup_text, struct span init_environ);
