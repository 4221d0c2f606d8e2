/*
 * The functions of the kernel in which a thread waits: /proc/PID/task/TID/stack (kernel: filesystems/proc.rst), which
 * takes CAP_SYS_ADMIN. Of a thread that runs it says nothing reliable.
 */
#pragma once

#include <sys/types.h>

#include "base/text.h"
#include "sense/world.h"

#define KERNELSTACK_FRAMES 64

struct kernelstack {
	struct kernelstack_frame {
		char name[64]; /* "futex_wait_queue" */
		char module[32]; /* "nvidia"; "": the kernel itself */
	} frame[KERNELSTACK_FRAMES]; /* innermost first */
	size_t n;
};

/* Lines that are no frames are skipped. Pure. */
void kernelstack_parse(struct span text, struct kernelstack *ret);
/* WORLD_GONE, WORLD_DENIED, WORLD_ABSENT (a kernel that does not show it). */
int must_check kernelstack_read(const struct world *w, pid_t pid, pid_t tid, struct kernelstack *ret);
