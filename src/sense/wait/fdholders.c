#include "sense/wait/fdholders.h"

#include <fcntl.h>
#include <string.h>

#include "base/bisect.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/vec.h"
#include "sense/wait/fdholders_parts.h"
#include "sense/wait/threadlist.h"

/* Holders that are listed at most, over all objects. */
#define HELD_MAX 4000000
#define KEYS_MAX 1000000
#define SUSPECTS_MAX 100000

void fdsearch_done(struct fdsearch *s)
{
	free(s->key);
	free(s->suspect);
	free(s->held);
	free(s->denied);
	free(s->ring);
	free(s->loose);
	*s = (struct fdsearch){.n_keys = 0};
}

static int fdobject_compare(struct fdobject a, struct fdobject b)
{
	if (a.class != b.class)
		return a.class < b.class ? -1 : 1;
	return (a.number > b.number) - (a.number < b.number);
}

static int object_order(const void *a, const void *b)
{
	return fdobject_compare(*(const struct fdobject *)a, *(const struct fdobject *)b);
}

static int number_order(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

static int held_order(const void *a, const void *b)
{
	const struct fdheld *x = a, *y = b;
	const int r = fdobject_compare(x->object, y->object);
	return r ? r : (x->pid > y->pid) - (x->pid < y->pid);
}

int fdsearch_want(struct fdsearch *s, struct fdobject o)
{
	if (s->n_keys >= KEYS_MAX) {
		s->cut = true;
		return 0;
	}
	if (vec_room(&s->key, &s->cap_keys, s->n_keys + 1) < 0)
		return -ENOMEM;
	s->key[s->n_keys++] = o;
	return 0;
}

int fdsearch_suspect(struct fdsearch *s, const struct sockpeer_table *t)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct sockpeer *p = &t->item[i];
		/* A datagram of no bytes may carry a descriptor as well; the queue then looks empty. */
		if (!p->is_unix || (p->queue_known && !p->receive_queue_bytes && !p->datagram))
			continue;
		if (s->n_suspects >= SUSPECTS_MAX) {
			s->cut = true;
			return 0;
		}
		if (vec_room(&s->suspect, &s->cap_suspects, s->n_suspects + 1) < 0)
			return -ENOMEM;
		s->suspect[s->n_suspects++] = p->inode;
	}
	return 0;
}

/* ---- the pass ---- */

struct pass {
	const struct world *w;
	struct fdsearch *s;
	uint8_t classes; /* 1 << enum fdobject_class of all keys */
	uint8_t *suspect_seen; /* parallel to s->suspect */
};

static bool fdsearch_is_wanted(const struct pass *p, struct fdobject o)
{
	return o.class != FDOBJECT_NONE && (p->classes >> o.class & 1) &&
	       bsearch(&o, p->s->key, p->s->n_keys, sizeof(o), object_order);
}

static int held_add(struct pass *p, struct fdobject o, pid_t pid, const struct fdinfo *info)
{
	struct fdsearch *s = p->s;
	if (s->n_held >= HELD_MAX) {
		s->cut = true;
		return 0;
	}
	if (vec_room(&s->held, &s->cap_held, s->n_held + 1) < 0)
		return -ENOMEM;
	s->held[s->n_held++] = (struct fdheld){
		.object = o, .pid = pid, .access = (uint8_t)info->access, .locks = info->locks, .n_locks = info->n_own};
	return 0;
}

/* A socket whose queue may carry descriptors: fdinfo tells how many, since Linux 5.6. */
static void flight_check(struct pass *p, const struct fdentry *e, const char *info_dir)
{
	char text[1024];
	size_t len;
	struct fdinfo info = {.has = 0};
	const uint64_t *at = e->kind == FD_SOCKET && p->s->n_suspects
				     ? bsearch(&e->number, p->s->suspect, p->s->n_suspects, sizeof(*at), number_order)
				     : NULL;
	if (!at || p->suspect_seen[at - p->s->suspect])
		return;
	p->suspect_seen[at - p->s->suspect] = 1;
	if (fdinfo_text(p->w, info_dir, e->fd, text, sizeof(text), &len) == 0)
		fdinfo_parse((struct span){text, len}, &info);
	p->s->in_flight |= !(info.has & FDINFO_IN_FLIGHT) || info.in_flight > 0;
}

/* Looks at one descriptor. -ENOMEM. */
static int descriptor_take(struct pass *p, pid_t pid, const struct fdentry *e, const char *info_dir)
{
	char text[2048];
	size_t len;
	struct fdinfo info = {.has = 0};
	struct fdobject o = {FDOBJECT_NONE, e->number};
	if (e->kind == FD_PIPE)
		o.class = FDOBJECT_PIPE;
	else if (e->kind == FD_SOCKET)
		o.class = FDOBJECT_SOCKET;
	else if (e->kind == FD_FILE)
		o.class = FDOBJECT_FILE;
	const bool by_info = (e->kind == FD_EVENT && (p->classes >> FDOBJECT_EVENTFD & 1)) ||
			     (e->special == FD_DEV_FUSE && (p->classes >> FDOBJECT_FUSE & 1));
	flight_check(p, e, info_dir);
	if (!by_info && !fdsearch_is_wanted(p, o))
		return 0;
	if (o.class == FDOBJECT_PIPE) {
		if (fdinfo_access(p->w, info_dir, e->fd, &info.access) != 0)
			return 0; /* closed meanwhile */
	} else if (o.class != FDOBJECT_SOCKET) {
		if (fdinfo_text(p->w, info_dir, e->fd, text, sizeof(text), &len) != 0)
			return 0; /* closed meanwhile */
		fdinfo_parse((struct span){text, len}, &info);
	}
	if (by_info && e->kind == FD_EVENT && (info.has & FDINFO_EVENTFD))
		o = (struct fdobject){FDOBJECT_EVENTFD, info.eventfd_id};
	else if (by_info && (info.has & FDINFO_FUSE))
		o = (struct fdobject){FDOBJECT_FUSE, info.fuse_connection};
	return fdsearch_is_wanted(p, o) ? held_add(p, o, pid, &info) : 0;
}

/*
 * What a ring keeps registered, as fdinfo lists it ("    0: pipe:[812]"): the process has that, without a descriptor.
 * Eventfds have no number there, and on older kernels pipes and sockets no name.
 */
static int registered_take(struct pass *p, pid_t pid, struct span text)
{
	const struct fdinfo both = {.access = O_RDWR};
	struct span line;
	uint64_t slot;
	int r = 0;
	while (r == 0 && span_line(&text, &line)) {
		const struct span number = span_trim(span_before(line, ":")), link = span_trim(span_after(line, ":"));
		if (line.len == 0 || line.p[0] != ' ' || span_u64(number, &slot) < 0)
			continue;
		const struct fdentry e = fdentry_of(-1, link);
		const bool is_told = e.kind == FD_PIPE || e.kind == FD_SOCKET || e.kind == FD_FILE;
		const struct fdobject o = {e.kind == FD_PIPE	 ? FDOBJECT_PIPE
					   : e.kind == FD_SOCKET ? FDOBJECT_SOCKET
								 : FDOBJECT_FILE,
					   e.number};
		p->s->registered |= link.len == 0;
		p->s->registered_events |= e.kind == FD_EVENT;
		if (is_told && fdsearch_is_wanted(p, o))
			r = held_add(p, o, pid, &both);
	}
	return r;
}

static int ring_add(struct pass *p, pid_t pid, int fd, const char *info_dir)
{
	char text[16384]; /* the operations that wait come first */
	size_t len;
	struct fdinfo info = {.has = 0};
	struct fdsearch *s = p->s;
	if (fdinfo_text(p->w, info_dir, fd, text, sizeof(text), &len) == 0)
		fdinfo_parse((struct span){text, len}, &info);
	s->registered |= !(info.has & FDINFO_REGISTERED) || len + 1 >= sizeof(text);
	if ((info.has & FDINFO_REGISTERED) && info.registered > 0) {
		int r = registered_take(p, pid, (struct span){text, len});
		if (r)
			return r;
	}
	if (s->n_rings && s->ring[s->n_rings - 1] == pid)
		return 0;
	if (vec_room(&s->ring, &s->cap_rings, s->n_rings + 1) < 0)
		return -ENOMEM;
	s->ring[s->n_rings++] = pid;
	return 0;
}

static int table_take(struct pass *p, const struct fdtable *t)
{
	p->s->cut |= t->cut;
	for (size_t i = 0; i < t->n; i++) {
		int r = descriptor_take(p, t->pid, &t->entry[i], t->info_dir);
		if (r == 0 && t->entry[i].special == FD_RING)
			r = ring_add(p, t->pid, t->entry[i].fd, t->info_dir);
		if (r)
			return r;
	}
	p->s->n_descriptors += t->n;
	return 0;
}

static int loose_add(struct fdsearch *s, pid_t pid, const struct fdentry *e)
{
	if (e->kind != FD_TIMER && e->kind != FD_INOTIFY && e->kind != FD_EPOLL)
		return 0;
	if (vec_room(&s->loose, &s->cap_loose, s->n_loose + 1) < 0)
		return -ENOMEM;
	s->loose[s->n_loose++] = (struct fdloose){pid, e->fd, e->kind};
	return 0;
}

static int denied_add(struct fdsearch *s, struct kin *k)
{
	k->denied = true;
	if (vec_room(&s->denied, &s->cap_denied, s->n_denied + 1) < 0)
		return -ENOMEM;
	s->denied[s->n_denied++] = k->pid;
	return 0;
}

/* tid 0: the descriptors of the main thread, which all others have as well, as a rule. */
static int fdholders_thread_take(struct pass *p, const struct kin *k, pid_t tid)
{
	char text[FDLINK_MAX], info_dir[40];
	cleanup(closedirp) DIR *dir = NULL;
	struct span link;
	int fd;
	int r = tid ? fddir_open_thread(p->w, k->pid, tid, &dir, info_dir)
		    : fddir_open(p->w, k->pid, k->state == 'Z', &dir, info_dir);
	while (r == 0 && fddir_next(dir, &fd, &link, text, &r)) {
		/* Links that can be nothing of what is searched are the most: they are left out early. */
		const struct fdentry e = fdentry_of(fd, link);
		p->s->n_descriptors++;
		r = descriptor_take(p, k->pid, &e, info_dir);
		if (r == 0 && e.special == FD_RING)
			r = ring_add(p, k->pid, e.fd, info_dir);
		if (r == 0)
			r = loose_add(p->s, k->pid, &e);
	}
	return r;
}

static int process_take(struct pass *p, struct kin *k)
{
	cleanup(freep) pid_t *tids = NULL;
	size_t n = 0;
	int r = fdholders_thread_take(p, k, 0);
	if (r == 0 && k->n_threads > 1)
		r = threads_read(p->w, k->pid, &tids, &n);
	n = r == 0 && n ? threads_part_files(p->w, k, tids, n) : 0;
	for (size_t i = 0; r == 0 && i < n; i++)
		r = fdholders_thread_take(p, k, tids[i]);
	if (r == WORLD_GONE || r == -ENOMEM)
		return r == WORLD_GONE ? 0 : r;
	if (r)
		return denied_add(p->s, k);
	k->listed = true;
	return 0;
}

static int by_likelihood(const void *a, const void *b)
{
	const struct kin *x = *(struct kin *const *)a, *y = *(struct kin *const *)b;
	if (x->likelihood != y->likelihood)
		return x->likelihood < y->likelihood ? -1 : 1;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

static int others_take(struct pass *p, struct kinship *k, uint64_t until_ns)
{
	size_t n = 0;
	cleanup(freep) struct kin **order = malloc((k->n + 1) * sizeof(struct kin *));
	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < k->n; i++)
		if (!k->item[i].wanted && !k->item[i].kernel_thread && !k->item[i].over)
			order[n++] = &k->item[i];
	if (n)
		qsort(order, n, sizeof(struct kin *), by_likelihood);
	for (size_t i = 0; i < n; i++) {
		if (p->w->mono_ns() > until_ns) {
			p->s->cut = true;
			return 0;
		}
		int r = process_take(p, order[i]);
		if (r)
			return r;
	}
	return 0;
}

/* One row for each process: a process with both ends of a pipe has it open both ways. */
static void held_join(struct fdsearch *s)
{
	size_t n = 0;
	if (s->n_held)
		qsort(s->held, s->n_held, sizeof(*s->held), held_order);
	for (size_t i = 0; i < s->n_held; i++) {
		struct fdheld *last = n ? &s->held[n - 1] : NULL;
		if (last && held_order(last, &s->held[i]) == 0) {
			if (last->access != s->held[i].access)
				last->access = O_RDWR;
			last->locks |= s->held[i].locks;
			last->n_locks += s->held[i].n_locks;
		} else {
			s->held[n++] = s->held[i];
		}
	}
	s->n_held = n;
}

static void keys_sort(struct fdsearch *s, uint8_t *ret_classes)
{
	size_t n = 0;
	*ret_classes = 0;
	if (s->n_keys)
		qsort(s->key, s->n_keys, sizeof(*s->key), object_order);
	for (size_t i = 0; i < s->n_keys; i++) {
		*ret_classes |= (uint8_t)(1U << s->key[i].class);
		if (n == 0 || fdobject_compare(s->key[n - 1], s->key[i]) != 0)
			s->key[n++] = s->key[i];
	}
	s->n_keys = n;
	if (s->n_suspects)
		qsort(s->suspect, s->n_suspects, sizeof(*s->suspect), number_order);
}

static int fdsearch_pid_order(const void *a, const void *b)
{
	const pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;
	return (x > y) - (x < y);
}

int fdsearch_run(const struct world *w, struct kinship *k, const struct fdtable *table, size_t n_tables,
		 uint64_t until_ns, struct fdsearch *s)
{
	struct pass p = {.w = w, .s = s};
	keys_sort(s, &p.classes);
	cleanup(freep) uint8_t *seen = calloc(s->n_suspects + 1, 1);
	if (!seen)
		return -ENOMEM;
	p.suspect_seen = seen;
	int r = 0;
	for (size_t i = 0; r == 0 && i < k->n; i++)
		if (k->item[i].wanted && k->item[i].denied)
			r = denied_add(s, &k->item[i]);
	for (size_t i = 0; r == 0 && i < n_tables; i++)
		r = table_take(&p, &table[i]);
	if (r == 0)
		r = others_take(&p, k, until_ns);
	if (r)
		return r;
	for (size_t i = 0; i < s->n_suspects; i++)
		s->suspect_unknown |= !seen[i];
	held_join(s);
	if (s->n_rings)
		qsort(s->ring, s->n_rings, sizeof(*s->ring), fdsearch_pid_order);
	for (size_t i = 0; i < s->n_held; i++) {
		struct kin *kin = kinship_find(k, s->held[i].pid);
		if (kin)
			kin->holds = true;
	}
	return 0;
}

const struct fdheld *fdsearch_holders(const struct fdsearch *s, struct fdobject o, size_t *ret_n)
{
	size_t low = bisect(s->n_held, mid, fdobject_compare(s->held[mid].object, o) < 0);
	size_t n = 0;
	while (low + n < s->n_held && fdobject_compare(s->held[low + n].object, o) == 0)
		n++;
	*ret_n = n;
	return n ? &s->held[low] : NULL;
}
