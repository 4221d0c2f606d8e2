/* What a descriptor waits for. */
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

#include "base/buf.h"
#include "sense/wait/waitfacts_parts.h"

/* Bytes of a name in an address of unix(7). */
#define SOCKADDR_NAME sizeof(((struct sockaddr_un *)0)->sun_path)

/* The link of a descriptor, made printable. */
static void link_text(struct waiting *c, int fd, char *dst, size_t cap)
{
	char path[40], link[FDLINK_SHOWN];
	TEXT_FORMAT(path, "%d/fd/%d", (int)c->t->pid, fd);
	const ssize_t n = readlinkat(c->l->w->proc_fd, path, link, sizeof(link));
	span_copy((struct span){link, n > 0 ? (size_t)n : 0}, dst, cap);
}

/*
 * A FIFO of which the last name has been taken away, so that nobody can open it any more; inode 0: it is none. The link
 * says as much of one that has another name left, so the file's count of names decides; its file system is not asked.
 */
struct fifo_id waitlook_nameless_fifo(int dir, const char *path)
{
	const unsigned int needs = STATX_TYPE | STATX_NLINK | STATX_INO;
	struct statx x;
	if (statx(dir, path, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, needs, &x) != 0 || (x.stx_mask & needs) != needs ||
	    !S_ISFIFO(x.stx_mode) || x.stx_nlink != 0)
		return (struct fifo_id){.inode = 0};
	return (struct fifo_id){.dev = makedev(x.stx_dev_major, x.stx_dev_minor), .inode = x.stx_ino};
}

static struct fifo_id nameless_fifo(const struct waiting *c, int fd)
{
	char path[40];
	TEXT_FORMAT(path, "%d/fd/%d", (int)c->t->pid, fd);
	return c->l->w->recorded ? (struct fifo_id){.inode = 0} : waitlook_nameless_fifo(c->l->w->proc_fd, path);
}

static void pipe_add(struct waiting *c, const struct fdentry *e, bool writes, bool hangup)
{
	const bool named = e->kind == FD_FILE;
	const struct fifo_id fifo = named ? nameless_fifo(c, e->fd) : (struct fifo_id){.inode = 0};
	struct waitfact *f = waitfact_add(c, WAITFACT_PIPE);
	if (!f)
		return;
	f->id = e->number;
	f->to_write = writes;
	f->hangup = hangup;
	if (named)
		link_text(c, e->fd, f->text, sizeof(f->text));
	else
		TEXT_FORMAT(f->text, "pipe %llu", (unsigned long long)e->number);
	waitfact_pend(c->l, &(struct pend){.kind = PEND_PIPE,
					   .own = {named ? FDOBJECT_FILE : FDOBJECT_PIPE, e->number},
					   .access = writes ? O_RDONLY : O_WRONLY,
					   .named = named && fifo.inode == 0,
					   .fifo = fifo});
}

/* A pipe, or a FIFO that is open. */
static void pipe_take(struct waiting *c, const struct fdentry *e, bool to_read, bool to_write)
{
	int access;
	if (fdinfo_access(c->l->w, c->p->fds.info_dir, e->fd, &access) != 0) {
		ignore(waitfact_add(c, WAITFACT_UNKNOWN) != NULL, "no room is noted there");
		return;
	}
	/* A reading end waits for writers, a writing end for readers, whatever poll asks for: their end is reported. */
	const bool both = access == O_RDWR;
	if (access == O_RDONLY || (both && (to_read || !to_write)))
		pipe_add(c, e, false, !to_read);
	if (access == O_WRONLY || (both && to_write))
		pipe_add(c, e, true, !to_write);
}

/* The name to which a blocked send goes, if it gives a unix address; its length, 0: it gives none. */
static size_t send_name(struct waiting *c, char name[SOCKADDR_NAME])
{
	struct msghdr m;
	struct sockaddr_un a = {.sun_family = AF_UNSPEC};
	uint64_t at = c->tw->arg[4], len = c->tw->arg[5];
	if (c->tw->nr == SYS_sendmsg) {
		if (!waiting_memory(c, c->tw->arg[1], &m, sizeof(m)))
			return 0;
		at = (uint64_t)(uintptr_t)m.msg_name;
		len = m.msg_namelen;
	} else if (c->tw->nr != SYS_sendto) {
		return 0;
	}
	const size_t before = offsetof(struct sockaddr_un, sun_path);
	if (len <= before || len > sizeof(a) || !waiting_memory(c, at, &a, (size_t)len) || a.sun_family != AF_UNIX)
		return 0;
	memcpy(name, a.sun_path, SOCKADDR_NAME);
	return name[0] ? strnlen(name, (size_t)len - before) : (size_t)len - before;
}

/*
 * The other form of a path: a relative one below the working folder, an absolute one relative to it. The receiver may
 * have bound its socket by either, and the kernel keeps what it gave. 0: there is none.
 */
static uint64_t other_form_hash(struct waiting *c, const char *name, size_t len)
{
	char path[32], full[2 * PATH_MAX];
	TEXT_FORMAT(path, "%d/cwd", (int)c->t->pid);
	const ssize_t got = name[0] ? readlinkat(c->l->w->proc_fd, path, full, PATH_MAX) : 0;
	const size_t n = got > 1 && got < PATH_MAX ? (size_t)got : 0;
	if (n == 0)
		return 0;
	full[n] = '/';
	if (name[0] != '/') {
		memcpy(full + n + 1, name, len);
		return sockpeer_name_hash((struct span){full, n + 1 + len});
	}
	const bool below = len > n + 1 && memcmp(name, full, n + 1) == 0;
	return below ? sockpeer_name_hash((struct span){name + n + 1, len - n - 1}) : 0;
}

/* A send that names a receiver waits for that one, to which its own socket is not connected. */
static void receiver_take(struct waiting *c, struct waitfact *f, struct pend *p)
{
	char name[SOCKADDR_NAME], shown[64];
	const size_t len = send_name(c, name);
	if (len == 0)
		return;
	p->to_name[0] = sockpeer_name_hash((struct span){name, len});
	p->to_name[1] = other_form_hash(c, name, len);
	const bool is_path = name[0] != '\0';
	span_copy((struct span){name + !is_path, len - !is_path}, shown, sizeof(shown));
	TEXT_FORMAT(f->text, "unix datagrams to %s%s", is_path ? "" : "@", shown);
}

static void socket_take(struct waiting *c, const struct fdentry *e, bool to_read, bool to_write)
{
	struct waitfact *f = waitfact_add(c, WAITFACT_UNKNOWN);
	if (!f)
		return;
	f->id = e->number;
	f->to_write = to_write && !to_read;
	f->unheard = !to_read && !to_write;
	TEXT_FORMAT(f->text, "socket %llu", (unsigned long long)e->number);
	struct pend p = {.kind = PEND_SOCKET,
			 .own = {FDOBJECT_SOCKET, e->number},
			 .pid = c->t->pid,
			 .fd = e->fd,
			 .blocks = call_shape(c->tw->nr) == CALL_FD,
			 .thread = (uint32_t)c->l->f->n_threads};
	if (f->to_write)
		receiver_take(c, f, &p);
	waitfact_pend(c->l, &p);
}

static void eventfd_take(struct waiting *c, const struct fdentry *e, bool to_write)
{
	struct fdinfo info;
	struct waitfact *f = waitfact_add(c, WAITFACT_EVENTFD);
	if (!f)
		return;
	f->to_write = to_write;
	TEXT_FORMAT(f->text, "eventfd");
	if (fdtable_info(c->l->w, &c->p->fds, e->fd, &info) != 0 || !(info.has & FDINFO_EVENTFD))
		return;
	f->id = info.eventfd_id;
	TEXT_FORMAT(f->text, "eventfd %llu", (unsigned long long)info.eventfd_id);
	waitfact_pend(c->l, &(struct pend){.kind = PEND_EVENTFD, .own = {FDOBJECT_EVENTFD, info.eventfd_id}});
}

static void pidfd_take(struct waiting *c, const struct fdentry *e)
{
	struct fdinfo info;
	const struct kin *k = NULL;
	if (fdtable_info(c->l->w, &c->p->fds, e->fd, &info) == 0 && (info.has & FDINFO_PID) && info.pid > 0 &&
	    info.pid <= INT32_MAX)
		k = kinship_find(&c->l->kin, (pid_t)info.pid);
	struct waitfact *f = waitfact_add(c, k ? WAITFACT_CHILD : WAITFACT_UNKNOWN);
	if (!f)
		return;
	if (!k) {
		TEXT_FORMAT(f->text, "pidfd %d", e->fd);
		return;
	}
	f->id = (uint64_t)k->pid;
	f->owner = f->complete = true;
	TEXT_FORMAT(f->text, "end of process %d (%s)", (int)k->pid, k->comm);
	waitfact_holder_add(c->l, f, k->pid, 0);
}

static void timerfd_take(struct waiting *c, const struct fdentry *e)
{
	struct fdinfo info;
	const bool told = fdtable_info(c->l->w, &c->p->fds, e->fd, &info) == 0 && (info.has & FDINFO_TIMER);
	const bool set = told && info.timer_set;
	const bool off = told && !set;
	struct waitfact *f = waitfact_add(c, set ? WAITFACT_CLOCK : off ? WAITFACT_EVENTFD : WAITFACT_UNKNOWN);
	if (!f)
		return;
	TEXT_FORMAT(f->text, "timerfd %d%s", e->fd, off ? ", which is not set" : "");
	if (off)
		waitfact_pend(c->l, &(struct pend){.kind = PEND_TIMER, .pid = c->t->pid, .fd = e->fd});
}

static void other_take(struct waiting *c, const struct fdentry *e, bool to_write)
{
	enum waitfact_kind kind = WAITFACT_UNKNOWN;
	if (e->kind == FD_TTY)
		kind = WAITFACT_TERMINAL;
	else if (e->kind == FD_SIGNAL)
		kind = WAITFACT_SIGNAL;
	else if (e->special == FD_DEVICE || e->special == FD_TERMINALS)
		kind = WAITFACT_DEVICE;
	struct waitfact *f = waitfact_add(c, kind);
	if (!f)
		return;
	f->to_write = kind == WAITFACT_TERMINAL && to_write;
	link_text(c, e->fd, f->text, sizeof(f->text));
	uint64_t number;
	struct span after = span_after(span_of(f->text), "/dev/pts/");
	if (f->to_write && after.p && span_u64(after, &number) == 0)
		waitfact_pend(c->l, &(struct pend){
					    .kind = PEND_TERMINAL, .own = {FDOBJECT_NONE, number}, .pid = c->t->pid});
}

/* Signals that have no meaning but what programs give them: SIGUSR1, SIGUSR2, SIGURG (but for sockets), from 34 on. */
#define SIGNALS_WITHOUT_MEANING (UINT64_C(1) << 9 | UINT64_C(1) << 11 | UINT64_C(1) << 22 | ~UINT64_C(0) << 33)

/* Whoever starts programs is mostly told of their ends so. */
static void signalfd_take(struct waiting *c, const struct fdentry *e)
{
	struct fdinfo info;
	const struct waitfacts *all = c->l->f;
	const size_t before = all->n_facts;
	const bool told = fdtable_info(c->l->w, &c->p->fds, e->fd, &info) == 0 && (info.has & FDINFO_SIGNALS);
	if (told && waiting_signals(c, info.signals))
		return;
	other_take(c, e, false);
	if (told && all->n_facts > before && all->fact[all->n_facts - 1].kind == WAITFACT_SIGNAL)
		all->fact[all->n_facts - 1].tells = info.signals & SIGNALS_WITHOUT_MEANING;
}

/* A file that poll waits for is no regular one, which is always ready: a FIFO, or a file of the kernel. */
static void file_take(struct waiting *c, const struct fdentry *e, bool to_read, bool to_write)
{
	const bool polls = call_shape(c->tw->nr) == CALL_POLL;
	const char *wchan = polls ? "" : waiting_wchan(c);
	if (polls && waiting_fd_is_kernels(c, e->fd))
		other_take(c, e, to_write && !to_read);
	else if (polls || strstr(wchan, "pipe_read") || strstr(wchan, "pipe_write"))
		pipe_take(c, e, to_read, to_write);
	else
		waiting_file(c, e->fd);
}

void waiting_fd(struct waiting *c, int fd, bool to_read, bool to_write, int depth)
{
	const struct fdentry *e = fdtable_find(&c->p->fds, fd);
	if (!e) {
		struct waitfact *f = waitfact_add(c, WAITFACT_UNKNOWN);
		if (f)
			TEXT_FORMAT(f->text, "descriptor %d, which cannot be read", fd);
		return;
	}
	switch (e->kind) {
	case FD_PIPE:
		pipe_take(c, e, to_read, to_write);
		break;
	case FD_SOCKET:
		socket_take(c, e, to_read, to_write);
		break;
	case FD_EVENT:
		eventfd_take(c, e, to_write && !to_read);
		break;
	case FD_EPOLL:
		waiting_epoll(c, fd, depth);
		break;
	case FD_SIGNAL:
		signalfd_take(c, e);
		break;
	case FD_TIMER:
		timerfd_take(c, e);
		break;
	case FD_PIDFD:
		pidfd_take(c, e);
		break;
	case FD_INOTIFY:
		waiting_change(c, fd);
		break;
	case FD_FILE:
		file_take(c, e, to_read, to_write);
		break;
	default:
		other_take(c, e, to_write && !to_read);
		break;
	}
}
