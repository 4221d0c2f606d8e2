#include "act/protect.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "act/systemd_bus.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/units.h"

#define PIDS_CAP 65536
#define HELPER_ADJ 500 /* adds half of all memory to the badness, so a helper ranks before processes of ordinary size */

/* A start of 0 stands for any process of that number. */
static bool process_exists(const struct world *w, struct proc_id id)
{
	struct proc_stat s;
	return id.start_ticks == 0 ? proc_stat_read(w, id.pid, &s) == 0 : proc_is_same(w, id, &s);
}

/* The file belongs to the process that it was opened of: that is looked at after, as the number may change hands. */
static int adj_write(const struct world *w, struct proc_id id, int adj)
{
	char path[48], text[16];
	TEXT_FORMAT(path, "%d/oom_score_adj", id.pid);
	TEXT_FORMAT(text, "%d", adj);
	cleanup(closep) int fd = openat(w->proc_fd, path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	return process_exists(w, id) ? file_write_all(fd, text, strlen(text)) : -ESRCH;
}

/*
 * Lowers the value as far as permitted. Values below zero are refused; the floor of the process may still be under its
 * present value.
 */
static int adj_lower_partly(const struct world *w, struct protect_row *row)
{
	static const int steps[] = {0, 100, 200};
	for (size_t i = 0; i < ARRAY_SIZE(steps) && steps[i] < row->before; i++)
		if (adj_write(w, row->id, steps[i]) == 0)
			return 0;
	return -EACCES;
}

static void adj_settle(const struct world *w, const struct protect_target *t, const struct protect_request *want,
		       struct protect_row *row)
{
	bool refused = want->cannot_lower && want->oom_score_adj < row->before;
	int r = !want->dry_run ? adj_write(w, row->id, want->oom_score_adj) : refused ? -EACCES : 0;
	if (r == 0) {
		row->result = PROTECT_DONE;
	} else if (r == -ENOENT || r == -ESRCH) {
		row->result = PROTECT_GONE;
	} else {
		row->error = -r;
		row->result = PROTECT_REFUSED;
		if (want->dry_run)
			return;
		if (row->before > 0 && adj_lower_partly(w, row) == 0)
			row->result = PROTECT_PARTLY;
		else if (want->raise_helpers && t->expendable && row->before < HELPER_ADJ &&
			 adj_write(w, row->id, HELPER_ADJ) == 0)
			row->result = PROTECT_RAISED;
	}
}

static void row_apply(const struct world *w, const struct protect_target *t, const struct protect_request *want,
		      struct protect_row *row)
{
	*row = (struct protect_row){.id = t->id, .result = PROTECT_GONE};
	if (!process_exists(w, t->id))
		return;
	int r = proc_oom_score_adj_read(w, t->id.pid, &row->before);
	if (r != 0) {
		row->result = r == WORLD_GONE ? PROTECT_GONE : PROTECT_REFUSED;
		row->error = r == WORLD_DENIED ? EACCES : 0;
		return;
	}
	row->has_values = true;
	row->after = row->before;
	/* A process that is protected better already keeps its value. */
	if (row->before <= want->oom_score_adj) {
		row->result = PROTECT_ALREADY;
		return;
	}
	adj_settle(w, t, want, row);
	if (row->result == PROTECT_GONE || want->dry_run)
		return;
	if (proc_oom_score_adj_read(w, t->id.pid, &row->after) != 0)
		row->result = PROTECT_GONE;
	else if (row->result == PROTECT_DONE && row->after != want->oom_score_adj)
		row->result = PROTECT_REFUSED;
}

static bool in_targets(const struct protect_target *targets, size_t n, pid_t pid)
{
	for (size_t i = 0; i < n; i++)
		if (targets[i].id.pid == pid)
			return true;
	return false;
}

static int protect_group_find(const struct world *w, const struct cgroup_place *place,
			      const struct protect_target *targets, size_t n, struct protect_outcome *o)
{
	const char *path = place->memory_version == CGROUP_V2 ? place->memory : place->unified;
	struct stat st;
	if (path[0] == '\0' || w->cgroup_fd < 0 || fstatat(w->cgroup_fd, path, &st, 0) != 0)
		return 0;
	char events[CGROUP_PATH_MAX + 32];
	TEXT_FORMAT(events, "%s/cgroup.events", path);
	/* Only the root group lacks this file; a value written there would apply to the whole machine. */
	if (faccessat(w->cgroup_fd, events, F_OK, 0) != 0)
		return 0;
	o->has_group = true;
	o->group_owner = st.st_uid;
	TEXT_COPY(o->group_path, path);
	/* On a hybrid layout, place.name is the name of the v1 group. */
	const char *below = strchr(path, '/');
	TEXT_COPY(o->group_name, place->memory_version == CGROUP_V2 ? place->name : below ? below : "/");
	cleanup(freep) pid_t *pids = malloc(PIDS_CAP * sizeof(*pids));
	size_t found = 0;
	if (!pids)
		return -ENOMEM;
	if (cgroup_pids(w, path, pids, PIDS_CAP, &found) != 0)
		return 0;
	for (size_t i = 0; i < MIN(found, (size_t)PIDS_CAP); i++)
		o->n_others += in_targets(targets, n, pids[i]) ? 0 : 1;
	o->group_shared = o->n_others > 0;
	return 0;
}

/* Below a unit that is no slice, groups have the names that the unit's own user gives them. */
static bool all_are_slices(const char *from, const char *end)
{
	static const char suffix[] = ".slice";
	const size_t k = sizeof(suffix) - 1;
	while (from < end) {
		const char *slash = memchr(from, '/', (size_t)(end - from));
		const char *stop = slash ? slash : end;
		if (stop > from && ((size_t)(stop - from) <= k || memcmp(stop - k, suffix, k) != 0))
			return false;
		from = stop + 1;
	}
	return true;
}

bool protect_unit_of(const char *group_name, char *ret_unit, size_t cap, bool *ret_user)
{
	static const char *const suffixes[] = {".service", ".scope"};
	const char *slash = strrchr(group_name, '/'), *unit = slash ? slash + 1 : group_name, *from = group_name;
	size_t n = strlen(unit);
	/* Units below user@UID.service belong to that user's own manager. */
	const char *at = strstr(group_name, "/user@");
	const bool user = at && at + 1 != unit;
	if (user && all_are_slices(group_name, at))
		from = strchr(at + 1, '/');
	if (!all_are_slices(from, unit))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		size_t k = strlen(suffixes[i]);
		if (n <= k || n >= cap || strcmp(unit + n - k, suffixes[i]) != 0)
			continue;
		text_copy(ret_unit, cap, unit);
		*ret_user = user;
		return true;
	}
	return false;
}

/* As protect_unit_of; not a unit of the manager of another user, who has one of the same name. */
static bool unit_to_ask(const char *group_name, char *ret_unit, size_t cap, enum systemd_manager *ret)
{
	char own[32];
	bool user = false;
	if (!protect_unit_of(group_name, ret_unit, cap, &user))
		return false;
	TEXT_FORMAT(own, "/user@%u.service/", (unsigned)geteuid());
	*ret = user ? SYSTEMD_USER : SYSTEMD_SYSTEM;
	return !user || strstr(group_name, own);
}

static int limit_read(const struct world *w, const char *group, const char *file, uint64_t *ret)
{
	char path[CGROUP_PATH_MAX + 32], text[64];
	size_t len;
	TEXT_FORMAT(path, "%s/%s", group, file);
	int r = file_read_at(w->cgroup_fd, path, text, sizeof(text), &len);
	if (r)
		return r;
	return cgroup_limit_parse((struct span){text, len}, ret);
}

static int limit_write(const struct world *w, const char *group, const char *file, uint64_t bytes)
{
	char path[CGROUP_PATH_MAX + 32], text[32];
	TEXT_FORMAT(path, "%s/%s", group, file);
	if (bytes == CGROUP_NO_LIMIT)
		TEXT_COPY(text, "max");
	else
		TEXT_FORMAT(text, "%llu", (unsigned long long)bytes);
	return file_write_at(w->cgroup_fd, path, text);
}

/*
 * Sets the limit through systemd if the group is a unit: a reload of systemd would write the value of the unit again.
 */
static int limit_set(const struct world *w, const char *group, const char *group_name, const char *file, uint64_t bytes)
{
	char unit[128];
	enum systemd_manager manager;
	uint64_t now;
	const char *property = strcmp(file, "memory.low") == 0 ? "MemoryLow" : "MemoryMin";
	if (unit_to_ask(group_name, unit, sizeof(unit), &manager) &&
	    systemd_bus_set_memory(manager, unit, property, bytes) == 0 &&
	    limit_read(w, group, file, &now) == 0 && now / 4096 == bytes / 4096)
		return 0;
	return limit_write(w, group, file, bytes);
}

/* Memory of the group that cannot be read again from disk. */
static uint64_t worth_keeping(const struct world *w, const char *group)
{
	struct cgroup g;
	struct cgroup_memory m;
	if (cgroup_open(w, CGROUP_V2, group, &g) != 0)
		return 0;
	int r = cgroup_read_full(&g, &m);
	cgroup_close(&g);
	return r == 0 ? sub_floor(m.current_bytes, m.inactive_file_bytes) : 0;
}

static void value_refused(struct protect_value *v, int error, const char *need)
{
	TEXT_FORMAT(v->why_not, "%s: %s", error == ENOENT ? "this kernel or group has no such file" : strerror(error),
		    need);
}

static void memory_keep(const struct world *w, const struct protect_outcome *o, const char *file, uint64_t bytes,
			bool dry_run, struct protect_value *v)
{
	v->tried = true;
	TEXT_COPY(v->how, file);
	int r = limit_read(w, o->group_path, file, &v->before);
	if (r) {
		value_refused(
			v, -r,
			"memory is kept by control groups of version 2, below the root, with the memory controller on");
		return;
	}
	v->has_before = true;
	v->after = v->before;
	if (dry_run || v->before >= bytes) {
		v->done = true;
		v->after = MAX(v->before, bytes);
		return;
	}
	r = limit_set(w, o->group_path, o->group_name, file, bytes);
	if (r) {
		value_refused(v, -r, "writing it needs ownership of the group (a delegated unit) or root");
		return;
	}
	r = limit_read(w, o->group_path, file, &v->after);
	v->done = r == 0 && v->after > v->before;
	if (!v->done)
		value_refused(v, r ? -r : EINVAL, "the value did not stay");
}

/* Finds the effective memory.low: the smallest value on the way up, as every group limits those below it. */
static void low_effective(const struct world *w, struct protect_outcome *o)
{
	char path[CGROUP_PATH_MAX];
	uint64_t least = UINT64_MAX;
	TEXT_COPY(path, o->group_path);
	for (;;) {
		uint64_t low, min;
		if (limit_read(w, path, "memory.low", &low) != 0)
			break; /* the root group has no such file: all levels are read */
		if (limit_read(w, path, "memory.min", &min) == 0)
			low = MAX(low, min);
		if (low < least) {
			least = low;
			TEXT_COPY(o->low_stopped_at, path);
		}
		char *slash = strrchr(path, '/');
		if (slash)
			*slash = '\0';
		else if (strcmp(path, ".") != 0)
			TEXT_COPY(path, ".");
		else
			break;
	}
	o->effective_low_bytes = least == UINT64_MAX ? 0 : least;
}

static bool xattr_get(int fd, const char *name)
{
	char value[16];
	ssize_t n = fgetxattr(fd, name, value, sizeof(value) - 1);
	return n > 0 && (value[0] == '1' || value[0] == 'y' || value[0] == 't');
}

/* The value of the unit property for these attributes; omit takes precedence over avoid. */
static enum systemd_preference preference_of(bool avoid, bool omit)
{
	return omit ? SYSTEMD_OMIT : avoid ? SYSTEMD_AVOID : SYSTEMD_NONE;
}

/*
 * Writes the attribute and the property. systemd-oomd reads the attribute. systemd 252 does not write it when the
 * property of a running unit changes, but writes it from the property when the unit is reloaded.
 */
static int preference_write(int fd, const char *group_name, const char *name, bool on, char how[static 96])
{
	char unit[128], attribute[48];
	enum systemd_manager manager;
	TEXT_FORMAT(attribute, "user.%s", name);
	int r = on ? fsetxattr(fd, attribute, "1", 1, 0) : fremovexattr(fd, attribute);
	r = r == 0 || errno == ENODATA ? 0 : -errno;
	text_format(how, 96, "attribute %s", attribute);
	if (!unit_to_ask(group_name, unit, sizeof(unit), &manager))
		return r;
	enum systemd_preference p = preference_of(xattr_get(fd, "user.oomd_avoid"), xattr_get(fd, "user.oomd_omit"));
	if (systemd_bus_set_preference(manager, unit, p) == 0)
		text_format(how, 96, "attribute %s and ManagedOOMPreference of %.40s", attribute, unit);
	return r;
}

static void preference_set(const struct world *w, const struct protect_outcome *o, const char *name, bool dry_run,
			   struct protect_value *v)
{
	char attribute[48];
	TEXT_FORMAT(attribute, "user.%s", name);
	v->tried = true;
	TEXT_FORMAT(v->how, "attribute %s", attribute);
	cleanup(closep) int fd = openat(w->cgroup_fd, o->group_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		value_refused(v, errno, "the group cannot be opened");
		return;
	}
	v->has_before = true;
	v->before = v->after = xattr_get(fd, attribute);
	if (v->before || dry_run) {
		v->after = 1;
		v->done = true;
		return;
	}
	int r = preference_write(fd, o->group_name, name, true, v->how);
	v->after = xattr_get(fd, attribute);
	v->done = v->after != 0;
	if (!v->done && r == -EOPNOTSUPP)
		value_refused(v, -r, "this kernel keeps no user attributes on control groups (5.7 does)");
	else if (!v->done)
		value_refused(v, r ? -r : EIO, "setting it needs ownership of the group, or root");
}

static void group_apply(const struct world *w, const struct cgroup_place *place, const struct protect_request *want,
			struct protect_outcome *o)
{
	struct protect_value *keep[] = {&o->low, &o->min};
	const char *const files[] = {"memory.low", "memory.min"};
	const bool wanted[] = {want->low, want->min};
	for (size_t i = 0; i < ARRAY_SIZE(keep); i++) {
		if (!wanted[i])
			continue;
		TEXT_COPY(keep[i]->how, files[i]);
		if (place->memory_version != CGROUP_V2)
			TEXT_COPY(keep[i]->why_not, "memory is counted by control groups of version 1, which cannot "
						    "keep memory for a group");
		else if (!o->has_group)
			TEXT_COPY(keep[i]->why_not, "the job's group cannot be seen from here");
		else if (o->group_shared)
			TEXT_FORMAT(keep[i]->why_not, "the group is not the job's own: %zu other processes live in it",
				    o->n_others);
		else
			memory_keep(w, o, files[i], worth_keeping(w, o->group_path), want->dry_run, keep[i]);
	}
	if (!o->has_group) {
		const char why[] = "the job is in the top group of all, or its group cannot be seen from here";
		TEXT_COPY(o->avoid.why_not, want->avoid ? why : "");
		TEXT_COPY(o->omit.why_not, want->omit ? why : "");
	}
	if (o->has_group && want->avoid)
		preference_set(w, o, "oomd_avoid", want->dry_run, &o->avoid);
	if (o->has_group && want->omit)
		preference_set(w, o, "oomd_omit", want->dry_run, &o->omit);
	if (o->has_group && place->memory_version == CGROUP_V2)
		low_effective(w, o);
}

void protect_outcome_done(struct protect_outcome *o)
{
	free(o->row);
	o->row = NULL;
	o->n = 0;
}

int protect_apply(const struct world *w, const struct protect_target *targets, size_t n,
		  const struct cgroup_place *place, const struct protect_request *want, struct protect_outcome *ret)
{
	struct protect_outcome o = {.n = n};
	o.row = calloc(n ? n : 1, sizeof(*o.row));
	if (!o.row)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		row_apply(w, &targets[i], want, &o.row[i]);
		enum protect_result result = o.row[i].result;
		o.n_done += result == PROTECT_DONE || result == PROTECT_ALREADY ? 1 : 0;
		o.n_refused +=
			result == PROTECT_REFUSED || result == PROTECT_PARTLY || result == PROTECT_RAISED ? 1 : 0;
		o.n_raised += result == PROTECT_RAISED ? 1 : 0;
	}
	if (place) {
		int r = protect_group_find(w, place, targets, n, &o);
		if (r) {
			protect_outcome_done(&o);
			return r;
		}
		group_apply(w, place, want, &o);
	}
	*ret = o;
	return 0;
}

int protect_restore_adj(const struct world *w, struct proc_id id, int adj)
{
	if (!process_exists(w, id))
		return WORLD_GONE;
	return world_condition(adj_write(w, id, adj));
}

int protect_restore_memory(const struct world *w, const char *group_path, const char *group_name, const char *file,
			   uint64_t bytes)
{
	return world_condition(limit_set(w, group_path, group_name, file, bytes));
}

int protect_restore_preference(const struct world *w, const char *group_path, const char *group_name, const char *name,
			       bool on)
{
	char how[96];
	cleanup(closep) int fd = openat(w->cgroup_fd, group_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return world_condition(-errno);
	return world_condition(preference_write(fd, group_name, name, on, how));
}
