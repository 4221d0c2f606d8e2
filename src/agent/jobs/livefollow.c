#include "agent/jobs/livefollow.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "agent/host/world_open.h"
#include "agent/jobs/jobfolder.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/vec.h"

/* Whoever writes faster than this is no supervisor. */
#define TAKE_MOST (4 * LIVE_LINE_MAX)

struct livefollow {
	int fd;
	char *text; /* what has come of a line that has not ended */
	size_t len, cap;
	struct live_state state;
};

struct livefollow *livefollow_close(struct livefollow *f)
{
	if (!f)
		return NULL;
	closep(&f->fd);
	free(f->text);
	live_done(&f->state);
	free(f);
	return NULL;
}

/* Whose vigil may watch the job: the user's own, or root's. */
static bool is_trusted(const struct job *j, uid_t uid)
{
	return uid == j->uid || uid == 0;
}

/* The name is judged by what it leads to, which is then connected to. Returns a descriptor, or -1. */
static int owners_socket(const struct job *j)
{
	struct stat st;
	cleanup(jobfolder_done) struct jobfolder f = {.fd = -1};
	if (jobfolder_open(j->log_dir, NULL, &f) < 0)
		return -1;
	cleanup(closep) int fd = openat(f.fd, LIVE_FILE, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISSOCK(st.st_mode) || !is_trusted(j, st.st_uid))
		return -1;
	return take_fd(&fd);
}

static int socket_connect(const struct job *j)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	struct ucred who;
	socklen_t len = sizeof(who);
	char path[32];
	cleanup(closep) int name = owners_socket(j);
	cleanup(closep) int fd = name < 0 ? -1 : socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -1;
	TEXT_COPY(a.sun_path, world_fd_path(getpid(), name, path));
	if (connect(fd, (const struct sockaddr *)&a, sizeof(a)) < 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) < 0 || !is_trusted(j, who.uid))
		return -1;
	return take_fd(&fd);
}

int livefollow_open(const struct job *j, struct livefollow **ret)
{
	if (!job_is_open(j) || !j->log_dir[0])
		return LIVEFOLLOW_NONE;
	int fd = socket_connect(j);
	if (fd < 0)
		return LIVEFOLLOW_NONE;
	struct livefollow *f = calloc(1, sizeof(*f));
	if (!f) {
		closep(&fd);
		return -ENOMEM;
	}
	f->fd = fd;
	*ret = f;
	return 0;
}

/* The lines that are whole. */
static int lines_take(struct livefollow *f)
{
	struct span rest = {f->text, f->len};
	const char *end;
	int r = 0;
	while (r == 0 && (end = memchr(rest.p, '\n', rest.len))) {
		cleanup(js_freep) struct js *line = NULL;
		size_t len = (size_t)(end - rest.p);
		r = js_parse(rest.p, len, &line, NULL) == 0 ? live_take(&f->state, line) : -EBADMSG;
		rest.p += len + 1;
		rest.len -= len + 1;
	}
	memmove(f->text, rest.p, rest.len);
	f->len = rest.len;
	return r == -EBADMSG || f->len > LIVE_LINE_MAX ? LIVEFOLLOW_NONE : r;
}

static bool can_wait(const struct livefollow *f, uint64_t until_ns)
{
	struct pollfd p = {.fd = f->fd, .events = POLLIN};
	uint64_t now_ns = clock_mono_ns();
	return f->state.seq == 0 && now_ns < until_ns && poll(&p, 1, (int)((until_ns - now_ns) / NS_PER_MS) + 1) > 0;
}

int livefollow_take(struct livefollow *f, uint64_t wait_ns)
{
	const uint64_t until_ns = clock_mono_ns() + wait_ns;
	for (size_t sum = 0; sum < TAKE_MOST;) {
		if (vec_room(&f->text, &f->cap, f->len + 64 * KIB) < 0)
			return -ENOMEM;
		ssize_t n = recv(f->fd, f->text + f->len, f->cap - f->len, MSG_DONTWAIT);
		if (n < 0 && errno == EAGAIN && can_wait(f, until_ns))
			continue;
		if (n < 0 && errno == EAGAIN)
			return 0;
		if (n <= 0)
			return LIVEFOLLOW_NONE;
		sum += (size_t)n;
		f->len += (size_t)n;
		int r = lines_take(f);
		if (r)
			return r;
	}
	return LIVEFOLLOW_NONE;
}

const struct live_state *livefollow_state(const struct livefollow *f)
{
	return f && f->state.seq > 0 ? &f->state : NULL;
}

void livefollow_give(struct livefollow **f, struct live_state *ret)
{
	*ret = (*f)->state;
	(*f)->state.process = NULL;
	*f = livefollow_close(*f);
}
