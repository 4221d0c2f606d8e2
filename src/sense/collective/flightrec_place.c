#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "sense/collective/flightrec.h"
#include "sense/proc/proc.h"

static void flightrec_place_add(struct flightrec_place *p, const char *fmt, ...) printf_like(2, 3);
static void flightrec_place_add(struct flightrec_place *p, const char *fmt, ...)
{
	va_list ap;
	if (p->n == FLIGHTREC_PREFIXES)
		return;
	struct buf b = BUF_ON(p->prefix[p->n]);
	buf_reset(&b);
	va_start(ap, fmt);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
	if (!b.cut) /* a truncated path would name another file */
		p->n++;
}

static struct span either(struct span block, const char *newer, const char *older)
{
	struct span s = environ_get(block, newer);
	return s.len ? s : environ_get(block, older);
}

void flightrec_place(struct span block, struct flightrec_place *ret)
{
	*ret = (struct flightrec_place){.n = 0};
	struct span named = either(block, "TORCH_FR_DUMP_TEMP_FILE", "TORCH_NCCL_DEBUG_INFO_TEMP_FILE");
	struct span pipe = environ_get(block, "TORCH_NCCL_DEBUG_INFO_PIPE_FILE");
	struct span buffer = either(block, "TORCH_FR_BUFFER_SIZE", "TORCH_NCCL_TRACE_BUFFER_SIZE");
	struct span cache = environ_get(block, "XDG_CACHE_HOME"), home = environ_get(block, "HOME");
	if (pipe.len > 0 && pipe.len < sizeof(ret->pipe_prefix))
		span_copy(pipe, ret->pipe_prefix, sizeof(ret->pipe_prefix));
	ret->has_buffer = span_u64(span_trim(buffer), &ret->buffer_entries) == 0;
	if (named.len) {
		ret->named = true;
		flightrec_place_add(ret, "%.*s", (int)MIN(named.len, (size_t)4096), named.p);
		return;
	}
	if (cache.len)
		flightrec_place_add(ret, "%.*s/torch/comm_lib_trace_rank_", (int)MIN(cache.len, (size_t)4096), cache.p);
	else if (home.len)
		flightrec_place_add(ret, "%.*s/.cache/torch/comm_lib_trace_rank_", (int)MIN(home.len, (size_t)4096),
				    home.p);
	flightrec_place_add(ret, "/tmp/nccl_trace_rank_");
}

bool flightrec_rank_of(const char *path, int32_t *ret)
{
	struct span s = span_of(path);
	uint64_t rank;
	/* Suffixes that people add to dumps they keep: rank_3.pickle, rank_3.json. */
	static const char *const ends[] = {".pickle", ".pkl", ".json"};
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		size_t n = strlen(ends[i]);
		if (s.len > n && memcmp(s.p + s.len - n, ends[i], n) == 0)
			s.len -= n;
	}
	size_t digits = 0;
	while (digits < s.len && s.p[s.len - 1 - digits] >= '0' && s.p[s.len - 1 - digits] <= '9')
		digits++;
	if (digits == 0 || span_u64((struct span){s.p + s.len - digits, digits}, &rank) != 0 || rank > INT32_MAX)
		return false;
	*ret = (int32_t)rank;
	return true;
}

int flightrec_ask(const struct foreign_place *at, const char *pipe_prefix, int32_t rank)
{
	char path[576];
	struct buf b = BUF_ON(path);
	cleanup(closep) int fd = -1;
	buf_reset(&b);
	buf_printf(&b, "%s%d.pipe", pipe_prefix, rank);
	if (b.cut)
		return FLIGHTREC_NONE;
	int r = foreign_open_fifo(at, path, &fd);
	if (r)
		return r == -ENXIO							    ? FLIGHTREC_NOBODY
		       : r == -ENOENT || r == -ENOTDIR || r == -ELOOP || r == FOREIGN_OTHER ? FLIGHTREC_NONE
											    : r;
	if (write(fd, "1", 1) == 1)
		return 0;
	return errno == EAGAIN || errno == EPIPE ? FLIGHTREC_NOBODY : -errno;
}
