/*
 * Reads and checks the heap profile of one process, which libvigil_heap.so writes (preload/heapregion.h,
 * docs/formats/heap.md). The process itself writes the file. It may be hostile, still writing, or killed in the
 * middle of a write. So every index, offset and length is checked, rows that are not published are skipped and
 * counted, and the file is read, not mapped: a mapped file that is shortened meanwhile would kill the reader.
 *
 * Reading the profile of a running process takes one pass, and up to two more if its table of the peak was renewed
 * meanwhile. Live samples are read between two readings of their addresses, and samples whose address changed are
 * left out. So every row in the result was complete, but rows can be milliseconds apart.
 *
 * Live figures are sums over the live samples. The running sums in the file are not used for them: those of a killed
 * writer can be wrong by one sample.
 */
#pragma once

#include <sys/types.h>

#include "base/fault.h"
#include "base/foreign.h"
#include "base/text.h"
#include "preload/heapregion.h"

enum {
	HEAPREGION_NOT = 60, /* not a heap profile */
	HEAPREGION_VERSION = 61, /* a profile of another version; the fault names both versions */
	HEAPREGION_DAMAGED = 62, /* cut off, or with a header that contradicts itself */
};

/* Sums over the samples of a stack. */
struct heapregion_sum {
	uint64_t bytes, objects; /* estimates */
	double variance; /* of bytes, square bytes */
	double chance_bytes; /* bytes that sampling could have missed: sum of w (1 - p); <0: not known */
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
	bool has_lived; /* the writer keeps the next two; else they are 0 */
	uint64_t freed_early_bytes[HEAP_LIFETIMES]; /* part of freed_bytes[k] */
	double lived_byte_s; /* sum over freed blocks of bytes times lifetime */
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
	uint64_t unpublished; /* rows that were being written */
	uint64_t bad; /* rows that point outside of the file or contradict themselves */
	uint64_t changed; /* live samples that were freed while we read */
};

struct heapregion {
	struct heap_header header; /* a copy; texts are NUL-terminated; fields that an older writer lacks are 0 */
	struct heapregion_stack *stacks;
	size_t n_stacks;
	struct heapregion_live *live;
	size_t n_live;
	struct heapregion_code *codes; /* indexed as the words in python[] say */
	size_t n_codes;
	struct heapregion_module *modules;
	size_t n_modules;
	struct heapregion_sum all_live, all_total, all_peak;
	uint64_t peak_mono_ns;
	struct heapregion_sum highest; /* most that was alive at any sample; bytes 0: an older writer, see all_peak */
	bool peak_torn; /* the peak was renewed in every pass, so it may mix two moments */
	struct heapregion_skipped skipped;
	uint8_t *image; /* owned; the bytes read, which the spans point into */
	size_t image_len;
	uint64_t inode; /* of the file; 0: it was parsed only */
	/* Whose the file is, or was before vigil copied it: the content is that user's. All 0: it was parsed only. */
	struct foreign_user owner;
};

/*
 * image: the whole file, 8-byte aligned. again: the table of live addresses, read a second time after image, or NULL.
 * Borrows image while ret is used (ret->image stays NULL). Pure.
 */
int must_check heapregion_parse(const uint8_t *image, size_t len, const uint64_t *again, size_t n_again,
				struct heapregion *ret, struct fault *f);
/*
 * A condition above, or -errno of open and read; -EINVAL if the file is not a regular one. dirfd: a folder, and the
 * file is opened with the rights of its owner, who could have put anything there; AT_FDCWD: a path that a person typed.
 */
int must_check heapregion_read(int dirfd, const char *path, struct heapregion *ret, struct fault *f);
/*
 * Copies an open profile, to_dir and to_name as of file_copy_fd. The copy, which is ours, says whose it was. -EFBIG: it
 * is longer than a profile can be.
 */
int must_check heapregion_copy(int from, int to_dir, const char *to_name);
void heapregion_done(struct heapregion *r);
/* True if the first bytes are those of a heap profile of any version. */
bool heapregion_is(const void *bytes, size_t len);
/* The module that had an address in an epoch, that of the stack's first sample; NULL: none. */
const struct heapregion_module *heapregion_module(const struct heapregion *r, uint64_t addr, uint32_t epoch);
/* A few words for a reason: "no room among live samples". */
const char *heapregion_lost_words(enum heap_lost why);
const char *heapregion_why_words(enum heap_why why);
const char *heapregion_domain_name(enum heap_domain d); /* "malloc", "mmap", "Python arenas", … */
