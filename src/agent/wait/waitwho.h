/*
 * What the processes of a job are to the graph of waits: which is the main one of its rank, and which only start and
 * serve the ranks. Shared by the watcher and by `vigil waits`, so that both draw the same graph. Pure.
 */
#pragma once

#include "model/hang/waitgraph.h"
#include "model/jobs/role.h"

/* How likely a process is the main one of its rank; 0: not at all. started: vigil, or a process outside, started it. */
int waitwho_claim(enum role role, bool started);
/* main: it is the main process of its rank; ranks: some main process of the job has a rank. */
struct waitgraph_who waitwho_of(pid_t pid, const struct role_info *who, bool main, bool ranks);
