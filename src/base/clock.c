#include "base/clock.h"

#include <time.h>

static uint64_t clock_ns(clockid_t id)
{
	struct timespec t;
	(void)clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

uint64_t clock_mono_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

uint64_t clock_boot_ns(void)
{
	return clock_ns(CLOCK_BOOTTIME);
}

uint64_t clock_thread_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

int64_t clock_unix_ms(void)
{
	return (int64_t)(clock_ns(CLOCK_REALTIME) / NS_PER_MS);
}
