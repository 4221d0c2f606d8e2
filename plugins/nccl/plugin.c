/*
 * What runs inside NCCL when NCCL_PROFILER_PLUGIN names it: it notes each
 * collective, send and receive in a ring that lies in a file, and does
 * nothing else. Whoever hangs, crashes or is killed leaves the file behind.
 *
 * Rules of this place: no lock, no allocation after the file is mapped, no
 * answer but 0, so that no job ever fails or waits because of it. A handle is
 * a number in disguise, the order of its call: one that comes back late, after
 * its slot was used again, finds another order there and is dropped. A forked
 * child does not write into its parent's ring. The library is linked to stay
 * loaded, so that a call that comes after the last communicator finds it.
 *
 * The file: $VIGIL_NCCL_RING (its process number is appended), else
 * /dev/shm/vigil-nccl-UID.PID.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "abi.h"
#include "ring.h"

#define RING_BYTES                                                                                                     \
	(sizeof(struct ring_head) + RING_COMMS * sizeof(struct ring_comm) + RING_CALLS * sizeof(struct ring_call))
#define EXPORT __attribute__((visibility("default")))
/* Handles: the order of the call, and what kind of event of it. */
#define HANDLE_KINDS 4
enum { HANDLE_CALL, HANDLE_KERNEL, HANDLE_PROXY };

static _Atomic(struct ring_head *) ring;
static _Atomic(int32_t) ring_pid;
static pthread_once_t opened = PTHREAD_ONCE_INIT;

static struct ring_comm *comms(struct ring_head *r)
{
	return (struct ring_comm *)(r + 1);
}

static struct ring_call *calls(struct ring_head *r)
{
	return (struct ring_call *)(comms(r) + RING_COMMS);
}

static int64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int32_t rank_of_env(void)
{
	static const char *const names[] = {"RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *text = getenv(names[i]);
		char *end;
		if (!text || !*text)
			continue;
		long v = strtol(text, &end, 10);
		if (*end == '\0' && v >= 0 && v <= INT32_MAX)
			return (int32_t)v;
	}
	return -1;
}

static void open_ring(void)
{
	char path[512];
	const char *prefix = getenv("VIGIL_NCCL_RING");
	int saved = errno;
	int n = prefix && *prefix
			? snprintf(path, sizeof(path), "%s%d", prefix, (int)getpid())
			: snprintf(path, sizeof(path), "/dev/shm/vigil-nccl-%u.%d", (unsigned)getuid(), (int)getpid());
	if (n < 0 || (size_t)n >= sizeof(path))
		return;
	/* an old one of this number may still be looked at: never write into what stands there */
	unlink(path);
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd >= 0) {
		/* reserve it now: a full disk would end the job with a bus error later */
		void *map = MAP_FAILED;
		if (posix_fallocate(fd, 0, RING_BYTES) == 0)
			map = mmap(NULL, RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (map == MAP_FAILED)
			unlink(path);
		close(fd);
		if (map != MAP_FAILED) {
			struct ring_head *r = map;
			*r = (struct ring_head){.version = RING_VERSION,
						.head_bytes = sizeof(*r),
						.comm_bytes = sizeof(struct ring_comm),
						.call_bytes = sizeof(struct ring_call),
						.n_comms = RING_COMMS,
						.n_calls = RING_CALLS,
						.pid = getpid(),
						.rank = rank_of_env(),
						.opened_unix_ns = now_ns()};
			atomic_thread_fence(memory_order_release);
			memcpy(r->magic, RING_MAGIC, sizeof(r->magic));
			atomic_store(&ring_pid, (int32_t)getpid());
			atomic_store(&ring, r);
		}
	}
	errno = saved;
}

static void text_into(char *dst, size_t cap, const char *text)
{
	size_t i = 0;
	for (; text && text[i] && i + 1 < cap; i++)
		dst[i] = text[i];
	dst[i] = '\0';
}

/* Contexts are numbers of communicators plus one. Versions 1 to 3 name theirs with each call. */
static void *context_of(uint64_t id, const char *name, int n_nodes, int n_ranks, int rank)
{
	struct ring_head *r = atomic_load(&ring);
	if (!r)
		return NULL;
	uint32_t i = __atomic_fetch_add(&r->comms_made, 1, __ATOMIC_RELAXED);
	if (i >= RING_COMMS) {
		__atomic_store_n(&r->comms_made, RING_COMMS, __ATOMIC_RELAXED);
		return NULL;
	}
	struct ring_comm *c = &comms(r)[i];
	c->id = id;
	c->rank = rank;
	c->n_ranks = n_ranks;
	c->n_nodes = n_nodes;
	text_into(c->name, sizeof(c->name), name);
	__atomic_store_n(&c->state, 1, __ATOMIC_RELEASE);
	return (void *)(uintptr_t)(i + 1);
}

static uint32_t comm_by_hash(struct ring_head *r, uint64_t id, int rank)
{
	uint32_t n = __atomic_load_n(&r->comms_made, __ATOMIC_ACQUIRE);
	for (uint32_t i = 0; i < n && i < RING_COMMS; i++)
		if (comms(r)[i].id == id && comms(r)[i].rank == rank)
			return i;
	void *made = context_of(id, NULL, 0, 0, rank);
	return made ? (uint32_t)(uintptr_t)made - 1 : UINT32_MAX;
}

static void *handle_of(uint64_t order, unsigned kind)
{
	return (void *)(uintptr_t)(order * HANDLE_KINDS + kind);
}

/* The slot of a handle, as long as it is still this call's. */
static struct ring_call *call_of(const void *handle, unsigned *ret_kind)
{
	struct ring_head *r = atomic_load(&ring);
	uint64_t order = (uintptr_t)handle / HANDLE_KINDS;
	if (!r || order == 0)
		return NULL;
	struct ring_call *c = &calls(r)[order % RING_CALLS];
	*ret_kind = (uintptr_t)handle % HANDLE_KINDS;
	return __atomic_load_n(&c->order, __ATOMIC_ACQUIRE) == order ? c : NULL;
}

struct made {
	uint32_t comm;
	uint16_t kind;
	uint64_t seq, count;
	int32_t peer;
	const char *func, *dtype;
};

static void *call_new(const struct made *m)
{
	struct ring_head *r = atomic_load(&ring);
	if (!r || m->comm >= RING_COMMS)
		return NULL;
	uint64_t order = __atomic_add_fetch(&r->made, 1, __ATOMIC_RELAXED);
	struct ring_call *c = &calls(r)[order % RING_CALLS];
	/*
	 * A thread that slept for a whole round must not spoil a newer call, nor two fill one slot: the later gives up.
	 */
	uint64_t before = __atomic_load_n(&c->order, __ATOMIC_RELAXED);
	if (before > order ||
	    !__atomic_compare_exchange_n(&c->order, &before, RING_FILLING, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return NULL;
	atomic_thread_fence(memory_order_seq_cst);
	c->comm = m->comm;
	c->kind = m->kind;
	c->seq = m->seq;
	c->count = m->count;
	c->peer = m->peer;
	c->enqueued_ns = now_ns();
	c->started_ns = c->ended_ns = 0;
	c->is_enqueued = c->channels_begun = c->channels_ended = c->proxies_begun = c->proxies_ended = 0;
	text_into(c->func, sizeof(c->func), m->func);
	text_into(c->dtype, sizeof(c->dtype), m->dtype);
	__atomic_store_n(&c->order, order, __ATOMIC_RELEASE);
	return handle_of(order, HANDLE_CALL);
}

static uint16_t kind_of(const char *func)
{
	return func && strcmp(func, "Recv") == 0 ? RING_RECV : RING_SEND;
}

static void *part_new(void *parent, unsigned kind)
{
	unsigned parent_kind;
	struct ring_call *c = call_of(parent, &parent_kind);
	if (!c || parent_kind != HANDLE_CALL)
		return NULL;
	__atomic_add_fetch(kind == HANDLE_KERNEL ? &c->channels_begun : &c->proxies_begun, 1, __ATOMIC_RELAXED);
	if (c->started_ns == 0)
		__atomic_store_n(&c->started_ns, now_ns(), __ATOMIC_RELAXED);
	return handle_of((uintptr_t)parent / HANDLE_KINDS, kind);
}

static void part_end(struct ring_call *c, unsigned kind)
{
	uint16_t *ended = kind == HANDLE_KERNEL ? &c->channels_ended : &c->proxies_ended;
	uint16_t begun = kind == HANDLE_KERNEL ? c->channels_begun : c->proxies_begun;
	/* a stop may come twice, as an event's and as a state's */
	if (__atomic_load_n(ended, __ATOMIC_RELAXED) >= begun)
		return;
	if (__atomic_add_fetch(ended, 1, __ATOMIC_RELAXED) < begun)
		return;
	if (c->channels_ended >= c->channels_begun && c->proxies_ended >= c->proxies_begun)
		__atomic_store_n(&c->ended_ns, now_ns(), __ATOMIC_RELAXED);
}

static bool ours(void)
{
	return atomic_load(&ring) && atomic_load(&ring_pid) == (int32_t)getpid();
}

static const char *func_v1(uint8_t f)
{
	static const char *const names[] = {"Broadcast", "Reduce",   "AllGather", "ReduceScatter",
					    "AllReduce", "SendRecv", "Send",	  "Recv"};
	return f < sizeof(names) / sizeof(names[0]) ? names[f] : "";
}

static const char *dtype_v1(uint8_t d)
{
	static const char *const names[] = {"ncclInt8",	  "ncclUint8",	 "ncclInt32",	"ncclUint32",  "ncclInt64",
					    "ncclUint64", "ncclFloat16", "ncclFloat32", "ncclFloat64", "ncclBfloat16"};
	return d < sizeof(names) / sizeof(names[0]) ? names[d] : "";
}

/* Behind the head. Its last number is padded in some versions and not in others, which the compiler sees the same. */
#define BODY(d, type) ((const type *)(const void *)((const char *)(d) + sizeof(struct descr_head)))

static int start(unsigned version, void *context, void **handle, void *descr)
{
	const struct descr_head *d = descr;
	uint64_t type = version < 5 ? *(const uint8_t *)descr : d->type;
	struct ring_head *r = atomic_load(&ring);
	struct made m = {.comm = (uint32_t)(uintptr_t)context - 1, .seq = UINT64_MAX, .peer = -1};
	*handle = NULL;
	if (!r || !ours())
		return 0;
	if (type == EVENT_KERNEL || type == EVENT_PROXY_OP) {
		if (type == EVENT_KERNEL || BODY(d, struct proxy_op)->pid == (int32_t)getpid())
			*handle = part_new(d->parent, type == EVENT_KERNEL ? HANDLE_KERNEL : HANDLE_PROXY);
		return 0;
	}
	if (type == EVENT_COLL && version == 1) {
		const struct coll_v1 *c = BODY(d, struct coll_v1);
		m = (struct made){comm_by_hash(r, c->comm, d->rank),
				  RING_COLL,
				  c->seq,
				  c->count,
				  -1,
				  func_v1(c->func),
				  dtype_v1(c->dtype)};
	} else if (type == EVENT_COLL && version < 4) {
		const struct coll_v2 *c = BODY(d, struct coll_v2);
		m = (struct made){
			comm_by_hash(r, c->comm, d->rank), RING_COLL, c->seq, c->count, -1, c->func, c->dtype};
	} else if (type == EVENT_COLL) {
		const struct coll_v4 *c = BODY(d, struct coll_v4);
		m = (struct made){m.comm, RING_COLL, c->seq, c->count, -1, c->func, c->dtype};
	} else if (type == EVENT_P2P && version == 1) {
		const struct p2p_v1 *p = BODY(d, struct p2p_v1);
		m = (struct made){comm_by_hash(r, p->comm, d->rank),
				  kind_of(func_v1(p->func)),
				  UINT64_MAX,
				  p->count,
				  p->peer,
				  func_v1(p->func),
				  dtype_v1(p->dtype)};
	} else if (type == EVENT_P2P && version < 4) {
		const struct p2p_v2 *p = BODY(d, struct p2p_v2);
		m = (struct made){comm_by_hash(r, p->comm, d->rank),
				  kind_of(p->func),
				  UINT64_MAX,
				  p->count,
				  p->peer,
				  p->func,
				  p->dtype};
	} else if (type == EVENT_P2P) {
		const struct p2p_v4 *p = BODY(d, struct p2p_v4);
		m = (struct made){m.comm, kind_of(p->func), UINT64_MAX, p->count, p->peer, p->func, p->dtype};
	} else {
		return 0;
	}
	*handle = call_new(&m);
	return 0;
}

static int start_v1(void *context, void **handle, void *descr)
{
	return start(1, context, handle, descr);
}

static int start_v2(void *context, void **handle, void *descr)
{
	return start(2, context, handle, descr);
}

static int start_v4(void *context, void **handle, void *descr)
{
	return start(4, context, handle, descr);
}

static int start_v5(void *context, void **handle, void *descr)
{
	return start(5, context, handle, descr);
}

/* Of a call this only says that NCCL has handed it over: its end is the end of its kernels and transfers. */
static int stop(void *handle)
{
	unsigned kind = 0;
	struct ring_call *c = ours() ? call_of(handle, &kind) : NULL;
	if (c && kind == HANDLE_CALL)
		__atomic_store_n(&c->is_enqueued, 1, __ATOMIC_RELAXED);
	else if (c && kind == HANDLE_PROXY)
		part_end(c, HANDLE_PROXY);
	else if (c)
		part_end(c, HANDLE_KERNEL);
	return 0;
}

/* Kernels end by an event's stop; the state before it carries the GPU's own clock, which is not needed. */
static int record(void *handle, int state, void *args)
{
	(void)handle;
	(void)state;
	(void)args;
	return 0;
}

static int finalize(void *context)
{
	struct ring_head *r = atomic_load(&ring);
	uint32_t i = (uint32_t)(uintptr_t)context - 1;
	if (r && ours() && context && i < RING_COMMS)
		__atomic_store_n(&comms(r)[i].state, 2, __ATOMIC_RELEASE);
	return 0;
}

static void begin(int *mask)
{
	pthread_once(&opened, open_ring);
	if (mask)
		*mask = ours() ? EVENT_COLL | EVENT_P2P | EVENT_PROXY_OP | EVENT_KERNEL : 0;
}

static int init_v1(void **context, int *mask)
{
	begin(mask);
	if (mask)
		*mask &= ~EVENT_KERNEL; /* version 3 is the first with kernels */
	*context = (void *)(uintptr_t)UINT32_MAX;
	return 0;
}

static int init_v3(void **context, int *mask)
{
	begin(mask);
	*context = (void *)(uintptr_t)UINT32_MAX;
	return 0;
}

static int init_v4(void **context, int *mask, const char *name, uint64_t comm, int n_nodes, int n_ranks, int rank,
		   void *log)
{
	(void)log;
	begin(mask);
	*context = ours() ? context_of(comm, name, n_nodes, n_ranks, rank) : NULL;
	return 0;
}

static int init_v5(void **context, uint64_t comm, int *mask, const char *name, int n_nodes, int n_ranks, int rank,
		   void *log)
{
	return init_v4(context, mask, name, comm, n_nodes, n_ranks, rank, log);
}

#define NAME "vigil"
extern const struct profiler_v1 ncclProfiler_v1, ncclProfiler_v2, ncclProfiler_v3;
extern const struct profiler_v4 ncclProfiler_v4;
extern const struct profiler_v5 ncclProfiler_v5, ncclProfiler_v6;
EXPORT const struct profiler_v1 ncclProfiler_v1 = {NAME, init_v1, start_v1, stop, record, finalize};
EXPORT const struct profiler_v1 ncclProfiler_v2 = {NAME, init_v1, start_v2, stop, record, finalize};
EXPORT const struct profiler_v1 ncclProfiler_v3 = {NAME, init_v3, start_v2, stop, record, finalize};
EXPORT const struct profiler_v4 ncclProfiler_v4 = {NAME, init_v4, start_v4, stop, record, finalize};
EXPORT const struct profiler_v5 ncclProfiler_v5 = {NAME, init_v5, start_v5, stop, record, finalize};
EXPORT const struct profiler_v5 ncclProfiler_v6 = {NAME, init_v5, start_v5, stop, record, finalize};
