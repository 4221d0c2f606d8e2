/*
 * How much memory is left, and how often has the kernel's killer struck?
 * For one control group (v1 or v2) or, without a group, for the machine.
 *
 * Left of a group: limit - usage + file pages on the LRU lists (which reclaim
 * may take); of the machine: MemAvailable. Descriptors are opened once, since
 * a measurement must not open files while memory is short. Kernel kills come
 * from the group's counter (memory.events, memory.oom_control) or vmstat, and
 * beside it from the kernel log by process name: cgroup v1 counts a kill in
 * the victim's own group only, and whoever made that group may have removed it.
 */
#pragma once

#include "base/base.h"

#define METER_TEXT 32768

struct meter {
	bool group, v2;
	int usage_fd, stat_fd, events_fd, kmsg_fd;
	uint64_t total_bytes; /* limit of the group, or MemTotal */
	char text[METER_TEXT];
};

/* memcg: directory of the group; NULL: the machine. The kernel log is optional and read from now on. */
int must_check meter_open(struct meter *m, const char *memcg);
int must_check meter_available(struct meter *m, uint64_t *ret_bytes);
/* Everything that is charged, file pages included. Groups only. */
int must_check meter_usage(struct meter *m, uint64_t *ret_bytes);
/* 0 when the counter cannot be read. */
uint64_t meter_kills_counted(struct meter *m);
/* Kills since the last call of processes whose name is exactly this. */
uint64_t meter_kills_logged(struct meter *m, const char *name);
