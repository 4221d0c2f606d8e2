/*
 * The sockets of network namespaces with both of their ends: TCP connections by their addresses, unix sockets by the
 * inode of their peer. From sock_diag(7) in each namespace, and where that is refused or absent from the text tables
 * /proc/PID/net/{tcp,tcp6,unix} (kernel: networking/proc_net_tcp.rst), which name no peers of unix sockets.
 *
 * The other end of a TCP connection is the socket with the swapped addresses. Addresses of the loopback interface are
 * compared within one namespace only; between namespaces an address that several have gives no peer.
 */
#pragma once

#include <sys/types.h>

#include "base/text.h"
#include "sense/world.h"

enum {
	SOCKPEER_LISTEN = 10, /* values of the states, for both families (netinet/tcp.h) */
	SOCKPEER_ESTABLISHED = 1,
	SOCKPEER_SYN_SENT = 2,
	SOCKPEER_CLOSE = 7,
};

struct sockpeer {
	uint64_t inode; /* 0: not accepted yet, or closed by its process */
	uint64_t netns; /* inode of the namespace; 0: ours */
	bool is_unix;
	bool queue_known; /* of a unix socket; of TCP always */
	bool v6; /* IPv4 addresses that IPv6 sockets show are made IPv4 */
	bool datagram; /* unix: SOCK_DGRAM */
	bool named; /* unix: bound to a name */
	bool peer_known; /* unix: peer_inode was told, 0 for none */
	uint8_t state;
	uint8_t local[16], remote[16]; /* network order; the first 4 bytes for IPv4 */
	uint16_t local_port, remote_port;
	uint32_t receive_queue_bytes, send_queue_bytes;
	bool has_received; /* TCP: the kernel told it, which the text tables do not */
	uint64_t received_bytes, acked_bytes; /* since the connection was made; acked: that the other end has got */
	uint64_t peer_inode; /* unix; 0: none, or not accepted yet */
	uint64_t name_hash; /* unix: of the name that it is bound to, as sockpeer_name_hash gives it; 0: none */
};

/* A connection to a unix socket that its server has not accepted. */
struct sockpeer_pending {
	uint64_t client_inode, listener_inode;
};

struct sockpeer_table {
	struct sockpeer *item; /* by inode after sockpeer_table_sort; owned */
	size_t n, cap;
	struct sockpeer_pending *pending; /* owned */
	size_t n_pending, cap_pending;
	uint32_t *by_address; /* TCP items by local and remote address; owned */
	size_t n_by_address;
	bool cut; /* a table was too long, or a namespace could not be read at all */
	bool no_unix; /* some namespace told no unix peers */
};
void sockpeer_table_done(struct sockpeer_table *t);

/* Add what one answer of sock_diag tells. -EBADMSG, -errno of an error message, -ENOMEM. Pure. */
int must_check sockpeer_tcp_parse(struct span messages, uint64_t netns, struct sockpeer_table *t, bool *ret_done);
int must_check sockpeer_unix_parse(struct span messages, uint64_t netns, struct sockpeer_table *t, bool *ret_done);
/* Adds the lines of a text table. -ENOMEM. Pure. */
int must_check sockpeer_text_parse(struct span text, bool is_unix, uint64_t netns, struct sockpeer_table *t);
/* Makes the table ready for the searches below. -ENOMEM. Pure. */
int must_check sockpeer_table_sort(struct sockpeer_table *t);

/*
 * Adds the unix sockets of the network namespace of pid, and its TCP sockets if with_tcp: the kernel walks a table of
 * all ports for those (1 to 2 ms). WORLD_GONE, WORLD_DENIED: the namespace cannot be identified.
 */
int must_check sockpeer_read(const struct world *w, pid_t pid, bool with_tcp, struct sockpeer_table *t);

/* NULL: no such socket. Pure. */
const struct sockpeer *sockpeer_find(const struct sockpeer_table *t, uint64_t inode);
/*
 * The other end. NULL: it is in no namespace of the table, or in more than one. Its inode is 0 if no process has it: it
 * was not accepted yet, or its process has closed it. Pure.
 */
const struct sockpeer *sockpeer_other_end(const struct sockpeer_table *t, const struct sockpeer *s);
/* The listening socket that has to accept the other end of s; NULL: none found. Pure. */
const struct sockpeer *sockpeer_listener(const struct sockpeer_table *t, const struct sockpeer *s);
/* True of a TCP connection that came to a socket that still listens at its own end's address. Pure. */
bool sockpeer_is_accepted(const struct sockpeer_table *t, const struct sockpeer *s);
/* Of a name of unix(7): a path, which ends at its first NUL, or an abstract one, which begins with it. Not 0. Pure. */
uint64_t sockpeer_name_hash(struct span name);
/*
 * The unix datagram socket of a namespace that is bound to a name, for a sender that waits until it is read. NULL: none
 * has data that were not read, or more than one. Where queues are not told, the only one. Pure.
 */
const struct sockpeer *sockpeer_full_receiver(const struct sockpeer_table *t, uint64_t netns, uint64_t name_hash);
/* "tcp 10.0.0.3:4000 -> 10.0.0.7:29500", "unix 41 -> 42". */
void sockpeer_format(const struct sockpeer *s, char *dst, size_t cap);
