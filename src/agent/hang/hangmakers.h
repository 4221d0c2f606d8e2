/*
 * Learns while jobs go on which of their processes make the files of the folders that they work in (sense/proc/makers,
 * model/jobs/filehist): the current folders of their processes, those that main ones were given as arguments or have
 * files open in to write, and what they make below these. Without the right to be told nothing is learned, and all else
 * goes on.
 */
#pragma once

#include "agent/hang/hangprocs.h"
#include "agent/hang/hangshm.h"
#include "model/jobs/filehist.h"

struct hangmakers;

/* NULL without memory. w is borrowed. It lives as long as the watcher. */
struct hangmakers *hangmakers_new(const struct world *w);
/* Forgets what is known of the job of this place: another one, or another attempt, begins or it has ended. */
void hangmakers_forget(struct hangmakers *h, size_t job);
/*
 * To be called after each sample of a job: looks for its folders now and then, and takes what was made since. ends: how
 * its processes ended, so that what one has made which no sample met is known as the job's; NULL: unknown.
 */
void hangmakers_step(struct hangmakers *h, size_t job, const struct hangprocs *procs, const struct hang_respawns *ends,
		     uint32_t attempt);
/* NULL: nothing is learned of it. Borrowed until hangmakers_forget. */
const struct filehist *hangmakers_of(const struct hangmakers *h, size_t job);
