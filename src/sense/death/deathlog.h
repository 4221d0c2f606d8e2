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
 * port_in_use file_too_large too_many_files no_room_for_process
 * torch_write_failed device_assert mpi_abort earlier_traceback last_line; and of sense/framework/losslog loss_broken
 *
 * python_traceback is the last one of its log and rank, or the main thread's where nothing but exceptions of other
 * threads follows it; earlier_traceback are the others. Exceptions that are chained are one traceback. last_line is
 * what a log ends with, whatever it says, before the frames of a stack and what an MPI launcher says of the end.
 *
 * The text may hold any bytes; '\r' ends a line as '\n' does (progress bars). Allocates nothing.
 */
#pragma once

#include "base/text.h"
#include "sense/death/facts.h"
#include "sense/death/killerlog.h"

#define DEATHLOG_TAIL (256 * 1024) /* bytes read from the end of a file */

struct deathlog {
	/*
	 * Owned by the caller; one for each id, source, rank and pid: the latest. Of earlier_traceback the latest four.
	 * If there is no room the earliest one gives way.
	 */
	struct log_hint *hints;
	size_t cap, n;
	struct killerlog *killers; /* receives lines of Slurm and Ray in the job's output; may be NULL */
};

/* source: name of the log, "rank 0 stderr". rank: the rank that wrote the log, or NO_RANK. Pure. */
void deathlog_parse(struct deathlog *d, struct span tail, const char *source, int32_t rank);
/*
 * The number of the last line, counted from 1 by '\n', after which the program went on in its loop: what was said up to
 * there was handled. 0: none. Pure.
 */
uint32_t deathlog_handled_until(struct span tail);
/* True when lines of the program's loop stand there, which go on or begin a series. Offsets in this text. Pure. */
bool deathlog_steps_between(struct span tail, uint64_t from_bytes, uint64_t to_bytes);
/* Reads the last DEATHLOG_TAIL bytes of a file into buf, at most cap. -EINVAL: not a regular file. */
int must_check deathlog_tail(int dirfd, const char *path, char *buf, size_t cap, struct span *ret_tail);
