/*
 * Exact call counts as cProfile writes them, merged over ranks and workers: functions with their number of calls, own
 * and cumulative time, and the callers of each. Times are in seconds. A table owns all its texts and edges.
 *
 * A table made from samples (calls_stackset.h) has the same form. Its n_calls is the number of samples that show the
 * function, n_primitive the number in which it is the innermost, and its times are estimates.
 */
#pragma once

#include "base/base.h"
#include "sense/format/pstats.h"

struct call_edge {
	uint32_t caller; /* function index */
	uint64_t n_calls, n_primitive;
	double own_s, cumulative_s;
};

/* Cumulative time over all parts; a part that never called the function counts as zero. */
struct call_spread {
	double min_s, mean_s, max_s, stddev_s;
	int32_t max_rank;
};

struct call_function {
	char *file, *name; /* owned; of a built-in: file "~", line 0, name "<built-in …>" */
	int32_t line;
	uint64_t n_calls, n_primitive; /* nc and cc of pstats */
	double own_s, cumulative_s; /* tt and ct */
	struct call_edge *edges; /* one a caller; owned */
	size_t n_edges, cap_edges;
	/* Over the parts (one a rank, or one a process), for the straggler table; see call_spread. */
	uint32_t n_parts; /* parts with a count of the function */
	double cumulative_min_s, cumulative_max_s, cumulative_sum_s, cumulative_sum2_s;
	int32_t max_rank; /* rank of the maximum; NO_RANK: it has none */
	bool has_told;
	struct call_spread told; /* of a table that was read back, instead of the sums */
};

/* False for a function known only as a caller: it was still running when the profile was written. */
static inline bool call_function_is_counted(const struct call_function *f)
{
	return f->n_parts > 0;
}

struct calls;
struct calls *calls_new(void);
struct calls *calls_free(struct calls *c);
static inline void calls_freep(struct calls **c)
{
	*c = calls_free(*c);
}
/* The index of the function, which is added if it is new. -ENOMEM. */
int must_check calls_function(struct calls *c, const char *file, int32_t line, const char *name, uint32_t *ret);
const struct call_function *calls_get(const struct calls *c, uint32_t i);
size_t calls_len(const struct calls *c);
/* Adds to the numbers of function i in the current part; i must be valid. */
void calls_count(struct calls *c, uint32_t i, const struct pstats_number *n);
/* Adds to the numbers of the edge from add->caller to callee. -EINVAL: no such function; -ENOMEM. */
int must_check calls_edge(struct calls *c, uint32_t callee, const struct call_edge *add);

/*
 * To read profiles, take a new sink for each file, pass it to pstats_parse, and call calls_part_end after the last file
 * of a part (a rank, or a process). A damaged file has added its numbers up to the damage.
 */
struct pstats_sink calls_sink(struct calls *c);
void calls_part_end(struct calls *c, int32_t rank);
/* Number of finished parts. */
uint32_t calls_parts(const struct calls *c);
void calls_set_sampled(struct calls *c);
bool calls_sampled(const struct calls *c);

struct calls_sum {
	uint64_t n_calls, n_primitive;
	double own_s;
};
struct calls_sum calls_total(const struct calls *c);

struct call_spread calls_spread(const struct calls *c, const struct call_function *f);
/* A table that was read back: so many parts were merged, of which so many had function i, with this spread. */
void calls_told_parts(struct calls *c, uint32_t n_parts);
void calls_told_spread(struct calls *c, uint32_t i, uint32_t n_parts, const struct call_spread *told);

enum calls_sort { CALLS_TOTTIME, CALLS_CUMTIME, CALLS_NCALLS };
/* All indexes, largest value first, equal ones by file, line and name. The caller frees *ret. -ENOMEM. */
int must_check calls_sorted(const struct calls *c, enum calls_sort by, uint32_t **ret);
