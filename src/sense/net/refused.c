#include "sense/net/refused.h"

#include <arpa/inet.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "sense/bpf/bpfcall.h"
#include "sense/bpf/bpfload.h"
#include "sense/bpf/records.h"

struct refused {
	struct bpf_refused_fds fds;
	int link_fd; /* -1: off */
};

int refused_open(const struct world *w, struct refused **ret, char *why, size_t cap)
{
	struct bpf_refused_fds fds;
	if (!bpf_sees_numbers(w)) {
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

struct refused_reading {
	struct refused_row *row; /* NULL: they are dropped */
	struct bpf_refused_key key[BPF_ROWS_AT_ONCE];
	struct bpf_refused_count value[BPF_ROWS_AT_ONCE];
};

static void row_take(void *ctx, size_t row, size_t at)
{
	struct refused_reading *reading = ctx;
	const struct bpf_refused_key *key = &reading->key[at];
	const struct bpf_refused_count *c = &reading->value[at];
	struct refused_row *ret = &reading->row[row];
	*ret = (struct refused_row){
		.pid = (pid_t)key->tgid,
		.parent = (pid_t)key->parent,
		.v6 = key->family == AF_INET6,
		.port = ntohs(key->port),
		.n = c->n,
		.made = c->made,
		.last_ns = c->last_ns,
		.error = c->error,
	};
	memcpy(ret->address, key->address, sizeof(ret->address));
}

/* Reads all rows, or drops them: then row is NULL. */
static int rows_walk(const struct refused *k, struct refused_row *row, size_t cap, size_t *ret_n)
{
	struct refused_reading reading = {.row = row};
	const struct bpf_rows rows = {k->fds.rows_fd, reading.key, reading.value, row ? row_take : NULL, &reading};
	return bpf_rows_read(&rows, !row, cap, ret_n);
}

int refused_on(struct refused *k)
{
	size_t dropped;
	if (k->link_fd >= 0)
		return 0;
	int r = rows_walk(k, NULL, REFUSED_ROWS, &dropped);
	if (r < 0)
		return r;
	int fd = bpf_tracepoint_open(k->fds.prog_fd);
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
	return rows_walk(k, row, cap, ret_n);
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
