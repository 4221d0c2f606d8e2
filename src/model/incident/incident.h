/*
 * An incident: an event of a job that deserves a report. Plain data of fixed size without pointers, so that it can be
 * copied, kept in shared memory and filled without allocating. Its JSON form is "vigil.incident/1" (docs: man
 * vigil-why); fields that do not apply are empty here and absent there.
 *
 * Bytes are bytes, times are unix milliseconds. Text is UTF-8, cut to fit.
 */
#pragma once

#include <sys/types.h>

#include "base/base.h"
#include "sense/death/facts.h" /* enum killer, NO_RANK */

enum incident_kind {
	INCIDENT_NONE,
	INCIDENT_MEMORY_KILL,
	INCIDENT_KERNEL_OOM,
	INCIDENT_CGROUP_OOM,
	INCIDENT_SYSTEMD_OOMD,
	INCIDENT_OTHER_OOM_DAEMON,
	INCIDENT_KILLED_BY,
	INCIDENT_CRASH,
	INCIDENT_ERROR_EXIT,
	INCIDENT_GPU_OOM,
	INCIDENT_SHM_FULL,
	INCIDENT_HANG,
	INCIDENT_STRAGGLER,
	INCIDENT_SLOWDOWN,
	INCIDENT_PEER_LOST,
	INCIDENT_CLEAN_EXIT,
	INCIDENT_KIND_MAX,
};

enum confidence { CONFIDENCE_LOW, CONFIDENCE_MEDIUM, CONFIDENCE_HIGH };
enum incident_retry { RETRY_NONE, RETRY_RETRY, RETRY_GIVE_UP };
enum memory_scope { MEMORY_SCOPE_NONE, MEMORY_SCOPE_NODE, MEMORY_SCOPE_CONTAINER, MEMORY_SCOPE_JOB };

#define INCIDENT_TOP 10
#define INCIDENT_EVIDENCE 40
#define INCIDENT_ADVICE 8
#define INCIDENT_CANDIDATES 16
#define INCIDENT_HISTORY 60
#define INCIDENT_GROWERS 5
#define INCIDENT_CULPRITS 64
#define INCIDENT_SHM 8

struct incident_evidence {
	char kind[24]; /* "kmsg", "cgroup", "journal", "signal", "wait_status", "log", "ledger", "not_read" … */
	char text[360];
	char source[96]; /* file or interface that was read */
	int64_t time_unix_ms; /* 0: unknown */
};

struct incident_process {
	pid_t pid;
	int32_t rank; /* NO_RANK */
	char role[16];
	uint64_t own_bytes, rss_bytes, shared_bytes, swap_bytes;
	bool has_pss, pss_sampled; /* pss_sampled: exact to a twentieth of rss_bytes */
	/* pss_bytes: its share of what it maps; private_bytes: pages that only it maps (USS) */
	uint64_t pss_bytes, private_bytes;
	uint32_t pss_age_ms; /* before the incident; 0: read at it or after it */
	uint64_t start_unix_ms;
	char command[200];
};

struct incident_candidate {
	char name[64];
	pid_t pid;
	int32_t rank;
	uint32_t processes;
	uint64_t own_bytes;
	int64_t growth_bytes_per_s;
	bool chosen;
	bool retriable;
	char why[160]; /* reason for its place in the order */
};

struct incident_shm {
	char path[128];
	uint64_t bytes;
	char owners[96];
	bool orphan;
	bool freed; /* removed together with its owners */
	bool left; /* the job's, and still there: ending it has not freed this memory */
};

struct incident_sample {
	uint32_t age_ms; /* before the incident */
	uint64_t used_bytes, job_bytes;
};

struct incident_grower {
	pid_t pid;
	int32_t rank; /* NO_RANK */
	char role[16];
	char name[64];
	uint64_t own_bytes;
	int64_t growth_bytes_per_s; /* grown_bytes over over_ms */
	uint64_t grown_bytes, over_ms; /* over_ms 0: unknown */
};

/* How a job ended after a hang that nothing resolved. */
struct incident_end {
	char text[560]; /* whole sentences; empty: it has not ended, or nothing is known */
	char incident[64]; /* the report of the end; empty: none */
	int64_t time_unix_ms; /* 0: unknown */
};

struct incident {
	char id[64], job[64], node[80], node_ip[48];
	uint32_t attempt;
	enum incident_kind kind;
	bool hang_over; /* the hang ended by itself; in JSON "hang".resolved */
	uint64_t stood_ms; /* a hang: for how long before time_unix_ms; 0: unknown; in JSON "hang".standstill_ms */
	int64_t time_unix_ms;
	char summary[400];
	struct {
		char id[48];
		enum confidence confidence;
		char text[1024];
		char advice[INCIDENT_ADVICE][320];
		size_t n_advice;
	} cause;
	int32_t culprit_ranks[INCIDENT_CULPRITS];
	size_t n_culprits;
	struct {
		bool valid;
		pid_t pid;
		int32_t rank;
		char name[64];
		char command[200];
		bool has_memory;
		uint64_t own_bytes, rss_bytes, shared_bytes, swap_bytes;
		bool has_exit_code;
		int32_t exit_code;
		int32_t signal; /* 0: none */
		/* of a Ray worker, as Ray names it; "": it is none, or not known */
		char ray_worker_id[64], ray_job_id[16];
		char ray_logs[256]; /* folder of the session's logs */
	} victim;
	/* Ray has submitted the victim's task or call again. */
	struct {
		bool valid;
		char task_id[64];
		uint64_t attempt; /* of the new try, from 0 */
		bool has_left;
		int64_t left; /* retries left; -1: without end */
	} ray_retry;
	enum killer killer;
	char killer_text[160]; /* the killer in words: "bash, pid 812, uid 1000" */
	struct {
		bool valid;
		uint64_t used_bytes, total_bytes, available_bytes, kernel_used_bytes, reclaimable_bytes;
		uint64_t swap_total_bytes, swap_free_bytes, shm_bytes;
		uint64_t job_bytes; /* memory of the whole job, shared memory and kernel memory included; 0: unknown */
		double ratio, threshold_ratio;
		enum memory_scope scope;
		char level[200]; /* name of the group or machine that ran out */
		char threshold[200]; /* how the threshold was chosen */
		bool has_rate;
		int64_t growth_bytes_per_s;
		uint64_t growth_over_ms; /* the time it is measured over; 0: unknown */
		uint64_t shm_left_bytes; /* sum of shm[] that are left */
		uint64_t time_to_limit_ms; /* UINT64_MAX: not growing */
	} memory;
	struct {
		char name[24];
		char reason[320];
		char next[160]; /* the next victim */
	} policy;
	struct {
		bool valid;
		uint32_t attempt, max;
		enum incident_retry next;
		uint64_t delay_ms;
		char reason[320];
	} retry;
	struct {
		bool valid;
		uint64_t freed_bytes;
		uint64_t notice_us; /* from the read that found the crossing to the first signal or freeze */
		uint64_t freeze_us, kill_us, dead_us, freed_us; /* from the read that found the crossing */
		uint32_t processes_ended;
		uint32_t reaped; /* number of successful process_mrelease calls */
		char method[120]; /* "cgroup.freeze + cgroup.kill + process_mrelease" */
	} action;
	struct incident_process top[INCIDENT_TOP];
	size_t n_top;
	struct incident_candidate candidates[INCIDENT_CANDIDATES];
	size_t n_candidates;
	size_t n_candidates_all;
	struct incident_sample history[INCIDENT_HISTORY]; /* oldest first */
	size_t n_history;
	struct incident_grower growers[INCIDENT_GROWERS]; /* who grew most first */
	size_t n_growers;
	struct incident_shm shm[INCIDENT_SHM];
	size_t n_shm;
	struct incident_evidence evidence[INCIDENT_EVIDENCE];
	size_t n_evidence;
	size_t n_evidence_dropped;
	char log_dir[256];
	struct incident_end ended; /* set by `vigil why` for a hang that nothing resolved; not stored */
};

const char *incident_kind_name(enum incident_kind k); /* "memory_kill" */
enum incident_kind incident_kind_of(const char *name); /* INCIDENT_NONE if unknown */
bool incident_asked(const char *cause_id); /* the end was asked for: Ctrl-C, a stop of vigil, or the page */
const char *killer_name(enum killer k);
enum killer killer_of(const char *name); /* KILLER_UNKNOWN if unknown */
const char *confidence_name(enum confidence c);
const char *retry_name(enum incident_retry r);
const char *memory_scope_name(enum memory_scope s); /* NULL for none */

/* Appends; counts what does not fit in n_evidence_dropped. */
void incident_evidence_add(struct incident *i, const char *kind, const char *source, int64_t time_unix_ms,
			   const char *fmt, ...) printf_like(5, 6);
void incident_advice_add(struct incident *i, const char *fmt, ...) printf_like(2, 3);
/* Hides secrets in all texts that come from a job: quoted lines, command lines (base/mask). */
void incident_mask(struct incident *i);
/*
 * Advice is written before its job has a name: puts the name of i->job ("last" if it has none) where a command of vigil
 * has the word JOB: "vigil show JOB". Nothing of the kind may reach a report.
 */
void incident_advice_name_job(struct incident *i);
