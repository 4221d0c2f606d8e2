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
	sum->has_bytes |= s->has_bytes;
	sum->acked_bytes += s->acked_bytes;
	sum->received_bytes += s->received_bytes;
	sum->send_queue_bytes += s->send_queue_bytes;
	sum->receive_queue_bytes += s->receive_queue_bytes;
	sum->retransmitting += s->retransmits > 0;
}

int tcpflow_of(const struct world *w, pid_t pid, const struct tcpflow_table *t, struct tcpflow_sum *ret)
{
	char path[32], text[64];
	struct tcpflow_sum sum = {.sockets = 0};
	TEXT_FORMAT(path, "%d/fd", pid);
	int fd = openat(w->proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return world_condition(-errno);
	cleanup(closedirp) DIR *d = fdopendir(fd);
	if (!d) {
		int r = -errno;
		closep(&fd);
		return r;
	}
	size_t n_read = 0;
	for (const struct dirent *e; (e = readdir(d));) {
		ssize_t n = e->d_name[0] == '.' ? -1 : readlinkat(dirfd(d), e->d_name, text, sizeof(text));
		if (n <= 0)
			continue;
		if (n_read++ == FDS_MOST) {
			sum.cut = true;
			break;
		}
		struct fd_link link = fd_link_parse((struct span){text, (size_t)n});
		struct tcpflow_socket key = {.inode = link.inode};
		const struct tcpflow_socket *s =
			link.kind == FD_SOCKET && t->n ? bsearch(&key, t->item, t->n, sizeof(key), by_inode) : NULL;
		if (s)
			sum_add(&sum, s);
	}
	*ret = sum;
	return 0;
}
