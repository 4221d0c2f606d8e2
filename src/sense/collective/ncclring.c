#include "sense/collective/ncclring.h"

#include <fcntl.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"

/*
 * The layout is declared here a second time, because code that runs inside jobs is not compiled into vigil.
 * plugins/nccl/ring.h is the writer's declaration, and a test compares the two.
 */
#define MAGIC "vigilncc"
#define VERSION 1
#define ROOM_MAX (1u << 20)

struct head {
	char magic[8];
	uint32_t version;
	uint32_t head_bytes, comm_bytes, call_bytes;
	uint32_t n_comms, n_calls;
	int64_t pid;
	int32_t rank;
	uint32_t comms_made;
	uint64_t made;
};
struct comm {
	uint64_t id;
	int32_t rank, n_ranks, n_nodes;
	uint32_t state;
	char name[32];
};
enum { KIND_COLL = 1, KIND_SEND = 2, KIND_RECV = 3 };
struct call {
	uint64_t order;
	uint64_t seq, count;
	int64_t enqueued_ns, started_ns, ended_ns;
	uint32_t comm;
	int32_t peer;
	uint16_t kind, is_enqueued;
	uint16_t channels_begun, channels_ended, proxies_begun, proxies_ended;
	uint32_t reserved;
	char func[16], dtype[16];
};

static int foreign(struct fault *f, const char *why)
{
	return fault_set(f, NCCLRING_FOREIGN, "not a ring of vigil's NCCL plugin: %s", why);
}

static int head_of(struct span bytes, struct head *h, struct fault *f)
{
	if (bytes.len < sizeof(*h))
		return foreign(f, "it is shorter than a head");
	memcpy(h, bytes.p, sizeof(*h));
	if (memcmp(h->magic, MAGIC, sizeof(h->magic)) != 0)
		return foreign(f, "its first bytes are others (or it is being made at this moment)");
	if (h->version != VERSION)
		return fault_set(
			f, NCCLRING_FOREIGN,
			"a ring of version %u, but this vigil reads version %u: use the plugin that came with it",
			h->version, VERSION);
	if (h->head_bytes < sizeof(*h) || h->comm_bytes < sizeof(struct comm) || h->call_bytes < sizeof(struct call) ||
	    h->comm_bytes > 4096 || h->call_bytes > 4096 || h->n_comms > NCCLRING_COMMS_MAX || h->n_calls == 0 ||
	    h->n_calls > ROOM_MAX)
		return foreign(f, "its head makes no sense");
	uint64_t need = h->head_bytes + (uint64_t)h->comm_bytes * h->n_comms + (uint64_t)h->call_bytes * h->n_calls;
	return need > bytes.len ? foreign(f, "it is shorter than its head says") : 0;
}

static void clean(char *dst, size_t cap, const char *src, size_t len)
{
	span_copy((struct span){src, strnlen(src, len)}, dst, cap);
}

static int read_comms(struct span bytes, const struct head *h, struct ncclring *r)
{
	size_t n = MIN(h->comms_made, h->n_comms);
	r->comms = arena_alloc(&r->arena, MAX(n, (size_t)1) * sizeof(*r->comms));
	if (!r->comms)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct comm c;
		memcpy(&c, bytes.p + h->head_bytes + i * h->comm_bytes, sizeof(c));
		struct ncclring_comm *to = &r->comms[r->n_comms++];
		*to = (struct ncclring_comm){.id = c.id, .rank = c.rank, .n_ranks = c.n_ranks, .n_nodes = c.n_nodes};
		to->open = c.state == 1;
		clean(to->name, sizeof(to->name), c.name, sizeof(c.name));
	}
	return 0;
}

/* False if the slot is empty, torn or not valid. */
static bool read_call(const struct head *h, const struct ncclring *r, const char *at, size_t slot,
		      struct ncclring_call *ret)
{
	struct call c;
	uint64_t after;
	memcpy(&c, at, sizeof(c));
	memcpy(&after, at, sizeof(after));
	if (c.order != after || c.order == 0 || c.order % h->n_calls != slot || c.order > h->made ||
	    c.comm >= r->n_comms || c.kind < KIND_COLL || c.kind > KIND_RECV)
		return false;
	bool parts = c.channels_begun || c.proxies_begun;
	*ret = (struct ncclring_call){
		.order = c.order,
		.comm = c.comm,
		.is_p2p = c.kind != KIND_COLL,
		.sends = c.kind == KIND_SEND,
		.has_seq = c.seq != UINT64_MAX,
		.seq = c.seq,
		.count = c.count,
		.peer = c.peer,
		.enqueued_ns = c.enqueued_ns,
		.started_ns = c.started_ns,
		.ended_ns = c.ended_ns,
		.kernels_seen = parts,
		.ended = parts && c.channels_ended >= c.channels_begun && c.proxies_ended >= c.proxies_begun,
		.channels_running = (uint32_t)sub_floor(c.channels_begun, c.channels_ended),
	};
	clean(ret->func, sizeof(ret->func), c.func, sizeof(c.func));
	clean(ret->dtype, sizeof(ret->dtype), c.dtype, sizeof(c.dtype));
	return ret->func[0] != '\0';
}

static int by_order(const void *va, const void *vb)
{
	const struct ncclring_call *a = va, *b = vb;
	return (a->order > b->order) - (a->order < b->order);
}

int ncclring_parse(struct span bytes, struct ncclring *ret, struct fault *f)
{
	struct head h;
	int e = head_of(bytes, &h, f);
	if (e)
		return e;
	struct ncclring r = {.pid = h.pid, .rank = h.rank >= 0 ? h.rank : NCCLRING_NO_RANK, .n_made = h.made};
	e = read_comms(bytes, &h, &r);
	if (e == 0)
		r.calls = arena_alloc(&r.arena, h.n_calls * sizeof(*r.calls));
	if (e || !r.calls) {
		ncclring_done(&r);
		return -ENOMEM;
	}
	const char *calls = bytes.p + h.head_bytes + (size_t)h.comm_bytes * h.n_comms;
	for (size_t i = 0; i < h.n_calls; i++)
		if (read_call(&h, &r, calls + i * h.call_bytes, i, &r.calls[r.n_calls]))
			r.n_calls++;
	r.n_torn = (size_t)MIN(h.made, (uint64_t)h.n_calls) - MIN(r.n_calls, (size_t)MIN(h.made, (uint64_t)h.n_calls));
	if (r.n_calls)
		qsort(r.calls, r.n_calls, sizeof(*r.calls), by_order);
	*ret = r;
	return 0;
}

int ncclring_read(const struct foreign_place *at, const char *path, struct ncclring *ret, struct fault *f)
{
	cleanup(freep) char *bytes = NULL;
	size_t len = 0;
	cleanup(closep) int fd = -1;
	int r = foreign_open_own(at, path, &fd);
	if (r == 0)
		r = file_slurp_fd(fd, NCCLRING_FILE_MAX, &bytes, &len);
	if (r == FOREIGN_OTHER)
		return fault_set(f, NCCLRING_FOREIGN, "%s: it is no regular file, or another user's", path);
	if (r == -ENOENT || r == -ENOTDIR)
		return fault_set(f, NCCLRING_NONE, "%s: there is no such file", path);
	if (r == -ETIMEDOUT)
		return fault_set(f, r, "%s: its file system does not answer", path);
	if (r < 0)
		return fault_set(f, r, "%s: cannot be read: %s", path, strerror(-r));
	struct fault why = {.text = ""};
	r = ncclring_parse((struct span){bytes, len}, ret, &why);
	return r > 0 ? fault_set(f, r, "%s: %s", path, why.text) : r;
}

void ncclring_done(struct ncclring *r)
{
	arena_done(&r->arena);
	*r = (struct ncclring){.comms = NULL};
}
