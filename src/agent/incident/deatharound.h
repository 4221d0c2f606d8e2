/*
 * What is around a process that has died and may be the reason: file systems without room, and who has the port that it
 * could not have. Both may block on a dead disk, so a short-lived child reads them (agent/incident/deathfacts).
 */
#pragma once

#include "judge/death/postmortem.h"
#include "sense/world.h"

/*
 * The file systems of this machine that have no room left, at most cap: that of the working directory first. Those of
 * other machines are left out but for that one. In the others files are looked for that were written to from
 * from_unix_ms on; it looks until until_ns. Returns their number.
 */
size_t deatharound_disks(const struct world *w, int64_t from_unix_ms, uint64_t until_ns, struct death_disk *ret,
			 size_t cap);
/* Who has this TCP port in our network namespace; looks until until_ns. ret->looked is false where nothing was read. */
void deatharound_port(const struct world *w, uint16_t port, uint64_t until_ns, struct death_port *ret);
