#include "sense/proc/procfile.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/auxvec.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/file.h"
#include "sense/proc/proc.h"

#define STATUS_MOST 16384
#define AUXV_MOST 1024

/* ---- the user ---- */

enum { ID_REAL, ID_EFFECTIVE, ID_SAVED, ID_FILES, ID_KINDS };

static int ids_take(struct span text, const char *key, uint32_t ids[static ID_KINDS])
{
	struct span field, word;
	if (text_field(text, key, &field) < 0)
		return -EBADMSG;
	for (int i = 0; i < ID_KINDS; i++) {
		uint64_t id;
		if (!span_word(&field, &word) || span_u64(word, &id) < 0 || id > UINT32_MAX)
			return -EBADMSG;
		ids[i] = (uint32_t)id;
	}
	return 0;
}

static bool differ(const uint32_t ids[static ID_KINDS])
{
	for (int i = 1; i < ID_KINDS; i++)
		if (ids[i] != ids[0])
			return true;
	return false;
}

/* Who started it; of a process of root that gave up some of its ids, what it became. */
static uint32_t least(const uint32_t ids[static ID_KINDS])
{
	if (ids[ID_REAL] != 0)
		return ids[ID_REAL];
	for (int i = 0; i < ID_KINDS; i++)
		if (ids[i] != 0)
			return ids[i];
	return 0;
}

int procfile_user_parse(struct span status, struct foreign_user *ret)
{
	struct foreign_user u = {.n_groups = 0};
	uint32_t uids[ID_KINDS], gids[ID_KINDS];
	struct span field, word;
	int r = ids_take(status, "Uid", uids);
	if (r == 0)
		r = ids_take(status, "Gid", gids);
	if (r < 0)
		return r;
	u.uid = least(uids);
	u.gid = u.uid == 0 ? gids[ID_FILES] : least(gids);
	/* A program that has two users may have taken the groups of either. */
	if (!differ(uids) && text_field(status, "Groups", &field) == 0)
		while (u.n_groups < FOREIGN_GROUPS && span_word(&field, &word)) {
			uint64_t id;
			if (span_u64(word, &id) < 0 || id > UINT32_MAX)
				return -EBADMSG;
			u.group[u.n_groups++] = (gid_t)id;
		}
	*ret = u;
	return 0;
}

static int ids_read(const struct world *w, pid_t pid, struct foreign_user *ret)
{
	char path[32], text[STATUS_MOST];
	size_t len;
	TEXT_FORMAT(path, "%d/status", (int)pid);
	int r = file_read_at(w->proc_fd, path, text, sizeof(text), &len);
	if (r < 0)
		return world_condition(r);
	return procfile_user_parse((struct span){text, len}, ret);
}

int procfile_owner(const struct world *w, pid_t pid, uid_t *ret)
{
	struct foreign_user user;
	int r = ids_read(w, pid, &user);
	if (r == 0)
		*ret = user.uid;
	return r;
}

/* ---- how its program was started ---- */

static uint64_t word_at(struct span auxv, size_t at, size_t word_bytes)
{
	uint64_t wide = 0;
	uint32_t narrow = 0;
	if (word_bytes == sizeof(wide))
		memcpy(&wide, auxv.p + at, sizeof(wide));
	else
		memcpy(&narrow, auxv.p + at, sizeof(narrow));
	return word_bytes == sizeof(wide) ? wide : narrow;
}

/* Words of another size make keys that no vector has, so that one of the three is missing. */
static bool start_take(struct span auxv, size_t word_bytes, struct procfile_start *ret)
{
	enum { HAS_UID = 1, HAS_GID = 2, HAS_SECURE = 4, HAS_ALL = 7 };
	unsigned has = 0;
	for (size_t at = 0; at + 2 * word_bytes <= auxv.len; at += 2 * word_bytes) {
		const uint64_t key = word_at(auxv, at, word_bytes);
		const uint64_t value = word_at(auxv, at + word_bytes, word_bytes);
		if (key == AT_NULL)
			break;
		if (key != AT_UID && key != AT_GID && key != AT_SECURE)
			continue;
		if (value > UINT32_MAX)
			return false;
		if (key == AT_UID)
			ret->uid = (uid_t)value;
		else if (key == AT_GID)
			ret->gid = (gid_t)value;
		else
			ret->secure = value != 0;
		has |= key == AT_UID ? HAS_UID : key == AT_GID ? HAS_GID : HAS_SECURE;
	}
	return has == HAS_ALL;
}

int procfile_start_parse(struct span auxv, struct procfile_start *ret)
{
	struct procfile_start s = {.uid = 0};
	if (!start_take(auxv, sizeof(uint64_t), &s) && !start_take(auxv, sizeof(uint32_t), &s))
		return -EBADMSG;
	*ret = s;
	return 0;
}

int procfile_start(const struct world *w, pid_t pid, struct procfile_start *ret)
{
	char path[32], text[AUXV_MOST];
	size_t len;
	TEXT_FORMAT(path, "%d/auxv", (int)pid);
	int r = file_read_at(w->proc_fd, path, text, sizeof(text), &len);
	if (r < 0)
		return world_condition(r);
	return len == 0 ? WORLD_GONE : procfile_start_parse((struct span){text, len}, ret);
}

/* A program with the set-user-ID bit that has all ids of root serves whoever started it. */
static int starter_take(const struct world *w, pid_t pid, struct foreign_user *user)
{
	struct procfile_start start;
	int r = procfile_start(w, pid, &start);
	if (r == 0 && start.secure && start.uid != 0)
		*user = (struct foreign_user){.uid = start.uid, .gid = start.gid};
	return r;
}

int procfile_user(const struct world *w, pid_t pid, struct foreign_user *ret)
{
	struct foreign_user user;
	int r = ids_read(w, pid, &user);
	const bool as_root = r == 0 && user.uid == 0 && geteuid() == 0 && !w->recorded;
	if (as_root)
		r = starter_take(w, pid, &user);
	if (r)
		return r;
	if (as_root && user.uid == 0 && w->owner != 0)
		return WORLD_DENIED;
	*ret = user;
	return 0;
}

int procfile_who(const struct world *w, pid_t pid, struct procfile_who *ret)
{
	struct proc_stat st;
	struct foreign_user user;
	int r = proc_stat_read(w, pid, &st);
	if (r == 0)
		r = procfile_user(w, pid, &user);
	if (r == 0)
		*ret = (struct procfile_who){.pid = pid, .uid = user.uid, .start_ticks = st.start_ticks};
	return r;
}

/* ---- paths ---- */

static int condition(int r)
{
	return r == -EACCES || r == -EPERM ? WORLD_DENIED : r == -EMFILE || r == -ENFILE ? r : r ? WORLD_ABSENT : 0;
}

static int link_open(const struct world *w, pid_t pid, const char *name, int *ret_fd)
{
	char path[32];
	TEXT_FORMAT(path, "%d/%s", (int)pid, name);
	int fd = openat(w->proc_fd, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return world_condition(-errno);
	*ret_fd = fd;
	return 0;
}

int procfile_root(const struct world *w, pid_t pid, int *ret_fd)
{
	return link_open(w, pid, "root", ret_fd);
}

/*
 * Only what the kernel knows already: a user may have a root whose file system never answers (one in user space below
 * an overlay), and whoever asked that could not even be killed. Device and inode of a root that is held do not change.
 */
static bool known_of(int fd, const char *path, struct statx *ret)
{
	return statx(fd, path, AT_EMPTY_PATH | AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_INO, ret) == 0;
}

int procfile_root_differs(const struct world *w, pid_t pid, bool *ret)
{
	cleanup(closep) int root = -1;
	struct statx a, b;
	int r = procfile_root(w, pid, &root);
	if (r)
		return r;
	if (!known_of(root, "", &a) || !known_of(AT_FDCWD, "/", &b))
		return WORLD_ABSENT;
	*ret = a.stx_dev_major != b.stx_dev_major || a.stx_dev_minor != b.stx_dev_minor || a.stx_ino != b.stx_ino;
	return 0;
}

static bool has_our_root(const struct world *w, pid_t pid)
{
	bool differs;
	return procfile_root_differs(w, pid, &differs) == 0 && !differs;
}

typedef int opener(const struct foreign_place *at, const char *path, int *ret_fd);

/*
 * A path from the process's folder, by way of its root: an absolute link in it then stays among the process's own
 * mounts, of which a service has fewer (PrivateTmp=, ProtectHome=). Only where its root is ours is the link's text a
 * path below it.
 */
static int by_root(const struct world *w, pid_t pid, const struct foreign_place *from, const char *path,
		   opener *open_it, int *ret_fd)
{
	char link[32], folder[PATH_MAX], whole[PATH_MAX];
	cleanup(closep) int root = -1;
	TEXT_FORMAT(link, "%d/cwd", (int)pid);
	ssize_t n = readlinkat(w->proc_fd, link, folder, sizeof(folder) - 1);
	if (n <= 0 || folder[0] != '/')
		return -ENOENT;
	folder[n] = '\0';
	if (text_format(whole, sizeof(whole), "%s/%s", folder, path) >= (int)sizeof(whole))
		return -ENAMETOOLONG;
	int r = procfile_root(w, pid, &root);
	const struct foreign_place place = {.dirfd = root, .as = from->as, .flags = from->flags | FOREIGN_IN_ROOT};
	return r ? r : open_it(&place, whole, ret_fd);
}

static int as_user(const struct world *w, pid_t pid, const struct foreign_user *user, const char *path, unsigned flags,
		   opener *open_it, int *ret_fd)
{
	cleanup(closep) int at = -1;
	bool whole = path[0] == '/';
	int r = link_open(w, pid, whole ? "root" : "cwd", &at);
	if (r)
		return r;
	struct foreign_place place = {.dirfd = at, .as = user, .flags = flags & FOREIGN_LINKS};
	if (whole || !has_our_root(w, pid))
		place.flags |= FOREIGN_IN_ROOT;
	r = open_it(&place, path, ret_fd);
	if (r && !(place.flags & FOREIGN_IN_ROOT) && by_root(w, pid, &place, path, open_it, ret_fd) == 0)
		r = 0;
	return condition(r);
}

static int of_process(const struct world *w, pid_t pid, const char *path, unsigned flags, opener *open_it, int *ret_fd)
{
	struct foreign_user user;
	int r = w->recorded ? WORLD_ABSENT : procfile_user(w, pid, &user);
	return r ? r : as_user(w, pid, &user, path, flags, open_it, ret_fd);
}

int procfile_open(const struct world *w, pid_t pid, const char *path, unsigned flags, int *ret_fd)
{
	return of_process(w, pid, path, flags, foreign_open, ret_fd);
}

int procfile_open_of(const struct world *w, const struct procfile_who *who, const char *path, unsigned flags,
		     int *ret_fd)
{
	cleanup(closep) int fd = -1;
	struct foreign_user user;
	struct proc_stat st;
	int r = w->recorded ? WORLD_ABSENT : procfile_user(w, who->pid, &user);
	/* Who had a user then and has none now is root's by now. */
	if (r == WORLD_DENIED || (r == 0 && user.uid != who->uid))
		r = PROCFILE_CHANGED;
	if (r == 0)
		r = as_user(w, who->pid, &user, path, flags, foreign_open, &fd);
	/* The pid may have been given on meanwhile, so its start is compared last. */
	if (r == 0)
		r = proc_stat_read(w, who->pid, &st);
	if (r == 0 && st.start_ticks != who->start_ticks)
		r = PROCFILE_CHANGED;
	if (r == 0)
		*ret_fd = take_fd(&fd);
	return r;
}

int procfile_folder(const struct world *w, pid_t pid, const char *path, int *ret_fd)
{
	return of_process(w, pid, path, 0, foreign_folder, ret_fd);
}

/* ---- descriptors ---- */

bool procfile_writes_parse(const char *fdinfo)
{
	const char *flags = strstr(fdinfo, "flags:");
	if (!flags)
		return false;
	unsigned long is = strtoul(flags + strlen("flags:"), NULL, 8);
	return !(is & O_PATH) && (is & O_ACCMODE) != O_RDONLY;
}

int procfile_written(const struct world *w, pid_t pid, int fd, int *ret_fd)
{
	char path[48], text[512];
	size_t len;
	struct foreign_user user;
	TEXT_FORMAT(path, "%d/fdinfo/%d", (int)pid, fd);
	int r = file_read_at(w->proc_fd, path, text, sizeof(text), &len);
	if (r < 0)
		return world_condition(r);
	if (!procfile_writes_parse(text))
		return WORLD_DENIED;
	r = procfile_user(w, pid, &user);
	if (r)
		return r;
	TEXT_FORMAT(path, "%d/fd/%d", (int)pid, fd);
	cleanup(closep) int seen = openat(w->proc_fd, path, O_PATH | O_CLOEXEC);
	if (seen < 0)
		return world_condition(-errno);
	return condition(foreign_reopen(seen, &user, O_RDONLY, ret_fd));
}

uint64_t procfile_changed_ns(const struct world *w, pid_t pid, const char *path)
{
	cleanup(closep) int fd = -1;
	struct stat st;
	if (procfile_open(w, pid, path, 0, &fd) != 0 && procfile_folder(w, pid, path, &fd) != 0)
		return 0;
	const uint64_t now_ms = (uint64_t)w->unix_ms();
	if (fstat(fd, &st) < 0 || st.st_mtim.tv_sec <= 0)
		return 0;
	return sub_floor(now_ms / 1000, (uint64_t)st.st_mtim.tv_sec) * NS_PER_S;
}
