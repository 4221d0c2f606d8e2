#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "preload/heapattach.h"
#include "preload/inside.h"

/* Tables of a region: 15.3 MiB of addresses; only touched pages take space. */
#define N_STACK_INDEX 32768u
#define N_STACKS 16384u
#define N_FRAMES (512u << 10)
#define N_LIVE 65536u
#define N_CODES 8192u
#define N_MODULES 2048u
#define N_BYTES (2u << 20)

#define HEADER_ROOM 4096u
#define CHUNK_BYTES (64u << 10) /* reserved at a time */
#define CHUNKS (HEAP_FILE_BYTES_MAX / CHUNK_BYTES)
#define GENERATIONS 1000
/* How long a thread waits for another one that creates the region: 0.2 s in total, once in a process's life. */
#define MAKING_STEP_NS 100000
#define MAKING_STEPS 2000u

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

_Static_assert(sizeof(struct heap_header) == 2128 && sizeof(struct heap_header) <= HEADER_ROOM, "docs/formats/heap.md");
_Static_assert(sizeof(struct heap_stack) == 384 && sizeof(struct heap_live) == 32, "docs/formats/heap.md");
_Static_assert(sizeof(struct heap_code) == 64 && sizeof(struct heap_module) == 64, "docs/formats/heap.md");
#define STACKS_AT (HEADER_ROOM + N_STACK_INDEX * 4u + N_MODULES * 64u + N_LIVE * 8u)
_Static_assert(HEADER_ROOM == HEAP_PREPARED_HEAD_BYTES && STACKS_AT / CHUNK_BYTES * CHUNK_BYTES == HEAP_PREPARED_AT &&
		       HEAP_PREPARED_LEN == CHUNK_BYTES,
	       "the first row of a stack");
_Static_assert(sizeof(struct thread) <= 64, "must fit into what the loader keeps for late libraries");

HIDDEN struct process heap_process;

EXPORTED struct heap_status vigil_heap_status = {.magic = HEAP_MAGIC, .why = HEAP_WHY_NO_DIR};

static uint64_t reserved[CHUNKS / 64];
static uint64_t region_bytes;
static bool reserve_failed;
static uint32_t prepared; /* generation + 1 of a file that vigil has prepared; 0: none */
static bool prepared_used; /* a chroot without /proc uses another name */

/* A page that is 0 again in every child with its own memory, however it was forked: this detects a fork. */
static uint32_t *fork_mark;

/* mmap() is the program's and leads through our own hook. */
static void *os_mmap(size_t len, int flags, int fd)
{
	/* the last one is on the stack: of an int's place there half would be undefined */
	return (void *)syscall(SYS_mmap, NULL, len, PROT_READ | PROT_WRITE, flags, fd, 0L);
}

static void process_why(uint32_t why, int error)
{
	vigil_heap_status.why = why;
	vigil_heap_status.error = error;
	vigil_heap_status.region = (uintptr_t)heap_process.region;
}

/* Reads a file of the kernel without stdio: 0 and *ret_len, or -1; bytes beyond size are left out. */
static int small_file(const char *path, char *buf, size_t size, size_t *ret_len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	size_t len = 0;
	for (ssize_t n = 1; n > 0 && len<size; len += n> 0 ? (size_t)n : 0)
		n = read(fd, buf + len, size - len);
	close(fd);
	*ret_len = len;
	return 0;
}

const char *text_u64(const char *p, unsigned base, uint64_t *ret)
{
	uint64_t v = 0;
	for (;; p++) {
		unsigned digit = *p >= '0' && *p <= '9'			? (unsigned)(*p - '0')
				 : base == 16 && *p >= 'a' && *p <= 'f' ? (unsigned)(*p - 'a' + 10)
									: base;
		if (digit >= base)
			break;
		v = v * base + digit;
	}
	*ret = v;
	return p;
}

/* These write what fits before end, always followed by NUL. */
char *put_text(char *at, const char *end, const char *text)
{
	while (*text && at + 1 < end)
		*at++ = *text++;
	*at = '\0';
	return at;
}

char *put_u64(char *at, const char *end, uint64_t v)
{
	char digits[21], *p = digits + sizeof(digits) - 1;
	*p = '\0';
	do
		*--p = (char)('0' + v % 10);
	while (v /= 10);
	return put_text(at, end, p);
}

static uint64_t clock_ns(clockid_t id)
{
	struct timespec t;
	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Fields 4 and 22 of stat; the name in field 2 can contain any character. */
static void stat_read(int32_t *ret_ppid, uint64_t *ret_start)
{
	char text[1024];
	size_t len = 0;
	uint64_t v = 0;
	*ret_ppid = 0;
	*ret_start = 0;
	if (small_file("/proc/self/stat", text, sizeof(text) - 1, &len) != 0)
		return;
	text[len] = '\0';
	const char *p = strrchr(text, ')');
	for (int field = 3; p && field <= 22; field++) {
		p = strchr(p + 1, ' ');
		if (p)
			text_u64(p + 1, 10, &v);
		if (p && field == 4)
			*ret_ppid = (int32_t)v;
		if (p && field == 22)
			*ret_start = v;
	}
}

static char *region_name(char *at, const char *end, uint32_t generation, const char *suffix)
{
	at = put_text(at, end, heap_process.dir);
	at = put_text(at, end, "/");
	at = put_u64(at, end, (uint64_t)heap_process.pid);
	at = put_text(at, end, ".");
	at = put_u64(at, end, heap_process.start_ticks);
	if (generation) {
		at = put_text(at, end, ".");
		at = put_u64(at, end, generation);
	}
	return put_text(at, end, suffix);
}

static uint32_t rate_checked(uint64_t v)
{
	if (v == 0)
		return 0;
	return v < HEAP_RATE_MIN ? HEAP_RATE_MIN : v > HEAP_RATE_MAX ? HEAP_RATE_MAX : (uint32_t)v;
}

void process_begin(void)
{
	struct process *p = &heap_process;
	const char *dir = getenv("VIGIL_HEAP_DIR"), *rate = getenv("VIGIL_HEAP_RATE");
	const char *objects = getenv("VIGIL_HEAP_OBJECTS"), *seed = getenv("VIGIL_HEAP_SEED");
	uint64_t v = HEAP_RATE_DEFAULT;
	p->pid = (int32_t)syscall(SYS_getpid);
	p->off = HEAP_WHY_NO_DIR;
	if (dir && dir[0] == '/' && strlen(dir) < sizeof(p->dir)) {
		memcpy(p->dir, dir, strlen(dir) + 1);
		p->off = HEAP_FINE;
	}
	if (rate)
		text_u64(rate, 10, &v);
	p->env_rate = rate_checked(v);
	if (seed)
		text_u64(seed, 10, &p->seed);
	p->objects = objects && objects[0] == '1';
	process_why(p->off, 0);
	fork_mark = os_mmap(4096, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (fork_mark == MAP_FAILED || madvise(fork_mark, 4096, MADV_WIPEONFORK) != 0) {
		fork_mark = NULL;
		p->off = HEAP_WHY_NOT_MAPPED;
		process_why(p->off, errno);
		return;
	}
	*fork_mark = 1;
}

/* In a child that has memory of its own: work begun by other threads does not go on here. */
static void process_forked(int32_t pid)
{
	struct process *p = &heap_process;
	struct heap_header *old = p->region;
	p->region = NULL;
	p->parent_pid = p->pid;
	p->attached = false;
	p->parent_start_ticks = p->start_ticks;
	p->forked = true;
	p->making = 0;
	p->missed_bytes = p->missed_weight = p->missed_samples = 0;
	p->pid = pid;
	p->start_ticks = 0;
	memset(reserved, 0, sizeof(reserved));
	reserve_failed = false;
	filter_clear();
	hooks_mark_pool();
	mappings_clear();
	modules_forget();
	if (old)
		syscall(SYS_munmap, old, region_bytes);
	process_why(p->off, 0);
	store_release(fork_mark, 1u);
}

bool process_mine(void)
{
	struct process *p = &heap_process;
	if (p->off || !fork_mark)
		return false;
	/* A child of vfork shares the parent's memory, so its allocations are the parent's. */
	uint32_t none = load_acquire(fork_mark);
	if (likely(none == 1))
		return true;
	if (none != 0 || !__atomic_compare_exchange_n(fork_mark, &none, 2u, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return false;
	process_forked((int32_t)syscall(SYS_getpid));
	return true;
}

static void table_place(struct heap_table *t, uint64_t *at, uint32_t n, uint32_t item_bytes)
{
	*t = (struct heap_table){.at = *at, .n = n, .item_bytes = item_bytes};
	*at += ((uint64_t)n * item_bytes + 4095) & ~UINT64_C(4095);
}

/* Sets the offsets of the tables; returns the size of the file. */
static uint64_t tables_place(struct heap_header *h)
{
	uint64_t at = HEADER_ROOM;
	table_place(&h->table.stack_index, &at, N_STACK_INDEX, sizeof(uint32_t));
	table_place(&h->table.modules, &at, N_MODULES, sizeof(struct heap_module));
	table_place(&h->table.live_ptr, &at, N_LIVE, sizeof(uint64_t));
	table_place(&h->table.stacks, &at, N_STACKS, sizeof(struct heap_stack));
	table_place(&h->table.frames, &at, N_FRAMES, sizeof(uint64_t));
	table_place(&h->table.codes, &at, N_CODES, sizeof(struct heap_code));
	table_place(&h->table.bytes, &at, N_BYTES, 1);
	table_place(&h->table.live, &at, N_LIVE, sizeof(struct heap_live));
	h->table.stacks.used = HEAP_STACKS_RESERVED;
	return at;
}

/* Creates an empty file whose name gives the reason for no region. */
static void reason_leave(uint32_t why, int error)
{
	char path[600], *end = path + sizeof(path);
	char *at = region_name(path, end, 0, ".off-");
	put_u64(at, end, why);
	int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd >= 0)
		close(fd);
	heap_process.off = why;
	process_why(why, error);
}

/* The file that vigil has prepared, if it is complete and ours. -1: there is none. */
static int prepared_file(uint64_t bytes, uint32_t *ret_generation)
{
	char path[600];
	struct stat st;
	uint32_t generation = prepared - 1;
	prepared = 0;
	region_name(path, path + sizeof(path), generation, ".heap");
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size == bytes && st.st_uid == geteuid()) {
		*ret_generation = generation;
		prepared_used = true;
		return fd;
	}
	close(fd);
	return -1;
}

static int region_file(uint64_t bytes, uint32_t *ret_generation)
{
	char path[600];
	int there = prepared ? prepared_file(bytes, ret_generation) : -1;
	if (there >= 0)
		return there;
	for (uint32_t g = 0; g < GENERATIONS; g++) {
		region_name(path, path + sizeof(path), g, ".heap");
		int fd = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (fd >= 0 || errno != EEXIST) {
			*ret_generation = g;
			return fd;
		}
	}
	return -1;
}

static uint64_t control_rate(void)
{
	char path[600];
	struct heap_control c;
	size_t len = 0;
	char *at = put_text(path, path + sizeof(path), heap_process.dir);
	put_text(at, path + sizeof(path), "/control");
	if (small_file(path, (char *)&c, sizeof(c), &len) == 0 && len == sizeof(c) && c.magic == HEAP_CONTROL_MAGIC)
		return rate_checked(c.rate_bytes);
	return heap_process.env_rate;
}

static void header_texts(struct heap_header *h)
{
	size_t len = 0;
	prctl(PR_GET_NAME, h->comm, 0, 0, 0);
	h->comm[sizeof(h->comm) - 1] = '\0';
	ssize_t n = readlink("/proc/self/exe", h->exe, sizeof(h->exe) - 1);
	h->exe[n > 0 ? n : 0] = '\0';
	if (small_file("/proc/self/cmdline", h->command, sizeof(h->command) - 2, &len) != 0)
		len = 0;
	h->command[len] = h->command[len + 1] = '\0';
	put_text(h->allocator, h->allocator + sizeof(h->allocator), heap_process.allocator);
}

/* Fills in all but the magic. */
static void header_fill(struct heap_header *h, uint64_t file_bytes, uint32_t generation, int32_t ppid)
{
	const struct process *p = &heap_process;
	h->version = HEAP_VERSION;
	h->header_bytes = sizeof(*h);
	h->file_bytes = file_bytes;
	h->pid = p->pid;
	h->ppid = p->forked ? p->parent_pid : ppid;
	h->start_ticks = p->start_ticks;
	h->generation = generation;
	h->origin = p->attached ? HEAP_BY_ATTACH : generation ? HEAP_BY_EXEC : p->forked ? HEAP_BY_FORK : HEAP_BY_START;
	h->parent_start_ticks = p->forked ? p->parent_start_ticks : 0;
	h->begun_unix_ns = clock_ns(CLOCK_REALTIME);
	h->begun_mono_ns = h->last_mono_ns = clock_ns(CLOCK_MONOTONIC);
	h->state = HEAP_RUNNING;
	h->objects_mode = p->objects;
	header_texts(h);
	for (uint32_t i = 0; i < HEAP_STACKS_RESERVED; i++) {
		struct heap_stack *s = region_row(h, &h->table.stacks, i);
		if (s) {
			s->domain = (uint8_t)i;
			store_release(&s->state, (uint32_t)HEAP_ROW_READY);
		}
	}
}

/*
 * Reserving a chunk fails with an error code where touching it would raise SIGBUS. Before Linux 5.14 all of it is
 * reserved at once, by the file.
 */
static bool region_reservable(int fd, struct heap_header *h, uint64_t bytes)
{
	if (madvise(h, HEADER_ROOM, MADV_POPULATE_WRITE) == 0)
		return true;
	if (errno != EINVAL || fallocate(fd, 0, 0, (off_t)bytes) != 0)
		return false;
	memset(reserved, 0xff, sizeof(reserved));
	return true;
}

/* A file larger than the limit (RLIMIT_FSIZE) raises SIGXFSZ instead of an error code. */
static bool size_allowed(uint64_t bytes)
{
	struct rlimit limit;
	return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur >= bytes;
}

static struct heap_header *region_make(void)
{
	struct process *p = &heap_process;
	struct heap_header layout = {};
	uint32_t generation = 0;
	int32_t ppid;
	uint64_t bytes = tables_place(&layout);
	stat_read(&ppid, &p->start_ticks);
	if (!size_allowed(bytes)) {
		reason_leave(HEAP_WHY_NOT_MADE, EFBIG);
		return NULL;
	}
	int fd = region_file(bytes, &generation);
	if (fd < 0) {
		reason_leave(errno == ENOENT || errno == ENOTDIR  ? HEAP_WHY_NO_DIR
			     : errno == ENOSPC || errno == EDQUOT ? HEAP_WHY_NO_SPACE
								  : HEAP_WHY_NOT_MADE,
			     errno);
		return NULL;
	}
	struct heap_header *h = MAP_FAILED;
	if (ftruncate(fd, (off_t)bytes) == 0) /* no effect if it has that size */
		h = os_mmap(bytes, MAP_SHARED, fd);
	bool fine = h != MAP_FAILED && region_reservable(fd, h, bytes);
	int error = errno;
	close(fd);
	if (!fine) {
		char path[600];
		region_name(path, path + sizeof(path), generation, ".heap");
		unlink(path);
		if (h != MAP_FAILED)
			syscall(SYS_munmap, h, bytes);
		reason_leave(h == MAP_FAILED ? HEAP_WHY_NOT_MAPPED : HEAP_WHY_NO_SPACE, error);
		return NULL;
	}
	region_bytes = bytes;
	h->table = layout.table;
	header_fill(h, bytes, generation, ppid);
	store_relaxed(&h->rate_bytes, control_rate()); /* after the file has become visible: see heap_control */
	python_describe(h);
	store_release(&h->magic, HEAP_MAGIC);
	return h;
}

/*
 * Another thread is creating the region: allocations meanwhile would be missing. That thread waits only for the kernel.
 */
static struct heap_header *region_wait(void)
{
	const struct timespec step = {.tv_nsec = MAKING_STEP_NS};
	struct process *p = &heap_process;
	for (uint32_t i = 0; i < MAKING_STEPS && load_acquire(&p->making) && !load_relaxed(&p->off); i++)
		(void)syscall(SYS_nanosleep, &step, NULL); /* nanosleep() is a cancellation point */
	return load_acquire(&p->region);
}

struct heap_header *region_get(void)
{
	struct process *p = &heap_process;
	struct heap_header *h = load_acquire(&p->region);
	if (likely(h != NULL))
		return h;
	uint32_t none = 0;
	if (p->off)
		return NULL;
	if (!__atomic_compare_exchange_n(&p->making, &none, 1u, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return region_wait();
	h = load_acquire(&p->region);
	if (!h)
		h = region_make();
	if (h) {
		store_release(&p->region, h);
		process_why(HEAP_FINE, 0);
	}
	store_release(&p->making, 0u);
	return h;
}

static bool chunk_reserve(struct heap_header *h, uint64_t chunk)
{
	uint64_t bit = UINT64_C(1) << chunk % 64, at = chunk * CHUNK_BYTES;
	uint64_t len = region_bytes - at < CHUNK_BYTES ? region_bytes - at : CHUNK_BYTES;
	if (reserve_failed)
		return false;
	if (madvise((char *)h + at, len, MADV_POPULATE_WRITE) != 0) {
		reserve_failed = true; /* no second try: on a full disk each one is slow */
		return false;
	}
	__atomic_fetch_or(&reserved[chunk / 64], bit, __ATOMIC_RELAXED);
	return true;
}

/* Reserves these bytes of the region if that is not done yet; true: they may be written. */
static bool region_reserve(struct heap_header *h, uint64_t at, uint64_t len)
{
	if (len == 0)
		return true;
	for (uint64_t chunk = at / CHUNK_BYTES; chunk <= (at + len - 1) / CHUNK_BYTES; chunk++)
		if (unlikely(!(load_relaxed(&reserved[chunk / 64]) >> chunk % 64 & 1)) && !chunk_reserve(h, chunk))
			return false;
	return true;
}

bool region_full(void)
{
	return reserve_failed;
}

void *region_row(struct heap_header *h, const struct heap_table *t, uint64_t i)
{
	uint64_t at = t->at + i * t->item_bytes;
	return region_reserve(h, at, t->item_bytes) ? (char *)h + at : NULL;
}

bool region_take(struct heap_header *h, struct heap_table *t, uint64_t n, uint64_t *ret_at)
{
	if (load_relaxed(&t->used) + n > t->n)
		return false;
	uint64_t at = add_relaxed(&t->used, n);
	if (at + n > t->n || !region_reserve(h, t->at + at * t->item_bytes, n * t->item_bytes))
		return false;
	*ret_at = at;
	return true;
}

/* A child of vfork, and one of fork without a region yet, has its parent's mapped. */
__attribute__((destructor)) void region_end(void)
{
	struct heap_header *h = heap_process.region;
	if (!h || heap_process.pid != (int32_t)syscall(SYS_getpid) || load_relaxed(&h->state) != HEAP_RUNNING)
		return;
	modules_last(h);
	store_relaxed(&h->last_mono_ns, coarse_ns());
	store_release(&h->state, (uint32_t)HEAP_ENDED);
}

bool process_attach(const char *dir, uint64_t rate)
{
	struct process *p = &heap_process;
	struct heap_header *h = load_acquire(&p->region);
	size_t len = strlen(dir);
	hooks_known();
	if (h && load_relaxed(&h->state) == HEAP_RUNNING) {
		store_relaxed(&h->rate_bytes, rate_checked(rate));
		return false;
	}
	if (len == 0 || len >= sizeof(p->dir) || !fork_mark)
		return false;
	/* An earlier region's live blocks are outdated: they may have been freed while nothing was counted. */
	store_release(&p->region, NULL);
	memset(reserved, 0, sizeof(reserved));
	reserve_failed = false;
	filter_clear();
	hooks_mark_pool();
	mappings_clear();
	modules_forget();
	memcpy(p->dir, dir, len + 1);
	p->env_rate = rate_checked(rate);
	p->attached = true;
	p->off = HEAP_FINE;
	hooks_late();
	return true;
}

bool process_attach_region(uint32_t file)
{
	prepared = file;
	prepared_used = false;
	struct heap_header *h = region_get();
	bool took = h && prepared_used;
	prepared = 0;
	return took;
}

/*
 * The file's pages go, addresses and header stay: a thread may be in the middle of a sample, or of a free. It then
 * finds empty tables, and its writes are lost. The kernel does it in one step, so the addresses are always mapped.
 */
static void tables_drop(struct heap_header *h)
{
	syscall(SYS_mmap, (char *)h + HEADER_ROOM, region_bytes - HEADER_ROOM, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0L);
}

void process_detach(void)
{
	struct heap_header *h = load_acquire(&heap_process.region);
	if (!h)
		return;
	store_relaxed(&h->rate_bytes, (uint64_t)0);
	if (load_relaxed(&h->state) == HEAP_RUNNING)
		modules_last(h);
	store_relaxed(&h->last_mono_ns, coarse_ns());
	if (__atomic_exchange_n(&h->state, (uint32_t)HEAP_DETACHED, __ATOMIC_ACQ_REL) != HEAP_DETACHED)
		tables_drop(h);
}
