/*
 * Reads signals that end processes, with their senders, at the time when they are sent, and how processes end; no log
 * records them. The
 * events come from the ring that bpf_sigwatch_load made and are read without libbpf and without allocation; ring_fd
 * becomes readable (EPOLLIN) when the ring has events. Source: kernel, bpf/ringbuf.rst.
 *
 * Each pid is given twice: as in the first pid namespace (the host's), and as in the innermost namespace of the
 * process (what getpid() returns to it).
 */
#pragma once

#include <sys/types.h>

#include "base/base.h"
#include "sense/bpf/bpfload.h"
#include "sense/death/facts.h"
#include "sense/world.h"

#define SIGWATCH_RANKS 320
#define SIGWATCH_COMMAND 128

struct sigwatch_event {
	bool is_end; /* the end of a process: only the next members, to end_ranks_len, are set */
	struct process_end end; /* pids of the first namespace; its rank is for the reader of end_ranks to set */
	pid_t end_inner, end_parent_inner; /* as getpid() returns them to it */
	/* The variables of its environment that number ranks, as an environment: "RANK=1\0WORLD_SIZE=2\0". */
	char end_ranks[SIGWATCH_RANKS];
	size_t end_ranks_len; /* 0: it had none, or they were not read */
	char end_command[SIGWATCH_COMMAND]; /* the beginning of its arguments, each but a cut one ended by a NUL */
	size_t end_command_len; /* 0: unknown */
	int signal;
	int code; /* si_code */
	pid_t target, target_inner;
	uint64_t target_start_ticks; /* as in /proc/PID/stat */
	/* The kernel sent it (OOM killer, fault, terminal): sender is the process that was running at that time. */
	bool from_kernel;
	pid_t sender, sender_inner;
	uid_t sender_uid; /* in the first user namespace */
	char sender_comm[16];
	uint64_t fault_addr, stack_pointer; /* 0: no fault, or unknown */
	uint64_t boot_ns;
	int64_t time_unix_ms;
};

struct sigwatch {
	int ring_fd; /* borrowed */
	size_t ring_bytes;
	uint64_t lost;       /* signals so far that were lost because the ring was full */
	void *consumer;      /* one page that we write: position up to which events were read */
	const void *producer; /* one page that the kernel writes: end of the events; then the data, mapped twice */
};

/* Maps the ring. -EINVAL: ring_bytes is not a power of two of at least one page; or the errno of mmap. */
int must_check sigwatch_open(int ring_fd, size_t ring_bytes, struct sigwatch *ret);
void sigwatch_close(struct sigwatch *s);
/* Takes up to cap events off the ring, oldest first; never blocks. If *ret_n is cap, the ring may have more. */
int must_check sigwatch_read(struct sigwatch *s, const struct world *w, struct sigwatch_event *events, size_t cap,
			     size_t *ret_n);
