#include "sense/net/refused.h"

#include <arpa/inet.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "sense/bpf/bpfload.h"
#include "sense/bpf/records.h"
#include "sense/ns.h"

#define ROWS_AT_ONCE 128

struct refused {
	struct bpf_refused_fds fds;
	int link_fd; /* -1: off */
};

static int refused_bpf_call(int command, union bpf_attr *attr)
{
	long r = syscall(SYS_bpf, command, attr, sizeof(*attr));
	return r < 0 ? -errno : (int)r;
}

static bool numbers_are_the_kernels(const struct world *w)
{
	struct stat st;
	return w->proc_fd >= 0 && fstatat(w->proc_fd, "self/ns/pid", &st, 0) == 0 && st.st_ino == PID_NAMESPACE_FIRST;
}

int refused_open(const struct world *w, struct refused **ret, char *why, size_t cap)
{
	struct bpf_refused_fds fds;
	if (!numbers_are_the_kernels(w)) {
		(void)text_copy(
			why, cap,
			"seeing connections that are refused takes the machine's own process numbers, and vigil "
			"runs in a container that has others");
		return WORLD_ABSENT;
	}
	int r = bpf_refused_load(&fds, why, cap);
	if (r)
		return r;
	struct refused *k = calloc(1, sizeof(*k));
	if (!k) {
		closep(&fds.prog_fd);
		closep(&fds.rows_fd);
		return -ENOMEM;
	}
	*k = (struct refused){.fds = fds, .link_fd = -1};
	*ret = k;
	return 0;
}

struct refused *refused_free(struct refused *k)
{
	if (!k)
		return NULL;
	refused_off(k);
	closep(&k->fds.prog_fd);
	closep(&k->fds.rows_fd);
	free(k);
	return NULL;
}

static void row_take(const struct bpf_refused_key *key, const struct bpf_refused_count *c, struct refused_row *ret)
{
	*ret = (struct refused_row){
		.pid = (pid_t)key->tgid,
		.parent = (pid_t)key->parent,
		.v6 = key->family == AF_INET6,
		.port = ntohs(key->port),
		.n = c->n,
		.last_ns = c->last_ns,
		.error = c->error,
	};
	memcpy(ret->address, key->address, sizeof(ret->address));
}

/* Reads all rows in batches, or drops them: then row may be NULL. */
static int rows_walk(const struct refused *k, int command, struct refused_row *row, size_t cap, size_t *ret_n)
{
	struct bpf_refused_key key[ROWS_AT_ONCE];
	struct bpf_refused_count value[ROWS_AT_ONCE];
	size_t n = 0;
	uint64_t position = 0;
	int r = 0;
	for (bool first = true; n < cap && r == 0; first = false) {
		union bpf_attr a;
		memset(&a, 0, sizeof(a));
		a.batch.map_fd = (uint32_t)k->fds.rows_fd;
		a.batch.in_batch = first ? 0 : (uint64_t)(uintptr_t)&position;
		a.batch.out_batch = (uint64_t)(uintptr_t)&position;
		a.batch.keys = (uint64_t)(uintptr_t)key;
		a.batch.values = (uint64_t)(uintptr_t)value;
		a.batch.count = (uint32_t)MIN((size_t)ROWS_AT_ONCE, cap - n);
		r = refused_bpf_call(command, &a);
		const size_t got = r == 0 || r == -ENOENT ? a.batch.count : 0;
		for (size_t i = 0; row && i < got; i++)
			row_take(&key[i], &value[i], &row[n + i]);
		n += got;
	}
	*ret_n = n;
	/* The last batch ends with ENOENT; a bucket that does not fit, with ENOSPC. */
	return r == -ENOENT || r == -ENOSPC ? 0 : r;
}

int refused_on(struct refused *k)
{
	union bpf_attr a;
	size_t dropped;
	if (k->link_fd >= 0)
		return 0;
	int r = rows_walk(k, BPF_MAP_LOOKUP_AND_DELETE_BATCH, NULL, REFUSED_ROWS, &dropped);
	if (r < 0)
		return r;
	memset(&a, 0, sizeof(a));
	a.raw_tracepoint.prog_fd = (uint32_t)k->fds.prog_fd;
	int fd = refused_bpf_call(BPF_RAW_TRACEPOINT_OPEN, &a);
	if (fd < 0)
		return fd;
	k->link_fd = fd;
	return 0;
}

void refused_off(struct refused *k)
{
	closep(&k->link_fd);
}

int refused_take(const struct refused *k, struct refused_row *row, size_t cap, size_t *ret_n)
{
	return rows_walk(k, BPF_MAP_LOOKUP_BATCH, row, cap, ret_n);
}

void refused_format(const struct refused_row *r, char *dst, size_t cap)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff}; /* IPv4 through a socket of IPv6 */
	char text[INET6_ADDRSTRLEN] = "?";
	const bool v4 = !r->v6 || memcmp(r->address, mapped, sizeof(mapped)) == 0;
	const uint8_t *address = r->address + (r->v6 && v4 ? sizeof(mapped) : 0);
	ignore(inet_ntop(v4 ? AF_INET : AF_INET6, address, text, sizeof(text)) != NULL, "a question mark then");
	(void)text_format(dst, cap, v4 ? "%s:%u" : "[%s]:%u", text, r->port);
}
