#include "tell/store/store_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/foreign_path.h"
#include "base/path.h"
#include "base/text.h"
#include "base/units.h"

static int store_files_nothing(void *arg)
{
	(void)arg;
	return 0;
}

/* The index of the log is mapped. Whose file it is may cut it off at any moment, and a read of it ends a process. */
static void cut_off(int signal)
{
	static const char text[] =
		"vigil: the store was cut off while it was read: its owner changes it; try again, or as that user\n";
	(void)signal;
	ignore(write(STDERR_FILENO, text, sizeof(text) - 1) < 0, "nobody is told then");
	_exit(1);
}

static void cut_off_tell(void)
{
	const struct sigaction told = {.sa_handler = cut_off, .sa_flags = (int)SA_RESETHAND};
	ignore(sigaction(SIGBUS, &told, NULL), "it ends by the signal then");
}

int store_as_owner(const char *path, int (*act)(void *arg), void *arg)
{
	char folder[PATH_MAX];
	struct foreign_user owner;
	TEXT_COPY(folder, path);
	cleanup(closep) int fd = -1;
	if (geteuid() == 0 && path_cut(folder))
		fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	bool other = fd >= 0 && foreign_owner(fd, &owner) && owner.uid != 0;
	/* a root that may not change its user is none of this machine: a container's, or a user's own */
	if (!other || foreign_act_as(&owner, store_files_nothing, NULL) != 0)
		return act(arg);
	cut_off_tell();
	return foreign_act_as(&owner, act, arg);
}

static int path_with(const char *path, const char *suffix, char dst[static PATH_MAX])
{
	return text_format(dst, PATH_MAX, "%s%s", path, suffix) < PATH_MAX ? 0 : -ENAMETOOLONG;
}

int store_lock(const char *path, int busy_ms)
{
	char lock[PATH_MAX];
	if (path_with(path, ".lock", lock) < 0)
		return -1;
	int fd = open(lock, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	uint64_t end = clock_mono_ns() + (uint64_t)busy_ms * NS_PER_MS;
	while (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK && clock_mono_ns() < end)
		(void)poll(NULL, 0, 2);
	return fd;
}

int store_move_aside(const char *path, const char *why, char note[static 256])
{
	char when[32], aside[PATH_MAX], from[PATH_MAX], to[PATH_MAX];
	static const char *const parts[] = {"-wal", "-shm", ""};
	(void)time_format_utc(clock_unix_ms(), when);
	if (text_format(aside, sizeof(aside), "%s.damaged-%s", path, when) >= (int)sizeof(aside))
		return -ENAMETOOLONG;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		if (path_with(path, parts[i], from) < 0 ||
		    text_format(to, sizeof(to), "%s%s", aside, parts[i]) >= (int)sizeof(to))
			return -ENAMETOOLONG;
		if (rename(from, to) < 0 && errno != ENOENT)
			return -errno;
	}
	(void)text_format(note, 256, "the store was damaged (%s); it is kept as %s, and a new one was started", why,
			  path_name(aside));
	return 0;
}

bool store_suspected(const char *path)
{
	char mark[PATH_MAX];
	return path_with(path, ".suspect", mark) == 0 && access(mark, F_OK) == 0;
}

static int mark_make(void *arg)
{
	int fd = open(arg, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	closep(&fd);
	return 0;
}

static int mark_remove(void *arg)
{
	return unlink(arg) < 0 ? -errno : 0;
}

void store_suspect(const char *path, bool on)
{
	char mark[PATH_MAX];
	if (path[0] == '\0' || path_with(path, ".suspect", mark) < 0)
		return;
	ignore(store_as_owner(path, on ? mark_make : mark_remove, mark), "the next reader leaves another");
}
