/*
 * Which part of a process's stdout came before which part of its stderr, as the reader of both saw it. Offsets are
 * bytes of the kept copies. What was read in one go has no order; the latest STREAMORDER_MARKS changes from one stream
 * to the other are known.
 *
 * What was written in one go, as a buffer that is flushed at the end, is one burst of stdout.
 *
 * Pure; allocates nothing.
 */
#pragma once

#include "base/base.h"

#define STREAMORDER_MARKS 32

struct streamorder {
	struct {
		uint64_t err_to; /* stderr up to here, from where the mark before ends */
		uint64_t out_at; /* came when so much of stdout had come */
		uint32_t bursts; /* and so many bursts */
	} mark[STREAMORDER_MARKS];
	uint32_t n;
	uint64_t err_from; /* where the first mark begins */
	uint64_t out_bytes, err_bytes;
	uint32_t bursts;
	uint64_t out_last_ns;
	bool lost; /* a part was not kept, so that offsets mean nothing */
};

/* So many bytes of one stream were read and kept. now_ns: monotonic. */
void streamorder_out(struct streamorder *o, size_t n, uint64_t now_ns);
void streamorder_err(struct streamorder *o, size_t n);

/* What came on stdout between a place in stderr and the last words there. */
struct streamorder_part {
	uint64_t out_from, out_to; /* bytes of stdout */
	uint32_t bursts;
};

/* False: not known, or nothing came. */
bool streamorder_after(const struct streamorder *o, uint64_t err_at, struct streamorder_part *ret);
/* The same between the last words in stderr and the end of stdout. */
bool streamorder_after_last(const struct streamorder *o, struct streamorder_part *ret);
