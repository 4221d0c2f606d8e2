/*
 * Waiting for something new to show, without looking at fixed times: changes
 * of files by inotify, the end of a process by its pidfd, and the reader of
 * our output going away.
 */
#pragma once

#include <sys/types.h>

#include "base/base.h"

enum {
	FOLLOW_STORE = 1,      /* the store was written */
	FOLLOW_FILES = 2,      /* something changed in a watched directory */
	FOLLOW_NEW_STORE = 4,  /* the store's file is another one now */
	FOLLOW_GONE = 8,       /* the watched process ended; told once */
	FOLLOW_NO_READER = 16, /* nobody reads our output any more */
};

struct follow {
	int inotify_fd;
	int pid_fd;
	int store_watch; /* watch descriptor of the state directory */
};

void follow_done(struct follow *f);
/* state_dir is watched for the store; it must exist. */
int must_check follow_open(const char *state_dir, struct follow *ret);
int must_check follow_directory(struct follow *f, const char *dir);
/* pid 0 or one that is gone: nothing is watched. */
void follow_process(struct follow *f, pid_t pid);
/* Sleep until something happened; *ret_what: FOLLOW_… bits, never 0. */
int must_check follow_wait(struct follow *f, unsigned *ret_what);
