#include "agent/output/outbuf.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/buf.h"

#define GROWN_BYTES ((int)(256 * KIB))

void outbuf_open(struct outbuf *o, int proc_fd, int fd)
{
	struct stat st;
	char path[32];
	*o = (struct outbuf){.fd = fd, .kind = OUTBUF_PATIENT, .line = &o->mid_line};
	if (fstat(fd, &st) < 0)
		return;
	if (S_ISSOCK(st.st_mode))
		o->kind = OUTBUF_SOCKET;
	/* a file that is appended to refuses, and terminals copy */
	o->splices = S_ISFIFO(st.st_mode) || (!S_ISSOCK(st.st_mode) && !isatty(fd) &&
					      !(fcntl(fd, F_GETFL) & O_APPEND));
	o->terminal = isatty(fd);
	o->file = S_ISREG(st.st_mode);
	if (!S_ISFIFO(st.st_mode) && !o->terminal)
		return;
	o->kind = OUTBUF_SHARED;
	o->splices = false;
	TEXT_FORMAT(path, "self/fd/%d", fd);
	int again = proc_fd < 0 ? -1 : openat(proc_fd, path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (again < 0)
		return; /* the file belongs to another user */
	o->fd = again;
	o->ours = true;
	o->kind = OUTBUF_OPENED;
	o->splices = S_ISFIFO(st.st_mode);
}

void outbuf_same_target(struct outbuf *o, struct outbuf *first)
{
	o->line = first->line;
}

void outbuf_close(struct outbuf *o)
{
	if (o->ours)
		closep(&o->fd);
	free(o->kept);
	*o = (struct outbuf){.fd = -1, .line = &o->mid_line};
}

void outbuf_grow(struct outbuf *o)
{
	int has = o->kind == OUTBUF_OPENED && !o->terminal ? fcntl(o->fd, F_GETPIPE_SZ) : -1;
	for (int size = GROWN_BYTES; has > 0 && size > has; size /= 2)
		if (fcntl(o->fd, F_SETPIPE_SZ, size) >= 0)
			return;
}

/* Returns the number of bytes written; -EAGAIN: none can be written now. */
static ssize_t offer(const struct outbuf *o, const char *p, size_t n)
{
	struct pollfd room = {.fd = o->fd, .events = POLLOUT};
	ssize_t r;
	if (o->kind == OUTBUF_SOCKET) {
		r = send(o->fd, p, n, MSG_DONTWAIT | MSG_NOSIGNAL);
	} else if (o->kind == OUTBUF_SHARED) {
		/* a pipe that is ready takes a page without blocking, unless another writer is faster */
		if (poll(&room, 1, 0) <= 0)
			return -EAGAIN;
		r = write(o->fd, p, MIN(n, (size_t)PIPE_BUF));
	} else {
		r = write(o->fd, p, n);
	}
	return r < 0 ? -errno : r;
}

static int outbuf_keep(struct outbuf *o, const char *p, size_t n)
{
	if (o->at > 0 && o->at + o->len + n > o->cap) {
		memmove(o->kept, o->kept + o->at, o->len);
		o->at = 0;
	}
	if (o->len + n > o->cap) {
		size_t cap = MAX(2 * o->cap, MAX(o->len + n, (size_t)(64 * KIB)));
		char *grown = realloc(o->kept, cap);
		if (!grown)
			return -ENOMEM;
		o->kept = grown;
		o->cap = cap;
	}
	memcpy(o->kept + o->at + o->len, p, n);
	o->len += n;
	return 0;
}

static int broken(struct outbuf *o)
{
	free(o->kept);
	o->kept = NULL;
	o->at = o->len = o->cap = 0;
	o->gone = true; /* the descriptor stays open: a loop may poll it */
	return OUTBUF_BROKEN;
}

/* Write as much as is taken now; *p and *n move on. */
static int pass_on(struct outbuf *o, const char **p, size_t *n)
{
	while (*n > 0) {
		ssize_t r = offer(o, *p, *n);
		if (r == -EINTR)
			continue;
		if (r == -EAGAIN && o->kind == OUTBUF_PATIENT) { /* another process made it non-blocking */
			struct pollfd room = {.fd = o->fd, .events = POLLOUT};
			(void)poll(&room, 1, -1);
			continue;
		}
		if (r == -EAGAIN)
			return 0;
		if (r < 0)
			return broken(o);
		*p += r;
		*n -= (size_t)r;
	}
	return 0;
}

int outbuf_splice(struct outbuf *o, int pipe_fd, size_t n, size_t *ret)
{
	*ret = 0;
	if (o->fd < 0 || o->gone)
		return OUTBUF_BROKEN;
	ssize_t r = splice(pipe_fd, NULL, o->fd, NULL, n, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
	if (r >= 0) {
		*o->line = false; /* what it was is not known */
		*ret = (size_t)r;
		return 0;
	}
	if (errno == EINTR)
		return 0;
	if (errno == EAGAIN) {
		o->blocked = o->kind == OUTBUF_OPENED;
		return 0;
	}
	if (errno != EINVAL)
		return broken(o);
	o->splices = false;
	return OUTBUF_NO_SPLICE;
}

int outbuf_push(struct outbuf *o)
{
	size_t before = o->len, left = o->len;
	o->blocked = false;
	if (o->fd < 0 || o->gone)
		return OUTBUF_BROKEN;
	if (left == 0)
		return 0;
	const char *p = o->kept + o->at;
	int r = pass_on(o, &p, &left);
	if (r != 0)
		return r;
	o->at += before - left;
	o->len = left;
	if (left == 0) { /* free the memory of a large backlog */
		free(o->kept);
		o->kept = NULL;
		o->at = o->cap = 0;
	}
	return 0;
}

/* Bytes of the escape sequence ("\033[0m") that the text ends with; 0: none. */
static size_t sequence_at_end(const char *p, size_t n)
{
	enum { SEQUENCE_MOST = 24 };
	size_t i = n;
	if (n == 0 || p[n - 1] < '@' || p[n - 1] > 'z')
		return 0;
	for (i--; i > 0 && n - i < SEQUENCE_MOST && strchr("0123456789;?", p[i - 1]) && p[i - 1]; i--)
		continue;
	return i >= 2 && p[i - 1] == '[' && p[i - 2] == '\033' ? n - i + 2 : 0;
}

/* Colours and the cursor's looks that follow a line do not begin another one. */
static void remember_line(struct outbuf *o, const char *p, size_t n)
{
	for (size_t s = 0; (s = sequence_at_end(p, n)) > 0;)
		n -= s;
	if (n > 0)
		*o->line = p[n - 1] != '\n';
}

int outbuf_put_lines(struct outbuf *o, const char *p, size_t n)
{
	int r = *o->line ? outbuf_put(o, "\n", 1) : 0;
	return r == 0 ? outbuf_put(o, p, n) : r;
}

int outbuf_put(struct outbuf *o, const char *p, size_t n)
{
	remember_line(o, p, n);
	int r = outbuf_push(o);
	if (r == 0 && o->len == 0)
		r = pass_on(o, &p, &n);
	if (r != 0 || n == 0)
		return r;
	return outbuf_keep(o, p, n);
}
