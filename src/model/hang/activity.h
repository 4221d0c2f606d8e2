/*
 * What a thread is doing, from the names of its frames: waiting in a collective, loading data, saving a checkpoint,
 * compiling. The names are in one table (activity.c). Pure; allocates nothing. Results point into the dump, which must
 * outlive them.
 */
#pragma once

#include "model/stacks/stackdump.h"

enum activity {
	ACTIVITY_UNKNOWN,
	/* waits for other ranks, or for the device */
	ACTIVITY_COLLECTIVE, /* all_reduce, barrier, broadcast …; NCCL, gloo, MPI */
	ACTIVITY_P2P, /* send, recv */
	ACTIVITY_STORE, /* TCPStore, rendezvous, init_process_group */
	ACTIVITY_SYNC_BN, /* synchronised batch normalisation: a collective in every layer */
	ACTIVITY_GPU_SYNC, /* waits for the device, whatever work its stream holds */
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
	ACTIVITY_UPLOAD, /* at the end of a run: wandb.finish, an uploader's join */
	ACTIVITY_REMOTE_WRITER, /* TensorBoard writing to an object store */
	/* training */
	ACTIVITY_OPTIMIZER,
	ACTIVITY_BACKWARD,
	/* waits for something else */
	ACTIVITY_SLEEP, /* time.sleep, nanosleep */
	ACTIVITY_DEBUGGER, /* pdb, debugpy, breakpoint() */
	ACTIVITY_INPUT, /* reads a terminal */
	ACTIVITY_LOCK, /* threading, multiprocessing */
	ACTIVITY_JOIN, /* waits for the end of a thread or process */
	ACTIVITY_OPENMP, /* a barrier of libgomp or libiomp */
	ACTIVITY_EXIT, /* interpreter shutting down, atexit, destroy_process_group */
	ACTIVITY_MAX,
};

struct activity_found {
	enum activity kind;
	const char *op; /* "all_reduce", "torch.save": the table's text; "": unknown; never NULL */
	const struct dump_frame *frame; /* the frame that matched; NULL: none did */
	const struct dump_frame *user; /* innermost Python frame of the program's own files; NULL: none */
	bool also_sync_bn, also_checkpoint, also_evaluate, also_compile, also_loader; /* some frame matches */
};

void activity_of(const struct dump_thread *t, struct activity_found *ret);
/* True for collective, p2p, store and sync-bn. */
bool activity_waits_for_ranks(enum activity a);
/* True of a Python frame of a file of the program itself; false for one of a library. */
bool activity_is_user(const struct dump_frame *f);
/* "all_reduce at train.py:40 in step"; "" if nothing is known. */
void activity_text(const struct activity_found *f, char *dst, size_t cap);
