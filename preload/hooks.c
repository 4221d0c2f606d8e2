/*
 * The functions that replace the program's. Each is the real one and a subtraction; the work of a sample is in
 * sampler.c.
 *
 * operator new and delete are not here: those of libstdc++ call malloc and free, in the shared library as in a static
 * one. (Allocators with their own operators, like jemalloc, are not seen by C++ programs through them: decision 18.)
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/inside.h"

/* The real functions. Until they are known, the pointers lead to functions that find them first. */
static void *malloc_first(size_t n);
static void free_first(void *p);
static void *calloc_first(size_t n, size_t m);
static void *realloc_first(void *p, size_t n);
static int posix_memalign_first(void **p, size_t a, size_t n);
static void *aligned_alloc_first(size_t a, size_t n);
static void *memalign_first(size_t a, size_t n);
static void *valloc_first(size_t n);
static void *pvalloc_first(size_t n);

/* In cache lines of their own, which are not written to once the functions are known. */
static _Alignas(64) struct {
	void *(*malloc)(size_t);
	void (*free)(void *);
	void *(*calloc)(size_t, size_t);
	void *(*realloc)(void *, size_t);
	int (*posix_memalign)(void **, size_t, size_t);
	void *(*aligned_alloc)(size_t, size_t);
	void *(*memalign)(size_t, size_t);
	void *(*valloc)(size_t);
	void *(*pvalloc)(size_t);
	int (*dlclose)(void *);
} real = {malloc_first,	       free_first,     calloc_first, realloc_first, posix_memalign_first,
	  aligned_alloc_first, memalign_first, valloc_first, pvalloc_first, NULL};

/* dlsym may itself need memory before malloc is known: it gets this pool, which is not freed. */
#define POOL_BYTES (32u << 10)
#define POOL_BLOCKS 128
static _Alignas(16) char pool[POOL_BYTES];
static uint32_t pool_used;
static void *pool_blocks[POOL_BLOCKS];
static uint32_t n_pool_blocks;
static uint32_t resolving;

static bool in_pool(const void *p)
{
	return (const char *)p >= pool && (const char *)p < pool + POOL_BYTES;
}

/*
 * The filter makes free() and realloc() check pool addresses, so that other code need not ask where a pointer is from.
 */
static void *pool_get(size_t n)
{
	uint32_t need = n > POOL_BYTES ? POOL_BYTES : ((uint32_t)n + 31u) & ~15u;
	uint32_t at = add_relaxed(&pool_used, need), block = add_relaxed(&n_pool_blocks, 1u);
	if (n > POOL_BYTES - 32 || at + need > POOL_BYTES || block >= POOL_BLOCKS)
		return NULL;
	*(size_t *)(void *)(pool + at) = n; /* size, for realloc */
	void *p = pool + at + 16;
	pool_blocks[block] = p;
	filter_add(p, UINT8_MAX);
	return p;
}

void hooks_mark_pool(void)
{
	for (uint32_t i = 0; i < n_pool_blocks && i < POOL_BLOCKS; i++)
		if (pool_blocks[i])
			filter_add(pool_blocks[i], UINT8_MAX);
}

void *real_function(const char *name)
{
	return patch_late() ? patch_real(name) : dlsym(RTLD_NEXT, name);
}

static void allocator_find(void)
{
	void *p = real_function("malloc"), *f = real_function("free");
	if (!p || !f) {
		/* Without an allocator behind us nothing can work; the program's own error is the better report. */
		heap_process.off = HEAP_WHY_NO_SYMBOL;
		return;
	}
	*(void **)&real.calloc = real_function("calloc");
	*(void **)&real.realloc = real_function("realloc");
	*(void **)&real.posix_memalign = real_function("posix_memalign");
	*(void **)&real.aligned_alloc = real_function("aligned_alloc");
	*(void **)&real.memalign = real_function("memalign");
	*(void **)&real.valloc = real_function("valloc");
	*(void **)&real.pvalloc = real_function("pvalloc");
	*(void **)&real.dlclose = real_function("dlclose");
	*(void **)&real.free = f;
	*(void **)&real.malloc = p;
}

/* True: real is filled in. False: this call comes from within dlsym, or from another thread meanwhile. */
static bool resolve(void)
{
	static uint32_t done;
	uint32_t none = 0;
	if (load_acquire(&done))
		return true;
	if (!__atomic_compare_exchange_n(&resolving, &none, 1u, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return false;
	process_begin();
	allocator_find();
	store_release(&done, 1u);
	return true;
}

static void *malloc_first(size_t n)
{
	return resolve() && real.malloc != malloc_first ? real.malloc(n) : pool_get(n);
}

static void free_first(void *p)
{
	if (!in_pool(p) && resolve() && real.free != free_first)
		real.free(p);
}

static void *calloc_first(size_t n, size_t m)
{
	if (resolve() && real.calloc != calloc_first)
		return real.calloc(n, m);
	/* it is zero already, because pool memory is used only once */
	return m && n > SIZE_MAX / m ? NULL : pool_get(n * m);
}

static void *realloc_first(void *p, size_t n)
{
	if (resolve() && real.realloc != realloc_first)
		return real.realloc(p, n);
	void *q = pool_get(n);
	if (q && p && in_pool(p)) {
		size_t old = *(size_t *)(void *)((char *)p - 16);
		memcpy(q, p, old < n ? old : n);
	}
	return q;
}

static int posix_memalign_first(void **p, size_t a, size_t n)
{
	return resolve() && real.posix_memalign != posix_memalign_first ? real.posix_memalign(p, a, n) : ENOMEM;
}

static void *aligned_alloc_first(size_t a, size_t n)
{
	return resolve() && real.aligned_alloc != aligned_alloc_first ? real.aligned_alloc(a, n) : NULL;
}

static void *memalign_first(size_t a, size_t n)
{
	return resolve() && real.memalign != memalign_first ? real.memalign(a, n) : NULL;
}

static void *valloc_first(size_t n)
{
	return resolve() && real.valloc != valloc_first ? real.valloc(n) : NULL;
}

static void *pvalloc_first(size_t n)
{
	return resolve() && real.pvalloc != pvalloc_first ? real.pvalloc(n) : NULL;
}

/* ---- the allocation functions ---- */

COLD static void *sampled_from(void *p, size_t n, struct place from)
{
	if (p)
		sample_slow(p, n, HEAP_MALLOC, from);
	return p;
}

COLD static void *sampled(void *p, size_t n)
{
	return sampled_from(p, n, (struct place){});
}

/*
 * malloc() and free() are a handful of instructions and a jump to the real one, so rare cases are in functions of their
 * own.
 */
COLD static void *malloc_slow(size_t n)
{
	sample_undo(n);
	return sampled_from(real.malloc(n), n, PLACE_HERE());
}

EXPORTED void *malloc(size_t n)
{
	return unlikely(sample_counted(n)) ? malloc_slow(n) : real.malloc(n);
}

COLD static void *calloc_slow(size_t n, size_t m, size_t bytes)
{
	sample_undo(bytes);
	return sampled_from(real.calloc(n, m), bytes, PLACE_HERE());
}

EXPORTED void *calloc(size_t n, size_t m)
{
	size_t bytes;
	if (unlikely(__builtin_mul_overflow(n, m, &bytes)))
		return real.calloc(n, m); /* the real one fails */
	return unlikely(sample_counted(bytes)) ? calloc_slow(n, m, bytes) : real.calloc(n, m);
}

/* Before the memory is freed: afterwards another thread may get the address. */
COLD static void free_slow(void *p)
{
	struct taken t;
	if (in_pool(p))
		return;
	int error = errno;
	live_take(p, &t);
	errno = error;
	real.free(p);
}

EXPORTED void free(void *p)
{
	if (unlikely(filter_has(p)))
		free_slow(p);
	else
		real.free(p);
}

EXPORTED void free_sized(void *p, size_t n);
EXPORTED void free_sized(void *p, size_t n)
{
	(void)n;
	free(p);
}

EXPORTED void free_aligned_sized(void *p, size_t a, size_t n);
EXPORTED void free_aligned_sized(void *p, size_t a, size_t n)
{
	(void)a;
	(void)n;
	free(p);
}

COLD static void *realloc_slow(void *p, size_t n)
{
	struct taken t;
	if (in_pool(p)) {
		size_t old = *(size_t *)(void *)((char *)p - 16);
		void *q = malloc(n);
		if (q)
			memcpy(q, p, old < n ? old : n);
		return q;
	}
	int error = errno;
	bool was = live_take(p, &t);
	errno = error;
	void *q = real.realloc(p, n);
	error = errno;
	if (was && !q && n)
		live_restore(&t);
	errno = error;
	return q && sample_due(n) ? sampled(q, n) : q;
}

/* As if the old block were freed and the new one allocated. */
EXPORTED void *realloc(void *p, size_t n)
{
	if (unlikely(filter_has(p)))
		return realloc_slow(p, n);
	void *q = real.realloc(p, n);
	if (unlikely(sample_due(n)))
		return sampled(q, n);
	return q;
}

EXPORTED void *reallocarray(void *p, size_t n, size_t m)
{
	size_t bytes;
	if (__builtin_mul_overflow(n, m, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(p, bytes);
}

EXPORTED int posix_memalign(void **ret, size_t a, size_t n)
{
	int e = real.posix_memalign(ret, a, n);
	if (unlikely(sample_due(n)) && e == 0)
		sampled(*ret, n);
	return e;
}

EXPORTED void *aligned_alloc(size_t a, size_t n)
{
	void *p = real.aligned_alloc(a, n);
	return unlikely(sample_due(n)) ? sampled(p, n) : p;
}

EXPORTED void *memalign(size_t a, size_t n);
EXPORTED void *memalign(size_t a, size_t n)
{
	void *p = real.memalign(a, n);
	return unlikely(sample_due(n)) ? sampled(p, n) : p;
}

EXPORTED void *valloc(size_t n)
{
	void *p = real.valloc(n);
	return unlikely(sample_due(n)) ? sampled(p, n) : p;
}

EXPORTED void *pvalloc(size_t n);
EXPORTED void *pvalloc(size_t n)
{
	void *p = real.pvalloc(n);
	return unlikely(sample_due(n)) ? sampled(p, n) : p;
}

/* A closed library may make room for other code at the same addresses. */
EXPORTED int dlclose(void *handle)
{
	if (!resolve() || !real.dlclose)
		return -1;
	patch_closing(true);
	int r = real.dlclose(handle);
	patch_closing(false);
	modules_dirty();
	return r;
}

/* Children of multiprocessing end by this, without destructors. libc's own function is only this system call. */
EXPORTED __attribute__((noreturn)) void _exit(int status)
{
	region_end();
	for (;;)
		syscall(SYS_exit_group, status);
}

EXPORTED __attribute__((noreturn)) void _Exit(int status)
{
	_exit(status);
}

static void allocator_name(void)
{
	struct process *p = &heap_process;
	Dl_info info = {}, libc = {};
	p->allocator_ip = (uintptr_t)real.malloc;
	if (dladdr(*(void **)&real.malloc, &info) && info.dli_fname)
		put_text(p->allocator, p->allocator + sizeof(p->allocator), info.dli_fname);
	void *other = real_function("getenv");
	p->allocator_is_libc = other && dladdr(other, &libc) && libc.dli_fbase == info.dli_fbase;
}

void hooks_known(void)
{
	(void)resolve();
}

/* Does the part of the constructor that was left out because there was no directory yet. */
void hooks_late(void)
{
	unwind_prewarm();
	mappings_begin();
	python_begin();
	allocator_name();
	heap_process.begun = true;
}

/*
 * Runs as the last constructor of the preloaded libraries and before those of the program: the libraries that the
 * program links are loaded by now.
 */
__attribute__((constructor)) static void hooks_begin(void)
{
	if (patch_late()) /* no hooks are in use yet, and a thread is stopped: vigil_heap_attach() does it in steps */
		return;
	resolve();
	if (!heap_process.off)
		hooks_late();
}
