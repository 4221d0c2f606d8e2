/*
 * Rows that could not be stored, because the store was not open yet or another program held its lock: kept in
 * "<state>/unstored/<job>.rows" (tell/store/rowlog) and put into the store later, by the same vigil or by the next one.
 * The file is locked (flock) while its writer lives, so that two never put the same rows.
 *
 * Errors: -errno.
 */
#pragma once

#include "tell/store/rowlog.h"

/* fd is -1: none. Zero is not a valid value; begin with UNSTORED_NONE. */
struct unstored {
	int fd;
	char path[320];
};
#define UNSTORED_NONE ((struct unstored){.fd = -1})

/* Makes the job's file, or goes on with it. */
int must_check unstored_open(struct unstored *u, const char *state_dir, const char *job);
/* Puts the rows into the store and removes the file. -EBUSY: the store is still locked. */
int must_check unstored_replay(struct unstored *u, struct store *s);
/* Removes the file, if there is one. */
void unstored_drop(struct unstored *u);
/* Leaves the file, if there is one, to the next vigil. */
void unstored_close(struct unstored *u);
/*
 * Puts the rows of vigils that are gone into the store; s NULL: of this state directory, opened in haste. Quick where
 * there are none. What cannot be put stays.
 */
void unstored_take_up(const char *state_dir, struct store *s);
