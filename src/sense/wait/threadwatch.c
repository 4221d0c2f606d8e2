#include <fcntl.h>
#include <string.h>

#include "base/bisect.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/vec.h"
#include "sense/proc/keptfds.h"
#include "sense/proc/proc.h"
#include "sense/wait/threadwait_parts.h"

/* Descriptors kept open at most, two per thread; the files of other threads are opened for each read. */
#define WATCH_FDS_MAX 512
/* Number of reads of an unchanged wait after which the state is read again, as the thread may have been stopped. */
#define WATCH_BELIEVE 16

struct watched {
	pid_t tid;
	int syscall_fd, stat_fd; /* -1: not kept open */
	bool syscall_denied;
	bool seen; /* nr, arg0, sp and pc are of an earlier read */
	uint8_t believed; /* reads since the state was read; 0: kind is unknown */
	enum wait_kind kind;
	int64_t nr;
	uint64_t arg0, sp, pc;
};

struct threadwatch {
	const struct world *w;
	pid_t pid;
	struct watched *threads; /* by rising tid */
	size_t n, cap;
	size_t n_fds;
};

struct threadwatch *threadwatch_new(const struct world *w, pid_t pid)
{
	struct threadwatch *t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->w = w;
	t->pid = pid;
	return t;
}

static void watched_close(struct threadwatch *t, struct watched *e)
{
	const size_t n = (size_t)(e->syscall_fd >= 0) + (size_t)(e->stat_fd >= 0);
	t->n_fds -= n;
	keptfds_give(n);
	closep(&e->syscall_fd);
	closep(&e->stat_fd);
}

struct threadwatch *threadwatch_free(struct threadwatch *t)
{
	if (!t)
		return NULL;
	for (size_t i = 0; i < t->n; i++)
		watched_close(t, &t->threads[i]);
	free(t->threads);
	free(t);
	return NULL;
}

static struct watched *watched_find(struct threadwatch *t, pid_t tid)
{
	size_t low = bisect(t->n, i, t->threads[i].tid < tid);
	if (low < t->n && t->threads[low].tid == tid)
		return &t->threads[low];
	if (vec_room(&t->threads, &t->cap, t->n + 1) < 0)
		return NULL;
	memmove(&t->threads[low + 1], &t->threads[low], (t->n - low) * sizeof(*t->threads));
	t->n++;
	t->threads[low] = (struct watched){.tid = tid, .syscall_fd = -1, .stat_fd = -1};
	return &t->threads[low];
}

static void watched_forget(struct threadwatch *t, pid_t tid)
{
	struct watched *e = watched_find(t, tid);
	if (!e)
		return;
	watched_close(t, e);
	const size_t at = (size_t)(e - t->threads);
	memmove(e, e + 1, (t->n - at - 1) * sizeof(*e));
	t->n--;
}

/* One file of a thread, kept open while there is room. */
static int watched_read(struct threadwatch *t, pid_t tid, int *fd, const char *file, char *buf, size_t cap,
			size_t *ret_len)
{
	char path[64];
	if (*fd >= 0) {
		ssize_t n = pread(*fd, buf, cap - 1, 0);
		if (n < 0)
			return world_condition(-errno);
		buf[n] = '\0';
		*ret_len = (size_t)n;
		return n > 0 ? 0 : WORLD_GONE;
	}
	if (t->w->proc_fd < 0)
		return WORLD_ABSENT;
	TEXT_FORMAT(path, "%d/task/%d/%s", t->pid, tid, file);
	cleanup(closep) int opened = openat(t->w->proc_fd, path, O_RDONLY | O_CLOEXEC);
	if (opened < 0)
		return world_condition(-errno);
	ssize_t n = pread(opened, buf, cap - 1, 0);
	if (n < 0)
		return world_condition(-errno);
	buf[n] = '\0';
	*ret_len = (size_t)n;
	if (n > 0 && t->n_fds < WATCH_FDS_MAX && keptfds_take()) {
		*fd = take_fd(&opened);
		t->n_fds++;
	}
	return n > 0 ? 0 : WORLD_GONE;
}

/* Reads the state where the call alone is ambiguous: stopped, frozen, uninterruptible. */
static int watched_decide(struct threadwatch *t, struct watched *e, struct threadwait *now)
{
	char text[1024];
	struct proc_stat stat;
	size_t len;
	int r = watched_read(t, e->tid, &e->stat_fd, "stat", text, sizeof(text), &len);
	if (r)
		return r;
	if (proc_stat_parse((struct span){text, len}, &stat) < 0)
		return WORLD_GONE;
	now->state = stat.state;
	if (now->state == 'D' || (now->state == 'S' && (now->nr < 0 || call_shape(now->nr) == CALL_RESTART)))
		ignore(task_wchan_read(t->w, t->pid, e->tid, now->wchan, sizeof(now->wchan)), "left empty");
	now->kind = wait_kind_decide(t->w, t->pid, now, &now->fd);
	return 0;
}

static int watched_sample(struct threadwatch *t, struct watched *e, struct threadwatch_call *ret)
{
	char text[512];
	size_t len;
	struct threadwait now = {.nr = -1, .fd = -1};
	int r = e->syscall_denied ? WORLD_DENIED
				  : watched_read(t, e->tid, &e->syscall_fd, "syscall", text, sizeof(text), &len);
	if (r == WORLD_DENIED || r == WORLD_ABSENT) {
		e->syscall_denied = true;
	} else if (r) {
		return r;
	} else if (threadwait_syscall_parse((struct span){text, len}, &now) < 0) {
		return -EBADMSG;
	} else if (!now.has_syscall) {
		e->believed = 0;
		*ret = (struct threadwatch_call){.kind = WAIT_RUNNING, .nr = -1};
		return 0;
	}
	/* The earlier wait, interrupted by a stop and continued: restart_syscall does not name the call. */
	if (now.has_syscall && now.nr >= 0 && call_shape(now.nr) == CALL_RESTART && e->seen && now.sp == e->sp &&
	    now.pc == e->pc)
		now.nr = e->nr;
	const bool same = now.has_syscall && e->believed > 0 && e->believed < WATCH_BELIEVE && now.nr == e->nr &&
			  now.arg[0] == e->arg0 && now.sp == e->sp && now.pc == e->pc;
	if (!same) {
		r = watched_decide(t, e, &now);
		if (r)
			return r;
		e->believed = 0;
		e->kind = now.kind;
		e->seen = now.has_syscall && now.nr >= 0;
		e->nr = now.nr;
		e->arg0 = now.arg[0];
		e->sp = now.sp;
		e->pc = now.pc;
	}
	e->believed++;
	*ret = (struct threadwatch_call){.kind = e->kind, .nr = now.nr, .arg = {now.arg[0], now.arg[1], now.arg[2]}};
	return 0;
}

int threadwatch_call(struct threadwatch *t, pid_t tid, struct threadwatch_call *ret)
{
	struct watched *e = watched_find(t, tid);
	if (!e)
		return -ENOMEM;
	const bool kept = e->syscall_fd >= 0 || e->stat_fd >= 0;
	int r = watched_sample(t, e, ret);
	if (r == 0)
		return 0;
	watched_forget(t, tid);
	if (r != WORLD_GONE || !kept)
		return r;
	/* The tid may have been reused; the open files are those of the old thread. */
	e = watched_find(t, tid);
	if (!e)
		return -ENOMEM;
	r = watched_sample(t, e, ret);
	if (r)
		watched_forget(t, tid);
	return r;
}

int threadwatch_kind(struct threadwatch *t, pid_t tid, enum wait_kind *ret, int64_t *ret_nr, uint64_t *ret_arg)
{
	struct threadwatch_call c;
	int r = threadwatch_call(t, tid, &c);
	if (r)
		return r;
	*ret = c.kind;
	*ret_nr = c.nr;
	*ret_arg = c.arg[0];
	return 0;
}
