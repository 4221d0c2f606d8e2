/*
 * A process and all that descend from it, with the memory of each: for those who know the root and do not want to look
 * through the whole machine. Children are read from /proc/PID/task/TID/children (kernel 3.5, CONFIG_PROC_CHILDREN);
 * where that is missing, the root alone is found. Allocates nothing, and takes no lock of a process's memory.
 */
#pragma once

#include "sense/proc/proc.h"

struct proctree_row {
	struct proc_id id;
	pid_t pgrp;
	uint64_t own_bytes; /* RSS without shared memory and files */
	uint64_t shared_bytes;
};

/* Returns the number found, at most cap; 0: the root has ended. */
size_t proctree_read(const struct world *w, pid_t root, struct proctree_row *rows, size_t cap);
/* Our own children but for zombies; 0 also where they cannot be read. */
size_t proctree_children(const struct world *w, pid_t *pids, size_t cap);
