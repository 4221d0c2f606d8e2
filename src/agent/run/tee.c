#include "agent/run/tee.h"

#include <poll.h>
#include <string.h>

#include "base/file.h"

void tee_open(struct tee *t, int from_fd, struct outbuf *to, int log_fd)
{
	*t = (struct tee){.from_fd = from_fd, .to = to, .log_fd = log_fd};
}

static void remember_line(struct tee *t, const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (p[i] != '\n' && p[i] != '\r') {
			if (t->line_len < sizeof(t->line))
				t->line[t->line_len++] = p[i];
			continue;
		}
		if (t->line_len > 0) {
			memcpy(t->last, t->line, t->line_len);
			t->last_len = t->line_len;
		}
		t->line_len = 0;
	}
}

static bool move(struct tee *t)
{
	static char chunk[65536];
	ssize_t n = read(t->from_fd, chunk, sizeof(chunk));
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return true;
	if (n <= 0) { /* a terminal answers EIO when its last writer is gone */
		tee_close(t);
		return false;
	}
	t->bytes += (uint64_t)n;
	remember_line(t, chunk, (size_t)n);
	if (t->log_fd >= 0) {
		int r = file_write_all(t->log_fd, chunk, (size_t)n);
		if (r < 0) {
			t->log_failed = true;
			t->log_errno = -r;
			closep(&t->log_fd);
			t->log_fd = -1;
		} else {
			keptlog_wrote(&t->kept, (size_t)n);
		}
	}
	if (outbuf_put(t->to, chunk, (size_t)n) != 0) {
		tee_close(t);
		return false;
	}
	return true;
}

bool tee_pump(struct tee *t)
{
	if (t->from_fd < 0)
		return false;
	return outbuf_is_full(t->to) || move(t);
}

void tee_finish(struct tee *t, uint64_t (*mono_ns)(void), uint64_t until_ns)
{
	while (t->from_fd >= 0) {
		uint64_t now = mono_ns();
		struct pollfd p = {.fd = t->from_fd, .events = POLLIN};
		int ms = now < until_ns ? (int)((until_ns - now) / NS_PER_MS) : 0;
		if (poll(&p, 1, ms) <= 0 || !move(t))
			break;
	}
	tee_close(t);
}

void tee_close(struct tee *t)
{
	closep(&t->from_fd);
	closep(&t->log_fd);
}

bool tee_last_line_hash(const struct tee *t, uint64_t *ret)
{
	const char *p = t->line_len ? t->line : t->last;
	size_t n = t->line_len ? t->line_len : t->last_len;
	if (n == 0)
		return false;
	uint64_t h = UINT64_C(14695981039346656037); /* FNV-1a */
	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)p[i]) * UINT64_C(1099511628211);
	*ret = h;
	return true;
}
