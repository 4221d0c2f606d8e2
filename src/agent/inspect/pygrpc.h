/*
 * Which threads of a Python process wait for the answer of a gRPC server, are such a server's, or work on a call of
 * one, as hints for the graph of waits. The connections are read by threads of gRPC's own, in C, and who waits for one
 * wakes up five times a second or more, so the kernel's facts say only that the process waits for itself. What is told
 * is read off the frames (grpc/_channel.py, grpc/_server.py), without stopping the process.
 *
 * Idle workers of a pool of threads are told as well: a gRPC server takes its handlers from one. grpc.aio is not
 * looked into: its tasks are asyncio's.
 */
#pragma once

#include "agent/inspect/procview.h"
#include "model/hang/waithint.h"

/* Adds hints to an array that base/vec.h lets grow. Nothing of threads that run. WORLD_GONE, WORLD_DENIED, -errno. */
int must_check pygrpc_hints(const struct world *w, struct procview *v, struct waithint **hint, size_t *n_hints,
			    size_t *cap_hints);
