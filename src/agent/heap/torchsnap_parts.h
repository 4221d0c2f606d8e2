/* The inside of agent/heap/torchsnap: the snapshot's blocks, and the history of allocations before it. */
#pragma once

#include "agent/heap/torchsnap.h"

#define SNAP_FRAMES_MAX 256

struct snap {
	struct heapset *set;
	uint32_t process[64]; /* of a device; + 1 */
	uint64_t blocks;
	uint64_t without_frames_bytes;
	uint32_t no_frames; /* id of the note */
	char (*remarks)[300];
	size_t cap_remarks, *n_remarks;
};

uint64_t snap_number(const struct pickle_value *dict, const char *key);
bool snap_text_is(const struct pickle_value *dict, const char *key, const char *text);
/* Ids of the frames of a block or of an entry, innermost first; a note where there are none. -ENOMEM. */
int must_check snap_frames(struct snap *s, const struct pickle_value *of, uint32_t ids[static SNAP_FRAMES_MAX],
			   size_t *ret_n);

/* The history of one device. */
struct snap_trace {
	struct snap_block *block; /* owned; blocks that were asked for in it, in order of time */
	size_t n;
	uint64_t *alive; /* owned; addresses of those not freed in it, sorted */
	size_t n_alive;
	struct heapset_trace sum;
	uint64_t skipped; /* older entries than are looked at */
};
/* in_use_bytes: at the snapshot, so after all of it. -ENOMEM. */
int must_check snap_trace_read(const struct pickle_value *entries, uint64_t in_use_bytes, struct snap_trace *ret);
/* Whether the block at this address is one of those. */
bool snap_trace_has(const struct snap_trace *t, uint64_t address);
/* The blocks into the set, and remarks on when memory ran out. */
int must_check snap_trace_add(struct snap *s, uint32_t process, const struct pickle_value *entries,
			      const struct snap_trace *t);
void snap_trace_done(struct snap_trace *t);
