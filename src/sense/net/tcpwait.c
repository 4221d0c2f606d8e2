#include "sense/net/tcpwait.h"

#include <dirent.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "sense/net/fdtarget.h"

/* Limit of the table: about 28,000 sockets. */
#define TABLE_MAX_BYTES (4 * MIB)
#define FDS_MAX 8192

/* Two lines for each protocol: names, then values. */
static int tcp_column(struct span names, struct span values, const char *wanted, uint64_t *ret)
{
	struct span name, value;
	while (span_word(&names, &name) && span_word(&values, &value))
		if (span_eq(name, wanted))
			return span_u64(value, ret);
	return -EBADMSG;
}

int tcpwait_snmp_parse(struct span text, struct tcpwait_counts *ret)
{
	struct span line, names = {NULL, 0};
	struct tcpwait_counts c;
	while (span_line(&text, &line)) {
		if (!span_starts(line, "Tcp:"))
			continue;
		if (!names.p) {
			names = line;
			continue;
		}
		if (tcp_column(names, line, "OutSegs", &c.sent) < 0 ||
		    tcp_column(names, line, "RetransSegs", &c.again) < 0)
			return -EBADMSG;
		*ret = c;
		return 0;
	}
	return -EBADMSG;
}

int tcpwait_snmp_read(const struct world *w, pid_t pid, struct tcpwait_counts *ret)
{
	char path[48], text[8192];
	size_t len;
	if (w->proc_fd < 0)
		return WORLD_ABSENT;
	TEXT_FORMAT(path, "%d/net/snmp", (int)pid);
	int r = file_read_at(w->proc_fd, path, text, sizeof(text), &len);
	return r < 0 ? world_condition(r) : tcpwait_snmp_parse((struct span){text, len}, ret);
}

static int hex_u32(struct span s, uint32_t *ret)
{
	uint32_t v = 0;
	if (s.len == 0 || s.len > 8)
		return -EBADMSG;
	for (size_t i = 0; i < s.len; i++) {
		char c = s.p[i];
		uint32_t d = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
			     : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A' + 10)
			     : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
						    : 16;
		if (d == 16)
			return -EBADMSG;
		v = v << 4 | d;
	}
	*ret = v;
	return 0;
}

int tcpwait_parse(struct span line, struct tcpwait *ret)
{
	struct tcpwait t;
	struct span rest = line, word = {NULL, 0};
	if (sock_line_parse(line, &t.socket) < 0)
		return -EBADMSG;
	for (int i = 0; i < 7; i++)
		if (!span_word(&rest, &word))
			return -EBADMSG;
	if (hex_u32(word, &t.tries) < 0)
		return -EBADMSG;
	bool connected = t.socket.state == TCP_ESTABLISHED || t.socket.state == TCP_SYN_SENT;
	if (!connected || t.tries < TCPWAIT_TRIES)
		return SOCK_NONE;
	*ret = t;
	return 0;
}

static int table_read(const struct world *w, pid_t pid, const char *table, struct tcpwait *ret, size_t cap, size_t *n)
{
	char path[48];
	cleanup(freep) char *text = NULL;
	size_t len;
	struct span rest, line;
	TEXT_FORMAT(path, "%d/net/%s", (int)pid, table);
	int r = file_slurp(w->proc_fd, path, TABLE_MAX_BYTES, &text, &len);
	if (r < 0)
		return r == -EFBIG ? 0 : world_condition(r);
	rest = (struct span){text, len};
	while (*n < cap && span_line(&rest, &line))
		if (tcpwait_parse(line, &ret[*n]) == 0)
			(*n)++;
	return 0;
}

/* Keeps the sockets of pid only; the table lists those of all processes of the namespace. */
static size_t own_only(const struct world *w, pid_t pid, struct tcpwait *list, size_t n)
{
	char path[48], link[128];
	bool own[64] = {false};
	size_t kept = 0, n_read = 0;
	TEXT_FORMAT(path, "%d/fd", (int)pid);
	int fd = openat(w->proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup(closedirp) DIR *d = file_folder(fd);
	if (!d)
		return 0;
	for (struct dirent *e = readdir(d); e && n_read < FDS_MAX; e = readdir(d), n_read++) {
		ssize_t len = readlinkat(dirfd(d), e->d_name, link, sizeof(link));
		if (len <= 0)
			continue;
		struct fd_link l = fd_link_parse((struct span){link, (size_t)len});
		for (size_t i = 0; l.kind == FD_SOCKET && i < MIN(n, ARRAY_SIZE(own)); i++)
			own[i] |= list[i].socket.inode == l.inode;
	}
	for (size_t i = 0; i < MIN(n, ARRAY_SIZE(own)); i++)
		if (own[i])
			list[kept++] = list[i];
	return kept;
}

int tcpwait_read(const struct world *w, pid_t pid, struct tcpwait *ret, size_t cap, size_t *ret_n)
{
	size_t n = 0;
	if (w->proc_fd < 0)
		return WORLD_ABSENT;
	*ret_n = 0;
	if (!fd_any_socket(w, pid))
		return 0;
	int r = table_read(w, pid, "tcp", ret, cap, &n);
	if (r == 0)
		r = table_read(w, pid, "tcp6", ret, cap, &n);
	if (r != 0 && n == 0)
		return r;
	*ret_n = n > 0 ? own_only(w, pid, ret, n) : 0;
	return 0;
}
