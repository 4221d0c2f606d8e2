/*
 * Finds messages about a job's end in the last lines of its own output. Only known messages of known writers (CPython,
 * numpy, PyTorch and its launcher, NCCL, gloo, libstdc++, glibc, Ray, Slurm) become hints. A hint alone proves little;
 * judge/death/postmortem weighs it against the other evidence.
 *
 * Hint ids: dataloader_killed dataloader_bus_error dataloader_exited
 * shm_no_space bus_error disk_full cuda_oom python_memory_error
 * numpy_memory_error torch_cpu_oom bad_alloc cannot_fork python_traceback
 * python_fatal segfault killed_word core_dumped torchrun_failure
 * torchrun_child torchrun_terminating peer_closed store_lost
 * collective_timeout ray_worker_died keyboard_interrupt
 *
 * The text may hold any bytes; '\r' ends a line as '\n' does (progress bars). Allocates nothing.
 */
#pragma once

#include "base/text.h"
#include "sense/death/facts.h"
#include "sense/death/killerlog.h"

#define DEATHLOG_TAIL (64 * 1024) /* bytes read from the end of a file */

struct deathlog {
	struct log_hint *hints; /* owned by the caller; one for each id, source, rank and pid: the latest */
	size_t cap, n;
	struct killerlog *killers; /* receives lines of Slurm and Ray in the job's output; may be NULL */
};

/* source: name of the log, "rank 0 stderr". rank: the rank that wrote the log, or NO_RANK. Pure. */
void deathlog_parse(struct deathlog *d, struct span tail, const char *source, int32_t rank);
/* Reads the last DEATHLOG_TAIL bytes of a file into buf, at most cap. -EINVAL: not a regular file. */
int must_check deathlog_tail(int dirfd, const char *path, char *buf, size_t cap, struct span *ret_tail);
