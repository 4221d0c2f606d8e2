#include "sense/speed/resctrl.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"

#define MOUNT "fs/resctrl"

bool resctrl_count(struct span text, uint64_t *ret)
{
	return span_u64(span_trim(text), ret) == 0;
}

static int resctrl_open(int at, const char *path)
{
	return openat(at, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* The counters of a group, one folder for each cache: mon_L3_00. */
static void group_rows(int group_fd, const char *file, uint32_t group, struct resctrl *r)
{
	static const char prefix[] = "mon_L3_";
	cleanup(closedirp) DIR *d = file_folder(resctrl_open(group_fd, "mon_data"));
	for (struct dirent *e; d && (e = readdir(d));) {
		char path[300], text[64];
		size_t len;
		uint64_t cache;
		if (strncmp(e->d_name, prefix, sizeof(prefix) - 1) != 0 ||
		    span_u64(span_of(e->d_name + sizeof(prefix) - 1), &cache) < 0 || cache > UINT32_MAX)
			continue;
		if (r->n_rows == RESCTRL_ROWS) {
			r->cut = true;
			return;
		}
		struct resctrl_row row = {.group = group, .cache = (uint32_t)cache};
		TEXT_FORMAT(path, "%s/%s", e->d_name, file);
		row.has = file_read_at(dirfd(d), path, text, sizeof(text), &len) == 0 &&
			  resctrl_count((struct span){text, len}, &row.bytes);
		r->row[r->n_rows++] = row;
	}
}

static void resctrl_group_add(int mount_fd, const char *path, bool control, const char *file, struct resctrl *r)
{
	cleanup(closep) int fd = resctrl_open(mount_fd, *path ? path : ".");
	if (fd < 0)
		return;
	if (r->n_groups == RESCTRL_GROUPS || strlen(path) >= sizeof(r->group->path)) {
		r->cut = true;
		return;
	}
	struct resctrl_group *g = &r->group[r->n_groups];
	*g = (struct resctrl_group){.control = control};
	TEXT_COPY(g->path, path);
	group_rows(fd, file, (uint32_t)r->n_groups++, r);
}

/* The folders below one of them, but for the kernel's own. */
static void groups_below(int mount_fd, const char *below, bool control, const char *file, struct resctrl *r)
{
	static const char *const own[] = {"info", "mon_groups", "mon_data"};
	cleanup(closedirp) DIR *d = file_folder(resctrl_open(mount_fd, *below ? below : "."));
	for (struct dirent *e; d && (e = readdir(d));) {
		char path[600];
		bool skip = e->d_name[0] == '.' || (e->d_type != DT_DIR && e->d_type != DT_UNKNOWN);
		for (size_t i = 0; i < ARRAY_SIZE(own); i++)
			skip |= control && strcmp(e->d_name, own[i]) == 0;
		if (skip)
			continue;
		TEXT_FORMAT(path, "%s%s%s", below, *below ? "/" : "", e->d_name);
		resctrl_group_add(mount_fd, path, control, file, r);
	}
}

/* The file that has most of the traffic; NULL: none is counted. */
static const char *counter_file(int mount_fd, bool *ret_local_only)
{
	char text[1024];
	size_t len;
	if (file_read_at(mount_fd, "info/L3_MON/mon_features", text, sizeof(text), &len) != 0)
		return NULL;
	struct span rest = {text, len}, line;
	const char *file = NULL;
	while (span_line(&rest, &line)) {
		if (span_eq(span_trim(line), "mbm_total_bytes"))
			file = "mbm_total_bytes";
		else if (span_eq(span_trim(line), "mbm_local_bytes") && !file)
			file = "mbm_local_bytes";
	}
	*ret_local_only = file && strcmp(file, "mbm_local_bytes") == 0;
	return file;
}

int resctrl_read(const struct world *w, struct resctrl *ret)
{
	cleanup(resctrl_done) struct resctrl r = {.n_groups = 0};
	cleanup(closep) int fd = w->sys_fd < 0 ? -1 : resctrl_open(w->sys_fd, MOUNT);
	if (fd < 0)
		return w->sys_fd >= 0 && errno == EACCES ? WORLD_DENIED : WORLD_ABSENT;
	const char *file = counter_file(fd, &r.local_only);
	if (!file)
		return WORLD_ABSENT;
	r.group = calloc(RESCTRL_GROUPS, sizeof(*r.group));
	r.row = calloc(RESCTRL_ROWS, sizeof(*r.row));
	if (!r.group || !r.row)
		return -ENOMEM;
	resctrl_group_add(fd, "", true, file, &r);
	groups_below(fd, "", true, file, &r);
	for (size_t i = 0, n = r.n_groups; i < n; i++) {
		char below[300];
		TEXT_FORMAT(below, "%s%smon_groups", r.group[i].path, r.group[i].path[0] ? "/" : "");
		groups_below(fd, below, false, file, &r);
	}
	*ret = r;
	r = (struct resctrl){.n_groups = 0};
	return 0;
}

void resctrl_done(struct resctrl *r)
{
	free(r->group);
	free(r->row);
	*r = (struct resctrl){.n_groups = 0};
}

static const struct resctrl_row *resctrl_row_of(const struct resctrl *r, const char *path, uint32_t cache)
{
	for (size_t i = 0; i < r->n_rows; i++)
		if (r->row[i].cache == cache && strcmp(r->group[r->row[i].group].path, path) == 0)
			return &r->row[i];
	return NULL;
}

bool resctrl_moved(const struct resctrl *from, const struct resctrl *to, size_t group, double *ret, bool *ret_least)
{
	double sum = 0;
	bool any = false, least = to->local_only || to->cut || from->cut;
	for (size_t i = 0; i < to->n_rows; i++) {
		const struct resctrl_row *b = &to->row[i];
		if (b->group != group)
			continue;
		const struct resctrl_row *a = resctrl_row_of(from, to->group[group].path, b->cache);
		if (!a || !a->has || !b->has || b->bytes < a->bytes) { /* a group that was made anew begins at 0 */
			least = true;
			continue;
		}
		sum += (double)(b->bytes - a->bytes);
		any = true;
	}
	if (!any)
		return false;
	*ret = sum;
	*ret_least = least;
	return true;
}

bool resctrl_moved_all(const struct resctrl *from, const struct resctrl *to, double *ret, bool *ret_least)
{
	double sum = 0, one;
	bool any = false, least = to->cut || from->cut, part;
	for (size_t i = 0; i < to->n_groups; i++) {
		if (!to->group[i].control)
			continue;
		if (!resctrl_moved(from, to, i, &one, &part)) {
			least = true;
			continue;
		}
		sum += one;
		least |= part;
		any = true;
	}
	if (!any)
		return false;
	*ret = sum;
	*ret_least = least;
	return true;
}

int resctrl_tasks(const struct world *w, const struct resctrl_group *g, char **ret, size_t *ret_len)
{
	char path[300];
	TEXT_FORMAT(path, MOUNT "/%s%stasks", g->path, g->path[0] ? "/" : "");
	const int r = file_slurp(w->sys_fd, path, 4 * MIB, ret, ret_len);
	return r < 0 ? world_condition(r) : 0;
}
