#include "sense/framework/rayoom.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "base/file.h"

#define READ_BYTES (64 * KIB)

void rayoom_done(struct rayoom *o)
{
	closep(&o->fd);
	*o = RAYOOM_NONE;
}

static void rayoom_log_open(const struct raylogs *l, struct rayoom *o)
{
	const struct foreign_place at = {.dirfd = l->fd, .as = &l->user};
	struct stat st;
	if (foreign_open(&at, "raylet.out", &o->fd) != 0 || fstat(o->fd, &st) < 0)
		return;
	o->at = (uint64_t)st.st_size;
	killerlog_init(&o->talk, "log raylet.out", NULL, 0);
}

/* Up to the end of the last whole line; one that is longer than the block is passed over. */
static size_t rayoom_whole_lines(const char *text, size_t len)
{
	size_t n = len;
	while (n > 0 && text[n - 1] != '\n')
		n--;
	return n == 0 && len == READ_BYTES ? len : n;
}

size_t rayoom_read(const struct raylogs *l, struct rayoom *o, int64_t now_unix_ms, struct killer_line *ret, size_t cap)
{
	struct stat st;
	size_t len, used;
	struct span rest, line;
	if (l->fd < 0)
		return 0;
	if (o->fd < 0) {
		rayoom_log_open(l, o);
		return 0;
	}
	if (fstat(o->fd, &st) < 0 || (uint64_t)st.st_size <= o->at)
		return 0;
	cleanup(freep) char *text = malloc(READ_BYTES);
	if (!text || file_read_from(o->fd, o->at, text, READ_BYTES, &len) != 0)
		return 0;
	used = rayoom_whole_lines(text, len);
	o->at += used;
	o->talk.out = ret;
	o->talk.cap = cap;
	o->talk.n = 0;
	for (rest = (struct span){text, used}; span_line(&rest, &line);)
		killerlog_line(&o->talk, SPAN("raylet"), line, now_unix_ms);
	return o->talk.n;
}
