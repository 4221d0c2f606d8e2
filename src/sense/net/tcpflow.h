/*
 * Traffic of TCP connections: bytes acknowledged by the peer, and bytes received. This is the progress of gloo, of NCCL
 * over sockets, of downloads and stores, which /proc/PID/io does not count. From sock_diag(7) (netlink, INET_DIAG with
 * tcp_info), for the network namespace that we are in.
 *
 * A dump takes about 2 us per socket of the machine, and finding the sockets of a process takes a readlink per
 * descriptor: too slow for every second.
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
	uint32_t retransmits; /* retransmissions in a row of the oldest unacknowledged segment */
	uint32_t lost; /* segments sent again since the connection was made; 0 without has_bytes */
	uint16_t local_port, remote_port;
	bool same_address; /* both ends have one address: the peer is on this machine */
	uint32_t owner; /* of the processes that have it open, as tcpflow_of was told; 0: none, UINT32_MAX: several */
};

struct tcpflow_table {
	struct tcpflow_socket *item; /* by inode; owned */
	size_t n, cap;
	bool by_diag; /* read by sock_diag, so has_bytes may be set */
};
void tcpflow_table_done(struct tcpflow_table *t);

/*
 * Adds the messages of one answer of sock_diag. *ret_done: the answer is complete. -EBADMSG, -errno of an error
 * message. Pure.
 */
int must_check tcpflow_diag_parse(struct span messages, struct tcpflow_table *t, bool *ret_done);

/* Reads all connections of our namespace. WORLD_ABSENT where the kernel or a sandbox has no sock_diag. */
int must_check tcpflow_dump(const struct world *w, struct tcpflow_table *ret);
/* True if the process is in vigil's network namespace; false also when that may not be read. */
bool tcpflow_is_near(const struct world *w, pid_t pid);

struct tcpflow_sum {
	uint32_t sockets; /* connected sockets */
	bool has_bytes;
	uint64_t acked_bytes, received_bytes;
	/* bytes unsent or unacknowledged; bytes received and not yet read */
	uint64_t send_queue_bytes, receive_queue_bytes;
	uint32_t retransmitting; /* sockets whose peer does not answer */
	bool cut; /* the process has more descriptors than were read */
	uint32_t same_address; /* sockets whose peer has the same address */
};
/*
 * Sums the sockets of the table that the process has open, and notes there whose they are. owner: a number of the
 * caller's for the process and its kin, at least 1. WORLD_GONE, WORLD_DENIED.
 */
int must_check tcpflow_of(const struct world *w, pid_t pid, struct tcpflow_table *t, uint32_t owner,
			  struct tcpflow_sum *ret);
/*
 * What of that sum the process has sent to itself: connections of which it has both ends, and nobody but its owner has
 * either, as a rank's that asks the store which it serves. Such bytes move nothing on. To be called after tcpflow_of
 * for all processes that may have copies of the sockets. WORLD_GONE, WORLD_DENIED, -ENOMEM.
 */
int must_check tcpflow_within(const struct world *w, pid_t pid, struct tcpflow_table *t, uint32_t owner,
			      struct tcpflow_sum *ret);
