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
 * Nobody waits for the readers: whoever asks comes again until all is read.
 *
 *     rulegather_begin(g, &want, &result);
 *     while (!rulegather_step(g))
 *             do something else for a moment
 *     rulegather_finish(g, stacks);
 *
 * One for each attempt of a job, used by one thread. Forks; its children are
 * reaped by pid. Times: nanoseconds of the world's clock, unix milliseconds.
 */
#pragma once

#include "base/fault.h"
#include "model/rules/cause.h"
#include "model/jobs/rankenv.h"
#include "model/hang/rankpace.h"
#include "model/stacks/stackdump.h"
#include "sense/death/facts.h" /* struct rank_error */
#include "sense/gpu/gpu.h"
#include "sense/world.h"

#define RULEGATHER_RANKS 128
#define RULEGATHER_BUDGET_NS (3 * NS_PER_S)

struct rulegather;

struct rulegather_rank {
	pid_t pid; /* its main process; 0 when it has ended */
	int32_t rank;
	bool ended, has_exit_code;
	bool numbered; /* it has its number from the program itself, not by variables */
	int32_t exit_code; /* of an ended one: as a shell says it */
	const char *out, *err; /* its kept output; NULL: none, or the same file as another's */
	const char *error_file; /* sense/framework/errorfile; NULL: none */
};

struct rulegather_want {
	const struct rulegather_rank *ranks;
	size_t n_ranks; /* more than RULEGATHER_RANKS are left out */
	/* Is or was it the job's? What the kernel's log says of others is theirs. NULL: those of ranks and stacks. */
	bool (*knows)(const void *data, pid_t pid);
	const void *knows_data;
	/* What is known beside: "save_without_io", "multi_node", … (docs/formats/rules.md). */
	const struct cause_fact *facts;
	size_t n_facts;
	uint64_t budget_ns; /* 0: RULEGATHER_BUDGET_NS */
};

#define RULEGATHER_UNAVAILABLE 16

/* Large: not for a stack. */
struct rulegather_result {
	struct cause_verdict verdict; /* valid false: nothing was found that could be a cause */
	struct rankenv env;
	struct rankpace_finding pace;
	char error[400]; /* "rank_error 1 ranks=3: …"; "" */
	/* an output that several ranks share ends with an error of which its lines do not say whose it is; "" */
	char nobodys_error[200], nobodys_source[32];
	struct rank_error errors[RULEGATHER_RANKS]; /* what the error files say */
	size_t n_errors;
	char unavailable[RULEGATHER_UNAVAILABLE][200]; /* what could not be looked at, and why */
	size_t n_unavailable;
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
int must_check rulegather_new(const struct world *w, const char *rules, const char *ib_exclude, int64_t started_unix_ms,
			      struct rulegather **ret, struct fault *f);
/* The user's patterns of progress, by which positions of ranks are read as well. Borrowed. */
void rulegather_progress(struct rulegather *g, const struct progress_patterns *user);
struct rulegather *rulegather_free(struct rulegather *g);
static inline void rulegather_freep(struct rulegather **g)
{
	*g = rulegather_free(*g);
}
/*
 * At the job's start, or as soon as it is watched: counters are worth something only against earlier ones. Begins;
 * rulegather_step does it.
 */
void rulegather_baseline(struct rulegather *g, pid_t pid);
/* Each sample of the devices that the job uses, whenever there is one. */
void rulegather_gpus(struct rulegather *g, const struct gpu_set *set);
/* want, what it points to, and ret are borrowed until rulegather_finish. An unfinished baseline is given up. */
void rulegather_begin(struct rulegather *g, const struct rulegather_want *want, struct rulegather_result *ret);
/* The next part of what was begun, without waiting. True: all is read, or given up. */
bool rulegather_step(struct rulegather *g);
/* Searches and weighs what was read, and the stacks (NULL: none were taken). Negative only without memory. */
int must_check rulegather_finish(struct rulegather *g, const struct stackdump *stacks);
