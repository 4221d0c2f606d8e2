#include "sense/speed/cputopo.h"

#include <stdio.h>

#include "base/file.h"

#define CPUTOPO_NODES 64

static void bits_set(struct cpuset_bits *s, uint64_t from, uint64_t to)
{
	for (uint64_t i = from; i <= to && i < CPUTOPO_MAX; i++)
		s->word[i / 64] |= UINT64_C(1) << (i % 64);
}

int cpulist_parse(struct span text, struct cpuset_bits *ret)
{
	struct cpuset_bits s = {{0}};
	text = span_trim(text);
	while (text.len > 0) {
		struct span item = span_before(text, ",");
		struct span low = span_before(item, "-"), high = span_after(item, "-");
		uint64_t from, to;
		if (span_u64(low, &from) < 0)
			return -EINVAL;
		to = from;
		if (high.p && span_u64(high, &to) < 0)
			return -EINVAL;
		if (to < from)
			return -EINVAL;
		bits_set(&s, from, to);
		size_t used = MIN(item.len + 1, text.len);
		text.p += used;
		text.len -= used;
	}
	*ret = s;
	return 0;
}

uint32_t cpuset_count(const struct cpuset_bits *s)
{
	uint32_t n = 0;
	for (size_t i = 0; i < ARRAY_SIZE(s->word); i++)
		n += (uint32_t)__builtin_popcountll(s->word[i]);
	return n;
}

uint32_t cputopo_cores(const struct cputopo *t, const struct cpuset_bits *s)
{
	struct cpuset_bits cores = {{0}};
	for (uint32_t i = 0; i < CPUTOPO_MAX; i++)
		if (cpuset_has(s, i)) {
			uint32_t core = t->has_cores && cpuset_has(&t->online, i) ? t->core[i] : i;
			bits_set(&cores, core, core);
		}
	return cpuset_count(&cores);
}

static int cpulist_read(const struct world *w, const char *path, struct cpuset_bits *ret)
{
	char text[4096];
	size_t len;
	int r = file_read_at(w->sys_fd, path, text, sizeof(text), &len);
	return r < 0 ? r : cpulist_parse((struct span){text, len}, ret);
}

static bool cputopo_number(const struct world *w, const char *path, uint64_t *ret)
{
	char text[64];
	size_t len;
	return file_read_at(w->sys_fd, path, text, sizeof(text), &len) == 0 &&
	       span_u64(span_trim((struct span){text, len}), ret) == 0;
}

static void core_read(const struct world *w, uint32_t cpu, struct cputopo *t)
{
	char path[128];
	struct cpuset_bits same;
	t->core[cpu] = cpu;
	(void)snprintf(path, sizeof(path), "devices/system/cpu/cpu%u/topology/thread_siblings_list", cpu);
	if (cpulist_read(w, path, &same) < 0 || !cpuset_has(&same, cpu))
		return;
	t->has_cores = true;
	for (uint32_t i = 0; i < cpu; i++)
		if (cpuset_has(&same, i)) {
			t->core[cpu] = i;
			return;
		}
}

struct clock_sums {
	uint64_t now, most;
};

static void clock_read(const struct world *w, uint32_t cpu, struct clock_sums *sums, struct cputopo *t)
{
	char path[128];
	uint64_t now, most, count;
	(void)snprintf(path, sizeof(path), "devices/system/cpu/cpu%u/cpufreq/scaling_cur_freq", cpu);
	if (cputopo_number(w, path, &now)) {
		(void)snprintf(path, sizeof(path), "devices/system/cpu/cpu%u/cpufreq/cpuinfo_max_freq", cpu);
		if (cputopo_number(w, path, &most) && most > 0 && most < UINT32_MAX && now < UINT32_MAX) {
			sums->now += now;
			sums->most += most;
		}
	}
	(void)snprintf(path, sizeof(path), "devices/system/cpu/cpu%u/thermal_throttle/core_throttle_count", cpu);
	if (cputopo_number(w, path, &count)) {
		t->throttles = add_cap(t->throttles, count);
		t->has_throttles = true;
	}
}

static void nodes_read(const struct world *w, struct cputopo *t)
{
	struct cpuset_bits on, nodes; /* nodes: a list of the same form; without it all are tried */
	const bool listed = cpulist_read(w, "devices/system/node/online", &nodes) == 0;
	for (uint32_t node = 0; node < CPUTOPO_NODES; node++) {
		char path[64];
		if (listed && !cpuset_has(&nodes, node))
			continue;
		(void)snprintf(path, sizeof(path), "devices/system/node/node%u/cpulist", node);
		if (cpulist_read(w, path, &on) < 0)
			continue;
		t->n_nodes = node + 1;
		for (uint32_t i = 0; i < CPUTOPO_MAX; i++)
			if (cpuset_has(&on, i))
				t->node[i] = (uint16_t)node;
	}
	t->n_nodes = MAX(t->n_nodes, 1u);
}

int cputopo_read(const struct world *w, struct cputopo *ret)
{
	struct cputopo t = {.n_nodes = 0};
	struct clock_sums sums = {0, 0};
	if (w->sys_fd < 0 || cpulist_read(w, "devices/system/cpu/online", &t.online) < 0)
		return WORLD_ABSENT;
	for (uint32_t i = 0; i < CPUTOPO_MAX; i++)
		if (cpuset_has(&t.online, i)) {
			core_read(w, i, &t);
			clock_read(w, i, &sums, &t);
		}
	nodes_read(w, &t);
	t.has_clock = sums.most > 0;
	t.clock_ratio = t.has_clock ? (double)sums.now / (double)sums.most : 0;
	*ret = t;
	return 0;
}
