/*
 * What TCP connections have moved: bytes that the peer has acknowledged, and
 * bytes that came. This is the progress of gloo, of NCCL over sockets, of
 * downloads and stores, which /proc/PID/io does not count. From sock_diag(7)
 * (netlink, INET_DIAG with tcp_info), for the network namespace that we are in.
 *
 * One dump costs about 2 us a socket of the machine, and finding a process's
 * sockets a readlink for each of its descriptors: not for every second.
 */
#pragma once

#include <sys/types.h>

#include "base/text.h"
#include "sense/world.h"

struct tcpflow_socket {
	uint64_t inode;
	uint8_t state; /* TCP_ESTABLISHED … of netinet/tcp.h */
	bool has_bytes;
	uint64_t acked_bytes, received_bytes; /* since the connection was made */
	uint32_t send_queue_bytes, receive_queue_bytes;
	uint32_t retransmits; /* of the segment at the head, in a row */
	uint32_t lost; /* segments sent again since the connection was made; 0 without has_bytes */
	uint16_t local_port, remote_port;
};

struct tcpflow_table {
	struct tcpflow_socket *item; /* by inode; owned */
	size_t n, cap;
	bool by_diag; /* has_bytes can be set */
};
void tcpflow_table_done(struct tcpflow_table *t);

/* Messages of one answer of sock_diag. *ret_done: it was the last. -EBADMSG, -errno of an error message. Pure. */
int must_check tcpflow_diag_parse(struct span messages, struct tcpflow_table *t, bool *ret_done);

/* All of our namespace. WORLD_ABSENT where the kernel or a sandbox has no sock_diag. */
int must_check tcpflow_dump(const struct world *w, struct tcpflow_table *ret);
/* True if the process is in vigil's network namespace; false also when that may not be read. */
bool tcpflow_is_near(const struct world *w, pid_t pid);

struct tcpflow_sum {
	uint32_t sockets; /* that are connected */
	bool has_bytes;
	uint64_t acked_bytes, received_bytes;
	uint64_t send_queue_bytes, receive_queue_bytes; /* unsent or unacknowledged; come and not read */
	uint32_t retransmitting; /* sockets whose peer does not answer */
	bool cut; /* more descriptors than were looked at */
};
/* Of one process, over the sockets of the table that it has open. WORLD_GONE, WORLD_DENIED. */
int must_check tcpflow_of(const struct world *w, pid_t pid, const struct tcpflow_table *t, struct tcpflow_sum *ret);
