/*
 * What a set of stacks (model/heap/heapset) knows of each process, or of each
 * device of a PyTorch snapshot: who it is, what became of it, what it held in
 * all, and what the kernel or the allocator says of the same memory.
 */
#pragma once

#include <sys/types.h>

#include "model/heap/heapsum.h"

struct heapset_breakdown { /* what the kernel says of the same process */
	bool valid;
	uint64_t rss_bytes, anon_bytes, file_bytes, shmem_bytes, swap_bytes;
};

/*
 * Of a process that may share pages with those that it was forked from or has
 * forked: its part of each page. What is explained of it, and of its family
 * together, is a part of pss_anon_bytes.
 */
struct heapset_shares {
	bool valid;
	uint64_t pss_anon_bytes;
	double own_bytes; /* its part of its own stacks' pages, of the blocks in `seen` */
	double inherited_bytes; /* …of the pages that its ancestors' stacks explain */
};

/* What became of a process, or of the image of it that the profile is about. */
enum heapset_life {
	HEAPSET_ENDED,
	HEAPSET_RUNNING,
	HEAPSET_KILLED, /* by a signal, as its parent saw it */
	HEAPSET_GONE, /* without a word: killed, or by _exit, or by exec of what leaves no profile */
	HEAPSET_REPLACED, /* the process runs another program since: exec */
	HEAPSET_SAVED, /* it runs, and this is a copy, of a moment before */
	HEAPSET_DETACHED, /* the process runs, its profile does not go on */
	HEAPSET_LIFE_MAX
};
const char *heapset_life_name(enum heapset_life l); /* "ended" */

/* What a device's allocator wrote down of the time before a snapshot. */
struct heapset_trace {
	bool valid; /* there is one: peaks and lives are known */
	uint64_t allocations, frees; /* that are in it */
	uint64_t segments_new, segments_gone; /* memory taken from the driver, and given back */
	uint64_t ooms; /* how often memory ran out */
	double seconds;
	uint64_t peak_bytes; /* in use at the highest moment of it */
	uint64_t unknown_bytes; /* …of these in blocks that were asked for before it begins */
};

struct heapset_process {
	pid_t pid;
	int32_t rank; /* NO_RANK */
	uint32_t side; /* 0; 1: what is compared with */
	char role[16];
	char name[96]; /* "python train.py" */
	char file[256]; /* where it was read from */
	enum heapset_life life;
	bool earlier; /* a later profile of the same process is there too */
	int64_t begun_unix_ms; /* the profile began */
	double seconds; /* …and lasted */
	int64_t ended_unix_ms; /* its memory went then, or before; 0: it lives, or nobody knows */
	bool end_unknown; /* it does not live, and nobody knows since when */
	double peak_at_s; /* since it began */
	uint64_t rate_bytes; /* 0: dormant */
	uint64_t requested_bytes; /* exact, of all that was asked for */
	struct heap_amount live, total, peak; /* of all its stacks */
	struct heap_amount seen; /* the part of live of which it is known whether it lies in memory */
	int64_t seen_unix_ms; /* as it was then, when memory got short: it does not run any more; 0: now */
	double resident_bytes; /* …and does */
	struct heapset_shares shares;
	uint64_t lost_samples, lost_bytes; /* not among the stacks */
	char lost_why[64];
	uint64_t skipped_rows; /* torn, unpublished or contradictory */
	bool peak_torn;
	uint32_t stacks, small_stacks; /* all; those put together as one line */
	struct heapset_breakdown breakdown;
	char note[200]; /* "no Python frames: …" */
	/* HEAPSET_TORCH: the device's memory as PyTorch's allocator held it */
	int32_t device;
	bool cut; /* the snapshot ends in the middle: the figures are of what came before */
	uint64_t reserved_bytes, allocated_bytes, largest_free_bytes, free_blocks, segments;
	struct heapset_trace trace;
};
