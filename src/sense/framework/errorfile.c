#include "sense/framework/errorfile.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/file.h"
#include "sense/framework/elastic.h"
#include "sense/framework/lasterror.h"

/* Maximum size read; holds a call stack of a thousand frames. */
#define FILE_MOST (256 * 1024)
/* The file is written right after the error. A larger difference means a copied file or another clock. */
#define CLOCKS_MS 2000

void errorfile_path(const char *attempt_dir, int32_t rank, char *dst, size_t cap)
{
	(void)text_format(dst, cap, "%s/rank-%d.error.json", attempt_dir, MAX(rank, 0));
}

/*
 * Time of the error in ms. Whole seconds do not order a cascade of errors, so the time of the file is used where it
 * agrees.
 */
static int64_t time_of(const struct elastic_error *e, const struct stat *st)
{
	int64_t written_ms = (int64_t)st->st_mtim.tv_sec * 1000 + st->st_mtim.tv_nsec / 1000000;
	if (!e->has_time || e->time_unix_s > INT64_MAX / 1000)
		return written_ms;
	int64_t said_ms = e->time_unix_s * 1000, apart_ms = written_ms - said_ms;
	return apart_ms >= 0 && apart_ms < CLOCKS_MS ? written_ms : said_ms;
}

int errorfile_read(const char *path, int32_t rank, struct rank_error *ret)
{
	struct elastic_error e;
	struct stat st;
	struct fault f = {.text = ""};
	size_t len;
	cleanup(closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY);
	if (fd < 0)
		return errno == ENOENT ? ERRORFILE_NONE : -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	cleanup(freep) char *text = S_ISREG(st.st_mode) ? malloc(FILE_MOST) : NULL;
	if (!text)
		return S_ISREG(st.st_mode) ? -ENOMEM : ERRORFILE_NONE;
	int r = file_read_from(fd, 0, text, FILE_MOST, &len);
	if (r < 0)
		return r;
	r = elastic_parse((struct span){text, len}, &e, &f);
	if (r != 0)
		return r < 0 ? r : ERRORFILE_NONE;
	*ret = (struct rank_error){
		.rank = rank, .follows = lasterror_follows(e.message), .time_unix_ms = time_of(&e, &st)};
	span_copy(span_trim(span_of(e.message)), ret->text, sizeof(ret->text));
	TEXT_COPY(ret->where, e.where);
	const char *slash = strrchr(path, '/');
	TEXT_COPY(ret->source, slash ? slash + 1 : path);
	return 0;
}
