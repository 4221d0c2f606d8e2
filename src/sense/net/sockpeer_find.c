/* Searches in a table of sockets, and the text tables of the kernel. */
#include "sense/net/sockpeer.h"

#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>

#include "base/bisect.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/vec.h"
#include "sense/net/sockpeer_parts.h"
#include "sense/net/socktable.h"

/* At 150 bytes a line, 100,000 sockets. */
#define TEXT_MAX (16 * MIB)
/* __SO_ACCEPTCON in the column Flags of /proc/net/unix: a listening socket. */
#define UNIX_ACCEPTS 0x10000

/* ---- text tables ---- */

static int sockpeer_tcp_line(struct span line, uint64_t netns, struct sockpeer_table *t)
{
	struct sock_line l;
	if (sock_line_parse(line, &l) < 0)
		return 0;
	struct sockpeer s = {
		.inode = l.inode,
		.netns = netns,
		.v6 = l.v6,
		.state = (uint8_t)l.state,
		.local_port = l.local_port,
		.remote_port = l.remote_port,
	};
	memcpy(s.local, l.local, sizeof(s.local));
	memcpy(s.remote, l.remote, sizeof(s.remote));
	sockpeer_unmap(&s);
	return sockpeer_add(t, &s);
}

static bool hex_word(struct span word, uint64_t *ret)
{
	uint64_t v = 0;
	for (size_t i = 0; i < word.len; i++) {
		const char c = word.p[i];
		const int d = c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : c - 'a' + 10;
		if (d < 0 || d > 15 || i >= 8)
			return false;
		v = v << 4 | (uint64_t)d;
	}
	*ret = v;
	return word.len > 0;
}

/* As the kernel prints it: "@" stands for the NUL at the beginning of an abstract name. */
static uint64_t printed_name_hash(struct span path)
{
	char name[108]; /* as in struct sockaddr_un */
	if (path.len == 0 || path.len > sizeof(name))
		return 0;
	memcpy(name, path.p, path.len);
	name[0] = name[0] == '@' ? '\0' : name[0];
	return sockpeer_name_hash((struct span){name, path.len});
}

static int sockpeer_unix_line(struct span line, uint64_t netns, struct sockpeer_table *t)
{
	struct span word, rest = line, path;
	uint64_t inode, flags, type;
	if (sock_unix_parse(line, &inode, &path) < 0 || inode == 0)
		return 0;
	for (size_t i = 0; i < 4; i++)
		if (!span_word(&rest, &word))
			return 0;
	if (!hex_word(word, &flags) || !span_word(&rest, &word) || !hex_word(word, &type))
		return 0;
	const struct sockpeer s = {
		.inode = inode,
		.netns = netns,
		.is_unix = true,
		.datagram = type == SOCK_DGRAM,
		.named = path.len > 0,
		.name_hash = printed_name_hash(path),
		.state = flags & UNIX_ACCEPTS ? SOCKPEER_LISTEN : SOCKPEER_ESTABLISHED,
	};
	return sockpeer_add(t, &s);
}

int sockpeer_text_parse(struct span text, bool is_unix, uint64_t netns, struct sockpeer_table *t)
{
	struct span line;
	while (span_line(&text, &line)) {
		int r = is_unix ? sockpeer_unix_line(line, netns, t) : sockpeer_tcp_line(line, netns, t);
		if (r)
			return r;
	}
	return 0;
}

static int sockpeer_text(const struct world *w, pid_t pid, const char *file, uint64_t netns, struct sockpeer_table *t)
{
	char path[48];
	size_t len;
	cleanup(freep) char *text = NULL;
	TEXT_FORMAT(path, "%d/net/%s", (int)pid, file);
	int r = file_slurp(w->proc_fd, path, TEXT_MAX, &text, &len);
	if (r == -EFBIG)
		t->cut = true;
	if (r)
		return world_condition(r);
	return sockpeer_text_parse((struct span){text, len}, strcmp(file, "unix") == 0, netns, t);
}

int sockpeer_tcp_text(const struct world *w, pid_t pid, uint64_t netns, struct sockpeer_table *t)
{
	int r = sockpeer_text(w, pid, "tcp", netns, t);
	int r6 = sockpeer_text(w, pid, "tcp6", netns, t);
	return r6 == -ENOMEM ? r6 : r;
}

int sockpeer_unix_text(const struct world *w, pid_t pid, uint64_t netns, struct sockpeer_table *t)
{
	return sockpeer_text(w, pid, "unix", netns, t);
}

/* ---- order ---- */

static int sockpeer_by_inode(const void *a, const void *b)
{
	const struct sockpeer *x = a, *y = b;
	return (x->inode > y->inode) - (x->inode < y->inode);
}

/* Compares (a's local, a's remote) with (b's local, b's remote). */
static int address_compare(const struct sockpeer *a, const struct sockpeer *b)
{
	int r = memcmp(a->local, b->local, sizeof(a->local));
	if (r == 0)
		r = memcmp(a->remote, b->remote, sizeof(a->remote));
	if (r == 0)
		r = (a->local_port > b->local_port) - (a->local_port < b->local_port);
	if (r == 0)
		r = (a->remote_port > b->remote_port) - (a->remote_port < b->remote_port);
	return r ? r : (a->v6 > b->v6) - (a->v6 < b->v6);
}

static int sockpeer_by_address(const void *a, const void *b, void *items)
{
	const struct sockpeer *item = items;
	return address_compare(&item[*(const uint32_t *)a], &item[*(const uint32_t *)b]);
}

static int pending_by_client(const void *a, const void *b)
{
	const struct sockpeer_pending *x = a, *y = b;
	return (x->client_inode > y->client_inode) - (x->client_inode < y->client_inode);
}

int sockpeer_table_sort(struct sockpeer_table *t)
{
	if (t->n)
		qsort(t->item, t->n, sizeof(*t->item), sockpeer_by_inode);
	if (t->n_pending)
		qsort(t->pending, t->n_pending, sizeof(*t->pending), pending_by_client);
	free(t->by_address);
	t->n_by_address = 0;
	t->by_address = malloc(MAX(t->n, (size_t)1) * sizeof(*t->by_address));
	if (!t->by_address)
		return -ENOMEM;
	for (size_t i = 0; i < t->n; i++)
		if (!t->item[i].is_unix)
			t->by_address[t->n_by_address++] = (uint32_t)i;
	qsort_r(t->by_address, t->n_by_address, sizeof(*t->by_address), sockpeer_by_address, t->item);
	return 0;
}

/* ---- searches ---- */

const struct sockpeer *sockpeer_find(const struct sockpeer_table *t, uint64_t inode)
{
	const struct sockpeer key = {.inode = inode};
	if (inode == 0 || t->n == 0)
		return NULL;
	return bsearch(&key, t->item, t->n, sizeof(key), sockpeer_by_inode);
}

static bool is_loopback(const struct sockpeer *s)
{
	static const uint8_t one6[16] = {[15] = 1};
	if (s->v6)
		return memcmp(s->local, one6, 16) == 0 || memcmp(s->remote, one6, 16) == 0;
	return s->local[0] == 127 || s->remote[0] == 127;
}

/* The first in the order of addresses that is not before key. */
static size_t first_not_before(const struct sockpeer_table *t, const struct sockpeer *key)
{
	return bisect(t->n_by_address, mid, address_compare(&t->item[t->by_address[mid]], key) < 0);
}

static const struct sockpeer *tcp_other_end(const struct sockpeer_table *t, const struct sockpeer *s)
{
	struct sockpeer key = {.v6 = s->v6, .local_port = s->remote_port, .remote_port = s->local_port};
	const struct sockpeer *elsewhere = NULL;
	size_t n_elsewhere = 0;
	memcpy(key.local, s->remote, sizeof(key.local));
	memcpy(key.remote, s->local, sizeof(key.remote));
	for (size_t i = first_not_before(t, &key);
	     i < t->n_by_address && address_compare(&t->item[t->by_address[i]], &key) == 0; i++) {
		const struct sockpeer *c = &t->item[t->by_address[i]];
		if (c->state == SOCKPEER_LISTEN || c == s)
			continue;
		if (c->netns == s->netns)
			return c;
		elsewhere = c;
		n_elsewhere++;
	}
	return n_elsewhere == 1 && !is_loopback(s) ? elsewhere : NULL;
}

const struct sockpeer *sockpeer_other_end(const struct sockpeer_table *t, const struct sockpeer *s)
{
	if (s->state == SOCKPEER_LISTEN)
		return NULL;
	if (!s->is_unix)
		return tcp_other_end(t, s);
	return sockpeer_find(t, s->peer_inode);
}

uint64_t sockpeer_name_hash(struct span name)
{
	const size_t len = name.len && name.p[0] ? strnlen(name.p, name.len) : name.len;
	const uint64_t hash = hash_bytes(HASH_START, name.p, len);
	return hash ? hash : 1;
}

const struct sockpeer *sockpeer_full_receiver(const struct sockpeer_table *t, uint64_t netns, uint64_t name_hash)
{
	const struct sockpeer *found = NULL;
	for (size_t i = 0; i < t->n; i++) {
		const struct sockpeer *s = &t->item[i];
		if (!s->is_unix || !s->datagram || s->netns != netns || s->name_hash != name_hash ||
		    (s->queue_known && s->receive_queue_bytes == 0))
			continue;
		if (found)
			return NULL;
		found = s;
	}
	return found;
}

static const struct sockpeer *unix_listener(const struct sockpeer_table *t, const struct sockpeer *s)
{
	const struct sockpeer_pending key = {.client_inode = s->inode};
	const struct sockpeer_pending *p =
		t->n_pending ? bsearch(&key, t->pending, t->n_pending, sizeof(key), pending_by_client) : NULL;
	return p ? sockpeer_find(t, p->listener_inode) : NULL;
}

const struct sockpeer *sockpeer_listener(const struct sockpeer_table *t, const struct sockpeer *s)
{
	static const uint8_t any[16];
	if (s->is_unix)
		return unix_listener(t, s);
	const struct sockpeer *peer = tcp_other_end(t, s);
	for (size_t i = 0; peer && peer->inode == 0 && i < t->n_by_address; i++) {
		const struct sockpeer *c = &t->item[t->by_address[i]];
		if (c->state == SOCKPEER_LISTEN && c->netns == peer->netns && c->local_port == peer->local_port &&
		    (memcmp(c->local, peer->local, 16) == 0 || memcmp(c->local, any, 16) == 0))
			return c;
	}
	return NULL;
}

/* A listening socket of a namespace with this address. */
static bool listens_at(const struct sockpeer_table *t, const struct sockpeer *s, bool v6, const uint8_t address[16])
{
	struct sockpeer key = {.v6 = v6, .local_port = s->local_port};
	memcpy(key.local, address, sizeof(key.local));
	for (size_t i = first_not_before(t, &key);
	     i < t->n_by_address && address_compare(&t->item[t->by_address[i]], &key) == 0; i++) {
		const struct sockpeer *c = &t->item[t->by_address[i]];
		if (c->state == SOCKPEER_LISTEN && c->netns == s->netns)
			return true;
	}
	return false;
}

bool sockpeer_is_accepted(const struct sockpeer_table *t, const struct sockpeer *s)
{
	static const uint8_t any[16];
	if (s->is_unix || s->state == SOCKPEER_LISTEN)
		return false;
	/* A socket for IPv6 takes connections of IPv4 as well, which are shown as such. */
	return listens_at(t, s, s->v6, s->local) || listens_at(t, s, s->v6, any) || listens_at(t, s, true, any);
}

/* ---- text ---- */

static void address_add(struct buf *b, bool v6, const uint8_t address[16], uint16_t port)
{
	char text[INET6_ADDRSTRLEN] = "?";
	ignore(inet_ntop(v6 ? AF_INET6 : AF_INET, address, text, sizeof(text)) != NULL, "a question mark then");
	buf_printf(b, v6 ? "[%s]:%u" : "%s:%u", text, port);
}

void sockpeer_format(const struct sockpeer *s, char *dst, size_t cap)
{
	struct buf b = {.text = dst, .cap = cap};
	buf_reset(&b);
	if (s->is_unix) {
		buf_printf(&b, "unix %llu", (unsigned long long)s->inode);
		if (s->state == SOCKPEER_LISTEN)
			buf_add(&b, " (listening)");
		else if (s->peer_inode)
			buf_printf(&b, " -> %llu", (unsigned long long)s->peer_inode);
		return;
	}
	buf_add(&b, "tcp ");
	address_add(&b, s->v6, s->local, s->local_port);
	if (s->state == SOCKPEER_LISTEN) {
		buf_add(&b, " (listening)");
		return;
	}
	buf_add(&b, " -> ");
	address_add(&b, s->v6, s->remote, s->remote_port);
}
