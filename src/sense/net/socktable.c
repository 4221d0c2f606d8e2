#include "sense/net/socktable.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/vec.h"

/* At 150 bytes a line, 28,000 sockets. Searching more would take too long for one line of text. */
#define TABLE_MAX_BYTES (4 * MIB)

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

static int hex_u32(struct span s, uint32_t *ret)
{
	uint32_t v = 0;
	if (s.len == 0 || s.len > 8)
		return -EBADMSG;
	for (size_t i = 0; i < s.len; i++) {
		int d = hex_digit(s.p[i]);
		if (d < 0)
			return -EBADMSG;
		v = v << 4 | (uint32_t)d;
	}
	*ret = v;
	return 0;
}

/* Parses "0100007F:1F90": 32-bit words printed as numbers of this machine, whose memory is the address. */
static int address_parse(struct span s, uint8_t bytes[16], uint16_t *port, bool *v6)
{
	const struct span host = span_before(s, ":");
	const struct span after = span_after(s, ":");
	uint32_t word;
	if (!after.p || (host.len != 8 && host.len != 32) || hex_u32(after, &word) < 0 || word > UINT16_MAX)
		return -EBADMSG;
	*port = (uint16_t)word;
	*v6 = host.len == 32;
	for (size_t i = 0; i < host.len / 8; i++) {
		if (hex_u32((struct span){host.p + 8 * i, 8}, &word) < 0)
			return -EBADMSG;
		memcpy(bytes + 4 * i, &word, 4);
	}
	return 0;
}

int sock_line_parse(struct span line, struct sock_line *ret)
{
	struct sock_line l = {};
	struct span word[10];
	bool remote_v6;
	for (size_t i = 0; i < ARRAY_SIZE(word); i++)
		if (!span_word(&line, &word[i]))
			return -EBADMSG;
	if (address_parse(word[1], l.local, &l.local_port, &l.v6) < 0 ||
	    address_parse(word[2], l.remote, &l.remote_port, &remote_v6) < 0 || remote_v6 != l.v6)
		return -EBADMSG;
	uint64_t uid;
	if (hex_u32(word[3], &l.state) < 0 || span_u64(word[9], &l.inode) < 0 || span_u64(word[7], &uid) < 0 ||
	    uid > UINT32_MAX)
		return -EBADMSG;
	l.uid = (uint32_t)uid;
	*ret = l;
	return 0;
}

int sock_unix_parse(struct span line, uint64_t *ret_inode, struct span *ret_path)
{
	struct span word[7];
	uint64_t inode;
	for (size_t i = 0; i < ARRAY_SIZE(word); i++)
		if (!span_word(&line, &word[i]))
			return -EBADMSG;
	if (word[0].len == 0 || word[0].p[word[0].len - 1] != ':' || span_u64(word[6], &inode) < 0)
		return -EBADMSG;
	*ret_inode = inode;
	*ret_path = span_trim(line);
	return 0;
}

static const char *tcp_state(uint32_t state)
{
	switch (state) {
	case TCP_ESTABLISHED:
		return "established";
	case TCP_SYN_SENT:
		return "connecting";
	case TCP_SYN_RECV:
		return "accepting";
	case TCP_CLOSE_WAIT:
		return "closed by the peer";
	case TCP_FIN_WAIT1:
	case TCP_FIN_WAIT2:
	case TCP_CLOSING:
	case TCP_LAST_ACK:
	case TCP_TIME_WAIT:
		return "closing";
	case TCP_LISTEN:
		return "listening";
	case TCP_CLOSE:
		return "not connected";
	default:
		return "unknown state";
	}
}

static void address_add(struct buf *b, bool v6, const uint8_t *bytes, uint16_t port)
{
	static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
	char text[INET6_ADDRSTRLEN] = "?";
	if (v6 && memcmp(bytes, mapped, sizeof(mapped)) == 0) {
		v6 = false; /* an IPv4 peer of a dual-stack socket */
		bytes += sizeof(mapped);
	}
	inet_ntop(v6 ? AF_INET6 : AF_INET, bytes, text, sizeof(text));
	buf_printf(b, v6 ? "[%s]:%u" : "%s:%u", text, port);
}

void sock_line_format(const struct sock_line *l, const char *protocol, char *dst, size_t cap)
{
	struct buf b = {.text = dst, .cap = cap};
	buf_reset(&b);
	buf_printf(&b, "%s ", protocol);
	address_add(&b, l->v6, l->local, l->local_port);
	if (l->remote_port) {
		buf_add(&b, " -> ");
		address_add(&b, l->v6, l->remote, l->remote_port);
	}
	if (strcmp(protocol, "tcp") == 0)
		buf_printf(&b, " (%s)", tcp_state(l->state));
}

/* True for a listening socket: a bit in the fourth word of a line of unix (SO_ACCEPTCON of the kernel). */
static bool unix_listens(struct span line)
{
	const uint32_t accepts = 1u << 16;
	struct span word = {NULL, 0};
	uint32_t flags;
	for (int i = 0; i < 4; i++)
		if (!span_word(&line, &word))
			return false;
	return hex_u32(word, &flags) == 0 && flags & accepts;
}

/* True if the line has that inode; dst is then filled. */
static bool line_take(const char *protocol, struct span line, uint64_t inode, bool *ret_listens, char *dst, size_t cap)
{
	struct sock_line l;
	struct span path;
	uint64_t found;
	if (strcmp(protocol, "unix") == 0) {
		if (sock_unix_parse(line, &found, &path) < 0 || found != inode)
			return false;
		char name[128] = "";
		if (path.p)
			span_copy(path, name, sizeof(name));
		(void)text_format(dst, cap, "unix%s%s", name[0] ? " " : "", name);
		*ret_listens = unix_listens(line);
		return true;
	}
	if (sock_line_parse(line, &l) < 0 || l.inode != inode)
		return false;
	sock_line_format(&l, protocol, dst, cap);
	*ret_listens = strcmp(protocol, "tcp") == 0 && l.state == TCP_LISTEN;
	return true;
}

/* ---- the tables, kept for a moment ---- */

/*
 * The kernel walks all its hash buckets for each table, which costs up to a millisecond, and a snapshot of a job asks
 * for hundreds of sockets of one namespace. So a table is kept for as long as a snapshot takes. A socket that is not in
 * a kept one is looked for in a new one.
 */
#define KEPT_NS (100 * NS_PER_MS)
#define KEPT_BYTES ((size_t)MIB)

struct kept_table {
	uint64_t netns; /* inode of the namespace; 0: nothing is kept */
	uint64_t read_ns;
	char *text; /* owned; never freed: one for each table */
	size_t len, cap;
};

static uint64_t netns_inode(const struct world *w, pid_t pid)
{
	char path[48];
	struct stat st;
	TEXT_FORMAT(path, "%d/ns/net", (int)pid);
	return fstatat(w->proc_fd, path, &st, 0) == 0 ? (uint64_t)st.st_ino : 0;
}

static bool text_search(struct span rest, const char *protocol, uint64_t inode, bool *ret_listens, char *dst,
			size_t cap)
{
	struct span line;
	while (span_line(&rest, &line))
		if (line_take(protocol, line, inode, ret_listens, dst, cap))
			return true;
	return false;
}

/* Reads more of a file behind what is there. 0: its end, -E2BIG: it is longer than what is read of a table. */
static int table_more(int fd, struct kept_table *t)
{
	if (t->len >= TABLE_MAX_BYTES)
		return -E2BIG;
	if (vec_room(&t->text, &t->cap, t->len + 8192) < 0)
		return -ENOMEM;
	for (;;) {
		ssize_t n = read(fd, t->text + t->len, t->cap - t->len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		t->len += (size_t)n;
		return n > 0;
	}
}

/* A table that is too long to be kept is given back. */
static void table_keep(const struct world *w, struct kept_table *t, uint64_t netns)
{
	t->netns = t->len <= KEPT_BYTES ? netns : 0;
	t->read_ns = w->mono_ns();
	if (t->netns)
		return;
	free(t->text);
	*t = (struct kept_table){.netns = 0};
}

static int table_search(const struct world *w, int fd, uint64_t netns, struct kept_table *t, const char *protocol,
			uint64_t inode, bool *ret_listens, char *dst, size_t cap)
{
	int more;
	t->netns = 0;
	t->len = 0;
	do
		more = table_more(fd, t);
	while (more > 0);
	if (more < 0 && more != -E2BIG)
		return more;
	bool found = text_search((struct span){t->text, t->len}, protocol, inode, ret_listens, dst, cap);
	table_keep(w, t, netns);
	return found ? 0 : SOCK_NONE;
}

static const struct {
	const char *file, *protocol;
} tables[] = {{"tcp", "tcp"}, {"tcp6", "tcp"}, {"unix", "unix"}, {"udp", "udp"}, {"udp6", "udp"}};

static int tables_search(const struct world *w, pid_t pid, uint64_t inode, struct kept_table *kept, bool *ret_listens,
			 char *dst, size_t cap)
{
	int result = SOCK_NONE;
	uint64_t netns = netns_inode(w, pid), now_ns = w->mono_ns();
	for (size_t i = 0; netns && i < ARRAY_SIZE(tables); i++)
		if (kept[i].netns == netns && now_ns - kept[i].read_ns < KEPT_NS &&
		    text_search((struct span){kept[i].text, kept[i].len}, tables[i].protocol, inode, ret_listens, dst,
				cap))
			return 0;
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		char path[48];
		TEXT_FORMAT(path, "%d/net/%s", pid, tables[i].file);
		cleanup(closep) int fd = openat(w->proc_fd, path, O_RDONLY | O_CLOEXEC);
		if (fd < 0) {
			int e = world_condition(-errno);
			if (e == WORLD_DENIED)
				result = e;
			continue; /* the kernel lacks this family */
		}
		int r = table_search(w, fd, netns, &kept[i], tables[i].protocol, inode, ret_listens, dst, cap);
		if (r == 0)
			return 0;
		if (r < 0)
			return world_condition(r);
	}
	return result;
}

int socktable_find(const struct world *w, pid_t pid, uint64_t inode, bool *ret_listens, char *dst, size_t cap)
{
	static struct kept_table kept[ARRAY_SIZE(tables)];
	static atomic_flag taken = ATOMIC_FLAG_INIT;
	struct kept_table own[ARRAY_SIZE(tables)] = {0};
	if (w->proc_fd < 0)
		return WORLD_ABSENT;
	bool alone = !atomic_flag_test_and_set(&taken); /* else another thread asks: without the kept tables */
	int r = tables_search(w, pid, inode, alone ? kept : own, ret_listens, dst, cap);
	if (alone)
		atomic_flag_clear(&taken);
	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		free(own[i].text);
	return r;
}

/* ---- who listens ---- */

static const uint8_t zeros[16], mapped_prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

struct wanted {
	uint8_t v4[4], v6[16];
	bool has_v4, has_v6;
	uint16_t port;
};

static bool wanted_of(const struct sockaddr *to, struct wanted *ret)
{
	struct wanted want = {.port = 0};
	if (to->sa_family == AF_INET) {
		struct sockaddr_in in;
		memcpy(&in, to, sizeof(in));
		memcpy(want.v4, &in.sin_addr, sizeof(want.v4));
		want.port = ntohs(in.sin_port);
		want.has_v4 = true;
	} else if (to->sa_family == AF_INET6) {
		struct sockaddr_in6 in;
		memcpy(&in, to, sizeof(in));
		memcpy(want.v6, &in.sin6_addr, sizeof(want.v6));
		memcpy(want.v4, want.v6 + sizeof(mapped_prefix), sizeof(want.v4));
		want.port = ntohs(in.sin6_port);
		want.has_v6 = true;
		want.has_v4 = memcmp(want.v6, mapped_prefix, sizeof(mapped_prefix)) == 0;
	}
	*ret = want;
	return want.has_v4 || want.has_v6;
}

/* True if a connection to the address may end at this socket. One of IPv6 without an address may serve IPv4 as well. */
static bool would_answer(const struct sock_line *l, const struct wanted *want)
{
	if (l->state != TCP_LISTEN || l->local_port != want->port)
		return false;
	if (!l->v6)
		return want->has_v4 && (memcmp(l->local, zeros, 4) == 0 || memcmp(l->local, want->v4, 4) == 0 ||
					memcmp(want->v4, zeros, 4) == 0);
	if (memcmp(l->local, zeros, 16) == 0)
		return true;
	if (want->has_v6)
		return memcmp(l->local, want->v6, 16) == 0 || memcmp(want->v6, zeros, 16) == 0;
	return memcmp(l->local, mapped_prefix, sizeof(mapped_prefix)) == 0 &&
	       memcmp(l->local + sizeof(mapped_prefix), want->v4, 4) == 0;
}

int socktable_listener(const struct world *w, pid_t pid, const struct sockaddr *to, uid_t uid)
{
	static const char *const files[] = {"tcp", "tcp6"};
	struct wanted want;
	size_t n = 0, others = 0, read = 0;
	int condition = WORLD_ABSENT;
	if (!wanted_of(to, &want))
		return SOCK_NONE;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		char path[48];
		cleanup(freep) char *text = NULL;
		size_t len = 0;
		struct span line;
		struct sock_line l;
		TEXT_FORMAT(path, "%d/net/%s", (int)pid, files[i]);
		int r = file_slurp(w->proc_fd, path, TABLE_MAX_BYTES, &text, &len);
		if (r < 0) {
			condition = world_condition(r);
			continue;
		}
		read++;
		for (struct span rest = {text, len}; span_line(&rest, &line);)
			if (sock_line_parse(line, &l) == 0 && would_answer(&l, &want)) {
				n++;
				others += l.uid != uid;
			}
	}
	if (read == 0)
		return condition;
	return n == 0 ? SOCK_NONE : others ? SOCK_OTHERS : 0;
}
