/*
 * NCCL's profiler interface as far as it is used here, versions 1 to 6: our
 * own declarations of its layout, checked against the headers of NCCL 2.30
 * (src/include/plugin/profiler/). Only fields up to the last one that is read
 * are declared, so nothing behind them matters.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { EVENT_COLL = 1 << 1, EVENT_P2P = 1 << 2, EVENT_PROXY_OP = 1 << 3, EVENT_KERNEL = 1 << 6 };
enum { STATE_KERNEL_STOP = 22 };

/* The head of a descriptor. Versions 1 to 4 have one byte of type, which the padding behind it keeps apart. */
struct descr_head {
	uint64_t type;
	void *parent;
	int32_t rank;
};
struct coll_v1 { /* 1: numbers for functions and types */
	const char *name;
	uint64_t comm;
	uint64_t seq;
	uint8_t func;
	const void *send;
	void *recv;
	size_t count;
	int32_t root;
	uint8_t dtype;
};
struct p2p_v1 {
	const char *name;
	uint64_t comm;
	uint8_t func;
	void *buffer;
	uint8_t dtype;
	size_t count;
	int32_t peer;
};
struct coll_v2 { /* 2, 3 */
	const char *name;
	uint64_t comm;
	uint64_t seq;
	const char *func;
	const void *send;
	void *recv;
	size_t count;
	int32_t root;
	const char *dtype;
};
struct p2p_v2 {
	const char *name;
	uint64_t comm;
	const char *func;
	void *buffer;
	const char *dtype;
	size_t count;
	int32_t peer;
};
struct coll_v4 { /* 4 to 6 */
	uint64_t seq;
	const char *func;
	const void *send;
	void *recv;
	size_t count;
	int32_t root;
	const char *dtype;
};
struct p2p_v4 {
	const char *func;
	void *buffer;
	const char *dtype;
	size_t count;
	int32_t peer;
};
struct proxy_op {
	int32_t pid; /* whose parent the event has: another process's pointers mean nothing here */
};

typedef int start_fn(void *context, void **handle, void *descr);
typedef int stop_fn(void *handle);
typedef int record_fn(void *handle, int state, void *args);
typedef int finalize_fn(void *context);
typedef int init_v1_fn(void **context, int *mask);
typedef int init_v4_fn(void **context, int *mask, const char *name, uint64_t comm, int n_nodes, int n_ranks, int rank,
		       void *log);
typedef int init_v5_fn(void **context, uint64_t comm, int *mask, const char *name, int n_nodes, int n_ranks, int rank,
		       void *log);

struct profiler_v1 { /* 1 to 3 */
	const char *name;
	init_v1_fn *init;
	start_fn *start;
	stop_fn *stop;
	record_fn *record;
	finalize_fn *finalize;
};
struct profiler_v4 {
	const char *name;
	init_v4_fn *init;
	start_fn *start;
	stop_fn *stop;
	record_fn *record;
	finalize_fn *finalize;
};
struct profiler_v5 { /* 5, 6 */
	const char *name;
	init_v5_fn *init;
	start_fn *start;
	stop_fn *stop;
	record_fn *record;
	finalize_fn *finalize;
};
