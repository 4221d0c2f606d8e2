/*
 * Gathers the facts of a death: the kernel's log since the job's start, OOM
 * counters then and now, the journal, the last lines of the process's output,
 * /dev/shm, the core pattern. Judges nothing (judge/death/postmortem does).
 *
 * Made when the job starts, because counters and the place in the kernel's
 * log are worth something only against those of the start. deathfacts_read never
 * takes longer than DEATHFACTS_MS: what may wait for a disk (journal, logs) is
 * read by a short-lived child process that is left behind when it hangs, and
 * then listed as not read. That child also keeps libsystemd and its mappings
 * out of this process.
 */
#pragma once

#include "judge/death/postmortem.h"
#include "sense/memory/cgroup.h"
#include "sense/world.h"

#define DEATHFACTS_MS 800

struct deathfacts;

/*
 * place: of the job's group, opened with its ancestors now; NULL: no counters.
 * The world is borrowed. NULL only on lack of memory; sources that are closed
 * to us are noted and told by each death.
 */
struct deathfacts *deathfacts_new(const struct world *w, const struct cgroup_place *place);
struct deathfacts *deathfacts_free(struct deathfacts *g);
static inline void deathfacts_freep(struct deathfacts **g)
{
	deathfacts_free(*g);
}

/* A signal that sigwatch saw; kept until others push it out. */
void deathfacts_signal(struct deathfacts *g, const struct signal_sent *s);
/* Why signals are not seen, "needs CAP_BPF and CAP_PERFMON"; NULL: they are. Until this is called they are not. */
void deathfacts_signals_unavailable(struct deathfacts *g, const char *why);

struct deathfacts_logs {
	const char *out, *err; /* paths of the kept output; NULL: none */
	const char *rules; /* the user's files of rules, with ',' between; NULL: only vigil's */
	const char *error_dir; /* where ranks write their error files; NULL: nowhere */
	uint32_t n_ranks; /* and how many they are */
};

/*
 * d comes with everything about the process itself (who, how, when, stopping)
 * and goes with everything around it. Its arrays are owned by g and good
 * until the next call or deathfacts_free.
 */
void deathfacts_read(struct deathfacts *g, const struct deathfacts_logs *logs, struct death *d);
