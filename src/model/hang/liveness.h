/*
 * What each rank shows of being alive. The watching process looks about once
 * a second (struct liveness_sample: counters as they stand); this keeps, for each
 * rank and sign, when it last moved more than noise does, how fast it moves
 * now and how fast it usually moved while steps advanced, and how long a step
 * takes. No allocation, no clock, bounded: 64 ranks and what has no rank.
 *
 * Times are CLOCK_MONOTONIC nanoseconds of the looks. Counters only grow: a
 * rank's are the sums over its processes, those that ended included (as
 * model/jobs/usage makes them). A counter that goes back starts anew and counts as
 * no movement. A sign that cannot be read has no bit in `has`, and is then
 * neither life nor silence.
 */
#pragma once

#include <sys/types.h>

#include "model/hang/cadence.h"
#include "sense/rank.h"
#include "sense/gpu/gpu.h" /* GPU_REASON_* */

#define LIVENESS_RANKS 65

/*
 * Counters. All but LIVENESS_IO_ALL leave out what service threads do (see
 * liveness_service_thread), where that can be told apart; a counter of the whole
 * process is better than none.
 */
enum liveness_sign {
	LIVENESS_CPU, /* ns of processor time, user and system */
	LIVENESS_RUN_WAIT, /* ns ready to run, but with no processor: schedstat's second field */
	LIVENESS_READ, /* bytes through read calls: rchar */
	LIVENESS_WRITTEN, /* bytes through write calls, without those of the job's own output if that is known: wchar */
	LIVENESS_DISK_READ, /* read_bytes */
	LIVENESS_DISK_WRITTEN, /* write_bytes */
	LIVENESS_NET_SENT, /* TCP bytes acknowledged, over all sockets, closed ones included as far as seen */
	LIVENESS_NET_RECEIVED,
	LIVENESS_GPU_ENERGY, /* mJ over the rank's devices */
	LIVENESS_LOG_BYTES, /* of its own output */
	LIVENESS_LOG_LINES,
	/*
	 * For the rule io-gpu alone: rchar + wchar + syscr + syscw + read_bytes +
	 * write_bytes of all processes and all their threads, nothing left out.
	 */
	LIVENESS_IO_ALL,
	LIVENESS_SIGNS,
};

enum liveness_gpu_value {
	LIVENESS_GPU_BUSY, /* percent: mean over the rank's devices */
	LIVENESS_GPU_MEMORY_BUSY, /* percent */
	LIVENESS_GPU_POWER, /* watts: mean */
	LIVENESS_GPU_POWER_LIMIT,
	LIVENESS_GPU_CLOCK, /* SM clock, MHz: the lowest */
	LIVENESS_GPU_CLOCK_MAX,
	LIVENESS_GPU_REASONS, /* GPU_REASON_* bits, or-ed */
	LIVENESS_GPU_VALUES,
};

/* How far a rank is, from sense/framework/progress of what it prints: the fields of struct progress. */
struct liveness_progress {
	bool has_epoch, has_step, has_total;
	double epoch;
	uint64_t step, total;
	uint64_t last_step_ns; /* when the step last grew; 0: never */
	uint64_t last_step_slack_ns; /* it may have been so much earlier */
	uint64_t n_lines; /* lines of progress so far */
	bool epoch_ended; /* it has printed the end of an epoch, and no step since */
	bool loss_broken; /* NaN or infinite */
	uint64_t loss_broken_step;
};

/* One rank in one look. */
struct liveness_counters {
	int32_t rank; /* NO_RANK: the job itself, or the launcher and helpers of one that has ranks */
	uint32_t has; /* 1u << PULSE_… */
	uint64_t count[LIVENESS_SIGNS];
	uint32_t gpu_has; /* 1u << LIVENESS_GPU_…; 0 if it holds no device */
	double gpu[LIVENESS_GPU_VALUES];
	char gpu_which[24]; /* their indices: "0,3"; cut when there are many */
	enum gpu_by gpu_by; /* how they are known to be the rank's */
	bool has_progress;
	struct liveness_progress progress;
	uint32_t processes; /* alive now; a zombie is not */
	uint32_t n_come, n_gone; /* since the rank was first seen; only grow */
	uint32_t n_loaders, n_compilers; /* alive now: ROLE_LOADER, ROLE_COMPILER */
	struct {
		pid_t pid; /* 0: none has ended */
		char role[16], name[32];
		bool has_status;
		int32_t wait_status; /* as wait(2) says */
	} last_gone; /* of its processes other than the main one */
	pid_t pid; /* main process */
	char state; /* of the main process: R S D T t Z X; 0 unknown */
	pid_t tracer; /* TracerPid; 0 none */
	bool frozen; /* its control group is (cgroup.events, frozen 1) */
	bool exited; /* the main process has ended, be it a zombie still */
	bool has_status;
	int32_t wait_status;
};

struct liveness_sample {
	uint64_t now_ns;
	uint64_t job_age_ns; /* since the attempt was started */
	uint64_t timeout_ns; /* after which the job's framework ends its ranks, as far as it says so; 0 unknown */
	bool has_rdma;
	uint64_t rdma_words; /* port_xmit_data + port_rcv_data over all ports of the node */
	bool has_rdma_wait;
	uint64_t rdma_wait; /* port_xmit_wait */
	bool has_retransmits;
	uint64_t retransmits; /* TCP segments, of the node */
	struct liveness_counters rank[LIVENESS_RANKS];
	size_t n;
};

#define LIVENESS_WINDOWS 8
struct liveness_trace {
	bool known;
	uint64_t last; /* the counter at the look before */
	uint64_t moved_ns; /* when it last moved more than noise; when first seen if never */
	bool ever_moved;
	double rate; /* per second over the last few seconds */
	double usual; /* per second, while steps advanced; 0 with has_usual false */
	bool has_usual;
	/* private: the window, newest at (n_at - 1) % LIVENESS_WINDOWS */
	uint64_t at_ns[LIVENESS_WINDOWS];
	double sum[LIVENESS_WINDOWS]; /* moved in all until then */
	double total;
	uint64_t n_at, last_ns, busy_ns;
};

struct liveness { /* what is believed of one rank */
	int32_t rank;
	bool serves; /* no rank of its own while others have one: its life says nothing about the job */
	uint64_t first_ns; /* first seen */
	uint64_t changed_ns; /* processes last came or went */
	uint64_t state_ns; /* since when its state letter is this */
	uint64_t exited_ns; /* when it was first seen to have ended */
	struct liveness_counters seen; /* as of the last look */
	struct liveness_trace trace[LIVENESS_SIGNS];
	uint64_t gpu_alive_ns; /* when a device last did more than idle or spin */
	bool gpu_known, gpu_spins; /* busy, but with a power and memory activity that no work has */
	bool has_usual_power;
	double usual_power; /* watts, while steps advanced */
	struct cadence log; /* of its lines */
	bool stepping; /* its own step was seen to grow at least once */
	uint64_t step_ns; /* when it last grew */
};

#define LIVENESS_STEPS 256
#define LIVENESS_GAPS 32

/* All of a job's. About 180 KiB: on the heap, zeroed at the start of each attempt. */
struct liveness_set {
	uint64_t now_ns, job_age_ns, first_ns;
	uint64_t timeout_ns; /* of the last look */
	struct liveness rank[LIVENESS_RANKS]; /* by rank; what has none comes first */
	size_t n;
	bool has_ranks; /* some have a rank */
	bool progress_known; /* some rank's output tells steps */
	uint64_t step_ns; /* when any rank's step last grew */
	uint64_t n_steps; /* steps seen to pass, of the rank that is read for step times */
	int32_t step_rank; /* that one */
	/* Step times of that rank, newest at (n_step_times - 1) % LIVENESS_STEPS. */
	float step_s[LIVENESS_STEPS];
	uint64_t n_step_times;
	bool has_step_time; /* 3 and more were seen */
	double step_time_ns, step_mad_ns; /* median and median absolute deviation of the last 64 */
	/* Time between two sights of new steps, which may come in lumps: by this a standstill is measured. */
	float gap_s[LIVENESS_GAPS];
	uint64_t n_gaps;
	bool has_gap; /* 3 and more */
	double gap_ns; /* median of the last 32 */
	float sight_s
		[LIVENESS_GAPS]; /* a step's time in each of those gaps, as near as it could be seen; 0 not known */
	/* private: of step_rank */
	uint64_t step_count, step_count_ns;
	uint64_t timed_count, timed_ns, timed_slack_ns; /* where the step time that is being measured begins */
	size_t n_dropped; /* ranks beyond 64, in the last look */
	struct liveness_trace rdma, rdma_wait, retransmits;
};

void liveness_take(struct liveness_set *p, const struct liveness_sample *look);
const struct liveness *liveness_find(const struct liveness_set *p, int32_t rank); /* NULL if there is none */
/* The latest time at which the rank showed life by anything but its log. */
uint64_t liveness_alive_ns(const struct liveness *p);
/* More than noise within the last 5 s? False also if it is not known. */
bool liveness_moves(const struct liveness_set *all, const struct liveness *p, enum liveness_sign s);
/* Bytes leave it (calls, disk, network), or come to it. */
bool liveness_writes(const struct liveness_set *all, const struct liveness *p);
bool liveness_reads(const struct liveness_set *all, const struct liveness *p);
/* What below is noise: per second. usual: the rate while steps advanced, 0 unknown. */
double liveness_floor(enum liveness_sign s, double usual);
const char *liveness_sign_name(enum liveness_sign s); /* "cpu" */

/*
 * Threads whose doing says nothing about the program: NCCL's proxies and RAS,
 * PyTorch's watchdogs, CUDA's event handler, loggers, wandb. By comm.
 */
bool liveness_service_thread(const char *comm);
