/*
 * A stream that is cut into blocks of whole records (--pipe): so many records, or as many as fit into so many bytes; a
 * record that is longer is a block of its own. What is left at the end is the last block, also where no record ends.
 */
#pragma once

#include "base/base.h"
#include "base/fault.h"

struct mapblocks {
	uint64_t block_bytes;
	uint64_t records; /* 0: bytes count */
	const char *end; /* of a record; borrowed, not empty */
	char *text; /* what was read and not yet given out stands in it from `from` on */
	size_t from, len, cap;
	size_t seen, n_found; /* of that: searched for ends of records, and how many were found */
	bool over;
};

enum { MAPBLOCKS_END = 1, MAPBLOCKS_LATER = 2 };

/*
 * The next block as a file in memory, of which *ret_bytes are read from its beginning. MAPBLOCKS_END; MAPBLOCKS_LATER:
 * fd has no more now; -errno with a sentence.
 */
int must_check mapblocks_next(struct mapblocks *b, int fd, int *ret_fd, uint64_t *ret_bytes, struct fault *f);
void mapblocks_done(struct mapblocks *b);
