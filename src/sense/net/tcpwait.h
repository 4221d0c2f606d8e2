/*
 * Signs in TCP of peers that do not answer: the number of retransmitted segments of a network namespace
 * (/proc/PID/net/snmp), and the connections whose oldest bytes were sent several times and never acknowledged (column
 * retrnsmt of /proc/PID/net/tcp, kernel: networking/proc_net_tcp.rst).
 */
#pragma once

#include <sys/types.h>

#include "base/text.h"
#include "sense/net/socktable.h"
#include "sense/world.h"

/* Retransmissions in a row; with timeouts that double from 0.2 s, a peer then has not answered for about 3 s. */
#define TCPWAIT_TRIES 4

struct tcpwait_counts {
	uint64_t sent, again; /* segments: OutSegs, RetransSegs */
};
/* -EBADMSG. Pure. */
int must_check tcpwait_snmp_parse(struct span text, struct tcpwait_counts *ret);
int must_check tcpwait_snmp_read(const struct world *w, pid_t pid, struct tcpwait_counts *ret);

struct tcpwait {
	struct sock_line socket;
	uint32_t tries;
};
/* Parses a line of tcp or tcp6. -EBADMSG: no such line; SOCK_NONE: the socket does not wait. Pure. */
int must_check tcpwait_parse(struct span line, struct tcpwait *ret);
/*
 * Reads the waiting connections of pid (found by its descriptors). The conditions of world.h; *ret_n is 0 if none
 * waits.
 */
int must_check tcpwait_read(const struct world *w, pid_t pid, struct tcpwait *ret, size_t cap, size_t *ret_n);
