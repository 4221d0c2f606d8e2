/*
 * The state that agent/rules/rulegather.c (prepares, matches, judges) and
 * agent/rules/rulegather_read.c (reads in child processes) share. No other file
 * includes it.
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
/* After this time without a sign of life a reader is given up. */
#define RULEREAD_STALL_NS (500 * NS_PER_MS)

/* Bytes of one log: its head and its end at the first reading, at most this much new text at later ones. */
#define RULEREAD_HEAD (1 * MIB)
#define RULEREAD_TAIL (4 * MIB)
#define RULEREAD_NEW (64 * MIB)

#define RULEREAD_ERRORS 8

struct ruleread_log {
	char path[512];
	char label[32]; /* "rank 3 stderr" */
	char label_later[48]; /* used where lines are not counted from the start */
	int32_t rank;
	bool wanted; /* in this call */
	bool known; /* the fields below are valid */
	uint64_t dev, ino, offset, size;
	uint64_t lines; /* before offset */
	bool skipped; /* a part of it was never read */
	bool has_nccl; /* NCCL wrote into it */
	int error; /* of the last try; 0 */
	bool names_ranks; /* some of its lines name their rank */
	struct lasterror last_error[RULEREAD_ERRORS]; /* of each rank that writes into it */
	size_t n_last_errors;
};

struct ruleread_environ {
	pid_t pid;
	bool tried;
	char *text; /* owned; NULL: could not be read */
	size_t len;
};

/* One source that can block its reader for ever. */
enum ruleread_kind { RULEREAD_ENVIRONS, RULEREAD_PORTS, RULEREAD_TCP, RULEREAD_LOG, RULEREAD_ERROR };
struct ruleread_task {
	enum ruleread_kind kind;
	uint32_t index; /* of the rank, or of the log */
};
#define RULEREAD_TASKS (RULEGATHER_RANKS * 5 + 1)

/* A reader that hangs, and its task. The task is tried again when that process is gone. */
struct ruleread_stuck {
	pid_t pid; /* 0: free */
	struct ruleread_task task;
	char what[160];
};
#define RULEREAD_STUCK 32

/* The tasks of a call, and the child that works on them. */
struct ruleread_run {
	struct ruleread_task task[RULEREAD_TASKS];
	uint32_t n, first; /* tasks before first are over */
	uint32_t end; /* the child's part: [first, end) */
	uint64_t deadline_ns;
	pid_t pid; /* 0: no child */
	uint64_t beat, beat_ns; /* its last count of beats, and when that was seen */
	bool busy;
};

struct ruleread_tcp {
	bool done;
	struct tcpwait wait[RULEREAD_WAITS];
	size_t n;
};

/* The child's results; those of a task are valid when its done flag is set. */
struct ruleread_shared {
	uint64_t beat; /* grows with each step of the child */
	uint32_t at; /* current task */
	uint32_t n_done_matches, n_dropped; /* of done tasks */
	bool over; /* the deadline came: tasks after `at` were not begun */
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
	char environ[RULEGATHER_RANKS][RULEREAD_ENVIRON]; /* pages that are never written use no memory */
};

struct rulegather {
	const struct world *w;
	const struct progress_patterns *progress; /* the user's; may be NULL */
	struct sharedbook *book; /* one for all jobs that are judged by the same rules */
	struct rulescan *scan;
	char ib_exclude[200];
	int64_t started_unix_ms, started_boot_ms; /* the same moment; 0, any: not known */
	struct cause_set kept; /* matches of logs and of the kernel's log, whose lines are read once only */
	struct ruleread_log *log; /* RULEREAD_LOGS */
	size_t n_logs;
	struct ruleread_environ environ[RULEGATHER_RANKS];
	size_t n_environs;
	struct rankpace pace;
	bool has_trained; /* the step of a rank has grown */
	struct ibport ports_before[IBPORT_MAX], ports[IBPORT_MAX];
	size_t n_ports_before, n_ports;
	bool has_ports_before, has_ports;
	bool has_snmp_before, has_snmp;
	struct tcpwait_counts snmp_before, snmp;
	struct ruleread_tcp *tcp; /* owned, n_tcp rows: by place in want */
	size_t n_tcp;
	char nccl_version[16];
	struct gpuwatch *gpus;
	struct kmsg *kmsg; /* NULL: not available */
	int kmsg_result;
	bool first_namespace; /* our pids are those of the kernel's log */
	struct ruleread_stuck stuck[RULEREAD_STUCK];
	struct ruleread_shared *shared; /* NULL: no child runs */
	struct ruleread_run run;
	/* of the current call */
	const struct rulegather_want *want;
	const struct stackdump *stacks;
	struct rulegather_result *ret; /* NULL: a baseline */
	uint64_t begin_ns;
	struct rulegather_want baseline;
	struct rulegather_rank baseline_rank;
	struct cause_set *into;
	enum { RULEGATHER_IN_PARENT, RULEGATHER_IN_CHILD } side;
	int64_t event_unix_ms; /* for lines without a time of their own; 0: none */
	int result;
};

/* Begins to read all sources that can block, until the deadline. Sources not read are added to ret->unavailable. */
void ruleread_begin(struct rulegather *g, uint64_t deadline_ns);
/* Begins to read the counters of ports and TCP segments only. */
void ruleread_baseline(struct rulegather *g, uint64_t deadline_ns);
/* Goes on without waiting. True: it is over. */
bool ruleread_step(struct rulegather *g);
/* Drops what is not read yet. */
void ruleread_stop(struct rulegather *g);
/* In the child: keeps a match for the parent. */
void ruleread_match(struct rulegather *g, const struct rule_match *m);
void rulegather_unavailable(struct rulegather_result *r, const char *fmt, ...) printf_like(2, 3);
