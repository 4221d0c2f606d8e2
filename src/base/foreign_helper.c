#include "base/foreign_helper.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/foreign.h"

#define MOUNTS_TEXT_MAX ((size_t)4 << 20)
#define DEAD_FOLDERS 4
#define DEAD_NS (60 * NS_PER_S)
#define END_WAIT_MS 50
#define LEAVE_WAIT_MS 20
#define LEAVING_AGAIN_MS 5

/* ---- near or far ---- */

struct place_id {
	uint32_t major, minor;
	uint64_t mount; /* 0: not known (Linux before 5.8) */
};

static bool place_id_read(int fd, struct place_id *ret)
{
	struct statx x;
	/* The kernel is asked for nothing that the file system would have to answer. */
	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_MNT_ID, &x) < 0)
		return false;
	*ret = (struct place_id){x.stx_dev_major, x.stx_dev_minor, x.stx_mask & STATX_MNT_ID ? x.stx_mnt_id : 0};
	return true;
}

/* A line of mountinfo (proc(5)): number, parent, major:minor, root, mount point, options, ..., "-", type. */
static bool line_is(struct span line, const struct place_id *id)
{
	char device[32];
	struct span number, word;
	uint64_t n;
	TEXT_FORMAT(device, "%u:%u", id->major, id->minor);
	if (!span_word(&line, &number) || !span_word(&line, &word) || !span_word(&line, &word))
		return false;
	return (id->mount && span_u64(number, &n) == 0 && n == id->mount) || span_eq(word, device);
}

/* True where root, or we, mounted it: FUSE writes that as user_id=UID between commas. */
static bool options_are_roots(struct span options)
{
	char own[32];
	TEXT_FORMAT(own, "user_id=%u", (unsigned)geteuid());
	while (options.len > 0) {
		const char *comma = memchr(options.p, ',', options.len);
		const size_t len = comma ? (size_t)(comma - options.p) : options.len;
		const struct span part = {options.p, len};
		if (span_eq(part, "user_id=0") || span_eq(part, own))
			return true;
		options.p += MIN(len + 1, options.len);
		options.len -= MIN(len + 1, options.len);
	}
	return false;
}

static enum foreign_served line_served_by(struct span line)
{
	static const char *const near[] = {"overlay", "tmpfs", "btrfs",	    "ramfs",	"zfs",
					   "rootfs",  "ubifs", "hugetlbfs", "bcachefs", "devtmpfs"};
	struct span word, kind, options = {"", 0};
	while (span_word(&line, &word))
		if (span_eq(word, "-"))
			break;
	if (!span_word(&line, &kind))
		return FOREIGN_BY_ANYBODY;
	for (size_t i = 0; i < ARRAY_SIZE(near); i++)
		if (span_eq(kind, near[i]))
			return FOREIGN_BY_KERNEL;
	while (span_word(&line, &word))
		options = word;
	return !span_starts(kind, "fuse") || options_are_roots(options) ? FOREIGN_BY_ROOTS : FOREIGN_BY_ANYBODY;
}

char *foreign_mounts(size_t *ret_len)
{
	char path[32];
	char *text = NULL;
	*ret_len = 0;
	TEXT_FORMAT(path, "/%s/self/mountinfo", "proc");
	return file_slurp(AT_FDCWD, path, MOUNTS_TEXT_MAX, &text, ret_len) == 0 ? text : NULL;
}

enum foreign_served foreign_served_by(int fd, struct span mounts)
{
	struct place_id id;
	struct span line;
	if (!place_id_read(fd, &id))
		return FOREIGN_BY_ANYBODY;
	/* File systems on block devices have the device's number; those of servers have one with major 0. */
	if (id.major != 0)
		return FOREIGN_BY_KERNEL;
	while (span_line(&mounts, &line))
		if (line_is(line, &id))
			return line_served_by(line);
	return FOREIGN_BY_ANYBODY;
}

bool foreign_is_near(int fd)
{
	size_t len = 0;
	/* On a disk nobody has to read the list of mounts. */
	if (foreign_served_by(fd, (struct span){NULL, 0}) == FOREIGN_BY_KERNEL)
		return true;
	cleanup(freep) char *text = foreign_mounts(&len);
	return foreign_served_by(fd, (struct span){text, len}) == FOREIGN_BY_KERNEL;
}

/* ---- the helper ---- */

struct reply {
	int r;
	bool has_fd;
};

static void reply_send(int to, int r, int fd)
{
	struct reply reply = {r, fd >= 0};
	struct iovec part = {&reply, sizeof(reply)};
	alignas(struct cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {0};
	struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};
	if (fd >= 0) {
		m.msg_control = room;
		m.msg_controllen = sizeof(room);
		struct cmsghdr *c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	}
	(void)sendmsg(to, &m, MSG_NOSIGNAL);
}

static int reply_take(int from, int *ret_fd)
{
	struct reply reply;
	struct iovec part = {&reply, sizeof(reply)};
	alignas(struct cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {0};
	struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room)};
	ssize_t n = recvmsg(from, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	if (n != (ssize_t)sizeof(reply))
		return n < 0 ? -errno : -EIO; /* it ended without an answer */
	const struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	bool has = c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS;
	if (reply.has_fd && !has)
		return -EMFILE; /* the kernel dropped it */
	if (has)
		memcpy(ret_fd, CMSG_DATA(c), sizeof(int));
	return reply.r;
}

static void close_between(unsigned first, unsigned last)
{
	if (first <= last && syscall(SYS_close_range, first, last, 0) < 0)
		for (unsigned fd = first; fd <= MIN(last, 1023U); fd++)
			(void)close((int)fd);
}

/* The helper may stand for hours: nobody else's pipe may be kept open by it. */
static void others_close(int a, int b)
{
	unsigned low = (unsigned)MIN(a, b), high = (unsigned)MAX(a, b);
	if (MIN(a, b) < 0)
		low = high;
	if (low > 0)
		close_between(0, low - 1);
	if (high > low)
		close_between(low + 1, high - 1);
	close_between(high + 1, UINT_MAX);
}

static _Noreturn void helper_main(foreign_work *work, const void *arg, int dirfd, int to)
{
	int fd = -1;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	others_close(to, dirfd);
	int r = work(arg, &fd);
	reply_send(to, r, r ? -1 : fd); /* closing what came to nothing may wait, too */
	_exit(0);
}

/* True: it waits for no file system, it only has not run yet. */
static bool wants_processor(pid_t pid)
{
	char path[32], text[512];
	size_t len;
	TEXT_FORMAT(path, "/%s/%d/stat", "proc", (int)pid);
	const char *end = file_read_at(AT_FDCWD, path, text, sizeof(text), &len) == 0 ? strrchr(text, ')') : NULL;
	return end && end[1] == ' ' && end[2] == 'R';
}

static bool answers(int from, pid_t pid, uint64_t wait_ns)
{
	uint64_t begun_ns = clock_mono_ns();
	for (;;) {
		struct pollfd p = {.fd = from, .events = POLLIN};
		uint64_t gone_ns = clock_mono_ns() - begun_ns;
		int left_ms = gone_ns < wait_ns ? (int)((wait_ns - gone_ns) / NS_PER_MS) + 1 : 0;
		if (poll(&p, 1, left_ms) > 0)
			return true;
		if (clock_mono_ns() - begun_ns < wait_ns)
			continue; /* a signal */
		if (wait_ns >= FOREIGN_CROWDED_NS || !wants_processor(pid))
			return false;
		wait_ns += NS_PER_S;
	}
}

/*
 * Helpers give no SIGCHLD and are found by __WCLONE only, so that nobody who waits for children of his own meets one.
 * One that stands is left; it is taken in by a later call, or by init.
 */
static void helpers_reap(void)
{
	while (waitpid(-1, NULL, (int)__WCLONE | WNOHANG) > 0)
		;
}

/* Helpers of this thread that have answered and were not gone yet; 0: none. */
static _Thread_local pid_t leaving[FOREIGN_LEAVING];

static pid_t *leaving_place(void)
{
	for (size_t i = 0; i < FOREIGN_LEAVING; i++)
		if (leaving[i] == 0 || waitpid(leaving[i], NULL, __WALL | WNOHANG) != 0) {
			leaving[i] = 0;
			return &leaving[i];
		}
	return NULL;
}

/*
 * On a crowded machine a helper may need seconds to end. Each has a copy of what we have changed since, so there may
 * not be any number of them. False: none of them has ended in wait_ns.
 */
static bool leaving_are_few(uint64_t wait_ns)
{
	const uint64_t until_ns = clock_mono_ns() + wait_ns;
	while (!leaving_place()) {
		if (clock_mono_ns() >= until_ns)
			return false;
		(void)poll(NULL, 0, LEAVING_AGAIN_MS);
	}
	return true;
}

/* The last one that could not be ended; 0: it is known of whom. */
static _Thread_local pid_t stood;

/* answered: it is on its way out, and a signal that others may see is not needed. */
static void helper_end(pid_t pid, int pidfd, bool answered)
{
	struct pollfd p = {.fd = pidfd, .events = POLLIN};
	if (!answered || pidfd < 0 || poll(&p, 1, LEAVE_WAIT_MS) <= 0)
		(void)kill(pid, SIGKILL);
	if (pidfd >= 0)
		(void)poll(&p, 1, END_WAIT_MS);
	if (waitpid(pid, NULL, __WALL | WNOHANG) != 0)
		return;
	pid_t *place = answered ? leaving_place() : NULL;
	if (place)
		*place = pid;
	if (!answered)
		stood = pid;
}

/* As fork(2) without handlers of libraries: what follows in the helper are system calls only. */
static pid_t helper_fork(int *ret_pidfd)
{
	struct {
		uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
	} how = {.flags = CLONE_PIDFD, .pidfd = (uintptr_t)ret_pidfd};
	long pid = syscall(SYS_clone3, &how, sizeof(how));
	if (pid >= 0)
		return (pid_t)pid;
	*ret_pidfd = -1;
	/* A filter that knows no clone3. All arguments are 0, so their order, which differs, says nothing. */
	pid = errno == ENOSYS || errno == EPERM ? syscall(SYS_clone, 0, 0, 0, 0, 0) : -1;
	if (pid > 0)
		*ret_pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	return (pid_t)pid;
}

/* As helper_fork, with all signals blocked in between: a handler of ours may not run in the helper. */
static pid_t quiet_fork(int *ret_pidfd)
{
	sigset_t all, old;
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	pid_t pid = helper_fork(ret_pidfd);
	int e = errno;
	if (pid != 0)
		(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	return pid < 0 ? -e : pid;
}

int foreign_in_helper(foreign_work *work, const void *arg, int dirfd, uint64_t wait_ns, int *ret_fd)
{
	int pair[2], pidfd = -1, fd = -1;
	stood = 0;
	helpers_reap();
	if (!leaving_are_few(wait_ns))
		return -EAGAIN;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	cleanup(closep) int ours = pair[0];
	cleanup(closep) int theirs = pair[1];
	pid_t pid = quiet_fork(&pidfd);
	if (pid == 0)
		helper_main(work, arg, dirfd, theirs);
	if (pid < 0)
		return pid;
	cleanup(closep) int held = pidfd;
	closep(&theirs);
	bool answered = answers(ours, pid, wait_ns);
	int r = answered ? reply_take(ours, &fd) : -ETIMEDOUT;
	helper_end(pid, held, answered);
	if (r != 0)
		closep(&fd);
	else if (fd >= 0)
		*ret_fd = fd;
	return r;
}

/* ---- a helper that stays ---- */

/* Those of this process; one is set by who starts it, and taken out by who ends it. More are not known. */
static _Atomic pid_t staying[8];

static void staying_change(pid_t from, pid_t to)
{
	for (size_t i = 0; i < ARRAY_SIZE(staying); i++) {
		pid_t old = from;
		if (atomic_compare_exchange_strong(&staying[i], &old, to))
			return;
	}
}

bool foreign_is_own_helper(pid_t pid)
{
	for (size_t i = 0; pid > 0 && i < ARRAY_SIZE(staying); i++)
		if (atomic_load(&staying[i]) == pid)
			return true;
	return false;
}

typedef pid_t forker(int *ret_pidfd);

/* As fork(2), with all signals blocked in between: what follows in the helper may allocate. */
static pid_t whole_fork(int *ret_pidfd)
{
	sigset_t all, old;
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	pid_t pid = fork();
	int e = errno;
	if (pid != 0)
		(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	*ret_pidfd = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
	return pid < 0 ? -e : pid;
}

static int server_start(forker *fork_it, foreign_serve *serve, const void *arg, int dirfd, struct foreign_server *ret)
{
	int pair[2], pidfd = -1;
	helpers_reap();
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	cleanup(closep) int ours = pair[0];
	cleanup(closep) int theirs = pair[1];
	pid_t pid = fork_it(&pidfd);
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)prctl(PR_SET_NAME, "vigil-helper");
		others_close(theirs, dirfd);
		serve(arg, theirs);
		_exit(0);
	}
	if (pid < 0)
		return pid;
	staying_change(0, pid);
	*ret = (struct foreign_server){pid, pidfd, take_fd(&ours)};
	return 0;
}

int foreign_server_start(foreign_serve *serve, const void *arg, int dirfd, struct foreign_server *ret)
{
	return server_start(quiet_fork, serve, arg, dirfd, ret);
}

int foreign_worker_start(foreign_serve *serve, const void *arg, int dirfd, struct foreign_server *ret)
{
	return server_start(whole_fork, serve, arg, dirfd, ret);
}

bool foreign_server_answers(const struct foreign_server *s, uint64_t wait_ns)
{
	return answers(s->fd, s->pid, wait_ns);
}

void foreign_server_end(struct foreign_server *s)
{
	closep(&s->fd); /* it reads that nothing more comes */
	if (s->pid > 0) {
		staying_change(s->pid, 0);
		helper_end(s->pid, s->pidfd, true);
	}
	closep(&s->pidfd);
	s->pid = -1;
}

void foreign_server_drop(struct foreign_server *s)
{
	closep(&s->fd);
	closep(&s->pidfd);
	if (s->pid > 0) {
		staying_change(s->pid, 0);
		(void)kill(s->pid, SIGKILL);
	}
	s->pid = -1;
}

int foreign_server_leave(struct foreign_server *s)
{
	struct pollfd p = {.fd = s->pidfd, .events = POLLIN};
	closep(&s->fd);
	if (s->pid > 0) {
		staying_change(s->pid, 0);
		helper_end(s->pid, s->pidfd, false);
	}
	s->pid = -1;
	if (s->pidfd >= 0 && poll(&p, 1, 0) > 0)
		closep(&s->pidfd);
	return take_fd(&s->pidfd);
}

/* ---- what did not answer ---- */

struct dead_folder {
	uint64_t mount, until_ns;
	char path[PATH_MAX];
};

static _Thread_local struct dead_folder *dead; /* DEAD_FOLDERS of them, made when the first is met */
static _Thread_local unsigned n_died;

static size_t folder_len(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? (size_t)(slash - path) + 1 : 0;
}

static uint64_t mount_id_of(int dirfd)
{
	struct place_id id;
	return place_id_read(dirfd, &id) ? id.mount : 0;
}

static _Thread_local struct {
	pid_t pid; /* 0: free */
	uid_t uid;
} standing[FOREIGN_STANDING];

static bool foreign_helper_stands(size_t i)
{
	if (standing[i].pid && waitpid(standing[i].pid, NULL, (int)__WCLONE | WNOHANG) != 0)
		standing[i].pid = 0;
	return standing[i].pid != 0;
}

static bool many_stand(uid_t uid)
{
	size_t all = 0, of_user = 0;
	for (size_t i = 0; i < FOREIGN_STANDING; i++)
		if (foreign_helper_stands(i)) {
			all++;
			of_user += standing[i].uid == uid;
		}
	return all == FOREIGN_STANDING || of_user >= FOREIGN_STANDING_MOST;
}

static void stood_note(uid_t uid)
{
	for (size_t i = 0; i < FOREIGN_STANDING && stood; i++)
		if (!foreign_helper_stands(i)) {
			standing[i].pid = stood;
			standing[i].uid = uid;
			stood = 0;
		}
	stood = 0;
}

bool foreign_is_dead(int dirfd, const char *path, uid_t uid)
{
	if (many_stand(uid))
		return true;
	if (!dead)
		return false;
	uint64_t now_ns = clock_mono_ns(), mount = mount_id_of(dirfd);
	for (size_t i = 0; i < DEAD_FOLDERS; i++)
		if (now_ns < dead[i].until_ns && dead[i].mount == mount &&
		    strncmp(path, dead[i].path, strlen(dead[i].path)) == 0)
			return true;
	return false;
}

void foreign_died(int dirfd, const char *path, uid_t uid)
{
	stood_note(uid);
	size_t len = folder_len(path);
	if (!dead)
		dead = calloc(DEAD_FOLDERS, sizeof(*dead));
	/* A name without a folder says nothing about its neighbours unless they are on its mount. */
	if (!dead || len >= PATH_MAX || len == 1)
		return;
	struct dead_folder *d = &dead[n_died++ % DEAD_FOLDERS];
	memcpy(d->path, path, len);
	d->path[len] = '\0';
	d->mount = mount_id_of(dirfd);
	d->until_ns = clock_mono_ns() + DEAD_NS;
}
