/*
 * What this machine lets vigil do, and what about it is dangerous for long
 * jobs: found by trying, not by version numbers, because containers, seccomp
 * and security modules take away what a kernel has. Done once at start; costs
 * a few milliseconds.
 *
 * Each answer of type enum probe_can says whether it works; UNKNOWN in a
 * recorded world, where nothing can be tried.
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
	PROBE_DENIED, /* there, but not for us */
	PROBE_ABSENT, /* this kernel or container has none */
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
	bool user_namespace;      /* our capabilities do not count on the host */
	int seccomp;              /* 0 none, 1 strict, 2 filter; -1 unknown */

	enum probe_can psi, psi_trigger;
	uint64_t psi_window_us;   /* smallest window that was taken, if psi_trigger is YES */
	enum probe_can lower_adj; /* may lower oom_score_adj below its present value */
	int own_adj;
	bool has_own_adj;
	enum probe_can pidfd, mrelease, bpf, btf, kmsg, ptrace_others;
	uint64_t memlock_bytes, files_limit; /* RLIMIT_MEMLOCK, RLIMIT_NOFILE; UINT64_MAX unlimited */
	bool proc_hidden;         /* hidepid: other users' processes are not shown */

	enum cgroup_version memory_version;
	bool hybrid;
	bool has_place;
	struct cgroup_place place;
	enum probe_can cgroup_write;  /* we may make a group below our own and move processes there */
	enum probe_can cgroup_memory; /* and give it a memory limit */

	bool has_meminfo;
	struct meminfo meminfo;
	bool has_shm;
	uint64_t shm_total_bytes, shm_free_bytes;

	struct probe_number panic_on_oom, oom_kill_allocating_task, oom_dump_tasks;
	struct probe_number overcommit_memory, overcommit_ratio;
	struct probe_number ptrace_scope, perf_event_paranoid, dmesg_restrict, unprivileged_bpf_disabled;
	char core_pattern[256];   /* empty: unknown */
	uint64_t core_limit_bytes;
	char kernel[96];
	char container[48];       /* "docker", "kubernetes", "podman" …; empty: none seen */

	struct oom_daemons oom_daemons;
	struct oomdconf oomd;     /* meaningful when systemd-oomd runs */
};

int must_check probe_read(const struct world *w, struct probe *ret);
static inline bool probe_has_cap(const struct probe *p, enum probe_cap cap)
{
	return p->has_caps && (p->cap_effective >> cap & 1);
}

/* Which container the text of /proc/1/cgroup or our own, or a runtime's marker, tells of; NULL none. Pure. */
const char *probe_container_of(struct span cgroup_text, struct span init_environ);
