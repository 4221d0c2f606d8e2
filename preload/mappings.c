/*
 * Anonymous memory that the program maps itself. A part of a mapping can be unmapped or moved, so sampled mappings are
 * also kept in a list that is searched by range. Mappings are large: there are few, and a call costs a system call
 * anyway.
 *
 * libc's own mappings do not pass through here, but those of a preloaded allocator and of Python's do: the first are
 * left out, because its malloc counts them; the second are a domain of their own.
 */
#include <errno.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/inside.h"

#define KEPT 4096u
#define WRITING 1u
/* Sizes of the object allocator's arenas: 3.8 and 3.9, later ones. */
#define ARENA_OLD_BYTES (256u << 10)
#define ARENA_BYTES (1u << 20)

static struct {
	void *(*mmap)(void *, size_t, int, int, int, off_t);
	int (*munmap)(void *, size_t);
	void *(*mremap)(void *, size_t, size_t, int, ...);
} real;

static struct kept {
	uint64_t start, end; /* start 0: free */
} kept[KEPT];
static uint32_t kept_top; /* no used entry at or above it */
static uint32_t n_kept;

void mappings_clear(void)
{
	__builtin_memset(kept, 0, sizeof(kept[0]) * load_relaxed(&kept_top));
	kept_top = n_kept = 0;
}

/* Finding the functions may need memory, but not by mmap; until then the system call is made directly. */
void mappings_begin(void)
{
	*(void **)&real.mmap = real_function("mmap");
	*(void **)&real.munmap = real_function("munmap");
	*(void **)&real.mremap = real_function("mremap");
}

static void *mmap_real(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	if (likely(real.mmap != NULL))
		return real.mmap(addr, len, prot, flags, fd, offset);
	return (void *)syscall(SYS_mmap, addr, len, prot, flags, fd, offset);
}

static int munmap_real(void *addr, size_t len)
{
	return likely(real.munmap != NULL) ? real.munmap(addr, len) : (int)syscall(SYS_munmap, addr, len);
}

static void mappings_range_keep(uint64_t start, uint64_t end)
{
	uint32_t top = load_relaxed(&kept_top);
	for (uint32_t i = 0; i < KEPT; i++) {
		uint64_t none = 0;
		if (load_relaxed(&kept[i].start) != 0 ||
		    !__atomic_compare_exchange_n(&kept[i].start, &none, (uint64_t)WRITING, false, __ATOMIC_ACQUIRE,
						 __ATOMIC_RELAXED))
			continue;
		store_relaxed(&kept[i].end, end);
		store_release(&kept[i].start, start);
		add_relaxed(&n_kept, 1u);
		while (top <= i &&
		       !__atomic_compare_exchange_n(&kept_top, &top, i + 1, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
			;
		return;
	}
}

/* The parts of one sampled mapping before and behind the removed range. */
struct cut {
	struct taken taken;
	uint64_t start, end;
};

/* The first kept mapping from *i on with bytes in the range; it is removed from list and table. */
static bool cut_next(uint64_t start, uint64_t end, uint32_t *i, struct cut *ret)
{
	for (; *i < load_acquire(&kept_top); (*i)++) {
		uint64_t s = load_acquire(&kept[*i].start), e = load_relaxed(&kept[*i].end);
		if (s <= WRITING || s >= end || e <= start)
			continue;
		if (!__atomic_compare_exchange_n(&kept[*i].start, &s, UINT64_C(0), false, __ATOMIC_ACQ_REL,
						 __ATOMIC_RELAXED))
			continue;
		sub_relaxed(&n_kept, 1u);
		ret->start = s;
		ret->end = e;
		if (live_take((const void *)(uintptr_t)s, &ret->taken)) // NOLINT(performance-no-int-to-ptr)
			return true;
	}
	return false;
}

static void part_restore(const struct cut *c, uint64_t start, uint64_t end)
{
	if (end <= start)
		return;
	live_restore_part(&c->taken, start, end - start);
	mappings_range_keep(start, end);
}

/* A range that goes away: restores the parts of sampled mappings beside it, or, if the call failed, all of them. */
struct cuts {
	struct cut c[8];
	uint32_t n;
};

static void cuts_take(struct cuts *cuts, uint64_t start, uint64_t end)
{
	uint32_t i = 0;
	cuts->n = 0;
	if (likely(load_relaxed(&n_kept) == 0))
		return;
	int error = errno;
	struct cut c;
	while (cut_next(start, end, &i, &c)) {
		/*
		 * If the call fails, more than fit here are not restored; with that many in a range it does not fail.
		 */
		if (cuts->n < sizeof(cuts->c) / sizeof(cuts->c[0]))
			cuts->c[cuts->n++] = c;
		else
			part_restore(&c, c.start < start ? c.start : end, c.start < start ? start : c.end);
	}
	errno = error;
}

static void cuts_settle(const struct cuts *cuts, uint64_t start, uint64_t end, bool gone)
{
	if (likely(cuts->n == 0))
		return;
	int error = errno;
	for (uint32_t i = 0; i < cuts->n; i++) {
		const struct cut *c = &cuts->c[i];
		if (gone) {
			part_restore(c, c->start, start);
			part_restore(c, end, c->end);
		} else {
			part_restore(c, c->start, c->end);
		}
	}
	errno = error;
}

static bool is_arena(size_t len, uint64_t caller)
{
	return (len == ARENA_BYTES || len == ARENA_OLD_BYTES) && python_is_home(caller);
}

/* A new mapping is a sample. */
__attribute__((noinline)) static void mapping_sampled(void *p, size_t len, uint64_t caller)
{
	const struct process *pr = &heap_process;
	if (!pr->allocator_is_libc && modules_same_file(caller, pr->allocator_ip))
		return;
	sample_slow(p, len, is_arena(len, caller) ? HEAP_MMAP_PYTHON : HEAP_MMAP, (struct place){});
	if (filter_has(p))
		mappings_range_keep((uintptr_t)p, (uintptr_t)p + len);
}

/* Mappings of Python's arenas are left out while Python's objects are counted themselves. */
static bool mappings_counts(int prot, int flags, size_t len, uint64_t caller)
{
	return (flags & MAP_ANONYMOUS) != 0 && prot != PROT_NONE && !(heap_process.objects && is_arena(len, caller));
}

static void *map(void *addr, size_t len, int prot, int flags, int fd, off_t offset, uint64_t caller)
{
	struct cuts cuts;
	uint64_t start = (uintptr_t)addr;
	cuts.n = 0;
	if ((flags & MAP_FIXED) != 0 && (flags & MAP_FIXED_NOREPLACE) != MAP_FIXED_NOREPLACE)
		cuts_take(&cuts, start, start + len);
	void *p = mmap_real(addr, len, prot, flags, fd, offset);
	cuts_settle(&cuts, start, start + len, p != MAP_FAILED);
	if (p != MAP_FAILED && mappings_counts(prot, flags, len, caller) && unlikely(sample_due(len)))
		mapping_sampled(p, len, caller);
	return p;
}

EXPORTED void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	return map(addr, len, prot, flags, fd, offset, (uintptr_t)__builtin_return_address(0));
}

EXPORTED void *mmap64(void *addr, size_t len, int prot, int flags, int fd, off64_t offset)
{
	return map(addr, len, prot, flags, fd, offset, (uintptr_t)__builtin_return_address(0));
}

EXPORTED int munmap(void *addr, size_t len)
{
	struct cuts cuts;
	uint64_t start = (uintptr_t)addr, end = (start + len + 4095) & ~UINT64_C(4095);
	cuts_take(&cuts, start, end);
	int r = munmap_real(addr, len);
	cuts_settle(&cuts, start, end, r == 0);
	return r;
}

/* As if the old one were unmapped and the new one mapped. */
EXPORTED void *mremap(void *addr, size_t old_len, size_t new_len, int flags, ...)
{
	struct cuts cuts;
	uint64_t start = (uintptr_t)addr;
	va_list more;
	va_start(more, flags);
	void *at = (flags & MREMAP_FIXED) != 0 ? va_arg(more, void *) : NULL;
	va_end(more);
	cuts_take(&cuts, start, start + old_len);
	void *p = real.mremap ? real.mremap(addr, old_len, new_len, flags, at)
			      : (void *)syscall(SYS_mremap, addr, old_len, new_len, flags, at);
	cuts_settle(&cuts, start, start + old_len, p != MAP_FAILED);
	/* It is unknown here whether the memory is a file's or anonymous; files are hardly ever moved. */
	if (p != MAP_FAILED && unlikely(sample_due(new_len)))
		mapping_sampled(p, new_len, (uintptr_t)__builtin_return_address(0));
	return p;
}
