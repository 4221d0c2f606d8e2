#include "sense/wait/threadwait.h"

#include <string.h>
#include <sys/syscall.h>

#include "base/buf.h"
#include "sense/memory/cgroup.h"
#include "sense/proc/proc.h"
#include "sense/wait/threadwait_parts.h"

const char *wait_kind_name(enum wait_kind k)
{
	static const char *const names[] = {
		[WAIT_UNKNOWN] = "unknown", [WAIT_RUNNING] = "running", [WAIT_LOCK] = "lock",
		[WAIT_SLEEP] = "sleep",	    [WAIT_POLL] = "poll",	[WAIT_FILE] = "file",
		[WAIT_PIPE] = "pipe",	    [WAIT_SOCKET] = "socket",	[WAIT_TTY] = "tty",
		[WAIT_CHILD] = "child",	    [WAIT_SIGNAL] = "signal",	[WAIT_DISK] = "disk",
		[WAIT_GPU] = "gpu",	    [WAIT_MEMORY] = "memory",	[WAIT_STOPPED] = "stopped",
		[WAIT_ZOMBIE] = "zombie",
	};
	return (size_t)k < ARRAY_SIZE(names) ? names[k] : "unknown";
}

/* Parses a word such as "0x7ffc". */
static int threadwait_hex_word(struct span *rest, uint64_t *ret)
{
	struct span s;
	uint64_t v = 0;
	if (!span_word(rest, &s) || s.len < 3 || s.len > 18 || s.p[0] != '0' || s.p[1] != 'x')
		return -EBADMSG;
	for (size_t i = 2; i < s.len; i++) {
		const char c = s.p[i];
		if (c >= '0' && c <= '9')
			v = v << 4 | (uint64_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			v = v << 4 | (uint64_t)(c - 'a' + 10);
		else
			return -EBADMSG;
	}
	*ret = v;
	return 0;
}

int threadwait_syscall_parse(struct span text, struct threadwait *ret)
{
	struct threadwait t = *ret;
	struct span word, rest = span_trim(text);
	t.has_syscall = false;
	t.nr = -1;
	if (!span_word(&rest, &word))
		return -EBADMSG;
	if (span_eq(word, "running")) {
		*ret = t;
		return 0;
	}
	if (span_i64(word, &t.nr) < 0 || t.nr < -1)
		return -EBADMSG;
	for (size_t i = 0; t.nr >= 0 && i < ARRAY_SIZE(t.arg); i++)
		if (threadwait_hex_word(&rest, &t.arg[i]) < 0)
			return -EBADMSG;
	if (threadwait_hex_word(&rest, &t.sp) < 0 || threadwait_hex_word(&rest, &t.pc) < 0 || span_word(&rest, &word))
		return -EBADMSG;
	t.has_syscall = true;
	*ret = t;
	return 0;
}

static enum wait_kind kind_of_call(const struct world *w, pid_t pid, const struct threadwait *t, int *ret_fd)
{
	char link[256];
	struct fd_link l;
	switch (call_shape(t->nr)) {
	case CALL_FD:
		*ret_fd = t->arg[0] > INT32_MAX ? -1 : (int)t->arg[0];
		/* sendfile(out, in): in state D it waits for the file that it reads */
		if (t->nr == SYS_sendfile && t->state == 'D' && t->arg[1] <= INT32_MAX)
			*ret_fd = (int)t->arg[1];
		if (*ret_fd < 0 || fd_link_read(w, pid, *ret_fd, &l, link, sizeof(link)) != 0)
			return WAIT_UNKNOWN;
		return l.kind == FD_TIMER && fdtarget_timer_off(w, pid, *ret_fd) ? WAIT_POLL : wait_kind_of_fd(l.kind);
	case CALL_FILE:
		return WAIT_FILE;
	case CALL_LOCK:
		return WAIT_LOCK;
	case CALL_SLEEP:
		return WAIT_SLEEP;
	case CALL_POLL:
		return WAIT_POLL;
	case CALL_CHILD:
	case CALL_VFORK:
		return WAIT_CHILD;
	case CALL_SIGNAL:
		return WAIT_SIGNAL;
	case CALL_MEMORY:
		return WAIT_MEMORY;
	default:
		return WAIT_UNKNOWN;
	}
}

/* Kind of an uninterruptible wait: the disk, unless the kernel function or the call shows another. */
static enum wait_kind kind_of_d(const struct world *w, pid_t pid, const struct threadwait *t, int *ret_fd)
{
	char where[CGROUP_PATH_MAX];
	enum wait_kind k = wait_kind_of_wchan(t->wchan, 'D');
	if (k == WAIT_CHILD && t->has_syscall && call_shape(t->nr) != CALL_VFORK)
		k = WAIT_UNKNOWN;
	if (k != WAIT_UNKNOWN)
		return k;
	if (wchan_of_frozen(t->wchan) && process_is_frozen(w, pid, where, sizeof(where)))
		return WAIT_STOPPED;
	if (t->has_syscall && t->nr >= 0) {
		k = kind_of_call(w, pid, t, ret_fd);
		return k == WAIT_GPU || k == WAIT_MEMORY ? k : WAIT_DISK;
	}
	/* Outside a system call only a page fault blocks a thread. */
	return t->has_syscall ? WAIT_MEMORY : WAIT_DISK;
}

enum wait_kind wait_kind_decide(const struct world *w, pid_t pid, const struct threadwait *t, int *ret_fd)
{
	enum wait_kind k;
	switch (t->state) {
	case 'R':
		return WAIT_RUNNING;
	case 'T':
	case 't':
		return WAIT_STOPPED;
	case 'Z':
	case 'X':
		return WAIT_ZOMBIE;
	case 'D':
		return kind_of_d(w, pid, t, ret_fd);
	default:
		break;
	}
	k = t->wchan[0] ? wait_kind_of_wchan(t->wchan, t->state) : WAIT_UNKNOWN;
	if (k == WAIT_STOPPED || k == WAIT_MEMORY)
		return k;
	if (t->has_syscall && t->nr >= 0) {
		enum wait_kind by_call = kind_of_call(w, pid, t, ret_fd);
		return by_call != WAIT_UNKNOWN ? by_call : k;
	}
	return k;
}

/*
 * Reads the files of the thread. A file that may not be read leaves its fields empty; only the end of the process ends
 * the reading.
 */
static int task_read_parts(const struct world *w, pid_t pid, pid_t tid, bool detail, struct threadwait *t,
			   bool *ret_running)
{
	char text[1024];
	struct proc_stat stat;
	size_t len;
	int r = task_file_read(w, pid, tid, "stat", text, sizeof(text), &len);
	if (r)
		return r;
	if (proc_stat_parse((struct span){text, len}, &stat) < 0)
		return WORLD_GONE; /* the thread ended during the read */
	t->state = stat.state;
	t->user_ticks = stat.utime_ticks;
	t->system_ticks = stat.stime_ticks;
	t->start_ticks = stat.start_ticks;
	TEXT_COPY(t->comm, stat.comm);
	r = task_file_read(w, pid, tid, "syscall", text, sizeof(text), &len);
	if (r == WORLD_GONE && t->state != 'Z')
		return r;
	if (r == 0) {
		ignore(threadwait_syscall_parse((struct span){text, len}, t), "has_syscall tells");
		*ret_running = span_starts((struct span){text, len}, "running");
	}
	const bool needs_wchan =
		t->state == 'D' ||
		(t->state == 'S' && (!t->has_syscall || t->nr < 0 || call_shape(t->nr) == CALL_RESTART));
	if ((detail || needs_wchan) && t->state != 'R')
		ignore(task_wchan_read(w, pid, tid, t->wchan, sizeof(t->wchan)), "left empty");
	return 0;
}

/*
 * A timed wait that was interrupted (by a stop or a freeze) continues as restart_syscall, which does not name the call.
 * The code of the program does: its instructions "mov $nr, %eax; syscall" are before the pc.
 */
static void call_before_restart(struct remote *r, struct threadwait *t)
{
#ifdef __x86_64__
	uint8_t code[7];
	uint32_t nr;
	if (!r || !t->has_syscall || t->nr < 0 || call_shape(t->nr) != CALL_RESTART || t->pc < sizeof(code) ||
	    remote_read(r, t->pc - sizeof(code), code, sizeof(code)) != 0)
		return;
	memcpy(&nr, code + 1, sizeof(nr));
	const enum call_shape shape = call_shape(nr);
	if (code[0] == 0xb8 && code[5] == 0x0f && code[6] == 0x05 &&
	    (shape == CALL_LOCK || shape == CALL_SLEEP || shape == CALL_POLL))
		t->nr = nr;
#else
	(void)r;
	(void)t;
#endif
}

int threadwait_read(const struct world *w, pid_t pid, pid_t tid, struct remote *r, bool detail, struct threadwait *ret)
{
	struct threadwait t = {.nr = -1, .fd = -1};
	bool running = false;
	int e = task_read_parts(w, pid, tid, detail, &t, &running);
	if (e)
		return e;
	/* It was woken between the two reads: it runs. */
	if (running && (t.state == 'S' || t.state == 'D'))
		t.state = 'R';
	call_before_restart(r, &t);
	t.kind = wait_kind_decide(w, pid, &t, &t.fd);
	if (detail)
		wait_describe(w, pid, tid, r, &t);
	*ret = t;
	return 0;
}
