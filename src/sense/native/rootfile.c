#include "sense/native/rootfile.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/foreign.h"

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

int rootfile_open(const struct world *w, pid_t pid, const char *path, unsigned flags, int *ret_fd)
{
	cleanup(closep) int root = -1;
	if (path[0] != '/' || w->proc_fd < 0)
		return WORLD_ABSENT;
	int r = root_open(w, pid, &root);
	if (r)
		return world_condition(r);
	/* With our own rights: what was mapped or is known by its build id may be closed to the process itself. */
	const struct foreign_place at = {.dirfd = root,
					 .flags = FOREIGN_IN_ROOT | (flags & ROOTFILE_LINKS ? FOREIGN_LINKS : 0)};
	r = foreign_open(&at, path, ret_fd);
	return r == -EACCES || r == -EPERM ? WORLD_DENIED : r ? WORLD_ABSENT : 0;
}

bool rootfile_differs(const struct world *w, pid_t pid)
{
	cleanup(closep) int theirs = -1;
	struct stat a, b;
	if (root_open(w, pid, &theirs) != 0 || fstat(theirs, &a) < 0 || stat("/", &b) < 0)
		return false;
	return a.st_dev != b.st_dev || a.st_ino != b.st_ino;
}
