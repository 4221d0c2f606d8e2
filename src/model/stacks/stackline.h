/*
 * A thread of a stackdump as one line, which the cause book searches (source
 * stack): what the kernel says of it, who holds the lock it waits for, and
 * its frames, outermost first.
 *
 *   pid=61 tid=61 comm=pt_data_worker rank=2 thread=main threads=1 state=S wait=lock syscall=futex
 *   wchan=futex_do_wait futex_owner=gone target=/data/x_on_nfs4_server:/export worker.py;_worker_loop;…
 *
 * Frames of Python are "file;function" with the file behind site-packages,
 * native ones "module;function". What is not known is left out. Pure.
 */
#pragma once

#include "model/stacks/stackdump.h"

/* Longer lines lose their outermost frames. */
#define STACKLINE_MAX 12288

/* Without newline; cut to cap, which is at most STACKLINE_MAX. */
void stackline_format(const struct dump_process *p, const struct dump_thread *t, char *dst, size_t cap);

/* What a dump says beside its lines. */
struct stackfacts {
	size_t n_ranks; /* that have stacks */
	bool all_in_sync_norm; /* a thread of every rank (two at least) is in a synchronised batch normalisation */
	bool in_start; /* the main thread of a rank sets up its process group, or looks for its peers */
	bool waits_for_loader; /* the main thread of a rank waits for a batch */
	bool remote_writer; /* an event writer of TensorBoard writes to a remote file system */
};
void stackfacts_of(const struct stackdump *d, struct stackfacts *ret);
/* The rank of the process that has this process or thread number; NO_RANK also when it has none. False: not in there. */
bool stackdump_rank_of(const struct stackdump *d, pid_t id, int32_t *ret_rank);
/* Living processes of a rank whose main thread is called comm: its data loader's workers. */
size_t stackdump_count(const struct stackdump *d, int32_t rank, const char *comm);
