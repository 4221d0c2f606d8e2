/*
 * The shared memory of a memory report: which objects there are, how large, and who holds them. A victim's own memfds and
 * deleted files vanish with it, and what it leaves in /dev/shm has no holder any more: so the list is made once while it
 * lives, and joined with the list afterwards.
 */
#pragma once

#include "model/incident/incident.h"
#include "sense/world.h"

struct shmheld {
	struct incident_shm row;
	uint32_t dev_major, dev_minor;
	uint64_t inode;
};

/* Objects of a MiB and more, the largest first. first: processes to look at before any others. */
size_t shmheld_read(const struct world *w, const pid_t *first, size_t n_first, uint64_t budget_ns,
		    struct shmheld ret[static INCIDENT_SHM]);
/* in->shm as it is now; before: what was seen while the victim lived, n_before may be 0. */
void shmheld_report(const struct world *w, const struct shmheld *before, size_t n_before, struct incident *in);
