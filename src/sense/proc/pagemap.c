#include "sense/proc/pagemap.h"

#include <fcntl.h>

#include "base/buf.h"
#include "base/file.h"

#define PRESENT (UINT64_C(1) << 63)
#define SWAPPED (UINT64_C(1) << 62)
#define SHARED (UINT64_C(1) << 61)
#define EXCLUSIVE (UINT64_C(1) << 56)

#define FRAME ((UINT64_C(1) << 55) - 1)

/* Words read at once, and how many pieces of a large range are read: 16,384 pages cost 2 ms. */
#define PIECE 512
#define PIECES_MAX 32
#define SHARES_PIECES_MAX 128
/* Of pages that several have, every eighth is asked about, half a microsecond each. */
#define ASKED_EACH 8
#define ASKED_MAX 16384
/* The clock is looked at after so many ranges at the latest. */
#define RANGES_A_LOOK 16

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
	int fd, count_fd; /* count_fd < 0: how many share a page is not asked */
	uint64_t pieces_max;
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
		r->told++;
		/* somebody may have let go of it since */
		r->parts += sharers > 1 ? 1 / (double)sharers : 1;
	}
}

static int piece(struct reader *d, uint64_t first_page, size_t n, struct pagemap_range *r)
{
	uint64_t words[PIECE];
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
	uint64_t pieces = (r->pages + PIECE - 1) / PIECE;
	uint64_t looks = MIN(pieces, d->pieces_max);
	for (uint64_t i = 0; i < looks; i++) {
		/* the first piece and the last one are always among them */
		uint64_t which = looks > 1 ? i * (pieces - 1) / (looks - 1) : 0;
		uint64_t from = first + which * PIECE;
		int e = piece(d, from, (size_t)MIN(end - from, (uint64_t)PIECE), r);
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
		if ((i % RANGES_A_LOOK == 0 || large) && w->mono_ns() >= end_ns)
			break;
		int r = range(d, w->page_bytes, &ranges[i]);
		if (r < 0)
			return world_condition(r);
		large = ranges[i].seen > PIECE;
	}
	*ret_done = i;
	return 0;
}

static int pagemap_open(const struct world *w, pid_t pid, int *ret_fd)
{
	char path[32];
	if (w->recorded || w->proc_fd < 0)
		return WORLD_ABSENT;
	TEXT_FORMAT(path, "%d/pagemap", (int)pid);
	*ret_fd = openat(w->proc_fd, path, O_RDONLY | O_CLOEXEC);
	return *ret_fd < 0 ? world_condition(-errno) : 0;
}

int pagemap_read(const struct world *w, pid_t pid, struct pagemap_range *ranges, size_t n, uint64_t budget_ns,
		 size_t *ret_done)
{
	cleanup(closep) int fd = -1;
	int r = pagemap_open(w, pid, &fd);
	struct reader d = {.fd = fd, .count_fd = -1, .pieces_max = PIECES_MAX};
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
	struct reader d = {.fd = fd, .count_fd = count_fd, .pieces_max = SHARES_PIECES_MAX};
	return ranges_read(w, &d, ranges, n, budget_ns, ret_done);
}
