/*
 * The evidence of one suspicion, and the verdict on it. Everything but the liveness may be missing: with less evidence
 * the verdict is less sure.
 */
#pragma once

#include "model/rules/cause.h"
#include "model/incident/incident.h"
#include "model/hang/gostand.h"
#include "model/hang/liveness.h"
#include "model/ray/raystand.h"
#include "model/jobs/rankenv.h"
#include "model/hang/stackgroup.h"
#include "model/hang/waitgraph.h"
#include "model/hang/waitshare.h"

#define HANG_DUMPS STACKGROUP_DUMPS
#define HANG_UNAVAILABLE 8
#define HANG_CULPRITS 64
#define HANG_ADVICE 6
#define HANG_EVIDENCE 24
#define HANG_GROUPS 8

/*
 * What counters inside the collective library say (NCCL RAS, PyTorch's Flight Recorder, the profiler plugin's ring), in
 * this judge's own terms.
 */
enum hang_collective_kind {
	HANG_COLLECTIVE_NONE, /* looked at, nothing wrong found */
	HANG_COLLECTIVE_MISSING, /* culprits did not join */
	HANG_COLLECTIVE_MISMATCH, /* culprits called something else than the others */
	HANG_COLLECTIVE_EQUAL, /* all are in the same one and it does not end */
	HANG_COLLECTIVE_P2P, /* a send or receive without its counterpart */
	HANG_COLLECTIVE_DEAD, /* culprits' processes are gone or do not answer */
	HANG_COLLECTIVE_INIT, /* culprits did not come to the initialisation */
	HANG_COLLECTIVE_UNEVEN, /* culprits have finished, the others go on */
	HANG_COLLECTIVE_CYCLE, /* ranks wait for each other in a circle: the order is wrong at the culprits */
	HANG_COLLECTIVE_DEVICE, /* a call has ended on the others and not on the culprits' devices */
};
struct hang_collective {
	bool valid;
	enum hang_collective_kind kind;
	enum confidence confidence;
	int32_t culprits[HANG_CULPRITS];
	size_t n_culprits;
	char text[400]; /* "all_reduce number 4711 of group default: ranks 0-2 entered, rank 3 did not" */
	char source[96]; /* "NCCL RAS, localhost:28028" */
};

/*
 * The source line at which a rank stands (activity.user of its acting thread), where the file could be read. Optional.
 */
struct hang_source {
	int32_t rank;
	char line[160]; /* without blanks at both ends: "time.sleep(3600)" */
};

/* An address that a process of the job tries to reach by TCP, in vain. */
#define HANG_REFUSED 8
struct hang_refused {
	int32_t rank; /* NO_RANK */
	pid_t pid;
	bool main; /* the main process of its rank */
	char address[64]; /* "127.0.0.1:29500" */
	uint64_t n; /* attempts since the job was suspected */
	uint64_t last_ns; /* of the last one, as liveness's now_ns */
	int error; /* as errno, of the last one; 0: it gave up before there was an answer */
};

/* A port of this machine to which a process of the job, or a child of it that has ended, has connected. */
#define HANG_ASKED 16
struct hang_asked {
	pid_t pid;
	uint16_t port;
	uint64_t n; /* times since the job was suspected */
	uint64_t last_ns; /* of the last one, as liveness's now_ns */
};

struct hang_case {
	int64_t now_unix_ms;
	const struct liveness_set *liveness;
	/* Oldest first, at least 2 s apart: what does not change between them stands still. Empty: unavailable. */
	const struct stackdump *dumps[HANG_DUMPS];
	size_t n_dumps;
	const struct cause_verdict *book; /* NULL or invalid: not read, or nothing found */
	const struct rank_error *errors; /* exceptions that ranks wrote down; NULL: none */
	size_t n_errors;
	/* The error at the end of an output that ranks share, which does not say whose it is; NULL or "": none. */
	const char *nobodys_error;
	const struct hang_collective *collective; /* NULL: not asked */
	const struct waitshare *shares; /* NULL: not sampled */
	const struct waitgraph *graph; /* who waits for whom; NULL: not read */
	const struct gostand *go; /* main goroutines of the ranks' programs made by Go */
	size_t n_go;
	const struct raystand *ray; /* what waits in the job's Ray node, and for whom; NULL: nothing, or no node */
	const struct hang_refused *refused; /* the most often tried first; none where they cannot be counted */
	size_t n_refused;
	const struct hang_asked *asked; /* likewise */
	size_t n_asked;
	const struct rankenv *environment; /* compared over the ranks; NULL: not read */
	const struct hang_source *source;
	size_t n_source;
	/*
	 * What could not be read, and why: "stacks: not permitted (CAP_SYS_PTRACE)". The word before the colon is one
	 * of stacks, threads, collective, log, kmsg, environment, gpu, network.
	 */
	char unavailable[HANG_UNAVAILABLE][240];
	size_t n_unavailable;
};

enum hang_kind { HANG_NONE, HANG_HANG, HANG_STRAGGLER, HANG_SLOWDOWN };

struct hang_group {
	char ranks[96]; /* "0-2, 5" */
	char activity[160]; /* "waits in all_reduce at train.py:40 (step)" */
	char stack[900]; /* innermost first, one frame a line */
	uint32_t n;
	bool unchanged;
};

/* What the time of a step was spent on, over all ranks. */
struct hang_spent {
	bool valid;
	double step_s;
	double part[WAITSHARE_CLASSES];
	double queued; /* of which the ranks' main threads were ready and had no processor */
};

/* A thread that waits until a time of its own, which comes soon. */
#define HANG_ARMED 32
struct hang_armed {
	pid_t tid;
	uint64_t until_ns;
};

/* Plain data without pointers. */
struct hang_verdict {
	enum hang_kind kind;
	bool benign; /* kind HANG_NONE: it stands still and may */
	bool known_already; /* reported before: nothing new */
	char id[48]; /* "missing_rank"; of a benign one: "sleep", "checkpoint" …; "": nothing wrong */
	enum confidence confidence;
	char text[700]; /* one or two sentences; benign: "idle by design: time.sleep(3600) at train.py:40" */
	/*
	 * It is certain that the job cannot go on by itself: a dead rank, a circle, a wait that nobody is left to end.
	 * Only such a verdict ends a job.
	 */
	bool proved;
	uint64_t standstill_ns; /* how long nothing had moved when it was judged */
	bool steps_known; /* it was judged by the time that its steps usually take */
	uint64_t again_ns; /* HANG_NONE: when to ask again, from now; 0: as the history decides */
	bool too_soon; /* likewise: more was found, but it has not stood for long enough */
	int32_t culprits[HANG_CULPRITS];
	size_t n_culprits;
	/* Of the first rank that sleeps: until when, and for how long at a time as far as known; 0: unknown. */
	int32_t sleep_rank;
	pid_t sleep_tid;
	uint64_t sleep_until_ns, sleep_ns;
	pid_t lost_pid; /* process that waits for a result which ended with one of its children; 0: none */
	bool unexplained; /* it says where the job stands and not why: what ended right before may be the cause */
	struct hang_armed armed[HANG_ARMED]; /* threads that were about to wake up by their clocks */
	size_t n_armed;
	uint64_t limit_until_ns; /* when the time limit ends within which the job waits; 0: none */
	double usual_per_s; /* slow_rank: steps a second that it made before; else 0 */
	char headline[200]; /* for the report's first line; "": the usual one of its kind */
	bool own_work; /* HANG_NONE: a rank is slow, and nothing else than its own work is seen to take its time */
	char pace[200]; /* where that is new: a line for the events; else "" */
	double ratio; /* straggler, slowdown: how much slower; 0.1 is 10 % */
	/* straggler, slowdown: "compute", "host", "quota", "stopped", "memory", "loader", "lock", "network", "gpu",
	 * "sleep", "wait"; "": unknown */
	char split[24];
	struct hang_spent spent; /* of the samples for stragglers */
	char advice[HANG_ADVICE][320];
	size_t n_advice;
	struct {
		char kind[24], source[96], text[360];
	} evidence[HANG_EVIDENCE];
	size_t n_evidence;
	struct hang_group group[HANG_GROUPS]; /* largest first */
	size_t n_groups;
	size_t n_groups_dropped;
};
