/*
 * What TCP says about peers that do not answer: how many segments a network
 * namespace sent again (/proc/PID/net/snmp), and the connections whose oldest
 * bytes were sent several times and never acknowledged (column retrnsmt of
 * /proc/PID/net/tcp, kernel: networking/proc_net_tcp.rst).
 */
#pragma once

#include <sys/types.h>

#include "base/text.h"
#include "sense/net/socktable.h"
#include "sense/world.h"

/* Doubling from 0.2 s: after so many tries a peer has not answered for about 3 s. */
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
/* A line of tcp or tcp6 that waits so: -EBADMSG for no line, SOCK_NONE for one that does not wait. Pure. */
int must_check tcpwait_parse(struct span line, struct tcpwait *ret);
/* Those of pid itself (by its descriptors). The world's conditions; *ret_n 0 when all is well. */
int must_check tcpwait_read(const struct world *w, pid_t pid, struct tcpwait *ret, size_t cap, size_t *ret_n);
