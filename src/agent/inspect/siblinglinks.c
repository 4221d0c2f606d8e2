#include "agent/inspect/siblinglinks.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/vec.h"
#include "sense/net/fdtarget.h"
#include "sense/net/sockpeer.h"
#include "sense/proc/maps.h"

#define FDS_MOST 4096
#define PARENT SIZE_MAX

/* Something that a process has: equal keys are the same thing. */
struct holding {
	uint64_t inode;
	uint32_t dev; /* of a file; 0: a pipe or socket */
	size_t who; /* index; PARENT */
};

struct holdings {
	struct holding *of; /* owned */
	size_t n, cap;
};

struct links {
	const struct world *w;
	const struct siblinglinks_one *p;
	size_t n;
	size_t set[SIBLINGLINKS_MOST]; /* the number of the set that each is in */
	struct holdings sockets, shared;
};

static bool hold(struct holdings *h, uint64_t inode, uint32_t dev, size_t who)
{
	if (vec_room(&h->of, &h->cap, h->n + 1) < 0)
		return false;
	h->of[h->n++] = (struct holding){inode, dev, who};
	return true;
}

/* Sockets, and pipes beyond the three streams, which a shell hands to all that it starts. */
static bool descriptors_hold(struct links *l, pid_t pid, size_t who)
{
	char path[32], text[64];
	size_t seen = 0;
	TEXT_FORMAT(path, "%d/fd", (int)pid);
	int fd = openat(l->w->proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup(closedirp) DIR *dir = file_folder(fd);
	if (!dir)
		return false;
	for (const struct dirent *e; (e = readdir(dir)) && seen++ < FDS_MOST;) {
		ssize_t n = e->d_name[0] == '.' ? 0 : readlinkat(dirfd(dir), e->d_name, text, sizeof(text));
		if (n <= 0)
			continue;
		struct fd_link link = fd_link_parse((struct span){text, (size_t)n});
		const bool stream = strlen(e->d_name) == 1 && e->d_name[0] <= '2';
		if (link.kind == FD_SOCKET && who != PARENT && !hold(&l->sockets, link.inode, 0, who))
			return false;
		if (link.kind == FD_PIPE && !stream && !hold(&l->shared, link.inode, 0, who))
			return false;
	}
	return true;
}

/* SQLite's index of its log is mapped by all who use a database: trials that write their results into one too. */
static bool is_of_database(const char *path)
{
	size_t n = strlen(path);
	return n > 4 && strcmp(path + n - 4, "-shm") == 0;
}

static bool mappings_hold(struct links *l, size_t who)
{
	static const uint8_t want = MAP_WRITE | MAP_IS_SHARED;
	cleanup(maps_done) struct maps m = {.n = 0};
	if (maps_read(l->w, l->p[who].pid, &m) != 0)
		return false;
	for (size_t i = 0; i < m.n; i++) {
		const struct map_row *r = &m.rows[i];
		const bool device = strncmp(r->path, "/dev/", 5) == 0 && strncmp(r->path, "/dev/shm/", 9) != 0;
		if ((r->flags & want) == want && r->inode && !device && !is_of_database(r->path) &&
		    !hold(&l->shared, r->inode, r->dev, who))
			return false;
	}
	return true;
}

static void join(struct links *l, size_t a, size_t b)
{
	const size_t from = l->set[b], to = l->set[a];
	for (size_t i = 0; i < l->n; i++)
		if (l->set[i] == from)
			l->set[i] = to;
}

static int holding_order(const void *a, const void *b)
{
	const struct holding *x = a, *y = b;
	if (x->inode != y->inode)
		return x->inode < y->inode ? -1 : 1;
	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	return x->who < y->who ? -1 : x->who > y->who; /* the parent last */
}

static void holdings_sort(struct holdings *h)
{
	if (h->n > 1)
		qsort(h->of, h->n, sizeof(*h->of), holding_order);
}

/* What several of them have, and their parent has not. */
static void shared_join(struct links *l)
{
	const struct holdings *h = &l->shared;
	for (size_t i = 0, end; i < h->n; i = end) {
		end = i + 1;
		while (end < h->n && h->of[end].inode == h->of[i].inode && h->of[end].dev == h->of[i].dev)
			end++;
		if (h->of[end - 1].who == PARENT)
			continue;
		for (size_t k = i + 1; k < end; k++)
			join(l, h->of[i].who, h->of[k].who);
	}
}

/* The only one that has this socket; SIZE_MAX: none, or several. */
static size_t socket_owner(const struct holdings *h, uint64_t inode)
{
	size_t who = SIZE_MAX;
	for (size_t i = 0; inode && i < h->n; i++) {
		if (h->of[i].inode != inode || h->of[i].who == who)
			continue;
		if (who != SIZE_MAX)
			return SIZE_MAX;
		who = h->of[i].who;
	}
	return who;
}

static void sockets_join(struct links *l)
{
	cleanup(sockpeer_table_done) struct sockpeer_table t = {.n = 0};
	if (l->sockets.n == 0 || sockpeer_read(l->w, l->p[0].pid, true, &t) != 0 || sockpeer_table_sort(&t) != 0)
		return;
	for (size_t i = 0; i < l->sockets.n; i++) {
		const struct holding *h = &l->sockets.of[i];
		const struct sockpeer *own = sockpeer_find(&t, h->inode);
		const struct sockpeer *other = own ? sockpeer_other_end(&t, own) : NULL;
		size_t who = other ? socket_owner(&l->sockets, other->inode) : SIZE_MAX;
		if (who != SIZE_MAX && socket_owner(&l->sockets, h->inode) == h->who)
			join(l, h->who, who);
	}
}

static bool all_read(struct links *l, pid_t parent)
{
	bool forked = false;
	for (size_t i = 0; i < l->n; i++) {
		l->set[i] = i;
		forked |= l->p[i].forked;
		if (!descriptors_hold(l, l->p[i].pid, i) || (!l->p[i].forked && !mappings_hold(l, i)))
			return false;
	}
	if (forked)
		l->shared.n = 0;
	return descriptors_hold(l, parent, PARENT);
}

bool siblinglinks_join(const struct world *w, pid_t parent, const struct siblinglinks_one *p, size_t n)
{
	struct links l = {.w = w, .p = p, .n = n};
	bool one = n >= 2 && n <= SIBLINGLINKS_MOST && all_read(&l, parent);
	if (one) {
		holdings_sort(&l.shared);
		shared_join(&l);
		sockets_join(&l);
	}
	for (size_t i = 1; one && i < n; i++)
		one = l.set[i] == l.set[0];
	free(l.sockets.of);
	free(l.shared.of);
	return one;
}
