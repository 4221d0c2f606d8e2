/*
 * The processes of the machine and who descends from whom (/proc/PID/stat, kernel: filesystems/proc.rst), for the
 * search of the processes that share a descriptor with others.
 */
#pragma once

#include <sys/types.h>

#include "sense/world.h"

struct kin {
	pid_t pid, ppid, pgrp, session;
	uint64_t start_ticks;
	uint64_t cpu_ticks; /* processor time, with that of children that were waited for */
	uint64_t size_bytes; /* of its address space */
	uid_t uid; /* owner of its files in /proc: effective user, or root where it may not be read by its own user */
	char state;
	uint32_t n_threads;
	bool kernel_thread;
	bool over; /* a zombie without threads: it has no descriptors */
	bool wanted;
	bool holds; /* something that is waited for */
	bool listed, denied; /* its descriptors were read; they could not be read */
	bool outward; /* has a unix socket whose other end was found in no process */
	uint8_t likelihood; /* that it shares something with a wanted process; 0: most likely */
	uint8_t device; /* has a device or a ring that may signal an eventfd: 0 unknown, 1 no, 2 yes */
	uint8_t sealed; /* cache of fdholders: 0 unknown, 1 no, 2 yes */
	uint64_t group_hash; /* of its control groups; 0: not read */
	char comm[16];
};

struct kinship {
	struct kin *item; /* by pid; owned */
	size_t n, cap;
	bool hidden; /* /proc hides processes: it is that of a pid namespace, or mounted with hidepid */
};
void kinship_done(struct kinship *k);

/* Reads all processes. WORLD_ABSENT without /proc; -ENOMEM. */
int must_check kinship_read(const struct world *w, struct kinship *ret);
/* NULL: not there. */
struct kin *kinship_find(const struct kinship *k, pid_t pid);
/* Sets likelihood, from the processes that are marked as wanted. Pure. */
void kinship_rate(struct kinship *k);
/* True if pid is a descendant of ancestor, or is it itself. Pure. */
bool kinship_descends(const struct kinship *k, pid_t pid, pid_t ancestor);
