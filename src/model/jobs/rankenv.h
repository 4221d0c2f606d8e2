/*
 * What the environments of a job's ranks say about the job, and where they
 * contradict each other: a rank that is missing, given twice or out of range,
 * ranks that disagree about how many they are, where they meet or how NCCL is
 * set, ranks that were never started. Each of these makes a job wait for ever
 * before its first step. Ranks are numbered by torchrun's variables, Open
 * MPI's, PMIx's, PMI's, Horovod's, Slurm's or Ascend's, in this order.
 *
 * Only what stood in the environment at exec is seen. What a program sets for
 * itself is not, so that a variable which all ranks lack is no finding.
 *
 * Pure; spans are borrowed, the result holds copies. What does not fit is
 * counted.
 */
#pragma once

#include <sys/types.h>

#include "base/text.h"
#include "sense/rank.h"

#define RANKENV_RANKS 64
#define RANKENV_FINDINGS 24
#define RANKENV_MEMBERS 128 /* more processes are counted only */

/* The main process of a rank, not its workers. */
struct rankenv_process {
	pid_t pid;
	struct span environ; /* NUL-separated; empty: it could not be read, or the process has ended */
	int32_t known_rank; /* from elsewhere; NO_RANK. With an empty environ it says who was there */
	bool numbered; /* by the program itself: what its variables lack it has set where it cannot be seen */
};

enum rankenv_kind {
	RANKENV_RANK_MISSING, /* others have a rank, these have none */
	RANKENV_RANK_TWICE,
	RANKENV_RANK_RANGE, /* not below the number of ranks */
	RANKENV_WORLD_DIFFERS,
	RANKENV_MASTER_MISSING, /* others have it */
	RANKENV_MASTER_DIFFERS,
	RANKENV_NOT_STARTED,
	RANKENV_NCCL_DIFFERS,
	RANKENV_KINDS,
};

struct rankenv_finding {
	enum rankenv_kind kind;
	char variable[48];
	int32_t ranks[RANKENV_RANKS]; /* whom it is about: the doubled, the missing, the smaller part */
	size_t n_ranks;
	pid_t pids[8];
	size_t n_pids;
	char text[200]; /* "8 on ranks 0 1 3, 4 on rank 2" */
};

struct rankenv {
	struct rankenv_finding finding[RANKENV_FINDINGS];
	size_t n_findings, n_dropped;
	size_t n_processes, n_unreadable, n_ranked;
	uint32_t world_size; /* what most ranks say; 0 unknown */
	bool multi_node; /* there are ranks that cannot be on this machine */
	char nccl_debug[16]; /* the most talkative rank's; "" unset */
	bool nccl_debug_file; /* NCCL writes elsewhere on some rank */
	char ib_timeout[16], ib_retries[16]; /* NCCL_IB_TIMEOUT, NCCL_IB_RETRY_CNT; "" unset */
};

void rankenv_compare(const struct rankenv_process *p, size_t n, struct rankenv *ret);
/* Does anything but NCCL's settings contradict? */
bool rankenv_contradicts(const struct rankenv *e);
/* The line of a finding for the cause book's source env (docs/formats/rules.md), without newline. */
void rankenv_line(const struct rankenv_finding *f, char *dst, size_t cap);

typedef void rankenv_line_fn(void *data, const char *line);
/*
 * All lines for the book: the findings, then each setting of NCCL, PyTorch,
 * gloo and OpenMP once for each value, then "NCCL_DEBUG unset" where no rank
 * has it. At most 256 lines.
 */
void rankenv_lines(const struct rankenv_process *p, size_t n, const struct rankenv *e, rankenv_line_fn *fn, void *data);
