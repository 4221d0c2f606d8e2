#include "sense/memory/shm.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/path.h"
#include "base/vec.h"
#include "sense/lockwait.h"

#define ITEMS_MAX 65536
#define OWNERS_MAX 1048576
#define DEPTH_MAX 16
#define FILES_BUDGET_NS (2 * NS_PER_S)

struct scan {
	const struct world *w;
	struct shm_ledger *l;
	size_t items_cap, owners_cap;
	uint32_t *table; /* hash table by (device, inode): item index + 1; 0: empty */
	size_t table_cap;
	bool no_map_files; /* reading links in map_files is not permitted */
	uint64_t deadline_ns;
	char *buffer; /* for maps and status */
	size_t buffer_cap;
	pid_t pid;
};

static bool late(const struct scan *s)
{
	return s->w->mono_ns() >= s->deadline_ns;
}

static size_t shm_slot(const struct scan *s, uint32_t major, uint32_t minor, uint64_t inode)
{
	const uint64_t h = hash_mix(inode * HASH_GOLDEN ^ ((uint64_t)major << 20 ^ minor));
	size_t i = (size_t)h & (s->table_cap - 1);
	while (s->table[i]) {
		const struct shm_item *it = &s->l->items[s->table[i] - 1];
		if (it->inode == inode && it->dev_major == major && it->dev_minor == minor)
			break;
		i = (i + 1) & (s->table_cap - 1);
	}
	return i;
}

static int shm_table_grow(struct scan *s)
{
	size_t cap = s->table_cap * 2;
	uint32_t *table = calloc(cap, sizeof(*table));
	if (!table)
		return -ENOMEM;
	free(s->table);
	s->table = table;
	s->table_cap = cap;
	for (size_t k = 0; k < s->l->n; k++) {
		const struct shm_item *it = &s->l->items[k];
		s->table[shm_slot(s, it->dev_major, it->dev_minor, it->inode)] = (uint32_t)k + 1;
	}
	return 0;
}

/* The item of an object, added if new; *ret is NULL when the ledger is full. */
static int item_at(struct scan *s, uint32_t major, uint32_t minor, uint64_t inode, enum shm_kind kind, struct span name,
		   struct shm_item **ret)
{
	if (s->l->n * 2 >= s->table_cap) {
		int r = shm_table_grow(s);
		if (r)
			return r;
	}
	size_t slot = shm_slot(s, major, minor, inode);
	if (s->table[slot]) {
		*ret = &s->l->items[s->table[slot] - 1];
		return 0;
	}
	*ret = NULL;
	if (s->l->n >= ITEMS_MAX) {
		s->l->n_dropped++;
		return 0;
	}
	int r = vec_room(&s->l->items, &s->items_cap, s->l->n + 1);
	if (r)
		return r;
	struct shm_item *it = &s->l->items[s->l->n++];
	*it = (struct shm_item){.kind = kind, .dev_major = major, .dev_minor = minor, .inode = inode};
	span_copy(name, it->name, sizeof(it->name));
	it->maker = kind == SHM_SYSV || kind == SHM_ANON ? NULL : shmtext_maker(name, &it->maker_pid);
	s->table[slot] = (uint32_t)s->l->n;
	*ret = it;
	return 0;
}

static void item_stat(struct shm_item *it, const struct statx *st)
{
	it->has_bytes = true;
	it->bytes = st->stx_blocks * 512;
	it->has_uid = true;
	it->uid = st->stx_uid;
	bool born = st->stx_mask & STATX_BTIME && st->stx_btime.tv_sec > 0;
	const struct statx_timestamp *t = born ? &st->stx_btime : &st->stx_mtime;
	it->since_unix_ms = (int64_t)t->tv_sec * 1000 + (int64_t)(t->tv_nsec / 1000000);
}

static int file_found(struct scan *s, const struct statx *st, const char *path)
{
	struct shm_item *it;
	int r = item_at(s, st->stx_dev_major, st->stx_dev_minor, st->stx_ino, SHM_FILE, span_of(path), &it);
	if (r || !it)
		return r;
	item_stat(it, st);
	return 0;
}

/* Lists a folder and closes fd. Folders that cannot be opened are left out, as vigil may not see their files. */
static int shm_walk(struct scan *s, int fd_taken, const char *prefix, int depth)
{
	cleanup(closep) int fd = fd_taken;
	struct statx own;
	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &own))
		return 0;
	cleanup(closedirp) DIR *dir = fdopendir(fd);
	if (!dir)
		return -errno == -ENOMEM ? -ENOMEM : 0;
	(void)take_fd(&fd);
	for (struct dirent *e; (e = readdir(dir));) {
		if (late(s)) {
			s->l->n_dropped++;
			return 0;
		}
		if (path_is_dots(e->d_name))
			continue;
		char path[PATH_MAX];
		struct statx st;
		if (text_format(path, sizeof(path), "%s%s", prefix, e->d_name) >= (int)sizeof(path) - 1 ||
		    statx(dirfd(dir), e->d_name, AT_SYMLINK_NOFOLLOW | AT_STATX_DONT_SYNC,
			  STATX_BASIC_STATS | STATX_BTIME, &st))
			continue;
		int r = 0;
		if (S_ISREG(st.stx_mode)) {
			r = file_found(s, &st, path);
		} else if (S_ISDIR(st.stx_mode) && depth < DEPTH_MAX && st.stx_dev_major == own.stx_dev_major &&
			   st.stx_dev_minor == own.stx_dev_minor) { /* what a user has mounted in it is none */
			int sub = openat(dirfd(dir), e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
			size_t n = strlen(path);
			path[n] = '/';
			path[n + 1] = '\0';
			r = sub >= 0 ? shm_walk(s, sub, path, depth + 1) : 0;
		}
		if (r)
			return r;
	}
	return 0;
}

static int files_read(struct scan *s)
{
	if (s->w->shm_fd < 0)
		return 0;
	int fd = openat(s->w->shm_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	s->l->has_mount = true;
	struct statvfs v;
	if (!s->w->recorded && fstatvfs(s->w->shm_fd, &v) == 0 && v.f_blocks > 0) {
		s->l->has_space = true;
		s->l->total_bytes = v.f_blocks * v.f_frsize;
		s->l->free_bytes = v.f_bfree * v.f_frsize;
	}
	return shm_walk(s, fd, "", 0);
}

static int sysv_found(void *ctx, const struct shmtext_sysv *g)
{
	struct scan *s = ctx;
	char name[48];
	TEXT_FORMAT(name, "0x%08x id %llu", g->key, (unsigned long long)g->id);
	struct shm_item *it;
	/* The device of the internal tmpfs is not in this table; mappings are matched by kind and inode. */
	int r = item_at(s, UINT32_MAX, SHM_SYSV, g->id, SHM_SYSV, span_of(name), &it);
	if (r || !it)
		return r;
	it->has_bytes = g->has_rss;
	it->bytes = add_cap(g->rss_bytes, g->swap_bytes);
	it->mapped_bytes = g->size_bytes;
	it->has_uid = true;
	it->uid = g->uid;
	it->since_unix_ms = g->changed_unix_s * 1000;
	it->maker_pid = g->creator_pid;
	it->orphan = g->attached == 0;
	return 0;
}

static int sysv_read(struct scan *s)
{
	cleanup(freep) char *text = NULL;
	size_t len;
	int r = file_slurp(s->w->proc_fd, "sysvipc/shm", 4 * MIB, &text, &len);
	if (r == -ENOMEM)
		return r;
	if (r)
		return 0; /* kernel without System V IPC */
	r = shmtext_sysv_parse((struct span){text, len}, sysv_found, s);
	return r == -EBADMSG ? 0 : r;
}

static int owner_add(struct scan *s, const struct shm_item *it, bool mapped)
{
	struct shm_ledger *l = s->l;
	uint32_t index = (uint32_t)(it - l->items);
	/* Libraries map one file many times in a row: a repeated mapping is merged here. */
	if (l->n_owners && l->owners[l->n_owners - 1].item == index && l->owners[l->n_owners - 1].pid == s->pid) {
		l->owners[l->n_owners - 1].mapped |= mapped;
		l->owners[l->n_owners - 1].open |= !mapped;
		return 0;
	}
	if (l->n_owners >= OWNERS_MAX) {
		l->n_dropped++;
		return 0;
	}
	if (vec_room(&l->owners, &s->owners_cap, l->n_owners + 1) < 0)
		return -ENOMEM;
	l->owners[l->n_owners++] = (struct shm_owner){.item = index, .pid = s->pid, .mapped = mapped, .open = !mapped};
	return 0;
}

/* A file mapped under a shared memory path that is missing in our own listing. */
static void item_foreign(struct scan *s, struct shm_item *it)
{
	if (it->kind == SHM_FILE && !it->has_bytes && s->l->has_mount)
		it->elsewhere = true;
}

static void map_stat(struct scan *s, struct shm_item *it, const struct shmtext_mapping *m)
{
	if (it->has_bytes || s->no_map_files || s->w->recorded)
		return;
	char path[96];
	struct statx st;
	TEXT_FORMAT(path, "%d/map_files/%llx-%llx", s->pid, (unsigned long long)m->start, (unsigned long long)m->end);
	if (statx(s->w->proc_fd, path, AT_STATX_DONT_SYNC, STATX_BASIC_STATS | STATX_BTIME, &st) == 0)
		item_stat(it, &st);
	else if (errno == EPERM || errno == EACCES)
		s->no_map_files = true;
}

static int mapping_found(struct scan *s, const struct shmtext_mapping *m)
{
	struct span name;
	enum shm_kind kind = shmtext_kind(m->path, m->deleted, &name);
	/* Inode 0 is valid here: the first System V segment of a machine. */
	if (kind == SHM_NONE)
		return 0;
	struct shm_item *it;
	bool sysv = kind == SHM_SYSV;
	int r = item_at(s, sysv ? UINT32_MAX : m->major, sysv ? (uint32_t)SHM_SYSV : m->minor, m->inode, kind, name,
			&it);
	if (r || !it)
		return r;
	it->mapped_bytes = MAX(it->mapped_bytes, m->end - m->start);
	if (kind == SHM_DELETED && it->kind == SHM_FILE)
		it->kind = SHM_DELETED; /* unlinked since we listed it */
	map_stat(s, it, m);
	item_foreign(s, it);
	return owner_add(s, it, true);
}

/* Parses the complete lines of a chunk of maps; *ret_used: bytes consumed. */
static int maps_lines(struct scan *s, struct span text, bool last, size_t *ret_used)
{
	size_t used = 0;
	while (used < text.len) {
		const char *nl = memchr(text.p + used, '\n', text.len - used);
		if (!nl && !last)
			break;
		size_t n = nl ? (size_t)(nl - text.p) - used : text.len - used;
		struct span line = {text.p + used, n};
		used += n + (nl ? 1 : 0);
		struct shmtext_mapping m;
		/* Most lines are anonymous mappings, which end in "0 " and need no parsing. */
		if (!memchr(line.p, '/', line.len) || shmtext_mapping_parse(line, &m) != 0)
			continue;
		int r = mapping_found(s, &m);
		if (r)
			return r;
	}
	*ret_used = used;
	return 0;
}

/* WORLD_GONE, WORLD_DENIED, -ETIME when cut. */
static int maps_read(struct scan *s)
{
	char path[32];
	if (lockwait_ask(s->w->proc_fd, s->pid) != 0)
		return WORLD_DENIED; /* counted as one that cannot be read; the others are */
	TEXT_FORMAT(path, "%d/maps", s->pid);
	cleanup(closep) int fd = openat(s->w->proc_fd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return world_condition(-errno);
	size_t have = 0;
	for (;;) {
		ssize_t n = read(fd, s->buffer + have, s->buffer_cap - have);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return world_condition(-errno);
		have += (size_t)n;
		size_t used = 0;
		int r = maps_lines(s, (struct span){s->buffer, have}, n == 0, &used);
		if (r)
			return r;
		if (n == 0)
			return 0;
		if (used == 0 && have == s->buffer_cap)
			used = have; /* a line longer than the buffer is no shared memory: skipped */
		memmove(s->buffer, s->buffer + used, have - used);
		have -= used;
		if (late(s))
			return -ETIME;
	}
}

static int fd_found(struct scan *s, int dir, const char *number)
{
	char link[512];
	ssize_t n = readlinkat(dir, number, link, sizeof(link));
	if (n <= 0)
		return 0;
	struct span name;
	enum shm_kind kind = shmtext_link_kind((struct span){link, (size_t)n}, &name);
	if (kind == SHM_NONE || kind == SHM_SYSV || name.len == 0)
		return 0;
	struct statx st;
	if (statx(dir, number, AT_STATX_DONT_SYNC, STATX_BASIC_STATS | STATX_BTIME, &st) || !S_ISREG(st.stx_mode))
		return 0;
	struct shm_item *it;
	int r = item_at(s, st.stx_dev_major, st.stx_dev_minor, st.stx_ino, kind, name, &it);
	if (r || !it)
		return r;
	if (kind == SHM_DELETED && it->kind == SHM_FILE)
		it->kind = SHM_DELETED;
	item_foreign(s, it);
	if (!it->has_bytes)
		item_stat(it, &st);
	return owner_add(s, it, false);
}

static int fds_read(struct scan *s)
{
	char path[32];
	TEXT_FORMAT(path, "%d/fd", s->pid);
	cleanup(closep) int fd = openat(s->w->proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return world_condition(-errno);
	cleanup(closedirp) DIR *dir = fdopendir(fd);
	if (!dir)
		return -errno;
	(void)take_fd(&fd);
	size_t count = 0;
	for (struct dirent *e; (e = readdir(dir));) {
		if (e->d_name[0] < '0' || e->d_name[0] > '9')
			continue;
		int r = fd_found(s, dirfd(dir), e->d_name);
		if (r)
			return r;
		if (++count % 256 == 0 && late(s))
			return -ETIME;
	}
	return 0;
}

enum { WANT_MAPS = 1, NO_MEMORY = 2 };

/* Reads whether the process has memory, and whether some of it is shared memory. */
static int status_kind(struct scan *s)
{
	char path[32];
	size_t len;
	uint64_t kb;
	TEXT_FORMAT(path, "%d/status", s->pid);
	if (file_read_at(s->w->proc_fd, path, s->buffer, s->buffer_cap, &len) != 0)
		return WANT_MAPS;
	struct span text = {s->buffer, len};
	if (text_field_u64(text, "VmSize", &kb) != 0)
		return NO_MEMORY;
	if (text_field_u64(text, "RssShmem", &kb) != 0)
		return WANT_MAPS;
	return kb > 0 ? WANT_MAPS : 0;
}

/*
 * Reads files and descriptors, and maps only where shared memory is resident. Other maps are read later if time is
 * left.
 */
static int process_quick(struct scan *s, bool *ret_maps_later)
{
	int kind = status_kind(s);
	*ret_maps_later = false;
	if (kind == NO_MEMORY)
		return 0;
	int r = fds_read(s);
	if (r == 0 && kind == WANT_MAPS)
		return maps_read(s);
	*ret_maps_later = r == 0;
	return r;
}

/* Counts processes that cannot be read; only -ENOMEM is an error. */
static int process_count(struct scan *s, int r)
{
	if (r == WORLD_DENIED)
		s->l->n_denied++;
	else if (r == -ETIME)
		s->l->n_unscanned++;
	return r == -ENOMEM ? r : 0;
}

static int owners_read(struct scan *s, pid_t *pids, size_t n)
{
	size_t n_later = 0;
	s->l->n_processes = n;
	for (size_t i = 0; i < n; i++) {
		if (late(s)) {
			s->l->n_unscanned += n - i + n_later;
			return 0;
		}
		bool later;
		s->pid = pids[i];
		int r = process_count(s, process_quick(s, &later));
		if (r)
			return r;
		if (later)
			pids[n_later++] = s->pid; /* n_later never exceeds i */
	}
	for (size_t i = 0; i < n_later; i++) {
		if (late(s)) {
			s->l->n_unscanned += n_later - i;
			return 0;
		}
		s->pid = pids[i];
		int r = process_count(s, maps_read(s));
		if (r)
			return r;
	}
	return 0;
}

static bool pid_listed(const pid_t *pids, size_t n, pid_t pid)
{
	for (size_t i = 0; i < n; i++)
		if (pids[i] == pid)
			return true;
	return false;
}

/* Lists all processes, those of `first` at the front. */
static int pids_read(const struct world *w, const pid_t *first, size_t n_first, pid_t **ret, size_t *ret_n)
{
	size_t cap = n_first + 1024, n = n_first;
	cleanup(freep) pid_t *pids = malloc(cap * sizeof(*pids));
	cleanup(closep) int fd = openat(w->proc_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (!pids)
		return -ENOMEM;
	if (n_first)
		memcpy(pids, first, n_first * sizeof(*pids));
	cleanup(closedirp) DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	if (!dir)
		return -errno;
	(void)take_fd(&fd);
	for (struct dirent *e; (e = readdir(dir));) {
		uint64_t pid;
		if (span_u64(span_of(e->d_name), &pid) != 0 || pid == 0 || pid > INT_MAX ||
		    pid_listed(first, n_first, (pid_t)pid))
			continue;
		if (vec_room(&pids, &cap, n + 1) < 0)
			return -ENOMEM;
		pids[n++] = (pid_t)pid;
	}
	*ret = take(&pids);
	*ret_n = n;
	return 0;
}

static uint64_t item_weight(const struct shm_item *it)
{
	return it->has_bytes ? it->bytes : 0;
}

static int by_bytes(const void *a, const void *b, void *items)
{
	const struct shm_item *all = items;
	uint32_t ia = *(const uint32_t *)a, ib = *(const uint32_t *)b;
	uint64_t x = item_weight(&all[ia]), y = item_weight(&all[ib]);
	if (x != y)
		return x < y ? 1 : -1;
	return ia < ib ? -1 : ia > ib;
}

static int by_item(const void *a, const void *b)
{
	const struct shm_owner *x = a, *y = b;
	if (x->item != y->item)
		return x->item < y->item ? -1 : 1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

/* Sorts items, largest first, and updates the item numbers of the owners. */
static int items_sort(struct shm_ledger *l)
{
	if (l->n == 0)
		return 0;
	cleanup(freep) uint32_t *order = malloc(l->n * sizeof(*order));
	cleanup(freep) uint32_t *place = malloc(l->n * sizeof(*place));
	struct shm_item *sorted = malloc(l->n * sizeof(*sorted));
	if (!order || !place || !sorted) {
		free(sorted);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < l->n; i++)
		order[i] = i;
	qsort_r(order, l->n, sizeof(*order), by_bytes, l->items);
	for (uint32_t i = 0; i < l->n; i++) {
		sorted[i] = l->items[order[i]];
		place[order[i]] = i;
	}
	free(l->items);
	l->items = sorted;
	for (size_t i = 0; i < l->n_owners; i++)
		l->owners[i].item = place[l->owners[i].item];
	return 0;
}

static void owners_group(struct shm_ledger *l)
{
	size_t kept = 0;
	if (l->n_owners)
		qsort(l->owners, l->n_owners, sizeof(*l->owners), by_item);
	for (size_t i = 0; i < l->n_owners; i++) {
		struct shm_owner o = l->owners[i], *last = kept ? &l->owners[kept - 1] : NULL;
		if (last && last->item == o.item && last->pid == o.pid) {
			last->mapped |= o.mapped;
			last->open |= o.open;
			continue;
		}
		struct shm_item *it = &l->items[o.item];
		if (it->n_owners++ == 0)
			it->first_owner = (uint32_t)kept;
		l->owners[kept++] = o;
	}
	l->n_owners = kept;
}

static bool pid_gone(const struct world *w, pid_t pid)
{
	char path[32];
	TEXT_FORMAT(path, "%d", pid);
	return faccessat(w->proc_fd, path, F_OK, 0) != 0 && errno == ENOENT;
}

static void sum_up(const struct world *w, struct shm_ledger *l)
{
	for (size_t i = 0; i < l->n; i++) {
		struct shm_item *it = &l->items[i];
		if (it->kind == SHM_SYSV)
			it->orphan = it->orphan && it->n_owners == 0;
		else
			it->orphan = it->n_owners == 0;
		if (it->maker_pid)
			it->maker_gone = pid_gone(w, it->maker_pid);
		uint64_t bytes = item_weight(it);
		if (it->kind == SHM_FILE && !it->elsewhere)
			l->file_bytes = add_cap(l->file_bytes, bytes);
		else
			l->held_bytes = add_cap(l->held_bytes, bytes);
		if (it->orphan)
			l->orphan_bytes = add_cap(l->orphan_bytes, bytes);
	}
}

static void scan_done(struct scan *s)
{
	free(s->table);
	free(s->buffer);
}

void shm_done(struct shm_ledger *l)
{
	free(l->items);
	free(l->owners);
	*l = (struct shm_ledger){0};
}

static int scan_all(struct scan *s, const pid_t *first, size_t n_first, uint64_t budget_ns)
{
	s->table_cap = 256;
	s->buffer_cap = 65536;
	s->table = calloc(s->table_cap, sizeof(*s->table));
	s->buffer = malloc(s->buffer_cap);
	if (!s->table || !s->buffer)
		return -ENOMEM;
	s->deadline_ns = s->w->mono_ns() + FILES_BUDGET_NS;
	int r = files_read(s);
	if (r)
		return r;
	r = sysv_read(s);
	if (r)
		return r;
	cleanup(freep) pid_t *pids = NULL;
	size_t n = 0;
	r = pids_read(s->w, first, n_first, &pids, &n);
	if (r)
		return r;
	s->l->hidden = !s->w->recorded && !pid_listed(pids, n, 1);
	s->deadline_ns = s->w->mono_ns() + budget_ns;
	r = owners_read(s, pids, n);
	if (r)
		return r;
	r = items_sort(s->l);
	if (r)
		return r;
	owners_group(s->l);
	sum_up(s->w, s->l);
	return 0;
}

int shm_read(const struct world *w, const pid_t *first, size_t n_first, uint64_t budget_ns, struct shm_ledger *ret)
{
	struct shm_ledger l = {0};
	cleanup(scan_done) struct scan s = {.w = w, .l = &l};
	int r = scan_all(&s, first, n_first, budget_ns);
	if (r) {
		shm_done(&l);
		return r;
	}
	*ret = l;
	return 0;
}

void shm_item_path(const struct shm_item *item, char *dst, size_t cap)
{
	switch (item->kind) {
	case SHM_FILE:
		text_format(dst, cap, "/dev/shm/%s%s", item->name, item->elsewhere ? " (another container)" : "");
		break;
	case SHM_DELETED:
		text_format(dst, cap, "/dev/shm/%s (deleted)", item->name);
		break;
	case SHM_MEMFD:
		text_format(dst, cap, "memfd:%s", item->name);
		break;
	case SHM_SYSV:
		text_format(dst, cap, "sysv:%s", item->name);
		break;
	default:
		text_format(dst, cap, "shared anonymous memory (inode %llu)", (unsigned long long)item->inode);
	}
}
