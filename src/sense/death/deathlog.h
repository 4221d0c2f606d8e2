/*
 * What the last lines of a job's own output say about its end. Only known
 * messages of known writers (CPython, numpy, PyTorch and its launcher, NCCL,
 * gloo, libstdc++, glibc, Ray, Slurm) become hints; a hint alone proves
 * little, judge/death/postmortem weighs it against everything else.
 *
 * Hint ids: dataloader_killed dataloader_bus_error dataloader_exited
 * shm_no_space bus_error disk_full cuda_oom python_memory_error
 * numpy_memory_error torch_cpu_oom bad_alloc cannot_fork python_traceback
 * python_fatal segfault killed_word core_dumped torchrun_failure
 * torchrun_child torchrun_terminating peer_closed store_lost
 * collective_timeout ray_worker_died keyboard_interrupt
 *
 * Bytes of any kind are tolerated; '\r' ends a line as '\n' does (progress
 * bars). Pure but for deathlog_read; allocates nothing.
 */
#pragma once

#include "base/text.h"
#include "sense/death/facts.h"
#include "sense/death/killerlog.h"

#define DEATHLOG_TAIL (64 * 1024) /* looked at from a file's end, whatever its size */

struct deathlog {
	struct log_hint *hints; /* owned by the caller; one an id and rank, the latest wins */
	size_t cap, n;
	struct killerlog *killers; /* Slurm and Ray write into the job's own output; may be NULL */
};

/* source: where the text is from, "rank 0 stderr". rank: whose log it is, or NO_RANK. Pure. */
void deathlog_parse(struct deathlog *d, struct span tail, const char *source, int32_t rank);
/* The last DEATHLOG_TAIL bytes of a file; buf has room for cap. Regular files only (-EINVAL). */
int must_check deathlog_tail(int dirfd, const char *path, char *buf, size_t cap, struct span *ret_tail);
