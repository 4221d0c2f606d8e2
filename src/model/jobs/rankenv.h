/*
 * What the environments of a job's ranks say about the job, and where they contradict each other: a rank that is
 * missing, given twice or out of range; ranks that disagree about the number of ranks, the meeting address or NCCL's
 * settings; ranks that were never started. Each of these makes a job wait forever before its first step. Ranks are
 * numbered by the variables of torchrun, Open MPI, PMIx, PMI, Horovod, Slurm or Ascend, in this order.
 *
 * Only the environment at exec is visible. Variables that a program sets for itself are not, so a variable that all
 * ranks lack is no finding.
 *
 * Pure; spans are borrowed, the result holds copies. What does not fit is counted.
 */
#pragma once

#include <sys/types.h>

#include "base/text.h"
#include "sense/rank.h"

#define RANKENV_RANKS 64
#define RANKENV_FINDINGS 24
#define RANKENV_MEMBERS 128 /* further processes are counted but not compared */

/* The main process of a rank, not its workers. */
struct rankenv_process {
	pid_t pid;
	struct span environ; /* NUL-separated; empty: unreadable, or the process has ended */
	int32_t known_rank; /* known from another source, also when environ is empty; NO_RANK: unknown */
	bool numbered; /* the program numbered it: variables missing at exec may have been set later */
};

enum rankenv_kind {
	RANKENV_RANK_MISSING, /* other processes have a rank, these have none */
	RANKENV_RANK_TWICE,
	RANKENV_RANK_RANGE, /* not below the number of ranks */
	RANKENV_WORLD_DIFFERS,
	RANKENV_MASTER_MISSING, /* set on other ranks only */
	RANKENV_MASTER_DIFFERS,
	RANKENV_NOT_STARTED,
	RANKENV_NCCL_DIFFERS,
	RANKENV_KINDS,
};

struct rankenv_finding {
	enum rankenv_kind kind;
	char variable[48];
	int32_t ranks[RANKENV_RANKS]; /* ranks concerned: the doubled, the missing, or the minority */
	size_t n_ranks;
	pid_t pids[8];
	size_t n_pids;
	char text[200]; /* "8 on ranks 0 1 3, 4 on rank 2" */
};

struct rankenv {
	struct rankenv_finding finding[RANKENV_FINDINGS];
	size_t n_findings, n_dropped;
	size_t n_processes, n_unreadable, n_ranked;
	uint32_t world_size; /* the value that most ranks have; 0: unknown */
	bool multi_node; /* some ranks run on other machines */
	char nccl_debug[16]; /* the most verbose value of all ranks; "": unset */
	bool nccl_debug_file; /* NCCL_DEBUG_FILE is set on some rank */
	char ib_timeout[16], ib_retries[16]; /* NCCL_IB_TIMEOUT, NCCL_IB_RETRY_CNT; "": unset */
};

void rankenv_compare(const struct rankenv_process *p, size_t n, struct rankenv *ret);
/* True if a finding other than a difference in NCCL's settings exists. */
bool rankenv_contradicts(const struct rankenv *e);
/* One finding as a line of the rule book's source `env` (docs/formats/rules.md), without newline. */
void rankenv_line(const struct rankenv_finding *f, char *dst, size_t cap);

typedef void rankenv_line_fn(void *data, const char *line);
/*
 * All lines for the rule book: the findings, then each setting of NCCL, PyTorch, gloo and OpenMP once for each value,
 * then "NCCL_DEBUG unset" if no rank sets it. At most 256 lines.
 */
void rankenv_lines(const struct rankenv_process *p, size_t n, const struct rankenv *e, rankenv_line_fn *fn, void *data);
