/*
 * How much of the memory of each stack of a heap profile was resident. Saved beside the copy of the profile that vigil
 * makes when memory gets short (docs/formats/heap.md), because it cannot be measured once the process is gone. The file
 * lies in a folder that the job can write, so everything in it is checked.
 */
#pragma once

#include "base/base.h"
#include "base/text.h"

struct heapshare_row {
	uint64_t stack; /* row in the profile's table of stacks; rows never move */
	uint64_t seen_bytes, resident_bytes; /* sums of sample weights; resident_bytes <= seen_bytes */
};

struct heapshare {
	int64_t time_unix_ms;
	struct heapshare_row *row; /* owned; sorted by stack */
	size_t n;
};

/* -EBADMSG, -ENOMEM. Pure. */
int must_check heapshare_parse(struct span text, struct heapshare *ret);
/* Writes the text that heapshare_parse reads. Rows must be sorted by stack. *ret_text is malloced; -ENOMEM. */
int must_check heapshare_format(const struct heapshare *s, char **ret_text, size_t *ret_len);
/* The row of a stack; NULL if there is none. */
const struct heapshare_row *heapshare_find(const struct heapshare *s, uint64_t stack);
void heapshare_done(struct heapshare *s);
