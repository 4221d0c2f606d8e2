/*
 * Reads what killers and supervisors wrote into the systemd journal during a span of time. This is the only user of
 * sd-journal from libsystemd. The library is loaded with dlopen, because linking it adds about 1 ms to every start
 * (nine libraries).
 *
 * Reading may block on the disk, and the library maps journal files into memory. Call it from a helper process
 * (agent/incident/deathfacts), not from the guard, which is locked in memory.
 */
#pragma once

#include <sys/types.h>

#include "sense/death/facts.h"
#include "sense/death/killerlog.h"
#include "sense/world.h"

/*
 * Feeds the entries from since_unix_ms to until_unix_ms to k, oldest first, until mono_deadline_ns or max entries.
 * *ret_read: number of entries read.
 * WORLD_ABSENT: no libsystemd, no journal on this machine, or a recorded world.
 * WORLD_DENIED: only the user's own entries may be read; k has been fed with them.
 * why: the reason as text for people; filled for every result but 0.
 */
int must_check journal_read_killers(const struct world *w, int64_t since_unix_ms, int64_t until_unix_ms,
				    uint64_t mono_deadline_ns, size_t max, struct killerlog *k, char why[static 120],
				    size_t *ret_read);

/*
 * True of an entry of the kernel's, of root's, of a service's user or of our own (ours). Any other user can write what
 * a killer would have written, and would then be believed to have seen it end a process. transport, uid: the fields
 * _TRANSPORT and _UID, which journald fills. Pure.
 */
bool journal_sender_is_believed(struct span transport, struct span uid, uid_t ours);
