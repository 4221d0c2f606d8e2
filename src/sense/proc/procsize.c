#include "sense/proc/procsize.h"

#include <stdlib.h>
#include <string.h>

#include "sense/proc/maps.h"
#include "sense/proc/pagemap.h"
#include "sense/proc/proc.h"

static const uint64_t walked_bytes = 1 * GIB;
static const uint64_t budget_ns = 20 * NS_PER_MS;
/* Allowed error: the sample may differ from the resident size by 1/10, and its unknown part may be 1/20. */
#define ADDS_UP 0.1
#define UNKNOWN_PART 0.05

struct sums {
	double present, alone, shared; /* estimated bytes; shared: those with a known number of sharers */
	double shared_parts; /* shared, each page counted as 1 / sharers */
	double unknown; /* shared by an unknown number of processes */
	double counted, parts;
};

static void procsize_add(struct sums *s, const struct pagemap_range *r)
{
	if (r->seen == 0)
		return;
	double each = (double)r->bytes / (double)r->seen;
	double present = (double)r->present * each, alone = (double)r->exclusive * each;
	s->present += present;
	s->alone += alone;
	s->counted += (double)r->counted;
	s->parts += r->parts;
	if (r->counted == 0) {
		s->unknown += present - alone;
		return;
	}
	s->shared += present - alone;
	s->shared_parts += (present - alone) * r->parts / (double)r->counted;
}

static int from_sums(struct sums s, uint64_t rss_bytes, struct procsize *ret)
{
	if (s.present < (1 - ADDS_UP) * (double)rss_bytes || s.present > (1 + ADDS_UP) * (double)rss_bytes)
		return WORLD_ABSENT;
	if (s.counted > 0) { /* a range without a counted page is taken to be like the others */
		s.shared_parts += s.unknown * s.parts / s.counted;
		s.unknown = 0;
	}
	/* with 2 or more sharers, the true part is between 0 and 1/2: taking 1/4 errs by at most 1/4 */
	if (s.unknown / 4 > UNKNOWN_PART * s.present)
		return WORLD_ABSENT;
	double scale = s.present > 0 ? (double)rss_bytes / s.present : 1;
	*ret = (struct procsize){
		.pss_bytes = (uint64_t)((s.alone + s.shared_parts + s.unknown / 4) * scale),
		.private_bytes = (uint64_t)(s.alone * scale),
		.sampled = true,
	};
	return 0;
}

/* Sorts the largest ranges to the front, as the time may not suffice for all. */
static int by_bytes(const void *x, const void *y)
{
	const struct pagemap_range *a = x, *b = y;
	return a->bytes > b->bytes ? -1 : a->bytes < b->bytes;
}

/* A mapping without access is reserved and usually empty; the memory of a device is not resident. */
static bool procsize_counts(const struct map_row *row)
{
	if (!(row->flags & (MAP_READ | MAP_WRITE | MAP_EXEC)))
		return false;
	return strncmp(row->path, "/dev/", 5) != 0 || strncmp(row->path, "/dev/shm/", 9) == 0 ||
	       strncmp(row->path, "/dev/zero", 9) == 0;
}

int procsize_sampled_read(const struct world *w, pid_t pid, uint64_t rss_bytes, struct procsize *ret)
{
	cleanup(maps_done) struct maps m = {.rows = NULL};
	int r = maps_read(w, pid, &m);
	if (r != 0)
		return r;
	cleanup(freep) struct pagemap_range *range = calloc(m.n + 1, sizeof(*range));
	if (!range)
		return -ENOMEM;
	size_t n = 0, done = 0;
	for (size_t i = 0; i < m.n; i++)
		if (procsize_counts(&m.rows[i]))
			range[n++] = (struct pagemap_range){.addr = m.rows[i].start,
							    .bytes = m.rows[i].end - m.rows[i].start};
	qsort(range, n, sizeof(*range), by_bytes);
	r = pagemap_shares_read(w, pid, range, n, budget_ns, &done);
	if (r != 0)
		return r;
	struct sums s = {.present = 0};
	for (size_t i = 0; i < done; i++)
		procsize_add(&s, &range[i]);
	return from_sums(s, rss_bytes, ret);
}

int procsize_read(const struct world *w, pid_t pid, struct procsize *ret)
{
	struct proc_status size;
	struct proc_rollup walked;
	int r = proc_status_read(w, pid, &size);
	if (r != 0)
		return r;
	if (size.rss_bytes > walked_bytes)
		return procsize_sampled_read(w, pid, size.rss_bytes, ret);
	r = proc_rollup_read(w, pid, &walked);
	if (r != 0)
		return r;
	*ret = (struct procsize){.pss_bytes = walked.pss_bytes, .private_bytes = walked.private_bytes};
	return 0;
}
