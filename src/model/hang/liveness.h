/*
 * Signs of life of each rank. The agent takes a sample about once a second (struct liveness_sample: absolute
 * counters). For each rank and counter this keeps when the counter last grew by more than noise, its present rate and
 * its usual rate while steps advanced, and for the job how long a step takes. No allocation, no clock; bounded: 64
 * ranks and one entry for processes without a rank.
 *
 * Times are CLOCK_MONOTONIC nanoseconds, as given in the samples. Counters only grow: those of a rank are sums over its
 * processes, ended ones included (as model/jobs/usage makes them). One that decreases is taken as restarted, which is
 * no movement. One that cannot be read has no bit in `has`: its absence says neither alive nor silent.
 */
#pragma once

#include <sys/types.h>

#include "model/hang/cadence.h"
#include "model/jobs/ownpace.h"
#include "model/jobs/respawns.h"
#include "sense/rank.h"
#include "sense/gpu/gpu.h" /* GPU_REASON_* */

#define LIVENESS_RANKS 65
/*
 * All counters but LIVENESS_IO_ALL leave out service threads (liveness_service_thread) where the kernel counts by
 * thread; else they are those of the whole process.
 */
enum liveness_counter {
	LIVENESS_CPU, /* ns of processor time, user and system */
	LIVENESS_RUN_WAIT, /* ns ready to run, but waiting for a processor: second field of schedstat */
	LIVENESS_READ, /* bytes through read calls: rchar */
	LIVENESS_WRITTEN, /* bytes through write calls: wchar, less the job's own output if that is known */
	LIVENESS_DISK_READ, /* read_bytes */
	LIVENESS_DISK_WRITTEN, /* write_bytes */
	LIVENESS_NET_SENT, /* TCP bytes acknowledged, over all sockets; closed ones count up to their last sample */
	LIVENESS_NET_RECEIVED,
	LIVENESS_GPU_ENERGY, /* mJ over the rank's devices */
	LIVENESS_LOG_BYTES, /* bytes of its own output */
	LIVENESS_LOG_LINES,
	/* For the rule io-gpu: rchar, wchar, syscr, syscw, read_bytes and write_bytes of all threads. */
	LIVENESS_IO_ALL,
	LIVENESS_COUNTERS,
};

enum liveness_gpu_value {
	LIVENESS_GPU_BUSY, /* percent; mean over the rank's devices */
	LIVENESS_GPU_MEMORY_BUSY, /* percent */
	LIVENESS_GPU_POWER, /* watts; mean */
	LIVENESS_GPU_POWER_LIMIT,
	LIVENESS_GPU_CLOCK, /* SM clock in MHz; lowest of the devices */
	LIVENESS_GPU_CLOCK_MAX,
	LIVENESS_GPU_REASONS, /* GPU_REASON_* bits, or-ed */
	LIVENESS_GPU_VALUES,
};

/* How far a rank is, parsed from its output by sense/framework/progress; the fields are those of struct progress. */
struct liveness_progress {
	bool has_epoch, has_step, has_total;
	double epoch;
	uint64_t step, total;
	uint64_t last_step_ns; /* when the step last grew; 0: never */
	uint64_t last_step_slack_ns; /* uncertainty of last_step_ns: the step may have been this much earlier */
	uint64_t n_lines; /* lines of progress so far */
	bool epoch_ended; /* it printed the end of an epoch, and no step since */
	bool loss_broken; /* NaN or infinite; this and the next five also where no other line shows progress */
	bool loss_infinite, loss_has_step; /* it is infinite, not NaN; loss_broken_step is known */
	uint64_t loss_broken_step;
	bool norm_broken; /* so is the norm of the gradients, in many lines in a row, and the loss is not */
	uint64_t norm_broken_step; /* 0: unknown */
	/* Its lines count something up to the last one (sense/framework/progresscount): when it last grew. 0: no */
	uint64_t count_ns, count_gap_ns;
};

/* One rank in one sample. */
struct liveness_counters {
	int32_t rank; /* NO_RANK: a job without ranks, or the launcher and helpers of one with ranks */
	uint32_t has; /* bits 1u << LIVENESS_… (enum liveness_counter) of the counters that could be read */
	uint64_t count[LIVENESS_COUNTERS];
	uint32_t gpu_has; /* bits 1u << LIVENESS_GPU_…; 0 if it holds no device */
	double gpu[LIVENESS_GPU_VALUES];
	char gpu_which[24]; /* indices of its devices: "0,3"; cut if there are many */
	enum gpu_by gpu_by; /* how the devices were matched to the rank */
	bool has_progress;
	struct liveness_progress progress;
	uint32_t processes; /* alive now, zombies not counted */
	uint32_t n_come, n_gone; /* processes started and ended since the rank was first seen; only grow */
	uint32_t n_loaders, n_compilers; /* alive now that serve a rank (role_serves), ROLE_COMPILER */
	struct {
		pid_t pid; /* 0: none has ended */
		char role[16], name[32];
		bool has_status;
		int32_t wait_status; /* as of wait(2) */
	} last_gone; /* the last process to end, the main one excepted */
	pid_t pid; /* main process */
	char state; /* of the main process: R S D T t Z X; 0: unknown */
	pid_t tracer; /* TracerPid; 0: none */
	bool frozen; /* its control group is frozen (cgroup.events, "frozen 1") */
	bool exited, has_status; /* the main process has ended (it may still be a zombie), and how is known */
	int32_t wait_status;
	int64_t ended_unix_ms; /* of one whose parent has taken its status; 0: unknown */
};

struct liveness_sample {
	uint64_t now_ns;
	uint64_t job_age_ns; /* since the start of the attempt */
	uint64_t timeout_ns; /* time without progress after which the framework ends its ranks; 0: unknown */
	/* When a worker or program of the job's Ray last did more than to keep itself ready; 0: there is no Ray. */
	uint64_t ray_busy_ns;
	bool has_ran, ran, looked; /* a process has run since the sample before; looked: not known, one was stopped */
	bool has_rdma, has_rdma_wait, has_retransmits;
	uint64_t rdma_words; /* port_xmit_data + port_rcv_data over all ports of the node, in words of 4 bytes */
	uint64_t rdma_wait, retransmits; /* port_xmit_wait; TCP segments, of the node */
	struct liveness_counters rank[LIVENESS_RANKS];
	size_t n;
	struct respawns respawns; /* children that fail again and again, of parents that live; none where not counted */
};

#define LIVENESS_WINDOWS 8
struct liveness_trace {
	bool known;
	uint64_t last; /* the counter in the previous sample */
	uint64_t moved_ns; /* when it last grew by more than noise; if never, when it was first read */
	bool ever_moved;
	double rate; /* per second over the last few seconds */
	double usual; /* per second, while steps advanced; 0 unless has_usual */
	bool has_usual;
	/* private: points of the window, newest at (n_at - 1) % LIVENESS_WINDOWS */
	uint64_t at_ns[LIVENESS_WINDOWS];
	double sum[LIVENESS_WINDOWS]; /* total growth until then */
	double total;
	uint64_t n_at, last_ns, busy_ns;
};

struct liveness { /* of one rank */
	int32_t rank;
	bool serves; /* has no rank while others have one (a launcher): its activity says nothing about the job */
	uint64_t first_ns, changed_ns; /* first seen; when a process last started or ended */
	uint64_t state_ns; /* since when it has its present state letter */
	uint64_t exited_ns, gone_ns; /* when it, and seen.last_gone, was first seen to have ended; 0: never */
	struct renewals renewals; /* of its main process */
	struct liveness_counters seen; /* as of the last sample */
	struct liveness_trace trace[LIVENESS_COUNTERS];
	uint64_t gpu_alive_ns; /* when a device was last neither idle nor spinning */
	uint64_t works_ns; /* when it last took more processor time than a loop of short sleeps does; 0: never */
	bool gpu_known, gpu_spins, has_usual_power; /* spins: busy, but power and memory say that it does no work */
	double usual_power; /* watts, while steps advanced */
	struct cadence log; /* of its output lines */
	struct ownpace pace;
	bool stepping; /* its own step grew at least once */
	uint64_t step_ns, stride; /* when its step last grew; by how much at a line of its output, 0: unknown */
};
#define LIVENESS_STEPS 256
#define LIVENESS_GAPS 32

/* All ranks of a job. About 290 KiB, of which only what is used is touched: on the heap, all zero at first. */
struct liveness_set {
	uint64_t now_ns, job_age_ns, first_ns, timeout_ns, ray_busy_ns; /* the last two: of the last sample */
	struct liveness rank[LIVENESS_RANKS]; /* ascending; NO_RANK comes first */
	size_t n;
	bool has_ranks, progress_known; /* at least one entry has a rank; the output of one at least shows steps */
	uint64_t step_ns; /* when any rank's step last grew */
	uint64_t count_ns, count_gap_ns; /* the same of the rank that counted last */
	uint64_t n_steps; /* steps that passed in step_rank */
	int32_t step_rank; /* the rank from which step times are taken */
	/* Step times of that rank, newest at (n_step_times - 1) % LIVENESS_STEPS. */
	float step_s[LIVENESS_STEPS];
	uint64_t n_step_times, n_other_times; /* of which so many are those of another rank */
	bool has_step_time; /* at least 3 step times were measured */
	double step_time_ns, step_mad_ns; /* median and median absolute deviation of the last 64 */
	/* Times between samples with new steps, which may bring several steps. The standstill test uses them. */
	float gap_s[LIVENESS_GAPS];
	uint64_t n_gaps;
	bool has_gap; /* at least 3 gaps were measured, or 5 steps were made in fewer */
	double gap_ns; /* median of the last 32 */
	float gap_step_s[LIVENESS_GAPS]; /* estimated time of one step in each gap; 0: unknown */
	/* private: of step_rank */
	uint64_t step_count, step_count_ns, timed_count, timed_ns, timed_slack_ns; /* timed: where a step time begins */
	size_t n_dropped; /* ranks beyond 64 in the last sample */
	uint64_t stilled_ns; /* when the whole job last ceased to run, which it had done all along; 0: never */
	uint64_t run_ns, ran_ns, run_seen_ns; /* private: begin of its run (0: none), end of that, last sample */
	struct liveness_trace rdma, rdma_wait, retransmits;
	struct respawns respawns; /* as of the last sample */
};

void liveness_forget(struct liveness_set *p); /* at the start of each attempt */
void liveness_take(struct liveness_set *p, const struct liveness_sample *sample);
const struct liveness *liveness_find(const struct liveness_set *p, int32_t rank); /* NULL: no such rank */
/* The latest time at which any counter but the log showed activity. */
uint64_t liveness_alive_ns(const struct liveness *p);
/* True if the counter grew by more than noise within the last 5 s; false if it cannot be read. */
bool liveness_moves(const struct liveness_set *all, const struct liveness *p, enum liveness_counter s);
/* True if it sends or receives bytes by calls, disk or network. */
bool liveness_writes(const struct liveness_set *all, const struct liveness *p);
bool liveness_reads(const struct liveness_set *all, const struct liveness *p);
/* The rate per second up to which growth is noise. usual: rate while steps advanced; 0: unknown. */
double liveness_floor(enum liveness_counter s, double usual);
/* The rate per second since then, or over the last few seconds if that is less: none of what was before. */
double liveness_rate_since(const struct liveness_trace *t, uint64_t since_ns);
const char *liveness_counter_name(enum liveness_counter s); /* "cpu" */

/* True for the name (comm) of a thread whose activity says nothing about the program: NCCL's proxies, watchdogs. */
bool liveness_service_thread(const char *comm);
