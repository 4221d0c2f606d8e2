#include "base/foreign.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/foreign_helper.h"
#include "base/foreign_path.h"

/* The open does not wait for the other end of a FIFO, and takes no controlling terminal. */
#define QUIET (O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

/* ---- the user ---- */

/* What this thread was before it became another user. */
struct self {
	bool changed;
	uid_t uid;
	gid_t gid;
	int n_groups;
	gid_t group[NGROUPS_MAX > 1024 ? 1024 : NGROUPS_MAX];
	int dumpable, parent_signal;
	pid_t parent;
};

/* The C library would change all threads; the system calls change the calling one only. */
static int groups_set(size_t n, const gid_t *group)
{
	return syscall(SYS_setgroups, n, group) < 0 ? -errno : 0;
}

/* The kernel forgets two settings of the process with each change of user (commit_creds in its sources). */
static void settings_restore(const struct self *s)
{
	if (s->dumpable >= 0 && prctl(PR_GET_DUMPABLE) != s->dumpable)
		(void)prctl(PR_SET_DUMPABLE, (unsigned long)s->dumpable);
	if (s->parent_signal == 0)
		return;
	(void)prctl(PR_SET_PDEATHSIG, (unsigned long)s->parent_signal);
	if (getppid() != s->parent)
		(void)raise(s->parent_signal);
}

static void self_again(struct self *s)
{
	if (!s->changed)
		return;
	(void)setfsuid(s->uid);
	(void)setfsgid(s->gid);
	ignore(groups_set((size_t)s->n_groups, s->group), "they were ours a moment ago");
	settings_restore(s);
	s->changed = false;
}

static int become(const struct foreign_user *as, struct self *s)
{
	s->changed = false;
	if (!as || as->uid == geteuid() || geteuid() != 0)
		return 0;
	/* who it is now may be another already: an act within an act */
	s->uid = (uid_t)setfsuid((uid_t)-1);
	s->gid = (gid_t)setfsgid((gid_t)-1);
	s->parent = getppid();
	s->n_groups = getgroups(ARRAY_SIZE(s->group), s->group);
	if (s->n_groups < 0)
		return -errno;
	s->dumpable = prctl(PR_GET_DUMPABLE);
	if (prctl(PR_GET_PDEATHSIG, &s->parent_signal) < 0)
		s->parent_signal = 0;
	int r = groups_set(MIN(as->n_groups, (size_t)FOREIGN_GROUPS), as->group);
	if (r)
		return r;
	s->changed = true;
	(void)setfsgid(as->gid);
	(void)setfsuid(as->uid);
	/* Both return the former value always; one that cannot be is answered with the present one. */
	if ((uid_t)setfsuid((uid_t)-1) == as->uid && (gid_t)setfsgid((gid_t)-1) == as->gid)
		return 0;
	self_again(s);
	return -EPERM;
}

bool foreign_account(uid_t uid, char name[static LOGIN_NAME_MAX], gid_t *ret_group)
{
	char text[BUFSIZ];
	struct passwd entry, *p = NULL;
	FILE *f = fopen("/etc/passwd", "re");
	while (f && fgetpwent_r(f, &entry, text, sizeof(text), &p) == 0 && p->pw_uid != uid)
		p = NULL;
	if (f)
		(void)fclose(f);
	if (!p)
		return false;
	text_copy(name, LOGIN_NAME_MAX, p->pw_name);
	*ret_group = p->pw_gid;
	return true;
}

/* False of a group with more members than fit, too. */
static bool has_member(const char *name, gid_t group)
{
	char text[4 * BUFSIZ];
	struct group entry, *g = NULL;
	bool found = false;
	FILE *f = fopen("/etc/group", "re");
	while (f && !found && fgetgrent_r(f, &entry, text, sizeof(text), &g) == 0)
		for (char **member = g->gr_mem; g->gr_gid == group && *member && !found; member++)
			found = strcmp(*member, name) == 0;
	if (f)
		(void)fclose(f);
	return found;
}

/* Groups below belong to the system, as a rule, and give rights. */
#define USERS_FIRST_GROUP 1000
#define NOBODYS_GROUP 65534

/* The group that a file's owner may use. What 'chown USER FOLDER' leaves behind is root's, and not the owner's. */
static gid_t owner_group(uid_t uid, gid_t of_file)
{
	char name[LOGIN_NAME_MAX];
	gid_t own;
	if (!foreign_account(uid, name, &own))
		return of_file >= USERS_FIRST_GROUP ? of_file : NOBODYS_GROUP;
	return of_file == own || has_member(name, of_file) ? of_file : own;
}

const struct foreign_user *foreign_owner(int fd, struct foreign_user *ret)
{
	struct stat st;
	if (fstat(fd, &st) < 0)
		return NULL;
	*ret = (struct foreign_user){.uid = st.st_uid, .gid = st.st_gid};
	if (st.st_uid != 0 && geteuid() == 0)
		ret->gid = owner_group(st.st_uid, st.st_gid);
	return ret;
}

int foreign_act_as(const struct foreign_user *as, int (*act)(void *arg), void *arg)
{
	struct self self;
	int r = become(as, &self);
	if (r)
		return r;
	r = act(arg);
	self_again(&self);
	return r;
}

/* ---- paths ---- */

static bool is_our_root(int dirfd)
{
	struct stat a, b;
	return fstat(dirfd, &a) == 0 && stat("/", &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static unsigned resolve_of(const struct foreign_place *at)
{
	if (at->flags & FOREIGN_TYPED)
		return 0;
	return RESOLVE_NO_MAGICLINKS | (at->flags & FOREIGN_IN_ROOT ? RESOLVE_IN_ROOT : 0U);
}

/*
 * Without openat2 (a kernel before 5.6, or a filter) nothing keeps a path below another root: only our own root is
 * served, with the rights of the user.
 */
static int below(const struct foreign_place *at, const char *path, int flags)
{
	bool rooted = at->flags & FOREIGN_IN_ROOT;
	struct open_how how = {.flags = (unsigned)flags, .resolve = resolve_of(at)};
	if (!(at->flags & FOREIGN_LINKS))
		how.flags |= O_NOFOLLOW;
	long fd = syscall(SYS_openat2, at->dirfd, path, &how, sizeof(how));
	if (fd < 0 && (errno == ENOSYS || errno == EPERM) && (!rooted || is_our_root(at->dirfd)))
		fd = openat(at->dirfd, path, (int)how.flags);
	return fd < 0 ? -errno : (int)fd;
}

static int again(int seen, int flags)
{
	char path[64];
	TEXT_FORMAT(path, "/%s/self/fd/%d", "proc", seen);
	int fd = open(path, flags | QUIET);
	return fd < 0 ? -errno : fd;
}

static int type_check(int seen, mode_t type)
{
	struct stat st;
	struct statfs fs;
	if (fstat(seen, &st) < 0)
		return -errno;
	if (S_ISLNK(st.st_mode))
		return -ELOOP;
	if ((st.st_mode & S_IFMT) != type)
		return FOREIGN_OTHER;
	if (fstatfs(seen, &fs) < 0)
		return errno == ENOSYS ? 0 : -errno; /* a file system in user space may have no answer to that */
	/* The kernel's own files look regular, and reading one may have effects or show what vigil itself is. */
	static const long kernel[] = {PROC_SUPER_MAGIC, SYSFS_MAGIC,	DEBUGFS_MAGIC,
				      TRACEFS_MAGIC,	BPF_FS_MAGIC,	CGROUP_SUPER_MAGIC,
				      SECURITYFS_MAGIC, EFIVARFS_MAGIC, CGROUP2_SUPER_MAGIC};
	for (size_t i = 0; type == S_IFREG && i < ARRAY_SIZE(kernel); i++)
		if ((long)fs.f_type == kernel[i])
			return FOREIGN_OTHER;
	return 0;
}

static int open_seen(int seen, mode_t type, int flags, int *ret_fd)
{
	int r = type_check(seen, type);
	if (r)
		return r;
	int fd = again(seen, flags);
	if (fd < 0)
		return fd;
	*ret_fd = fd;
	return 0;
}

static int open_as_self(const struct foreign_place *at, const char *path, mode_t type, int flags, int *ret_fd)
{
	cleanup(closep) int seen = below(at, path, O_PATH | O_CLOEXEC);
	return seen < 0 ? seen : open_seen(seen, type, flags, ret_fd);
}

/* ---- what may not answer ---- */

/* What is asked of the door; each operation uses its part. */
struct asked {
	const struct foreign_place *at;
	const char *path;
	mode_t type, mode;
	int flags, seen;
	const void *data;
	size_t len;
	struct span mounts;
	bool has_room; /* for one more copy */
};

static int far_work(foreign_work *work, const struct asked *a, int *ret_fd)
{
	const uid_t uid = a->at->as ? a->at->as->uid : geteuid();
	if (foreign_is_dead(a->at->dirfd, a->path, uid))
		return -ETIMEDOUT;
	int r = foreign_in_helper(work, a, a->at->dirfd, FOREIGN_WAIT_NS, ret_fd);
	if (r == -ETIMEDOUT)
		foreign_died(a->at->dirfd, a->path, uid);
	return r;
}

/*
 * Holds the file if that cannot wait for another machine: all parts of the path are in the kernel's cache, or on the
 * file system of the folder where it begins, which is near. -EAGAIN: it could, or the kernel cannot tell.
 */
static int near_seen(const struct foreign_place *at, const char *path)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC | (at->flags & FOREIGN_LINKS ? 0 : O_NOFOLLOW)};
	how.resolve = resolve_of(at) | RESOLVE_CACHED;
	long fd = syscall(SYS_openat2, at->dirfd, path, &how, sizeof(how));
	if (fd < 0 && (errno == EAGAIN || errno == EINVAL)) {
		const int start = path[0] == '/' && !(at->flags & FOREIGN_IN_ROOT) ? -1 : at->dirfd;
		cleanup(closep) int top = start < 0 && start != AT_FDCWD ? open("/", O_PATH | O_CLOEXEC) : -1;
		if (!foreign_is_near(top >= 0 ? top : start))
			return -EAGAIN;
		how.resolve = resolve_of(at) | RESOLVE_NO_XDEV;
		fd = syscall(SYS_openat2, at->dirfd, path, &how, sizeof(how));
	}
	if (fd < 0)
		return errno == EXDEV || errno == ENOSYS || errno == EPERM || errno == EINVAL ? -EAGAIN : -errno;
	if (foreign_is_near((int)fd))
		return (int)fd;
	(void)close((int)fd);
	return -EAGAIN;
}

/* ---- copies of what anybody may serve ---- */

/* Larger files are copied in part: where their end is, which is what matters of a log. */
#define COPY_WHOLE (16 * MIB)
#define COPY_END (4 * MIB)
/* All copies that are open in this process. */
#define COPIES_MOST (48 * MIB)
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8U
#endif
#define COPY_NAME "vigil-copy-"
#define COPY_LINK "/memfd:" COPY_NAME

static bool link_of(int fd, char text[static 128])
{
	char path[64];
	TEXT_FORMAT(path, "/%s/self/fd/%d", "proc", fd);
	const ssize_t n = readlink(path, text, 127);
	text[MAX(n, 0)] = '\0';
	return n > 0;
}

bool foreign_is_copy(int fd, uint64_t *ret_inode)
{
	char text[128];
	if (!link_of(fd, text) || strncmp(text, COPY_LINK, strlen(COPY_LINK)) != 0)
		return false;
	if (ret_inode)
		*ret_inode = strtoull(text + strlen(COPY_LINK), NULL, 10);
	return true;
}

static uint64_t copies_bytes(void)
{
	char path[32];
	uint64_t bytes = 0;
	struct stat st;
	TEXT_FORMAT(path, "/%s/self/fd", "proc");
	cleanup(closedirp) DIR *d = opendir(path);
	for (const struct dirent *e; d && (e = readdir(d));) {
		const int fd = (int)strtol(e->d_name, NULL, 10);
		if (foreign_is_copy(fd, NULL) && fstat(fd, &st) == 0)
			bytes += (uint64_t)st.st_blocks * 512;
	}
	return bytes;
}

static int copy_make(const struct stat *st, int *ret_fd)
{
	char name[64];
	TEXT_FORMAT(name, COPY_NAME "%llu", (unsigned long long)st->st_ino);
	cleanup(closep) int fd = memfd_create(name, MFD_CLOEXEC | MFD_NOEXEC_SEAL);
	if (fd < 0 && errno == EINVAL) /* Linux before 6.3 */
		fd = memfd_create(name, MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, st->st_size) < 0 || fchown(fd, st->st_uid, st->st_gid) < 0)
		return -errno;
	*ret_fd = take_fd(&fd);
	return 0;
}

static int copy_date(int fd, const struct stat *st)
{
	return futimens(fd, (const struct timespec[]){st->st_atim, st->st_mtim}) < 0 ? -errno : 0;
}

static int copy_fill(int from, int to, off_t size)
{
	static char block[64 * KIB];
	off_t at = size > (off_t)COPY_WHOLE ? size - (off_t)COPY_END : 0;
	while (at < size) {
		ssize_t n = pread(from, block, MIN(sizeof(block), (size_t)(size - at)), at);
		if (n <= 0)
			return n < 0 ? -errno : 0;
		if (pwrite(to, block, (size_t)n, at) != n)
			return errno ? -errno : -EIO;
		at += n;
	}
	return 0;
}

/* Of the kinds of file system that a user can mount, those that a user may answer for. */
static bool is_users_kind(int fd)
{
	struct statfs fs;
	return fstatfs(fd, &fs) < 0 || fs.f_type == FUSE_SUPER_MAGIC || fs.f_type == OVERLAYFS_SUPER_MAGIC;
}

/* Puts a copy in the place of *fd. */
static int copy_take(const struct asked *a, int *fd)
{
	struct stat st;
	cleanup(closep) int copy = -1;
	if (a->type != S_IFREG || (a->flags & O_ACCMODE) != O_RDONLY)
		return FOREIGN_OTHER;
	if (!a->has_room)
		return -EFBIG;
	if (fstat(*fd, &st) < 0)
		return -errno;
	int r = copy_make(&st, &copy);
	if (r == 0)
		r = copy_fill(*fd, copy, st.st_size);
	if (r == 0)
		r = copy_date(copy, &st);
	if (r == 0)
		*fd = take_fd(&copy); /* the other is closed as the helper ends, after its answer */
	return r;
}

/*
 * In the helper: what it has opened. A file of which the first byte never comes would hold whoever reads it; that is
 * found out here. Where a user may answer, even closing it may wait, so that only a copy leaves the helper.
 */
static int far_check(const struct asked *a, int *fd)
{
	char first;
	const bool reads = a->type == S_IFREG && (a->flags & O_ACCMODE) != O_WRONLY;
	if (a->type != S_IFIFO && foreign_served_by(*fd, a->mounts) == FOREIGN_BY_ANYBODY && is_users_kind(*fd))
		return copy_take(a, fd);
	return reads && pread(*fd, &first, 1, 0) < 0 ? -errno : 0;
}

/* In the helper. */
static int open_far(const void *arg, int *ret_fd)
{
	const struct asked *a = arg;
	cleanup(self_again) struct self self;
	int r = become(a->at->as, &self);
	if (r == 0)
		r = open_as_self(a->at, a->path, a->type, a->flags, ret_fd);
	self_again(&self);
	return r ? r : far_check(a, ret_fd);
}

static int open_near(const struct asked *a, int *ret_fd)
{
	cleanup(self_again) struct self self;
	int r = become(a->at->as, &self);
	if (r)
		return r;
	cleanup(closep) int seen = near_seen(a->at, a->path);
	return seen < 0 ? seen : open_seen(seen, a->type, a->flags, ret_fd);
}

/* Reads first what the helper, which may not allocate, asks for. */
static int far_open(foreign_work *work, struct asked *a, int *ret_fd)
{
	size_t len = 0;
	cleanup(freep) char *mounts = foreign_mounts(&len);
	a->mounts = (struct span){mounts, len};
	a->has_room = copies_bytes() <= COPIES_MOST - COPY_WHOLE;
	return far_work(work, a, ret_fd);
}

static int open_type(const struct foreign_place *at, const char *path, mode_t type, int flags, int *ret_fd)
{
	struct asked a = {.at = at, .path = path, .type = type, .flags = flags};
	if (at->flags & FOREIGN_TYPED)
		return open_as_self(at, path, type, flags, ret_fd);
	int r = open_near(&a, ret_fd);
	return r == -EAGAIN ? far_open(open_far, &a, ret_fd) : r;
}

int foreign_open(const struct foreign_place *at, const char *path, int *ret_fd)
{
	return open_type(at, path, S_IFREG, O_RDONLY, ret_fd);
}

int foreign_open_own(const struct foreign_place *at, const char *path, int *ret_fd)
{
	cleanup(closep) int fd = -1;
	struct stat st;
	int r = foreign_open(at, path, &fd);
	if (r)
		return r;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_uid != 0 && st.st_uid != (at->as ? at->as->uid : geteuid()))
		return FOREIGN_OTHER;
	*ret_fd = take_fd(&fd);
	return 0;
}

int foreign_open_both(const struct foreign_place *at, const char *path, int *ret_fd)
{
	return open_type(at, path, S_IFREG, O_RDWR, ret_fd);
}

int foreign_open_fifo(const struct foreign_place *at, const char *path, int *ret_fd)
{
	return open_type(at, path, S_IFIFO, O_WRONLY, ret_fd);
}

int foreign_folder(const struct foreign_place *at, const char *path, int *ret_fd)
{
	return open_type(at, path, S_IFDIR, O_RDONLY | O_DIRECTORY, ret_fd);
}

static int reopen_near(const void *arg, int *ret_fd)
{
	const struct asked *a = arg;
	int r = type_check(a->seen, S_IFREG);
	if (r)
		return r;
	cleanup(self_again) struct self self;
	r = become(a->at->as, &self);
	int fd = r ? r : again(a->seen, a->flags);
	if (fd < 0)
		return fd;
	*ret_fd = fd;
	return 0;
}

/* In the helper. */
static int reopen_far(const void *arg, int *ret_fd)
{
	int r = reopen_near(arg, ret_fd);
	return r ? r : far_check(arg, ret_fd);
}

int foreign_reopen(int seen_fd, const struct foreign_user *as, int access, int *ret_fd)
{
	const struct foreign_place at = {.dirfd = seen_fd, .as = as};
	struct asked a = {.at = &at, .path = "", .type = S_IFREG, .seen = seen_fd, .flags = access};
	return foreign_is_near(seen_fd) ? reopen_near(&a, ret_fd) : far_open(reopen_far, &a, ret_fd);
}

int foreign_open_kept(const char *path, int *ret_fd)
{
	char above[PATH_MAX];
	const char *slash = strrchr(path, '/');
	struct foreign_user owner;
	cleanup(closep) int folder = -1;
	const struct foreign_place way = {.dirfd = AT_FDCWD, .flags = FOREIGN_LINKS | FOREIGN_TYPED};
	if (text_format(above, sizeof(above), "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".") >=
	    (int)sizeof(above))
		return -ENAMETOOLONG;
	int r = foreign_folder(&way, above, &folder);
	if (r)
		return r;
	const struct foreign_place in = {.dirfd = folder, .as = foreign_owner(folder, &owner)};
	return foreign_open(&in, slash ? slash + 1 : path, ret_fd);
}

int foreign_copy(const struct foreign_place *at, const char *path, int to_dir, const char *to_name)
{
	cleanup(closep) int from = -1;
	int r = foreign_open(at, path, &from);
	if (r)
		return r < 0 ? r : -EINVAL;
	return file_copy_fd(from, to_dir, to_name, NULL);
}

/* ---- making and removing ---- */

/* Opens the folder that path lies in; *ret_name is the last part. The links of folders are followed. */
static int parent_open(const struct foreign_place *at, const char *path, int *ret_fd, const char **ret_name)
{
	char folder[PATH_MAX];
	const char *slash = strrchr(path, '/');
	const struct foreign_place whole = {.dirfd = at->dirfd, .flags = at->flags | FOREIGN_LINKS};
	if (text_format(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".") >=
	    (int)sizeof(folder))
		return -ENAMETOOLONG;
	int fd = below(&whole, folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return fd;
	*ret_fd = fd;
	*ret_name = slash ? slash + 1 : path;
	return 0;
}

static int foreign_folder_make(const struct foreign_place *at, const char *path, mode_t mode, int *ret_fd)
{
	cleanup(closep) int parent = -1, fd = -1;
	const char *name;
	struct stat st;
	int r = parent_open(at, path, &parent, &name);
	if (r)
		return r;
	if (mkdirat(parent, name, mode) < 0 && errno != EEXIST)
		return -errno;
	const struct foreign_place here = {.dirfd = parent, .flags = at->flags & FOREIGN_LINKS};
	const bool linked = at->flags & FOREIGN_LINKS;
	r = open_as_self(linked ? at : &here, linked ? path : name, S_IFDIR, O_RDONLY | O_DIRECTORY, &fd);
	if (r)
		return r;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (at->as && st.st_uid != at->as->uid)
		return FOREIGN_OTHER;
	*ret_fd = take_fd(&fd);
	return 0;
}

/* Makes the folders above, where they are missing. */
static void above_make(const struct foreign_place *at, const char *path, mode_t mode)
{
	char part[PATH_MAX];
	size_t len = strlen(path);
	if (len >= sizeof(part))
		return;
	memcpy(part, path, len + 1);
	for (char *p = part + 1; (p = strchr(p, '/')); p++) {
		cleanup(closep) int parent = -1;
		const char *name;
		*p = '\0';
		if (parent_open(at, part, &parent, &name) == 0 && *name)
			(void)mkdirat(parent, name, mode);
		*p = '/';
	}
}

static int mkdir_work(const void *arg, int *ret_fd)
{
	const struct asked *a = arg;
	cleanup(self_again) struct self self;
	int r = become(a->at->as, &self);
	if (r == 0 && a->at->flags & FOREIGN_ABOVE)
		above_make(a->at, a->path, a->mode);
	return r ? r : foreign_folder_make(a->at, a->path, a->mode, ret_fd);
}

int foreign_mkdir(const struct foreign_place *at, const char *path, mode_t mode, int *ret_fd)
{
	const struct asked a = {.at = at, .path = path, .mode = mode};
	return far_work(mkdir_work, &a, ret_fd);
}

/* A name without a slash stays in the folder, so it is as near as the folder is. */
static int in_folder(foreign_work *work, const struct asked *a, int *ret_fd)
{
	if (strchr(a->path, '/'))
		return -EINVAL;
	return foreign_is_near(a->at->dirfd) ? work(a, ret_fd) : far_work(work, a, ret_fd);
}

static int create_work(const void *arg, int *ret_fd)
{
	const struct asked *a = arg;
	cleanup(self_again) struct self self;
	int r = become(a->at->as, &self);
	if (r)
		return r;
	int fd = openat(a->at->dirfd, a->path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | QUIET, a->mode);
	if (fd < 0)
		return -errno;
	*ret_fd = fd;
	return 0;
}

int foreign_create(const struct foreign_place *at, const char *name, mode_t mode, int *ret_fd)
{
	const struct asked a = {.at = at, .path = name, .mode = mode};
	return in_folder(create_work, &a, ret_fd);
}

static int replace_as_self(int dir, const char *beside, const char *name, const void *data, size_t len, mode_t mode)
{
	(void)unlinkat(dir, beside, 0);
	cleanup(closep) int fd = openat(dir, beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | QUIET, mode);
	if (fd < 0)
		return -errno;
	int r = file_write_all(fd, data, len);
	if (r == 0 && renameat(dir, beside, dir, name) < 0)
		r = -errno;
	if (r < 0)
		(void)unlinkat(dir, beside, 0);
	return r;
}

static int replace_work(const void *arg, int *ret_fd)
{
	const struct asked *a = arg;
	char beside[NAME_MAX + 1];
	cleanup(self_again) struct self self;
	(void)ret_fd;
	if (text_format(beside, sizeof(beside), "%s.new", a->path) >= (int)sizeof(beside))
		return -EINVAL;
	int r = become(a->at->as, &self);
	return r ? r : replace_as_self(a->at->dirfd, beside, a->path, a->data, a->len, a->mode);
}

int foreign_replace(const struct foreign_place *at, const char *name, const void *data, size_t len, mode_t mode)
{
	const struct asked a = {.at = at, .path = name, .mode = mode, .data = data, .len = len};
	int none = -1;
	return in_folder(replace_work, &a, &none);
}

static int unlink_work(const void *arg, int *ret_fd)
{
	const struct asked *a = arg;
	cleanup(closep) int parent = -1;
	cleanup(self_again) struct self self;
	const char *name;
	(void)ret_fd;
	int r = become(a->at->as, &self);
	if (r == 0)
		r = parent_open(a->at, a->path, &parent, &name);
	if (r)
		return r;
	return unlinkat(parent, name, a->flags) < 0 ? -errno : 0;
}

int foreign_unlink(const struct foreign_place *at, const char *path, int flags)
{
	const struct asked a = {.at = at, .path = path, .flags = flags};
	int none = -1;
	return far_work(unlink_work, &a, &none);
}
