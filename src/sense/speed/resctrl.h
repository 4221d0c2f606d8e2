/*
 * What processors have moved to and from memory behind their last cache, for each group of tasks, where the kernel's
 * resource control is mounted (kernel: filesystems/resctrl.rst; Intel RDT, AMD QoS). It is never mounted here. Counters
 * since boot; the kernel takes care of those of the hardware that run over.
 */
#pragma once

#include <sys/types.h>

#include "base/text.h"
#include "sense/world.h"

#define RESCTRL_GROUPS 256
#define RESCTRL_ROWS 2048

/* One last-level cache, as one group uses it. */
struct resctrl_row {
	uint32_t group; /* index */
	uint32_t cache;
	bool has; /* false: Unavailable, Error, Unassigned */
	uint64_t bytes;
};

struct resctrl_group {
	char path[256]; /* below the mount; "" is the group of all tasks that are in no other */
	bool control; /* its counters have those of the monitoring groups below it as well */
};

struct resctrl {
	bool local_only; /* the hardware counts only what stays on a processor's own node */
	bool cut; /* there are more groups or caches than are kept */
	struct resctrl_group *group; /* owned, as row; control groups stand first */
	size_t n_groups;
	struct resctrl_row *row;
	size_t n_rows;
};

/* A file of mon_data. False: it has no number now. Pure. */
bool resctrl_count(struct span text, uint64_t *ret);
/* WORLD_ABSENT: it is not mounted, or counts no traffic. WORLD_DENIED, -ENOMEM. */
int must_check resctrl_read(const struct world *w, struct resctrl *ret);
void resctrl_done(struct resctrl *r);
/*
 * Bytes that a group has moved between two reads. *ret_least: some caches did not count, or not all the time. False:
 * none did. Pure.
 */
bool resctrl_moved(const struct resctrl *from, const struct resctrl *to, size_t group, double *ret, bool *ret_least);
/* The same of all groups together; what monitoring groups have is in their control group. Pure. */
bool resctrl_moved_all(const struct resctrl *from, const struct resctrl *to, double *ret, bool *ret_least);
/* The numbers of a group's tasks as text, one a line; to be freed. WORLD_GONE, WORLD_DENIED, -errno. */
int must_check resctrl_tasks(const struct world *w, const struct resctrl_group *g, char **ret, size_t *ret_len);
