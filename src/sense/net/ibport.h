/*
 * Ports of InfiniBand and RoCE adapters, from /sys/class/infiniband/DEVICE/ports/N (kernel:
 * ABI/stable/sysfs-class-infiniband): state, rate, and the counters that show a faulty link or a peer that does not
 * answer. Counters count up from the driver's start; a counter that the driver lacks has no bit in `has`. Data counters
 * are in bytes (the files count words of 4 bytes).
 *
 * A read of a counter queries the firmware of the adapter. Some virtual or faulty devices answer late or cause a
 * message in the kernel log each time, so devices can be excluded, and a caller that must not wait reads in a child
 * process.
 */
#pragma once

#include "base/text.h"
#include "sense/world.h"

#define IBPORT_MAX 64

enum ibport_counter {
	IB_XMIT_BYTES,
	IB_RECV_BYTES,
	IB_XMIT_WAIT,
	IB_XMIT_DISCARDS,
	IB_RECV_ERRORS,
	IB_SYMBOL_ERRORS,
	IB_LINK_DOWNED,
	IB_LINK_RECOVERED,
	IB_LINK_INTEGRITY,
	IB_ACK_TIMEOUTS,
	IB_SEQUENCE_ERRORS,
	IB_OUT_OF_SEQUENCE,
	IB_RNR_RETRIES,
	IB_OUT_OF_BUFFER,
	IB_ADAPTIVE_RETRANS,
	IB_SLOW_RESTARTS,
	IB_REQUEST_ERRORS,
	IB_RESPONSE_ERRORS,
	IB_CNP_SENT,
	IB_CNP_HANDLED,
	IBPORT_COUNTERS,
};

enum { IBPORT_STATE_DOWN = 1, IBPORT_STATE_ACTIVE = 4, IBPORT_PHYS_LINK_UP = 5, IBPORT_PHYS_DISABLED = 3 };

struct ibport {
	char device[32];
	uint32_t port;
	uint32_t state, phys_state; /* 0 unknown */
	uint32_t rate_mbps; /* 0 unknown */
	bool ethernet; /* RoCE */
	uint64_t has;
	uint64_t value[IBPORT_COUNTERS];
};

/* "4: ACTIVE". -EBADMSG. Pure. */
int must_check ibport_state_parse(struct span text, uint32_t *ret);
/* "100 Gb/sec (4X EDR)", "2.5 Gb/sec (1X SDR)". -EBADMSG. Pure. */
int must_check ibport_rate_parse(struct span text, uint32_t *ret_mbps);
/* True if the list (separated by ',' or blanks) names the device; "mlx5_*" matches a prefix. Pure. */
bool ibport_excluded(const char *device, const char *exclude);
/* Reads all ports, ordered by name. exclude may be NULL. WORLD_ABSENT: no adapter, or no /sys. */
int must_check ibports_read(const struct world *w, const char *exclude, struct ibport *ret, size_t cap, size_t *ret_n);
static inline bool ibport_has(const struct ibport *p, enum ibport_counter c)
{
	return p->has >> c & 1;
}
