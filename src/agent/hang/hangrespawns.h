/*
 * Children that fail and are started anew, of one job: what the owner of the watcher has counted (model/jobs/respawns),
 * with the names and ranks of those who start them.
 */
#pragma once

#include "agent/hang/hangprocs.h"

/* from: NULL: nobody counts. Rows of parents that have ended are left out. */
void hangrespawns_take(const struct hang_respawns *from, uint32_t attempt, const struct hangprocs *procs,
		       struct respawns *ret);
/*
 * How a process ended that is gone, status and time, if the owner was told of it: its parent may have taken the status
 * before it was seen. from may be NULL.
 */
void hangrespawns_ended(const struct hang_respawns *from, uint32_t attempt, struct hangprocs_gone *g);
/* The last of these ends, the newest first; returns their number. from may be NULL. */
size_t hangrespawns_ends(const struct hang_respawns *from, uint32_t attempt, struct hang_end ret[static HANG_ENDS]);
