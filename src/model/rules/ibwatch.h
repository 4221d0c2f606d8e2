/*
 * Changes of the ports of InfiniBand and RoCE adapters between two readings, as lines of the rule book's source
 * `counter`. Pure.
 */
#pragma once

#include "sense/net/ibport.h"

struct ibwatch_facts {
	bool active; /* at least one port is active */
	uint64_t ack_timeouts; /* growth of local_ack_timeout_err since the first reading */
};

typedef void ibwatch_line_fn(void *data, const char *line);
/*
 * Calls fn with "ib_port_down{mlx5_0:1} state=1 phys=2" for a port that was active at the first reading and is not
 * now, and with "ib_link_downed{mlx5_0:1} 2" for the growth of each error counter. Data counters, and counters that
 * decreased, are not reported.
 */
void ibwatch_lines(const struct ibport *before, size_t n_before, const struct ibport *now, size_t n_now,
		   ibwatch_line_fn *fn, void *data, struct ibwatch_facts *ret);
