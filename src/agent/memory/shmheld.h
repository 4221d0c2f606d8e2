/*
 * The shared memory of a memory report: the objects, their sizes and holders. A victim's own memfds and deleted files
 * vanish with it, and files that it leaves in /dev/shm have no holder any more. So one list is made while it lives, and
 * joined with a second one after its end.
 */
#pragma once

#include "model/incident/incident.h"
#include "sense/world.h"

struct shmheld {
	struct incident_shm row;
	uint32_t dev_major, dev_minor;
	uint64_t inode;
};

/* Lists objects of at least 1 MiB, the largest first. first: processes to read before all others. */
size_t shmheld_read(const struct world *w, const pid_t *first, size_t n_first, uint64_t budget_ns,
		    struct shmheld ret[static INCIDENT_SHM]);
/* Sets in->shm to the present objects. before: the list from the victim's lifetime; n_before may be 0. */
void shmheld_report(const struct world *w, const struct shmheld *before, size_t n_before, struct incident *in);
