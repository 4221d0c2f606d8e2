#include "agent/jobs/jobfolder.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/foreign_path.h"
#include "base/path.h"

/* Length of the state directory's path in that of a job's folder; 0: it is none. */
static size_t state_len(const char *log_dir)
{
	char path[PATH_MAX], users[PATH_MAX];
	TEXT_COPY(path, log_dir);
	if (!path_cut(path) || strcmp(path_name(path), "jobs") != 0 || !path_cut(path))
		return 0;
	TEXT_COPY(users, path);
	if (path_cut(users) && strcmp(path_name(users), "users") == 0 && path_cut(users))
		return strlen(users);
	return strlen(path);
}

static int act_nothing(void *arg)
{
	(void)arg;
	return 0;
}

/* A root that may not change its user is none of this machine (tell/store/store_files): it looks as itself. */
static bool is_anothers(const struct foreign_user *owner)
{
	return geteuid() == 0 && owner->uid != 0 && foreign_act_as(owner, act_nothing, NULL) == 0;
}

/* What lies below a folder of the state directory. */
static struct foreign_place place_in(const struct jobfolder *f, int dirfd)
{
	return (struct foreign_place){
		.dirfd = dirfd, .as = f->anothers ? &f->owner : NULL, .flags = f->anothers ? FOREIGN_IN_ROOT : 0};
}

int jobfolder_open(const char *log_dir, const char *folder, struct jobfolder *ret)
{
	char state[PATH_MAX], path[PATH_MAX];
	struct jobfolder f = {.fd = -1};
	const size_t len = state_len(log_dir);
	if (!log_dir[0])
		return -ENOENT;
	TEXT_FORMAT(state, "%.*s", (int)(len ? len : strlen(log_dir)), log_dir);
	const char *rest = log_dir + strlen(state);
	rest += strspn(rest, "/");
	cleanup(closep) int top = open(state, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (top < 0)
		return -errno;
	f.anothers = foreign_owner(top, &f.owner) && is_anothers(&f.owner);
	const struct foreign_place at = place_in(&f, top);
	TEXT_FORMAT(path, "%s%s%s", *rest ? rest : ".", folder ? "/" : "", folder ? folder : "");
	int r = foreign_folder(&at, path, &f.fd);
	if (r)
		return r < 0 ? r : -ENOTDIR;
	*ret = f;
	return 0;
}

void jobfolder_done(struct jobfolder *f)
{
	closep(&f->fd);
}

int jobfolder_file(const struct jobfolder *f, const char *name, int *ret_fd)
{
	const struct foreign_place at = place_in(f, f->fd);
	int r = foreign_open(&at, name, ret_fd);
	return r <= 0 ? r : -EINVAL;
}

int jobfolder_file_open(const char *log_dir, const char *name, int *ret_fd)
{
	cleanup(jobfolder_done) struct jobfolder f = {.fd = -1};
	int r = jobfolder_open(log_dir, NULL, &f);
	return r < 0 ? r : jobfolder_file(&f, name, ret_fd);
}

int jobfolder_slurp(const char *log_dir, const char *name, size_t most, char **ret_text, size_t *ret_len)
{
	cleanup(closep) int fd = -1;
	int r = jobfolder_file_open(log_dir, name, &fd);
	return r < 0 ? r : file_slurp_fd(fd, most, ret_text, ret_len);
}
