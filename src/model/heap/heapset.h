/*
 * Who holds memory: the stacks at which it was asked for, of any number of
 * processes, with what lives, lived at the peak, came and went, and of what
 * lives how much lies in memory. A tree of prefixes, root first, so that
 * stacks that begin alike are kept once; figures stand at its nodes, apart by
 * process. Where the figures come from (a heap profile, a PyTorch memory
 * snapshot) is said by `source`.
 *
 * Pure. Bytes are estimates with their error (model/heap/heapsum.h).
 */
#pragma once

#include <sys/types.h>

#include "model/heap/heaplife.h"
#include "model/heap/heapset_process.h"
#include "model/heap/heapsum.h"
#include "model/stacks/stackset.h"

#define HEAPSET_LIFETIMES 12 /* [0] < 1 ms, [k] < 4^k ms, [11] all longer */
#define HEAPSET_SHORT 6 /* rows below this one lived less than 1.024 s: temporary */

/* LIFETIME: what was held on average over the time of the profile, and how long it lived. */
enum heapset_what {
	HEAPSET_PEAK, HEAPSET_LIVE, HEAPSET_LEAKS, HEAPSET_TEMPORARY, HEAPSET_GROWTH, HEAPSET_LIFETIME,
	HEAPSET_WHAT_MAX
};
const char *heapset_what_name(enum heapset_what w); /* "peak" */

/* HEAPSET_FAULTS: memory that was touched for the first time (agent/heap/growth); `total` has it, an object is a page. */
enum heapset_source { HEAPSET_SAMPLED, HEAPSET_TORCH, HEAPSET_FAULTS };

struct heapset_figures {
	struct heap_amount live, total, peak;
	double temporary_share; /* of total: what lived less than a second */
	double lifetime_bytes[HEAPSET_LIFETIMES]; /* freed, by how long it had lived */
	struct heap_lives lives; /* the same, and what lives; what lived when its process ended lives */
	struct heap_amount held; /* byte-seconds: bytes times the time for which they lived, so far */
	struct heap_amount seen; /* as of the process */
	double resident_bytes;
	struct heap_leak leak;
	double old_bytes; /* of live, without the youngest: what a leak is made of */
};

/* Anonymous memory of a process that runs, and what explains it. */
struct heapset_explained {
	bool valid;
	double whole_bytes; /* all of it; where pages are shared, its part of each */
	double own_bytes, inherited_bytes, rest_bytes; /* its stacks', those of the processes that forked it, neither */
};
struct heapset_explained heapset_explained(const struct heapset_process *p);

/* The sum; leak: the sum of slopes, the largest score. */
void heapset_figures_add(struct heapset_figures *to, const struct heapset_figures *f);

struct heapset_site {
	uint32_t process; /* index in processes */
	uint32_t node; /* its innermost frame's, in the tree */
	struct heapset_figures f;
};

struct heapset;
struct heapset *heapset_new(enum heapset_source source);
struct heapset *heapset_free(struct heapset *h);
static inline void heapset_freep(struct heapset **h)
{
	*h = heapset_free(*h);
}
enum heapset_source heapset_source_of(const struct heapset *h);
struct frametab *heapset_frames(struct heapset *h);
/* What follows heapset_add is about this process. -ENOMEM. */
int must_check heapset_process_add(struct heapset *h, const struct heapset_process *p, uint32_t *ret);
struct heapset_process *heapset_process_at(struct heapset *h, uint32_t process);
/* frames: ids, innermost FIRST. Figures of one process with the same frames are added up. Processes one after the other. */
int must_check heapset_add(struct heapset *h, uint32_t process, const uint32_t *frames, size_t n,
			   const struct heapset_figures *f);
/* All of another set (another node, another moment); its processes get this side. */
int must_check heapset_merge(struct heapset *h, const struct heapset *add, uint32_t side);

const struct heapset_process *heapset_processes(const struct heapset *h, size_t *ret_n);
const struct heapset_site *heapset_sites(const struct heapset *h, size_t *ret_n);
/* Frames of a site, innermost first, at most cap. Borrowed until something is added. */
size_t heapset_path(const struct heapset *h, uint32_t node, const struct frame **frames, size_t cap);

/* Which part is looked at, and how. */
struct heapset_want {
	enum heapset_what what;
	enum stack_lanes by; /* of heapset_view: LANES_ALL, all processes in one lane; else each in its own */
	bool has_rank;
	int32_t rank;
	bool has_pid;
	pid_t pid;
	bool has_side;
	uint32_t side;
	bool lines; /* false: frames of one function are one, whatever the line */
};
bool heapset_wants(const struct heapset_want *want, const struct heapset_process *p);
/* What the figures say of the part that is wanted. Leaks: 0 of what does not grow steadily. Lifetime: byte-seconds. */
struct heap_amount heapset_amount(const struct heapset_figures *f, enum heapset_what what);

/* One line of a table: the same stack of all processes wanted. */
struct heapset_row {
	uint32_t node;
	uint32_t processes; /* in so many of them */
	struct heap_amount amount, before; /* before: of the other side, when two are compared */
	struct heapset_figures f; /* of all of them together; leak: the sum of slopes, the largest score */
};
/* malloc'ed, largest first; those of nothing are left out. */
int must_check heapset_rows(const struct heapset *h, const struct heapset_want *want, struct heapset_row **ret,
			    size_t *ret_n);
/*
 * Rows with the same headline put together, as a person thinks of them; each
 * keeps the node of its largest. In place, largest first again; *n becomes
 * smaller.
 */
int must_check heapset_rows_by_line(const struct heapset *h, struct heapset_row *rows, size_t *n);
/* The same of two parts: largest difference first. */
int must_check heapset_compare(const struct heapset *h, const struct heapset_want *before,
			       const struct heapset_want *now, struct heapset_row **ret, size_t *ret_n);
/* From the first begin to the last end of the profiles that are wanted. Lifetimes' byte-seconds over this are the bytes
 * that were held on average, which is what rows, totals and views have. */
double heapset_span_s(const struct heapset *h, const struct heapset_want *want);
/* All that is wanted, together: figures of processes, not of stacks, so that what has no stack is in it. Of peaks those
 * of processes that lived at the same time, as in rows and views. */
struct heap_amount heapset_total(const struct heapset *h, const struct heapset_want *want);
/* A recording of bytes instead of time, for tell/stacks/flame. Self values are bytes, samples are objects. */
int must_check heapset_view(const struct heapset *h, const struct heapset_want *want, struct stackset **ret);

/*
 * "loader.py:88 load -> numpy": the innermost line of Python that is the
 * program's own (else the innermost one, else the innermost function outside
 * of the C library), and the library through which it asked.
 */
void heapset_headline(const struct heapset *h, uint32_t node, char *dst, size_t cap);
