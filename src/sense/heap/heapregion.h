/*
 * What libvigil_heap.so left about one process (preload/heapregion.h,
 * docs/formats/heap.md), checked and taken apart. The file was written by the
 * process itself, which may be hostile, may be writing at this moment, or may
 * have been killed in the middle: every index, offset and length is checked,
 * rows that are not published are passed over and counted, nothing is mapped
 * (a file that is made shorter while it is read must not end us).
 *
 * A look at a process that runs takes one pass, with two more at most when
 * the table of the peak was renewed meanwhile. Live samples are read between
 * two readings of their addresses: what changed in between is left out. So
 * every row that is given was whole, though rows may be milliseconds apart.
 *
 * Live figures are those of the live samples, not the running sums, which a
 * killed writer leaves a sample apart.
 */
#pragma once

#include <sys/types.h>

#include "base/fault.h"
#include "base/text.h"
#include "preload/heapregion.h"

enum {
	HEAPREGION_NOT = 60, /* no heap profile at all */
	HEAPREGION_VERSION = 61, /* of another version: the fault says which two met */
	HEAPREGION_DAMAGED = 62, /* cut off, or its header contradicts itself */
};

/* What the samples of a stack stand for. */
struct heapregion_sum {
	uint64_t bytes, objects; /* estimates */
	double variance; /* of bytes, square bytes */
	double chance_bytes; /* the part of bytes that chance could have left out: sum of w (1 - p); <0: not known */
	double lean; /* sum of w^2 (1 - p)^2; 0: not known */
	uint64_t samples;
};

struct heapregion_stack {
	uint32_t row;
	uint8_t domain, flags; /* enum heap_domain; HEAP_CUT_* */
	uint16_t n_native, n_python;
	const uint64_t *native, *python; /* innermost first; words of heapregion.h */
	uint32_t module_epoch, tid;
	struct heapregion_sum live, total, peak;
	uint64_t freed_bytes[HEAP_LIFETIMES];
	bool has_lived; /* a writer that keeps the two that follow; else they are 0 */
	uint64_t freed_early_bytes[HEAP_LIFETIMES]; /* of freed_bytes[k], no more than that */
	double lived_byte_s; /* what was freed, times how long it had lived */
};

struct heapregion_live {
	uint64_t addr, size, weight, born_mono_ns;
	uint32_t stack, tid; /* stack: index in stacks */
};

struct heapregion_code {
	bool valid;
	int32_t first_line;
	struct span name, file, lines; /* lines: co_linetable or co_lnotab */
	uint32_t code_bytes;
};

struct heapregion_module {
	uint32_t since, until;
	struct span path;
	uint32_t dev_major, dev_minor;
	uint64_t start, end, offset, inode;
};

struct heapregion_skipped {
	uint64_t unpublished; /* rows that were being filled */
	uint64_t bad; /* rows that point outside of the file or contradict themselves */
	uint64_t changed; /* live samples that went while we looked */
};

struct heapregion {
	struct heap_header header; /* copied; texts are ended by NUL; fields that an older writer lacks are 0 */
	struct heapregion_stack *stacks;
	size_t n_stacks;
	struct heapregion_live *live;
	size_t n_live;
	struct heapregion_code *codes; /* by row, as Python words number them */
	size_t n_codes;
	struct heapregion_module *modules;
	size_t n_modules;
	struct heapregion_sum all_live, all_total, all_peak;
	uint64_t peak_mono_ns;
	bool peak_torn; /* it was renewed at each look: it may mix two moments */
	struct heapregion_skipped skipped;
	uint8_t *image; /* owned: what was read; spans point into it */
	size_t image_len;
};

/*
 * image: the whole file, in memory that is 8-byte aligned. again: the table
 * of live addresses as it was a moment after image was read, or NULL. Borrows
 * image for ret's life (ret->image stays NULL). Pure.
 */
int must_check heapregion_parse(const uint8_t *image, size_t len, const uint64_t *again, size_t n_again,
				struct heapregion *ret, struct fault *f);
/* name is for the fault. -errno of open and read; regular files only (-EINVAL). */
int must_check heapregion_read(int dirfd, const char *path, struct heapregion *ret, struct fault *f);
void heapregion_done(struct heapregion *r);
/* Whether the first bytes are those of a heap profile, of whatever version. */
bool heapregion_is(const void *bytes, size_t len);
/* The module that an address belonged to when the stack was seen first; NULL: none. */
const struct heapregion_module *heapregion_module(const struct heapregion *r, uint64_t addr, uint32_t epoch);
/* "7.2 GB were not counted because …"-free: a word for each reason, "no room among live samples". */
const char *heapregion_lost_words(enum heap_lost why);
const char *heapregion_why_words(enum heap_why why);
const char *heapregion_domain_name(enum heap_domain d); /* "malloc", "mmap", "Python arenas", … */
