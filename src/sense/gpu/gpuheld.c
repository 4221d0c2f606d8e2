#include "sense/gpu/gpuheld.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "sense/proc/maps.h"

#define DESCRIPTORS_MAX 8192

/* Sets the bit of the number if path is prefix and digits only. */
static bool numbered(struct span path, const char *prefix, uint64_t first, uint64_t *bits)
{
	uint64_t n;
	size_t len = strlen(prefix);
	if (!span_starts(path, prefix) || span_u64((struct span){path.p + len, path.len - len}, &n) < 0 || n < first ||
	    n - first >= GPUHELD_NUMBERS)
		return false;
	*bits |= UINT64_C(1) << (n - first);
	return true;
}

bool gpuheld_add(struct gpuheld *h, struct span path)
{
	return numbered(path, "/dev/nvidia", 0, &h->nvidia) || numbered(path, "/dev/davinci", 0, &h->davinci) ||
	       numbered(path, "/dev/dri/renderD", GPUHELD_RENDER_FIRST, &h->render) ||
	       numbered(path, "/dev/dri/card", 0, &h->card);
}

int gpuheld_read(const struct world *w, pid_t pid, struct gpuheld *ret)
{
	char path[48], link[128];
	struct gpuheld h = {.nvidia = 0};
	TEXT_FORMAT(path, "%d/fd", pid);
	cleanup(closep) int fd = openat(w->proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return world_condition(-errno);
	cleanup(closedirp) DIR *dir = fdopendir(fd);
	if (!dir)
		return -errno;
	int at = take_fd(&fd), n_read = 0;
	for (struct dirent *e; (e = readdir(dir)) && n_read < DESCRIPTORS_MAX; n_read++) {
		ssize_t n = e->d_name[0] == '.' ? 0 : readlinkat(at, e->d_name, link, sizeof(link));
		if (n > 0 && (size_t)n < sizeof(link))
			ignore(gpuheld_add(&h, (struct span){link, (size_t)n}), "other files are passed over");
	}
	*ret = h;
	return 0;
}

int gpuheld_mapped(const struct world *w, pid_t pid, struct gpuheld *ret)
{
	struct maps maps;
	struct gpuheld h = {.nvidia = 0};
	int r = maps_read(w, pid, &maps);
	if (r)
		return r;
	for (size_t i = 0; i < maps.n; i++)
		ignore(gpuheld_add(&h, span_of(maps.rows[i].path)), "other files are passed over");
	maps_done(&maps);
	*ret = h;
	return 0;
}

void gpuheld_join(struct gpuheld *h, const struct gpuheld *more)
{
	h->nvidia |= more->nvidia;
	h->davinci |= more->davinci;
	h->render |= more->render;
	h->card |= more->card;
}

unsigned gpuheld_count(const struct gpuheld *h)
{
	return (unsigned)(__builtin_popcountll(h->nvidia) + __builtin_popcountll(h->davinci) +
			  __builtin_popcountll(h->render) + __builtin_popcountll(h->card));
}
