/* Included before base.h: the headers have fields called "unused", which base.h defines as a macro. */
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <linux/unix_diag.h>

#include "sense/net/sockpeer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "base/buf.h"
#include "base/vec.h"
#include "sense/net/netns.h"
#include "sense/net/sockdiag.h"
#include "sense/net/sockpeer_parts.h"
#include "sense/net/socktable.h"

/* Sockets of all namespaces together; more are left out. */
#define SOCKETS_MAX 1000000
/* Connections in the queues of listening unix sockets. */
#define PENDING_MAX 100000

void sockpeer_table_done(struct sockpeer_table *t)
{
	free(t->item);
	free(t->pending);
	free(t->by_address);
	*t = (struct sockpeer_table){.n = 0};
}

int sockpeer_add(struct sockpeer_table *t, const struct sockpeer *s)
{
	if (t->n >= SOCKETS_MAX) {
		t->cut = true;
		return 0;
	}
	if (vec_room(&t->item, &t->cap, t->n + 1) < 0)
		return -ENOMEM;
	t->item[t->n++] = *s;
	return 0;
}

/* An IPv4 connection through an IPv6 socket: its other end may be an IPv4 socket. */
void sockpeer_unmap(struct sockpeer *s)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	if (!s->v6 || memcmp(s->local, mapped, sizeof(mapped)) != 0 || memcmp(s->remote, mapped, sizeof(mapped)) != 0)
		return;
	memmove(s->local, s->local + 12, 4);
	memmove(s->remote, s->remote + 12, 4);
	memset(s->local + 4, 0, 12);
	memset(s->remote + 4, 0, 12);
	s->v6 = false;
}

struct sockpeer_ctx {
	struct sockpeer_table *t;
	uint64_t netns;
};

/* Kernels send tcp_info in different lengths. */
static void info_take(struct sockpeer *s, struct span info)
{
	const size_t at = offsetof(struct tcp_info, tcpi_bytes_received);
	s->has_received = info.len >= at + sizeof(s->received_bytes);
	if (s->has_received) {
		memcpy(&s->received_bytes, info.p + at, sizeof(s->received_bytes));
		memcpy(&s->acked_bytes, info.p + offsetof(struct tcp_info, tcpi_bytes_acked), sizeof(s->acked_bytes));
	}
}

static int tcp_message(void *arg, struct span body)
{
	const struct sockpeer_ctx *ctx = arg;
	struct inet_diag_msg m;
	struct span value;
	uint16_t type;
	int r = 0;
	if (body.len < sizeof(m))
		return -EBADMSG;
	memcpy(&m, body.p, sizeof(m));
	if (m.idiag_family != AF_INET && m.idiag_family != AF_INET6)
		return 0;
	struct sockpeer s = {
		.inode = m.idiag_inode,
		.netns = ctx->netns,
		.v6 = m.idiag_family == AF_INET6,
		.queue_known = true,
		.state = m.idiag_state,
		.local_port = ntohs(m.id.idiag_sport),
		.remote_port = ntohs(m.id.idiag_dport),
		.receive_queue_bytes = m.idiag_rqueue,
		.send_queue_bytes = m.idiag_wqueue,
	};
	memcpy(s.local, m.id.idiag_src, s.v6 ? 16 : 4);
	memcpy(s.remote, m.id.idiag_dst, s.v6 ? 16 : 4);
	sockpeer_unmap(&s);
	struct span rest = {body.p + sizeof(m), body.len - sizeof(m)};
	while (sockdiag_attribute(&rest, &type, &value, &r))
		if (type == INET_DIAG_INFO && s.state == SOCKPEER_ESTABLISHED)
			info_take(&s, value);
	return r ? r : sockpeer_add(ctx->t, &s);
}

static int pending_add(struct sockpeer_table *t, uint64_t listener, struct span inodes)
{
	for (uint32_t client; inodes.len >= sizeof(client);
	     inodes = (struct span){inodes.p + sizeof(client), inodes.len - sizeof(client)}) {
		memcpy(&client, inodes.p, sizeof(client));
		if (client == 0)
			continue;
		if (t->n_pending >= PENDING_MAX) {
			t->cut = true;
			return 0;
		}
		if (vec_room(&t->pending, &t->cap_pending, t->n_pending + 1) < 0)
			return -ENOMEM;
		t->pending[t->n_pending++] = (struct sockpeer_pending){client, listener};
	}
	return 0;
}

static int unix_message(void *arg, struct span body)
{
	const struct sockpeer_ctx *ctx = arg;
	struct unix_diag_msg m;
	struct unix_diag_rqlen queue;
	struct span value;
	uint32_t peer;
	uint16_t type;
	int r = 0;
	if (body.len < sizeof(m))
		return -EBADMSG;
	memcpy(&m, body.p, sizeof(m));
	struct sockpeer s = {
		.inode = m.udiag_ino,
		.netns = ctx->netns,
		.is_unix = true,
		.datagram = m.udiag_type == SOCK_DGRAM,
		.peer_known = true,
		.state = m.udiag_state,
	};
	struct span rest = {body.p + sizeof(m), body.len - sizeof(m)};
	while (r == 0 && sockdiag_attribute(&rest, &type, &value, &r)) {
		if (type == UNIX_DIAG_PEER && value.len >= sizeof(peer)) {
			memcpy(&peer, value.p, sizeof(peer));
			s.peer_inode = peer;
		} else if (type == UNIX_DIAG_RQLEN && value.len >= sizeof(queue)) {
			memcpy(&queue, value.p, sizeof(queue));
			s.queue_known = true;
			s.receive_queue_bytes = queue.udiag_rqueue;
			s.send_queue_bytes = queue.udiag_wqueue;
		} else if (type == UNIX_DIAG_NAME) {
			s.named = true;
			s.name_hash = sockpeer_name_hash(value);
		} else if (type == UNIX_DIAG_ICONS) {
			r = pending_add(ctx->t, m.udiag_ino, value);
		}
	}
	if (r)
		return r;
	return s.inode ? sockpeer_add(ctx->t, &s) : 0;
}

int sockpeer_tcp_parse(struct span messages, uint64_t netns, struct sockpeer_table *t, bool *ret_done)
{
	return sockdiag_parse(messages, tcp_message, &(struct sockpeer_ctx){t, netns}, ret_done);
}

int sockpeer_unix_parse(struct span messages, uint64_t netns, struct sockpeer_table *t, bool *ret_done)
{
	return sockdiag_parse(messages, unix_message, &(struct sockpeer_ctx){t, netns}, ret_done);
}

static int tcp_dump(int fd, uint8_t family, struct sockpeer_ctx *ctx)
{
	const struct inet_diag_req_v2 ask = {
		.sdiag_family = family,
		.sdiag_protocol = IPPROTO_TCP,
		.idiag_ext = 1 << (INET_DIAG_INFO - 1),
		.idiag_states = UINT32_MAX,
	};
	return sockdiag_dump(fd, &ask, sizeof(ask), tcp_message, ctx);
}

static int unix_dump(int fd, struct sockpeer_ctx *ctx)
{
	const struct unix_diag_req ask = {
		.sdiag_family = AF_UNIX,
		.udiag_states = UINT32_MAX,
		.udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_PEER | UDIAG_SHOW_ICONS | UDIAG_SHOW_RQLEN,
	};
	return sockdiag_dump(fd, &ask, sizeof(ask), unix_message, ctx);
}

/* What was added by a dump that failed halfway is taken back, as the text table repeats it. */
static int tcp_add(const struct world *w, pid_t pid, int fd, struct sockpeer_ctx *ctx)
{
	const size_t before = ctx->t->n;
	int r = fd < 0 ? -ENOENT : tcp_dump(fd, AF_INET, ctx);
	if (r == 0) {
		ignore(tcp_dump(fd, AF_INET6, ctx), "a kernel without IPv6 has none");
		return 0;
	}
	ctx->t->n = before;
	if (r != -ENOMEM)
		r = sockpeer_tcp_text(w, pid, ctx->netns, ctx->t);
	ctx->t->cut |= r != 0;
	return r == -ENOMEM ? r : 0;
}

static int unix_add(const struct world *w, pid_t pid, int fd, struct sockpeer_ctx *ctx)
{
	const size_t before = ctx->t->n;
	int r = fd < 0 ? -ENOENT : unix_dump(fd, ctx);
	if (r == 0 || r == -ENOMEM)
		return r;
	ctx->t->n = before;
	ctx->t->no_unix = true;
	r = sockpeer_unix_text(w, pid, ctx->netns, ctx->t);
	return r == -ENOMEM ? r : 0;
}

int sockpeer_read(const struct world *w, pid_t pid, bool with_tcp, struct sockpeer_table *t)
{
	struct netns n;
	cleanup(closep) int fd = -1;
	int r = netns_open(w, pid, &n);
	if (r)
		return r;
	struct sockpeer_ctx ctx = {t, n.inode};
	if (!w->recorded)
		ignore(netns_netlink(&n, NETLINK_SOCK_DIAG, &fd), "the text tables are read then");
	netns_done(&n);
	if (with_tcp)
		r = tcp_add(w, pid, fd, &ctx);
	return r ? r : unix_add(w, pid, fd, &ctx);
}
