/*
 * The node's accelerators and InfiniBand ports, sampled for the hang watcher:
 * rarely while all is well, often while something stands. Drivers are asked
 * in processes of their own, with a deadline (sense/gpu/gpuprobe); on a
 * machine without any nothing is started.
 */
#pragma once

#include "model/pulse.h"
#include "sense/gpu/gpuprobe.h"
#include "sense/ibport.h"

#define HANGDEVICES_BACKENDS 3

struct hangdevices {
	struct gpuprobe probe[HANGDEVICES_BACKENDS];
	size_t n_probes;
	struct gpu_set *set, *fresh; /* the newest sample; NULL until there is one */
	bool has_rdma;
	struct ibport port[IBPORT_MAX];
	size_t n_ports;
	uint64_t sampled_ns; /* 0: never */
};

/* Call it while the process has one thread. */
void hangdevices_open(struct hangdevices *d, const struct world *w);
/* Samples when it is time to. */
void hangdevices_look(struct hangdevices *d, const struct world *w, bool calm, uint64_t now_ns);
/* What the ports have moved, into the look. */
void hangdevices_ports(const struct hangdevices *d, struct pulse_look *look);
/* Means over the devices on which one of the pids (sorted) has a context. */
void hangdevices_fill(const struct hangdevices *d, const pid_t *pids, size_t n, struct pulse_seen *seen);
/* The samples of those devices alone. */
void hangdevices_of(const struct hangdevices *d, const pid_t *pids, size_t n, struct gpu_set *ret);
