/*
 * Which stacks hold memory: the call stacks that allocated it, of any number of processes, with what is alive, what
 * was alive at the peak, what was freed, and how much of the live part is resident. A tree of prefixes, root first,
 * keeps stacks with the same beginning once; figures are kept at its nodes, separately for each process. `source`
 * says where the figures come from (a heap profile, a PyTorch memory snapshot).
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
#define HEAPSET_SHORT 6 /* classes below this one lived less than 1.024 s: temporary */

/* LIFETIME: the mean of what was held over the time of the profile, and its lifetime. */
enum heapset_what {
	HEAPSET_PEAK, HEAPSET_LIVE, HEAPSET_LEAKS, HEAPSET_TEMPORARY, HEAPSET_GROWTH, HEAPSET_LIFETIME,
	HEAPSET_WHAT_MAX
};
const char *heapset_what_name(enum heapset_what w); /* "peak" */

/*
 * HEAPSET_FAULTS: memory that was touched for the first time (agent/heap/growth); its figures are in `total`, an
 * object is a page.
 */
enum heapset_source { HEAPSET_SAMPLED, HEAPSET_TORCH, HEAPSET_FAULTS };

struct heapset_figures {
	struct heap_amount live, total, peak;
	double temporary_share; /* the share of total that lived less than a second */
	double lifetime_bytes[HEAPSET_LIFETIMES]; /* freed bytes by lifetime */
	/* lifetimes of freed and live bytes; what was alive when its process ended counts as live */
	struct heap_lives lives;
	struct heap_amount held; /* byte-seconds: bytes times their lifetime so far */
	struct heap_amount seen; /* as in heapset_process */
	double resident_bytes;
	struct heap_leak leak;
	double old_bytes; /* live without the youngest part; the amount that a leak would consist of */
};

/* Anonymous memory of a running process, and the parts of it that are explained. */
struct heapset_explained {
	bool valid;
	double whole_bytes; /* all of it; shared pages by the share of the process */
	/* by its own stacks, by stacks of the processes that forked it, by neither */
	double own_bytes, inherited_bytes, rest_bytes;
};
struct heapset_explained heapset_explained(const struct heapset_process *p);

/* Adds f to *to. leak: the sum of slopes, the largest score. */
void heapset_figures_add(struct heapset_figures *to, const struct heapset_figures *f);

struct heapset_site {
	uint32_t process; /* index in processes */
	uint32_t node; /* tree node of its innermost frame */
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
/* Adds a process; sites of it may follow. 0 or -ENOMEM. */
int must_check heapset_process_add(struct heapset *h, const struct heapset_process *p, uint32_t *ret);
struct heapset_process *heapset_process_at(struct heapset *h, uint32_t process);
/*
 * frames: ids, innermost FIRST. Figures of one process with the same frames are summed. All sites of one process must
 * be added before those of the next. 0 or -ENOMEM.
 */
int must_check heapset_add(struct heapset *h, uint32_t process, const uint32_t *frames, size_t n,
			   const struct heapset_figures *f);
/* Adds all of another set (another node, another moment); its processes get this side. 0 or -ENOMEM. */
int must_check heapset_merge(struct heapset *h, const struct heapset *add, uint32_t side);

const struct heapset_process *heapset_processes(const struct heapset *h, size_t *ret_n);
const struct heapset_site *heapset_sites(const struct heapset *h, size_t *ret_n);
/* Frames of a site, innermost first, at most cap. Borrowed until something is added. */
size_t heapset_path(const struct heapset *h, uint32_t node, const struct frame **frames, size_t cap);

/* The part of a set that is wanted, and its form. */
struct heapset_want {
	enum heapset_what what;
	enum stack_lanes by; /* for heapset_view: LANES_ALL puts all processes in one lane, else each has its own */
	bool has_rank;
	int32_t rank;
	bool has_pid;
	pid_t pid;
	bool has_side;
	uint32_t side;
	bool lines; /* false: frames of one function are equal, whatever their line */
};
bool heapset_wants(const struct heapset_want *want, const struct heapset_process *p);
/* The amount of the wanted part. Leaks: 0 without steady growth. Lifetime: byte-seconds. */
struct heap_amount heapset_amount(const struct heapset_figures *f, enum heapset_what what);

/* A row of a table: the same stack of all wanted processes. */
struct heapset_row {
	uint32_t node;
	uint32_t processes; /* number of processes that have it */
	struct heap_amount amount, before; /* before: amount of the other side in a comparison */
	struct heapset_figures f; /* sum over these processes; leak: the sum of slopes, the largest score */
};
/* Rows of the wanted part, largest first, without empty ones; free with free(). 0 or -ENOMEM. */
int must_check heapset_rows(const struct heapset *h, const struct heapset_want *want, struct heapset_row **ret,
			    size_t *ret_n);
/*
 * Joins rows with the same headline; each keeps the node of its largest row. In place, largest first again; *n
 * becomes smaller. 0 or -ENOMEM.
 */
int must_check heapset_rows_by_line(const struct heapset *h, struct heapset_row *rows, size_t *n);
/* Rows of two parts, largest difference first. 0 or -ENOMEM. */
int must_check heapset_compare(const struct heapset *h, const struct heapset_want *before,
			       const struct heapset_want *now, struct heapset_row **ret, size_t *ret_n);
/*
 * Seconds from the first start to the last end of the wanted profiles. Byte-seconds divided by this are the mean of
 * the bytes held, which rows, totals and views show.
 */
double heapset_span_s(const struct heapset *h, const struct heapset_want *want);
/*
 * The sum of the wanted part. It uses figures of processes, not of stacks, so memory without a stack is included.
 * Peaks are those of processes that lived at the same time, as in rows and views.
 */
struct heap_amount heapset_total(const struct heapset *h, const struct heapset_want *want);
/*
 * The wanted part as a recording of bytes instead of time, for tell/stacks/flame. Self values are bytes, samples are
 * objects. 0 or -ENOMEM.
 */
int must_check heapset_view(const struct heapset *h, const struct heapset_want *want, struct stackset **ret);

/*
 * A name for a site: "loader.py:88 load -> numpy". It is the innermost line of Python that belongs to the program
 * itself (else the innermost Python line, else the innermost function outside the C library), and the library that it
 * called to allocate.
 */
void heapset_headline(const struct heapset *h, uint32_t node, char *dst, size_t cap);
