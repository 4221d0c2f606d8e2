#include "agent/host/world_open.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/foreign_path.h"
#include "sense/rightsdoor.h"

static int part_open(const char *dir, const char *path, int flags)
{
	char full[512];
	if (text_format(full, sizeof(full), "%s%s", dir, path) >= (int)sizeof(full))
		return -1;
	return open(full, flags | O_CLOEXEC);
}

/*
 * Whether the numbers in this /proc are those of our pid namespace: who is put into a new one without a new /proc
 * (unshare --pid without --mount-proc) reads of others what it takes for its own. *ret_self: how it calls us; 0: not at
 * all.
 */
static bool proc_is_ours(int proc_fd, uint64_t *ret_self)
{
	char text[32];
	ssize_t n = readlinkat(proc_fd, "self", text, sizeof(text));
	*ret_self = 0;
	if (n < 0)
		return errno != ENOENT;
	if (n == (ssize_t)sizeof(text) || span_u64((struct span){text, (size_t)n}, ret_self) < 0)
		return true;
	return *ret_self == (uint64_t)getpid();
}

/* A /proc of our pid namespace that is mounted nowhere; takes the rights of root there. -1: not to be had. */
static int proc_make(void)
{
#ifdef SYS_fsopen
	cleanup(closep) int fs = (int)syscall(SYS_fsopen, "proc", FSOPEN_CLOEXEC);
	if (fs < 0 || syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return -1;
	return (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC,
			    MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC | MOUNT_ATTR_NODEV);
#else
	return -1;
#endif
}

static int proc_own(struct world *w, struct fault *f)
{
	uint64_t self;
	if (proc_is_ours(w->proc_fd, &self))
		return 0;
	int own = proc_make();
	if (own < 0 && self == 0)
		return fault_set(f, -EXDEV,
				 "/proc does not show this process: it is empty, or that of another pid namespace, so "
				 "vigil can see nothing of a job; mount it: mount -t proc proc /proc");
	if (own < 0)
		return fault_set(f, -EXDEV,
				 "/proc is that of another pid namespace (this process is %d, and %llu there), so "
				 "vigil would take others' processes for the job's; mount it anew: unshare "
				 "--mount-proc, or mount -t proc proc /proc",
				 (int)getpid(), (unsigned long long)self);
	closep(&w->proc_fd);
	w->proc_fd = own;
	return 0;
}

int world_open(const char *dir, struct world *ret, struct fault *f)
{
	const int folder = O_RDONLY | O_DIRECTORY;
	struct world w = {
		.proc_fd = -1,
		.sys_fd = -1,
		.cgroup_fd = -1,
		.shm_fd = -1,
		.kmsg_fd = -1,
		.recorded = dir != NULL,
		.ticks_per_s = (uint64_t)sysconf(_SC_CLK_TCK),
		.page_bytes = (uint64_t)sysconf(_SC_PAGESIZE),
		.mono_ns = clock_mono_ns,
		.unix_ms = clock_unix_ms,
	};
	if (dir && strlen(dir) >= sizeof(w.root))
		return fault_set(f, -ENAMETOOLONG, "the recorded world's path is longer than %zu bytes",
				 sizeof(w.root));
	text_copy(w.root, sizeof(w.root), dir ? dir : "");
	w.proc_fd = part_open(w.root, "/proc", folder);
	if (w.proc_fd < 0)
		return fault_set(f, -errno, "cannot open %s/proc (%s); vigil reads everything it knows from there",
				 w.root, strerror(errno));
	int r = dir ? 0 : proc_own(&w, f);
	if (r < 0) {
		closep(&w.proc_fd);
		return r;
	}
	/* tests set it to show adapters and devices that the machine lacks; control groups stay the machine's */
	const char *sys = dir ? NULL : foreign_path_variable("VIGIL_SYS_PATH");
	w.sys_fd = sys ? part_open("", sys, folder) : part_open(w.root, "/sys", folder);
	w.cgroup_fd = part_open(w.root, dir ? "/cgroup" : "/sys/fs/cgroup", folder);
	w.shm_fd = part_open(w.root, "/dev/shm", folder);
	w.kmsg_fd = part_open(w.root, dir ? "/kmsg" : "/dev/kmsg", O_RDONLY | O_NONBLOCK);
	/* systemd hides it behind a device that does not exist (ENXIO) */
	w.kmsg_denied = w.kmsg_fd < 0 && (errno == EPERM || errno == EACCES || errno == ENXIO);
	int asked;
	if (w.kmsg_denied && !dir)
		ignore(rightsdoor_kmsg(&asked), "the answer is taken when the log is read (sense/log/kmsg)");
	*ret = w;
	return 0;
}

char *world_fd_path(pid_t pid, int fd, char dst[static 32])
{
	(void)text_format(dst, 32, "/proc/%d/fd/%d", (int)pid, fd);
	return dst;
}

bool world_fd_parse(const char *path, pid_t *ret_pid, int *ret_fd)
{
	uint64_t pid, fd;
	struct span rest = span_of(path);
	static const char proc[] = "/proc/", middle[] = "/fd/";
	if (!span_starts(rest, proc))
		return false;
	const char *at = strstr(path + strlen(proc), middle);
	if (!at || span_u64((struct span){path + strlen(proc), (size_t)(at - path) - strlen(proc)}, &pid) < 0 ||
	    span_u64(span_of(at + strlen(middle)), &fd) < 0 || pid == 0 || pid > INT32_MAX || fd > INT32_MAX)
		return false;
	*ret_pid = (pid_t)pid;
	*ret_fd = (int)fd;
	return true;
}

void world_close(struct world *w)
{
	int *fds[] = {&w->proc_fd, &w->sys_fd, &w->cgroup_fd, &w->shm_fd, &w->kmsg_fd};
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		closep(fds[i]);
}
