#include "sense/wait/threadwait.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/buf.h"
#include "base/file.h"
#include "sense/memory/cgroup.h"
#include "sense/proc/proc.h"
#include "sense/wait/threadwait_parts.h"

#define PLACE_NS (100 * NS_PER_MS)
/* Mounts of control groups do not move while a machine runs; believed for this long all the same. */
#define MOUNTS_NS (60 * NS_PER_S)

/* No machine runs that many threads in one process; the list is bounded all the same. */
#define THREADS_MAX 262144

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

/* "0x7ffc" */
static int hex_word(struct span *rest, uint64_t *ret)
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
		if (hex_word(&rest, &t.arg[i]) < 0)
			return -EBADMSG;
	if (hex_word(&rest, &t.sp) < 0 || hex_word(&rest, &t.pc) < 0 || span_word(&rest, &word))
		return -EBADMSG;
	t.has_syscall = true;
	*ret = t;
	return 0;
}

static int task_file_read(const struct world *w, pid_t pid, pid_t tid, const char *file, char *buf, size_t cap,
			  size_t *ret_len)
{
	char path[96];
	if (w->proc_fd < 0)
		return WORLD_ABSENT;
	TEXT_FORMAT(path, "%d/task/%d/%s", pid, tid, file);
	int r = file_read_at(w->proc_fd, path, buf, cap, ret_len);
	return r < 0 ? world_condition(r) : 0;
}

int task_wchan_read(const struct world *w, pid_t pid, pid_t tid, char *dst, size_t cap)
{
	char text[128];
	size_t len;
	int r = task_file_read(w, pid, tid, "wchan", text, sizeof(text), &len);
	if (r)
		return r;
	struct span s = span_trim((struct span){text, len});
	if (span_eq(s, "0"))
		s.len = 0;
	span_copy(s, dst, cap);
	return 0;
}

const char *task_comm(const struct world *w, pid_t pid, pid_t tid, char dst[static 16])
{
	char text[64];
	size_t len;
	if (task_file_read(w, pid ? pid : tid, tid, "comm", text, sizeof(text), &len) == 0)
		span_copy(span_trim((struct span){text, len}), dst, 16);
	else
		(void)text_copy(dst, 16, "?");
	return dst;
}

static bool frozen_file(const struct world *w, const char *group, const char *file, const char *word)
{
	char path[CGROUP_PATH_MAX + 32], text[256];
	size_t len;
	TEXT_FORMAT(path, "%s/%s", group, file);
	return file_read_at(w->cgroup_fd, path, text, sizeof(text), &len) == 0 &&
	       span_has((struct span){text, len}, word);
}

/* What was last found out, and from which text of /proc/PID/cgroup: it takes the table of mounts to tell. */
static _Thread_local struct {
	pid_t pid;
	uint64_t place_ns, mounts_ns;
	size_t len;
	char text[2048];
	struct cgroup_place place;
} last;

static int place_anew(const struct world *w, pid_t pid, uint64_t now_ns)
{
	char path[32], text[sizeof(last.text)];
	size_t len = 0;
	TEXT_FORMAT(path, "%d/cgroup", (int)pid);
	last.pid = 0;
	int r = file_read_at(w->proc_fd, path, text, sizeof(text), &len);
	bool whole = r == 0 && len < sizeof(text) - 1;
	if (whole && last.mounts_ns != 0 && now_ns - last.mounts_ns < MOUNTS_NS && len == last.len && memcmp(text, last.text, len) == 0)
		return 0;
	last.mounts_ns = 0;
	r = cgroup_place_read(w, pid, &last.place);
	if (r != 0 || !whole)
		return r;
	memcpy(last.text, text, len);
	last.len = len;
	last.mounts_ns = now_ns;
	return 0;
}

/*
 * Where the process is, as of a moment ago: all threads of one that stands frozen ask for it, twice each. Whether the group is
 * frozen is read each time.
 */
static int place_lately(const struct world *w, pid_t pid, struct cgroup_place *ret)
{
	if (w->recorded)
		return cgroup_place_read(w, pid, ret);
	uint64_t now_ns = w->mono_ns();
	if (last.pid != pid || now_ns - last.place_ns > PLACE_NS) {
		int r = place_anew(w, pid, now_ns);
		if (r)
			return r;
		last.pid = pid;
		last.place_ns = now_ns;
	}
	*ret = last.place;
	return 0;
}

bool process_is_frozen(const struct world *w, pid_t pid, char *where, size_t cap)
{
	struct cgroup_place place;
	if (w->cgroup_fd < 0 || place_lately(w, pid, &place) != 0)
		return false;
	if (place.freezer[0] && (frozen_file(w, place.freezer, "freezer.state", "FROZEN") ||
				 frozen_file(w, place.freezer, "freezer.state", "FREEZING"))) {
		(void)text_copy(where, cap, place.freezer);
		return true;
	}
	if (place.unified[0] && frozen_file(w, place.unified, "cgroup.events", "frozen 1")) {
		(void)text_copy(where, cap, place.unified);
		return true;
	}
	return false;
}

static enum wait_kind kind_of_call(const struct world *w, pid_t pid, const struct threadwait *t, int *ret_fd)
{
	char link[256];
	struct fd_link l;
	switch (call_shape(t->nr)) {
	case CALL_FD:
		*ret_fd = t->arg[0] > INT32_MAX ? -1 : (int)t->arg[0];
		/* sendfile(out, in): in state D it is the file that is read which does not come */
		if (t->nr == SYS_sendfile && t->state == 'D' && t->arg[1] <= INT32_MAX)
			*ret_fd = (int)t->arg[1];
		if (*ret_fd < 0 || fd_link_read(w, pid, *ret_fd, &l, link, sizeof(link)) != 0)
			return WAIT_UNKNOWN;
		return wait_kind_of_fd(l.kind);
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

/* Uninterruptible: the disk, unless the kernel's function or the call says otherwise. */
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
	/* Outside a call only a page fault puts a thread there. */
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

/* A file that may not be read leaves its fields empty; only a process that is gone ends the reading. */
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
		return WORLD_GONE; /* cut off by its end */
	t->state = stat.state;
	t->user_ticks = stat.utime_ticks;
	t->system_ticks = stat.stime_ticks;
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
 * A timed wait that was interrupted (by a stop, a freeze) goes on as
 * restart_syscall, which does not say what it restarts. The program does:
 * its instructions "mov $nr, %eax; syscall" stand before the pc.
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
	/* Woken between the two files: it runs. */
	if (running && (t.state == 'S' || t.state == 'D'))
		t.state = 'R';
	call_before_restart(r, &t);
	t.kind = wait_kind_decide(w, pid, &t, &t.fd);
	if (detail)
		wait_describe(w, pid, tid, r, &t);
	*ret = t;
	return 0;
}

static int tid_compare(const void *a, const void *b)
{
	const pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;
	return (x > y) - (x < y);
}

static void dirp(DIR **d)
{
	if (*d)
		closedir(*d);
}

int threads_read(const struct world *w, pid_t pid, pid_t **ret, size_t *ret_n)
{
	char path[32];
	if (w->proc_fd < 0)
		return WORLD_ABSENT;
	TEXT_FORMAT(path, "%d/task", pid);
	int fd = openat(w->proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return world_condition(-errno);
	cleanup(dirp) DIR *dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return -ENOMEM;
	}
	cleanup(freep) pid_t *tids = NULL;
	size_t n = 0, cap = 0;
	for (const struct dirent *d; n < THREADS_MAX && (d = readdir(dir));) {
		uint64_t tid;
		if (span_u64(span_of(d->d_name), &tid) < 0 || tid == 0 || tid > INT32_MAX)
			continue;
		if (n == cap) {
			cap = cap ? 2 * cap : 64;
			pid_t *more = realloc(tids, cap * sizeof(*more));
			if (!more)
				return -ENOMEM;
			tids = more;
		}
		tids[n++] = (pid_t)tid;
	}
	if (n == 0)
		return WORLD_GONE;
	qsort(tids, n, sizeof(*tids), tid_compare);
	*ret = take(&tids);
	*ret_n = n;
	return 0;
}
