/*
 * The profiles of a job, <state>/jobs/<id>/attempt-<n>/calls/, or any .prof
 * files: finding them, and reading them into one table of calls.
 *
 *   rank-<r>.pid-<p>.start-<unix ms>.prof    what cProfile's dump_stats writes
 *   rank-<r>.pid-<p>.start-<unix ms>.json    beside it, one object: who it was ("-" where there is no rank)
 *
 * One damaged file does not spoil the others: it is named in its source, and
 * what came before the damage is left out as well.
 */
#pragma once

#include "base/fault.h"
#include "model/stacks/call_source.h"
#include "model/stacks/calls.h"

/* All that is in a directory; -ENOENT, -ENOTDIR, -EACCES. Finding nothing is fine. */
int must_check callfiles_add_dir(struct call_sources *s, const char *dir);
int must_check callfiles_add_file(struct call_sources *s, const char *path);
/* By rank, start and pid; needed before reading. */
void callfiles_sort(struct call_sources *s);
/*
 * Read those of one rank, or all (CALLFILES_ALL), merged. Parts, for the
 * straggler table, are ranks where any source has one, else processes.
 * CALLFILES_NOTHING: no profile could be read; the sources say why.
 */
#define CALLFILES_ALL INT32_MIN
enum { CALLFILES_NOTHING = 1 };
int must_check callfiles_read(struct call_sources *s, int32_t rank, struct calls **ret);
