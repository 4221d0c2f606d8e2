#include "base/file.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/buf.h"

int file_read_from(int fd, uint64_t from, char *buf, size_t cap, size_t *ret_len)
{
	size_t len = 0;
	while (len < cap) {
		ssize_t n = pread(fd, buf + len, cap - len, (off_t)(from + len));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		len += (size_t)n;
	}
	*ret_len = len;
	return 0;
}

int file_read_fd(int fd, char *buf, size_t cap, size_t *ret_len)
{
	size_t len = 0;
	int r = file_read_from(fd, 0, buf, cap - 1, &len);
	if (r < 0)
		return r;
	buf[len] = '\0';
	*ret_len = len;
	return 0;
}

int file_read_once(int fd, char *buf, size_t cap, size_t *ret_len)
{
	ssize_t n;
	do
		n = pread(fd, buf, cap - 1, 0);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	buf[n] = '\0';
	*ret_len = (size_t)n;
	return 0;
}

int file_read_at(int dirfd, const char *path, char *buf, size_t cap, size_t *ret_len)
{
	cleanup(closep) int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	return file_read_fd(fd, buf, cap, ret_len);
}

int file_slurp(int dirfd, const char *path, size_t max, char **ret_text, size_t *ret_len)
{
	cleanup(closep) int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : file_slurp_fd(fd, max, ret_text, ret_len);
}

int file_slurp_fd(int fd, size_t max, char **ret_text, size_t *ret_len)
{
	size_t cap = 16384, len = 0;
	struct stat st;
	/* before any of it is read: a file of holes takes no room on a disk, and all that it says in memory */
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 && (uint64_t)st.st_size > max)
		return -EFBIG;
	cleanup(freep) char *text = malloc(cap);
	if (!text)
		return -ENOMEM;
	for (;;) {
		if (len + 1 >= cap) {
			if (len > max)
				return -EFBIG;
			char *more = realloc(text, cap * 2);
			if (!more)
				return -ENOMEM;
			text = more;
			cap *= 2;
		}
		ssize_t n = read(fd, text + len, cap - 1 - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		len += (size_t)n;
	}
	if (len > max)
		return -EFBIG;
	text[len] = '\0';
	*ret_text = take(&text);
	*ret_len = len;
	return 0;
}

int file_write_all(int fd, const void *data, size_t len)
{
	const char *p = data;
	while (len > 0) {
		ssize_t n = write(fd, p, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

int file_write_at(int dirfd, const char *path, const char *text)
{
	cleanup(closep) int fd = openat(dirfd, path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	return file_write_all(fd, text, strlen(text));
}

int file_replace(const char *path, const void *data, size_t len, mode_t mode)
{
	char tmp[PATH_MAX];
	if (snprintf(tmp, sizeof(tmp), "%s.%ld.new", path, (long)getpid()) >= (int)sizeof(tmp))
		return -ENAMETOOLONG;
	(void)unlink(tmp); /* of an earlier process of this number; what is made instead is no link of anybody's */
	cleanup(closep) int fd = open(tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	if (fd < 0)
		return -errno;
	int r = file_write_all(fd, data, len);
	if (r == 0 && fdatasync(fd) < 0)
		r = -errno;
	if (r == 0 && rename(tmp, path) < 0)
		r = -errno;
	if (r < 0)
		(void)unlink(tmp);
	return r;
}

int file_mkdirs(const char *path, mode_t mode)
{
	char part[PATH_MAX];
	size_t len = strlen(path);
	if (len == 0 || len >= sizeof(part))
		return len == 0 ? -ENOENT : -ENAMETOOLONG;
	memcpy(part, path, len + 1);
	for (char *p = part + 1;; p++) {
		if (*p != '/' && *p != '\0')
			continue;
		char keep = *p;
		*p = '\0';
		if (mkdir(part, mode) < 0 && errno != EEXIST)
			return -errno;
		*p = keep;
		if (keep == '\0')
			break;
	}
	struct stat st;
	if (stat(path, &st) < 0)
		return -errno;
	return S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
}

static int copy_sparse(int from, int to)
{
	struct stat st;
	char block[64 * 1024];
	if (fstat(from, &st) < 0 || ftruncate(to, st.st_size) < 0)
		return -errno;
	off_t at = lseek(from, 0, SEEK_DATA);
	while (at >= 0) {
		off_t end = lseek(from, at, SEEK_HOLE);
		if (end < 0)
			return -errno;
		while (at < end) {
			ssize_t n = pread(from, block, MIN(sizeof(block), (size_t)(end - at)), at);
			if (n <= 0 || pwrite(to, block, (size_t)n, at) != n)
				return n < 0 ? -errno : -EIO;
			at += n;
		}
		at = lseek(from, end, SEEK_DATA);
	}
	return errno == ENXIO ? 0 : -errno; /* ENXIO: no more data up to the end */
}

int file_copy_fd(int from, int to_dir, const char *to_name, const struct file_patch *patch)
{
	char beside[PATH_MAX];
	if (text_format(beside, sizeof(beside), "%s.new", to_name) >= (int)sizeof(beside))
		return -ENAMETOOLONG;
	(void)unlinkat(to_dir, beside, 0);
	cleanup(closep) int to = openat(to_dir, beside, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (to < 0)
		return -errno;
	int r = copy_sparse(from, to);
	if (r == 0 && patch && patch->len && pwrite(to, patch->bytes, patch->len, patch->at) != (ssize_t)patch->len)
		r = -EIO;
	if (r == 0 && renameat(to_dir, beside, to_dir, to_name) < 0)
		r = -errno;
	if (r < 0)
		(void)unlinkat(to_dir, beside, 0);
	return r;
}

int file_null(void)
{
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null >= 0)
		return null;
	const int fd = memfd_create("null", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd >= 0)
		(void)fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_WRITE | F_SEAL_SEAL);
	return fd < 0 ? -errno : fd;
}

DIR *file_folder(int fd)
{
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const int e = errno;
	if (!d)
		closep(&fd);
	errno = e;
	return d;
}
