/*
 * Facts about a death, as the readers of logs return them: kill records of the kernel, lines of other killers, signals
 * seen, messages in the job's own log, counters. Plain data of fixed size.
 *
 * Times are unix milliseconds, 0 for unknown. Text that does not fit is cut. Control groups have the kernel's names,
 * with a leading '/'.
 */
#pragma once

#include <sys/types.h>

#include "sense/rank.h"
#include "sense/death/faultline.h"
#include "sense/gpu/gpuoom.h"

enum killer {
	KILLER_UNKNOWN,
	KILLER_NONE,
	KILLER_VIGIL,
	KILLER_KERNEL,
	KILLER_CGROUP,
	KILLER_SYSTEMD_OOMD,
	KILLER_EARLYOOM,
	KILLER_NOHANG,
	KILLER_RAY,
	KILLER_SLURM,
	KILLER_KUBERNETES,
	KILLER_SIGNAL,
	KILLER_OOMD, /* Meta's oomd */
	KILLER_MAX,
};

#define KERNEL_KILL_TASKS 5

/* A row of the kernel's task table. */
struct kernel_task {
	pid_t pid;
	char comm[32];
	uint64_t rss_bytes;
	int32_t oom_score_adj;
};

/* One kill by the kernel's OOM killer (sense/death/oomlog). */
struct kernel_kill {
	pid_t pid;
	char comm[32];
	int64_t time_unix_ms;
	bool memcg;                /* the limit of a group was hit; false: the machine ran out of memory */
	char oom_memcg[256];       /* the group whose limit was hit; "": not in the record */
	char task_memcg[256];
	char constraint[32];
	char invoker[32];          /* comm of the process that asked for the memory */
	uint64_t total_vm_bytes, anon_rss_bytes, file_rss_bytes, shmem_rss_bytes;
	bool has_rss;
	int32_t oom_score_adj;
	bool has_adj;
	uid_t uid;
	bool has_uid;
	bool group_kill;           /* the whole group was killed: memory.oom.group is set */
	bool allocating_task;      /* sysctl vm.oom_kill_allocating_task */
	bool by_hand;              /* sysrq f: order is -1 */
	bool bare;                 /* only the kill line: the kernel limits reports, or lines were lost */
	bool reaped, reap_failed;  /* as oom_reaper reported */
	pid_t sacrificed_for;      /* kernels before 5.1: the chosen parent of the killed child; 0: none */
	uint64_t usage_bytes, limit_bytes; /* of the group; 0: unknown */
	uint64_t ram_bytes, swap_total_bytes, swap_free_bytes;
	bool has_swap;
	struct kernel_task tasks[KERNEL_KILL_TASKS]; /* largest first */
	size_t n_tasks, n_tasks_all;
	char line[360];            /* the kill line */
};

/* One line by another killer or by a supervisor, already recognised (sense/death/killerlog). */
struct killer_line {
	enum killer killer;
	/*
	 * "kill"        a process or group was sent a signal
	 * "low_memory"  the same daemon's reason, a moment before
	 * "unit"        PID 1: a process of the unit was killed by an OOM killer
	 * "unit_result" PID 1: Result=oom-kill; the killer may be the kernel or systemd-oomd
	 * "step_oom"    Slurm or Kubernetes counted kernel kills in its group
	 * "cancel" "time_limit" "preempt" "evict"  ended by the scheduler
	 * "stop_timeout" "runtime_limit"  the reason why PID 1 ends a unit
	 * "fault"       the kernel's line about a crash
	 * "xid"         the GPU driver's line about a fault of the process
	 * "exit"        a supervisor reports how a process ended
	 * "summary"     a count over a period, without a process
	 */
	char action[24];
	int signal;                /* named in the line; 0: unknown */
	pid_t pid;                 /* 0: not named */
	char name[64];             /* of the process, task or step, if named */
	char group[256];           /* control group or unit, if named */
	char ray_id[80]; /* Ray: "task ID 4353…" or "worker ID 4ef1…", if named */
	char monitored[256];       /* systemd-oomd: the ancestor whose pressure was measured */
	bool pressure;             /* systemd-oomd: killed for memory pressure; false: for memory used */
	double value_ratio, limit_ratio; /* named in the line; 0: absent */
	uint64_t duration_ms;
	uint64_t count;            /* processes or events; 0 unknown */
	uint64_t memory_used_bytes, memory_total_bytes, swap_used_bytes, swap_total_bytes;
	uint64_t victim_bytes;
	int64_t time_unix_ms;      /* 0 unknown */
	struct faultline fault;    /* "fault": the line taken apart */
	const char *meaning;       /* "xid": what its number means, static text; NULL: not known */
	char source[96];           /* "journal", "log rank 0 stderr", … */
	char line[360];
};

/* A signal that was sent to the process (sense/death/sigwatch). */
struct signal_sent {
	int signal;
	pid_t target;
	uint64_t target_start_ticks; /* 0 unknown */
	pid_t sender;              /* 0: kernel */
	uid_t sender_uid;
	char sender_comm[32];
	char sender_command[120];  /* "" unknown */
	bool from_kernel;
	bool of_timer;             /* from the kernel, for a timer of timer_create(2) */
	/* a fault (SIGSEGV, SIGBUS): the address that was touched, and the stack pointer then; 0: unknown */
	uint64_t fault_addr, stack_pointer;
	char page_role[16];        /* sent from vigil's page, for a user of this role ("admin"); else "" */
	bool of_job;               /* the target belongs to the job, as only signals to the job were watched */
	int64_t time_unix_ms;
};

#define PROCESS_LIMITS 10 /* RLIMIT_CPU to RLIMIT_AS, by their numbers */

/* How a process of the job ended, as the kernel was seen to end it (sense/death/sigwatch). */
struct process_end {
	pid_t pid, parent;
	uint64_t start_ticks;
	int wait_status;           /* as wait(2) gives it */
	char name[16];
	int32_t rank;              /* by its environment; NO_RANK: none, or it was not read */
	int64_t start_unix_ms, time_unix_ms;
	uint64_t cpu_ns;           /* processor time that it used */
	uint64_t peak_rss_bytes;   /* 0 unknown */
	uint64_t soft_limit[PROCESS_LIMITS], hard_limit[PROCESS_LIMITS]; /* UINT64_MAX: unlimited */
	uint32_t well_before;      /* so many like it, of the same parent, ended well since the last one that failed */
	bool forked;               /* it executed no program of its own */
};

/* A known message in the last lines of a log (sense/death/deathlog). */
struct log_hint {
	char id[40];               /* one of those listed in sense/death/deathlog.h */
	char text[360];
	char source[96];
	pid_t pid;                 /* named in the message; 0 none */
	int signal;                /* named in the message; 0 none */
	bool has_exit_code;
	int32_t exit_code;
	int32_t rank;              /* named in the message; NO_RANK */
	uint64_t bytes;            /* a size named in the message; 0 none */
	uint16_t port;             /* port_in_use: named in the message; 0 none */
	uint32_t line;             /* its number among the lines that were read; 0 unknown */
	uint64_t at_bytes;         /* where it begins in the text that was read */
	uint32_t first_line;       /* of a traceback: where its chain begins; else equal to line */
	uint32_t after;            /* lines after it, without tracebacks, stack frames and known messages */
	uint32_t to_end;           /* all lines after it */
	bool went_on;              /* lines of the program's loop come after it, so it was handled (logshape) */
	bool out_went_on;          /* on stdout: after all of stderr, which has it; of_thread: or right after it */
	bool of_thread;            /* an exception that ended a thread, and was not the main one's */
	bool of_task;              /* of_thread: of a task of asyncio's that nobody has awaited */
	char before[200];          /* of a traceback: the line right before it, where that is no step; "": none */
	char frame[160];           /* the last, "in train at train.py:88"; of last_line: stackplace's; "": none */
	bool of_library;           /* its last frame is in Python's library or an installed package */
	bool of_worker, of_group;  /* raised in a worker that the log quotes; by a member of a group */
	char own_frame[160];       /* of_library: the last frame in the program's own files; "": none, or unknown */
	bool of_error;             /* of last_line: lines of lesser levels come after it */
	bool loop;                 /* of last_line: a line that comes again and again, as a progress bar's */
	char first[200];           /* of a chain: the first exception; of last_line: lines before it; "": none */
	bool direct;               /* the first was the direct cause; false: came before, or it was being handled */
	bool has_gpu;
	struct gpuoom gpu;         /* cuda_oom: numbers of the last message that has more than the size */
	uint32_t gpu_messages;     /* number of such messages */
	uint64_t gpu_first_allocated_bytes; /* bytes in tensors, from the first such message */
	bool gpu_fell;             /* a message had fewer bytes in tensors than the one before */
};

/* OOM counters of one group, at the job's start and after the death. */
struct group_counters {
	bool valid;
	char group[256];
	uint64_t oom_kills_before, oom_kills_after;
	uint64_t max_events_before, max_events_after; /* hits of the limit */
	bool local;                /* the counters exclude descendants of the group */
	uint64_t limit_bytes;      /* 0: none or unknown */
	uint64_t peak_before_bytes, peak_bytes; /* the most it ever used, at the start and at the end; 0: unknown */
};

/* An exception that ended a rank's function, as the rank wrote it into its error file (sense/framework/elastic). */
struct rank_error {
	int32_t rank;
	bool follows;              /* its text says that the cause is in another process */
	int64_t time_unix_ms;      /* 0 unknown */
	char text[320];            /* "RuntimeError: boom", its first line */
	char where[200];           /* "/srv/train.py:40 (step)"; "" unknown */
	char source[96];           /* "rank-2.error.json" */
};
