/*
 * Counters of memory controllers that a test sets, for memcount_ops: each open is kept, and reads give what the test
 * says. It misbehaves in the ways of the kernel: refuses, stands still, takes turns, loses a processor.
 */
#pragma once

#include <fcntl.h>

#include "testing.h"

#include "sense/speed/memcount.h"

#define FAKE_PERF_MOST 64

struct fake_perf_one {
	int fd;
	uint32_t type, cpu;
	struct pmuevent event;
	struct memcount_value now;
	int fails; /* of reads; 0: none */
};

static struct fake_perf {
	int refuses; /* of opens; 0: none */
	uint32_t refuses_type; /* 0: all */
	struct fake_perf_one one[FAKE_PERF_MOST];
	size_t n;
} fake_perf;

static inline int fake_perf_open(const struct pmuevent *e, uint32_t type, uint32_t cpu)
{
	if (fake_perf.refuses && (fake_perf.refuses_type == 0 || fake_perf.refuses_type == type))
		return -fake_perf.refuses;
	assert_true(fake_perf.n < FAKE_PERF_MOST);
	const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	fake_perf.one[fake_perf.n++] = (struct fake_perf_one){.fd = fd, .type = type, .cpu = cpu, .event = *e};
	return fd;
}

static inline int fake_perf_read(int fd, struct memcount_value *ret)
{
	for (size_t i = 0; i < fake_perf.n; i++)
		if (fake_perf.one[i].fd == fd) {
			if (fake_perf.one[i].fails)
				return -fake_perf.one[i].fails;
			*ret = fake_perf.one[i].now;
			return 0;
		}
	fail();
	return -EBADF;
}

static const struct memcount_ops fake_perf_ops = {.open = fake_perf_open, .read = fake_perf_read};

/* A second goes by in which each counter counts that much. */
static inline void fake_perf_second(uint64_t count)
{
	for (size_t i = 0; i < fake_perf.n; i++) {
		fake_perf.one[i].now.count += count;
		fake_perf.one[i].now.enabled_ns += 1000000000;
		fake_perf.one[i].now.running_ns += 1000000000;
	}
}

static inline int fake_perf_reset(void **state)
{
	(void)state;
	memset(&fake_perf, 0, sizeof(fake_perf));
	return 0;
}
