#include "agent/hang/hanglocks.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/text.h"
#include "sense/proc/fdinfo.h"
#include "sense/wait/filelock.h"

#define LOCKS_MAX (16U << 20) /* text of /proc/locks; one user's 30,000 locks are 1.1 MB */
#define FILES_MOST 1024 /* of one holder that are looked at */

static bool is_of(const struct filelock *l, const struct lookups_row *r)
{
	return l->inode == r->inode && l->major == r->dev >> 20 && l->minor == (r->dev & 0xfffff);
}

/* True if this descriptor has the lock: the lines "lock:" of its fdinfo. */
static bool has_lock(const struct world *w, const char *dir, int fd, const struct lookups_row *r)
{
	char text[2048];
	size_t len;
	if (fdinfo_text(w, dir, fd, text, sizeof(text), &len) != 0)
		return false;
	struct span rest = {text, len}, line;
	while (span_line(&rest, &line)) {
		struct filelock l;
		const struct span lock = span_starts(line, "lock:") ? span_after(line, ":") : (struct span){NULL, 0};
		if (lock.p && filelock_parse(lock, &l) == 0 && is_of(&l, r))
			return true;
	}
	return false;
}

/* "…/tokens-2.pt.lock" of a link of /proc. */
void hanglocks_name(const struct world *w, const struct hanglocks_holder *h, char *dst, size_t cap)
{
	char link[48], path[1024];
	dst[0] = '\0';
	TEXT_FORMAT(link, "%d/fd/%d", (int)h->pid, h->fd);
	const ssize_t n = readlinkat(w->proc_fd, link, path, sizeof(path) - 1);
	if (n <= 0)
		return;
	path[n] = '\0';
	const char *name = strrchr(path, '/');
	span_copy(span_of(name ? name + 1 : path), dst, cap);
}

/* The descriptor by which a process has the lock; -1: none, so its number is that of who took it, and has ended. */
static int lock_fd(const struct world *w, const struct lookups_row *r, pid_t holder)
{
	char dir[32];
	TEXT_FORMAT(dir, "%d/fdinfo", (int)holder);
	int fd = openat(w->proc_fd, dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), found = -1;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	if (!d) {
		closep(&fd);
		return -1;
	}
	size_t looked = 0;
	const struct dirent *e;
	while (found < 0 && looked++ < FILES_MOST && (e = readdir(d)) != NULL) {
		int64_t number;
		if (span_i64(span_of(e->d_name), &number) == 0 && has_lock(w, dir, (int)number, r))
			found = (int)number;
	}
	(void)closedir(d);
	return found;
}

size_t hanglocks_holders(const struct world *w, const struct lookups_row *r,
			 struct hanglocks_holder ret[static HANGLOCKS_HOLDERS])
{
	cleanup(freep) char *text = NULL;
	size_t len, n = 0;
	if (file_slurp(w->proc_fd, "locks", LOCKS_MAX, &text, &len) != 0)
		return 0;
	struct span rest = {text, len}, line;
	while (n < HANGLOCKS_HOLDERS && span_line(&rest, &line)) {
		struct filelock l;
		if (filelock_parse(line, &l) != 0 || l.waits || l.pid <= 0 || !is_of(&l, r))
			continue;
		bool known = false;
		for (size_t i = 0; i < n; i++)
			known |= ret[i].pid == l.pid;
		const int fd = known ? -1 : lock_fd(w, r, l.pid);
		if (fd >= 0)
			ret[n++] = (struct hanglocks_holder){l.pid, fd};
	}
	return n;
}
