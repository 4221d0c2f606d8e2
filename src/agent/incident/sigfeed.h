/*
 * Who sends signals that end processes, and how processes end, as BPF programs see it at the time. One feed serves any
 * number of autopsies (agent/incident/autopsy): loading the programs takes 25 to 100 ms, and their ring half a MiB of
 * the kernel's memory, so a service with many jobs loads them once.
 *
 * Without the rights, or on a kernel that cannot, a feed says why and brings nothing.
 */
#pragma once

#include "agent/incident/deathfacts.h"

struct sigfeed;

/* What one reader has of a feed; owned by the reader, which must leave before it is freed. */
struct sigfeed_reader {
	struct deathfacts *facts; /* signals and ends are added to it */
	int64_t joined_unix_ms; /* what was sent before is not seen by it */
	bool told; /* facts was told why signals are not watched, or that they are */
	struct sigfeed_reader *next;
};

/* NULL without memory. Nothing is watched before sigfeed_load. */
struct sigfeed *sigfeed_new(const struct world *w);
struct sigfeed *sigfeed_free(struct sigfeed *f);
/*
 * Starts watching. May run in a thread of its own; all other functions are called by one thread. below: only signals to
 * descendants of this process; 0: all signals. *ret_iter_link_fd: the BPF task iterator, -1 without; NULL: none is
 * wanted.
 */
void sigfeed_load(struct sigfeed *f, pid_t below, int *ret_iter_link_fd);
/*
 * A process of the job. Where nothing is watched by BPF, and only signals below a process were to be, how it ends is
 * learned by a descriptor of it (agent/incident/endwatch), and readers are given what can be judged without the sender
 * of a signal: exit statuses, faults, and SIGKILL. f may be NULL.
 */
void sigfeed_know(struct sigfeed *f, const struct process_end *who);
/* From now on this reader is given what is seen. */
void sigfeed_join(struct sigfeed *f, struct sigfeed_reader *r);
void sigfeed_leave(struct sigfeed *f, struct sigfeed_reader *r);
/* each is called with every end of a process, and the beginning of its arguments as sigwatch.h has them. */
void sigfeed_ends(struct sigfeed *f, void (*each)(void *ctx, const struct process_end *e, struct span command),
		  void *ctx);
/* Readable when something was seen; -1 before sigfeed_load, and where nothing is watched. */
int sigfeed_fd(const struct sigfeed *f);
/* Hands on to all readers what was seen since the last call; does not wait. */
void sigfeed_take(struct sigfeed *f);
