#include "agent/hang/hanglocks.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "sense/proc/fdinfo.h"
#include "sense/wait/filelock.h"

#define LOCKS_MAX (16U << 20) /* text of /proc/locks; one user's 30,000 locks are 1.1 MB */
#define FILES_MOST 1024 /* of one holder that are looked at */
#define SEARCH_NS (200 * NS_PER_MS) /* among processes that are none of the job's */

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

/* A folder below /proc, "." for itself. NULL: not there, or not permitted. */
static DIR *hanglocks_folder_open(const struct world *w, const char *path)
{
	return file_folder(openat(w->proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

/* The descriptor by which a process has the lock; -1: none, so its number is that of who took it, and has ended. */
static int lock_fd(const struct world *w, const struct lookups_row *r, pid_t holder)
{
	char dir[32];
	TEXT_FORMAT(dir, "%d/fdinfo", (int)holder);
	int found = -1;
	cleanup(closedirp) DIR *d = hanglocks_folder_open(w, dir);
	size_t looked = 0;
	const struct dirent *e;
	while (d && found < 0 && looked++ < FILES_MOST && (e = readdir(d)) != NULL) {
		int64_t number;
		if (span_i64(span_of(e->d_name), &number) == 0 && has_lock(w, dir, (int)number, r))
			found = (int)number;
	}
	return found;
}

/* The holders that are known by now. */
struct holders {
	struct hanglocks_holder *of;
	size_t n;
};

static bool is_known(const struct holders *h, pid_t pid)
{
	for (size_t i = 0; i < h->n; i++)
		if (h->of[i].pid == pid)
			return true;
	return false;
}

/* True if it has the lock. Who tries for it is none, though it may have inherited the descriptor. */
static bool holder_add(const struct world *w, const struct lookups_row *r, pid_t pid, struct holders *h)
{
	if (is_known(h, pid))
		return true;
	if (pid == r->pid)
		return false;
	const int fd = h->n == HANGLOCKS_HOLDERS ? -1 : lock_fd(w, r, pid);
	if (fd >= 0)
		h->of[h->n++] = (struct hanglocks_holder){pid, fd};
	return fd >= 0;
}

/*
 * Whose number is not told, or has it no more: a lock by open file description stays while any process has that
 * description. The job's own processes are asked first, the machine's then for as long as it may take.
 */
static void holders_search(const struct world *w, const struct lookups_row *r, const struct waitfacts *facts,
			   struct holders *h)
{
	const size_t before = h->n;
	for (size_t i = 0; i < facts->n_processes; i++)
		(void)holder_add(w, r, facts->process[i].pid, h);
	const uint64_t until = clock_mono_ns() + SEARCH_NS;
	cleanup(closedirp) DIR *d = h->n > before ? NULL : hanglocks_folder_open(w, ".");
	const struct dirent *e;
	while (d && h->n == before && clock_mono_ns() < until && (e = readdir(d)) != NULL) {
		int64_t pid;
		if (span_i64(span_of(e->d_name), &pid) == 0 && pid > 0 && pid <= INT32_MAX)
			(void)holder_add(w, r, (pid_t)pid, h);
	}
}

size_t hanglocks_holders(const struct world *w, const struct lookups_row *r, const struct waitfacts *facts,
			 struct hanglocks_holder ret[static HANGLOCKS_HOLDERS])
{
	cleanup(freep) char *text = NULL;
	struct holders h = {.of = ret};
	size_t len;
	bool nameless = false;
	if (file_slurp(w->proc_fd, "locks", LOCKS_MAX, &text, &len) != 0)
		return 0;
	struct span rest = {text, len}, line;
	while (h.n < HANGLOCKS_HOLDERS && span_line(&rest, &line)) {
		struct filelock l;
		if (filelock_parse(line, &l) != 0 || l.waits || !is_of(&l, r))
			continue;
		nameless |= l.pid <= 0 || !holder_add(w, r, l.pid, &h);
	}
	if (nameless)
		holders_search(w, r, facts, &h);
	return h.n;
}
