/*
 * What `vigil mem` shows: the memory at every level, the processes that hold it, and the shared memory with its
 * holders. Plain data, filled by agent/memory, shown by tell/memory/memory_show ("vigil.memory/1"). Bytes throughout.
 *
 * own: what the kernel gets back when the process ends: its private pages, of those that it shares with forks its part
 * (so that the forks' own bytes add up to what they hold together); resident less shared where that could not be read.
 * Files and shared memory stay for the other processes, or in /dev/shm without any.
 */
#pragma once

#include <sys/types.h>

#include "base/base.h"
#include "model/memory/ledger.h"
#include "model/jobs/role.h"

enum footprint_pss { PSS_NOT_ASKED, PSS_KNOWN, PSS_LATE, PSS_DENIED };

struct footprint_row {
	pid_t pid, ppid;
	uint64_t start_ticks;
	struct role_info who;
	bool has_role;
	char job[64];
	char comm[32];
	char command[512];
	uint64_t own_bytes, rss_bytes, shared_bytes, swap_bytes;
	uint64_t shmem_bytes; /* the part of shared_bytes that is not a file on a disk */
	enum footprint_pss pss;
	uint64_t pss_bytes;
	bool has_gpu;
	uint64_t gpu_bytes; /* sum over all devices */
};

/* A job with processes on this machine. */
struct footprint_job {
	char id[64];
	size_t processes;
	uint64_t own_bytes, swap_bytes;
	uint64_t shmem_bytes; /* shared memory: the largest value of its processes */
	uint64_t limit_bytes; /* --memory-limit; 0: none or unknown */
};
#define FOOTPRINT_JOBS 64 /* further jobs are not listed separately */

#define FOOTPRINT_OWNERS 16
struct footprint_shm {
	char path[224];
	const char *kind; /* static */
	const char *maker; /* static; NULL: unknown */
	bool has_bytes;
	uint64_t bytes, mapped_bytes;
	bool has_uid;
	uid_t uid;
	char user[48];
	int64_t since_unix_ms;
	pid_t maker_pid;
	bool maker_gone, orphan;
	pid_t owners[FOOTPRINT_OWNERS];
	size_t n_owners; /* may exceed FOOTPRINT_OWNERS */
};

/* What holds memory of a Ray node: one of Ray's own programs, or the workers of one name. */
struct raynode_part {
	const char *kind; /* static: "raylet" "gcs_server" "dashboard" "agent" "monitor" "worker" "other" */
	char name[96]; /* of workers "Learner.learn", "IDLE"; of the others the program */
	size_t processes;
	uint64_t own_bytes, rss_bytes, swap_bytes;
};
#define RAYNODE_PARTS 48 /* workers of further names are added up as "(others)" */

struct raynode {
	pid_t raylet;
	char session[64]; /* "session_2026-11-24_12-30-05_797565_3536" */
	char id[80]; /* Ray's node id; "": unknown */
	char address[64]; /* of the node; "": unknown */
	struct raynode_part part[RAYNODE_PARTS]; /* largest first */
	size_t n_parts;
	bool has_store; /* the raylet's piece of shared memory was found */
	uint64_t store_bytes; /* of the object store, taken up */
	uint64_t store_limit_bytes; /* 0: unknown */
	bool has_spilled;
	char spill_folder[320]; /* "": unknown */
	uint64_t spilled_bytes; /* in files of that folder */
	size_t spilled_files;
	bool spill_cut; /* there are more files than were looked at */
};
#define FOOTPRINT_RAYS 4 /* further nodes on one machine are not listed */

/* How long work waited for something: parts of the last ten seconds. */
struct footprint_pressure {
	bool known; /* the kernel measures it */
	bool has_full;
	double some_ratio, full_ratio; /* any work waited; all of it */
};
enum footprint_stall { STALL_CPU, STALL_MEMORY, STALL_IO, STALLS };

struct footprint {
	char node[80];
	struct footprint_pressure pressure[STALLS]; /* of the whole node only */
	char head_of[96]; /* "Ray", "job train-3f2a": of what this is the head node; empty: of nothing */
	char subject[160]; /* "job train-3f2a", "process 812 and its descendants"; empty: the whole node */
	struct ledger ledger;
	char level_name[LEDGER_MAX_LEVELS][256];
	bool has_shm;
	uint64_t shm_bytes, shm_total_bytes, shm_free_bytes;
	struct footprint_row *rows; /* largest own bytes first; owned */
	size_t n, n_all; /* rows shown, rows found */
	uint64_t own_bytes, rss_bytes, swap_bytes; /* sums over all rows found */
	struct footprint_job job[FOOTPRINT_JOBS]; /* largest first */
	size_t n_jobs;
	size_t n_denied; /* processes with an environment that we may not read */
	struct footprint_shm *shm; /* largest first; owned */
	size_t n_shm, n_shm_all;
	uint64_t orphan_bytes; /* sum over the whole node */
	size_t n_orphans;
	size_t owners_denied, owners_unscanned; /* processes with unread maps */
	bool owners_hidden;
	size_t pss_late;
	struct raynode *ray; /* n_rays of them; owned */
	size_t n_rays;
};

void footprint_done(struct footprint *f);
/*
 * Sets head_of: Ray's global store runs here, or rank 0 of a job that has ranks elsewhere, too. All rows of the node
 * and its Ray nodes are needed.
 */
void footprint_head(struct footprint *f);
/* Sorts rows by own bytes, largest first, and sums them up, in total and by job. */
void footprint_settle(struct footprint *f);
