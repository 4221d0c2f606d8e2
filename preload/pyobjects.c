/*
 * Counts the allocations of Python's own allocators: VIGIL_HEAP_OBJECTS=1. Each domain's functions are replaced by ones
 * that count and call the original ones, so memory that was allocated before or is freed afterwards fits.
 *
 * Memory that the originals take from malloc would be counted twice. So during the call the thread's countdown is set
 * so high that malloc counts nothing.
 */
#include <dlfcn.h>
#include <errno.h>

#include "preload/inside.h"

/* As in Include/cpython/pymem.h since 3.5. */
struct allocator {
	void *context;
	void *(*malloc)(void *, size_t);
	void *(*calloc)(void *, size_t, size_t);
	void *(*realloc)(void *, void *, size_t);
	void (*free)(void *, void *);
};

enum { PYMEM_RAW = 0, PYMEM_MEM = 1, PYMEM_OBJ = 2 };

static _Alignas(64) struct allocator theirs[2]; /* HEAP_OBJECT, HEAP_MEM: in this order */

/* Larger requests go to malloc. Since 3.3. */
#define SMALL_MAX 512u

static const struct allocator *of(void *context)
{
	return context;
}

static unsigned domain_of(const struct allocator *a)
{
	return a == &theirs[0] ? HEAP_OBJECT : HEAP_MEM;
}

static uint64_t quiet_begin(void)
{
	uint64_t left = heap_thread.left;
	heap_thread.left = NEVER;
	return left;
}

INLINE static void *pyobjects_count(const struct allocator *a, void *p, size_t n, uint64_t left, struct place from)
{
	heap_thread.left = left;
	if (p && unlikely(sample_due(n)))
		sample_slow(p, n, domain_of(a), from);
	return p;
}

__attribute__((noinline)) static void object_gone(void *p)
{
	struct taken t;
	int error = errno;
	live_take(p, &t);
	errno = error;
}

COLD static void *quiet_malloc(const struct allocator *a, size_t n)
{
	uint64_t left = quiet_begin();
	return pyobjects_count(a, a->malloc(a->context, n), n, left, PLACE_HERE());
}

COLD static void *quiet_calloc(const struct allocator *a, size_t n, size_t m)
{
	uint64_t left = quiet_begin();
	/* n * m cannot wrap if the call has returned memory */
	return pyobjects_count(a, a->calloc(a->context, n, m), n * m, left, PLACE_HERE());
}

__attribute__((noinline)) static void *quiet_realloc(const struct allocator *a, void *p, size_t n)
{
	struct taken t;
	bool was = false;
	if (unlikely(filter_has(p))) {
		int error = errno;
		was = live_take(p, &t);
		errno = error;
	}
	uint64_t left = quiet_begin();
	void *q = a->realloc(a->context, p, n);
	if (!q && was)
		live_restore(&t);
	return pyobjects_count(a, q, n, left, PLACE_HERE());
}

/* ---- in front of any allocator ---- */

static void *any_malloc(void *context, size_t n)
{
	return quiet_malloc(of(context), n);
}

static void *any_calloc(void *context, size_t n, size_t m)
{
	return quiet_calloc(of(context), n, m);
}

static void *any_realloc(void *context, void *p, size_t n)
{
	return quiet_realloc(of(context), p, n);
}

static void any_free(void *context, void *p)
{
	if (unlikely(filter_has(p)))
		object_gone(p);
	of(context)->free(of(context)->context, p);
}

/*
 * For Python's own allocator, which never calls malloc for small blocks but maps arenas, which the hook of mmap knows.
 * So malloc need not be silenced and nothing follows the call: it is counted and jumps to the original, with the
 * original's context.
 */
COLD static void *malloc_due(const struct allocator *a, size_t n)
{
	sample_undo(n);
	return quiet_malloc(a, n);
}

INLINE static void *small_malloc(const struct allocator *a, void *context, size_t n)
{
	if (unlikely(n > SMALL_MAX))
		return quiet_malloc(a, n);
	if (unlikely(sample_counted(n)))
		return malloc_due(a, n);
	return a->malloc(context, n);
}

COLD static void *calloc_due(const struct allocator *a, size_t n, size_t m)
{
	sample_undo(n * m);
	return quiet_calloc(a, n, m);
}

INLINE static void *small_calloc(const struct allocator *a, void *context, size_t n, size_t m)
{
	if (unlikely(n > SMALL_MAX || m > SMALL_MAX || n * m > SMALL_MAX))
		return quiet_calloc(a, n, m);
	if (unlikely(sample_counted(n * m)))
		return calloc_due(a, n, m);
	return a->calloc(context, n, m);
}

COLD static void free_known(const struct allocator *a, void *context, void *p)
{
	object_gone(p);
	a->free(context, p);
}

INLINE static void small_free(const struct allocator *a, void *context, void *p)
{
	if (unlikely(filter_has(p)))
		free_known(a, context, p);
	else
		a->free(context, p);
}

#define SMALL_FUNCTIONS(name, k)                                                                                       \
	static void *name##_malloc(void *context, size_t n)                                                            \
	{                                                                                                              \
		return small_malloc(&theirs[k], context, n);                                                           \
	}                                                                                                              \
	static void *name##_calloc(void *context, size_t n, size_t m)                                                  \
	{                                                                                                              \
		return small_calloc(&theirs[k], context, n, m);                                                        \
	}                                                                                                              \
	static void *name##_realloc(void *context, void *p, size_t n)                                                  \
	{                                                                                                              \
		(void)context;                                                                                         \
		return quiet_realloc(&theirs[k], p, n);                                                                \
	}                                                                                                              \
	static void name##_free(void *context, void *p)                                                                \
	{                                                                                                              \
		small_free(&theirs[k], context, p);                                                                    \
	}

SMALL_FUNCTIONS(object, 0)
SMALL_FUNCTIONS(mem, 1)

/*
 * Called before the interpreter starts; an allocator that it sets later (PYTHONMALLOC=debug) goes in front of this, or
 * replaces it.
 */
void pyobjects_begin(bool free_threaded)
{
	static const int numbers[2] = {PYMEM_OBJ, PYMEM_MEM};
	static const struct allocator small[2] = {{NULL, object_malloc, object_calloc, object_realloc, object_free},
						  {NULL, mem_malloc, mem_calloc, mem_realloc, mem_free}};
	void (*get)(int, struct allocator *), (*set)(int, struct allocator *);
	struct allocator raw = {};
	*(void **)&get = dlsym(RTLD_DEFAULT, "PyMem_GetAllocator");
	*(void **)&set = dlsym(RTLD_DEFAULT, "PyMem_SetAllocator");
	if (!get || !set)
		return;
	get(PYMEM_RAW, &raw);
	for (int i = 0; i < 2; i++) {
		struct allocator ours = {&theirs[i], any_malloc, any_calloc, any_realloc, any_free};
		get(numbers[i], &theirs[i]);
		/* One with a context wraps another; one that equals that of raw memory is malloc itself. */
		if (!free_threaded && !theirs[i].context && theirs[i].malloc != raw.malloc)
			ours = small[i];
		set(numbers[i], &ours);
	}
}
