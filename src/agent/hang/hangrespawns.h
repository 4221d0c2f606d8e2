/*
 * Children that fail and are started anew, of one job: what the owner of the watcher has counted (model/jobs/respawns),
 * with the names and ranks of those who start them.
 */
#pragma once

#include "agent/hang/hangprocs.h"

/* from: NULL: nobody counts. Rows of parents that have ended are left out. */
void hangrespawns_take(const struct hang_respawns *from, uint32_t attempt, const struct hangprocs *procs,
		       struct respawns *ret);
