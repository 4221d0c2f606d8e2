/*
 * Why a process died: from recorded facts to a cause with evidence and a confidence. Pure: makes no system call, reads
 * no clock.
 *
 * Order of proof: facts that name the process, then facts that name its group, then counters, then what the process
 * itself left behind. That is: a stop that was asked for and a peer's failure; the kernel's kill record (pid and time);
 * a killer's line with its pid; the sender of the signal; systemd-oomd's or PID 1's line about its group or unit, a
 * scheduler's line; OOM counters of the group; the exceptions that ranks wrote into their error files; the wait status;
 * the log's last lines. Unread sources are listed, and a SIGKILL that nothing explains stays "unknown". A kernel kill
 * of another process is a neighbour, never a proof.
 */
#pragma once

#include <sys/types.h>

#include "base/base.h"
#include "model/rules/cause.h"
#include "model/incident/incident.h"

/* Another process of the job, as last seen: a worker, a rank or a descendant. */
struct death_former {
	pid_t pid;
	int32_t rank; /* NO_RANK: none */
	char role[16];
	char name[32];
};

/* A rank of the job that has ended. */
struct death_rank {
	int32_t rank;
	pid_t pid;
	int wait_status;
	int64_t end_unix_ms;
	bool by_us; /* vigil ended it because another one had failed */
};

/* A file system without room, after the death. */
struct death_disk {
	char path[160]; /* where it is mounted */
	uint64_t free_bytes, total_bytes;
	uint64_t free_inodes, total_inodes; /* total 0: it has no fixed number of them */
	bool no_inodes; /* there is room, but for no further file */
	/* It is not the one of the working directory, and no file of it was written to when the process ended. */
	bool unwritten;
};

/* A control group's limit on processes and threads that refused one during the attempt. */
struct death_pids {
	char group[256]; /* "": none did, or it is not known */
	uint64_t max, refused; /* tasks; how often */
};

/* Who has the port that the process could not have. */
struct death_port {
	bool looked;
	uint16_t port;
	bool listens; /* a socket listens on it; false: only sockets of connections, or none */
	bool any; /* any socket has it */
	pid_t pid; /* its process; 0: not found, or it may not be seen */
	char name[32], command[120];
};

#define DEATH_WORKER_OF 96
#define DEATH_GROUPS 12
#define DEATH_DISKS 4
#define DEATH_UNWATCHED "the job ended before they were watched"
#define DEATH_UNAVAILABLE 8

struct death {
	/* the process */
	char job[64];
	char node[80];
	uint32_t attempt;
	pid_t pid;
	int32_t rank;
	char name[64];
	char worker_of[DEATH_WORKER_OF]; /* set by postmortem() itself where it turns to a worker of the process */
	char command[200];
	char cgroup[256];          /* the process's group as the kernel names it, "/a/b"; "" unknown */
	/* the group was made for this job alone, so every process that died in it was the job's */
	bool own_group;
	bool pid_namespaced;       /* our pids differ from those of the kernel's log */
	/* the end, as wait(2) reports it; has_status is false when it was not our child */
	bool has_status;
	int32_t wait_status;
	int after_signal;          /* without a status: a signal to it that was seen shortly before its end; 0: none */
	int64_t start_unix_ms, end_unix_ms;
	/* the last known memory */
	bool has_memory;
	uint64_t own_bytes, rss_bytes, shared_bytes, swap_bytes;
	/* the state around it */
	bool stopping;             /* vigil or its user asked the job to end */
	int stop_signal;           /* the signal that vigil forwarded; 0 none */
	bool has_node_memory;
	uint64_t node_used_bytes, node_total_bytes;
	uint64_t shm_total_bytes, shm_free_bytes;
	bool has_shm;
	uint64_t vmstat_oom_before, vmstat_oom_after;
	bool has_vmstat;
	struct group_counters groups[DEATH_GROUPS]; /* the innermost first */
	size_t n_groups;
	char core_pattern[256];    /* /proc/sys/kernel/core_pattern; "" unknown */
	char core_file[256];       /* the core file that was found; "": none */
	bool core_dumped;
	/* its resource limits when it ended; UINT64_MAX: unlimited. By their numbers in sys/resource.h */
	bool has_limits;
	uint64_t soft_limit[PROCESS_LIMITS], hard_limit[PROCESS_LIMITS];
	bool has_cpu;
	uint64_t cpu_ns; /* processor time that it used */
	struct death_disk disks[DEATH_DISKS];
	size_t n_disks;
	struct death_port port;
	struct death_pids pids;
	bool has_core_limit;
	uint64_t core_limit_bytes; /* RLIMIT_CORE; UINT64_MAX unlimited */
	/* the facts */
	const struct kernel_kill *kernel_kills;
	size_t n_kernel_kills;
	const struct killer_line *killer_lines;
	size_t n_killer_lines;
	const struct signal_sent *signals;
	size_t n_signals;
	const struct process_end *ends; /* of processes of the job, as they were seen, in order */
	size_t n_ends;
	const struct death_rank *ranks;
	size_t n_ranks;
	uint32_t world_size; /* number of ranks that take part in collectives; 0: not known */
	const struct log_hint *hints;
	size_t n_hints;
	const struct rank_error *errors; /* of all ranks of the job, this one among them */
	size_t n_errors;
	const struct death_former *former;
	size_t n_former;
	struct cause_verdict rules; /* what the rule book finds in its log; may be invalid */
	/*
	 * The sources that could not be read, and why: "kmsg: not permitted (CAP_SYSLOG)". The word before the colon is
	 * one of kmsg, journal, cgroup, vmstat, signals, log, shm, core; a source that is not listed was read. After
	 * "signals: " DEATH_UNWATCHED means that more rights would not have helped.
	 */
	char unavailable[DEATH_UNAVAILABLE][120];
	size_t n_unavailable;
};

/*
 * Fills the whole incident but id, retry and top. ret->kind is always set; killer is KILLER_UNKNOWN when nothing
 * explains a SIGKILL.
 */
void postmortem(const struct death *d, struct incident *ret);

/* True when it says of a rank only that a peer was lost, and not which: another rank may have ended before. */
bool postmortem_may_follow(const struct incident *i);
