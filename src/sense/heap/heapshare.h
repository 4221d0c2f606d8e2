/*
 * How much of what the stacks of a heap profile held lay in memory at a
 * moment, kept beside the copy of the profile that vigil makes when memory gets
 * short (docs/formats/heap.md): once the process is gone nobody can tell any
 * more. Lies in a folder that the job may write, so whatever it says is checked.
 */
#pragma once

#include "base/base.h"
#include "base/text.h"

struct heapshare_row {
	uint64_t stack; /* row of the profile's stacks; they never move */
	uint64_t seen_bytes, resident_bytes; /* weights of samples; the latter no more than the former */
};

struct heapshare {
	int64_t time_unix_ms;
	struct heapshare_row *row; /* owned; by stack */
	size_t n;
};

/* -EBADMSG, -ENOMEM. Pure. */
int must_check heapshare_parse(struct span text, struct heapshare *ret);
/* As it is read by the one above: rows must come by stack. Malloced; -ENOMEM. */
int must_check heapshare_format(const struct heapshare *s, char **ret_text, size_t *ret_len);
/* NULL: nothing is known of it. */
const struct heapshare_row *heapshare_find(const struct heapshare *s, uint64_t stack);
void heapshare_done(struct heapshare *s);
