#include "sense/speed/runplace.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

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
	*ret = (struct runplace){.fd = -1};
	int r = maps_read(w, pid, &m);
	if (r != 0)
		return r;
	ranges_take(&m, ret);
	maps_done(&m);
	if (ret->n == 0)
		return WORLD_ABSENT;
	cleanup(closep) int fd = (int)syscall(SYS_perf_event_open, &a, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT || errno == ENOSYS || errno == EOPNOTSUPP ? WORLD_ABSENT
										 : world_condition(-errno);
	size_t bytes = (1 + RING_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
	void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return errno == EPERM ? -ENOMEM : -errno; /* EPERM: more locked memory than RLIMIT_MEMLOCK allows */
	ret->map = map;
	ret->map_bytes = bytes;
	ret->fd = take_fd(&fd);
	return 0;
}

void runplace_close(struct runplace *p)
{
	if (p->map)
		(void)munmap(p->map, p->map_bytes);
	p->map = NULL;
	closep(&p->fd);
}

static bool is_inside(const struct runplace *p, uint64_t ip)
{
	for (size_t i = 0; i < p->n; i++)
		if (ip >= p->range[i].start && ip < p->range[i].end)
			return true;
	return false;
}

static void ring_copy(const struct runplace *p, uint64_t at, void *into, size_t n)
{
	struct perf_event_mmap_page *control = (void *)p->map;
	const uint8_t *ring = p->map + control->data_offset;
	uint64_t size = control->data_size, from = at % size, first = MIN((uint64_t)n, size - from);
	memcpy(into, ring + from, first);
	memcpy((uint8_t *)into + first, ring, n - first);
}

bool runplace_inside(struct runplace *p)
{
	struct perf_event_mmap_page *control = (void *)p->map;
	uint32_t in = 0, all = 0;
	if (!p->map || control->data_size == 0)
		return false;
	uint64_t head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE), tail = control->data_tail;
	while (head - tail >= sizeof(struct perf_event_header)) {
		struct sample x;
		ring_copy(p, tail, &x, sizeof(x.header));
		if (x.header.size < sizeof(x.header) || x.header.size > head - tail)
			break;
		if (x.header.type == PERF_RECORD_SAMPLE && x.header.size >= sizeof(x)) {
			ring_copy(p, tail, &x, sizeof(x));
			in += is_inside(p, x.ip);
			all++;
		}
		tail += x.header.size;
	}
	__atomic_store_n(&control->data_tail, head, __ATOMIC_RELEASE);
	if (all > 0)
		p->inside = in * 2 > all;
	return p->inside;
}
