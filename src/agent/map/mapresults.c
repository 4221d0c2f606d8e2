#include "agent/map/mapresults.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/foreign_path.h"

static void escaped(const char *input, char *dst, size_t cap)
{
	struct buf b = {.text = dst, .cap = cap};
	buf_reset(&b);
	if (strcmp(input, ".") == 0 || strcmp(input, "..") == 0)
		buf_add(&b, "\\");
	for (const char *p = input; *p; p++) {
		const char *as = *p == '/' ? "\\_" : *p == '\\' ? "\\\\" : *p == '\t' ? "\\t" : NULL;
		if (as)
			buf_add(&b, as);
		else
			buf_add_n(&b, p, 1);
	}
}

/* Goes into a folder of the folder *fd, which is made if it is not there. own: root's, and no user's. */
static int enter(int *fd, const char *name, bool own)
{
	struct stat st;
	if (*name && mkdirat(*fd, name, 0777) < 0 && errno != EEXIST)
		return -errno;
	cleanup(closep) int next =
		openat(*fd, *name ? name : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (next < 0 || fstat(next, &st) < 0)
		return -errno;
	if (own && st.st_uid != 0 && st.st_uid != FOREIGN_NOBODY)
		return -EACCES;
	closep(fd);
	*fd = take_fd(&next);
	return 0;
}

static int folder(int *fd, const struct map_args *args, bool own)
{
	int r = 0;
	for (size_t i = 0; r == 0 && i < args->n && !args->piped; i++) {
		char number[24], name[2 * NAME_MAX];
		TEXT_FORMAT(number, "%zu", i + 1);
		escaped(args->arg[i], name, sizeof(name));
		r = enter(fd, number, own);
		r = r == 0 ? enter(fd, name, own) : r;
	}
	return r;
}

/* What stands there may be a user's: no FIFO is opened, and of root's, own, none is emptied that has another name. */
static int new_file(int dir, const char *name, bool own)
{
	struct stat st;
	cleanup(closep) int fd =
		openat(dir, name, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0666);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || (own && st.st_nlink > 1))
		return -EINVAL;
	if (ftruncate(fd, 0) < 0 || fcntl(fd, F_SETFL, O_APPEND) < 0)
		return -errno;
	return take_fd(&fd);
}

struct results_make {
	const char *dir;
	int at; /* the folder, owned */
	bool own; /* it is root's, and no user's */
	const struct map_args *args;
	uint64_t seq;
	int *ret_out, *ret_err;
	struct fault *f;
};

static int results_make(void *arg)
{
	struct results_make *m = arg;
	const char *dir = m->dir;
	struct fault *f = m->f;
	cleanup(closep) int at = take_fd(&m->at);
	char number[24];
	int r = folder(&at, m->args, m->own);
	TEXT_FORMAT(number, "%llu", (unsigned long long)m->seq);
	cleanup(closep) int note = r < 0 ? -1 : new_file(at, "seq", m->own);
	cleanup(closep) int out = r < 0 ? -1 : new_file(at, "stdout", m->own);
	cleanup(closep) int err = r < 0 ? -1 : new_file(at, "stderr", m->own);
	if (r == 0)
		r = MIN(MIN(note, 0), MIN(MIN(out, 0), MIN(err, 0)));
	if (r == 0)
		r = file_write_all(note, number, strlen(number));
	if (r < 0)
		return fault_set(f, r, "--results %s: no files for task %s: %s%s", dir, number, strerror(-r),
				 r == -ENAMETOOLONG ? " (an input becomes the name of a folder, of 255 bytes at most)"
						    : "");
	*m->ret_out = take_fd(&out);
	*m->ret_err = take_fd(&err);
	return 0;
}

int mapresults_open(const char *dir, const struct map_args *args, uint64_t seq, int *ret_out, int *ret_err,
		    struct fault *f)
{
	struct foreign_user user;
	int at = -1;
	const int found = foreign_path_folder(dir, 0777, &user, &at);
	struct results_make m = {dir, at, found == 0 && geteuid() == 0, args, seq, ret_out, ret_err, f};
	const int r = found < 0 ? found : foreign_act_as(found ? &user : NULL, results_make, &m);
	closep(&m.at);
	return r < 0 && f->text[0] == '\0' ? fault_set(f, r, "--results %s: %s", dir, strerror(-r)) : r;
}
