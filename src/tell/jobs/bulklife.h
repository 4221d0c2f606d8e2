/*
 * The large processes of a job without ranks (model/jobs/bulk), as its series file has them: who they were, and the
 * most that each had. Pure; series is the file's text, or its head and its end, borrowed.
 */
#pragma once

#include "base/json.h"
#include "tell/store/series.h"

struct bulklife {
	pid_t pid;
	uint64_t start_ticks, peak_own_bytes;
	char role[16], name[32]; /* empty: not known */
};

/*
 * Those of the samples between two times, in unix milliseconds, by pid, without their names. *ret is malloc'ed, *ret_n
 * its length. 0 or -ENOMEM.
 */
int must_check bulklife_read(struct span series, int64_t from, int64_t to, struct bulklife **ret, size_t *ret_n);
/* NULL: it was none of them. list: as bulklife_read sorts it. */
const struct bulklife *bulklife_find(const struct bulklife *list, size_t n, pid_t pid, uint64_t start_ticks);
/* Moves those with the highest peaks to the front, the highest first. Returns their number, at most `most`. */
size_t bulklife_largest(struct bulklife *list, size_t n, size_t most);
/* Fills in the names and roles that the series has of these. */
void bulklife_name(struct span series, struct bulklife *list, size_t n);
/* Those of a look, in its order, with the names that the series has of them. */
void bulklife_of(const struct series_bulk *look, struct span series, struct bulklife list[static SERIES_BULK_MAX]);
/* What one of them had at a look; NULL: it was not told apart then. */
const struct series_bulk_process *bulklife_at(const struct series_bulk *look, const struct bulklife *l);
/* "pid", "start_ticks", and "name" and "role" where they are known. Owned by the caller. */
struct js *bulklife_json(const struct bulklife *l);
