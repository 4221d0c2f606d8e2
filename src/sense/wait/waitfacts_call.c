/* From the state and the call of a thread to the alternatives that it waits for. */
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/buf.h"
#include "sense/memory/cgroup.h"
#include "sense/proc/proc.h"
#include "sense/wait/waitfacts_parts.h"

enum transfer { TRANSFER_NONE, TRANSFER_READ, TRANSFER_WRITE };

static enum transfer transfer_of(int64_t nr)
{
	static const int64_t reads[] = {SYS_read,     SYS_readv,   SYS_pread64,	 SYS_preadv, SYS_preadv2,
					SYS_recvfrom, SYS_recvmsg, SYS_recvmmsg, SYS_accept, SYS_accept4};
	static const int64_t writes[] = {SYS_write,    SYS_writev, SYS_pwrite64, SYS_pwritev,
					 SYS_pwritev2, SYS_sendto, SYS_sendmsg,	 SYS_sendmmsg};
	for (size_t i = 0; i < ARRAY_SIZE(reads); i++)
		if (reads[i] == nr)
			return TRANSFER_READ;
	for (size_t i = 0; i < ARRAY_SIZE(writes); i++)
		if (writes[i] == nr)
			return TRANSFER_WRITE;
	return TRANSFER_NONE;
}

static void unknown_add(struct waiting *c)
{
	struct waitfact *f = waitfact_add(c, WAITFACT_UNKNOWN);
	if (!f)
		return;
	const char *wchan = waiting_wchan(c);
	if (c->tw->has_syscall && c->tw->nr >= 0)
		TEXT_FORMAT(f->text, "%s%s%s", syscall_name(c->tw->nr), wchan[0] ? " in " : "", wchan);
	else
		TEXT_FORMAT(f->text, "%s", wchan[0] ? wchan : "it may not be read");
}

static void plain_add(struct waiting *c, enum waitfact_kind kind, const char *text)
{
	struct waitfact *f = waitfact_add(c, kind);
	if (f)
		TEXT_FORMAT(f->text, "%s", text);
}

static void stopped_add(struct waiting *c)
{
	char where[CGROUP_PATH_MAX];
	struct proc_status s;
	struct waitfact *f;
	if (c->tw->state == 'T') {
		plain_add(c, WAITFACT_STOPPED, "stopped by a signal");
	} else if (c->tw->state == 't') {
		const bool traced = proc_status_read(c->l->w, c->t->tid, &s) == 0 && s.tracer > 0;
		f = waitfact_add(c, WAITFACT_TRACED);
		if (!f || !traced)
			return;
		f->owner = f->complete = true;
		f->id = (uint64_t)s.tracer;
		TEXT_FORMAT(f->text, "held by its tracer %d", (int)s.tracer);
		waitfact_holder_add(c->l, f, s.tracer, 0);
	} else if (process_is_frozen(c->l->w, c->t->pid, where, sizeof(where))) {
		f = waitfact_add(c, WAITFACT_FROZEN);
		if (f)
			span_copy(span_of(where), f->text, sizeof(f->text));
	} else {
		unknown_add(c);
	}
}

static int descriptor_argument(const struct waiting *c, size_t i)
{
	return (int)MIN(c->tw->arg[i], (uint64_t)INT32_MAX);
}

/*
 * True of a call that has what it waits for, and cannot copy it: the page is brought by whoever has the userfaultfd, or
 * comes from a disk. A wait for a pipe, a socket or the like can be interrupted (state S).
 */
static bool waits_for_a_page(struct waiting *c, const struct fdentry *e)
{
	if (!e || e->kind == FD_FILE || e->kind == FD_OTHER || e->special != FD_PLAIN)
		return false;
	return c->tw->state == 'D' || strstr(waiting_wchan(c), "userfault");
}

/* Calls that work on a descriptor. */
static void by_descriptor(struct waiting *c)
{
	const int64_t nr = c->tw->nr;
	const int fd = descriptor_argument(c, 0);
	const enum transfer t = transfer_of(nr);
	const struct fdentry *e = fdtable_find(&c->p->fds, fd);
	const bool locks =
		nr == SYS_flock || (nr == SYS_fcntl && (c->tw->arg[1] == F_SETLKW || c->tw->arg[1] == F_OFD_SETLKW));
	if (waits_for_a_page(c, e)) {
		unknown_add(c);
	} else if (locks) {
		waiting_file_lock(c);
	} else if (nr == SYS_sendfile) {
		/* One of the two is not ready. */
		waiting_fd(c, descriptor_argument(c, 1), true, false, 0);
		waiting_fd(c, fd, false, true, 0);
	} else if (nr == SYS_splice) {
		waiting_fd(c, fd, true, false, 0);
		waiting_fd(c, descriptor_argument(c, 2), false, true, 0);
	} else if (nr == SYS_connect && e && e->kind == FD_SOCKET) {
		struct waitfact *f = waitfact_add(c, WAITFACT_CONNECT);
		if (!f)
			return;
		f->id = e->number;
		TEXT_FORMAT(f->text, "socket %llu, connecting", (unsigned long long)e->number);
		waitfact_pend(c->l, &(struct pend){.kind = PEND_SOCKET,
						   .own = {FDOBJECT_SOCKET, e->number},
						   .pid = c->t->pid,
						   .fd = fd,
						   .blocks = true,
						   .thread = (uint32_t)c->l->f->n_threads});
	} else if (t != TRANSFER_NONE) {
		waiting_fd(c, fd, t == TRANSFER_READ, t == TRANSFER_WRITE, 0);
	} else if (e && e->kind == FD_FILE) {
		waiting_file(c, fd);
	} else if (e && (e->kind == FD_TTY || e->special == FD_DEVICE || e->special == FD_TERMINALS)) {
		waiting_fd(c, fd, true, false, 0);
	} else {
		unknown_add(c);
	}
}

/* Calls of System V and of message queues; false for others. */
static bool by_ipc(struct waiting *c)
{
	switch (c->tw->nr) {
	case SYS_semtimedop:
	case SYS_semop:
		waiting_semaphore(c);
		return true;
	case SYS_msgrcv:
	case SYS_msgsnd:
		waiting_message(c);
		return true;
	case SYS_mq_timedreceive:
	case SYS_mq_timedsend:
		waiting_queue(c);
		return true;
	default:
		return false;
	}
}

static bool is_vfork(struct waiting *c)
{
	return wait_kind_of_wchan(waiting_wchan(c), 'D') == WAIT_CHILD;
}

static void by_call(struct waiting *c)
{
	if (by_ipc(c))
		return;
	switch (call_shape(c->tw->nr)) {
	case CALL_FD:
		by_descriptor(c);
		break;
	case CALL_FILE:
		waiting_file(c, -1);
		break;
	case CALL_LOCK:
		waiting_futex(c);
		break;
	case CALL_SLEEP:
		plain_add(c, WAITFACT_CLOCK, syscall_name(c->tw->nr));
		break;
	case CALL_POLL:
		waiting_poll(c);
		break;
	case CALL_CHILD:
		waiting_child(c);
		break;
	case CALL_SIGNAL:
		waiting_signal(c);
		break;
	case CALL_VFORK:
		if (is_vfork(c))
			waiting_vfork(c);
		else
			unknown_add(c);
		break;
	default:
		unknown_add(c);
		break;
	}
}

void waiting_read(struct waiting *c)
{
	if (c->tw->kind == WAIT_STOPPED) {
		stopped_add(c);
		return;
	}
	if (!c->tw->has_syscall) {
		unknown_add(c);
		return;
	}
	waiting_limit(c);
	/* Outside a call only a page fault blocks: a file that is mapped, swap, or a userfaultfd. */
	if (c->tw->nr < 0) {
		if (c->tw->state == 'D' && !strstr(waiting_wchan(c), "userfault"))
			plain_add(c, WAITFACT_STORAGE, "page fault");
		else
			unknown_add(c);
		return;
	}
	by_call(c);
}
