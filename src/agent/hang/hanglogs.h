/*
 * Follows the output that the supervisor keeps of each rank, and learns from
 * it how far each rank is. One file may carry the lines of many ranks (a
 * launcher's): lines that say whose they are go to that rank.
 *
 * A look reads what is new, at most the last 128 KiB a file: a job that writes
 * more a second than anybody can read shall not cost more. What is passed over
 * is counted as bytes, not as lines.
 */
#pragma once

#include "agent/hang/hangshm.h"
#include "model/hang/liveness.h"

struct hanglogs;

/* NULL without memory. user: what progress looks like beside the known forms, borrowed; may be NULL. */
struct hanglogs *hanglogs_new(const struct progress_patterns *user);
struct hanglogs *hanglogs_free(struct hanglogs *l);
/* dir: the attempt's; ranks: whose files there are (n 0: rank-0 is the job itself). Forgets what it followed before. */
void hanglogs_begin(struct hanglogs *l, const char *dir, const int32_t *ranks, size_t n);
/* One more file, of the job itself, that vigil does not keep: its end is read, and what comes. */
void hanglogs_follow(struct hanglogs *l, const char *path);
/*
 * When a step was made is known to the millisecond where its line is the last that was written into its file, or says the time
 * itself; else only that it was since the look before. unix_ms: the wall's clock, now.
 */
void hanglogs_read(struct hanglogs *l, uint64_t now_ns, int64_t unix_ms);
/*
 * What is known of a lane's own output: log signs and progress of *seen. alone: the rank of a job's only main process,
 * whose output is that of the job; NO_RANK: there is none such.
 */
void hanglogs_fill(const struct hanglogs *l, int32_t alone, struct liveness_counters *seen);
/* Bytes of output of the process whose lane this is, 0 if not known: what it wrote there is no sign of work. */
uint64_t hanglogs_bytes(const struct hanglogs *l, int32_t alone, int32_t rank);
