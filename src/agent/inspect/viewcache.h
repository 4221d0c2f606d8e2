/*
 * Views of processes that will probably be needed soon, opened beforehand: finding a Python, its code and the tables of
 * native files takes most of the time of a first look, and a victim stands frozen meanwhile. Whom to open is decided by
 * agent/incident/lookahead; agent/stacks/snapshot takes what is kept here.
 *
 * A kept view may be wrong by the time it is used: the process may have ended, and its number be another's, or it may have
 * become another program. viewcache_take tells.
 */
#pragma once

#include "agent/inspect/procview.h"

#define VIEWCACHE_PLACES 16

struct viewcache {
	struct natives *natives; /* symbols shared by the views; NULL: nothing has been kept yet */
	struct {
		struct procview *view; /* NULL: the place is free */
	} place[VIEWCACHE_PLACES];
};

/* Open those of pids that are not open yet, for budget_ns at most, and close all others. Unreadable processes are left out. */
void viewcache_keep(struct viewcache *k, const struct world *w, const pid_t *pids, size_t n, uint64_t budget_ns);
/* The view of this very process, owned by the caller from here on; NULL: there is none, or it is no longer right. */
struct procview *viewcache_take(struct viewcache *k, const struct world *w, pid_t pid);
/* Close everything. Views that were taken must have been closed before, since they use the symbols kept here. */
void viewcache_clear(struct viewcache *k);
