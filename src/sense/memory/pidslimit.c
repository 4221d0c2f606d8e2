#include "sense/memory/pidslimit.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/path.h"

static bool number_read(const struct world *w, const char *group, const char *file, const char *key, uint64_t *ret)
{
	char path[CGROUP_PATH_MAX + 32], text[256];
	size_t len;
	TEXT_FORMAT(path, "%s/%s", group, file);
	if (file_read_at(w->cgroup_fd, path, text, sizeof(text), &len) != 0)
		return false;
	const struct span all = {text, len};
	return key ? text_field_u64(all, key, ret) == 0 : span_u64(span_trim(all), ret) == 0; /* "max": no limit */
}

int pidslimit_read(const struct world *w, const struct cgroup_place *place, struct pidslimit *ret)
{
	char group[CGROUP_PATH_MAX];
	struct pidslimit l = {.group = ""};
	bool any = false;
	if (w->cgroup_fd < 0 || place->pids[0] == '\0')
		return WORLD_ABSENT;
	TEXT_COPY(group, place->pids);
	do {
		uint64_t max, current, refused;
		if (number_read(w, group, "pids.events", "max", &refused)) {
			l.refused += refused;
			l.has_refused = true;
		}
		if (!number_read(w, group, "pids.current", NULL, &current))
			continue;
		any = true;
		if (!number_read(w, group, "pids.max", NULL, &max))
			continue;
		if (l.group[0] && sub_floor(max, current) >= sub_floor(l.max, l.current))
			continue;
		TEXT_COPY(l.group, group);
		l.max = max;
		l.current = current;
	} while (path_cut(group));
	if (!any)
		return WORLD_ABSENT;
	*ret = l;
	return 0;
}
