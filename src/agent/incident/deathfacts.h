/*
 * Collects the facts of a death: the kernel's log since the job's start, OOM counters then and now, the journal, the
 * last lines of the process's output, /dev/shm, the core pattern. Judges nothing (judge/death/postmortem does).
 *
 * It is made when the job starts, because counters and the position in the kernel's log mean something only compared
 * with the start. deathfacts_read never takes longer than DEATHFACTS_MS: what may block on a disk (journal, logs) is
 * read by a short-lived child process, which is left behind if it hangs, and is then listed as not read. That child
 * also keeps libsystemd and its mappings out of this process.
 */
#pragma once

#include "judge/death/postmortem.h"
#include "sense/memory/cgroup.h"
#include "sense/death/streamorder.h"
#include "sense/proc/proc.h"
#include "sense/world.h"

#define DEATHFACTS_MS 800

struct deathfacts;

/*
 * place: the job's group; it and its ancestors are opened now. NULL: no counters. The world is borrowed. NULL only
 * without memory; sources that may not be read are noted, and listed with each death.
 */
struct deathfacts *deathfacts_new(const struct world *w, const struct cgroup_place *place);
struct deathfacts *deathfacts_free(struct deathfacts *g);
static inline void deathfacts_freep(struct deathfacts **g)
{
	deathfacts_free(*g);
}

/*
 * Note a signal or the end of a process seen by sigwatch. They are kept as long as the job lives; of too many the
 * oldest goes, of ends one with exit status 0 first.
 */
void deathfacts_signal(struct deathfacts *g, const struct signal_sent *s);
/*
 * Note a signal that was sent from vigil's page, which names process and sender: the same one that was seen is marked
 * as such. Where signals are watched and it was not seen it was never sent, and nothing is noted.
 */
void deathfacts_page_signal(struct deathfacts *g, const struct signal_sent *s);
void deathfacts_end(struct deathfacts *g, const struct process_end *e);
/*
 * The signals that were noted, oldest first, one a call; *at: 0 at the first call, then as it was left. NULL: no
 * further one yet. Borrowed until the next note.
 */
const struct signal_sent *deathfacts_signal_next(const struct deathfacts *g, uint64_t *at);
struct deathfacts_span {
	int64_t from_unix_ms, to_unix_ms;
};
/*
 * The last child of a process that a signal ended or that failed, and the signal as it was sent; NULL: none was seen.
 * With parent 0 any process of the job that ended in the span of time; one that failed must have lived for a while, as
 * short commands fail now and then. Borrowed until the next note.
 */
const struct process_end *deathfacts_bad_end(const struct deathfacts *g, pid_t parent, struct deathfacts_span when,
					     const struct signal_sent **ret_signal);
/* When a process ended, as far as ends are watched; 0: not known. */
int64_t deathfacts_ended_unix_ms(const struct deathfacts *g, const struct proc_id *who);
/* One of two processes was seen to end before the other; false also where an end was not seen. */
bool deathfacts_ended_before(const struct deathfacts *g, const struct proc_id *one, const struct proc_id *other);
/*
 * Say why signals are not watched ("needs CAP_BPF and CAP_PERFMON"), or NULL: they are watched. Until the first call
 * they are not.
 */
void deathfacts_signals_unavailable(struct deathfacts *g, const char *why);
/* Where they are watched, those that were sent before this time (Unix milliseconds) were not seen. */
void deathfacts_signals_from(struct deathfacts *g, int64_t unix_ms);

/* How many processes the kernel has killed for memory on this machine since its start. False: it does not say. */
bool deathfacts_oom_kills(const struct world *w, uint64_t *ret);

struct deathfacts_logs {
	const char *out, *err; /* paths of the kept output; NULL: none */
	const struct streamorder *order; /* of both; NULL: not known */
	const char *rules; /* the user's files of rules, with ',' between; NULL: only vigil's */
	const char *error_dir; /* where ranks write their error files; NULL: nowhere */
	uint32_t n_ranks; /* number of ranks */
};

/*
 * On entry d has everything about the process itself (which, how, when, stopping); everything around it is added. The
 * arrays belong to g and are valid until the next call or deathfacts_free.
 */
void deathfacts_read(struct deathfacts *g, const struct deathfacts_logs *logs, struct death *d);
