#include "sense/speed/threadstart.h"

#include <string.h>

#include "sense/proc/remote.h"
#include "sense/speed/threadcost.h"

#define TOP_BYTES 4096 /* of a stack; struct pthread has some 2,300 */
#define STACK_LEAST (16 * 1024)
#define ALIGN_BYTES 64
/* In struct pthread of glibc 2.17 to 2.41. */
#define TID_AT 0x2d0
/* Where the function stands differs a little by version. */
#define START_FROM 0x610
#define START_TO 0x680

static uint64_t word_at(const char *p)
{
	uint64_t v;
	memcpy(&v, p, sizeof(v));
	return v;
}

/* The library of the first word that points into code. */
static unsigned lib_started(const char *self, const struct maps *m)
{
	for (size_t at = START_FROM; at < START_TO; at += sizeof(uint64_t)) {
		const struct map_row *row = maps_find(m, word_at(self + at));
		if (row && (row->flags & MAP_EXEC))
			return threadlib_of(row->path);
	}
	return 0;
}

bool threadstart_find(const void *bytes, size_t len, uint64_t end, const struct maps *m, struct threadstart *ret)
{
	const char *p = bytes;
	const uint64_t begin = end - len;
	for (size_t at = (size_t)(-begin % ALIGN_BYTES); at + START_TO <= len; at += ALIGN_BYTES) {
		if (word_at(p + at) != begin + at || word_at(p + at + 16) != begin + at)
			continue;
		int32_t tid;
		memcpy(&tid, p + at + TID_AT, sizeof(tid));
		*ret = (struct threadstart){.tid = tid, .lib = lib_started(p + at, m)};
		return tid > 0;
	}
	return false;
}

void threadstarts_read(const struct world *w, pid_t pid, const struct maps *m, struct threadstart *ret, size_t cap,
		       size_t *ret_n)
{
	struct remote r;
	char top[TOP_BYTES];
	*ret_n = 0;
	remote_open(w, pid, &r);
	for (size_t i = 0; i < m->n && *ret_n < cap; i++) {
		const struct map_row *row = &m->rows[i];
		if (row->path[0] || row->end - row->start < STACK_LEAST ||
		    (row->flags & (MAP_READ | MAP_WRITE | MAP_EXEC | MAP_IS_SHARED)) != (MAP_READ | MAP_WRITE))
			continue;
		int e = remote_read(&r, row->end - sizeof(top), top, sizeof(top));
		if (e < 0 || e == WORLD_DENIED || e == WORLD_GONE)
			break;
		*ret_n += e == 0 && threadstart_find(top, sizeof(top), row->end, m, &ret[*ret_n]);
	}
	remote_done(&r);
}
