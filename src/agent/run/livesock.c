#include "agent/run/livesock.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "agent/host/world_open.h"
#include "base/buf.h"
#include "tell/jobs/live.h"

#define LISTEN_KEY UINT64_MAX
/* A unix socket's own buffer holds some 200 KiB; a line that is longer waits here. */
#define BACKLOG 64

/* One line, shared by all that are still to get it. */
struct livesock_line {
	size_t users, len;
	char text[];
};

struct livesock_reader {
	int fd; /* -1: free */
	bool owed; /* it has had nothing yet */
	bool waits; /* for room in its socket */
	struct livesock_line *line[LIVESOCK_BEHIND];
	size_t first, n, at; /* at: bytes of the first that were written */
};

struct livesock {
	int dir_fd, listen_fd, epoll_fd;
	struct livesock_reader reader[LIVESOCK_READERS];
	size_t n;
	struct livesock *next; /* of the program's others */
};

static struct livesock *livesock_in_use; /* the first of all */

/* In a child: it must not hold open what its parent serves. */
static void livesock_forked(void)
{
	for (struct livesock *l = livesock_in_use; l; l = l->next) {
		closep(&l->listen_fd);
		closep(&l->epoll_fd);
		closep(&l->dir_fd);
		for (size_t i = 0; i < LIVESOCK_READERS; i++)
			closep(&l->reader[i].fd);
	}
	livesock_in_use = NULL;
}

/* ---- readers ---- */

static void livesock_line_drop(struct livesock_line *line)
{
	if (line && --line->users == 0)
		free(line);
}

static void livesock_cut(struct livesock *l, struct livesock_reader *r)
{
	for (; r->n > 0; r->n--, r->first++)
		livesock_line_drop(r->line[r->first % LIVESOCK_BEHIND]);
	closep(&r->fd);
	*r = (struct livesock_reader){.fd = -1};
	l->n--;
}

static void wait_for_room(struct livesock *l, struct livesock_reader *r, bool waits)
{
	struct epoll_event ev = {.events = waits ? EPOLLOUT : 0, .data.u64 = (uint64_t)(r - l->reader)};
	if (r->waits == waits)
		return;
	r->waits = waits;
	if (epoll_ctl(l->epoll_fd, EPOLL_CTL_MOD, r->fd, &ev) < 0)
		livesock_cut(l, r);
}

static void livesock_write(struct livesock *l, struct livesock_reader *r)
{
	while (r->n > 0) {
		struct livesock_line *line = r->line[r->first % LIVESOCK_BEHIND];
		ssize_t n = send(r->fd, line->text + r->at, line->len - r->at, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0 && errno == EAGAIN)
			return wait_for_room(l, r, true);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return livesock_cut(l, r);
		r->at += (size_t)n;
		if (r->at < line->len)
			continue;
		livesock_line_drop(line);
		r->first++;
		r->n--;
		r->at = 0;
	}
	wait_for_room(l, r, false);
}

/* The owner of this process, who is the owner of the job, and root. */
static bool may_read(int fd)
{
	struct ucred who;
	socklen_t len = sizeof(who);
	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) == 0 && len == sizeof(who) &&
	       (who.uid == geteuid() || who.uid == 0);
}

static struct livesock_reader *reader_place(struct livesock *l)
{
	for (size_t i = 0; i < LIVESOCK_READERS; i++)
		if (l->reader[i].fd < 0)
			return &l->reader[i];
	return NULL;
}

static void readers_take(struct livesock *l)
{
	for (int i = 0; i < BACKLOG; i++) {
		cleanup(closep) int fd = accept4(l->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0)
			return;
		struct livesock_reader *r = reader_place(l);
		/* that it has gone is told without being asked for (EPOLLHUP) */
		struct epoll_event ev = {.events = 0, .data.u64 = r ? (uint64_t)(r - l->reader) : 0};
		if (!r || !may_read(fd) || epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, fd, &ev) < 0)
			continue;
		*r = (struct livesock_reader){.fd = take_fd(&fd), .owed = true};
		l->n++;
	}
}

void livesock_run(struct livesock *l)
{
	struct epoll_event ev[32];
	int n = l ? epoll_wait(l->epoll_fd, ev, ARRAY_SIZE(ev), 0) : 0;
	for (int i = 0; i < n; i++) {
		uint64_t key = ev[i].data.u64;
		if (key == LISTEN_KEY)
			readers_take(l);
		else if (key >= LIVESOCK_READERS || l->reader[key].fd < 0)
			continue;
		else if (ev[i].events & (EPOLLHUP | EPOLLERR))
			livesock_cut(l, &l->reader[key]);
		else
			livesock_write(l, &l->reader[key]);
	}
}

size_t livesock_readers(const struct livesock *l)
{
	return l ? l->n : 0;
}

bool livesock_owed(const struct livesock *l)
{
	for (size_t i = 0; l && l->n > 0 && i < LIVESOCK_READERS; i++)
		if (l->reader[i].fd >= 0 && l->reader[i].owed)
			return true;
	return false;
}

static struct livesock_line *livesock_line(const char *text)
{
	size_t len = strlen(text);
	struct livesock_line *line = malloc(sizeof(*line) + len + 1);
	if (!line)
		return NULL;
	line->users = 1;
	line->len = len + 1;
	memcpy(line->text, text, len);
	line->text[len] = '\n';
	return line;
}

static void reader_give(struct livesock *l, struct livesock_reader *r, struct livesock_line *line)
{
	if (!line)
		return;
	if (r->n == LIVESOCK_BEHIND)
		return livesock_cut(l, r);
	r->owed = false;
	line->users++;
	r->line[(r->first + r->n++) % LIVESOCK_BEHIND] = line;
	if (!r->waits)
		livesock_write(l, r);
}

int livesock_give(struct livesock *l, const char *whole, const char *news)
{
	struct livesock_line *first = whole ? livesock_line(whole) : NULL, *next = news ? livesock_line(news) : NULL;
	bool failed = (whole && !first) || (news && !next);
	for (size_t i = 0; !failed && i < LIVESOCK_READERS; i++)
		if (l->reader[i].fd >= 0)
			reader_give(l, &l->reader[i], l->reader[i].owed ? first : next);
	livesock_line_drop(first);
	livesock_line_drop(next);
	return failed ? -ENOMEM : 0;
}

/* ---- the socket ---- */

/* The mode that the name gets is the descriptor's at the time of bind(2), so that it is nobody else's for no moment. */
static int livesock_bind(struct livesock *l)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	struct epoll_event ev = {.events = EPOLLIN, .data.u64 = LISTEN_KEY};
	char dir[32];
	/* by the folder's descriptor: a socket's path has room for 107 bytes only */
	TEXT_FORMAT(a.sun_path, "%s/" LIVE_FILE, world_fd_path(getpid(), l->dir_fd, dir));
	if (fchmod(l->listen_fd, 0600) < 0 || bind(l->listen_fd, (const struct sockaddr *)&a, sizeof(a)) < 0)
		return -errno;
	if (listen(l->listen_fd, BACKLOG) < 0 || epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, l->listen_fd, &ev) < 0) {
		int r = -errno;
		(void)unlinkat(l->dir_fd, LIVE_FILE, 0);
		return r;
	}
	return 0;
}

static void livesock_free(struct livesock *l)
{
	for (size_t i = 0; i < LIVESOCK_READERS; i++)
		if (l->reader[i].fd >= 0)
			livesock_cut(l, &l->reader[i]);
	closep(&l->listen_fd);
	closep(&l->epoll_fd);
	closep(&l->dir_fd);
	free(l);
}

int livesock_open(const char *dir, struct livesock **ret)
{
	static bool told;
	struct livesock *l = calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	for (size_t i = 0; i < LIVESOCK_READERS; i++)
		l->reader[i].fd = -1;
	l->dir_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	l->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	l->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	int r = l->dir_fd < 0 || l->listen_fd < 0 || l->epoll_fd < 0 ? -errno : livesock_bind(l);
	if (r == 0 && !told)
		r = -pthread_atfork(NULL, NULL, livesock_forked);
	told |= r == 0;
	if (r < 0) {
		livesock_free(l);
		return r;
	}
	l->next = livesock_in_use;
	livesock_in_use = l;
	*ret = l;
	return 0;
}

struct livesock *livesock_close(struct livesock *l)
{
	if (!l)
		return NULL;
	struct livesock **at = &livesock_in_use;
	while (*at && *at != l)
		at = &(*at)->next;
	if (*at)
		*at = l->next;
	(void)unlinkat(l->dir_fd, LIVE_FILE, 0);
	livesock_free(l);
	return NULL;
}

int livesock_fd(const struct livesock *l)
{
	return l->epoll_fd;
}
