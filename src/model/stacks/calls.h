/*
 * Exact call counts as cProfile keeps them, merged over ranks and workers:
 * functions, how often called, own and cumulative time, and who called whom.
 *
 * The same form holds a sampled stand-in (calls_stackset.h): then n_calls is
 * the samples that show the function, n_primitive those in which it is the
 * innermost one, and the times are estimates.
 */
#pragma once

#include "base/base.h"
#include "sense/format/pstats.h"

struct call_edge {
	uint32_t caller; /* function index */
	uint64_t n_calls, n_primitive;
	double own_s, cumulative_s;
};

struct call_function {
	char *file, *name; /* owned; built-in: file "~", line 0, name "<built-in …>" */
	int32_t line;
	uint64_t n_calls, n_primitive; /* nc and cc of pstats */
	double own_s, cumulative_s; /* tt and ct */
	struct call_edge *edges; /* callers; owned */
	size_t n_edges, cap_edges;
	/* Over the parts merged (one a rank, or one a process), for the straggler table; see call_spread. */
	uint32_t n_parts; /* that had the function at all */
	double cumulative_min_s, cumulative_max_s, cumulative_sum_s, cumulative_sum2_s;
	int32_t max_rank; /* whose maximum it is; NO_RANK */
};

/* False for a caller of which nothing else is known: it was still running when the profile was written. */
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
/* The function of that name, made when new. */
int must_check calls_function(struct calls *c, const char *file, int32_t line, const char *name, uint32_t *ret);
const struct call_function *calls_get(const struct calls *c, uint32_t i);
size_t calls_len(const struct calls *c);
/* Add to a function's own numbers, in the part that is being gathered. */
void calls_count(struct calls *c, uint32_t i, const struct pstats_number *n);
/* Add to the numbers of "caller called callee". */
int must_check calls_edge(struct calls *c, uint32_t callee, const struct call_edge *add);

/*
 * Reading profiles: take a sink for each file, give it to pstats_parse, and say
 * when the files of one part (a rank, or a process) are complete. A file that
 * turned out to be damaged has added what came before the damage.
 */
struct pstats_sink calls_sink(struct calls *c);
void calls_part_end(struct calls *c, int32_t rank);
/* Parts so far. */
uint32_t calls_parts(const struct calls *c);
void calls_set_sampled(struct calls *c);
bool calls_sampled(const struct calls *c);

struct calls_sum {
	uint64_t n_calls, n_primitive;
	double own_s;
};
struct calls_sum calls_total(const struct calls *c);

/* Cumulative time over all parts; a part that never called the function counts as zero. */
struct call_spread {
	double min_s, mean_s, max_s, stddev_s;
	int32_t max_rank;
};
struct call_spread calls_spread(const struct calls *c, const struct call_function *f);

enum calls_sort { CALLS_TOTTIME, CALLS_CUMTIME, CALLS_NCALLS };
/* Indexes in order, malloc'ed; ties by file, line, name. */
int must_check calls_sorted(const struct calls *c, enum calls_sort by, uint32_t **ret);
