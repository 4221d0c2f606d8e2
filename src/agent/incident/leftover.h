/*
 * Jobs whose vigil was killed with all of its processes at once, so that nobody could clear up: the next vigil of the
 * same user and state directory does. It thaws the job's group, lifts its limits, switches the kernel's OOM killer on
 * again and removes the group if it is empty. Processes of the job that still run are left to run, but for tasks of a
 * bag, which are ended: their note names a group of version 2 and no freezer. A job whose end
 * nobody has told is stored as lost, with a report, and first reports of memory kills are put into the store.
 *
 *   <state>/watched/<job>   one note for each job that a vigil has started and not finished
 *
 * A note is locked (flock) by the supervisor and, as they inherit its descriptor, by its guard and its rescue process.
 * It can be locked by another process only when all of them are gone, whatever their numbers are used for now.
 */
#pragma once

#include "act/jobgroup.h"
#include "sense/world.h"

/*
 * Write and lock the note of a job, before its group is made and its guard is forked. Returns the descriptor to keep
 * open; -1: there is none.
 */
int leftover_note(const char *state_dir, const char *job, const struct jobgroup *g);
/* The group is another one than was noted, or there is none. fd: of leftover_note. */
void leftover_note_change(int fd, const struct jobgroup *g);
/* The job has ended and its group is gone: remove the note. */
void leftover_forget(const char *state_dir, const char *job);
/* Clear up after vigils that were killed. Says on stderr what it did. Costs one look into an empty folder as a rule. */
void leftover_clear(const struct world *w, const char *state_dir);
