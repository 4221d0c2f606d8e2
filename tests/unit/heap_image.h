/* A heap profile made by hand: the layout of preload/heapregion.h with small tables, filled row by row. */
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "preload/heapregion.h"

#define IMAGE_STACKS 64
#define IMAGE_FRAMES 4096
#define IMAGE_LIVE 4096
#define IMAGE_CODES 32
#define IMAGE_MODULES 16
#define IMAGE_TEXT 8192

struct heap_image {
	union {
		struct heap_header header;
		uint64_t align;
	};
	uint32_t stack_index[128];
	struct heap_stack stacks[IMAGE_STACKS];
	uint64_t frames[IMAGE_FRAMES];
	uint64_t live_ptr[IMAGE_LIVE];
	struct heap_live live[IMAGE_LIVE];
	struct heap_code codes[IMAGE_CODES];
	struct heap_module modules[IMAGE_MODULES];
	char text[IMAGE_TEXT];
	uint32_t n_live; /* the maker's own, behind what the file says it holds */
};

static inline struct heap_table image_table(size_t at, uint32_t n, size_t item, uint64_t used)
{
	return (struct heap_table){.at = at, .n = n, .item_bytes = (uint32_t)item, .used = used};
}

static inline void image_init(struct heap_image *m, int32_t pid)
{
	memset(m, 0, sizeof(*m));
	struct heap_header *h = &m->header;
	h->magic = HEAP_MAGIC;
	h->version = HEAP_VERSION;
	h->header_bytes = sizeof(*h);
	h->file_bytes = offsetof(struct heap_image, n_live);
	h->table.stack_index = image_table(offsetof(struct heap_image, stack_index), 128, 4, 0);
	h->table.stacks = image_table(offsetof(struct heap_image, stacks), IMAGE_STACKS, sizeof(m->stacks[0]),
				      HEAP_STACKS_RESERVED);
	h->table.frames = image_table(offsetof(struct heap_image, frames), IMAGE_FRAMES, 8, 0);
	h->table.live_ptr = image_table(offsetof(struct heap_image, live_ptr), IMAGE_LIVE, 8, 0);
	h->table.live = image_table(offsetof(struct heap_image, live), IMAGE_LIVE, sizeof(m->live[0]), 0);
	h->table.codes = image_table(offsetof(struct heap_image, codes), IMAGE_CODES, sizeof(m->codes[0]), 0);
	h->table.modules = image_table(offsetof(struct heap_image, modules), IMAGE_MODULES, sizeof(m->modules[0]), 0);
	h->table.bytes = image_table(offsetof(struct heap_image, text), IMAGE_TEXT, 1, 0);
	h->pid = pid;
	h->state = HEAP_RUNNING;
	h->rate_bytes = HEAP_RATE_DEFAULT;
	h->begun_mono_ns = 1000000000;
	h->last_mono_ns = 101000000000;
	h->begun_unix_ns = UINT64_C(1700000000000000000);
	memcpy(h->comm, "python3", 8);
	memcpy(h->command, "python3\0train.py\0", 18);
}

static inline uint32_t image_text(struct heap_image *m, const char *text, size_t len)
{
	uint64_t at = m->header.table.bytes.used;
	assert(at + len <= IMAGE_TEXT);
	memcpy(m->text + at, text, len);
	m->header.table.bytes.used += len;
	return (uint32_t)at;
}

/* lines: a table of CPython 3.10's kind, pairs of (bytes, lines further). */
static inline uint32_t image_code(struct heap_image *m, uint32_t row, const char *name, const char *file,
				  int32_t first_line, const char *lines, size_t n_lines)
{
	struct heap_code *c = &m->codes[row];
	*c = (struct heap_code){.first_line = first_line, .address = 0x1000 + row, .code_len = 200};
	c->name_at = image_text(m, name, strlen(name));
	c->name_len = (uint16_t)strlen(name);
	c->file_at = image_text(m, file, strlen(file));
	c->file_len = (uint16_t)strlen(file);
	c->table_at = image_text(m, lines, n_lines);
	c->table_len = (uint32_t)n_lines;
	c->state = HEAP_ROW_READY;
	return row;
}

static inline void image_module(struct heap_image *m, const char *path, uint64_t start, uint64_t end)
{
	struct heap_module *to = &m->modules[m->header.table.modules.used++];
	*to = (struct heap_module){.since = 0, .until = UINT32_MAX, .start = start, .end = end};
	to->path_at = image_text(m, path, strlen(path));
	to->path_len = (uint32_t)strlen(path);
	to->state = HEAP_ROW_READY;
}

static inline uint64_t image_python(uint32_t code, int32_t offset, bool entry)
{
	return (uint64_t)(uint32_t)offset | (uint64_t)code << 32 | (uint64_t)entry << 56;
}

static inline uint32_t image_stack(struct heap_image *m, const uint64_t *native, uint16_t n_native,
				   const uint64_t *python, uint16_t n_python)
{
	uint32_t row = (uint32_t)m->header.table.stacks.used++;
	assert(row < IMAGE_STACKS && m->header.table.frames.used + n_native + n_python <= IMAGE_FRAMES);
	struct heap_stack *s = &m->stacks[row];
	s->frames_at = (uint32_t)m->header.table.frames.used;
	s->n_native = n_native;
	s->n_python = n_python;
	s->domain = HEAP_MALLOC;
	if (n_native)
		memcpy(m->frames + s->frames_at, native, n_native * sizeof(*native));
	if (n_python)
		memcpy(m->frames + s->frames_at + n_native, python, n_python * sizeof(*python));
	m->header.table.frames.used += (uint64_t)n_native + n_python;
	s->state = HEAP_ROW_READY;
	return row;
}

static inline void image_sum(struct heap_sum *s, uint64_t size, uint64_t weight, int64_t sign)
{
	s->bytes += (uint64_t)sign * weight;
	s->count_256 += (uint64_t)sign * (256 * weight / (size ? size : 1));
	s->variance += (uint64_t)sign * (weight * (weight - size) / 1024);
	s->samples += (uint64_t)sign;
}

/* A sample that lives. */
static inline void image_live(struct heap_image *m, uint32_t stack, uint64_t addr, uint64_t size, uint64_t weight,
			      uint64_t born_ns)
{
	uint32_t i = m->n_live++;
	assert(i < IMAGE_LIVE);
	m->live[i] =
		(struct heap_live){.size = size, .weight = weight, .born_mono_ns = born_ns, .stack = stack, .tid = 7};
	m->live_ptr[i] = addr;
	image_sum(&m->stacks[stack].live, size, weight, 1);
	image_sum(&m->stacks[stack].total, size, weight, 1);
	image_sum(&m->header.live, size, weight, 1);
	image_sum(&m->header.total, size, weight, 1);
	m->header.samples++;
	m->header.requested_bytes += weight;
}

/* One that was freed after so many milliseconds. */
static inline void image_freed(struct heap_image *m, uint32_t stack, uint64_t size, uint64_t weight, uint64_t lived_ms)
{
	size_t k = 0;
	for (uint64_t limit = 1; k + 1 < HEAP_LIFETIMES && lived_ms >= limit; limit *= 4)
		k++;
	m->stacks[stack].freed_bytes[k] += weight;
	if (lived_ms < UINT64_C(1) << 2 * k >> 1)
		m->stacks[stack].freed_early_bytes[k] += weight;
	m->stacks[stack].lived_kib_ms += weight / 1024 * lived_ms;
	image_sum(&m->stacks[stack].total, size, weight, 1);
	image_sum(&m->header.total, size, weight, 1);
	m->header.samples++;
	m->header.frees++;
	m->header.requested_bytes += weight;
}

/* What lives is the peak. */
static inline void image_peak(struct heap_image *m, uint64_t mono_ns)
{
	uint64_t which = 1 - (m->header.peak_which & 1);
	for (uint32_t i = 0; i < IMAGE_STACKS; i++)
		m->stacks[i].peak[which] = m->stacks[i].live;
	m->header.peak_bytes[which] = m->header.live.bytes;
	m->header.peak_mono_ns[which] = mono_ns;
	m->header.peak_which = which;
}
