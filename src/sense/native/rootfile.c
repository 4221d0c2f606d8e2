#include "sense/native/rootfile.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/buf.h"

/* The open does not wait for the other end of a FIFO, and takes no controlling terminal. */
#define QUIET (O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

static int root_open(const struct world *w, pid_t pid, int *ret)
{
	char path[32];
	TEXT_FORMAT(path, "%d/root", pid);
	int fd = pid ? openat(w->proc_fd, path, O_PATH | O_DIRECTORY | O_CLOEXEC)
		     : open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	*ret = fd;
	return 0;
}

/*
 * Without openat2 (a kernel before 5.6, or a filter) the path is followed from our own root. A symbolic link as the
 * last part is refused. One planted in the middle leads to a file that the caller's checks (build id, owner) refuse.
 */
static int open_below(int root, const char *path, int flags)
{
	struct open_how how = {.flags = (unsigned)flags, .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	long fd = syscall(SYS_openat2, root, path, &how, sizeof(how));
	if (fd < 0 && (errno == ENOSYS || errno == EPERM || errno == EINVAL))
		fd = openat(root, path[strspn(path, "/")] ? path + strspn(path, "/") : ".", flags | O_NOFOLLOW);
	return fd < 0 ? -errno : (int)fd;
}

static int open_regular(int root, const char *path, unsigned flags, int *ret)
{
	struct stat st;
	int links = flags & ROOTFILE_LINKS ? 0 : O_NOFOLLOW;
	/* Opened with O_PATH first, because opening a device may have effects. */
	cleanup(closep) int seen = open_below(root, path, O_PATH | O_CLOEXEC | links);
	if (seen < 0)
		return seen;
	if (fstat(seen, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENOENT;
	cleanup(closep) int fd = open_below(root, path, O_RDONLY | QUIET | links);
	if (fd < 0)
		return fd;
	struct stat now;
	if (fstat(fd, &now) < 0)
		return -errno;
	if (!S_ISREG(now.st_mode) || now.st_ino != st.st_ino || now.st_dev != st.st_dev)
		return -ENOENT;
	*ret = take_fd(&fd);
	return 0;
}

int rootfile_open(const struct world *w, pid_t pid, const char *path, unsigned flags, int *ret_fd)
{
	cleanup(closep) int root = -1;
	if (path[0] != '/' || w->proc_fd < 0)
		return WORLD_ABSENT;
	int r = root_open(w, pid, &root);
	if (r)
		return world_condition(r);
	r = open_regular(root, path, flags, ret_fd);
	return r == -EACCES || r == -EPERM ? WORLD_DENIED : r < 0 ? WORLD_ABSENT : 0;
}

bool rootfile_differs(const struct world *w, pid_t pid)
{
	cleanup(closep) int theirs = -1;
	struct stat a, b;
	if (root_open(w, pid, &theirs) != 0 || fstat(theirs, &a) < 0 || stat("/", &b) < 0)
		return false;
	return a.st_dev != b.st_dev || a.st_ino != b.st_ino;
}

int rootfile_folder(int root_fd, const char *path, int *ret_fd, const char **ret_name)
{
	char folder[PATH_MAX];
	const char *slash = strrchr(path, '/');
	if (!slash || (size_t)(slash - path) >= sizeof(folder) - 1)
		return -EINVAL;
	TEXT_FORMAT(folder, "%.*s/", (int)(slash - path), path);
	int fd = open_below(root_fd, folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return fd;
	*ret_fd = fd;
	*ret_name = slash + 1;
	return 0;
}
