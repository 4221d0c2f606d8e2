#include "cli/heap/heap_save.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/foreign.h"
#include "base/path.h"
#include "sense/heap/heapregion.h"
#include "sense/proc/procfile.h"

static bool is_wanted(const struct heapset_want *want, const struct heapset_process *p)
{
	return heapset_wants(want, p) && p->side == 0 && p->file[0];
}

/* As it was read: through its process, or with the rights of who owns the folder. */
static int profile_open(const struct world *w, const struct heapset_process *p, int *ret_fd)
{
	if (p->seen_by)
		return procfile_open(w, p->seen_by, p->file, 0, ret_fd) == 0 ? 0 : -ENOENT;
	int r = foreign_open_kept(p->file, ret_fd);
	return r > 0 ? -EINVAL : r;
}

static int save_one(const struct world *w, const struct heapset_process *p, int dir, const char *name, struct fault *f)
{
	cleanup(closep) int fd = -1;
	int r = profile_open(w, p, &fd);
	if (r == 0)
		r = heapregion_copy(fd, dir, name);
	return r < 0 ? fault_set(f, r, "%s cannot be copied: %s", p->file, strerror(-r)) : 0;
}

int heap_save(const struct world *w, const struct heapset *h, const struct heapset_want *want, const char *to,
	      size_t *ret_n, struct fault *f)
{
	size_t n, wanted = 0;
	const struct heapset_process *last = NULL, *all = heapset_processes(h, &n);
	for (size_t i = 0; i < n; i++)
		if (is_wanted(want, &all[i])) {
			wanted++;
			last = &all[i];
		}
	if (!last || heapset_source_of(h) != HEAPSET_SAMPLED)
		return fault_set(f, -EINVAL, "%s: only heap profiles are copied; other answers are written as json",
				 to);
	*ret_n = wanted;
	if (wanted == 1)
		return save_one(w, last, AT_FDCWD, to, f);
	if (mkdir(to, 0700) < 0)
		return fault_set(f, -errno, "a folder for %zu profiles cannot be made: %s: %s", wanted, to,
				 strerror(errno));
	cleanup(closep) int dir = open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r = dir < 0 ? fault_set(f, -errno, "%s cannot be opened: %s", to, strerror(errno)) : 0;
	for (size_t i = 0; i < n && r == 0; i++) {
		if (is_wanted(want, &all[i]))
			r = save_one(w, &all[i], dir, path_name(all[i].file), f);
	}
	return r;
}
