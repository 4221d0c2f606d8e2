/*
 * What a thread is about, from the names of its frames: waiting in a
 * collective, loading data, saving a checkpoint, compiling … One table of
 * names (activity.c), easy to extend. Pure; allocates nothing; what it returns
 * points into the dump.
 */
#pragma once

#include "model/stacks/stackdump.h"

enum activity {
	ACTIVITY_UNKNOWN,
	/* waits for other ranks */
	ACTIVITY_COLLECTIVE, /* all_reduce, barrier, broadcast …; NCCL, gloo, MPI */
	ACTIVITY_P2P, /* send, recv */
	ACTIVITY_STORE, /* TCPStore, rendezvous, init_process_group */
	ACTIVITY_SYNC_BN, /* synchronised batch normalisation: a collective in every layer */
	ACTIVITY_GPU_SYNC, /* waits for the device: whatever is on its stream */
	/* waits for data */
	ACTIVITY_LOADER_WAIT, /* the main process waits for its workers */
	ACTIVITY_LOADER_WORK, /* inside a worker */
	/* work that may take long without a step */
	ACTIVITY_CHECKPOINT,
	ACTIVITY_DOWNLOAD,
	ACTIVITY_DATA_COPY, /* moxing copy_parallel, obsutil, gsutil, aws s3 */
	ACTIVITY_COMPILE,
	ACTIVITY_EVALUATE,
	ACTIVITY_IMPORT,
	ACTIVITY_UPLOAD, /* the end: wandb.finish, an uploader's join */
	ACTIVITY_REMOTE_WRITER, /* TensorBoard writing to an object store */
	/* training */
	ACTIVITY_OPTIMIZER,
	ACTIVITY_BACKWARD,
	/* waits for something else */
	ACTIVITY_SLEEP, /* declared: time.sleep, nanosleep */
	ACTIVITY_DEBUGGER, /* pdb, debugpy, breakpoint() */
	ACTIVITY_INPUT, /* reads a terminal */
	ACTIVITY_LOCK, /* threading, multiprocessing */
	ACTIVITY_JOIN, /* of a thread or process */
	ACTIVITY_OPENMP, /* libgomp, libiomp barrier */
	ACTIVITY_EXIT, /* interpreter shutting down, atexit, destroy_process_group */
	ACTIVITY_MAX,
};

struct activity_found {
	enum activity kind;
	const char *op; /* "all_reduce", "torch.save": the table's word; never NULL */
	const struct dump_frame *frame; /* that told; NULL: the system call or nothing did */
	const struct dump_frame *user; /* innermost Python frame of the program's own files; NULL: none */
	bool also_sync_bn, also_checkpoint, also_evaluate, also_compile, also_loader; /* frames further out say so */
};

void activity_of(const struct dump_thread *t, struct activity_found *ret);
/* It waits for other ranks: collective, p2p, store, sync-bn. */
bool activity_waits_for_ranks(enum activity a);
/* "all_reduce at train.py:40 in step"; "" if nothing is known. */
void activity_text(const struct activity_found *f, char *dst, size_t cap);
