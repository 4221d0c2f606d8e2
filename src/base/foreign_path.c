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
#include "base/text.h"

#define LINKS_MOST 40 /* as in the kernel */

#define USUAL_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#define ROOTS_HOME "/root"

/* Each is a path, or paths parted by colons. What is read there names code, or whom to believe. */
static const char *const naming[] = {
	"OPENSSL_CONF",	    "OPENSSL_MODULES", "OPENSSL_ENGINES", "GNUTLS_SYSTEM_PRIORITY_FILE",
	"KRB5_CONFIG",	    "KRB5_TRACE",      "GCONV_PATH",	  "LOCPATH",
	"SSL_CERT_FILE",    "SSL_CERT_DIR",    "HOSTALIASES",	  "NLSPATH",
	"RESOLV_HOST_CONF", "TERMINFO",	       "TERMINFO_DIRS",
};
/* Secrets of connections are written where it says, through links as well. */
static const char writing[] = "SSLKEYLOGFILE";

/* A walk along a path: the folder that was come to, and the rest. */
struct walk {
	int dir; /* owned */
	char rest[PATH_MAX];
	char part[NAME_MAX + 1]; /* the last one that was taken, and is no folder that was gone into */
	size_t links;
	bool kernels; /* it came to a link that the kernel makes */
	bool anybodys; /* everybody may make or change what follows */
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

/* Everybody may write to it; as a folder with the sticky bit (/tmp) only what nobody has made yet. */
static bool is_anybodys(int fd, bool there)
{
	struct stat st;
	if (fstat(fd, &st) < 0 || S_ISLNK(st.st_mode) || S_ISSOCK(st.st_mode) || !(st.st_mode & S_IWOTH))
		return false;
	return !there || !S_ISDIR(st.st_mode) || !(st.st_mode & S_ISVTX);
}

/* One part of the way. Returns 1: *ret; 0: go on; -ENOENT: it is not there. */
static int walk_step(struct walk *w, struct foreign_user *ret)
{
	struct stat st;
	struct statfs fs;
	char text[PATH_MAX];
	cleanup(closep) int fd = openat(w->dir, w->part, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0) {
		const int r = -errno;
		w->anybodys |= is_anybodys(w->dir, false);
		return r;
	}
	if (is_anothers(fd, ret))
		return 1;
	w->anybodys |= is_anybodys(fd, true);
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
	w->anybodys |= r == 0 && is_anybodys(w->dir, true);
	while (r == 0 && walk_part(w))
		r = walk_step(w, ret);
	return r == -ENOENT || r == -ENOTDIR ? 0 : r;
}

int foreign_path_user(const char *path, struct foreign_user *ret)
{
	cleanup(walk_done) struct walk w = {.dir = -1};
	return geteuid() == 0 ? walk_all(&w, path, ret) : 0;
}

bool foreign_path_is_ours(const char *path)
{
	cleanup(walk_done) struct walk w = {.dir = -1};
	struct foreign_user user;
	return geteuid() != 0 || (walk_all(&w, path, &user) == 0 && !w.anybodys);
}

const char *foreign_path_variable(const char *name)
{
	static const char *told;
	const char *path = secure_getenv(name);
	if (!path || !*path)
		return NULL;
	if (foreign_path_is_ours(path))
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

static bool is_own_descriptor(const char *path)
{
	static const char folder[] = "/dev/fd/";
	const size_t len = sizeof(folder) - 1;
	return strcmp(path, "/dev/stdin") == 0 || (strncmp(path, folder, len) == 0 && !strchr(path + len, '/'));
}

int foreign_path_input(const char *path, int flags, int *ret_fd)
{
	struct stat st;
	struct foreign_user user;
	char name[32];
	/* held before it is judged: what is opened below is the same */
	cleanup(closep) int seen = open(path, O_PATH | O_CLOEXEC);
	if (seen < 0 || fstat(seen, &st) < 0)
		return -errno;
	if (geteuid() == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode) && !is_own_descriptor(path)) {
		const int r = st.st_uid != 0 ? 1 : foreign_path_user(path, &user);
		if (r != 0)
			return r < 0 ? r : FOREIGN_OTHER;
	}
	TEXT_FORMAT(name, "/%s/self/fd/%d", "proc", seen);
	const int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | flags);
	if (fd < 0)
		return -errno;
	*ret_fd = fd;
	return 0;
}

int foreign_path_slurp(const char *path, size_t max, char **ret_text, size_t *ret_len)
{
	const bool in = strcmp(path, "-") == 0;
	cleanup(closep) int fd = in ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : -1;
	const int r = !in ? foreign_path_input(path, 0, &fd) : fd < 0 ? -errno : 0;
	return r != 0 ? r : file_slurp_fd(fd, max, ret_text, ret_len);
}

const char *foreign_path_why(int r)
{
	return r == FOREIGN_OTHER ? "it is a FIFO, a socket or a device of another user's, which may never end"
				  : strerror(-r);
}

static int folder_act(void *arg)
{
	const struct opening *o = arg;
	const int r = file_mkdirs(o->path, o->mode);
	if (r < 0)
		return r;
	const int fd = open(o->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Makes what the walk did not find, in the folder where it stands; nothing is taken that others put there meanwhile. */
static int walk_make(struct walk *w, mode_t mode, int *ret_fd)
{
	struct foreign_user user;
	while (w->part[0]) {
		if (mkdirat(w->dir, w->part, mode) < 0 && errno != EEXIST)
			return -errno;
		cleanup(closep) int fd = openat(w->dir, w->part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			return -errno;
		if (is_anothers(fd, &user) && user.uid != FOREIGN_NOBODY)
			return -EACCES;
		walk_into(w, &fd);
		(void)walk_part(w);
	}
	*ret_fd = openat(w->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return *ret_fd < 0 ? -errno : 0;
}

int foreign_path_folder(const char *path, mode_t mode, struct foreign_user *ret_user, int *ret_fd)
{
	cleanup(walk_done) struct walk w = {.dir = -1};
	struct opening o = {.path = path, .mode = mode};
	const bool root = geteuid() == 0;
	const int r = root ? walk_all(&w, path, ret_user) : 0;
	if (r < 0)
		return r;
	if (r == 0 && root)
		return walk_make(&w, mode, ret_fd);
	const int fd = foreign_act_as(r == 1 ? ret_user : NULL, folder_act, &o);
	if (fd < 0)
		return fd;
	*ret_fd = fd;
	return r;
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

/* ---- the environment ---- */

/* The next part of a list as PATH is; false: there is none. */
static bool part_next(struct span *rest, char dst[static PATH_MAX])
{
	if (!rest->p)
		return false;
	const struct span part = span_before(*rest, ":");
	const bool last = part.len == rest->len;
	text_format(dst, PATH_MAX, "%.*s", (int)MIN(part.len, (size_t)PATH_MAX - 1), part.p);
	*rest = last ? (struct span){.p = NULL} : (struct span){rest->p + part.len + 1, rest->len - part.len - 1};
	return true;
}

/* A part of a list that is no user's. */
static bool part_is_ours(const char *part)
{
	return geteuid() != 0 || (part[0] == '/' && foreign_path_is_ours(part));
}

static bool list_is_ours(const char *value)
{
	char part[PATH_MAX];
	struct span rest = span_of(value);
	while (part_next(&rest, part))
		if (!part_is_ours(part))
			return false;
	return true;
}

/* "Europe/Berlin" is of the system's folder; a path, and one that leaves this folder, is opened as it is, by libc. */
static bool zone_is_ours(const char *zone)
{
	zone += *zone == ':';
	return *zone == '/' ? foreign_path_is_ours(zone) : !strstr(zone, "..");
}

void foreign_environ_zone(void)
{
	const char *zone = getenv("TZ"), *folder = getenv("TZDIR");
	if (geteuid() != 0)
		return;
	if (zone && !zone_is_ours(zone))
		(void)unsetenv("TZ");
	if (folder && !list_is_ours(folder))
		(void)unsetenv("TZDIR");
}

void foreign_environ_clean(void)
{
	if (geteuid() != 0)
		return;
	(void)unsetenv(writing);
	for (size_t i = 0; i < ARRAY_SIZE(naming); i++) {
		const char *value = getenv(naming[i]);
		if (value && !list_is_ours(value))
			(void)unsetenv(naming[i]);
	}
}

/* Who logged in, as the kernel has noted it; it stays with all that the session starts. */
static bool login_is_anothers(void)
{
	char path[32], text[32];
	size_t len;
	uint64_t uid;
	TEXT_FORMAT(path, "/%s/self/loginuid", "proc");
	return file_read_at(AT_FDCWD, path, text, sizeof(text), &len) == 0 &&
	       span_u64(span_trim((struct span){text, len}), &uid) == 0 && uid != 0 && uid != UINT32_MAX;
}

bool foreign_environ_given(void)
{
	const char *sudo = getenv("SUDO_UID"), *home = getenv("HOME");
	if (geteuid() != 0)
		return false;
	return (sudo && strcmp(sudo, "0") != 0) || (home && !foreign_path_is_ours(home)) || login_is_anothers();
}

bool foreign_environ_find(const char *name, char path[static PATH_MAX])
{
	char place[PATH_MAX - NAME_MAX];
	const char *places = getenv("PATH");
	struct span rest = span_of(places ? places : USUAL_PATH);
	char part[PATH_MAX];
	if (strchr(name, '/'))
		return text_format(path, PATH_MAX, "%s", name) < PATH_MAX && foreign_path_is_ours(path);
	while (part_next(&rest, part)) {
		TEXT_COPY(place, part);
		if (part[0] == '/' && strlen(part) < sizeof(place) &&
		    text_format(path, PATH_MAX, "%s/%s", place, name) < PATH_MAX && access(path, X_OK) == 0 &&
		    foreign_path_is_ours(path))
			return true;
	}
	return false;
}

void foreign_environ_path(char *dst, size_t cap)
{
	char part[PATH_MAX];
	const char *places = getenv("PATH");
	struct span rest = span_of(places ? places : USUAL_PATH);
	struct buf b = {.text = dst, .cap = cap};
	buf_reset(&b);
	while (part_next(&rest, part))
		if (part_is_ours(part))
			buf_printf(&b, "%s%s", b.len ? ":" : "", part);
	if (b.len == 0)
		buf_add(&b, USUAL_PATH);
}

const char *foreign_environ_home(void)
{
	const char *home = getenv("HOME");
	return home && geteuid() == 0 && !foreign_path_is_ours(home) ? ROOTS_HOME : home;
}
