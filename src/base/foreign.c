#include "base/foreign.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <signal.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#include "base/buf.h"
#include "base/file.h"

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
	s->uid = geteuid();
	s->gid = getegid();
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

const struct foreign_user *foreign_owner(int fd, struct foreign_user *ret)
{
	struct stat st;
	if (fstat(fd, &st) < 0)
		return NULL;
	*ret = (struct foreign_user){.uid = st.st_uid, .gid = st.st_gid};
	return ret;
}

/* ---- paths ---- */

static bool is_our_root(int dirfd)
{
	struct stat a, b;
	return fstat(dirfd, &a) == 0 && stat("/", &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/*
 * Without openat2 (a kernel before 5.6, or a filter) nothing keeps a path below another root: only our own root is
 * served, with the rights of the user.
 */
static int below(const struct foreign_place *at, const char *path, int flags)
{
	bool rooted = at->flags & FOREIGN_IN_ROOT;
	struct open_how how = {.flags = (unsigned)flags,
			       .resolve = RESOLVE_NO_MAGICLINKS | (rooted ? RESOLVE_IN_ROOT : UINT64_C(0))};
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
		return -errno;
	/* The kernel's own files look regular, and reading one may have effects or show what vigil itself is. */
	static const long kernel[] = {PROC_SUPER_MAGIC, SYSFS_MAGIC,	DEBUGFS_MAGIC,
				      TRACEFS_MAGIC,	BPF_FS_MAGIC,	CGROUP_SUPER_MAGIC,
				      SECURITYFS_MAGIC, EFIVARFS_MAGIC, CGROUP2_SUPER_MAGIC};
	for (size_t i = 0; type == S_IFREG && i < ARRAY_SIZE(kernel); i++)
		if ((long)fs.f_type == kernel[i])
			return FOREIGN_OTHER;
	return 0;
}

static int open_as_self(const struct foreign_place *at, const char *path, mode_t type, int flags, int *ret_fd)
{
	cleanup(closep) int seen = below(at, path, O_PATH | O_CLOEXEC);
	if (seen < 0)
		return seen;
	int r = type_check(seen, type);
	if (r)
		return r;
	int fd = again(seen, flags);
	if (fd < 0)
		return fd;
	*ret_fd = fd;
	return 0;
}

static int open_type(const struct foreign_place *at, const char *path, mode_t type, int flags, int *ret_fd)
{
	cleanup(self_again) struct self self;
	int r = become(at->as, &self);
	return r ? r : open_as_self(at, path, type, flags, ret_fd);
}

int foreign_open(const struct foreign_place *at, const char *path, int *ret_fd)
{
	return open_type(at, path, S_IFREG, O_RDONLY, ret_fd);
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

int foreign_reopen(int seen_fd, const struct foreign_user *as, int access, int *ret_fd)
{
	int r = type_check(seen_fd, S_IFREG);
	if (r)
		return r;
	cleanup(self_again) struct self self;
	r = become(as, &self);
	int fd = r ? r : again(seen_fd, access);
	if (fd < 0)
		return fd;
	*ret_fd = fd;
	return 0;
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

int foreign_mkdir(const struct foreign_place *at, const char *path, mode_t mode, int *ret_fd)
{
	cleanup(self_again) struct self self;
	int r = become(at->as, &self);
	if (r == 0 && at->flags & FOREIGN_ABOVE)
		above_make(at, path, mode);
	return r ? r : foreign_folder_make(at, path, mode, ret_fd);
}

int foreign_create(const struct foreign_place *at, const char *name, mode_t mode, int *ret_fd)
{
	cleanup(self_again) struct self self;
	int r = become(at->as, &self);
	if (r)
		return r;
	if (strchr(name, '/'))
		return -EINVAL;
	int fd = openat(at->dirfd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | QUIET, mode);
	if (fd < 0)
		return -errno;
	*ret_fd = fd;
	return 0;
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

int foreign_replace(const struct foreign_place *at, const char *name, const void *data, size_t len, mode_t mode)
{
	char beside[NAME_MAX + 1];
	cleanup(self_again) struct self self;
	int r = become(at->as, &self);
	if (r)
		return r;
	if (strchr(name, '/') || text_format(beside, sizeof(beside), "%s.new", name) >= (int)sizeof(beside))
		return -EINVAL;
	return replace_as_self(at->dirfd, beside, name, data, len, mode);
}

int foreign_unlink(const struct foreign_place *at, const char *path, int flags)
{
	cleanup(closep) int parent = -1;
	cleanup(self_again) struct self self;
	const char *name;
	int r = become(at->as, &self);
	if (r == 0)
		r = parent_open(at, path, &parent, &name);
	if (r)
		return r;
	return unlinkat(parent, name, flags) < 0 ? -errno : 0;
}
