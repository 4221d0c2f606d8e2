/*
 * The node's accelerators and InfiniBand ports, sampled for the hang watcher:
 * rarely while all is well, often while something stands. Drivers are asked
 * in processes of their own, with a deadline (sense/gpu/gpuprobe); on a
 * machine without any nothing is started.
 */
#pragma once

#include "agent/gpu/gpuholders.h"
#include "model/hang/liveness.h"
#include "sense/gpu/gpuprobe.h"
#include "sense/net/ibport.h"

#define HANGDEVICES_BACKENDS 3

struct hangdevices {
	struct gpuprobe probe[HANGDEVICES_BACKENDS];
	size_t n_probes;
	struct gpu_set *set, *fresh; /* the newest sample; NULL until there is one */
	bool pids_foreign; /* the drivers' numbers of processes are not ours */
	struct gpuholders *holders; /* NULL without a driver */
	bool has_rdma;
	struct ibport port[IBPORT_MAX];
	size_t n_ports;
	uint64_t sampled_ns; /* 0: never */
};

/* Call it while the process has one thread. */
void hangdevices_open(struct hangdevices *d, const struct world *w);
/* Samples when it is time to. */
void hangdevices_sample(struct hangdevices *d, const struct world *w, bool calm, uint64_t now_ns);
/* What the ports have moved, into the look. */
void hangdevices_ports(const struct hangdevices *d, struct liveness_sample *look);
/*
 * Which devices are a rank's. pids: its processes, sorted; the first n_own of `own` are those that open devices
 * themselves (a loader has open what it was forked with).
 */
struct gpuclaim hangdevices_claim(struct hangdevices *d, const struct world *w, const pid_t *pids, size_t n,
				  const pid_t *own, size_t n_own);
/* Means over those devices. */
void hangdevices_fill(const struct hangdevices *d, struct gpuclaim claim, struct liveness_counters *seen);
/* Has any of the processes a device open? Asked where a driver has said nothing of any. */
bool hangdevices_any_open(struct hangdevices *d, const struct world *w, const pid_t *pids, size_t n);
/*
 * The samples of the devices alone whose bit is set, and what drivers have told of these (findings, events): of all that
 * were the job's, for a device that its driver has given up is nobody's. findings: of drivers as a whole as well.
 */
void hangdevices_of(const struct hangdevices *d, uint32_t devices, uint32_t ever, bool findings, struct gpu_set *ret);
