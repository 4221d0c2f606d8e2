/*
 * Who makes files in chosen folders, and who removes them, as the kernel tells it (fanotify(7) with
 * FAN_REPORT_DFID_NAME, Linux 5.9): what a process does is told with its number as vigil sees it, in whatever container
 * it is. Nobody waits for that: events are copied into a queue that this process reads now and then, so a folder costs
 * some hundred nanoseconds for each file that is made in it, and nothing otherwise.
 *
 * Only of folders on a file system that this machine alone writes: of one that is shared, what other machines make is
 * not seen. Without CAP_SYS_ADMIN the kernel does not tell who it was.
 */
#pragma once

#include <sys/types.h>

#include "base/base.h"
#include "base/text.h"
#include "sense/world.h"

#define MAKERS_NAME 96 /* longer names are left out */
#define MAKERS_BYTES 16384 /* for one reading */

/* One file that came or went, or both between two readings; a file that is given a new name does both. */
struct makers_row {
	uint64_t folder; /* as makers_folder tells it */
	pid_t pid; /* 0: a process that cannot be seen from here */
	bool came, went;
	bool is_folder;
	bool lost; /* no file: more came and went than the queue holds, and it is not known what */
	char name[MAKERS_NAME]; /* any bytes but '/' */
};

struct makers;

/* WORLD_ABSENT, WORLD_DENIED, -errno. */
int must_check makers_open(const struct world *w, struct makers **ret);
struct makers *makers_free(struct makers *k);
/* What stands for a folder in the rows. WORLD_ABSENT: nothing does. */
int must_check makers_folder(int folder_fd, uint64_t *ret);
/* Watches a folder, opened for reading, from now on. WORLD_ABSENT: not on this file system. -errno. */
int must_check makers_watch(const struct makers *k, int folder_fd);
/* Takes what was told since; *ret_len 0: nothing. Never waits. -errno. */
int must_check makers_read(const struct makers *k, char buf[static MAKERS_BYTES], size_t *ret_len);
/* The next event of such bytes; false: there is none. What cannot be understood is left out. Pure. */
bool makers_next(struct span *rest, struct makers_row *ret);
