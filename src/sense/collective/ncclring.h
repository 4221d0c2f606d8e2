/*
 * Reads the ring file of vigil's NCCL profiler plugin (plugins/nccl), one per process: the last collectives, sends
 * and receives, with the times when each was enqueued, started and ended on the GPU. docs/formats/nccl-ring.md
 * describes the format; plugins/nccl/ring.h declares it. The writer may be running or crashing, so nothing in the
 * file is trusted, and a slot that changes while it is copied is left out.
 *
 * Times are CLOCK_REALTIME nanoseconds of the writer; 0: not yet.
 */
#pragma once

#include "base/arena.h"
#include "base/fault.h"
#include "base/foreign.h"
#include "base/text.h"

#define NCCLRING_FILE_MAX (64 * MIB)
#define NCCLRING_COMMS_MAX 65536

struct ncclring_comm {
	uint64_t id; /* of the communicator, equal on all its ranks */
	int32_t rank, n_ranks, n_nodes;
	char name[32];
	bool open; /* not finalised */
};
struct ncclring_call {
	uint64_t order; /* number of the call in its process, from 1 */
	uint32_t comm; /* index into comms */
	bool is_p2p, sends;
	bool has_seq;
	uint64_t seq; /* NCCL's number, per communicator and function */
	char func[16];
	char dtype[16];
	uint64_t count;
	int32_t peer; /* is_p2p: rank within the communicator */
	int64_t enqueued_ns, started_ns, ended_ns;
	bool ended, kernels_seen;
	uint32_t channels_running; /* channels of the GPU kernel that have begun and not ended */
};
struct ncclring {
	int64_t pid;
	int32_t rank; /* from RANK or the like in the writer's environment; or NCCLRING_NO_RANK */
	uint64_t n_made; /* all calls so far, including overwritten ones */
	struct ncclring_comm *comms;
	size_t n_comms;
	struct ncclring_call *calls; /* sorted by order */
	size_t n_calls;
	size_t n_torn; /* slots that changed while they were read, or were not valid */
	struct arena arena;
};
#define NCCLRING_NO_RANK (-1)

enum {
	NCCLRING_FOREIGN = 1, /* not a ring file; the fault says why */
	NCCLRING_NONE, /* the file does not exist */
};
/* 0, NCCLRING_FOREIGN, -ENOMEM. Pure. */
int must_check ncclring_parse(struct span bytes, struct ncclring *ret, struct fault *f);
/* Also NCCLRING_NONE, and -errno of reading. */
int must_check ncclring_read(const struct foreign_place *at, const char *path, struct ncclring *ret, struct fault *f);
void ncclring_done(struct ncclring *r);
