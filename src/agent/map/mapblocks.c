#include "agent/map/mapblocks.h"

#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "base/vec.h"

#define READ_BYTES (256 * KIB)

/* The next end of a record, counted from where the block begins; 0: there is none in what was read. */
static size_t end_next(struct mapblocks *b)
{
	if (!b->text) /* nothing was read yet */
		return 0;
	const char *text = b->text + b->from;
	size_t have = b->len - b->from, end_len = strlen(b->end);
	const char *at = have > b->seen ? memmem(text + b->seen, have - b->seen, b->end, end_len) : NULL;
	if (!at) {
		b->seen = MAX(b->seen, sub_floor(have + 1, end_len));
		return 0;
	}
	b->seen = (size_t)(at - text) + end_len;
	b->n_found++;
	return b->seen;
}

/* The last end of a record that is not behind `most`; 0: there is none. */
static size_t end_last(const struct mapblocks *b, size_t most)
{
	size_t end_len = strlen(b->end);
	for (size_t at = most; at >= end_len; at--)
		if (memcmp(b->text + b->from + at - end_len, b->end, end_len) == 0)
			return at;
	return 0;
}

/* The length of the block at hand; 0: more has to be read, or there is nothing. */
static size_t block_len(struct mapblocks *b)
{
	size_t have = b->len - b->from, len = 0;
	while (b->records && b->n_found < b->records)
		if ((len = end_next(b)) == 0)
			return b->over ? have : 0;
	if (b->records)
		return len;
	if (have < b->block_bytes)
		return b->over ? have : 0;
	len = end_last(b, (size_t)b->block_bytes);
	if (len == 0) /* a record that is longer than a block */
		len = end_next(b);
	return len == 0 && b->over ? have : len;
}

/* MAPBLOCKS_LATER; 0: there is more, or the end was reached. */
static int blocks_read(struct mapblocks *b, int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	if (poll(&p, 1, 0) == 0)
		return MAPBLOCKS_LATER;
	if (b->from > 0) {
		memmove(b->text, b->text + b->from, b->len - b->from);
		b->len -= b->from;
		b->from = 0;
	}
	if (vec_room(&b->text, &b->cap, b->len + READ_BYTES) < 0)
		return -ENOMEM;
	ssize_t n = read(fd, b->text + b->len, READ_BYTES);
	if (n < 0)
		return errno == EINTR || errno == EAGAIN ? MAPBLOCKS_LATER : -errno;
	b->over = n == 0;
	b->len += (size_t)n;
	return 0;
}

static int block_file(const struct mapblocks *b, size_t len, int *ret_fd)
{
	cleanup(closep) int fd = memfd_create("vigil-block", MFD_CLOEXEC);
	int r = fd < 0 ? -errno : file_write_all(fd, b->text + b->from, len);
	if (r < 0)
		return r;
	*ret_fd = take_fd(&fd);
	return 0;
}

int mapblocks_next(struct mapblocks *b, int fd, int *ret_fd, uint64_t *ret_bytes, struct fault *f)
{
	int r = 0;
	size_t len;
	while ((len = block_len(b)) == 0 && !b->over && r == 0)
		r = blocks_read(b, fd);
	if (r < 0)
		return fault_set(f, r, "cannot read what is to be cut into blocks: %s", strerror(-r));
	if (len == 0)
		return r == MAPBLOCKS_LATER ? r : MAPBLOCKS_END;
	r = block_file(b, len, ret_fd);
	if (r < 0)
		return fault_set(f, r, "no memory for a block of %zu bytes: %s", len, strerror(-r));
	b->from += len;
	b->seen = b->n_found = 0;
	*ret_bytes = len;
	return 0;
}

void mapblocks_done(struct mapblocks *b)
{
	free(b->text);
	b->text = NULL;
	b->from = b->len = b->cap = 0;
}
