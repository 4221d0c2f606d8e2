#include "cli/heap/heap_save.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/foreign.h"
#include "base/foreign_path.h"
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

/* Where it goes: a path that a person typed. */
struct saving {
	const struct foreign_user *as; /* whoever has a say in what it leads to; NULL: nobody */
	int from, dir;
	const char *name;
};

static int save_act(void *arg)
{
	const struct saving *s = arg;
	return heapregion_copy(s->from, s->dir, s->name);
}

static int folder_act(void *arg)
{
	struct saving *s = arg;
	if (mkdir(s->name, 0700) < 0)
		return -errno;
	s->dir = open(s->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	return s->dir < 0 ? -errno : 0;
}

static int save_one(const struct world *w, const struct heapset_process *p, const struct saving *to, struct fault *f)
{
	cleanup(closep) int fd = -1;
	int r = profile_open(w, p, &fd);
	struct saving s = *to;
	s.from = fd;
	if (r == 0)
		r = foreign_act_as(s.as, save_act, &s);
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
	struct foreign_user user;
	int r = foreign_path_user(to, &user);
	struct saving s = {.as = r == 1 ? &user : NULL, .from = -1, .dir = AT_FDCWD, .name = to};
	if (r < 0)
		return fault_set(f, r, "%s: %s", to, strerror(-r));
	if (wanted == 1)
		return save_one(w, last, &s, f);
	r = foreign_act_as(s.as, folder_act, &s);
	if (r < 0)
		return fault_set(f, r, "a folder for %zu profiles cannot be made: %s: %s", wanted, to, strerror(-r));
	for (size_t i = 0; i < n && r == 0; i++) {
		s.name = path_name(all[i].file);
		if (is_wanted(want, &all[i]))
			r = save_one(w, &all[i], &s, f);
	}
	closep(&s.dir);
	return r;
}
