/*
 * Asks the cause book about a job that seems to hang: gathers the lines of all
 * its sources (logs of the ranks, the kernel's log since the job's start,
 * stacks, environments, counters), has them searched and weighed, and compares
 * the ranks with each other: environments, positions, last errors.
 *
 * Never takes longer than the budget, whatever it reads. Logs, environments
 * and the counters of network adapters can keep their reader for ever (a dead
 * NFS server, a process whose memory map is locked, an adapter without
 * answer), so a short-lived child reads them; when one of them does not answer
 * for half a second, that child is given up and another goes on with the rest.
 * What was given up is not tried again while the old reader hangs in it.
 *
 * Of a log all is read once: first its head and its end, later what is new;
 * of a flood only the end. A log that was replaced or has shrunk is read from
 * its start. One that grows while it is read is no trouble.
 *
 * One for each attempt of a job, used by one thread. Forks; its children are
 * reaped by pid. Times: nanoseconds of the world's clock, unix milliseconds.
 */
#pragma once

#include "base/fault.h"
#include "model/cause.h"
#include "model/rankenv.h"
#include "model/rankpace.h"
#include "model/stackdump.h"
#include "sense/gpu/gpu.h"
#include "sense/world.h"

#define CAUSEGATHER_RANKS 128
#define CAUSEGATHER_BUDGET_NS (3 * NS_PER_S)

struct causegather;

struct causegather_rank {
	pid_t pid; /* its main process; 0 when it has ended */
	int32_t rank;
	bool ended;
	int32_t exit_code; /* of an ended one: as a shell says it */
	const char *out, *err; /* its kept output; NULL: none, or the same file as another's */
};

struct causegather_want {
	const struct causegather_rank *ranks;
	size_t n_ranks; /* more than CAUSEGATHER_RANKS are left out */
	const struct stackdump *stacks; /* NULL: none were taken */
	/* Every process of the job: what the kernel's log says of others is theirs. NULL: those of ranks and stacks. */
	const pid_t *pids;
	size_t n_pids;
	/* What is known beside: "save_without_io", "multi_node", … (docs/formats/rules.md). */
	const struct cause_fact *facts;
	size_t n_facts;
	uint64_t budget_ns; /* 0: CAUSEGATHER_BUDGET_NS */
};

#define CAUSEGATHER_BLIND 16

/* Large: not for a stack. */
struct causegather_result {
	struct cause_verdict verdict; /* valid false: nothing was found that could be a cause */
	struct rankenv env;
	struct rankpace_finding pace;
	char error[400]; /* "rank_error 1 ranks=3: …"; "" */
	char blind[CAUSEGATHER_BLIND][200]; /* what could not be looked at, and why */
	size_t n_blind;
	uint64_t log_bytes; /* read in this call */
	uint64_t n_matches; /* of all sources, as far as they count */
	uint64_t took_ns;
};

/*
 * started_unix_ms: of the attempt; 0 unknown. rules: the user's files with ','
 * between, NULL none. ib_exclude: adapters that are not to be read ("mlx5_3,
 * mlx5_bond*"), NULL none. -errno with a sentence in f: the rules are wrong or
 * not there.
 */
int must_check causegather_new(const struct world *w, const char *rules, const char *ib_exclude,
			       int64_t started_unix_ms, struct causegather **ret, struct fault *f);
struct causegather *causegather_free(struct causegather *g);
static inline void causegather_freep(struct causegather **g)
{
	*g = causegather_free(*g);
}
/* At the job's start, or as soon as it is watched: counters are worth something only against earlier ones. */
void causegather_baseline(struct causegather *g, pid_t pid);
/* Each sample of the devices, whenever there is one. */
void causegather_gpus(struct causegather *g, const struct gpu_set *set);
/* Negative only without memory. */
int must_check causegather_take(struct causegather *g, const struct causegather_want *want,
				struct causegather_result *ret);
