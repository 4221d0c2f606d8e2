/*
 * Waits for something new to show, without polling: changes of files by inotify, the end of a process by its pidfd, and
 * the reader of stdout going away. Errors are -errno.
 */
#pragma once

#include <sys/types.h>

#include "base/base.h"

enum {
	FOLLOW_STORE = 1,      /* the store was written */
	FOLLOW_FILES = 2,      /* something changed in a watched directory */
	FOLLOW_NEW_STORE = 4,  /* the store's file was made or replaced */
	FOLLOW_GONE = 8,       /* the watched process ended; reported once */
	FOLLOW_NO_READER = 16, /* stdout has no reader any more */
};

struct follow {
	int inotify_fd;
	int pid_fd;
	int store_watch; /* watch descriptor of the state directory */
};

void follow_done(struct follow *f);
/* Watch state_dir, which must exist, for changes of the store. */
int must_check follow_open(const char *state_dir, struct follow *ret);
/* Watch the folder of a job, or one below it, as agent/jobs/jobfolder opens it: FOLLOW_FILES. */
int must_check follow_folder(struct follow *f, const char *log_dir, const char *folder);
/* Watch this process instead of the one before. pid 0 or a process that is gone: watches none. */
void follow_process(struct follow *f, pid_t pid);
/* Sleep until something happens; *ret_what: FOLLOW_… bits, never 0. */
int must_check follow_wait(struct follow *f, unsigned *ret_what);
