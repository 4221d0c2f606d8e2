/* The second half: whose sockets are whose, one pass over all descriptors, and who holds what. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/vec.h"
#include "sense/proc/kcmp.h"
#include "sense/wait/fdholders_parts.h"
#include "sense/wait/waitfacts_parts.h"

/* Network namespaces that are read; the sockets of further ones are not known. */
#define NAMESPACES_MAX 256

enum { DEVICE_UNKNOWN, DEVICE_NO, DEVICE_YES };

/* ---- sockets ---- */

static int namespaces_read(struct waitlook *l, bool with_tcp)
{
	uint64_t seen[NAMESPACES_MAX];
	size_t n = 0;
	char path[40];
	struct stat st;
	for (size_t i = 0; i < l->n_procs; i++) {
		const pid_t pid = l->proc[i].kin->pid;
		TEXT_FORMAT(path, "%d/ns/net", (int)pid);
		if (fstatat(l->w->proc_fd, path, &st, 0) != 0)
			st.st_ino = 0;
		bool known = false;
		for (size_t j = 0; j < n; j++)
			known |= seen[j] == st.st_ino;
		if (known)
			continue;
		if (n == NAMESPACES_MAX) {
			l->socks.cut = true;
			break;
		}
		seen[n++] = st.st_ino;
		int r = sockpeer_read(l->w, pid, with_tcp, &l->socks);
		if (r == -ENOMEM)
			return r;
		l->socks.cut |= r != 0 && r != WORLD_GONE;
	}
	return sockpeer_table_sort(&l->socks);
}

static int peer_want(struct waitlook *l, struct pend *p, uint64_t inode)
{
	p->peer = (struct fdobject){FDOBJECT_SOCKET, inode};
	return fdsearch_want(&l->search, p->peer);
}

static int unix_resolve(struct waitlook *l, struct pend *p, struct waitfact *f, const struct sockpeer *s)
{
	const struct sockpeer *other = sockpeer_other_end(&l->socks, s);
	/* A datagram socket hears its peer only if both are connected to each other; else anybody may send to it. */
	const bool mutual = !s->datagram || f->to_write || (other && other->peer_inode == s->inode);
	f->kind = mutual && (s->peer_inode || !s->datagram) ? WAITFACT_UNIX : WAITFACT_DATAGRAM;
	if (f->kind != WAITFACT_UNIX)
		return 0;
	if (other) {
		f->peer_id = other->inode;
		p->pair = !s->named && !other->named;
		return peer_want(l, p, other->inode);
	}
	const struct sockpeer *listener = sockpeer_listener(&l->socks, s);
	f->door = listener ? listener->inode : 0;
	return listener ? peer_want(l, p, listener->inode) : 0;
}

/* A send that names its receiver waits until that one has read; the names of sockets are no proof of who that is. */
static int receiver_resolve(struct waitlook *l, struct pend *p, struct waitfact *f, const struct sockpeer *s)
{
	const struct sockpeer *to = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(p->to_name) && !to; i++)
		to = p->to_name[i] ? sockpeer_full_receiver(&l->socks, s->netns, p->to_name[i]) : NULL;
	f->kind = to ? WAITFACT_UNIX : WAITFACT_DATAGRAM;
	p->named = true;
	if (!to)
		return 0;
	f->peer_id = to->inode;
	return peer_want(l, p, to->inode);
}

/*
 * What the other end has sent has not come, or what this one has sent, and there is room for it: the network has lost
 * it, and will be asked to take it once more, for a quarter of an hour.
 */
static bool is_under_way(const struct sockpeer *s, const struct sockpeer *other, bool to_write)
{
	return to_write ? s->send_queue_bytes > 0 && other->receive_queue_bytes == 0 : other->send_queue_bytes > 0;
}

static int tcp_resolve(struct waitlook *l, struct pend *p, struct waitfact *f, const struct sockpeer *s)
{
	const struct sockpeer *other = sockpeer_other_end(&l->socks, s);
	f->kind = s->state == SOCKPEER_SYN_SENT ? WAITFACT_CONNECT : WAITFACT_TCP;
	f->accepted = f->kind == WAITFACT_TCP && sockpeer_is_accepted(&l->socks, s);
	f->received_bytes = f->kind == WAITFACT_TCP ? s->received_bytes : 0;
	f->sent_bytes = f->kind == WAITFACT_TCP ? s->acked_bytes : 0;
	if (!other || f->kind != WAITFACT_TCP)
		return 0;
	if (is_under_way(s, other, f->to_write)) {
		f->kind = WAITFACT_CONNECT;
		return 0;
	}
	if (other->inode) {
		f->peer_id = other->inode;
		return peer_want(l, p, other->inode);
	}
	/* The server has not accepted it yet. With several listening sockets of one port any of them may. */
	const struct sockpeer *listener = sockpeer_listener(&l->socks, s);
	p->named = true;
	f->door = listener ? listener->inode : 0;
	return listener ? peer_want(l, p, listener->inode) : 0;
}

static int socket_resolve(struct waitlook *l, struct pend *p)
{
	struct waitfact *f = &l->f->fact[p->fact];
	const struct sockpeer *s = sockpeer_find(&l->socks, p->own.number);
	if (!s) {
		if (f->kind != WAITFACT_CONNECT)
			f->kind = l->socks.cut ? WAITFACT_UNKNOWN : WAITFACT_DATAGRAM;
		return 0;
	}
	const bool to_name = s->is_unix && s->datagram && p->to_name[0];
	if (!to_name)
		sockpeer_format(s, f->text, sizeof(f->text));
	if (f->kind == WAITFACT_CONNECT)
		return 0;
	if (s->state == SOCKPEER_LISTEN) {
		f->kind = WAITFACT_LISTEN;
		f->port = s->is_unix ? 0 : s->local_port;
		return 0;
	}
	/* A wait for what lies there already would be over: it is one for what comes after it. */
	f->unread = f->to_write ? 0 : s->receive_queue_bytes;
	int r = fdsearch_want(&l->search, p->own);
	if (r == 0 && to_name)
		return receiver_resolve(l, p, f, s);
	if (r == 0)
		r = s->is_unix ? unix_resolve(l, p, f, s) : tcp_resolve(l, p, f, s);
	return r;
}

/* ---- what is searched ---- */

/* Where not every process can be listed, a holder with a unix socket to an unlisted one may have handed things over. */
static int unix_peers_want(struct waitlook *l)
{
	for (size_t i = 0; i < l->n_procs; i++)
		for (size_t j = 0; j < l->proc[i].fds.n; j++) {
			const struct fdentry *e = &l->proc[i].fds.entry[j];
			const struct sockpeer *s = e->kind == FD_SOCKET ? sockpeer_find(&l->socks, e->number) : NULL;
			if (!s || !s->is_unix || s->peer_inode == 0)
				continue;
			int r = fdsearch_want(&l->search, (struct fdobject){FDOBJECT_SOCKET, s->peer_inode});
			if (r)
				return r;
		}
	return 0;
}

/* The peers of processes that are not wanted were searched only where a wanted one has the same socket. */
static bool table_is_outward(const struct waitlook *l, const struct fdtable *t)
{
	size_t n;
	for (size_t i = 0; i < t->n; i++) {
		const struct sockpeer *s =
			t->entry[i].kind == FD_SOCKET ? sockpeer_find(&l->socks, t->entry[i].number) : NULL;
		if (!s || !s->is_unix || s->state == SOCKPEER_LISTEN)
			continue;
		const struct fdobject peer = {FDOBJECT_SOCKET, s->peer_inode};
		if (!s->peer_known || (s->peer_inode && !fdsearch_holders(&l->search, peer, &n)))
			return true;
	}
	return false;
}

static void outward_mark(struct waitlook *l)
{
	for (size_t i = 0; i < l->n_procs; i++)
		l->proc[i].kin->outward = !l->proc[i].fds_read || table_is_outward(l, &l->proc[i].fds);
	for (size_t i = 0; i < l->kin.n; i++) {
		struct kin *k = &l->kin.item[i];
		cleanup(fdtable_done) struct fdtable t = {.n = 0};
		if (k->holds && !k->wanted)
			k->outward = fdtable_read(l->w, k->pid, k->state == 'Z', &t) != 0 || table_is_outward(l, &t);
	}
}

static int pends_want(struct waitlook *l)
{
	for (size_t i = 0; i < l->n_pend; i++) {
		struct pend *p = &l->pend[i];
		if (p->kind == PEND_TIMER || p->kind == PEND_CHANGE || p->kind == PEND_EPOLL)
			continue;
		int r = p->kind == PEND_SOCKET ? socket_resolve(l, p) : fdsearch_want(&l->search, p->own);
		if (r)
			return r;
	}
	return 0;
}

static int search(struct waitlook *l, uint64_t budget_ns)
{
	bool with_tcp = false;
	for (size_t i = 0; i < l->n_pend; i++)
		with_tcp |= l->pend[i].kind == PEND_SOCKET;
	int r = namespaces_read(l, with_tcp);
	if (r == 0)
		r = pends_want(l);
	if (r == 0)
		r = unix_peers_want(l);
	if (r == 0)
		r = fdsearch_suspect(&l->search, &l->socks);
	if (r)
		return r;
	cleanup(freep) struct fdtable *tables = calloc(l->n_procs + 1, sizeof(*tables));
	if (!tables)
		return -ENOMEM;
	for (size_t i = 0; i < l->n_procs; i++)
		tables[i] = l->proc[i].fds; /* borrowed */
	kinship_rate(&l->kin);
	r = fdsearch_run(l->w, &l->kin, tables, l->n_procs, add_cap(l->w->mono_ns(), budget_ns), &l->search);
	if (r == 0 && (l->kin.hidden || l->search.n_denied))
		outward_mark(l);
	return r;
}

/* ---- the holders ---- */

static bool has_device(struct waitlook *l, pid_t pid)
{
	struct kin *k = kinship_find(&l->kin, pid);
	cleanup(fdtable_done) struct fdtable own = {.n = 0};
	const struct fdtable *t = NULL;
	if (!k)
		return true;
	for (size_t i = 0; k->device == DEVICE_UNKNOWN && k->wanted && i < l->n_procs; i++)
		if (l->proc[i].kin == k && l->proc[i].fds_read)
			t = &l->proc[i].fds;
	if (k->device == DEVICE_UNKNOWN) {
		k->device = DEVICE_NO;
		if (!t && fdtable_read(l->w, pid, k->state == 'Z', &own) != 0)
			k->device = DEVICE_YES;
		else if (!t)
			t = &own;
		for (size_t i = 0; t && i < t->n; i++)
			if (t->entry[i].special == FD_DEVICE || t->entry[i].special == FD_TERMINALS ||
			    t->entry[i].special == FD_RING)
				k->device = DEVICE_YES;
	}
	return k->device == DEVICE_YES;
}

/* The kernel signals eventfds for devices, rings and asynchronous I/O. */
static bool kernel_may_signal(struct waitlook *l, struct fdobject o)
{
	char text[32];
	size_t len, n;
	uint64_t contexts;
	const struct fdheld *h = fdsearch_holders(&l->search, o, &n);
	for (size_t i = 0; i < n; i++)
		if (has_device(l, h[i].pid))
			return true;
	return file_read_at(l->w->proc_fd, "sys/fs/aio-nr", text, sizeof(text), &len) == 0 &&
	       span_u64(span_trim((struct span){text, len}), &contexts) == 0 && contexts > 0;
}

static bool whole(struct waitlook *l, struct fdobject a, struct fdobject b)
{
	const struct fdobject both[2] = {a, b};
	return fdsearch_is_whole(l->w, &l->search, &l->kin, both, b.class == FDOBJECT_NONE ? 1 : 2);
}

/*
 * The holders of `of`, and whether they are all; access: of pipes, else negative. Many threads wait for one thing, so
 * its holders are listed once: facts share them.
 */
static void pend_holders(struct waitlook *l, struct waitfact *f, struct fdobject of, int access, struct fdobject with)
{
	size_t n;
	const uint64_t hash = hash_mix(of.number * 8 + of.class + ((uint64_t)(access + 1) << 60));
	struct pend_memo *m = &l->memo[hash % ARRAY_SIZE(l->memo)];
	if (m->used && m->of.class == of.class && m->of.number == of.number && m->access == access &&
	    m->with.class == with.class && m->with.number == with.number) {
		f->first_holder = m->first;
		f->n_holders = m->n;
		f->complete = m->whole;
		return;
	}
	const struct fdheld *h = fdsearch_holders(&l->search, of, &n);
	for (size_t i = 0; i < n; i++)
		if (access < 0 || h[i].access == access || h[i].access == O_RDWR)
			waitfact_holder_append(l, f, h[i].pid);
	f->complete = whole(l, of, with);
	*m = (struct pend_memo){.used = true,
				.of = of,
				.with = with,
				.access = access,
				.first = f->first_holder,
				.n = f->n_holders,
				.whole = f->complete};
}

static void socket_finish(struct waitlook *l, const struct pend *p, struct waitfact *f)
{
	const struct fdobject none = {FDOBJECT_NONE, 0};
	if (p->peer.class == FDOBJECT_NONE)
		return;
	pend_holders(l, f, p->peer, -1, p->pair ? p->own : none);
	/* An end that no process has may be on its way to one. */
	f->complete = f->complete && f->n_holders > 0 && !p->named;
}

/*
 * True if each process that has the file has exactly one lock of it, and there are as many locks: then each has one of
 * its own. Of fewer locks than processes one may be a copy of another's, by fork, and either of them could let go.
 */
static bool each_has_its_own(const struct pend *p, const struct fdheld *h, size_t n, size_t found)
{
	for (size_t i = 0; i < n; i++)
		if ((h[i].locks & p->access) && h[i].n_locks != 1)
			return false;
	return found == p->of_files;
}

/*
 * flock and OFD locks: whoever has the descriptor that holds it, also by fork; /proc/locks names who took a flock, and
 * that process may have ended. POSIX locks are no descriptor's, so those that were named stay.
 */
static void file_lock_finish(struct waitlook *l, const struct pend *p, struct waitfact *f)
{
	size_t n, found = 0;
	const struct fdheld *h = fdsearch_holders(&l->search, p->own, &n);
	const uint8_t kind = p->access;
	struct waitfact_holder named[8];
	const size_t n_named = kind == FDINFO_LOCK_FLOCK ? 0 : MIN(f->n_holders, (uint32_t)ARRAY_SIZE(named));
	for (size_t i = 0; i < n; i++)
		found += (h[i].locks & kind) != 0;
	if (found == 0 || f->n_holders > ARRAY_SIZE(named))
		return;
	for (size_t i = 0; i < n_named; i++)
		named[i] = l->f->holder[f->first_holder + i];
	const bool all_known = whole(l, p->own, (struct fdobject){FDOBJECT_NONE, 0});
	const bool own_each = all_known && each_has_its_own(p, h, n, found);
	f->n_holders = 0;
	for (size_t i = 0; i < n_named; i++)
		waitfact_holder_add(l, f, named[i].pid, named[i].tid);
	for (size_t i = 0; i < n; i++)
		/* The lock that its own file has is in nobody's way but the others'. */
		if ((h[i].locks & kind) && !(own_each && h[i].pid == p->pid && p->own_locks == 1))
			waitfact_holder_add(l, f, h[i].pid, 0);
	f->owner = f->n_holders == 1;
	f->all = own_each && f->n_holders > 0;
	f->complete = !p->is_remote && (p->nameless <= 1 || (own_each && p->nameless <= p->of_files)) && all_known;
}

/*
 * What has no number, and is open in a process outside of the job: the kernel tells whether two descriptors are copies
 * of one.
 */
static bool is_open_outside(struct waitlook *l, const struct pend *p, enum fd_kind kind)
{
	const size_t most = 65536; /* questions in one look: each takes a microsecond */
	const struct fdsearch *s = &l->search;
	for (size_t i = 0; i < s->n_loose; i++)
		if (s->loose[i].kind == kind &&
		    (l->n_compared++ >= most || tasks_may_share(l->w, p->pid, p->fd, s->loose[i].pid, s->loose[i].fd)))
			return true;
	return false;
}

/*
 * A timer that is not set, or an inotify that watches nothing: who has it could set it. The kernel gives it no number,
 * so that each process with any of the kind may be one; that nobody else has it is known where no other one has any.
 */
static void numberless_finish(struct waitlook *l, const struct pend *p, enum fd_kind kind, struct waitfact *f)
{
	f->complete = !l->kin.hidden && l->search.n_rings == 0;
	f->complete = f->complete && !is_open_outside(l, p, kind);
	for (size_t i = 0; i < l->n_procs; i++) {
		const struct waitproc *x = &l->proc[i];
		bool has = x->kin->pid == p->pid;
		for (size_t k = 0; k < x->fds.n && !has; k++)
			has = x->fds.entry[k].kind == kind;
		if (has)
			waitfact_holder_append(l, f, x->kin->pid);
		f->complete = f->complete && x->fds_read && (!has || x->kin->pid == p->pid);
	}
	for (size_t i = 0; i < l->kin.n; i++)
		f->complete = f->complete && (l->kin.item[i].wanted || l->kin.item[i].ppid != p->pid);
}

/*
 * Holders of a FIFO are known by the path through which they opened it. One that did so through another mount has
 * another path: what it has open is without a name as well, and the same file.
 */
static bool has_fifo_by_another_path(struct waitlook *l, const struct pend *p, pid_t pid)
{
	char info_dir[40], link[FDLINK_MAX], name[16];
	cleanup(closedirp) DIR *dir = NULL;
	struct span text;
	int fd, r = 0;
	if (fddir_open(l->w, pid, false, &dir, info_dir) != 0)
		return false; /* who could not be listed is known as such */
	while (fddir_next(dir, &fd, &text, link, &r)) {
		if (text.p[0] != '/' || !span_has(text, " (deleted)") || fdentry_of(fd, text).number == p->own.number)
			continue;
		TEXT_FORMAT(name, "%d", fd);
		const struct fifo_id other = waitlook_nameless_fifo(dirfd(dir), name);
		if (other.inode == p->fifo.inode && other.dev == p->fifo.dev)
			return true;
	}
	return false;
}

static bool fifo_is_whole(struct waitlook *l, const struct pend *p)
{
	const size_t most = 8; /* a look: each goes through the descriptors of all processes */
	if (p->fifo.inode == 0)
		return true;
	if (l->n_fifos++ >= most)
		return false;
	for (size_t i = 0; i < l->kin.n; i++)
		if (!l->kin.item[i].kernel_thread && has_fifo_by_another_path(l, p, l->kin.item[i].pid))
			return false;
	return true;
}

/* Descriptors of terminals' other sides that are asked about in one look: a process may have thousands. */
#define TERMINALS_MOST 1024

/* True if the process has the other side of this terminal open. */
static bool keeps_terminal(struct waitlook *l, const struct waitproc *x, uint64_t number)
{
	struct fdinfo info;
	for (size_t i = 0; x->fds_read && i < x->fds.n; i++)
		if (x->fds.entry[i].special == FD_TERMINALS && l->n_terminals++ < TERMINALS_MOST &&
		    fdtable_info(l->w, &x->fds, x->fds.entry[i].fd, &info) == 0 && (info.has & FDINFO_TERMINAL) &&
		    info.terminal == number)
			return true;
	return false;
}

/* True if one of its threads waits for a terminal's other side or another device: it may be reading. */
static bool waits_for_device(const struct waitlook *l, pid_t pid)
{
	for (size_t i = 0; i < l->f->n_threads; i++) {
		const struct waitfact_thread *t = &l->f->thread[i];
		for (uint32_t k = 0; t->pid == pid && k < t->n; k++)
			if (l->f->fact[t->first + k].kind == WAITFACT_DEVICE ||
			    l->f->fact[t->first + k].kind == WAITFACT_TERMINAL)
				return true;
	}
	return false;
}

/*
 * A terminal that takes no output: another wanted process that keeps its other side, and does not wait to read there.
 * Where one does, the output is stopped by a person.
 */
static void terminal_finish(struct waitlook *l, const struct pend *p, struct waitfact *f)
{
	for (size_t i = 0; i < l->n_procs; i++) {
		const pid_t pid = l->proc[i].kin->pid;
		if (pid == p->pid || !keeps_terminal(l, &l->proc[i], p->own.number))
			continue;
		if (waits_for_device(l, pid)) {
			f->n_holders = 0;
			return;
		}
		waitfact_holder_append(l, f, pid);
	}
}

static void pend_finish(struct waitlook *l, const struct pend *p)
{
	const struct fdobject none = {FDOBJECT_NONE, 0};
	struct waitfact *f = &l->f->fact[p->fact];
	switch (p->kind) {
	case PEND_SOCKET:
		socket_finish(l, p, f);
		break;
	case PEND_PIPE:
		pend_holders(l, f, p->own, p->access, none);
		/* That nobody at all has the other end of a FIFO is told by the kernel: who has it was not found. */
		f->complete = f->complete && !p->named && (p->own.class != FDOBJECT_FILE || f->n_holders > 0) &&
			      fifo_is_whole(l, p);
		break;
	case PEND_EVENTFD:
		pend_holders(l, f, p->own, -1, none);
		f->complete = f->complete && !kernel_may_signal(l, p->own);
		break;
	case PEND_FUSE:
		pend_holders(l, f, p->own, -1, none);
		f->owner = f->n_holders == 1;
		break;
	case PEND_FLOCK:
		file_lock_finish(l, p, f);
		break;
	case PEND_TIMER:
		numberless_finish(l, p, FD_TIMER, f);
		break;
	case PEND_EPOLL:
		l->f->thread[p->thread].cut |= is_open_outside(l, p, FD_EPOLL);
		break;
	case PEND_TERMINAL:
		terminal_finish(l, p, f);
		break;
	case PEND_CHANGE:
		if (waitlook_change(l, p, f))
			numberless_finish(l, p, FD_INOTIFY, f);
		break;
	case PEND_QUEUE:
		pend_holders(l, f, p->own, -1, none);
		f->complete = f->complete && !p->named;
		break;
	}
}

int waitlook_finish(struct waitlook *l, uint64_t budget_ns)
{
	if (l->n_pend == 0)
		return 0;
	int r = search(l, budget_ns);
	if (r)
		return r;
	for (size_t i = 0; i < l->n_pend; i++)
		pend_finish(l, &l->pend[i]);
	waitlook_options(l);
	l->f->unreadable = (uint32_t)l->search.n_denied;
	l->f->out_of_time = l->search.cut;
	return 0;
}
