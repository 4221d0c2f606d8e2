/*
 * What every reading command begins with: the store opened for reading, the machine, and the terminal to print on.
 *
 * Functions that return a status return 0 or the exit status of the command; they have then logged the message.
 */
#pragma once

#include "agent/jobs/jobran.h"
#include "agent/jobs/livefollow.h"
#include "agent/memory/procnow.h"
#include "model/jobs/job.h"
#include "sense/world.h"
#include "tell/text/textout.h"
#include "tell/store/store.h"

struct view {
	struct store *store;   /* NULL: there is none yet */
	char none[512];        /* the message to print if store is NULL */
	char state[256];
	char others[320];      /* that there are jobs which may not be read; "" if not */
	bool has_world;
	struct world world;
	struct textout paper; /* stdout; width 0: not a terminal, nothing is cut */
};

#define VIEW_UNCUT ((size_t)4096)

/* state: --state or NULL. A store that does not exist yet is no error. */
int must_check view_open(const char *state, struct view *ret);
void view_done(struct view *v);

/* stdout is a terminal that has colours, and they are wanted (NO_COLOR, TERM=dumb). */
bool view_colour(void);
/* Whether a line of progress that is written over may be shown on stderr. */
bool view_progress(void);
/* Writes over that line; more than a line of the terminal is cut. text: ASCII, without the end of a line. */
void view_progress_show(const char *text);

/* Say that there are jobs which may not be read, if there are any. */
void view_others(const struct view *v);

/* Log an error of the store, r, while reading `what`. Returns the exit status. */
int view_failed(const struct view *v, int r, const char *what);

/*
 * The job that text names: an id, a name (its newest), "last", or the pid of a process it has or had. NULL stands for
 * "last". Its state is brought up to date (see view_refresh). EXIT_ABSENT if there is none; the nearest name is
 * suggested.
 */
int must_check view_job(const struct view *v, const char *text, struct job *ret);

/* Set the state to JOB_LOST if the job is live in the store but its vigil, on this machine, is gone. */
void view_refresh(const struct view *v, struct job *j);
/*
 * What the job's supervisor says of it at this moment; its series is as fresh from then on. Brings the job up to date.
 * ret is owned by the caller (live_done), who hands it over empty or as it was filled before. False: it says nothing.
 */
bool view_live(struct job *j, struct live_state *ret);
/* As procnow_read. */
static inline bool view_process_now(const struct view *v, struct job_process *p)
{
	return procnow_read(v->has_world ? &v->world : NULL, p);
}

/* Columns left for the last column of a table whose others take `used`; at least 8, VIEW_UNCUT if not a terminal. */
size_t view_rest(const struct view *v, size_t used);
/* "exit 3", "SIGKILL"; "-" if not known. wait_status: of wait(2). Returns dst. */
char *view_exit(bool known, int32_t wait_status, char dst[static 24]);
/* Processes of a table that vigil ended, by why. Zeroed: none. */
#define VIEW_ENDS 3
struct view_ends {
	uint32_t n[VIEW_ENDS];
};
/* The state of one that has ended, which is counted: "by vigil", "exit 3", "SIGKILL", "gone". dst or static text. */
const char *view_ended(struct view_ends *e, const struct job_process *p, char dst[static 24]);
/* What "by vigil" means in the table above; nothing where it has none. */
void view_ends_print(const struct textout *p, const struct view_ends *e);
/* 0, or EXIT_USAGE, logged, if there are more words than the command takes. */
int must_check view_words(const char *command, int argc, char **argv, int most);
