/*
 * One line of /proc/PID/net/{tcp,udp,unix}, and the search of an inode in
 * them: what a socket is connected to, as the network namespace of its
 * process sees it (kernel: networking/proc_net_tcp.rst). The tables are text
 * and as long as the machine has sockets, so a search is bounded.
 */
#pragma once

#include <sys/socket.h>

#include "base/text.h"
#include "sense/world.h"

enum {
	SOCK_NONE = 7, /* not in the table: another family, or closed meanwhile */
	SOCK_OTHERS, /* it is another user's */
};

struct sock_line {
	uint64_t inode;
	bool v6;
	uint8_t local[16], remote[16]; /* network order; the first 4 bytes for IPv4 */
	uint16_t local_port, remote_port;
	uint32_t state; /* TCP_ESTABLISHED… of netinet/tcp.h */
	uint32_t uid; /* who made the socket */
};

/* A line of tcp, tcp6, udp or udp6. -EBADMSG (also for the heading). Pure. */
int must_check sock_line_parse(struct span line, struct sock_line *ret);
/* A line of unix: inode and path, "" without one. -EBADMSG. Pure. */
int must_check sock_unix_parse(struct span line, uint64_t *ret_inode, struct span *ret_path);
/* "tcp 10.0.0.3:4000 -> 10.0.0.7:29500 (established)". */
void sock_line_format(const struct sock_line *l, const char *protocol, char *dst, size_t cap);

/*
 * Text of a socket of pid with that inode ("tcp …", "udp …", "unix /run/x"), and whether it listens. SOCK_NONE and the
 * conditions of world.h.
 */
int must_check socktable_find(const struct world *w, pid_t pid, uint64_t inode, bool *ret_listens, char *dst,
			      size_t cap);

/*
 * Who would answer a TCP connection to this address in the network namespace of pid: 0 if sockets of that user alone
 * listen there, SOCK_OTHERS, SOCK_NONE: nobody does; the conditions of world.h.
 */
int must_check socktable_listener(const struct world *w, pid_t pid, const struct sockaddr *to, uid_t uid);
