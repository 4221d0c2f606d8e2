#include "agent/web/weblisten.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "agent/web/webserver.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/foreign_path.h"
#include "base/path.h"
#include "base/text.h"
#include "base/units.h"

/* Of each of the two tables; a row has 150 bytes. */
#define TABLE_MOST (64 * MIB)

/* ---- who has a port ---- */

struct listener {
	uint64_t uid, inode;
};

/* The next row of /proc/net/tcp or tcp6 whose socket listens on this port. The listening ones come first there. */
static bool listener_next(struct span *rest, unsigned port, struct listener *ret)
{
	char want[8];
	struct span line, word = {NULL, 0};
	TEXT_FORMAT(want, ":%04X", port);
	while (span_line(rest, &line)) {
		struct span local, state, uid = {NULL, 0};
		if (!span_word(&line, &word) || !span_word(&line, &local) || !span_word(&line, &word) ||
		    !span_word(&line, &state) || !span_eq(state, "0A") || local.len < 5 ||
		    memcmp(local.p + local.len - 5, want, 5) != 0)
			continue;
		for (int i = 0; i < 4; i++)
			(void)span_word(&line, &uid);
		for (int i = 0; i < 2; i++)
			(void)span_word(&line, &word);
		if (span_u64(uid, &ret->uid) == 0 && span_u64(word, &ret->inode) == 0)
			return true;
	}
	return false;
}

/* The inode of the socket that listens on this port; 0: none is seen. */
static uint64_t listener_inode(int proc_fd, const char *table, unsigned port)
{
	char text[65536];
	size_t len = 0;
	struct listener l;
	if (file_read_at(proc_fd, table, text, sizeof(text), &len) < 0)
		return 0;
	struct span rest = {text, len};
	return listener_next(&rest, port, &l) ? l.inode : 0;
}

/* False: it cannot be read whole, as others can make it long. */
static bool listeners_are_own(int proc_fd, const char *table, unsigned port, size_t *n)
{
	cleanup(freep) char *text = NULL;
	size_t len = 0;
	struct listener l;
	int r = file_slurp(proc_fd, table, TABLE_MOST, &text, &len);
	if (r < 0)
		return r == -ENOENT;
	for (struct span rest = {text, len}; listener_next(&rest, port, &l); (*n)++)
		if (l.uid != geteuid())
			return false;
	return true;
}

bool weblisten_is_own(int proc_fd, unsigned port)
{
	size_t n = 0;
	return listeners_are_own(proc_fd, "net/tcp", port, &n) && listeners_are_own(proc_fd, "net/tcp6", port, &n) &&
	       n > 0;
}

static bool process_has(int proc_fd, const char *pid, const char *link)
{
	char path[300], text[64];
	TEXT_FORMAT(path, "%s/fd", pid);
	int fd = openat(proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = file_folder(fd);
	bool found = false;
	if (!d)
		return false;
	for (struct dirent *e; !found && (e = readdir(d));) {
		ssize_t n = readlinkat(dirfd(d), e->d_name, text, sizeof(text) - 1);
		text[n > 0 ? n : 0] = '\0';
		found = strcmp(text, link) == 0;
	}
	closedir(d);
	return found;
}

/* "python3 (pid 812)"; "another program" where it cannot be seen. */
static void who_has(int proc_fd, unsigned port, char *dst, size_t cap)
{
	char link[48], path[300], name[32] = "";
	size_t len = 0;
	text_copy(dst, cap, "another program");
	uint64_t inode = listener_inode(proc_fd, "net/tcp", port);
	inode = inode ? inode : listener_inode(proc_fd, "net/tcp6", port);
	int fd = inode ? openat(proc_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	DIR *d = file_folder(fd);
	if (!d)
		return;
	TEXT_FORMAT(link, "socket:[%llu]", (unsigned long long)inode);
	for (struct dirent *e; (e = readdir(d));) {
		if (e->d_name[0] < '1' || e->d_name[0] > '9' || !process_has(proc_fd, e->d_name, link))
			continue;
		TEXT_FORMAT(path, "%s/comm", e->d_name);
		if (file_read_at(proc_fd, path, name, sizeof(name), &len) < 0)
			break;
		name[strcspn(name, "\n")] = '\0';
		(void)text_format(dst, cap, "%s (pid %s)", name, e->d_name);
		break;
	}
	closedir(d);
}

/* ---- TCP ---- */

int weblisten_parse(const char *where, char *host, size_t cap, unsigned *ret_port, struct fault *f)
{
	const char *colon = strrchr(where, ':');
	uint64_t port = 0;
	if (!colon || colon == where || (size_t)(colon - where) >= cap || span_u64(span_of(colon + 1), &port) < 0 ||
	    port > 65535)
		return fault_set(f, -EINVAL,
				 "--listen %s: ADDR:PORT, [ADDR]:PORT or unix:PATH is expected, as in 127.0.0.1:9877",
				 where);
	size_t len = (size_t)(colon - where);
	bool bracket = where[0] == '[' && where[len - 1] == ']';
	memcpy(host, where + bracket, len - 2 * bracket);
	host[len - 2 * bracket] = '\0';
	*ret_port = (unsigned)port;
	return 0;
}

static bool address_make(const char *host, unsigned port, struct sockaddr_storage *ret, socklen_t *ret_len,
			 bool *ret_loopback)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)ret;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)ret;
	memset(ret, 0, sizeof(*ret));
	if (inet_pton(AF_INET, strcmp(host, "localhost") == 0 ? "127.0.0.1" : host, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons((uint16_t)port);
		*ret_len = sizeof(*v4);
		*ret_loopback = (ntohl(v4->sin_addr.s_addr) >> 24) == 127;
		return true;
	}
	if (inet_pton(AF_INET6, host, &v6->sin6_addr) != 1)
		return false;
	v6->sin6_family = AF_INET6;
	v6->sin6_port = htons((uint16_t)port);
	*ret_len = sizeof(*v6);
	*ret_loopback = IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
	return true;
}

/* The descriptor, or a negative errno. */
static int tcp_listen(const struct sockaddr_storage *a, socklen_t len)
{
	const int one = 1;
	cleanup(closep) int fd = socket(a->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (const struct sockaddr *)a, len) < 0 || listen(fd, 128) < 0)
		return -errno;
	return take_fd(&fd);
}

static unsigned port_of(int fd)
{
	struct sockaddr_storage a;
	socklen_t len = sizeof(a);
	if (getsockname(fd, (struct sockaddr *)&a, &len) < 0)
		return 0;
	return ntohs(a.ss_family == AF_INET ? ((struct sockaddr_in *)&a)->sin_port
					    : ((struct sockaddr_in6 *)&a)->sin6_port);
}

static int tcp_open(const char *host, unsigned port, unsigned tries, int proc_fd, struct weblisten *l, struct fault *f)
{
	struct sockaddr_storage a;
	socklen_t len;
	char who[80];
	int fd = -EADDRINUSE;
	for (unsigned i = 0; fd == -EADDRINUSE && i < tries; i++) {
		if (!address_make(host, port + i, &a, &len, &l->is_loopback))
			return fault_set(
				f, -EINVAL,
				"--listen %s: a numeric address of this machine is expected, as in 127.0.0.1:9877",
				host);
		fd = tcp_listen(&a, len);
	}
	if (fd == -EADDRINUSE)
		who_has(proc_fd, port, who, sizeof(who));
	if (fd == -EADDRINUSE)
		return fault_set(f, fd, "port %u is taken by %s; choose another with --port", port, who);
	if (fd < 0)
		return fault_set(f, fd, "cannot listen on %s, port %u: %s", host, port, strerror(-fd));
	l->fd = fd;
	l->port = port_of(fd);
	TEXT_FORMAT(l->host, a.ss_family == AF_INET6 ? "[%s]" : "%s", host);
	if (port > 0 && l->port != port) {
		who_has(proc_fd, port, who, sizeof(who));
		TEXT_FORMAT(l->note, "port %u is taken by %s, so it is %u", port, who, l->port);
	}
	return 0;
}

/* ---- unix ---- */

/* A socket that nobody listens on any more is removed; anything else stays. */
static int unix_clear(const struct sockaddr_un *a, struct fault *f)
{
	struct stat st;
	if (lstat(a->sun_path, &st) < 0)
		return 0;
	cleanup(closep) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (!S_ISSOCK(st.st_mode) || st.st_uid != geteuid() ||
	    connect(fd, (const struct sockaddr *)a, sizeof(*a)) == 0 || errno != ECONNREFUSED)
		return fault_set(f, -EADDRINUSE,
				 "%s is there already and is %s; choose another path, or end what listens on it",
				 a->sun_path, S_ISSOCK(st.st_mode) ? "in use" : "no socket");
	(void)unlink(a->sun_path);
	return 0;
}

/* False: we are root, and a user could put another socket there, or have the end of ours remove something else. */
static bool unix_place_is_ours(const char *path)
{
	char folder[PATH_MAX];
	TEXT_COPY(folder, path);
	return foreign_path_is_ours(!path_cut(folder) ? "." : folder[0] ? folder : "/");
}

static int unix_open(const char *path, struct weblisten *l, struct fault *f)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	if (strlen(path) == 0 || strlen(path) >= sizeof(a.sun_path))
		return fault_set(f, -EINVAL, "--listen unix:PATH: the path must have 1 to %zu bytes",
				 sizeof(a.sun_path) - 1);
	if (!unix_place_is_ours(path))
		return fault_set(f, -EACCES,
				 "--listen unix:%s: another user can change what lies there, and this is root's page; "
				 "name a folder of root's, as /run is",
				 path);
	TEXT_COPY(a.sun_path, path);
	int r = unix_clear(&a, f);
	if (r < 0)
		return r;
	cleanup(closep) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	mode_t before = umask(0177);
	bool bound = fd >= 0 && bind(fd, (const struct sockaddr *)&a, sizeof(a)) == 0 && listen(fd, 128) == 0;
	r = bound ? 0 : -errno;
	(void)umask(before);
	if (!bound)
		return fault_set(f, r, "cannot listen on %s: %s", path, strerror(-r));
	l->fd = take_fd(&fd);
	l->is_unix = l->is_loopback = true;
	TEXT_COPY(l->path, path);
	return 0;
}

int weblisten_open(const char *where, unsigned port, int proc_fd, struct weblisten *ret, struct fault *f)
{
	struct weblisten l = {.fd = -1};
	char host[128] = "127.0.0.1";
	int r = 0;
	if (where && span_starts(span_of(where), "unix:"))
		r = unix_open(where + strlen("unix:"), &l, f);
	else if (where && (r = weblisten_parse(where, host, sizeof(host), &port, f)) == 0)
		r = tcp_open(host, port, 1, proc_fd, &l, f);
	else if (r == 0)
		r = tcp_open(host, port ? port : WEB_PORT, port ? 1 : WEBLISTEN_TRIES, proc_fd, &l, f);
	if (r == 0)
		*ret = l;
	return r;
}

void weblisten_done(struct weblisten *l)
{
	closep(&l->fd);
	if (l->path[0])
		(void)unlink(l->path);
	l->path[0] = '\0';
}
