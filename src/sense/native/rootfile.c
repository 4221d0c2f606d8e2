#include "sense/native/rootfile.h"

#include <fcntl.h>

#include "base/buf.h"
#include "sense/proc/procfile.h"

static int root_open(const struct world *w, pid_t pid, int *ret)
{
	if (pid)
		return procfile_root(w, pid, ret);
	int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	*ret = fd;
	return 0;
}

int rootfile_open_as(const struct world *w, const struct rootfile_view *view, const char *path, unsigned flags,
		     int *ret_fd)
{
	cleanup(closep) int root = -1;
	struct foreign_user user;
	const bool ask = view->pid && !view->as;
	if (path[0] != '/' || w->proc_fd < 0)
		return WORLD_ABSENT;
	int r = root_open(w, flags & ROOTFILE_OURS ? 0 : view->pid, &root);
	if (r == 0 && ask)
		r = procfile_user(w, view->pid, &user);
	if (r)
		return r < 0 ? world_condition(r) : r;
	const struct foreign_place at = {.dirfd = root,
					 .as = ask ? &user : view->as,
					 .flags = FOREIGN_IN_ROOT | (flags & ROOTFILE_LINKS ? FOREIGN_LINKS : 0)};
	r = foreign_open(&at, path, ret_fd);
	return r == -EACCES || r == -EPERM ? WORLD_DENIED : r ? WORLD_ABSENT : 0;
}

int rootfile_open(const struct world *w, pid_t pid, const char *path, unsigned flags, int *ret_fd)
{
	return rootfile_open_as(w, &(struct rootfile_view){.pid = pid}, path, flags, ret_fd);
}

bool rootfile_differs(const struct world *w, pid_t pid)
{
	bool differs = false;
	return pid && procfile_root_differs(w, pid, &differs) == 0 && differs;
}
