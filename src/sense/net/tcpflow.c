/* Included before base.h: the header has fields called "unused", which base.h defines as a macro. */
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>

#include "sense/net/tcpflow.h"

#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/vec.h"
#include "sense/net/fdtarget.h"
#include "sense/net/sockdiag.h"

/* Maximum number of descriptors read per process. */
#define FDS_MOST 4096
/*
 * Values of the TCP states, which linux/tcp.h does not export. TCP_SYN_SENT to TCP_LAST_ACK are existing connections.
 */
enum { STATE_ESTABLISHED = 1, STATE_TIME_WAIT = 6, STATE_CLOSE = 7, STATE_LISTEN = 10 };

void tcpflow_table_done(struct tcpflow_table *t)
{
	free(t->item);
	*t = (struct tcpflow_table){.n = 0};
}

static int table_add(struct tcpflow_table *t, const struct tcpflow_socket *s)
{
	if (vec_room(&t->item, &t->cap, t->n + 1) < 0)
		return -ENOMEM;
	t->item[t->n++] = *s;
	return 0;
}

static int by_inode(const void *a, const void *b)
{
	const struct tcpflow_socket *x = a, *y = b;
	return (x->inode > y->inode) - (x->inode < y->inode);
}

static void table_sort(struct tcpflow_table *t)
{
	if (t->n)
		qsort(t->item, t->n, sizeof(*t->item), by_inode);
}

/* ---- sock_diag ---- */

/* Kernels send tcp_info in different lengths; missing fields set no has_ flag. */
static void info_take(struct tcpflow_socket *s, const char *data, size_t len)
{
	const size_t acked = offsetof(struct tcp_info, tcpi_bytes_acked);
	const size_t received = offsetof(struct tcp_info, tcpi_bytes_received);
	const size_t lost = offsetof(struct tcp_info, tcpi_total_retrans);
	if (len < received + sizeof(s->received_bytes))
		return;
	memcpy(&s->acked_bytes, data + acked, sizeof(s->acked_bytes));
	memcpy(&s->received_bytes, data + received, sizeof(s->received_bytes));
	memcpy(&s->lost, data + lost, sizeof(s->lost));
	s->has_bytes = true;
}

static int diag_message(void *table, struct span body)
{
	struct tcpflow_table *t = table;
	struct inet_diag_msg m;
	struct span value;
	uint16_t type;
	int r = 0;
	if (body.len < sizeof(m))
		return -EBADMSG;
	memcpy(&m, body.p, sizeof(m));
	struct tcpflow_socket s = {
		.inode = m.idiag_inode,
		.state = m.idiag_state,
		.send_queue_bytes = m.idiag_wqueue,
		.receive_queue_bytes = m.idiag_rqueue,
		.retransmits = m.idiag_timer == 1 ? m.idiag_retrans : 0,
		.local_port = ntohs(m.id.idiag_sport),
		.remote_port = ntohs(m.id.idiag_dport),
		.same_address = memcmp(m.id.idiag_src, m.id.idiag_dst, sizeof(m.id.idiag_src)) == 0,
	};
	struct span rest = {body.p + sizeof(m), body.len - sizeof(m)};
	while (sockdiag_attribute(&rest, &type, &value, &r))
		if (type == INET_DIAG_INFO)
			info_take(&s, value.p, value.len);
	if (r)
		return r;
	return s.inode ? table_add(t, &s) : 0; /* 0: no process holds it */
}

int tcpflow_diag_parse(struct span messages, struct tcpflow_table *t, bool *ret_done)
{
	return sockdiag_parse(messages, diag_message, t, ret_done);
}

static int diag_family(int fd, uint8_t family, struct tcpflow_table *t)
{
	const struct inet_diag_req_v2 ask = {
		.sdiag_family = family,
		.sdiag_protocol = IPPROTO_TCP,
		.idiag_ext = 1 << (INET_DIAG_INFO - 1),
		.idiag_states = ~(1u << STATE_LISTEN | 1u << STATE_TIME_WAIT | 1u << STATE_CLOSE),
	};
	return sockdiag_dump(fd, &ask, sizeof(ask), diag_message, t);
}

int tcpflow_dump(const struct world *w, struct tcpflow_table *ret)
{
	struct tcpflow_table t = {.by_diag = true};
	if (w->recorded)
		return WORLD_ABSENT;
	cleanup(closep) int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	if (fd < 0)
		return WORLD_ABSENT;
	int r = diag_family(fd, AF_INET, &t);
	if (r == 0)
		ignore(diag_family(fd, AF_INET6, &t), "a kernel without IPv6 has none");
	if (r) {
		tcpflow_table_done(&t);
		return r == -ENOMEM ? r : WORLD_ABSENT;
	}
	table_sort(&t);
	*ret = t;
	return 0;
}

bool tcpflow_is_near(const struct world *w, pid_t pid)
{
	char path[64];
	struct stat ours, theirs;
	TEXT_FORMAT(path, "%d/ns/net", pid);
	return fstatat(w->proc_fd, "self/ns/net", &ours, 0) == 0 && fstatat(w->proc_fd, path, &theirs, 0) == 0 &&
	       ours.st_ino == theirs.st_ino && ours.st_dev == theirs.st_dev;
}

/* ---- one process ---- */

static void sum_add(struct tcpflow_sum *sum, const struct tcpflow_socket *s)
{
	sum->sockets++;
	sum->same_address += s->same_address;
	sum->has_bytes |= s->has_bytes;
	sum->acked_bytes += s->acked_bytes;
	sum->received_bytes += s->received_bytes;
	sum->send_queue_bytes += s->send_queue_bytes;
	sum->receive_queue_bytes += s->receive_queue_bytes;
	sum->retransmitting += s->retransmits > 0;
}

/* Sockets of the table that a process has open; a descriptor that was copied gives one twice. */
struct tcpflow_held {
	struct tcpflow_socket **of; /* owned */
	size_t n, cap;
	bool cut;
};

static void tcpflow_held_done(struct tcpflow_held *h)
{
	free(h->of);
}

static int tcpflow_held_add(struct tcpflow_held *h, struct tcpflow_table *t, uint64_t inode)
{
	struct tcpflow_socket key = {.inode = inode};
	struct tcpflow_socket *s = t->n ? bsearch(&key, t->item, t->n, sizeof(key), by_inode) : NULL;
	if (!s)
		return 0;
	if (vec_room(&h->of, &h->cap, h->n + 1) < 0)
		return -ENOMEM;
	h->of[h->n++] = s;
	return 0;
}

static int tcpflow_held_read(const struct world *w, pid_t pid, struct tcpflow_table *t, struct tcpflow_held *h)
{
	char path[32], text[64];
	TEXT_FORMAT(path, "%d/fd", pid);
	int fd = openat(w->proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return world_condition(-errno);
	cleanup(closedirp) DIR *d = file_folder(fd);
	if (!d)
		return -errno;
	size_t n_read = 0;
	for (const struct dirent *e; (e = readdir(d));) {
		ssize_t n = e->d_name[0] == '.' ? -1 : readlinkat(dirfd(d), e->d_name, text, sizeof(text));
		if (n <= 0)
			continue;
		if (n_read++ == FDS_MOST) {
			h->cut = true;
			break;
		}
		struct fd_link link = fd_link_parse((struct span){text, (size_t)n});
		int r = link.kind == FD_SOCKET ? tcpflow_held_add(h, t, link.inode) : 0;
		if (r < 0)
			return r;
	}
	return 0;
}

int tcpflow_of(const struct world *w, pid_t pid, struct tcpflow_table *t, uint32_t owner, struct tcpflow_sum *ret)
{
	cleanup(tcpflow_held_done) struct tcpflow_held h = {.n = 0};
	int r = tcpflow_held_read(w, pid, t, &h);
	if (r)
		return r;
	struct tcpflow_sum sum = {.cut = h.cut};
	for (size_t i = 0; i < h.n; i++) {
		struct tcpflow_socket *s = h.of[i];
		s->owner = s->owner == 0 || s->owner == owner ? owner : UINT32_MAX;
		sum_add(&sum, s);
	}
	*ret = sum;
	return 0;
}

/* ---- connections of a process with itself ---- */

/* The same for both ends of a connection. */
static uint32_t ports_key(const struct tcpflow_socket *s)
{
	return (uint32_t)MIN(s->local_port, s->remote_port) << 16 | MAX(s->local_port, s->remote_port);
}

static int by_ports(const void *a, const void *b)
{
	const struct tcpflow_socket *x = *(struct tcpflow_socket *const *)a;
	const struct tcpflow_socket *y = *(struct tcpflow_socket *const *)b;
	uint32_t k = ports_key(x), l = ports_key(y);
	return k != l ? (k > l) - (k < l) : by_inode(x, y);
}

static bool are_ends(const struct tcpflow_socket *a, const struct tcpflow_socket *b)
{
	return a != b && a->local_port == b->remote_port && a->remote_port == b->local_port;
}

int tcpflow_within(const struct world *w, pid_t pid, struct tcpflow_table *t, uint32_t owner, struct tcpflow_sum *ret)
{
	cleanup(tcpflow_held_done) struct tcpflow_held h = {.n = 0};
	int r = tcpflow_held_read(w, pid, t, &h);
	if (r)
		return r;
	struct tcpflow_sum sum = {.cut = h.cut};
	size_t n = 0;
	for (size_t i = 0; i < h.n; i++)
		if (h.of[i]->same_address && h.of[i]->owner == owner)
			h.of[n++] = h.of[i];
	if (n)
		qsort(h.of, n, sizeof(struct tcpflow_socket *), by_ports);
	for (size_t i = 0; i < n; i++) {
		bool before = i > 0 && are_ends(h.of[i - 1], h.of[i]);
		bool after = i + 1 < n && are_ends(h.of[i], h.of[i + 1]);
		if (before || after)
			sum_add(&sum, h.of[i]);
	}
	*ret = sum;
	return 0;
}
