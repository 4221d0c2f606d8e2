/*
 * What causegather's two halves share: agent/rules/rulegather.c asks and judges,
 * agent/rules/rulegather_read.c reads in child processes. For these two alone.
 */
#pragma once

#include "agent/rules/rulegather.h"
#include "model/hang/rankerrors.h"
#include "sense/net/ibport.h"
#include "sense/framework/lasterror.h"
#include "sense/rules/rulescan.h"
#include "sense/net/tcpwait.h"

#define RULEREAD_LOGS ((size_t)RULEGATHER_RANKS * 2)
#define RULEREAD_MATCHES 2048
#define RULEREAD_ENVIRON (64 * 1024)
#define RULEREAD_WAITS 32
/* One that does not answer for so long is given up. */
#define RULEREAD_STALL_NS (500 * NS_PER_MS)

/* What is read of one log at first, at its two ends, and at most of what came since. */
#define RULEREAD_HEAD (1 * MIB)
#define RULEREAD_TAIL (4 * MIB)
#define RULEREAD_NEW (64 * MIB)

#define RULEREAD_ERRORS 8

struct ruleread_log {
	char path[512];
	char label[32]; /* "rank 3 stderr" */
	char label_later[48]; /* lines are counted from elsewhere than the start */
	int32_t rank;
	bool wanted; /* in this call */
	bool known; /* the rest is valid */
	uint64_t dev, ino, offset, size;
	uint64_t lines; /* before offset */
	bool skipped; /* something was never read */
	bool has_nccl; /* NCCL wrote into it */
	int error; /* of the last try; 0 */
	bool names_ranks; /* some of its lines say whose they are */
	struct lasterror last_error[RULEREAD_ERRORS]; /* of each rank that writes into it */
	size_t n_last_errors;
};

struct ruleread_environ {
	pid_t pid;
	bool tried;
	char *text; /* owned; NULL: could not be read */
	size_t len;
};

/* Something that can keep its reader for ever. */
enum ruleread_kind { RULEREAD_ENVIRONS, RULEREAD_PORTS, RULEREAD_TCP, RULEREAD_LOG, RULEREAD_ERROR };
struct ruleread_task {
	enum ruleread_kind kind;
	uint32_t index; /* of the rank or the log */
};
#define RULEREAD_TASKS (RULEGATHER_RANKS * 5 + 1)

/* A reader that hangs and where; it is tried again when that process is gone. */
struct ruleread_stuck {
	pid_t pid; /* 0: free */
	struct ruleread_task task;
	char what[160];
};
#define RULEREAD_STUCK 32

/* A call's tasks and the child that is at them. */
struct ruleread_run {
	struct ruleread_task task[RULEREAD_TASKS];
	uint32_t n, first; /* those before first are over */
	uint32_t end; /* the child's part: [first, end) */
	uint64_t deadline_ns;
	pid_t pid; /* 0: no child */
	uint64_t beat, beat_ns; /* its last sign of life, and when that was seen */
	bool busy;
};

struct ruleread_tcp {
	bool done;
	struct tcpwait wait[RULEREAD_WAITS];
	size_t n;
};

/* What the child leaves behind; a task's part counts when the task is done. */
struct ruleread_shared {
	uint64_t beat; /* grows with everything that gets done */
	uint32_t at; /* the task in work */
	uint32_t n_done_matches, n_dropped; /* of done tasks */
	bool over; /* the time was up: the tasks behind `at` were not begun */
	struct ruleread_log log[RULEREAD_LOGS];
	struct rankpace pace[2];
	uint32_t pace_now;
	struct ibport port[IBPORT_MAX];
	size_t n_ports;
	bool snmp_done;
	struct tcpwait_counts snmp;
	struct ruleread_tcp tcp[RULEGATHER_RANKS];
	bool has_error[RULEGATHER_RANKS];
	struct rank_error error[RULEGATHER_RANKS];
	size_t environ_len[RULEGATHER_RANKS];
	bool environ_read[RULEGATHER_RANKS];
	char nccl_version[16];
	bool done[RULEREAD_TASKS];
	uint64_t log_bytes;
	struct rule_match match[RULEREAD_MATCHES];
	char environ[RULEGATHER_RANKS][RULEREAD_ENVIRON]; /* pages that nobody writes to cost nothing */
};

struct rulegather {
	const struct world *w;
	const struct progress_patterns *progress; /* the user's; may be NULL */
	struct rulebook book;
	struct rulescan *scan;
	char ib_exclude[200];
	int64_t started_unix_ms, started_boot_ms; /* the same moment; 0, any: not known */
	struct cause_set kept; /* of logs and the kernel's log: these are read once */
	struct ruleread_log *log; /* RULEREAD_LOGS */
	size_t n_logs;
	struct ruleread_environ environ[RULEGATHER_RANKS];
	size_t n_environs;
	struct rankpace pace;
	bool has_trained; /* steps were seen to grow */
	struct ibport ports_before[IBPORT_MAX], ports[IBPORT_MAX];
	size_t n_ports_before, n_ports;
	bool has_ports_before, has_ports;
	bool has_snmp_before, has_snmp;
	struct tcpwait_counts snmp_before, snmp;
	struct ruleread_tcp tcp[RULEGATHER_RANKS]; /* by place in want */
	char nccl_version[16];
	struct gpuwatch *gpus;
	struct kmsg *kmsg; /* NULL: not to be had */
	int kmsg_result;
	bool first_namespace; /* our numbers of processes are the kernel's */
	struct ruleread_stuck stuck[RULEREAD_STUCK];
	struct ruleread_shared *shared; /* NULL when no child is at work */
	struct ruleread_run run;
	/* of the call in work */
	const struct rulegather_want *want;
	const struct stackdump *stacks;
	struct rulegather_result *ret; /* NULL: a baseline */
	uint64_t begin_ns;
	struct rulegather_want baseline;
	struct rulegather_rank baseline_rank;
	struct cause_set *into;
	enum { RULEGATHER_IN_PARENT, RULEGATHER_IN_CHILD } side;
	int64_t event_unix_ms; /* of what is being searched, where lines have no time; 0 */
	int result;
};

/* Everything that may keep its reader, until the deadline; what was not read is in ret->unavailable. */
void ruleread_begin(struct rulegather *g, uint64_t deadline_ns);
/* Ports and segment counters only. */
void ruleread_baseline(struct rulegather *g, uint64_t deadline_ns);
/* Without waiting. True: it is over. */
bool ruleread_step(struct rulegather *g);
/* Gives up what is not read yet. */
void ruleread_stop(struct rulegather *g);
/* In the child: keeps a match for the parent. */
void ruleread_match(struct rulegather *g, const struct rule_match *m);
void rulegather_unavailable(struct rulegather_result *r, const char *fmt, ...) printf_like(2, 3);
