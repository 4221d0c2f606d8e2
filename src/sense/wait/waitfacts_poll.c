/* poll, select and epoll: one alternative for each descriptor that is watched. */
#include <poll.h>
#include <sys/epoll.h>
#include <sys/syscall.h>

#include "base/buf.h"
#include "base/file.h"
#include "sense/proc/kcmp.h"
#include "sense/wait/waitfacts_parts.h"

/* Descriptors of one call that are read. */
#define POLL_MAX 65536
/* Epoll descriptors within each other; the kernel allows 5. */
#define EPOLL_DEPTH_MAX 5
/* Epoll descriptors of one wait: members that are epoll descriptors multiply. */
#define EPOLLS_MAX 64
/* fdinfo of an epoll descriptor: about 80 bytes for each member. */
#define EPOLL_TEXT_MAX (8 * MIB)

static void poll_array(struct waiting *c, uint64_t addr, uint64_t n)
{
	struct pollfd part[128];
	if (n > POLL_MAX) {
		n = POLL_MAX;
		c->t->cut = true;
	}
	for (uint64_t i = 0; i < n; i += ARRAY_SIZE(part)) {
		const size_t here = (size_t)MIN(n - i, (uint64_t)ARRAY_SIZE(part));
		if (!waiting_memory(c, addr + i * sizeof(part[0]), part, here * sizeof(part[0]))) {
			c->t->cut = true;
			return;
		}
		for (size_t j = 0; j < here; j++)
			if (part[j].fd >= 0)
				waiting_fd(c, part[j].fd, part[j].events & (POLLIN | POLLRDNORM | POLLRDHUP | POLLPRI),
					   part[j].events & (POLLOUT | POLLWRNORM), 0);
	}
}

/* The kernel leaves the sets as they are until the call returns. */
static void select_sets(struct waiting *c)
{
	uint64_t set[3][POLL_MAX / 64] = {};
	const uint64_t n = MIN((uint64_t)(uint32_t)c->tw->arg[0], (uint64_t)POLL_MAX);
	const size_t bytes = (size_t)(n + 63) / 64 * 8;
	for (size_t i = 0; i < 3; i++)
		if (c->tw->arg[1 + i] && bytes && !waiting_memory(c, c->tw->arg[1 + i], set[i], bytes)) {
			c->t->cut = true;
			return;
		}
	c->t->cut |= n < (uint32_t)c->tw->arg[0];
	for (size_t fd = 0; fd < n; fd++) {
		const uint64_t bit = UINT64_C(1) << fd % 64;
		const bool in = (set[0][fd / 64] | set[2][fd / 64]) & bit, out = set[1][fd / 64] & bit;
		if (in || out)
			waiting_fd(c, (int)fd, in, out, 0);
	}
}

/*
 * A member is its file, not its number: the number may have been closed since and may belong to another file. Pipes and
 * sockets are found by their inode; other kinds have one inode for all, so the number has to have that inode, and the
 * kernel is asked (kcmp(2)).
 */
static void epoll_member_take(struct waiting *c, int epoll, const struct epoll_member *m, int depth)
{
	struct fdinfo info;
	const bool in = m->events & (EPOLLIN | EPOLLPRI | EPOLLRDHUP | EPOLLRDNORM);
	const bool out = m->events & (EPOLLOUT | EPOLLWRNORM);
	const struct fdtable *t = &c->p->fds;
	const struct fdentry *e = fdtable_find(t, m->fd);
	const bool by_inode = e && (e->kind == FD_PIPE || e->kind == FD_SOCKET);
	if (e && (m->inode == 0 || (by_inode && e->number == m->inode))) {
		waiting_fd(c, m->fd, in, out, depth);
		return;
	}
	if (e && !by_inode && fdtable_info(c->l->w, t, m->fd, &info) == 0 && (info.has & FDINFO_INODE) &&
	    info.inode == m->inode && epoll_may_watch(c->l->w, c->t->pid, epoll, m->fd)) {
		waiting_fd(c, m->fd, in, out, depth);
		return;
	}
	for (size_t i = 0; i < t->n; i++)
		if ((t->entry[i].kind == FD_PIPE || t->entry[i].kind == FD_SOCKET) && t->entry[i].number == m->inode) {
			waiting_fd(c, t->entry[i].fd, in, out, depth);
			return;
		}
	struct waitfact *f = waitfact_add(c, WAITFACT_UNKNOWN);
	if (f)
		TEXT_FORMAT(f->text, "a member of an epoll descriptor that this process has closed (%d)", m->fd);
}

void waiting_epoll(struct waiting *c, int fd, int depth)
{
	char path[96];
	cleanup(freep) char *text = NULL;
	size_t len;
	struct epoll_member m;
	TEXT_FORMAT(path, "%s/%d", c->p->fds.info_dir, fd);
	int r = depth >= EPOLL_DEPTH_MAX || c->n_epolls++ >= EPOLLS_MAX || c->l->w->proc_fd < 0
			? -ELOOP
			: file_slurp(c->l->w->proc_fd, path, EPOLL_TEXT_MAX, &text, &len);
	if (r) {
		struct waitfact *f = waitfact_add(c, WAITFACT_UNKNOWN);
		if (f)
			TEXT_FORMAT(f->text, "epoll descriptor %d, whose members cannot be read", fd);
		c->t->cut = true;
		return;
	}
	struct span rest = {text, len};
	while (epoll_member_next(&rest, &m))
		epoll_member_take(c, fd, &m, depth + 1);
	if (c->t->n == 0)
		return;
	waitfact_pend(c->l, &(struct pend){.kind = PEND_EPOLL,
					   .pid = c->t->pid,
					   .fd = fd,
					   .thread = (uint32_t)c->l->f->n_threads});
}

void waiting_poll(struct waiting *c)
{
	const uint64_t *arg = c->tw->arg;
	const int64_t nr = c->tw->nr;
	const uint32_t before = c->t->n;
#ifdef SYS_poll
	if (nr == SYS_poll)
		poll_array(c, arg[0], (uint32_t)arg[1]);
	else if (nr == SYS_select)
		select_sets(c);
#endif
	if (nr == SYS_ppoll)
		poll_array(c, arg[0], (uint32_t)arg[1]);
	else if (nr == SYS_pselect6)
		select_sets(c);
	else if (span_starts(span_of(syscall_name(nr)), "epoll_"))
		waiting_epoll(c, (int)MIN(arg[0], (uint64_t)INT32_MAX), 0);
	if (c->t->n > before || c->t->cut)
		return;
	/* Nothing is watched: a sleep, or a wait for a signal. */
	struct waitfact *f = waitfact_add(c, c->t->timed ? WAITFACT_CLOCK : WAITFACT_SIGNAL);
	if (f)
		TEXT_FORMAT(f->text, "%s of no descriptor", syscall_name(nr));
}
