#include "agent/memory/ownroom.h"

#include <fcntl.h>

#include "base/buf.h"
#include "model/memory/ledger.h"

static bool is_roomy(const struct ledger_level *v, uint64_t bytes)
{
	return v->total_bytes == 0 || v->available_bytes >= bytes + MIN(v->total_bytes / 10, 256 * MIB);
}

static bool groups_have(const struct world *w, uint64_t node_total_bytes, uint64_t bytes)
{
	struct cgroup_place place;
	struct cgroup_chain chain;
	if (cgroup_place_read(w, 0, &place) != 0 || cgroup_chain_open(w, &place, &chain) != 0)
		return true;
	bool roomy = true;
	for (size_t i = 0; i < chain.n && roomy; i++) {
		struct cgroup_memory m;
		if (cgroup_read_full(&chain.level[i], &m) != 0 ||
		    (m.max_bytes == CGROUP_NO_LIMIT && m.high_bytes == CGROUP_NO_LIMIT))
			continue;
		const struct ledger_level level = ledger_group_level(&m, LEDGER_CONTAINER, node_total_bytes);
		roomy = is_roomy(&level, bytes);
	}
	cgroup_chain_close(&chain);
	return roomy;
}

bool ownroom_has(const struct world *w, uint64_t bytes)
{
	cleanup(closep) int fd = openat(w->proc_fd, "meminfo", O_RDONLY | O_CLOEXEC);
	struct meminfo m;
	if (fd < 0 || meminfo_read(fd, &m) != 0)
		return groups_have(w, UINT64_MAX, bytes);
	const struct ledger_level node = ledger_node_level(&m, 0);
	return is_roomy(&node, bytes) && groups_have(w, node.total_bytes, bytes);
}
