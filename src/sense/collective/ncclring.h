/*
 * The ring that vigil's NCCL profiler plugin (plugins/nccl) keeps in a file,
 * one a process: the last collectives, sends and receives with when they were
 * handed to the GPU, begun and ended there. docs/formats/nccl-ring.md lays it
 * out; plugins/nccl/ring.h declares it. The file is written while it is read,
 * by a process that may be crashing: nothing in it is trusted, and a slot that
 * changes while it is copied is left out.
 *
 * Times are CLOCK_REALTIME nanoseconds of the writer; 0: not yet.
 */
#pragma once

#include "base/arena.h"
#include "base/fault.h"
#include "base/text.h"

#define NCCLRING_FILE_MAX (64 * MIB)
#define NCCLRING_COMMS_MAX 65536

struct ncclring_comm {
	uint64_t id; /* of the communicator, the same on all its ranks */
	int32_t rank, n_ranks, n_nodes;
	char name[32];
	bool open; /* not finalised */
};
struct ncclring_call {
	uint64_t order; /* counts up over the process */
	uint32_t comm; /* index */
	bool is_p2p, sends;
	bool has_seq;
	uint64_t seq; /* per communicator and function, as NCCL counts */
	char func[16];
	char dtype[16];
	uint64_t count;
	int32_t peer; /* p2p: rank within the communicator */
	int64_t enqueued_ns, started_ns, ended_ns;
	bool ended, kernels_seen;
	uint32_t channels_running; /* of the GPU kernel */
};
struct ncclring {
	int64_t pid;
	int32_t rank; /* RANK or the like of the writer's environment; NCCLRING_NO_RANK */
	uint64_t n_made; /* calls ever; more than are here */
	struct ncclring_comm *comms;
	size_t n_comms;
	struct ncclring_call *calls; /* ascending order */
	size_t n_calls;
	size_t n_torn; /* slots that changed while they were read, or made no sense */
	struct arena arena;
};
#define NCCLRING_NO_RANK (-1)

enum {
	NCCLRING_FOREIGN = 1, /* it is no such file; the fault says why */
	NCCLRING_NONE, /* there is no such file */
};
/* 0, NCCLRING_FOREIGN, -ENOMEM. Pure. */
int must_check ncclring_parse(struct span bytes, struct ncclring *ret, struct fault *f);
int must_check ncclring_read(int dirfd, const char *path, struct ncclring *ret, struct fault *f);
void ncclring_done(struct ncclring *r);
