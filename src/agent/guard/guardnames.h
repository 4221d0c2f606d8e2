/*
 * What a process calls itself: its command line and the numbers in its environment, by which roles and ranks are
 * recognised. To read them the kernel takes the memory lock of that process, which may take seconds (it maps memory all
 * the time) or for ever (it stands in a dead file system). The guard therefore never reads them: it names the processes
 * that are new to it, and a thread of the supervisor (agent/memory/namereader) answers here, in shared memory.
 *
 * Each place has one writer at a time, in the supervisor. A place belongs to the process that was written there last;
 * whoever finds another one there asks again.
 */
#pragma once

#include <stdatomic.h>

#include "model/jobs/role.h"
#include "sense/proc/proc.h"

#define GUARD_NAMED 512 /* power of two; place: pid modulo GUARD_NAMED */
#define GUARD_ASKED 64 /* processes asked for at a time */

struct guard_named {
	_Atomic uint32_t seq; /* odd while it is being written */
	struct proc_id id; /* pid 0: a free place */
	char comm[16]; /* the name that the process had when this was read */
	char command[512]; /* "": it could not be read in time, or not at all */
	struct role_numbers numbers;
	enum role_proof proof;
};

struct guard_wanted {
	struct proc_id id;
	char comm[16];
};

struct guard_names {
	_Atomic uint32_t want_seq; /* odd while want is being written */
	uint32_t n_want;
	struct guard_wanted want[GUARD_ASKED];
	struct guard_named named[GUARD_NAMED];
};

/* Answers; false: nothing is known of this process, or it is being written. */
bool guardnames_find(const struct guard_names *n, struct proc_id id, struct guard_named *ret);
/* Its command line, cut to cap; false as above, and where it could not be read. */
bool guardnames_command(const struct guard_names *n, struct proc_id id, char *dst, size_t cap);
/* Guard: ask for these, instead of those asked for before. */
void guardnames_want(struct guard_names *n, const struct guard_wanted *want, size_t n_want);
/* Supervisor: what is asked for. Returns false where it is being written; *ret_seq then tells nothing. */
bool guardnames_wanted(const struct guard_names *n, struct guard_wanted ret[static GUARD_ASKED], size_t *ret_n,
		       uint32_t *ret_seq);
/* Supervisor: answer. Only one thread at a time. */
void guardnames_answer(struct guard_names *n, const struct guard_named *named);
