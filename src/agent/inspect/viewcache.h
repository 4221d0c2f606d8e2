/*
 * Views of processes that will probably be needed soon, opened in advance: finding a Python, its code and the symbol
 * tables of native files takes most of the time of a first sample, and a victim stands frozen meanwhile.
 * agent/incident/lookahead decides which processes; agent/stacks/snapshot takes the views.
 *
 * A kept view may be wrong by the time it is used: the process may have ended and its pid be another's, or it may run
 * another program. viewcache_take checks both.
 */
#pragma once

#include "agent/inspect/procview.h"

#define VIEWCACHE_PLACES 16

struct viewcache {
	struct natives *natives; /* symbols shared by the views; NULL: nothing was kept yet */
	struct {
		struct procview *view; /* NULL: free */
	} place[VIEWCACHE_PLACES];
};

/*
 * Opens those of pids that are not open yet, for budget_ns at most, and closes all others. Processes that cannot be
 * read are left out.
 */
void viewcache_keep(struct viewcache *k, const struct world *w, const pid_t *pids, size_t n, uint64_t budget_ns);
/* The view of exactly this process, from here on owned by the caller; NULL: there is none, or it is no longer valid. */
struct procview *viewcache_take(struct viewcache *k, const struct world *w, pid_t pid);
/* Closes everything. Views that were taken must be closed first, since they use the symbols kept here. */
void viewcache_clear(struct viewcache *k);
