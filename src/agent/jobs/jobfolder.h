/*
 * The folder of a job in a state directory, as commands that read it open it ("<state>/jobs/ID" and
 * "<state>/users/UID/jobs/ID", which is what the store hands out as log_dir). Where root looks at the state directory
 * of a user, who could have put anything there, all is done with that user's rights, and no link leads out of the state
 * directory (base/foreign). For all others too the folder itself is no link, and only regular files are opened: nobody
 * waits for a FIFO.
 *
 * Errors are -errno.
 */
#pragma once

#include "base/foreign.h"

struct jobfolder {
	int fd; /* owned */
	bool anothers; /* what is in it is opened as owner */
	struct foreign_user owner;
};

/* folder: below it, or NULL. Another path than those above is a folder that stands for itself. */
int must_check jobfolder_open(const char *log_dir, const char *folder, struct jobfolder *ret);
void jobfolder_done(struct jobfolder *f);
/* A regular file of it, for reading. */
int must_check jobfolder_file(const struct jobfolder *f, const char *name, int *ret_fd);
/* The same by the path of the folder. */
int must_check jobfolder_file_open(const char *log_dir, const char *name, int *ret_fd);
/* As file_slurp. */
int must_check jobfolder_slurp(const char *log_dir, const char *name, size_t most, char **ret_text, size_t *ret_len);
