#include "agent/jobs/logfiles.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/jobs/jobfolder.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/text.h"
#include "base/units.h"
#include "base/vec.h"

/* Bytes. A longer line is handed out in parts. */
#define LONGEST_LINE ((size_t)1 << 16)

/* Takes the folder's descriptor for a walk through it; NULL, and errno. */
static DIR *names_open(struct jobfolder *f)
{
	return file_folder(fcntl(f->fd, F_DUPFD_CLOEXEC, 0));
}

int logfiles_newest(const char *log_dir, uint32_t *ret_attempt)
{
	cleanup(jobfolder_done) struct jobfolder f = {.fd = -1};
	int r = jobfolder_open(log_dir, NULL, &f);
	if (r < 0)
		return r;
	cleanup(closedirp) DIR *d = names_open(&f);
	if (!d)
		return -errno;
	uint64_t newest = 0, n;
	bool any = false;
	for (struct dirent *e; (e = readdir(d));) {
		struct span number = span_after(span_of(e->d_name), "attempt-");
		if (!number.p || number.p != e->d_name + strlen("attempt-") || span_u64(number, &n) < 0 ||
		    n > UINT32_MAX)
			continue;
		newest = any ? MAX(newest, n) : n;
		any = true;
	}
	if (!any)
		return -ENOENT;
	*ret_attempt = (uint32_t)newest;
	return 0;
}

/* "rank-3.err" gives rank 3 and true. False: the name is not of that form. */
static bool logfile_name_parse(const char *name, int32_t *ret_rank, bool *ret_err)
{
	struct span s = span_of(name);
	int64_t rank;
	if (!span_starts(s, "rank-"))
		return false;
	s = (struct span){s.p + 5, s.len - 5};
	bool out = s.len > 4 && memcmp(s.p + s.len - 4, ".out", 4) == 0;
	bool err = s.len > 4 && memcmp(s.p + s.len - 4, ".err", 4) == 0;
	s.len -= 4;
	if ((!out && !err) || span_i64(s, &rank) < 0 || rank < 0 || rank > INT32_MAX)
		return false;
	*ret_rank = (int32_t)rank;
	*ret_err = err;
	return true;
}

static bool is_open(const struct logfiles *l, int32_t rank, bool err)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->files[i].rank == rank && l->files[i].err == err)
			return true;
	return false;
}

static int logfiles_compare(const void *a, const void *b)
{
	const struct logfile *x = a, *y = b;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return (int)x->err - (int)y->err;
}

static int logfiles_add(struct logfiles *l, const struct jobfolder *f, const char *name, int32_t rank, bool err)
{
	cleanup(closep) int fd = -1;
	int r = jobfolder_file(f, name, &fd);
	if (r < 0)
		return r;
	if (vec_room(&l->files, &l->cap, l->n + 1) < 0)
		return -ENOMEM;
	l->files[l->n++] = (struct logfile){.rank = rank, .err = err, .fd = take_fd(&fd)};
	return 0;
}

int logfiles_open(struct logfiles *l, const char *log_dir, uint32_t attempt, int32_t rank, unsigned streams)
{
	cleanup(jobfolder_done) struct jobfolder f = {.fd = -1};
	char attempt_folder[32];
	TEXT_FORMAT(attempt_folder, "attempt-%u", attempt);
	TEXT_FORMAT(l->dir, "%s/%s", log_dir, attempt_folder);
	l->attempt = attempt;
	int r = jobfolder_open(log_dir, attempt_folder, &f);
	if (r < 0)
		return r;
	cleanup(closedirp) DIR *d = names_open(&f);
	if (!d)
		return -errno;
	for (struct dirent *e; r == 0 && (e = readdir(d));) {
		int32_t its_rank;
		bool err;
		if (!logfile_name_parse(e->d_name, &its_rank, &err) || (rank >= 0 && its_rank != rank) ||
		    !(streams & (err ? LOGFILES_ERR : LOGFILES_OUT)) || is_open(l, its_rank, err))
			continue;
		r = logfiles_add(l, &f, e->d_name, its_rank, err);
	}
	if (r == 0 && l->n > 0)
		qsort(l->files, l->n, sizeof(*l->files), logfiles_compare);
	return r;
}

void logfiles_done(struct logfiles *l)
{
	for (size_t i = 0; i < l->n; i++) {
		closep(&l->files[i].fd);
		free(l->files[i].partial);
	}
	free(l->files);
	*l = (struct logfiles){.files = NULL};
}

/* What was taken out of the middle of a file (agent/output/keptlog); both 0: nothing. */
static void hole_find(int fd, uint64_t *ret_from, uint64_t *ret_to)
{
	off_t from = lseek(fd, 0, SEEK_HOLE), to = from < 0 ? -1 : lseek(fd, from, SEEK_DATA);
	*ret_from = to > from ? (uint64_t)from : 0; /* the end of a file counts as a hole without an end */
	*ret_to = to > from ? (uint64_t)to : 0;
}

int logfiles_tail(struct logfile *f, uint64_t lines)
{
	char block[8192];
	struct stat st;
	if (fstat(f->fd, &st) < 0)
		return -errno;
	uint64_t end = (uint64_t)st.st_size, seen = 0;
	uint64_t hole_from, hole_to;
	hole_find(f->fd, &hole_from, &hole_to);
	f->at = end;
	if (lines == 0)
		return 0;
	for (uint64_t from = end; from > 0;) {
		if (from > hole_from && from <= hole_to)
			from = hole_from;
		if (from == 0)
			break;
		size_t n = (size_t)MIN(from, (uint64_t)sizeof(block));
		from -= n;
		ssize_t got = pread(f->fd, block, n, (off_t)from);
		if (got < 0)
			return -errno;
		for (size_t i = (size_t)got; i-- > 0;) {
			/* the newline at the end of the file closes the last line and begins none */
			if (block[i] != '\n' || from + i + 1 == end || ++seen < lines)
				continue;
			f->at = from + i + 1;
			return 0;
		}
	}
	f->at = 0;
	return 0;
}

/* Length of the line at p, its end included; 0: it has not ended. A line that ends in '\r' (a progress bar) counts. */
static size_t line_length(const char *p, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (p[i] == '\n')
			return i + 1;
		if (p[i] == '\r' && i > 0)
			return i + 1 < len && p[i + 1] == '\n' ? i + 2 : i + 1;
	}
	return 0;
}

/* Hands out the whole lines of the first len bytes of partial and keeps the rest there. */
static int hand_out(struct logfile *f, size_t len, bool all, logfiles_fn *fn, void *ctx)
{
	size_t done = 0;
	while (done < len) {
		size_t n = all ? 0 : line_length(f->partial + done, len - done);
		bool full = done == 0 && len >= LONGEST_LINE;
		if (n == 0 && !all && !full)
			break;
		if (n == 0)
			n = len - done;
		if (fn(ctx, f, f->partial + done, n) != 0)
			return -ECANCELED;
		done += n;
	}
	memmove(f->partial, f->partial + done, len - done);
	f->n_partial = len - done;
	return 0;
}

/* At a hole: says what is missing and goes on behind it. */
static int hole_skip(struct logfile *f, logfiles_fn *fn, void *ctx)
{
	char text[96], size[24];
	off_t data = lseek(f->fd, (off_t)f->at, SEEK_DATA);
	if (data <= (off_t)f->at)
		return 0; /* the end of the file, or no hole */
	int r = hand_out(f, f->n_partial, true, fn, ctx);
	(void)size_format((uint64_t)data - f->at, size);
	TEXT_FORMAT(text, "%s[vigil: %s of the output are not kept here]\n", f->at > 0 ? "\n" : "", size);
	if (r == 0 && fn(ctx, f, text, strlen(text)) != 0)
		r = -ECANCELED;
	f->at = (uint64_t)data;
	return r;
}

/* agent/output/keptlog cuts files back to a multiple of this. */
#define CUT_BLOCK ((uint64_t)64 * KIB)

/*
 * A file that is shorter than what was read of it was cut back to its beginning, on a file system without holes. What
 * came since lies behind that: less than a block of it as a rule, and nothing in front of it is new.
 */
static int cut_follow(struct logfile *f, logfiles_fn *fn, void *ctx)
{
	static const char cut[] = "[vigil: the output before this is not all kept]\n";
	struct stat st;
	if (fstat(f->fd, &st) < 0)
		return -errno;
	if ((uint64_t)st.st_size >= f->at)
		return 0;
	int r = hand_out(f, f->n_partial, true, fn, ctx);
	if (r == 0 && fn(ctx, f, cut, strlen(cut)) != 0)
		r = -ECANCELED;
	f->at = (uint64_t)st.st_size / CUT_BLOCK * CUT_BLOCK;
	return r;
}

int logfiles_read(struct logfile *f, bool raw, bool last, logfiles_fn *fn, void *ctx)
{
	if (!f->partial && !(f->partial = malloc(LONGEST_LINE)))
		return -ENOMEM;
	int r = cut_follow(f, fn, ctx);
	while (r == 0) {
		int skipped = hole_skip(f, fn, ctx);
		if (skipped < 0)
			return skipped;
		size_t room = LONGEST_LINE - f->n_partial;
		off_t hole = lseek(f->fd, (off_t)f->at, SEEK_HOLE); /* no further: zeros come then */
		if (hole > (off_t)f->at)
			room = MIN(room, (size_t)(hole - (off_t)f->at));
		ssize_t n = pread(f->fd, f->partial + f->n_partial, room, (off_t)f->at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		f->at += (uint64_t)n;
		r = hand_out(f, f->n_partial + (size_t)n, raw || (last && n == 0), fn, ctx);
		if (n == 0)
			return r;
	}
	return r;
}
