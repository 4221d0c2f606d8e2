/*
 * Which files the processes of a suspected job look for in vain, or try to lock, again and again
 * (sense/proc/lookups): counted while evidence is gathered, for some seconds. Without the right to load the BPF program
 * nothing is told, and all else goes on.
 */
#pragma once

#include "agent/hang/hangprocs.h"
#include "model/jobs/filehist.h"
#include "model/hang/waithint.h"
#include "sense/wait/waitfacts.h"

struct hanglookups;

/* NULL without memory. w is borrowed. It lives as long as the watcher. */
struct hanglookups *hanglookups_new(const struct world *w);
/* Counts from now on what these processes look for, beside those of other jobs. */
void hanglookups_begin(struct hanglookups *h, const struct hangprocs *procs);
/* Counts no more: nobody's evidence is gathered. Costs nothing where it does not count. */
void hanglookups_end(struct hanglookups *h);
/*
 * A hint for each thread of the facts that has looked for the same file several times since the beginning, and not
 * found it: of several files the one that it asked for most often. Of one that misses none, and only asks for one or
 * two that are there, that one: it may wait for it to go. Of one that tries to lock a file without waiting, who has the
 * lock. Of a main thread that makes no call but its sleeps, that. files says who has made such files so far; NULL: that
 * is not known. Returns their number, at most cap.
 */
size_t hanglookups_hints(struct hanglookups *h, const struct waitfacts *facts, const struct filehist *files,
			 struct waithint *ret, size_t cap);
