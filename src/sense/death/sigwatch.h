/*
 * Signals that end processes, as they are sent, with their sender: what no
 * log holds. Reads the ring that bpf_sigwatch_load made, without libbpf and
 * without allocation; ring_fd becomes readable (EPOLLIN) when there is
 * something. (kernel: bpf/ringbuf.rst)
 *
 * Each pid comes twice: as the first pid namespace numbers it (the host) and
 * as its own innermost one does (what the process calls itself).
 */
#pragma once

#include <sys/types.h>

#include "base/base.h"
#include "sense/bpf/bpfload.h"
#include "sense/world.h"

struct sigwatch_event {
	int signal;
	int code; /* si_code */
	pid_t target, target_inner;
	uint64_t target_start_ticks; /* as in /proc/PID/stat */
	/* When the kernel sent it (OOM killer, fault, terminal), the sender is just who was running then. */
	bool from_kernel;
	pid_t sender, sender_inner;
	uid_t sender_uid; /* in the first user namespace */
	char sender_comm[16];
	uint64_t boot_ns;
	int64_t time_unix_ms;
};

struct sigwatch {
	int ring_fd; /* borrowed */
	size_t ring_bytes;
	uint64_t lost;       /* signals so far that found the ring full */
	void *consumer;      /* our position, one page that we write */
	const void *producer; /* the kernel's position, one page, and the data twice in a row */
};

/* Maps the ring; -EINVAL for a descriptor that is none. */
int must_check sigwatch_open(int ring_fd, size_t ring_bytes, struct sigwatch *ret);
void sigwatch_close(struct sigwatch *s);
/* Take up to cap events off the ring, oldest first; never waits. A full array may mean that more are there. */
int must_check sigwatch_read(struct sigwatch *s, const struct world *w, struct sigwatch_event *events, size_t cap,
			     size_t *ret_n);
