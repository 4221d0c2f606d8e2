#include <assert.h>
#include <string.h>

#include "model/memory/ledger.h"
#include "sense/memory/cgroup.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first byte chooses the version; a group read from any text gives a level whose sums hold. */
static void memory(const uint8_t *data, size_t size)
{
	enum cgroup_version v = data[0] & 1 ? CGROUP_V1 : CGROUP_V2;
	struct span text = {(const char *)data + 1, size - 1};
	struct cgroup_memory m = {.max_bytes = CGROUP_NO_LIMIT, .high_bytes = CGROUP_NO_LIMIT, .current_bytes = GIB};
	int stat = cgroup_stat_parse(text, v, &m);
	int events = cgroup_events_parse(text, v, &m);
	assert(m.has_stat == (stat == 0) && m.has_events == (events == 0));
	uint64_t limit;
	if (cgroup_limit_parse(text, &limit) == 0)
		m.max_bytes = limit;
	struct ledger_level l = ledger_group_level(&m, LEDGER_CONTAINER, 2 * GIB);
	assert(l.used_bytes + l.available_bytes == l.total_bytes);
	assert(l.total_bytes <= 2 * GIB && l.reclaimable_bytes <= GIB);
}

/* Two files parted by a line "%". Paths must stay below the top and come out terminated. */
static void place(const uint8_t *data, size_t size)
{
	struct span all = {(const char *)data, size};
	struct span groups = span_before(all, "\n%\n"), mounts = span_after(all, "\n%\n");
	struct cgroup_place p;
	if (!mounts.p || cgroup_place_parse(groups, mounts, &p) != 0)
		return;
	const char *const paths[] = {p.memory, p.freezer, p.unified};
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		assert(memchr(paths[i], '\0', CGROUP_PATH_MAX) != NULL);
		assert(paths[i][0] != '/' && strncmp(paths[i], "../", 3) != 0 && strstr(paths[i], "/../") == NULL);
	}
	assert((p.memory_version != CGROUP_NONE) == (p.memory[0] != '\0'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	memory(data, size);
	place(data, size);
	return 0;
}
