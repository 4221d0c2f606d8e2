/*
 * The systemd journal, asked for what killers and supervisors wrote in a
 * span of time. The only user of libsystemd's sd-journal, and that by dlopen:
 * linking it costs about 1 ms at every start (nine libraries), which a
 * program that starts jobs does not want to pay, and its mappings of journal
 * files do not belong into a guard that is locked in memory.
 *
 * Reading may wait for the disk: call it from a helper process
 * (agent/incident/deathfacts), not from the guard.
 */
#pragma once

#include "sense/death/facts.h"
#include "sense/death/killerlog.h"
#include "sense/world.h"

/*
 * Feeds the entries from since_unix_ms to until_unix_ms to k, oldest first,
 * until mono_deadline_ns or max entries. *ret_read: entries looked at.
 * WORLD_ABSENT: no libsystemd, no journal here, or a recorded world.
 * WORLD_DENIED: only our own entries may be read; what was found of them is in k.
 * why: says which, for people; filled for every result but 0.
 */
int must_check journal_read_killers(const struct world *w, int64_t since_unix_ms, int64_t until_unix_ms,
				    uint64_t mono_deadline_ns, size_t max, struct killerlog *k, char why[static 120],
				    size_t *ret_read);
