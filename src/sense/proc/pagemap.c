#include "sense/proc/pagemap.h"

#include <fcntl.h>

#include "base/buf.h"
#include "base/file.h"
#include "sense/lockwait.h"

#define PRESENT (UINT64_C(1) << 63)
#define SWAPPED (UINT64_C(1) << 62)
#define SHARED (UINT64_C(1) << 61)
#define EXCLUSIVE (UINT64_C(1) << 56)

#define FRAME ((UINT64_C(1) << 55) - 1)

/* Words per read (a chunk), and chunks read of a large range: 16,384 pages take 2 ms. */
#define CHUNK 512
#define CHUNKS_MAX 32
#define SHARES_CHUNKS_MAX 128
/* For every eighth shared page the number of sharers is read, 0.5 us each. */
#define ASKED_EACH 8
#define ASKED_MAX 16384
/* Number of ranges after which the clock is read. */
#define RANGES_A_CHECK 16

void pagemap_count(const uint64_t *words, size_t n, struct pagemap_range *to)
{
	for (size_t i = 0; i < n; i++) {
		bool present = words[i] & PRESENT;
		to->present += present;
		to->shared += present && (words[i] & SHARED);
		to->exclusive += present && (words[i] & EXCLUSIVE);
		to->swapped += !present && (words[i] & SWAPPED);
	}
	to->seen += n;
}

struct reader {
	int fd, count_fd; /* count_fd < 0: numbers of sharers are not read */
	uint64_t chunks_max;
	size_t shared, asked;
};

static void ask_sharers(struct reader *d, const uint64_t *words, size_t n, struct pagemap_range *r)
{
	for (size_t i = 0; i < n && d->asked < ASKED_MAX; i++) {
		uint64_t sharers = 0, frame = words[i] & FRAME;
		if (!(words[i] & PRESENT) || words[i] & EXCLUSIVE || frame == 0 || d->shared++ % ASKED_EACH)
			continue;
		d->asked++;
		if (pread(d->count_fd, &sharers, sizeof(sharers), (off_t)(frame * sizeof(sharers))) != sizeof(sharers))
			continue;
		r->counted++;
		/* a process may have unmapped it since */
		r->parts += sharers > 1 ? 1 / (double)sharers : 1;
	}
}

static int chunk_read(struct reader *d, uint64_t first_page, size_t n, struct pagemap_range *r)
{
	uint64_t words[CHUNK];
	size_t len;
	int e = file_read_from(d->fd, first_page * sizeof(words[0]), (char *)words, n * sizeof(words[0]), &len);
	if (e < 0)
		return e;
	pagemap_count(words, len / sizeof(words[0]), r);
	if (d->count_fd >= 0)
		ask_sharers(d, words, len / sizeof(words[0]), r);
	return 0;
}

static int range(struct reader *d, uint64_t page_bytes, struct pagemap_range *r)
{
	*r = (struct pagemap_range){.addr = r->addr, .bytes = r->bytes};
	if (r->bytes == 0 || r->addr > UINT64_MAX - r->bytes)
		return 0;
	uint64_t first = r->addr / page_bytes, end = (r->addr + r->bytes - 1) / page_bytes + 1;
	r->pages = end - first;
	uint64_t chunks = (r->pages + CHUNK - 1) / CHUNK;
	uint64_t samples = MIN(chunks, d->chunks_max);
	for (uint64_t i = 0; i < samples; i++) {
		/* the first and the last chunk are always included */
		uint64_t which = samples > 1 ? i * (chunks - 1) / (samples - 1) : 0;
		uint64_t from = first + which * CHUNK;
		int e = chunk_read(d, from, (size_t)MIN(end - from, (uint64_t)CHUNK), r);
		if (e < 0)
			return e;
	}
	return 0;
}

static int ranges_read(const struct world *w, struct reader *d, struct pagemap_range *ranges, size_t n,
		       uint64_t budget_ns, size_t *ret_done)
{
	uint64_t end_ns = budget_ns ? w->mono_ns() + budget_ns : UINT64_MAX;
	bool large = false;
	size_t i = 0;
	for (; i < n; i++) {
		if ((i % RANGES_A_CHECK == 0 || large) && w->mono_ns() >= end_ns)
			break;
		int r = range(d, w->page_bytes, &ranges[i]);
		if (r < 0)
			return world_condition(r);
		large = ranges[i].seen > CHUNK;
	}
	*ret_done = i;
	return 0;
}

static int pagemap_open(const struct world *w, pid_t pid, int *ret_fd)
{
	char path[32];
	if (w->recorded || w->proc_fd < 0)
		return WORLD_ABSENT;
	int r = lockwait_ask(w->proc_fd, pid);
	if (r != 0)
		return r;
	TEXT_FORMAT(path, "%d/pagemap", (int)pid);
	*ret_fd = openat(w->proc_fd, path, O_RDONLY | O_CLOEXEC);
	return *ret_fd < 0 ? world_condition(-errno) : 0;
}

int pagemap_read(const struct world *w, pid_t pid, struct pagemap_range *ranges, size_t n, uint64_t budget_ns,
		 size_t *ret_done)
{
	cleanup(closep) int fd = -1;
	int r = pagemap_open(w, pid, &fd);
	struct reader d = {.fd = fd, .count_fd = -1, .chunks_max = CHUNKS_MAX};
	return r != 0 ? r : ranges_read(w, &d, ranges, n, budget_ns, ret_done);
}

int pagemap_shares_read(const struct world *w, pid_t pid, struct pagemap_range *ranges, size_t n, uint64_t budget_ns,
			size_t *ret_done)
{
	cleanup(closep) int fd = -1;
	int r = pagemap_open(w, pid, &fd);
	if (r != 0)
		return r;
	cleanup(closep) int count_fd = openat(w->proc_fd, "kpagecount", O_RDONLY | O_CLOEXEC);
	struct reader d = {.fd = fd, .count_fd = count_fd, .chunks_max = SHARES_CHUNKS_MAX};
	return ranges_read(w, &d, ranges, n, budget_ns, ret_done);
}
