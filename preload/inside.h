/*
 * What the parts of libvigil_heap.so know of each other.
 *
 * All of it runs inside a foreign process, within its malloc. So: no allocation, no lock that can wait (except while
 * the region is created, once, 0.2 s at most), no libc function that has one, no GIL, errno is preserved, a few hundred
 * bytes of stack except for the unwinder. State that several threads write is changed by atomic steps only; a thread
 * that is stopped anywhere in here blocks no other thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "preload/fast.h"
#include "preload/heapregion.h"

/* Bytes after which a dormant thread reads the rate again. */
#define DORMANT_STEP_BYTES (1u << 20)
/* The countdown of a thread in a process that will never have a region. */
#define NEVER (UINT64_MAX / 2)

/* ---- the process ---- */

struct process {
	struct heap_header *region; /* NULL: none yet */
	int32_t pid; /* the process that owns the region */
	bool begun; /* our constructor has run: everything can be used */
	uint32_t off; /* enum heap_why: there will never be a region */
	uint32_t making; /* a thread is creating the region */
	uint32_t env_rate;
	uint64_t seed; /* 0: from the clock. Otherwise the same program has the same samples */
	uint32_t n_threads; /* threads that have begun, with a seed */
	/* counted while a thread creates the region, which takes them over */
	uint64_t missed_bytes, missed_weight, missed_samples;
	uint8_t objects;
	bool forked, attached;
	int32_t parent_pid;
	uint64_t parent_start_ticks, start_ticks;
	uintptr_t allocator_ip; /* an address in the real malloc */
	bool allocator_is_libc;
	char allocator[256];
	char dir[512];
};

extern HIDDEN struct process heap_process;

/* ---- region.c ---- */
HIDDEN void process_begin(void); /* reads the environment; once */
/*
 * True if the state belongs to this process. A child of fork is made the owner first; false: off, or another thread is
 * doing that.
 */
HIDDEN bool process_mine(void);
/* The region, created if needed; NULL: there is none, or another thread is creating it. */
HIDDEN struct heap_header *region_get(void);
/* True if reserving space has failed. */
HIDDEN bool region_full(void);
HIDDEN void *region_row(struct heap_header *h, const struct heap_table *t, uint64_t i);
/* Reserves n rows of a table that is filled in order; false: full. */
HIDDEN bool region_take(struct heap_header *h, struct heap_table *t, uint64_t n, uint64_t *ret_at);
/*
 * For a library loaded into a running program: begins in this directory (an existing region goes on, with this rate),
 * and ends. It begins in two steps, as both take time. False from the first: there is nothing to do, as nothing has
 * changed. prepared: see heapattach.h; true from the second: that file is in use now.
 */
HIDDEN bool process_attach(const char *dir, uint64_t rate);
HIDDEN bool process_attach_region(uint32_t prepared);
HIDDEN void process_detach(void);
HIDDEN void region_end(void); /* the process ends now by itself */

/* patch.c: calls of files that were loaded before this library. */
HIDDEN bool patch_late(void); /* true: this library is in no file's search order */
HIDDEN void *patch_real(const char *name); /* the function that the program calls by this name */
HIDDEN void patch_sampled(void); /* patches new files, if there are any */
HIDDEN void patch_closing(bool begins);

HIDDEN const char *text_u64(const char *p, unsigned base, uint64_t *ret);
HIDDEN char *put_text(char *at, const char *end, const char *text);
HIDDEN char *put_u64(char *at, const char *end, uint64_t v);

/* ---- live.c ---- */

/* A live sample, taken out of the table. */
struct taken {
	uint64_t ptr;
	struct heap_live row;
	uint64_t at_ns; /* coarse clock */
};

HIDDEN void filter_clear(void);
HIDDEN void filter_add(const void *p, unsigned n);
HIDDEN bool live_insert(struct heap_header *h, uint64_t ptr, const struct heap_live *row);
/* Takes out the sample at p, if there is one. sum: of its stack and all totals it is subtracted from. */
HIDDEN bool live_take(const void *p, struct taken *ret);
/* Puts it back: it was not freed after all. */
HIDDEN void live_restore(const struct taken *t);
/* Puts back the rest of a mapping of which a part was unmapped. */
HIDDEN void live_restore_part(const struct taken *t, uint64_t ptr, uint64_t size);

/* ---- sampler.c ---- */

/* A return address and its position on the stack, which is below sp. sp 0: unknown. */
struct place {
	uint64_t sp, ip;
};

/* The place that the current function returns to. */
#define PLACE_HERE() ((struct place){(uintptr_t)__builtin_dwarf_cfa(), (uintptr_t)__builtin_return_address(0)})

/* Records an allocation that used up the thread's gap. from: the call of the allocation function. Preserves errno. */
HIDDEN void sample_slow(void *p, size_t n, unsigned domain, struct place from);
HIDDEN void sum_add(struct heap_sum *s, const struct heap_live *row);
HIDDEN void sum_subtract(struct heap_sum *s, const struct heap_live *row);
/* w of Z bytes at rate R. */
HIDDEN uint64_t sample_weight(uint64_t size, uint32_t rate);
HIDDEN uint64_t sample_gap(uint64_t *random, uint32_t rate);
HIDDEN uint64_t coarse_ns(void);
/* Takes a snapshot of the live blocks, if there are more than at the last one. */
HIDDEN void peak_try(struct heap_header *h, uint64_t now);

/* ---- stack.c ---- */

struct frames {
	uint64_t native[HEAP_FRAMES_MAX], python[HEAP_FRAMES_MAX];
	uint16_t n_native, n_python;
	uint8_t flags;
};

/*
 * The position of frame n of a walk in an array of HEAP_FRAMES_MAX, and the function that restores the order if there
 * were more.
 */
HIDDEN uint32_t frames_place(uint32_t n);
HIDDEN void frames_straighten(uint64_t *frames, uint32_t n);
/*
 * The row of this thread's stack, whose frames outside of this library begin at from; a reserved row when the table is
 * full. *ret_lost: enum heap_lost + 1, or 0.
 */
HIDDEN uint32_t stack_intern(struct heap_header *h, unsigned domain, uint32_t tid, const struct place *from,
			     unsigned *ret_lost);
HIDDEN void unwind_prewarm(void);

/* ---- modules.c: the executable mappings of the region ---- */
/* ret_known: true if every address is in a known mapping. */
HIDDEN uint32_t modules_epoch(struct heap_header *h, const struct frames *f, bool *ret_known);
/* True if it is still this epoch, as far as is known. */
HIDDEN bool modules_same(const struct heap_header *h, uint32_t epoch);
/* Before the process ends: reads the mappings once more if a sample had an address in none that is known. */
HIDDEN void modules_last(struct heap_header *h);
HIDDEN void modules_forget(void);
/* True if both addresses are in one loaded object. */
HIDDEN bool modules_same_file(uint64_t a, uint64_t b);
HIDDEN void modules_dirty(void);

/* ---- python.c ---- */

HIDDEN void python_begin(void); /* searches for Python; once, when the loader's locks may be taken */
/* True if this address is known to be code in the file of Python's object allocator. */
HIDDEN bool python_is_home(uint64_t ip);
HIDDEN void python_describe(struct heap_header *h);
HIDDEN void python_frames(struct heap_header *h, struct frames *f);
/* ---- pyobjects.c: puts a counter in front of Python's object allocators ---- */
HIDDEN void pyobjects_begin(bool free_threaded);

/* ---- mappings.c: mmap, munmap, mremap ---- */
HIDDEN void mappings_clear(void);
HIDDEN void mappings_begin(void);

/* ---- hooks.c ---- */
HIDDEN void *real_function(const char *name);
HIDDEN void hooks_known(void); /* finds the real functions, if they are not known yet */
HIDDEN void hooks_late(void);
HIDDEN void hooks_mark_pool(void); /* marks the pool in the filter again, after the filter was cleared */
