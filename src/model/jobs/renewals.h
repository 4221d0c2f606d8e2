/*
 * How often the main process of a rank became another one: it ended, and whatever starts the rank started it anew. Only
 * what is seen from sample to sample is counted. Times as in model/hang/liveness.h. No allocation.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RENEWALS_KEPT 8
struct renewals {
	uint64_t n;
	uint64_t at_ns[RENEWALS_KEPT]; /* of the last ones, the newest at (n - 1) % RENEWALS_KEPT */
	bool has_status;
	int32_t wait_status; /* of the last one whose end was seen, as of wait(2) */
};

void renewals_add(struct renewals *r, uint64_t now_ns);
/* How many there were since then, RENEWALS_KEPT at most. */
size_t renewals_since(const struct renewals *r, uint64_t since_ns);
/* When the last one was seen; 0: there was none. */
uint64_t renewals_last_ns(const struct renewals *r);
