/*
 * Applies the rule book to a job that seems to hang: gathers the lines of all
 * sources (logs of the ranks, the kernel's log since the job's start, stacks,
 * environments, counters), matches them against the rules, weighs the matches,
 * and compares the ranks' environments, positions and last errors.
 *
 * A call never takes longer than its budget. Logs, environments and the
 * counters of network adapters can block their reader for ever (a dead NFS
 * server, a process whose memory map is locked, an adapter that does not
 * answer), so a short-lived child process reads them. A source that does not
 * answer for half a second is given up with its child; another child reads
 * the rest. A source is not tried again while a former reader hangs in it.
 *
 * The first reading of a log takes its head and its end, later readings what
 * is new; of more than 64 MiB only the end. A log that was replaced or has
 * shrunk is read from its start. A log may grow while it is read.
 *
 * No call waits for the readers; the caller repeats rulegather_step:
 *
 *     rulegather_begin(g, &want, &result);
 *     while (!rulegather_step(g))
 *             do something else for a moment
 *     rulegather_finish(g, stacks);
 *
 * There is one rulegather for each attempt of a job, used by one thread. Its
 * children are reaped by pid. Times are nanoseconds of the world's clock, or
 * unix milliseconds.
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
	pid_t pid; /* main process; 0: it has ended */
	int32_t rank;
	bool ended, has_exit_code;
	bool numbered; /* the rank's number was given by the program, not by environment variables */
	int32_t exit_code; /* where ended: as a shell shows it, 128 + signal */
	const char *out, *err; /* paths of its kept output; NULL: none, or the same file as another rank's */
	const char *error_file; /* sense/framework/errorfile; NULL: none */
};

struct rulegather_want {
	const struct rulegather_rank *ranks;
	size_t n_ranks; /* those beyond RULEGATHER_RANKS are ignored */
	/*
	 * True if the process is or was the job's: kernel records of other processes are not counted. NULL: only the
	 * processes of ranks and stacks are the job's.
	 */
	bool (*knows)(const void *data, pid_t pid);
	const void *knows_data;
	/* Facts known by other means: "save_without_io", "multi_node", … (docs/formats/rules.md). */
	const struct cause_fact *facts;
	size_t n_facts;
	uint64_t budget_ns; /* 0: RULEGATHER_BUDGET_NS */
};

#define RULEGATHER_UNAVAILABLE 16

/* Too large for the stack. */
struct rulegather_result {
	struct cause_verdict verdict; /* valid false: no match could be a cause */
	struct rankenv env;
	struct rankpace_finding pace;
	char error[400]; /* "rank_error 1 ranks=3: …"; "" */
	/* the error that ends an output shared by several ranks, where no line names its rank, and its log; "" */
	char nobodys_error[200], nobodys_source[32];
	struct rank_error errors[RULEGATHER_RANKS]; /* read from the error files */
	size_t n_errors;
	char unavailable[RULEGATHER_UNAVAILABLE][200]; /* what could not be read, and why */
	size_t n_unavailable;
	uint64_t log_bytes; /* read in this call */
	uint64_t n_matches; /* matches of all sources that count */
	uint64_t took_ns;
};

/*
 * started_unix_ms: start of the attempt; 0: unknown. rules: the user's files
 * with ',' between; NULL: none. ib_exclude: adapters that must not be read
 * ("mlx5_3,mlx5_bond*"); NULL: none. -errno with a sentence in f: the rules
 * are wrong or missing.
 */
int must_check rulegather_new(const struct world *w, const char *rules, const char *ib_exclude, int64_t started_unix_ms,
			      struct rulegather **ret, struct fault *f);
/* The user's patterns of progress lines, used beside the known forms to find positions of ranks. Borrowed. */
void rulegather_progress(struct rulegather *g, const struct progress_patterns *user);
struct rulegather *rulegather_free(struct rulegather *g);
static inline void rulegather_freep(struct rulegather **g)
{
	*g = rulegather_free(*g);
}
/*
 * Begins the first reading of the counters, with which later ones are compared; rulegather_step does it. Call it at the
 * job's start, or as soon as the job is watched.
 */
void rulegather_baseline(struct rulegather *g, pid_t pid);
/* Takes a sample of the devices that the job uses; call it for each one. */
void rulegather_gpus(struct rulegather *g, const struct gpu_set *set);
/* want, what it points to, and ret are borrowed until rulegather_finish. An unfinished baseline is dropped. */
void rulegather_begin(struct rulegather *g, const struct rulegather_want *want, struct rulegather_result *ret);
/* Ends what was begun and not finished; want and ret are not used any more. */
void rulegather_drop(struct rulegather *g);
/* Does the next part of what was begun, without waiting. True: all sources are read or given up. */
bool rulegather_step(struct rulegather *g);
/* A child process reads for it, or has read and was not taken in yet. */
bool rulegather_reads(const struct rulegather *g);
/* Matches and weighs what was read and the stacks (NULL: none were taken). -ENOMEM is the only error. */
int must_check rulegather_finish(struct rulegather *g, const struct stackdump *stacks);
