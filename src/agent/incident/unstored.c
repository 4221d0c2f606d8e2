#include "agent/incident/unstored.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/log.h"
#include "base/private.h"

#define FOLDER "unstored"
#define SUFFIX ".rows"
/* Longer files are read up to here: reports of a job that meets a lock for days. */
#define ROWS_MOST (256 * MIB)

static int folder_path(const char *state_dir, char *dst, size_t cap)
{
	return text_format(dst, cap, "%s/" FOLDER, state_dir) < (int)cap ? 0 : -ENAMETOOLONG;
}

int unstored_open(struct unstored *u, const char *state_dir, const char *job)
{
	char dir[256];
	int r = folder_path(state_dir, dir, sizeof(dir));
	if (r == 0)
		r = private_mkdirs(dir);
	if (r < 0)
		return r;
	TEXT_FORMAT(u->path, "%s/%s" SUFFIX, dir, job);
	u->fd = open(u->path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, private_file());
	if (u->fd < 0)
		return -errno;
	ignore(flock(u->fd, LOCK_EX | LOCK_NB), "a file system without locks: at worst a row is put twice");
	return 0;
}

void unstored_close(struct unstored *u)
{
	closep(&u->fd);
	u->fd = -1;
}

void unstored_drop(struct unstored *u)
{
	if (u->fd >= 0)
		(void)unlink(u->path);
	unstored_close(u);
}

int unstored_replay(struct unstored *u, struct store *s)
{
	cleanup(freep) char *text = NULL;
	size_t len = 0, n = 0;
	if (u->fd < 0)
		return 0;
	if (lseek(u->fd, 0, SEEK_SET) < 0)
		return -errno;
	int r = file_slurp_fd(u->fd, ROWS_MOST, &text, &len);
	if (r == 0)
		r = store_begin(s);
	if (r < 0)
		return r;
	r = rowlog_replay((struct span){text, len}, s, &n);
	int end = store_commit(s);
	if (r == -EBADMSG)
		log_warning("%s: some lines are damaged and were passed over", u->path);
	else if (r < 0)
		return r;
	if (end < 0)
		return end;
	log_debug("%zu rows of %s are stored now", n, u->path);
	unstored_drop(u);
	return 0;
}

/* A file whose writer is gone. */
static int file_take_up(int dir, const char *folder, const char *name, struct store *s)
{
	struct unstored u = {.fd = openat(dir, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
	struct stat st;
	TEXT_FORMAT(u.path, "%s/%s", folder, name);
	int r = 0;
	if (u.fd >= 0 && fstat(u.fd, &st) == 0 && S_ISREG(st.st_mode) && flock(u.fd, LOCK_EX | LOCK_NB) == 0)
		r = unstored_replay(&u, s);
	unstored_close(&u);
	return r;
}

static bool is_rows(const char *name)
{
	size_t len = strlen(name);
	return len > strlen(SUFFIX) && strcmp(name + len - strlen(SUFFIX), SUFFIX) == 0;
}

void unstored_take_up(const char *state_dir, struct store *s)
{
	char folder[256], note[256];
	struct fault f;
	cleanup(store_closep) struct store *own = NULL;
	if (folder_path(state_dir, folder, sizeof(folder)) < 0)
		return;
	cleanup(closedirp) DIR *d = opendir(folder);
	struct stat st;
	/* of another user's state directory that root looks at: the rows are that user's to put */
	if (!d || fstat(dirfd(d), &st) < 0 || st.st_uid != geteuid())
		return;
	int r = 0;
	for (const struct dirent *e; r == 0 && (e = readdir(d));) {
		if (!is_rows(e->d_name))
			continue;
		if (!s && !own && store_open(state_dir, STORE_HASTE, &own, note, &f) != 0)
			return;
		r = file_take_up(dirfd(d), folder, e->d_name, s ? s : own);
	}
}
