/*
 * The page's server beside a job: `vigil run --dashboard` starts `vigil dashboard --until PID` as a process of its own.
 * The job never waits for it: it is started and forgotten, and it ends by itself when the supervisor has ended; where a
 * page is open, some seconds later, so that it tells the job's end.
 */
#pragma once

#include "sense/world.h"

/*
 * To be called before the supervisor starts anything. The server is no child of the supervisor's and in a session of
 * its own, so neither Ctrl-C nor the supervisor's wait meets it. It prints its address on stderr. -errno: it was not
 * started.
 *
 * given: --state as the user gave it; NULL: the server finds the state directory as the supervisor did, by the same
 * environment, and then shows what root's vigil lends as well.
 */
int must_check webbeside_start(const struct world *w, const char *given);
/* The job has ended, and the page with it: says on stderr how to see it again. */
void webbeside_over(const char *given);
