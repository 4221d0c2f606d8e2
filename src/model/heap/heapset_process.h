/*
 * What a set of stacks (model/heap/heapset) holds about each process, or each device of a PyTorch snapshot: its
 * identity, its end, its total memory, and the figures of the kernel or the allocator for the same memory.
 */
#pragma once

#include <sys/types.h>

#include "model/heap/heapsum.h"

struct heapset_breakdown { /* memory of the same process as the kernel counts it */
	bool valid;
	uint64_t rss_bytes, anon_bytes, file_bytes, shmem_bytes, swap_bytes;
};

/*
 * Memory of a process that may share pages with its parents or children by fork: its share of each page. own_bytes
 * and inherited_bytes are parts of pss_anon_bytes.
 */
struct heapset_shares {
	bool valid;
	uint64_t pss_anon_bytes;
	double own_bytes; /* its share of the pages of its own stacks, for the blocks in `seen` */
	double inherited_bytes; /* its share of the pages of stacks of its ancestors */
};

/* How a process ended, or the program image of it that the profile covers. */
enum heapset_life {
	HEAPSET_ENDED,
	HEAPSET_RUNNING,
	HEAPSET_KILLED, /* by a signal, as its parent saw */
	HEAPSET_GONE, /* without a final record: killed, or ended by _exit, or by exec of a program without a profile */
	HEAPSET_REPLACED, /* the process now runs another program: exec */
	HEAPSET_SAVED, /* it runs; this is a copy from an earlier moment */
	HEAPSET_DETACHED, /* the process runs, its profile has stopped */
	HEAPSET_LIFE_MAX
};
const char *heapset_life_name(enum heapset_life l); /* "ended" */

/* What the allocator of a device recorded about the time before a snapshot. */
struct heapset_trace {
	bool valid; /* there is a record: peaks and lifetimes are known */
	uint64_t allocations, frees; /* number of events in the record */
	uint64_t segments_new, segments_gone; /* segments taken from the driver, and given back */
	uint64_t ooms; /* number of out-of-memory events */
	double seconds;
	uint64_t peak_bytes; /* bytes in use at the highest moment of the record */
	uint64_t unknown_bytes; /* the part of peak_bytes in blocks that are older than the record */
};

struct heapset_process {
	pid_t pid;
	int32_t rank; /* NO_RANK */
	uint32_t side; /* 0; 1: the side to compare with */
	char role[16];
	char name[96]; /* "python train.py" */
	char file[256]; /* file that it was read from */
	int32_t seen_by; /* the path is as this process sees it; 0: as vigil does */
	enum heapset_life life;
	bool earlier; /* a later profile of the same process exists */
	int64_t begun_unix_ms; /* start of the profile */
	double seconds; /* duration of the profile */
	int64_t ended_unix_ms; /* latest time at which its memory was freed; 0: it runs, or the time is unknown */
	bool end_unknown; /* it has ended at an unknown time */
	double peak_at_s; /* since the start of the profile */
	uint64_t rate_bytes; /* bytes per sample; 0: sampling is off */
	uint64_t requested_bytes; /* exact sum of all requests */
	struct heap_amount live, total, peak; /* sums over all its stacks */
	struct heap_amount seen; /* the part of live with known residency */
	/* time of the residency data, read when memory got short in a process that has ended; 0: now */
	int64_t seen_unix_ms;
	double resident_bytes; /* the resident part of `seen` */
	struct heapset_shares shares;
	uint64_t lost_samples, lost_bytes; /* samples without a stack */
	char lost_why[64];
	uint64_t skipped_rows; /* rows that were torn, unpublished or contradictory */
	bool peak_torn;
	double peak_short_bytes; /* so much of the peak is in no stack: they are of a moment before or after it */
	uint32_t stacks, small_stacks; /* number of stacks; number of those joined in one line */
	struct heapset_breakdown breakdown;
	char note[200]; /* "no Python frames: …" */
	/* HEAPSET_TORCH: memory of the device as the allocator of PyTorch held it */
	int32_t device;
	bool cut; /* the snapshot is truncated: figures cover what came before the cut */
	uint64_t reserved_bytes, allocated_bytes, largest_free_bytes, free_blocks, segments;
	struct heapset_trace trace;
};
