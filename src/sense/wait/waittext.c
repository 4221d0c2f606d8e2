/* Describes a wait in one line for people, from the arguments of its call. */
#include <linux/futex.h>
#include <poll.h>
#include <string.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mask/mask.h"
#include "base/units.h"
#include "sense/memory/cgroup.h"
#include "sense/proc/access.h"
#include "sense/proc/proc.h"
#include "sense/wait/threadwait_parts.h"

/* Descriptors of a poll that are named at most. */
#define POLL_NAMED 8
#define EPOLL_INFO_MAX 8192

struct describe {
	const struct world *w;
	pid_t pid, tid;
	struct remote *r; /* may be NULL */
	struct threadwait *t;
	struct buf text;
};

static bool call_is(const struct describe *d, const char *name)
{
	return d->t->has_syscall && d->t->nr >= 0 && strcmp(syscall_name(d->t->nr), name) == 0;
}

static bool far_read(const struct describe *d, uint64_t addr, void *into, size_t len)
{
	return d->r && addr != 0 && remote_read(d->r, addr, into, len) == 0;
}

/* ---- locks ---- */

static void add_owner(struct describe *d, const struct lock_owner *o)
{
	char comm[16];
	struct threadwait *t = d->t;
	if (o->gone) {
		t->owner = o->tid;
		t->owner_gone = true;
		buf_printf(&d->text,
			   "mutex inherited over fork: held by thread %d, which does not exist in this process and "
			   "will never release it",
			   o->tid);
		return;
	}
	if (o->gone_maybe) {
		buf_printf(
			&d->text,
			"mutex taken by thread %d, which is not in this process (ended, or lock inherited over fork)",
			o->tid);
		return;
	}
	if (o->shape == LOCK_FUTEX) {
		buf_add(&d->text,
			"futex: lock, condition variable or semaphore; the futex itself does not say who holds it");
		return;
	}
	if (o->shape == LOCK_JOIN) {
		buf_printf(&d->text, "pthread_join: waits for thread %d (%s) to end", o->tid,
			   task_comm(d->w, d->pid, o->tid, comm));
		return;
	}
	t->owner = o->tid;
	buf_printf(&d->text, "futex, held by thread %d (%s)%s", o->tid,
		   task_comm(d->w, o->elsewhere ? 0 : d->pid, o->tid, comm), o->elsewhere ? " of another process" : "");
}

static void describe_lock(struct describe *d)
{
	struct lock_owner o = {};
	if (d->r && d->t->has_syscall)
		lock_owner_read(d->w, d->pid, d->tid, d->t, d->r, &o);
	add_owner(d, &o);
	if (call_is(d, "futex") && d->t->arg[3] != 0)
		buf_add(&d->text, ", with a time limit");
}

/* ---- sleep ---- */

/* Adds the time left, as Python sleeps until a set time. Of a clock of another time namespace that is not known. */
static void add_time_left(struct describe *d, const struct timespec *until)
{
	char duration[24];
	uint64_t now_ns = 0;
	const uint64_t s = (uint64_t)until->tv_sec;
	if (d->t->arg[0] == CLOCK_MONOTONIC)
		now_ns = access_same_namespace(d->w, d->pid, "time") == 0 ? 0 : d->w->mono_ns();
	else if (d->t->arg[0] == CLOCK_REALTIME)
		now_ns = (uint64_t)d->w->unix_ms() * NS_PER_MS;
	const uint64_t until_ns = s >= UINT64_MAX / NS_PER_S - 1 ? 0 : s * NS_PER_S + (uint64_t)until->tv_nsec;
	d->t->sleep_until_ns = until_ns;
	d->t->sleep_left_ns = now_ns ? sub_floor(until_ns, now_ns) : 0;
	if (now_ns == 0 || until_ns <= now_ns)
		buf_add(&d->text, "sleeping until a set time");
	else
		buf_printf(&d->text, "sleeping, %s left", duration_format(until_ns - now_ns, duration));
}

static void describe_sleep(struct describe *d)
{
	struct timespec ts;
	char duration[24];
	const bool clock = call_is(d, "clock_nanosleep");
	if (!clock && !call_is(d, "nanosleep")) {
		buf_add(&d->text, d->t->target[0] ? d->t->target : "sleeping");
		return;
	}
	if (!far_read(d, d->t->arg[clock ? 2 : 0], &ts, sizeof(ts)) || ts.tv_sec < 0 || ts.tv_nsec < 0 ||
	    ts.tv_nsec >= (long)NS_PER_S) {
		buf_add(&d->text, "sleeping");
		return;
	}
	const uint64_t s = (uint64_t)ts.tv_sec;
	if (clock && (d->t->arg[1] & TIMER_ABSTIME)) {
		add_time_left(d, &ts);
		return;
	}
	if (s >= UINT64_MAX / NS_PER_S - 1) {
		buf_printf(&d->text, "sleeping %llu s", (unsigned long long)s);
		return;
	}
	d->t->sleep_ns = s * NS_PER_S + (uint64_t)ts.tv_nsec;
	buf_printf(&d->text, "sleeping %s", duration_format(d->t->sleep_ns, duration));
}

/* A poll of no descriptors is a sleep. The kernel does not change the argument of select before it returns. */
static void sleep_of_poll(struct describe *d)
{
	struct timespec ts;
	struct timeval tv;
	const uint64_t *arg = d->t->arg;
	const bool select = call_is(d, "select"), pselect = call_is(d, "pselect6"), ppoll = call_is(d, "ppoll");
	if (call_is(d, "poll") && arg[1] == 0 && (int)arg[2] > 0)
		d->t->sleep_ns = arg[2] * NS_PER_MS;
	else if (select && arg[0] == 0 && arg[4] && far_read(d, arg[4], &tv, sizeof(tv)) && tv.tv_sec >= 0 &&
		 tv.tv_sec < INT32_MAX && tv.tv_usec >= 0)
		d->t->sleep_ns = (uint64_t)tv.tv_sec * NS_PER_S + (uint64_t)tv.tv_usec * 1000;
	else if (((pselect && arg[0] == 0 && arg[4]) || (ppoll && arg[1] == 0 && arg[2])) &&
		 far_read(d, arg[pselect ? 4 : 2], &ts, sizeof(ts)) && ts.tv_sec >= 0 && ts.tv_sec < INT32_MAX &&
		 ts.tv_nsec >= 0)
		d->t->sleep_ns = (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

static bool polls_nothing(const struct describe *d)
{
	if (call_is(d, "select") || call_is(d, "pselect6"))
		return d->t->arg[0] == 0;
	return (call_is(d, "poll") || call_is(d, "ppoll")) && d->t->arg[1] == 0;
}

/* Describes time.sleep of Python up to 3.10. */
static void describe_poll_of_nothing(struct describe *d)
{
	char duration[24];
	if (d->t->sleep_ns > 0)
		buf_printf(&d->text, "sleeping %s", duration_format(d->t->sleep_ns, duration));
	else
		buf_printf(&d->text, "%s of no descriptor: a signal ends it, or its time", syscall_name(d->t->nr));
}

/* ---- poll ---- */

static void add_fd(struct describe *d, struct buf *to, int fd, const char *separator)
{
	char target[160];
	struct fd_link l;
	buf_printf(to, "%sfd %d", separator, fd);
	if (fdtarget_read(d->w, d->pid, fd, 0, &l, target, sizeof(target)) == 0) {
		buf_printf(to, " %s", target);
		d->t->listens |= l.listens;
	}
}

static void describe_pollfds(struct describe *d, struct buf *target)
{
	struct pollfd fds[POLL_NAMED];
	const uint64_t n = d->t->arg[1];
	buf_printf(&d->text, "%s of %llu descriptor%s", syscall_name(d->t->nr), (unsigned long long)n,
		   n == 1 ? "" : "s");
	const size_t named = (size_t)MIN(n, (uint64_t)POLL_NAMED);
	if (named == 0 || !far_read(d, d->t->arg[0], fds, named * sizeof(fds[0])))
		return;
	if (n == 1)
		d->t->fd = fds[0].fd;
	for (size_t i = 0; i < named; i++)
		if (fds[i].fd >= 0)
			add_fd(d, target, fds[i].fd, target->len ? ", " : "");
}

static void describe_select(struct describe *d, struct buf *target)
{
	fd_set sets[3] = {};
	const int n = (int)MIN(d->t->arg[0], (uint64_t)FD_SETSIZE);
	const size_t bytes = ((size_t)n + 63) / 64 * 8;
	unsigned found = 0;
	for (size_t i = 0; i < ARRAY_SIZE(sets); i++)
		if (d->t->arg[1 + i] && bytes && !far_read(d, d->t->arg[1 + i], &sets[i], bytes)) {
			buf_add(&d->text, syscall_name(d->t->nr));
			return;
		}
	for (int fd = 0; fd < n; fd++) {
		if (!FD_ISSET(fd, &sets[0]) && !FD_ISSET(fd, &sets[1]) && !FD_ISSET(fd, &sets[2]))
			continue;
		if (found++ < POLL_NAMED)
			add_fd(d, target, fd, target->len ? ", " : "");
		d->t->fd = fd;
	}
	if (found != 1)
		d->t->fd = -1;
	buf_printf(&d->text, "%s of %u descriptor%s", syscall_name(d->t->nr), found, found == 1 ? "" : "s");
}

/* fdinfo of an epoll descriptor has a line "tfd:  5 events: …" for each watched descriptor. */
static void describe_epoll(struct describe *d, struct buf *target)
{
	char path[64];
	cleanup(freep) char *info = malloc(EPOLL_INFO_MAX);
	size_t len, n = 0;
	struct span line, word;
	uint64_t fd;
	buf_add(&d->text, syscall_name(d->t->nr));
	TEXT_FORMAT(path, "%d/fdinfo/%d", d->pid, (int)d->t->arg[0]);
	if (!info || d->t->arg[0] > INT32_MAX || file_read_at(d->w->proc_fd, path, info, EPOLL_INFO_MAX, &len) < 0)
		return;
	struct span rest = {info, len};
	while (span_line(&rest, &line)) {
		if (!span_word(&line, &word) || !span_eq(word, "tfd:") || !span_word(&line, &word) ||
		    span_u64(word, &fd) < 0 || fd > INT32_MAX)
			continue;
		if (n++ < POLL_NAMED / 2)
			add_fd(d, target, (int)fd, target->len ? ", " : "");
	}
	buf_printf(&d->text, " of %zu%s descriptor%s", n, len + 1 >= EPOLL_INFO_MAX ? " or more" : "",
		   n == 1 ? "" : "s");
}

static void describe_poll(struct describe *d)
{
	struct buf target = BUF_ON(d->t->target);
	sleep_of_poll(d);
	if (polls_nothing(d)) {
		describe_poll_of_nothing(d);
		return;
	}
	if (call_is(d, "poll") || call_is(d, "ppoll"))
		describe_pollfds(d, &target);
	else if (call_is(d, "select") || call_is(d, "pselect6"))
		describe_select(d, &target);
	else if (strncmp(syscall_name(d->t->nr), "epoll_", 6) == 0)
		describe_epoll(d, &target);
	else if (d->t->has_syscall && d->t->nr >= 0)
		buf_printf(&d->text, "%s", syscall_name(d->t->nr));
	else
		buf_add(&d->text, "poll");
	if (call_is(d, "poll") && (int)d->t->arg[2] >= 0)
		buf_printf(&d->text, ", %d ms at a time", (int)d->t->arg[2]);
	if (d->t->target[0])
		buf_printf(&d->text, ": %s", d->t->target);
}

/* ---- children ---- */

/* The first child of this thread, and the number of its children. */
static pid_t first_child(const struct describe *d, size_t *ret_n)
{
	char path[64], text[1024];
	struct span rest, word;
	uint64_t pid, first = 0;
	size_t len, n = 0;
	TEXT_FORMAT(path, "%d/task/%d/children", d->pid, d->tid);
	if (file_read_at(d->w->proc_fd, path, text, sizeof(text), &len) < 0)
		len = 0;
	rest = (struct span){text, len};
	while (span_word(&rest, &word))
		if (span_u64(word, &pid) == 0 && pid <= INT32_MAX && n++ == 0)
			first = pid;
	*ret_n = n;
	return (pid_t)first;
}

static pid_t waited_child(const struct describe *d)
{
	struct proc_status s;
	const struct threadwait *t = d->t;
	int64_t pid = 0;
	if (call_is(d, "wait4"))
		pid = (int32_t)t->arg[0];
	else if (call_is(d, "waitid") && t->arg[0] == P_PID)
		pid = (int32_t)t->arg[1];
	/* In another pid namespace this number belongs to another process. */
	if (pid > 0 && (proc_status_read(d->w, d->pid, &s) != 0 || s.ns_pid != d->pid))
		return 0;
	return pid > 0 ? (pid_t)pid : 0;
}

static void describe_child(struct describe *d)
{
	char comm[16];
	size_t n;
	const bool vfork = call_shape(d->t->nr) == CALL_VFORK && d->t->has_syscall;
	pid_t only = first_child(d, &n), child = vfork ? 0 : waited_child(d);
	if (child == 0 && n == 1)
		child = only;
	buf_add(&d->text, vfork ? "vfork: waits for child" : "waits for child");
	if (child) {
		TEXT_FORMAT(d->t->target, "pid %d (%s)", child, task_comm(d->w, 0, child, comm));
		buf_printf(&d->text, " %s", d->t->target);
	} else if (n > 1) {
		buf_printf(&d->text, "ren (%zu)", n);
	}
	buf_add(&d->text, vfork ? " to start its program or end" : " to end");
}

/* ---- the rest ---- */

static void describe_stopped(struct describe *d)
{
	char where[CGROUP_PATH_MAX], comm[16];
	struct proc_status s;
	if (d->t->state == 'T') {
		buf_add(&d->text, "stopped by a signal (SIGSTOP, SIGTSTP); SIGCONT lets it go on");
	} else if (d->t->state == 't') {
		buf_add(&d->text, "held by a debugger or tracer");
		if (proc_status_read(d->w, d->tid, &s) == 0 && s.tracer > 0)
			buf_printf(&d->text, ": pid %d (%s)", s.tracer, task_comm(d->w, 0, s.tracer, comm));
	} else if (process_is_frozen(d->w, d->pid, where, sizeof(where))) {
		TEXT_COPY(d->t->target, where);
		buf_printf(&d->text, "frozen: control group %s", where);
	} else {
		buf_add(&d->text, "frozen, or about to be stopped");
	}
}

int call_path_argument(int64_t nr)
{
	const char *call = syscall_name(nr);
	static const char *const second[] = {"openat",	  "openat2", "newfstatat", "statx",	 "unlinkat", "renameat",
					     "renameat2", "mkdirat", "faccessat",  "readlinkat", "mount"};
	static const char *const first[] = {"open",  "stat",   "lstat",	   "access",   "unlink", "rename", "mkdir",
					    "rmdir", "statfs", "readlink", "truncate", "execve", "umount2"};
	for (size_t i = 0; i < ARRAY_SIZE(second); i++)
		if (strcmp(call, second[i]) == 0)
			return 1;
	for (size_t i = 0; i < ARRAY_SIZE(first); i++)
		if (strcmp(call, first[i]) == 0)
			return 0;
	return -1;
}

static void path_target(struct describe *d)
{
	char path[sizeof(d->t->target)];
	const int i = call_path_argument(d->t->nr);
	if (i >= 0 && d->r && d->t->arg[i] != 0 && remote_text(d->r, d->t->arg[i], path, sizeof(path)) == 0)
		span_copy(span_of(path), d->t->target, sizeof(d->t->target));
}

static void describe_fd(struct describe *d)
{
	struct fd_link l;
	if (d->t->fd >= 0 &&
	    fdtarget_read(d->w, d->pid, d->t->fd, FDTARGET_PIPE_BUDGET_NS, &l, d->t->target, sizeof(d->t->target)) == 0)
		d->t->listens = l.listens;
	if (d->t->has_syscall && d->t->nr >= 0) {
		if (call_shape(d->t->nr) == CALL_FILE)
			path_target(d);
		buf_add(&d->text, syscall_name(d->t->nr));
	}
	if (d->t->target[0])
		buf_printf(&d->text, " on %s", d->t->target);
}

static void describe_blocked(struct describe *d, const char *what)
{
	buf_printf(&d->text, "%s", what);
	if (d->t->wchan[0])
		buf_printf(&d->text, " in %s", d->t->wchan);
	if (d->t->has_syscall && d->t->nr >= 0) {
		buf_add(&d->text, ": ");
		describe_fd(d);
	}
}

static void describe_unknown(struct describe *d)
{
	if (!d->t->has_syscall && !d->t->wchan[0]) {
		buf_add(&d->text, "waits; we may not see what for");
		return;
	}
	if (!d->t->has_syscall || d->t->nr < 0) {
		buf_printf(&d->text, "waits outside a system call, in %s",
			   d->t->wchan[0] ? d->t->wchan : "a place that the kernel hides");
		return;
	}
	describe_fd(d);
	if (d->t->wchan[0])
		buf_printf(&d->text, ", in %s", d->t->wchan);
}

void wait_describe(const struct world *w, pid_t pid, pid_t tid, struct remote *r, struct threadwait *t)
{
	struct describe d = {.w = w, .pid = pid, .tid = tid, .r = r, .t = t, .text = BUF_ON(t->text)};
	buf_reset(&d.text);
	switch (t->kind) {
	case WAIT_RUNNING:
		buf_add(&d.text, "running");
		break;
	case WAIT_ZOMBIE:
		buf_add(&d.text,
			pid == tid ? "has ended; its parent has not asked for the exit status yet" : "has ended");
		break;
	case WAIT_LOCK:
		describe_lock(&d);
		break;
	case WAIT_SLEEP:
		if (t->fd >= 0)
			describe_fd(&d);
		else
			describe_sleep(&d);
		break;
	case WAIT_POLL:
		if (t->fd >= 0)
			describe_fd(&d);
		else
			describe_poll(&d);
		break;
	case WAIT_CHILD:
		describe_child(&d);
		break;
	case WAIT_STOPPED:
		describe_stopped(&d);
		break;
	case WAIT_DISK:
		describe_blocked(&d, "uninterruptible");
		break;
	case WAIT_MEMORY:
		describe_blocked(&d, t->has_syscall && t->nr < 0 ? "page fault: waits for a page of memory"
								 : "waits for memory");
		break;
	case WAIT_SIGNAL:
		buf_printf(&d.text, "waits for a signal");
		break;
	case WAIT_UNKNOWN:
		describe_unknown(&d);
		break;
	default:
		describe_fd(&d);
		break;
	}
	mask_text(t->text); /* names of files and sockets are the program's */
}
