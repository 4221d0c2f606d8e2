/* What the parts of agent/heap/torchsnap share: blocks of the snapshot, and the history of allocations before it. */
#pragma once

#include "agent/heap/torchsnap.h"

#define SNAP_FRAMES_MAX 256

struct snap {
	struct heapset *set;
	uint32_t process[64]; /* process id of each device, + 1 */
	uint64_t blocks;
	uint64_t without_frames_bytes;
	uint32_t no_frames; /* id of the note for blocks without frames */
	char (*remarks)[300];
	size_t cap_remarks, *n_remarks;
};

uint64_t snap_number(const struct pickle_value *dict, const char *key);
bool snap_text_is(const struct pickle_value *dict, const char *key, const char *text);
/* Ids of the frames of a block or of an entry, innermost first; the note's id where there are none. -ENOMEM. */
int must_check snap_frames(struct snap *s, const struct pickle_value *of, uint32_t ids[static SNAP_FRAMES_MAX],
			   size_t *ret_n);

/* The history of allocations of one device. */
struct snap_trace {
	struct snap_block *block; /* owned; blocks allocated in the history, in order of time */
	size_t n;
	uint64_t *alive; /* owned; sorted addresses of those that were not freed in it */
	size_t n_alive;
	struct heapset_trace sum;
	uint64_t skipped; /* oldest entries, beyond the limit, that are left out */
};
/* in_use_bytes: bytes in use at the snapshot, after the whole history. -ENOMEM. Free with snap_trace_done. */
int must_check snap_trace_read(const struct pickle_value *entries, uint64_t in_use_bytes, struct snap_trace *ret);
/* True: the block at this address was allocated in the history. */
bool snap_trace_has(const struct snap_trace *t, uint64_t address);
/* Adds the blocks to the set, and remarks on when memory ran out. -ENOMEM. */
int must_check snap_trace_add(struct snap *s, uint32_t process, const struct pickle_value *entries,
			      const struct snap_trace *t);
void snap_trace_done(struct snap_trace *t);
