/*
 * What the helper of sense/lockwait does: it touches processes that may never answer, so that it stands and not who
 * asks. It takes packets from a socket: numbers of processes, or the word that a request for memory lies in the room
 * that both share. For a moment after each read it looks for the next one there by itself, so that of many small reads
 * each takes some microseconds.
 */
#pragma once

#include <stdatomic.h>
#include <sys/uio.h>

#include "base/base.h"

#define LOCKSERVE_BATCH 512  /* processes that are asked about in one packet */
#define LOCKSERVE_PARTS 1024 /* IOV_MAX */
#define LOCKSERVE_BYTES MIB
#define LOCKSERVE_MEMORY (-1) /* a packet of this number alone: look into the room, or: look again */
#define LOCKSERVE_LOOK_NS (30 * NS_PER_US)

/* Shared memory of who asks and one helper. */
struct lockserve_room {
	_Atomic uint32_t asked, done; /* reads */
	_Atomic uint32_t looks;	      /* the helper looks at `asked` by itself */
	_Atomic uint32_t waits;	      /* who asks wants a packet when it is done */
	pid_t pid;
	uint32_t n; /* parts; their bytes are at most LOCKSERVE_BYTES */
	struct iovec from[LOCKSERVE_PARTS];
	int64_t got; /* bytes, or -errno */
	char bytes[LOCKSERVE_BYTES];
};

struct lockserve {
	int proc_fd;
	struct lockserve_room *room; /* NULL: no memory is read */
};

/* A number is sent back when that process has let go of a byte. For foreign_server_start. */
void lockserve(const void *arg, int fd);
/* True: the read of this number is done, or is so within LOCKSERVE_LOOK_NS. */
bool lockserve_is_done(struct lockserve_room *r, uint32_t number);
