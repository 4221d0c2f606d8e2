/*
 * The file that the NCCL profiler plugin keeps and vigil reads: a head, a
 * table of communicators, and a ring of calls. docs/formats/nccl-ring.md. All
 * numbers are of the machine's byte order; nothing ever moves or grows.
 *
 * The writer never locks. A call takes the next number of `made` as its order
 * and the slot of that number; the slot's `order` says RING_FILLING first and
 * is written last, so that a reader who finds the same `order` before and
 * after its copy has a whole one. Who finds a slot being filled, or filled by
 * a later call, leaves its own out.
 */
#pragma once

#include <stdint.h>

#define RING_MAGIC "vigilncc"
#define RING_VERSION 1
#define RING_COMMS 256
#define RING_CALLS 4096
#define RING_FILLING UINT64_MAX /* larger than any order */

struct ring_head {
	char magic[8];
	uint32_t version;
	uint32_t head_bytes, comm_bytes, call_bytes; /* sizes of the three structs */
	uint32_t n_comms, n_calls; /* room for so many */
	int64_t pid;
	int32_t rank; /* RANK, SLURM_PROCID, OMPI_COMM_WORLD_RANK or PMI_RANK; -1 */
	uint32_t comms_made; /* more than n_comms: the rest is not recorded */
	uint64_t made; /* calls so far */
	int64_t opened_unix_ns;
	uint64_t reserved[8];
};

struct ring_comm {
	uint64_t id;
	int32_t rank, n_ranks, n_nodes;
	uint32_t state; /* 0 being filled, 1 open, 2 finalised */
	char name[32];
};

enum { RING_COLL = 1, RING_SEND = 2, RING_RECV = 3 };

struct ring_call {
	uint64_t order; /* from 1 on; 0: never used; RING_FILLING */
	uint64_t seq; /* of NCCL, for each function of a communicator; UINT64_MAX none */
	uint64_t count;
	int64_t enqueued_ns, started_ns, ended_ns; /* CLOCK_REALTIME; 0 not yet */
	uint32_t comm;
	int32_t peer; /* sends and receives */
	uint16_t kind;
	uint16_t is_enqueued; /* NCCL has handed it over */
	uint16_t channels_begun; /* of the kernel on the GPU */
	uint16_t channels_ended;
	uint16_t proxies_begun, proxies_ended; /* transfers over the network */
	uint32_t reserved;
	char func[16], dtype[16];
};
