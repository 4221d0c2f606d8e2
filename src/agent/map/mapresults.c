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

/* Goes into a folder of the folder *fd, which is made if it is not there. */
static int enter(int *fd, const char *name)
{
	if (*name && mkdirat(*fd, name, 0777) < 0 && errno != EEXIST)
		return -errno;
	int next = openat(*fd, *name ? name : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (next < 0)
		return -errno;
	closep(fd);
	*fd = next;
	return 0;
}

static int folder(const char *dir, const struct map_args *args, int *ret)
{
	int r = file_mkdirs(dir, 0777);
	cleanup(closep) int fd = r < 0 ? -1 : open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (r == 0 && fd < 0)
		r = -errno;
	for (size_t i = 0; r == 0 && i < args->n && !args->piped; i++) {
		char number[24], name[2 * NAME_MAX];
		TEXT_FORMAT(number, "%zu", i + 1);
		escaped(args->arg[i], name, sizeof(name));
		r = enter(&fd, number);
		r = r == 0 ? enter(&fd, name) : r;
	}
	if (r == 0)
		*ret = take_fd(&fd);
	return r;
}

static int new_file(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0666);
	return fd < 0 ? -errno : fd;
}

struct results_make {
	const char *dir;
	const struct map_args *args;
	uint64_t seq;
	int *ret_out, *ret_err;
	struct fault *f;
};

static int results_make(void *arg)
{
	const struct results_make *m = arg;
	const char *dir = m->dir;
	struct fault *f = m->f;
	cleanup(closep) int at = -1;
	char number[24];
	int r = folder(dir, m->args, &at);
	TEXT_FORMAT(number, "%llu", (unsigned long long)m->seq);
	cleanup(closep) int note = r < 0 ? -1 : new_file(at, "seq");
	cleanup(closep) int out = r < 0 ? -1 : new_file(at, "stdout");
	cleanup(closep) int err = r < 0 ? -1 : new_file(at, "stderr");
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
	struct results_make m = {dir, args, seq, ret_out, ret_err, f};
	const int found = foreign_path_user(dir, &user);
	if (found < 0)
		return fault_set(f, found, "--results %s: %s", dir, strerror(-found));
	const int r = foreign_act_as(found ? &user : NULL, results_make, &m);
	return r < 0 && f->text[0] == '\0' ? fault_set(f, r, "--results %s: %s", dir, strerror(-r)) : r;
}
