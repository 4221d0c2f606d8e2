/*
 * A thread of a stackdump as one line, which the rule book searches (source "stack"): its state in the kernel,
 * whether the owner of the lock it waits for lives, and its frames, outermost first.
 *
 *   pid=61 tid=61 comm=pt_data_worker rank=2 thread=main threads=1 state=S wait=lock syscall=futex
 *   wchan=futex_do_wait futex_owner=gone target=/data/x_on_nfs4_server:/export worker.py;_worker_loop;…
 *
 * Python frames are "file;function" with the file's path below site-packages, native ones "module;function". Unknown
 * values are left out. Pure.
 */
#pragma once

#include "model/stacks/stackdump.h"

/* Longer lines lose their outermost frames. */
#define STACKLINE_MAX 12288

/* Without newline; cut to cap, which is at most STACKLINE_MAX. */
void stackline_format(const struct dump_process *p, const struct dump_thread *t, char *dst, size_t cap);

/* Facts of a whole dump that no single line shows. */
struct stackfacts {
	size_t n_ranks; /* that have stacks */
	bool all_in_sync_norm; /* a thread of every rank (two at least) is in a synchronised batch normalisation */
	bool in_start; /* the main thread of a rank sets up its process group or connects to its peers */
	bool waits_for_loader; /* the main thread of a rank waits for a batch */
	bool remote_writer; /* an event writer of TensorBoard writes to a remote file system */
};
void stackfacts_of(const struct stackdump *d, struct stackfacts *ret);
/* The rank (NO_RANK if none) of the process with this pid or with a thread of this tid; false: not in the dump. */
bool stackdump_rank_of(const struct stackdump *d, pid_t id, int32_t *ret_rank);
/* Number of processes of a rank whose main thread has the name comm; counts data loader workers. */
size_t stackdump_count(const struct stackdump *d, int32_t rank, const char *comm);
