#pragma once

#include <assert.h>
#include <string.h>

#include "sense/python/pylocals.h"

/*
 * A process whose memory is the input: one byte for the version, one for how
 * memory behaves, the addresses of a frame, its code object and the type of
 * code objects, then pieces (u64 address, u16 length, bytes). tests/tool/pyrecord
 * writes such a file from a living process. Bit 0 of the second byte: addresses
 * in no piece read as the input itself, again and again, so that every pointer
 * leads somewhere. From 3.13 on the first piece is the self-description.
 */
struct pymemory {
	const uint8_t *data;
	size_t size;
	bool endless;
};

#define PYMEMORY_HEAD (2 + 3 * 8)

static inline uint64_t u64_at(const uint8_t *p)
{
	uint64_t v;
	memcpy(&v, p, sizeof(v));
	return v;
}

/* How many bytes could be read. Pieces overlap: the one that begins nearest was read for this. */
static inline size_t piece_read(const struct pymemory *in, uint64_t addr, uint8_t *into, size_t len)
{
	uint64_t best = 0;
	size_t best_at = 0, best_n = 0;
	for (size_t at = PYMEMORY_HEAD; in->size - at > 10;) {
		uint64_t start = u64_at(in->data + at);
		size_t n = in->data[at + 8] | (size_t)in->data[at + 9] << 8;
		n = MIN(n, in->size - at - 10);
		if (addr >= start && addr - start < n && start >= best) {
			best = start;
			best_at = at + 10;
			best_n = n;
		}
		at += 10 + n;
	}
	if (best_at) {
		size_t here = MIN(len, best_n - (size_t)(addr - best));
		memcpy(into, in->data + best_at + (addr - best), here);
		return here;
	}
	for (size_t i = 0; in->endless && i < len; i++)
		into[i] = in->data[(addr + i) % in->size];
	return in->endless ? len : 0;
}

static inline ssize_t pymemory_readv(struct remote *r, const struct iovec *into, size_t n_into,
				     const struct iovec *from, size_t n_from)
{
	ssize_t total = 0;
	assert(n_into == n_from);
	for (size_t i = 0; i < n_from; i++) {
		size_t done = 0;
		while (done < from[i].iov_len) {
			size_t n = piece_read(r->ctx, (uint64_t)(uintptr_t)from[i].iov_base + done,
					      (uint8_t *)into[i].iov_base + done, from[i].iov_len - done);
			if (n == 0)
				return total + (ssize_t)done > 0 ? total + (ssize_t)done : -EFAULT;
			done += n;
		}
		total += (ssize_t)done;
	}
	return total;
}

static inline bool pymemory_layout(const struct pymemory *in, struct pyrt *rt)
{
	rt->minor = (uint8_t)(8 + in->data[0] % 8);
	rt->instr_in_units = rt->minor == 10;
	if (rt->minor < 13)
		return pyoffsets_of(rt->minor, &rt->off);
	struct fault f;
	size_t n = in->size - PYMEMORY_HEAD > 10 ? MIN(in->size - PYMEMORY_HEAD - 10, (size_t)PYOFFSETS_BYTES) : 0;
	if (pyoffsets_parse(in->data + PYMEMORY_HEAD + 10, n, &rt->version, &rt->free_threaded, &rt->off, &f) != 0)
		return false;
	rt->minor = (uint8_t)(rt->version >> 16 & 0xff);
	return true;
}

static const struct remote_ops pymemory_ops = {.readv = pymemory_readv};
