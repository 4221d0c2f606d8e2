/*
 * A process about to be acted on. Its identity (pid + start time) is checked
 * again after a pidfd is held, so that no signal ever reaches a process that
 * merely reuses the number. No allocation. Source: pidfd_open(2),
 * pidfd_send_signal(2), process_mrelease(2).
 */
#pragma once

#include "base/base.h"
#include "sense/proc/proc.h"

struct target {
	struct proc_id id;
	uint64_t own_bytes;
	int pidfd;     /* -1: not held (the signal then goes by checked pid) */
	bool gone;     /* ended, or the pid was never that of this process */
	bool denied;   /* we may not signal it */
};

/* hold: keep a pidfd (to wait for the end and to reap). WORLD_GONE if the pid belongs to another process now. */
int must_check target_open(const struct world *w, struct target *t, bool hold);
void target_close(struct target *t);
/* WORLD_GONE, WORLD_DENIED. */
int must_check target_signal(const struct world *w, struct target *t, int signal);
/* Gives a dying process normal priority, up to our own, so that its exit gets processor time. */
void target_boost(const struct target *t);
/* Frees the memory of a dying process now. WORLD_GONE; -errno (EINVAL: memory is shared with a live process). */
int must_check target_reap(const struct target *t);
/* True if it has ended, also as a zombie that its parent has not reaped. */
bool target_ended(const struct world *w, const struct target *t);
