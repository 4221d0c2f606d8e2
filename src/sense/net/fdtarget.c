#include "sense/net/fdtarget.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/file.h"
#include "sense/proc/fdinfo.h"
#include "sense/proc/proc.h"
#include "sense/net/socktable.h"

/* Descriptors of one process that are searched for the other end of a pipe. */
#define PIPE_FDS_MAX 1024
#define ANY_FDS_MAX 4096
#define MOUNTINFO_MAX (1 * MIB)

/* "pipe:[123]" */
static uint64_t bracket_inode(struct span s)
{
	struct span rest = span_after(s, ":[");
	uint64_t inode = 0;
	if (!rest.p || span_u64_prefix(rest, &inode) < 0)
		return 0;
	return inode;
}

static bool device_is_gpu(struct span link)
{
	static const char *const devices[] = {"/dev/nvidia", "/dev/kfd", "/dev/dri/", "/dev/davinci", "/dev/accel/"};
	for (size_t i = 0; i < ARRAY_SIZE(devices); i++)
		if (span_starts(link, devices[i]))
			return true;
	return false;
}

struct fd_link fd_link_parse(struct span link)
{
	static const struct {
		const char *prefix;
		enum fd_kind kind;
	} kinds[] = {
		{"pipe:[", FD_PIPE},
		{"socket:[", FD_SOCKET},
		{"anon_inode:[eventpoll]", FD_EPOLL},
		{"anon_inode:[eventfd]", FD_EVENT},
		{"anon_inode:[timerfd]", FD_TIMER},
		{"anon_inode:[signalfd]", FD_SIGNAL},
		{"anon_inode:[pidfd]", FD_PIDFD},
		{"pidfd:[", FD_PIDFD},
		{"anon_inode:inotify", FD_INOTIFY},
		{"anon_inode:[userfaultfd]", FD_USERFAULT},
		{"/dev/pts/", FD_TTY},
		{"/dev/tty", FD_TTY},
		{"/dev/console", FD_TTY},
	};
	struct fd_link l = {};
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (span_starts(link, kinds[i].prefix)) {
			l.kind = kinds[i].kind;
			if (l.kind == FD_PIPE || l.kind == FD_SOCKET)
				l.inode = bracket_inode(link);
			return l;
		}
	if (device_is_gpu(link))
		l.kind = FD_GPU;
	else if (span_starts(link, "/") && (!span_starts(link, "/dev/") || span_starts(link, "/dev/shm/")))
		l.kind = FD_FILE;
	return l;
}

int fd_link_read(const struct world *w, pid_t pid, int fd, struct fd_link *ret, char *link, size_t cap)
{
	char path[64];
	if (w->proc_fd < 0)
		return WORLD_ABSENT;
	TEXT_FORMAT(path, "%d/fd/%d", pid, fd);
	ssize_t n = readlinkat(w->proc_fd, path, link, cap - 1);
	if (n < 0)
		return world_condition(-errno);
	link[n] = '\0';
	*ret = fd_link_parse((struct span){link, (size_t)n});
	return 0;
}

/* ---- mounts ---- */

int mountinfo_find(struct span text, uint64_t mount_id, struct span *ret_type, struct span *ret_source)
{
	struct span line, word, type, source;
	uint64_t id;
	while (span_line(&text, &line)) {
		if (!span_word(&line, &word) || span_u64(word, &id) < 0 || id != mount_id)
			continue;
		line = span_after(line, " - ");
		if (!line.p || !span_word(&line, &type) || !span_word(&line, &source))
			return -ENOENT;
		*ret_type = type;
		*ret_source = source;
		return 0;
	}
	return -ENOENT;
}

bool mount_is_remote(struct span type)
{
	static const char *const remote[] = {"nfs",    "nfs4",	    "lustre", "ceph",	 "cifs",     "smb3", "9p",
					     "gpfs",   "beegfs",    "afs",    "pvfs2",	 "virtiofs", "gfs2", "ocfs2",
					     "wekafs", "glusterfs", "fuse",   "fuseblk", "dpc"};
	for (size_t i = 0; i < ARRAY_SIZE(remote); i++)
		if (span_eq(type, remote[i]))
			return true;
	return span_starts(type, "fuse.");
}

static void mount_add(const struct world *w, pid_t pid, int fd, struct buf *b)
{
	char path[64], info[1024], type_text[32], source_text[96];
	struct span type, source;
	uint64_t mount_id;
	size_t len;
	TEXT_FORMAT(path, "%d/fdinfo/%d", pid, fd);
	if (file_read_at(w->proc_fd, path, info, sizeof(info), &len) < 0 ||
	    text_field_u64((struct span){info, len}, "mnt_id", &mount_id) < 0)
		return;
	cleanup(freep) char *mounts = NULL;
	TEXT_FORMAT(path, "%d/mountinfo", pid);
	if (file_slurp(w->proc_fd, path, MOUNTINFO_MAX, &mounts, &len) < 0)
		return;
	if (mountinfo_find((struct span){mounts, len}, mount_id, &type, &source) < 0 || !mount_is_remote(type))
		return;
	span_copy(type, type_text, sizeof(type_text));
	span_copy(source, source_text, sizeof(source_text));
	buf_printf(b, " on %s %s", type_text, source_text);
}

/* ---- pipes ---- */

struct pipe_search {
	const struct world *w;
	char link[48]; /* "pipe:[123]" */
	bool want_writer; /* the waiting end reads, so the other end writes */
	bool incomplete; /* a process could not be read */
	uint64_t until_ns;
	uid_t uid;
};

/* True if the descriptor is the other end. The flags in fdinfo are octal; the last two bits are the access mode. */
static bool end_fits(const struct pipe_search *s, const char *pid, const char *fd)
{
	char path[96], info[512];
	struct span flags;
	size_t len;
	TEXT_FORMAT(path, "%s/fdinfo/%s", pid, fd);
	if (file_read_at(s->w->proc_fd, path, info, sizeof(info), &len) < 0 ||
	    text_field((struct span){info, len}, "flags", &flags) < 0)
		return false;
	flags = span_trim(flags);
	if (flags.len == 0)
		return false;
	const int mode = (flags.p[flags.len - 1] - '0') & O_ACCMODE;
	return mode == O_RDWR || mode == (s->want_writer ? O_WRONLY : O_RDONLY);
}

static DIR *dir_at(int dir_fd, const char *path)
{
	return file_folder(openat(dir_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

bool fd_any_socket(const struct world *w, pid_t pid)
{
	char path[64], link[64];
	size_t seen = 0;
	TEXT_FORMAT(path, "%d/fd", (int)pid);
	cleanup(closedirp) DIR *dir = dir_at(w->proc_fd, path);
	if (!dir)
		return true;
	for (const struct dirent *e; (e = readdir(dir));) {
		ssize_t n = e->d_name[0] == '.' ? 0 : readlinkat(dirfd(dir), e->d_name, link, sizeof(link));
		if (n > 0 && fd_link_parse((struct span){link, (size_t)n}).kind == FD_SOCKET)
			return true;
		if (++seen > ANY_FDS_MAX)
			return true;
	}
	return false;
}

static bool process_holds(struct pipe_search *s, const char *pid)
{
	char path[64], link[64];
	TEXT_FORMAT(path, "%s/fd", pid);
	cleanup(closedirp) DIR *dir = dir_at(s->w->proc_fd, path);
	if (!dir) {
		s->incomplete = s->incomplete || errno != ENOENT;
		return false;
	}
	size_t seen = 0;
	for (const struct dirent *e; (e = readdir(dir));) {
		if (e->d_name[0] == '.')
			continue;
		if (++seen > PIPE_FDS_MAX) {
			s->incomplete = true;
			return false;
		}
		ssize_t n = readlinkat(dirfd(dir), e->d_name, link, sizeof(link) - 1);
		if (n <= 0)
			continue;
		link[n] = '\0';
		if (strcmp(link, s->link) == 0 && end_fits(s, pid, e->d_name))
			return true;
	}
	return false;
}

static bool same_owner(const struct pipe_search *s, const char *pid)
{
	struct stat st;
	return fstatat(s->w->proc_fd, pid, &st, 0) == 0 && st.st_uid == s->uid;
}

/* The first other process that has the other end; 0: only the process itself, -1: not found in time. */
static pid_t pipe_holder(struct pipe_search *s, pid_t self)
{
	char name[16];
	struct proc_stat stat;
	/* The parent is the most likely one, so it is tried first. */
	if (proc_stat_read(s->w, self, &stat) == 0 && stat.ppid > 0) {
		TEXT_FORMAT(name, "%d", stat.ppid);
		if (process_holds(s, name))
			return stat.ppid;
	}
	cleanup(closedirp) DIR *dir = dir_at(s->w->proc_fd, ".");
	if (!dir)
		return -1;
	for (const struct dirent *e; (e = readdir(dir));) {
		uint64_t pid;
		if (span_u64(span_of(e->d_name), &pid) < 0 || (pid_t)pid == self)
			continue;
		if (s->w->mono_ns() > s->until_ns)
			return -1;
		if (!same_owner(s, e->d_name)) {
			s->incomplete = true;
			continue;
		}
		if (process_holds(s, e->d_name))
			return (pid_t)pid;
	}
	TEXT_FORMAT(name, "%d", self);
	return !s->incomplete && process_holds(s, name) ? 0 : -1;
}

static void pipe_add(const struct world *w, pid_t pid, int fd, const char *link, uint64_t budget_ns, struct buf *b)
{
	struct pipe_search s = {.w = w};
	char number[16], fd_text[16];
	struct stat st;
	TEXT_COPY(s.link, link);
	TEXT_FORMAT(number, "%d", pid);
	TEXT_FORMAT(fd_text, "%d", fd);
	buf_add(b, "pipe");
	if (budget_ns == 0)
		return;
	s.until_ns = w->mono_ns() + budget_ns;
	if (fstatat(w->proc_fd, number, &st, 0) < 0)
		return;
	s.uid = st.st_uid;
	s.want_writer = false;
	/* A reading end searches for a writer. */
	s.want_writer = end_fits(&s, number, fd_text);
	pid_t holder = pipe_holder(&s, pid);
	struct proc_stat stat;
	if (holder > 0 && proc_stat_read(w, holder, &stat) == 0)
		buf_printf(b, ", other end: pid %d (%s)", holder, stat.comm);
	else if (holder == 0)
		buf_add(b, ", other end: only this process itself");
}

/* ---- text ---- */

static const char *plain_name(enum fd_kind kind)
{
	switch (kind) {
	case FD_EPOLL:
		return "epoll";
	case FD_EVENT:
		return "eventfd";
	case FD_TIMER:
		return "timerfd";
	case FD_SIGNAL:
		return "signalfd";
	case FD_PIDFD:
		return "pidfd";
	case FD_INOTIFY:
		return "inotify";
	case FD_USERFAULT:
		return "userfaultfd";
	default:
		return NULL;
	}
}

bool fdtarget_timer_off(const struct world *w, pid_t pid, int fd)
{
	char dir[32], text[1024];
	size_t len;
	struct fdinfo info;
	TEXT_FORMAT(dir, "%d/fdinfo", pid);
	if (fdinfo_text(w, dir, fd, text, sizeof(text), &len) != 0)
		return false;
	fdinfo_parse((struct span){text, len}, &info);
	return (info.has & FDINFO_TIMER) && !info.timer_set;
}

int fdtarget_read(const struct world *w, pid_t pid, int fd, uint64_t pipe_budget_ns, struct fd_link *ret, char *dst,
		  size_t cap)
{
	char link[4096], text[200];
	struct fd_link l;
	int r = fd_link_read(w, pid, fd, &l, link, sizeof(link));
	if (r)
		return r;
	struct buf b = {.text = dst, .cap = cap};
	buf_reset(&b);
	if (l.kind == FD_SOCKET) {
		buf_add(&b, "socket");
		if (socktable_find(w, pid, l.inode, &l.listens, text, sizeof(text)) == 0)
			buf_printf(&b, " %s", text);
	} else if (l.kind == FD_PIPE) {
		pipe_add(w, pid, fd, link, pipe_budget_ns, &b);
	} else if (plain_name(l.kind)) {
		buf_add(&b, plain_name(l.kind));
		if (l.kind == FD_TIMER && fdtarget_timer_off(w, pid, fd))
			buf_add(&b, ", which is not set");
	} else {
		span_copy(span_of(link), text, MIN(sizeof(text), cap > 80 ? cap - 60 : cap));
		buf_add(&b, text);
		if (l.kind == FD_FILE)
			mount_add(w, pid, fd, &b);
	}
	*ret = l;
	return 0;
}
