/*
 * What the ports of InfiniBand and RoCE adapters did between two readings,
 * for the cause book's source counter. Pure.
 */
#pragma once

#include "sense/net/ibport.h"

struct ibwatch_facts {
	bool active; /* a port is */
	uint64_t ack_timeouts; /* local_ack_timeout_err since the first reading */
};

typedef void ibwatch_line_fn(void *data, const char *line);
/*
 * "ib_port_down{mlx5_0:1} state=1 phys=2" for a port that was active at the
 * first reading and is not, and "ib_link_downed{mlx5_0:1} 2" for what the
 * error counters grew by. Data and counters that went back are not told.
 */
void ibwatch_lines(const struct ibport *before, size_t n_before, const struct ibport *now, size_t n_now,
		   ibwatch_line_fn *fn, void *data, struct ibwatch_facts *ret);
