/*
 * The shared memory of a memory report: the objects, their sizes and holders. A victim's own memfds and deleted files
 * vanish with it, and files that it leaves in /dev/shm have no holder any more. So one list is made while it lives, and
 * joined with a second one after its end.
 */
#pragma once

#include "model/incident/incident.h"
#include "sense/proc/proc.h"
#include "sense/world.h"

#define SHMHELD_OWNERS 16

struct shmheld {
	struct incident_shm row;
	bool ours; /* one of those that were to be read first held it */
	uint32_t dev_major, dev_minor;
	uint64_t inode;
	pid_t owner[SHMHELD_OWNERS];
	uint32_t n_owners; /* those in owner[] */
	int64_t since_unix_ms; /* 0: unknown */
	bool unheld; /* no process holds it; the administrator is hidden no process that matters */
	bool has_uid;
	uid_t uid;
};

/* Whose shared memory stays behind: processes that have just ended, and the job that they were of. */
struct shmheld_job {
	const struct proc_id *ended;
	size_t n_ended;
	int64_t since_unix_ms; /* the job's start; 0: unknown */
	uid_t uid; /* the user that it runs as */
	/*
	 * Shared memory that is still charged to the job's own control group, after its end; 0 also where it has
	 * none. Without it nothing is said of a file that nobody was seen to hold: another job of that user may have
	 * made it.
	 */
	uint64_t charged_bytes;
};

/*
 * Lists objects of at least 1 MiB, the largest first. first: processes to read before all others; what they hold stands
 * before what others do.
 */
size_t shmheld_read(const struct world *w, const pid_t *first, size_t n_first, uint64_t budget_ns,
		    struct shmheld ret[static INCIDENT_SHM]);
/*
 * Sets in->shm to the present objects. before: the list from the victim's lifetime; n_before may be 0. job: marks
 * what it has left behind (left, memory.shm_left_bytes): what one of the ended held, and what its user has made since
 * its start and nobody holds; NULL: nothing is marked.
 */
void shmheld_report(const struct world *w, const struct shmheld *before, size_t n_before, const struct shmheld_job *job,
		    struct incident *in);
