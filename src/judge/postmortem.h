/*
 * Why did this process die? From facts gathered by the senses to a cause with
 * evidence and a confidence. Pure: makes no system call, reads no clock.
 *
 * Order of proof (facts that name the process win over counters, counters
 * over guesses): vigil's own kill journal; the kernel's kill record (pid and
 * time); the journal of systemd-oomd and other killers; OOM counters of the
 * group and its ancestors; the sender of the signal; the wait status; the
 * log's last lines. What could not be read is listed, and a SIGKILL that
 * nothing explains stays "unknown".
 */
#pragma once

#include <sys/types.h>

#include "base/base.h"
#include "model/incident.h"

/* One fact from the kernel log, already parsed (sense/oomlog). */
struct kernel_kill {
	pid_t pid;
	char comm[32];
	int64_t time_unix_ms;
	bool memcg;                /* a group's limit, not the machine */
	char oom_memcg[256];       /* the group whose limit was hit */
	char task_memcg[256];
	char constraint[32];
	char invoker[32];          /* who asked for the memory */
	uint64_t total_vm_bytes, anon_rss_bytes, file_rss_bytes, shmem_rss_bytes;
	bool has_rss;
	int32_t oom_score_adj;
	bool has_adj;
	bool group_kill;           /* memory.oom.group */
	uint64_t usage_bytes, limit_bytes; /* memcg; 0 unknown */
	char line[360];            /* the record itself */
};

/* One line by another killer or by a supervisor, already recognised (sense/killerlog). */
struct killer_line {
	enum killer killer;
	char action[24];           /* "kill" "summary" "unit" "step_oom" "exit" */
	pid_t pid;                 /* 0: not named */
	char group[256];           /* control group or unit, if named */
	bool pressure;             /* systemd-oomd: by pressure, not by use */
	double value_ratio, limit_ratio; /* as the line says; 0 absent */
	uint64_t duration_ms;
	uint64_t memory_used_bytes, memory_total_bytes;
	int64_t time_unix_ms;      /* 0 unknown */
	char source[96];           /* "journal", "log rank 0 stderr", … */
	char line[360];
};

/* A signal seen being sent to the process (sense/sigwatch). */
struct signal_sent {
	int signal;
	pid_t target;
	uint64_t target_start_ticks; /* 0 unknown */
	pid_t sender;              /* 0: kernel */
	uid_t sender_uid;
	char sender_comm[32];
	char sender_command[120];  /* "" unknown */
	bool from_kernel;
	int64_t time_unix_ms;
};

/* A message in the log's tail that means something (sense/deathlog). */
struct log_hint {
	char id[40];               /* "dataloader_killed", "bus_error_shm", "cuda_oom", "python_memory_error", "torchrun_failure", "nccl_peer" … */
	char text[360];
	char source[96];
	pid_t pid;                 /* named in the message; 0 none */
	int signal;                /* named in the message; 0 none */
	int32_t rank;              /* NO_RANK */
};

struct group_counters {
	bool valid;
	char group[256];
	uint64_t oom_kills_before, oom_kills_after;
	uint64_t max_events_before, max_events_after; /* hits of the limit */
	bool local;                /* counts this group alone, not its ancestors */
};

struct death {
	/* who */
	char job[64];
	char node[80];
	uint32_t attempt;
	pid_t pid;
	int32_t rank;
	char name[64];
	char command[200];
	char cgroup[256];          /* the process's group as the kernel names it */
	/* how, as wait(2) says; when not our child, has_status is false */
	bool has_status;
	int32_t wait_status;
	int64_t start_unix_ms, end_unix_ms;
	/* last known memory */
	bool has_memory;
	uint64_t own_bytes, rss_bytes, shared_bytes, swap_bytes;
	/* state around it */
	bool stopping;             /* vigil or its user asked the job to end */
	int stop_signal;           /* the signal that vigil forwarded; 0 none */
	bool ended_with_peer;      /* vigil ended this rank because another failed */
	int32_t peer_rank;
	bool has_node_memory;
	uint64_t node_used_bytes, node_total_bytes;
	uint64_t shm_total_bytes, shm_free_bytes;
	bool has_shm;
	uint64_t vmstat_oom_before, vmstat_oom_after;
	bool has_vmstat;
	struct group_counters groups[12]; /* innermost first */
	size_t n_groups;
	char core_pattern[256];    /* /proc/sys/kernel/core_pattern; "" unknown */
	char core_file[256];       /* found; "" none */
	bool core_dumped;
	uint64_t core_limit_bytes; /* RLIMIT_CORE */
	/* the facts */
	const struct kernel_kill *kernel_kills;
	size_t n_kernel_kills;
	const struct killer_line *killer_lines;
	size_t n_killer_lines;
	const struct signal_sent *signals;
	size_t n_signals;
	const struct log_hint *hints;
	size_t n_hints;
	/* what could not be looked at, and why ("kmsg: not permitted (CAP_SYSLOG)") */
	char blind[8][120];
	size_t n_blind;
};

/*
 * Fills everything of the incident but id, retry and top. ret->kind is always
 * set; killer is KILLER_UNKNOWN when nothing explains a SIGKILL.
 */
void postmortem(const struct death *d, struct incident *ret);
