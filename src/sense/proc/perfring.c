#include "sense/proc/perfring.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sense/world.h"

int perfring_open(const struct perf_event_attr *a, pid_t tid, size_t pages, struct perfring *ret)
{
	*ret = (struct perfring){.fd = -1};
	cleanup(closep) int fd = (int)syscall(SYS_perf_event_open, a, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT || errno == ENOSYS || errno == EOPNOTSUPP ? WORLD_ABSENT
										 : world_condition(-errno);
	size_t bytes = (1 + pages) * (size_t)sysconf(_SC_PAGESIZE);
	void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return errno == EPERM ? -ENOMEM : -errno; /* EPERM: more locked memory than RLIMIT_MEMLOCK allows */
	ret->map = map;
	ret->map_bytes = bytes;
	ret->fd = take_fd(&fd);
	return 0;
}

void perfring_close(struct perfring *p)
{
	if (p->map)
		(void)munmap(p->map, p->map_bytes);
	p->map = NULL;
	closep(&p->fd);
}

static void ring_copy(const struct perfring *p, uint64_t at, void *into, size_t n)
{
	struct perf_event_mmap_page *control = (void *)p->map;
	const uint8_t *ring = p->map + control->data_offset;
	uint64_t size = control->data_size, from = at % size, first = MIN((uint64_t)n, size - from);
	memcpy(into, ring + from, first);
	memcpy((uint8_t *)into + first, ring, n - first);
}

size_t perfring_next(struct perfring *p, void *into, size_t cap)
{
	struct perf_event_mmap_page *control = (void *)p->map;
	struct perf_event_header h;
	if (!p->map || control->data_size == 0)
		return 0;
	uint64_t head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE), tail = control->data_tail;
	if (head - tail < sizeof(h))
		return 0;
	ring_copy(p, tail, &h, sizeof(h));
	bool whole = h.size >= sizeof(h) && h.size <= head - tail;
	if (whole)
		ring_copy(p, tail, into, MIN((size_t)h.size, cap));
	__atomic_store_n(&control->data_tail, whole ? tail + h.size : head, __ATOMIC_RELEASE);
	return whole ? h.size : 0;
}
