#include "agent/hang/ownlog.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/host/world_open.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "sense/net/fdtarget.h"
#include "sense/proc/procfile.h"

/* A shell makes the file at most this long before it starts the program. */
static const int64_t before_ms = 5000;

bool ownlog_appends_parse(const char *fdinfo)
{
	const char *flags = strstr(fdinfo, "flags:");
	return !flags || (strtoul(flags + strlen("flags:"), NULL, 8) & O_APPEND);
}

/* True also where the flags cannot be read. */
static bool appends(const struct world *w, pid_t pid, int fd)
{
	char path[48], text[512];
	size_t len;
	TEXT_FORMAT(path, "%d/fdinfo/%d", (int)pid, fd);
	return file_read_at(w->proc_fd, path, text, sizeof(text), &len) != 0 || ownlog_appends_parse(text);
}

static int64_t started_unix_ms(const struct world *w, const struct proc_id *id)
{
	return w->unix_ms() - (int64_t)(clock_boot_ns() / NS_PER_MS) +
	       (int64_t)(id->start_ticks * 1000 / w->ticks_per_s);
}

/* True if the user of the process may read what it writes there; the descriptor alone proves no right to the file. */
static bool may_read(const struct world *w, pid_t pid, int fd)
{
	cleanup(closep) int in = -1;
	return procfile_written(w, pid, fd, &in) == 0;
}

static bool serves(const struct world *w, const struct proc_id *id, int fd, struct statx *ret)
{
	struct fd_link link;
	char target[512], path[48];
	/* the target of a file on another machine says "on"; such a file must not be opened */
	if (fdtarget_read(w, id->pid, fd, 0, &link, target, sizeof(target)) != 0 || link.kind != FD_FILE ||
	    strstr(target, " on "))
		return false;
	TEXT_FORMAT(path, "%d/fd/%d", (int)id->pid, fd);
	cleanup(closep) int file = openat(w->proc_fd, path, O_PATH | O_CLOEXEC);
	if (file < 0 || statx(file, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BASIC_STATS | STATX_BTIME, ret) < 0 ||
	    !S_ISREG(ret->stx_mode))
		return false;
	bool of_this_run =
		ret->stx_mask & STATX_BTIME && ret->stx_btime.tv_sec * 1000 + before_ms >= started_unix_ms(w, id);
	return (of_this_run || !appends(w, id->pid, fd)) && may_read(w, id->pid, fd);
}

void ownlog_find(const struct world *w, const struct proc_id *id, char ret[static 2][OWNLOG_PATH])
{
	struct statx st[2];
	bool is[2];
	for (int i = 0; i < 2; i++) {
		is[i] = !w->recorded && serves(w, id, i + 1, &st[i]);
		if (i == 1 && is[0] && is[1] && st[0].stx_ino == st[1].stx_ino &&
		    st[0].stx_dev_major == st[1].stx_dev_major && st[0].stx_dev_minor == st[1].stx_dev_minor)
			is[1] = false;
		ret[i][0] = '\0';
		if (is[i])
			(void)world_fd_path(id->pid, i + 1, ret[i]);
	}
}
