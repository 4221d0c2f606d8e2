/* The memory of a process that a test writes down: chunks at chosen addresses, nothing between them. */
#pragma once

#include <string.h>

#include "testing.h"

#include "sense/proc/remote.h"
#include "sense/python/pyrt.h"

#define MEMORY_CHUNKS 48

struct memory {
	struct {
		uint64_t addr;
		size_t len;
		unsigned char bytes[1024];
	} chunk[MEMORY_CHUNKS];
	size_t n;
	uint64_t next; /* where the next object goes */
	struct remote remote;
	struct pyrt rt;
};

/* Copies from the chunk that addr is in, at most to its end; 0: it is in none. */
static size_t memory_copy(const struct memory *m, uint64_t addr, void *into, size_t len)
{
	for (size_t k = 0; k < m->n; k++) {
		if (addr < m->chunk[k].addr || addr - m->chunk[k].addr >= m->chunk[k].len)
			continue;
		size_t at = (size_t)(addr - m->chunk[k].addr), n = MIN(len, m->chunk[k].len - at);
		memcpy(into, m->chunk[k].bytes + at, n);
		return n;
	}
	return 0;
}

static ssize_t memory_readv(struct remote *r, const struct iovec *into, size_t n_into, const struct iovec *from,
			    size_t n_from)
{
	const struct memory *m = r->ctx;
	ssize_t total = 0;
	assert_int_equal(n_into, n_from);
	for (size_t i = 0; i < n_from; i++) {
		size_t n = 0;
		for (size_t got = SIZE_MAX; got > 0 && n < from[i].iov_len; n += got)
			got = memory_copy(m, (uint64_t)(uintptr_t)from[i].iov_base + n, (char *)into[i].iov_base + n,
					  from[i].iov_len - n);
		total += (ssize_t)n;
		if (n < from[i].iov_len)
			return total > 0 ? total : -EFAULT;
	}
	return total;
}

static const struct remote_ops memory_ops = {.readv = memory_readv};

static struct memory *memory_new(uint8_t minor)
{
	struct memory *m = calloc(1, sizeof(*m));
	assert_non_null(m);
	m->next = 0x10000;
	m->remote = (struct remote){.pid = 1, .mem_fd = -1, .proc_fd = -1, .ops = &memory_ops, .ctx = m};
	m->rt.minor = minor;
	assert_true(pyoffsets_of(minor, &m->rt.off));
	return m;
}

static inline unsigned char *memory_at(struct memory *m, uint64_t addr, size_t len)
{
	assert_true(m->n < MEMORY_CHUNKS && len <= sizeof(m->chunk[0].bytes));
	m->chunk[m->n].addr = addr;
	m->chunk[m->n].len = len;
	return m->chunk[m->n++].bytes;
}

/* Room for one object at an address of the fixture's choice. */
static inline unsigned char *memory_add(struct memory *m, size_t len, uint64_t *ret_addr)
{
	*ret_addr = m->next;
	m->next += 0x1000;
	return memory_at(m, *ret_addr, len);
}

static inline void put(unsigned char *at, uint64_t value, size_t width)
{
	memcpy(at, &value, width);
}

/* A compact str. state: interned:2 kind:3 compact:1 ascii:1. */
static inline uint64_t memory_str(struct memory *m, const void *chars, size_t n, unsigned width, bool ascii)
{
	uint64_t addr, head = ascii ? m->rt.off.str.ascii : m->rt.off.str.compact;
	unsigned char *b = memory_add(m, head + n * width, &addr);
	put(b + m->rt.off.str.length, n, 8);
	put(b + m->rt.off.str.state, width << 2 | 1 << 5 | (ascii ? 1 << 6 : 0), 4);
	memcpy(b + head, chars, n * width);
	return addr;
}

static inline uint64_t memory_text(struct memory *m, const char *text)
{
	return memory_str(m, text, strlen(text), 1, true);
}
