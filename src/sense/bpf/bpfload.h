/*
 * Loads vigil's BPF programs into the kernel and returns plain descriptors. The only user of libbpf: the readers of the
 * descriptors (sense/proc/tasks, sense/death/sigwatch, sense/native/instant, sense/net/refused, sense/proc/lookups,
 * sense/wait/wakers) do not need it, in any process they are passed to. A program stays in the kernel as long as its
 * link is open.
 *
 * Needs Linux 5.8 with BTF (an instant 5.17, wakers 5.15 on x86_64), and CAP_BPF + CAP_PERFMON (or CAP_SYS_ADMIN).
 * Built without BPF the same functions return WORLD_ABSENT.
 *
 * Conditions: WORLD_ABSENT (this kernel or this build cannot), WORLD_DENIED (no permission). `why` (cap bytes) then
 * holds a sentence for people.
 */
#pragma once

#include "base/base.h"
#include "sense/world.h"

/* Loads a task iterator for tasks_init. *ret_iter_link_fd is the caller's, close-on-exec. */
int must_check bpf_tasks_load(int *ret_iter_link_fd, char *why, size_t cap);

struct bpf_sigwatch_fds {
	int link_fd; /* watching ends when it is closed */
	int end_link_fd; /* the same, of processes' ends; -1: they are not watched */
	int env_link_fd; /* the same, of environments as programs are executed; -1: they are not read */
	int ring_fd; /* for sigwatch_open */
	size_t ring_bytes;
};

/*
 * Watches signals that end processes: of the descendants of `below` (its pid in its own namespace); 0: of all
 * processes. Of descendants also how they end. All descriptors are the caller's, close-on-exec.
 */
int must_check bpf_sigwatch_load(pid_t below, struct bpf_sigwatch_fds *ret, char *why, size_t cap);

/*
 * Both at once, which costs some 30 ms less than one after the other. WORLD_ABSENT: not all of it can be had here, so
 * that each is to be tried by itself, which says why.
 */
int must_check bpf_start_load(pid_t below, int *ret_iter_link_fd, struct bpf_sigwatch_fds *ret);

struct bpf_instant_fds {
	int prog_fd; /* for BPF_PROG_TEST_RUN on a processor; the program is not attached to anything */
	int map_fd; /* to be mapped: one struct bpf_instant */
};

/*
 * Loads the program that copies a thread at one instant (native/instant.h). Both descriptors are the caller's,
 * close-on-exec.
 */
int must_check bpf_instant_load(struct bpf_instant_fds *ret, char *why, size_t cap);

struct bpf_wakers_fds {
	int prog_fd; /* to be attached and detached: it is a raw tracepoint with type information */
	int pairs_fd, watched_fd, asked_fd; /* its maps, as in sense/bpf/records.h */
};

/*
 * Loads the program that counts who ends waits, without attaching it. waits, ends: of each system call by number, which
 * kinds of waits are made and ended in it; records.h says how many. All descriptors are the caller's, close-on-exec.
 */
int must_check bpf_wakers_load(const uint16_t *waits, const uint16_t *ends, struct bpf_wakers_fds *ret, char *why,
			       size_t cap);

struct bpf_refused_fds {
	int prog_fd; /* to be attached and detached, as that of wakers */
	int rows_fd; /* its map, as in sense/bpf/records.h */
};

/* Loads the program that counts attempts to connect in vain, without attaching it. Both are the caller's. */
int must_check bpf_refused_load(struct bpf_refused_fds *ret, char *why, size_t cap);

struct bpf_lookups_fds {
	int prog_fd; /* to be attached and detached, as that of wakers */
	int watched_fd, rows_fd; /* its maps, as in sense/bpf/records.h */
};

/*
 * Loads the program that counts lookups of files that are not there, without attaching it. path_argument: of each
 * system call by number, which argument is a path; records.h says how many. All descriptors are the caller's.
 */
int must_check bpf_lookups_load(const uint16_t *path_argument, struct bpf_lookups_fds *ret, char *why, size_t cap);
