/*
 * What every reading command begins with: the store opened for reading, the
 * live machine beside it, and what kind of terminal there is to print on.
 *
 * Functions that return a status return 0 or the exit status of the command;
 * the message has been logged by then.
 */
#pragma once

#include "model/jobs/job.h"
#include "sense/world.h"
#include "tell/text/textout.h"
#include "tell/store/store.h"

struct view {
	struct store *store;   /* NULL: there is none yet */
	char none[512];        /* …and this is what to say then */
	char state[256];
	bool has_world;
	struct world world;
	struct textout paper; /* stdout; width 0: not a terminal, nothing is cut */
};

#define VIEW_UNCUT ((size_t)4096)

/* state: --state or NULL. A store that is not there yet is fine. */
int must_check view_open(const char *state, struct view *ret);
void view_done(struct view *v);

/* Exit status for an error of the store, which is logged. */
int view_failed(const struct view *v, int r, const char *what);

/*
 * The job that text names: an id, a name (its newest), "last", or the pid of
 * a process it has or had. Its state is brought up to date (see view_refresh).
 * NULL stands for "last". EXIT_ABSENT, with the nearest name suggested.
 */
int must_check view_job(const struct view *v, const char *text, struct job *ret);

/* A job whose vigil is no longer there although nothing says that it ended is lost. */
void view_refresh(const struct view *v, struct job *j);
bool view_is_live(const struct job *j);
/* Does this very process still run? Then its memory as it is now is filled in. */
bool view_process_now(const struct view *v, struct job_process *p);

/* Columns for the last column of a table that has used so many already. */
size_t view_rest(const struct view *v, size_t used);
/* "12 s ago"-free: how long a job ran or has been running. now_unix_ms for those that run. */
char *view_ran(const struct job *j, int64_t now_unix_ms, char dst[static 24]);
/* "exit 3", "SIGKILL", "-" */
char *view_exit(bool known, int32_t wait_status, char dst[static 24]);
/* More words than the command takes: EXIT_USAGE, logged. */
int must_check view_words(const char *command, int argc, char **argv, int most);
