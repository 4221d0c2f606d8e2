#include "sense/pagemap.h"

#include <fcntl.h>

#include "base/buf.h"
#include "base/file.h"

#define PRESENT (UINT64_C(1) << 63)
#define SWAPPED (UINT64_C(1) << 62)
#define SHARED (UINT64_C(1) << 61)
#define EXCLUSIVE (UINT64_C(1) << 56)

/* Words read at once, and how many pieces of a large range are read: 16,384 pages cost 2 ms. */
#define PIECE 512
#define PIECES_MAX 32
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

uint64_t pagemap_present_bytes(const struct pagemap_range *r)
{
	if (r->seen == 0)
		return 0;
	if (r->present >= r->seen)
		return r->bytes;
	return (uint64_t)((double)r->bytes * ((double)r->present / (double)r->seen));
}

static int piece(int fd, uint64_t first_page, size_t n, struct pagemap_range *r)
{
	uint64_t words[PIECE];
	size_t len;
	int e = file_read_from(fd, first_page * sizeof(words[0]), (char *)words, n * sizeof(words[0]), &len);
	if (e < 0)
		return e;
	pagemap_count(words, len / sizeof(words[0]), r);
	return 0;
}

static int range(int fd, uint64_t page_bytes, struct pagemap_range *r)
{
	r->pages = r->seen = r->present = r->swapped = r->shared = r->exclusive = 0;
	if (r->bytes == 0 || r->addr > UINT64_MAX - r->bytes)
		return 0;
	uint64_t first = r->addr / page_bytes, end = (r->addr + r->bytes - 1) / page_bytes + 1;
	r->pages = end - first;
	uint64_t pieces = (r->pages + PIECE - 1) / PIECE;
	uint64_t looks = MIN(pieces, (uint64_t)PIECES_MAX);
	for (uint64_t i = 0; i < looks; i++) {
		/* the first piece and the last one are always among them */
		uint64_t which = looks > 1 ? i * (pieces - 1) / (looks - 1) : 0;
		uint64_t from = first + which * PIECE;
		int e = piece(fd, from, (size_t)MIN(end - from, (uint64_t)PIECE), r);
		if (e < 0)
			return e;
	}
	return 0;
}

int pagemap_read(const struct world *w, pid_t pid, struct pagemap_range *ranges, size_t n, uint64_t budget_ns,
		 size_t *ret_done)
{
	char path[32];
	if (w->recorded || w->proc_fd < 0)
		return WORLD_ABSENT;
	TEXT_FORMAT(path, "%d/pagemap", (int)pid);
	cleanup(closep) int fd = openat(w->proc_fd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return world_condition(-errno);
	uint64_t end_ns = budget_ns ? w->mono_ns() + budget_ns : UINT64_MAX;
	size_t i = 0;
	for (; i < n; i++) {
		if (i % RANGES_A_LOOK == 0 && w->mono_ns() >= end_ns)
			break;
		int r = range(fd, w->page_bytes, &ranges[i]);
		if (r < 0)
			return world_condition(r);
	}
	*ret_done = i;
	return 0;
}
