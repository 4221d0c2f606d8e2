#include "base/foreign_path.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/log.h"

#define LINKS_MOST 40 /* as in the kernel */

/* A walk along a path: the folder that was come to, and the rest. */
struct walk {
	int dir; /* owned */
	char rest[PATH_MAX];
	char part[NAME_MAX + 1]; /* the last one that was taken, and is no folder that was gone into */
	size_t links;
	bool kernels; /* it came to a link that the kernel makes */
};

static void walk_done(struct walk *w)
{
	closep(&w->dir);
}

/* The walk goes on with this text and what is left. */
static int walk_put(struct walk *w, const char *text)
{
	char rest[PATH_MAX];
	const bool whole = text[0] == '/';
	if (text_format(rest, sizeof(rest), "%s%s%s", text, w->rest[0] ? "/" : "", w->rest) >= (int)sizeof(rest))
		return -ENAMETOOLONG;
	TEXT_COPY(w->rest, rest);
	if (!whole && w->dir >= 0)
		return 0;
	closep(&w->dir);
	w->dir = open(whole ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return w->dir < 0 ? -errno : 0;
}

/* Takes the first part of the rest; false: nothing is left. */
static bool walk_part(struct walk *w)
{
	char *from = w->rest + strspn(w->rest, "/");
	const size_t len = strcspn(from, "/");
	if (len == 0)
		return false;
	text_format(w->part, sizeof(w->part), "%.*s", (int)len, from);
	memmove(w->rest, from + len, strlen(from + len) + 1);
	return true;
}

/* True if it belongs to somebody else, who is put into ret. */
static bool is_anothers(int fd, struct foreign_user *ret)
{
	struct stat st;
	if (fstat(fd, &st) < 0 || st.st_uid == 0 || st.st_uid == geteuid())
		return false;
	return foreign_owner(fd, ret) != NULL;
}

static void walk_into(struct walk *w, int *folder)
{
	closep(&w->dir);
	w->dir = take_fd(folder);
	w->part[0] = '\0';
}

/* Through a link that the kernel makes (/proc/PID/root), which no text says. As walk_step. */
static int walk_through(struct walk *w, struct foreign_user *ret)
{
	struct stat st;
	if (!w->rest[strspn(w->rest, "/")])
		return -ENOENT; /* /dev/stdout: it is open already, by whoever could */
	cleanup(closep) int fd = openat(w->dir, w->part, O_PATH | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (is_anothers(fd, ret))
		return 1;
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	w->kernels = false;
	walk_into(w, &fd);
	return 0;
}

/* One part of the way. Returns 1: *ret; 0: go on; -ENOENT: it is not there. */
static int walk_step(struct walk *w, struct foreign_user *ret)
{
	struct stat st;
	struct statfs fs;
	char text[PATH_MAX];
	cleanup(closep) int fd = openat(w->dir, w->part, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (is_anothers(fd, ret))
		return 1;
	if (S_ISDIR(st.st_mode)) {
		walk_into(w, &fd);
		return 0;
	}
	if (!S_ISLNK(st.st_mode))
		return 0;
	w->kernels = fstatfs(fd, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
	if (w->kernels)
		return walk_through(w, ret);
	if (++w->links > LINKS_MOST)
		return -ELOOP;
	const ssize_t n = readlinkat(fd, "", text, sizeof(text) - 1);
	if (n < 0)
		return -errno;
	text[n] = '\0';
	return walk_put(w, text);
}

/* As foreign_path_user; the walk stands in the last folder then. */
static int walk_all(struct walk *w, const char *path, struct foreign_user *ret)
{
	int r = walk_put(w, path);
	if (r == 0 && is_anothers(w->dir, ret))
		return 1;
	while (r == 0 && walk_part(w))
		r = walk_step(w, ret);
	return r == -ENOENT || r == -ENOTDIR ? 0 : r;
}

int foreign_path_user(const char *path, struct foreign_user *ret)
{
	cleanup(walk_done) struct walk w = {.dir = -1};
	return geteuid() == 0 ? walk_all(&w, path, ret) : 0;
}

const char *foreign_path_variable(const char *name)
{
	static const char *told;
	struct foreign_user user;
	const char *path = secure_getenv(name);
	if (!path || !*path)
		return NULL;
	if (foreign_path_user(path, &user) == 0)
		return path;
	if (!told || strcmp(told, name) != 0)
		log_warning("%s (%s) is not used: another user can change what it leads to, and this is root's vigil",
			    name, path);
	told = name;
	return NULL;
}

struct opening {
	const char *path;
	int flags;
	mode_t mode;
};

static int opening_act(void *arg)
{
	const struct opening *o = arg;
	const int fd = open(o->path, o->flags | O_CLOEXEC | O_NOCTTY, o->mode);
	return fd < 0 ? -errno : fd;
}

/* How a file is opened of which it is not known yet what it is: it is emptied once that is known. */
#define UNSEEN(flags) (((flags) & ~O_TRUNC) | O_NONBLOCK)

/* Takes a regular file that was opened so. */
static int seen_take(int *fd, int flags, int *ret_fd)
{
	if ((flags & O_TRUNC && ftruncate(*fd, 0) < 0) || fcntl(*fd, F_SETFL, flags & ~O_TRUNC) < 0)
		return -errno;
	*ret_fd = take_fd(fd);
	return 0;
}

static int open_anothers(const char *path, int flags, mode_t mode, const struct foreign_user *user, int *ret_fd)
{
	struct stat st;
	struct opening o = {path, UNSEEN(flags), mode};
	cleanup(closep) int fd = foreign_act_as(user, opening_act, &o);
	if (fd < 0)
		return fd == -ENXIO ? FOREIGN_OTHER : fd;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return FOREIGN_OTHER;
	return seen_take(&fd, flags, ret_fd);
}

static bool is_shared(int dir)
{
	struct stat st;
	return fstat(dir, &st) < 0 || st.st_mode & S_IWOTH || (st.st_mode & S_IWGRP && st.st_gid != 0);
}

/*
 * In a folder that others may write to as well: the name may stand for something else by now than when it was looked
 * at. A link is not followed, and a file with a second name may be root's, put there by somebody else.
 */
static int open_shared(const struct walk *w, int flags, mode_t mode, int *ret_fd)
{
	struct stat st;
	cleanup(closep) int fd = openat(w->dir, w->part, UNSEEN(flags) | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, mode);
	if (fd < 0)
		return errno == ELOOP || errno == ENXIO ? FOREIGN_OTHER : -errno;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_nlink > 1 || (st.st_uid != 0 && st.st_uid != geteuid()))
		return FOREIGN_OTHER;
	return seen_take(&fd, flags, ret_fd);
}

int foreign_path_open(const char *path, int flags, mode_t mode, int *ret_fd)
{
	cleanup(walk_done) struct walk w = {.dir = -1};
	struct foreign_user user;
	const int r = geteuid() == 0 ? walk_all(&w, path, &user) : 0;
	if (r)
		return r < 0 ? r : open_anothers(path, flags, mode, &user, ret_fd);
	if (w.dir >= 0 && w.part[0] && !w.rest[strspn(w.rest, "/")] && !w.kernels && is_shared(w.dir))
		return open_shared(&w, flags, mode, ret_fd);
	const int fd = opening_act(&(struct opening){path, flags, mode});
	if (fd < 0)
		return fd;
	*ret_fd = fd;
	return 0;
}

struct moving {
	const char *from, *to; /* to NULL: it is removed */
};

static int moving_act(void *arg)
{
	const struct moving *m = arg;
	return (m->to ? rename(m->from, m->to) : unlink(m->from)) < 0 ? -errno : 0;
}

static int moved(const char *from, const char *to)
{
	struct foreign_user user;
	struct moving m = {from, to};
	const int r = foreign_path_user(to ? to : from, &user);
	return r < 0 ? r : foreign_act_as(r ? &user : NULL, moving_act, &m);
}

int foreign_path_rename(const char *from, const char *to)
{
	return moved(from, to);
}

int foreign_path_unlink(const char *path)
{
	return moved(path, NULL);
}

FILE *foreign_path_fopen(const char *path, bool fresh)
{
	int fd, r = foreign_path_open(path, O_WRONLY | O_CREAT | (fresh ? O_EXCL : O_TRUNC), 0666, &fd);
	if (r) {
		errno = r < 0 ? -r : EACCES;
		return NULL;
	}
	FILE *to = fdopen(fd, "we");
	if (!to)
		close(fd);
	return to;
}

struct replacing {
	const char *path;
	const void *data;
	size_t len;
	mode_t mode;
};

static int replacing_act(void *arg)
{
	const struct replacing *x = arg;
	return file_replace(x->path, x->data, x->len, x->mode);
}

int foreign_path_replace(const char *path, const void *data, size_t len, mode_t mode)
{
	struct foreign_user user;
	struct replacing x = {path, data, len, mode};
	const int r = foreign_path_user(path, &user);
	return r < 0 ? r : foreign_act_as(r ? &user : NULL, replacing_act, &x);
}
