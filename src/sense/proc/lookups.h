/*
 * Which files processes look for that are not there, which that are by calls that only ask, and which they try to lock
 * without waiting while somebody else has the lock, counted by a BPF program while it is on (sense/bpf/lookups.bpf.c,
 * tracepoint sys_exit, x86_64). A loop that asks whether a file exists blocks on nothing, so that nothing in /proc
 * tells what it is for; nor does one that opens a file, tries to lock it, and closes it again. A loop that makes no
 * call but its sleep looks at memory alone, so all calls of main threads are counted as well; and of all threads those
 * by which anything of others may come: a job that makes none goes on by its own time alone, if at all.
 *
 * On, each system call on the machine takes 35 ns more, so it is to be on for seconds only; loading 14 ms, so it stays
 * loaded once it was needed. Memory in the kernel is bounded: 0.7 MB. Process numbers are those of the initial pid
 * namespace, so vigil has to run in it.
 */
#pragma once

#include <sys/types.h>

#include "base/base.h"
#include "sense/world.h"

#define LOOKUPS_ROWS 2048 /* most that are counted */
#define LOOKUPS_PATH 192
#define LOOKUPS_CWD (-100) /* AT_FDCWD */

struct lookups_row {
	pid_t pid, tid;
	bool calls; /* no lookup: calls of any kind of a main thread; found: those that only let time pass */
	bool taken; /* no lookup: calls of a thread by which something that others have made may have come to it */
	bool waited; /* no lookup: waits of a thread for descriptors that came to their limit */
	/*
	 * No lookup: calls of a process by which something came over a connection within the machine or from outside.
	 * `end` and `other_end` are its ends, which who has the other one sees the other way round; both 0: waits that
	 * ended with something, which another call takes in.
	 */
	bool asked;
	uint64_t end, other_end;
	bool found; /* it is there, and the call only asked for that */
	bool exists; /* it is there, and the call was to make it */
	int folder; /* the descriptor of the folder from which a relative path starts; LOOKUPS_CWD: the current one */
	char path[LOOKUPS_PATH]; /* as the program gave it, so any bytes; longer ones are not told */
	/* A lock of this file was tried without waiting, and somebody else had it; inode 0: it is a lookup. */
	uint32_t dev; /* as the kernel numbers file systems: major << 20 | minor */
	uint64_t inode;
	uint64_t n; /* lookups since it was switched on */
	uint64_t last_ns; /* of the world's monotonic clock */
};

struct lookups;

/*
 * Loads it and switches it on; nobody is watched yet. WORLD_ABSENT, WORLD_DENIED: why (cap bytes) is then a sentence
 * for people. -errno.
 */
int must_check lookups_open(const struct world *w, struct lookups **ret, char *why, size_t cap);
struct lookups *lookups_free(struct lookups *k);
/* Off, it costs nothing but its memory. On again, nobody is watched and nothing is counted. -errno. */
int must_check lookups_on(struct lookups *k);
void lookups_off(struct lookups *k);
/* Watches a process as well, if there is room. -errno. */
int must_check lookups_watch(struct lookups *k, pid_t pid);
/* What was counted so far; it stays. At most cap rows. *ret_n: their number. -errno. */
int must_check lookups_take(const struct lookups *k, struct lookups_row *row, size_t cap, size_t *ret_n);
/* The path of a row, from the folder as the process has it now; relative where that is not known. */
void lookups_path(const struct world *w, const struct lookups_row *r, char *dst, size_t cap);
