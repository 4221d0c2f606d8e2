/* Shared by the files that implement agent/wait/waitsread.h. */
#pragma once

#include "agent/wait/waitsread.h"

/* The processes of a look, main ones first. */
struct waitsread_processes {
	pid_t *pid; /* owned */
	struct waitgraph_who *who; /* of the same processes; owned */
	size_t n;
	bool cut;
};

/* n 0: nothing of it runs. -errno, WORLD_ABSENT. */
int must_check waitsread_processes_read(const struct world *w, const struct members_want *want,
					struct waitsread_processes *ret);
void waitsread_processes_done(struct waitsread_processes *p);
