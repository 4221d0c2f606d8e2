#include "sense/speed/runplace.h"

#include <string.h>

#include "base/base.h"
#include "sense/proc/maps.h"

#define PERIOD_NS 5000000
#define RING_PAGES 2

/* One record of this event. */
struct sample {
	struct perf_event_header header;
	uint64_t ip;
};

bool runplace_library(const char *name)
{
	static const char *const prefixes[] = {
		"libmpi", "libpmpi",   "libopen-pal", "libmca_", "mca_", "libucp", "libuct",
		"libucs", "libfabric", "libpsm",      "libccl.", "libmlx5", "libmlx4", "libibverbs",
	};
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

static void ranges_take(const struct maps *m, struct runplace *ret)
{
	for (size_t i = 0; i < m->n && ret->n < RUNPLACE_RANGES; i++) {
		const struct map_row *r = &m->rows[i];
		const char *slash = strrchr(r->path, '/');
		if (!(r->flags & MAP_EXEC) || !slash || !runplace_library(slash + 1))
			continue;
		ret->range[ret->n].start = r->start;
		ret->range[ret->n++].end = r->end;
	}
}

int runplace_open(const struct world *w, pid_t pid, pid_t tid, struct runplace *ret)
{
	struct perf_event_attr a = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(a),
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.sample_period = PERIOD_NS,
		.sample_type = PERF_SAMPLE_IP,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	struct maps m;
	*ret = (struct runplace){.ring.fd = -1};
	int r = maps_read(w, pid, &m);
	if (r != 0)
		return r;
	ranges_take(&m, ret);
	maps_done(&m);
	if (ret->n == 0)
		return WORLD_ABSENT;
	return perfring_open(&a, tid, RING_PAGES, &ret->ring);
}

void runplace_close(struct runplace *p)
{
	perfring_close(&p->ring);
}

static bool is_inside(const struct runplace *p, uint64_t ip)
{
	for (size_t i = 0; i < p->n; i++)
		if (ip >= p->range[i].start && ip < p->range[i].end)
			return true;
	return false;
}

bool runplace_inside(struct runplace *p)
{
	struct sample x;
	uint32_t in = 0, all = 0;
	size_t size;
	while ((size = perfring_next(&p->ring, &x, sizeof(x))) > 0) {
		if (x.header.type != PERF_RECORD_SAMPLE || size < sizeof(x))
			continue;
		in += is_inside(p, x.ip);
		all++;
	}
	if (all > 0)
		p->inside = in * 2 > all;
	return p->inside;
}
