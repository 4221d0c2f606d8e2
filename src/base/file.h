/*
 * Small files read and written whole. Kernel files are read with one read()
 * into memory the caller owns; nothing here allocates except file_slurp.
 */
#pragma once

#include <dirent.h>
#include <sys/types.h>

#include "base/base.h"
#include "base/text.h"

/*
 * Read a file relative to dirfd (AT_FDCWD allowed) into buf and terminate it.
 * A file longer than cap-1 is cut.
 */
int must_check file_read_at(int dirfd, const char *path, char *buf, size_t cap, size_t *ret_len);
/* The same from the start of an open descriptor (pread at 0). */
int must_check file_read_fd(int fd, char *buf, size_t cap, size_t *ret_len);
/*
 * The same for files that the kernel returns in one read (single_open in its sources: numbers of a control group; stat,
 * statm, io and status of a process): saves the read that would return the end. Not for tables.
 */
int must_check file_read_once(int fd, char *buf, size_t cap, size_t *ret_len);
/* Up to cap bytes from an offset on, not terminated; fewer only at the end of the file. */
int must_check file_read_from(int fd, uint64_t from, char *buf, size_t cap, size_t *ret_len);
/* A whole file into malloc'ed memory, at most max bytes (-EFBIG). A name that others chose goes to base/foreign.h. */
int must_check file_slurp(int dirfd, const char *path, size_t max, char **ret_text, size_t *ret_len);
/* The same from where an open descriptor stands. */
int must_check file_slurp_fd(int fd, size_t max, char **ret_text, size_t *ret_len);

int must_check file_write_at(int dirfd, const char *path, const char *text);
/* Writes all bytes, continuing after short writes and EINTR. */
int must_check file_write_all(int fd, const void *data, size_t len);
/* Writes a temporary file beside it, calls fsync and renames it: readers see the old or the new file, never a part. */
int must_check file_replace(const char *path, const void *data, size_t len, mode_t mode);
/* Bytes that a copy has instead of those of the file. */
struct file_patch {
	off_t at;
	const void *bytes;
	size_t len; /* 0: none */
};
/*
 * Copies an open regular file as it is now and keeps its holes: written beside the target as "<to_name>.new" with mode
 * 0600, then renamed. to_dir as of openat(2); links are not followed, and what somebody has put there under that name
 * is replaced, not written to. patch may be NULL. On -errno there is no new file.
 */
int must_check file_copy_fd(int from, int to_dir, const char *to_name, const struct file_patch *patch);
/*
 * A descriptor for reading and writing that holds nothing, closed on exec: /dev/null, or where that may not be opened
 * an empty file in memory, to which a write fails. -errno.
 */
int must_check file_null(void);
/* mkdir -p; existing directories are fine. */
int must_check file_mkdirs(const char *path, mode_t mode);

/*
 * The folder of a descriptor, which it takes: closed with the folder, or at once where there is none (NULL, and errno).
 * Of -1 there is none, with the errno that there is.
 */
DIR *file_folder(int fd);
/* For cleanup(): closes a folder. */
static inline void closedirp(DIR **d)
{
	if (*d)
		closedir(*d);
	*d = NULL;
}
