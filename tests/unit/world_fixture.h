/* A recorded world below tests/fixtures/worlds, opened the way agent/host/world_open does it. */
#pragma once

#include <fcntl.h>

#include "testing.h"

#include "base/buf.h"
#include "base/clock.h"
#include "sense/world.h"

static inline int fixture_dir(const char *world, const char *part)
{
	char path[512];
	TEXT_FORMAT(path, "%s/worlds/%s/%s", FIXTURES, world, part);
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static inline struct world fixture_world(const char *name)
{
	struct world w = {
		.proc_fd = fixture_dir(name, "proc"),
		.sys_fd = fixture_dir(name, "sys"),
		.cgroup_fd = fixture_dir(name, "cgroup"),
		.shm_fd = -1,
		.kmsg_fd = -1,
		.recorded = true,
		.page_bytes = 4096,
		.ticks_per_s = 100,
		.mono_ns = clock_mono_ns,
		.unix_ms = clock_unix_ms,
	};
	assert_true(w.proc_fd >= 0);
	return w;
}

/* The machine that the test runs on, for what no recording can stand in. */
static inline struct world live_world(void)
{
	struct world w = {
		.proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
		.sys_fd = -1,
		.cgroup_fd = open("/sys/fs/cgroup", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
		.shm_fd = -1,
		.kmsg_fd = -1,
		.page_bytes = (uint64_t)sysconf(_SC_PAGESIZE),
		.ticks_per_s = (uint64_t)sysconf(_SC_CLK_TCK),
		.mono_ns = clock_mono_ns,
		.unix_ms = clock_unix_ms,
	};
	assert_true(w.proc_fd >= 0);
	return w;
}

/* A clock a day ahead of the machine's: a record may then be older than the machine has been up. */
static inline uint64_t later_mono_ns(void)
{
	return clock_mono_ns() + 86400 * NS_PER_S;
}

/*
 * True if our clocks since boot are the kernel's own: in another time namespace they are not those of the kernel's log
 * and of BPF programs. 4026531834 is the first one (include/linux/proc_ns.h: PROC_TIME_INIT_INO).
 */
static inline bool clocks_are_the_kernels(void)
{
	char name[64] = "";
	ssize_t n = readlink("/proc/self/ns/time", name, sizeof(name) - 1);
	return n < 0 || strcmp(name, "time:[4026531834]") == 0;
}

static inline void fixture_close(struct world *w)
{
	closep(&w->proc_fd);
	closep(&w->sys_fd);
	closep(&w->cgroup_fd);
}
