/*
 * The profiles of calls of a job, <state>/jobs/<id>/attempt-<n>/calls/, or any .prof files: finds them, and reads them
 * into one table of calls.
 *
 *   rank-<r>.pid-<p>.start-<unix ms>.prof    what cProfile's dump_stats writes
 *   rank-<r>.pid-<p>.start-<unix ms>.json    beside it, one object: its process ("-" where there is no rank)
 *
 * One damaged file does not spoil the others: its source has the reason, and nothing of it is counted.
 */
#pragma once

#include "base/fault.h"
#include "model/stacks/call_source.h"
#include "model/stacks/calls.h"

/* Adds all files of a directory; none is fine. -ENOENT, -ENOTDIR, -EACCES, -ENOMEM. */
int must_check callfiles_add_dir(struct call_sources *s, const char *dir);
int must_check callfiles_add_file(struct call_sources *s, const char *path);
/* Sorts by rank, start and pid; required before callfiles_read. */
void callfiles_sort(struct call_sources *s);
/*
 * Reads the profiles of one rank, or of all (CALLFILES_ALL), and merges them. Parts, for the table of stragglers, are
 * ranks where any source has one, else processes. CALLFILES_NOTHING: no profile could be read; the sources say why.
 */
#define CALLFILES_ALL INT32_MIN
enum { CALLFILES_NOTHING = 1 };
int must_check callfiles_read(struct call_sources *s, int32_t rank, struct calls **ret);
