/* File systems: which one, who serves it, and FIFOs that nobody has open the other way. */
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/path.h"
#include "sense/wait/waitfacts_parts.h"

#define PATH_SHOWN_MAX 4096
/* Files of one inotify descriptor, and descriptors of a job that are compared with them. */
#define WATCHES_MAX 64
#define WATCHED_TEXT_MAX 16384
#define COMPARED_MAX 4096

/* ---- mountinfo ---- */

/* Takes "36 35 98:0 /root /mount options…" apart. */
static bool mount_line(struct span line, uint64_t *ret_id, struct span *ret_point, struct waitmount *ret)
{
	struct span word, device;
	uint64_t parent, major, minor;
	if (!span_word(&line, &word) || span_u64(word, ret_id) < 0 || !span_word(&line, &word) ||
	    span_u64(word, &parent) < 0 || !span_word(&line, &device) || !span_word(&line, &word) ||
	    !span_word(&line, ret_point))
		return false;
	const struct span after = span_after(device, ":");
	line = span_after(line, " - ");
	if (!after.p || span_u64(span_before(device, ":"), &major) < 0 || span_u64(after, &minor) < 0 ||
	    major > UINT32_MAX || minor > UINT32_MAX || !line.p)
		return false;
	ret->major = (uint32_t)major;
	ret->minor = (uint32_t)minor;
	return span_word(&line, &ret->type) && span_word(&line, &ret->source);
}

bool waitmount_by_id(struct span mountinfo, uint64_t id, struct waitmount *ret)
{
	struct span line, point;
	struct waitmount m;
	uint64_t here;
	while (span_line(&mountinfo, &line))
		if (mount_line(line, &here, &point, &m) && here == id) {
			*ret = m;
			return true;
		}
	return false;
}

/* Blanks and the like stand as "\040". Returns the bytes of path that the mount point covers; 0: it is not above it. */
static size_t point_covers(struct span point, struct span path)
{
	size_t at = 0;
	if (span_eq(point, "/"))
		return path.len > 0 && path.p[0] == '/' ? 1 : 0;
	for (size_t i = 0; i < point.len; i++, at++) {
		char c = point.p[i];
		if (c == '\\' && i + 3 < point.len && point.p[i + 1] >= '0' && point.p[i + 1] <= '3') {
			c = (char)((point.p[i + 1] & 3) << 6 | (point.p[i + 2] & 7) << 3 | (point.p[i + 3] & 7));
			i += 3;
		}
		if (at >= path.len || path.p[at] != c)
			return 0;
	}
	return at == path.len || path.p[at] == '/' ? at : 0;
}

bool waitmount_by_path(struct span mountinfo, struct span path, struct waitmount *ret)
{
	struct span line, point;
	struct waitmount m;
	uint64_t id;
	size_t best = 0;
	while (span_line(&mountinfo, &line)) {
		if (!mount_line(line, &id, &point, &m))
			continue;
		const size_t covers = point_covers(point, path);
		/* A later mount on the same point hides the earlier one. */
		if (covers > 0 && covers >= best) {
			best = covers;
			*ret = m;
		}
	}
	return best > 0;
}

/* ---- one wait ---- */

/* The folder that a relative path starts from. */
static bool waiting_folder(struct waiting *c, char *dst, size_t cap, size_t *ret_len)
{
	char path[40];
	const int argument = call_path_argument(c->tw->nr);
	const int dir = argument == 1 ? (int)c->tw->arg[0] : AT_FDCWD;
	if (dir == AT_FDCWD)
		TEXT_FORMAT(path, "%d/cwd", (int)c->t->pid);
	else
		TEXT_FORMAT(path, "%d/fd/%d", (int)c->t->pid, dir);
	const ssize_t n = readlinkat(c->l->w->proc_fd, path, dst, cap);
	*ret_len = n > 0 ? (size_t)n : 0;
	return n > 0;
}

/* The path that the call names, made absolute; "" where it cannot be told. */
static void path_of_call(struct waiting *c, char path[static PATH_SHOWN_MAX])
{
	char text[PATH_SHOWN_MAX / 2];
	size_t len = 0;
	const int argument = c->tw->has_syscall && c->tw->nr >= 0 ? call_path_argument(c->tw->nr) : -1;
	path[0] = '\0';
	if (argument < 0 || c->tw->arg[argument] == 0 ||
	    remote_text(&c->p->remote, c->tw->arg[argument], text, sizeof(text)) != 0)
		return;
	if (text[0] != '/' && waiting_folder(c, path, PATH_SHOWN_MAX / 2 - 2, &len))
		path[len++] = '/';
	(void)text_copy(path + len, PATH_SHOWN_MAX - len, text);
}

static void path_of_fd(struct waiting *c, int fd, char path[static PATH_SHOWN_MAX])
{
	char name[40];
	TEXT_FORMAT(name, "%d/fd/%d", (int)c->t->pid, fd);
	const ssize_t n = readlinkat(c->l->w->proc_fd, name, path, PATH_SHOWN_MAX - 1);
	path[n > 0 ? n : 0] = '\0';
}

static bool mount_of(struct waiting *c, int fd, const char *path, struct waitmount *m)
{
	struct fdinfo info;
	const struct span mounts = waitproc_mounts(c->l, c->p);
	if (fd >= 0)
		return fdtable_info(c->l->w, &c->p->fds, fd, &info) == 0 && (info.has & FDINFO_MOUNT) &&
		       waitmount_by_id(mounts, info.mount_id, m);
	return path[0] == '/' && waitmount_by_path(mounts, span_of(path), m);
}

bool waiting_fd_is_kernels(struct waiting *c, int fd)
{
	static const char *const types[] = {"proc", "sysfs", "cgroup", "cgroup2", "tracefs", "debugfs", "bpf"};
	struct waitmount m;
	if (!mount_of(c, fd, "", &m))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (span_eq(m.type, types[i]))
			return true;
	return false;
}

static bool is_fuse(struct span type)
{
	return span_eq(type, "fuse") || span_eq(type, "fuseblk") || span_starts(type, "fuse.");
}

static void file_text(struct waitfact *f, const char *path, bool leased, const struct waitmount *m)
{
	char shown[64], type[16], source[40];
	path_show(path, 60, shown, sizeof(shown));
	if (leased) {
		TEXT_FORMAT(f->text, "%s, of which another process has a lease", shown[0] ? shown : "a file");
		return;
	}
	if (!m) {
		TEXT_FORMAT(f->text, "%s", shown[0] ? shown : "a file");
		return;
	}
	span_copy(m->type, type, sizeof(type));
	span_copy(m->source, source, sizeof(source));
	TEXT_FORMAT(f->text, "%s on %s %s", shown[0] ? shown : "a file", type, source);
}

void waiting_file(struct waiting *c, int fd)
{
	char path[PATH_SHOWN_MAX] = "";
	struct waitmount m;
	const char *wchan = waiting_wchan(c);
	/* A program is asked first whether the file may be opened: by whom is told nowhere. */
	if (strncmp(wchan, "fanotify", strlen("fanotify")) == 0) {
		(void)waitfact_add(c, WAITFACT_UNKNOWN);
		return;
	}
	if (fd >= 0)
		path_of_fd(c, fd, path);
	else
		path_of_call(c, path);
	const bool partner = strncmp(wchan, "wait_for_partner", 16) == 0 || strcmp(wchan, "fifo_open") == 0;
	const bool has_mount = !partner && mount_of(c, fd, path, &m);
	const bool fuse = has_mount ? is_fuse(m.type) : strncmp(wchan, "request_wait_answer", 19) == 0;
	struct waitfact *f = waitfact_add(c, partner ? WAITFACT_FIFO : fuse ? WAITFACT_FUSE : WAITFACT_STORAGE);
	if (!f)
		return;
	const bool leased = waiting_lease(c);
	file_text(f, path, leased, has_mount ? &m : NULL);
	if (partner)
		f->to_write = c->tw->nr == SYS_openat && (c->tw->arg[2] & O_ACCMODE) == O_WRONLY;
	if (fuse && has_mount) {
		/* As the kernel numbers devices inside. */
		f->id = (uint64_t)m.major << 20 | m.minor;
		waitfact_pend(c->l, &(struct pend){.kind = PEND_FUSE, .own = {FDOBJECT_FUSE, f->id}});
	} else if (!has_mount && !path[0] && wchan[0] && !leased) {
		TEXT_FORMAT(f->text, "in %s", wchan);
	}
}

/* ---- changes of files ---- */

void waiting_change(struct waiting *c, int fd)
{
	struct waitfact *f = waitfact_add(c, WAITFACT_CHANGE);
	if (!f)
		return;
	TEXT_FORMAT(f->text, "a change of files (inotify)");
	waitfact_pend(c->l, &(struct pend){.kind = PEND_CHANGE, .pid = c->t->pid, .fd = fd});
}

/* ret_none: it was read that no file at all is watched. */
static size_t watches_read(struct waitlook *l, const struct pend *p, struct inotify_watch *watch, bool *ret_none)
{
	char dir[40];
	cleanup(freep) char *text = malloc(WATCHED_TEXT_MAX);
	size_t len, n = 0;
	TEXT_FORMAT(dir, "%d/fdinfo", (int)p->pid);
	if (!text)
		l->error = -ENOMEM;
	if (!text || fdinfo_text(l->w, dir, p->fd, text, WATCHED_TEXT_MAX, &len) != 0)
		return 0;
	struct span rest = {text, len};
	*ret_none = memmem(text, len, "flags:", 6) && !memmem(text, len, "inotify", 7);
	while (n < WATCHES_MAX && inotify_watch_next(&rest, &watch[n]))
		n++;
	return n;
}

static bool is_watched(struct waitlook *l, struct waitproc *x, const struct fdinfo *info,
		       const struct inotify_watch *watch, size_t n)
{
	struct waitmount m;
	for (size_t i = 0; i < n; i++)
		if (watch[i].inode == info->inode)
			return waitmount_by_id(waitproc_mounts(l, x), info->mount_id, &m) &&
			       m.major == watch[i].major && m.minor == watch[i].minor;
	return false;
}

/* Looks for a watched file among the descriptors of a process; its name, and whether it has it open to write. */
static bool change_of(struct waitlook *l, struct waitproc *x, const struct inotify_watch *watch, size_t n, size_t *left,
		      char name[64])
{
	const uint32_t needs = FDINFO_FLAGS | FDINFO_INODE | FDINFO_MOUNT;
	struct fdinfo info;
	for (size_t k = 0; k<x->fds.n && * left> 0; k++) {
		const struct fdentry *e = &x->fds.entry[k];
		if (e->kind != FD_FILE)
			continue;
		--*left;
		if (fdtable_info(l->w, &x->fds, e->fd, &info) != 0 || (info.has & needs) != needs ||
		    !is_watched(l, x, &info, watch, n))
			continue;
		waitlook_link(l, x->kin->pid, e->fd, name, 64);
		if (info.access != O_RDONLY)
			return true;
	}
	return false;
}

bool waitlook_change(struct waitlook *l, const struct pend *p, struct waitfact *f)
{
	char name[64] = "";
	bool none = false;
	size_t left = COMPARED_MAX;
	struct inotify_watch watch[WATCHES_MAX];
	const size_t n = watches_read(l, p, watch, &none);
	if (none) {
		f->kind = WAITFACT_EVENTFD;
		TEXT_FORMAT(f->text, "a change of files (inotify), and no file is watched");
		return true;
	}
	f->id = n ? watch[0].inode : 0;
	for (size_t i = 0; i < l->n_procs && n > 0; i++)
		if (change_of(l, &l->proc[i], watch, n, &left, name) && l->proc[i].kin->pid != p->pid)
			waitfact_holder_append(l, f, l->proc[i].kin->pid);
	if (name[0])
		TEXT_FORMAT(f->text, "a change of %s", name);
	return false;
}
