/*
 * Follows the output that the supervisor keeps of each rank, and reads from it
 * how far each rank is. One file may hold the lines of many ranks (that of a
 * launcher): a line that names its rank counts for that rank.
 *
 * Each reading takes what is new, at most the last 128 KiB of a file, so that
 * its cost is bounded. Skipped text counts as bytes, not as lines.
 */
#pragma once

#include "agent/hang/hangshm.h"
#include "model/hang/liveness.h"

struct hanglogs;

/* NULL without memory. user: patterns of progress lines beside the known forms; borrowed, may be NULL. */
struct hanglogs *hanglogs_new(const struct progress_patterns *user);
struct hanglogs *hanglogs_free(struct hanglogs *l);
/*
 * Follows rank-N.out and rank-N.err in dir instead of what was followed before. n 0: the files of rank-0 are the output
 * of the job itself.
 */
void hanglogs_begin(struct hanglogs *l, const char *dir, const int32_t *ranks, size_t n);
/* Follows one more file that vigil does not keep, as agent/hang/ownlog names it: its end is read, then what is new. */
void hanglogs_follow(struct hanglogs *l, const char *path);
/*
 * Reads what is new. The time of a step is known to the millisecond if its line is the last one of its file or has a
 * time stamp; otherwise only that it lies between this reading and the one before. unix_ms: wall clock now. w may be
 * NULL where no other file is followed.
 */
void hanglogs_read(struct hanglogs *l, const struct world *w, uint64_t now_ns, int64_t unix_ms);
/* A rank of the job, whose lines are not the job's own; NO_RANK: ignored. */
void hanglogs_know(struct hanglogs *l, int32_t rank);
/*
 * Sets the log counters and the progress of *seen. alone: the rank of a job's only main process, whose output is that
 * of the job; NO_RANK: there is none.
 */
void hanglogs_fill(const struct hanglogs *l, int32_t alone, struct liveness_counters *seen);
/* Bytes that the rank wrote into its own output, which are no sign of work; 0: not known. */
uint64_t hanglogs_bytes(const struct hanglogs *l, int32_t alone, int32_t rank);
