#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/jobs/logfiles.h"
#include "agent/web/web.h"
#include "base/buf.h"
#include "base/text.h"
#include "base/units.h"

#define ATTEMPTS_MOST 64
#define FILES_MOST 4096
#define PART_MOST (1024 * KIB)
/* What one search looks through; the answer says where the next one goes on. */
#define SEARCH_BYTES (4 * MIB)
#define MATCHES_MOST 200
#define MATCH_TEXT 2000

static void log_dir_of(const struct web *w, const struct job *j, char dst[static 300])
{
	if (j->log_dir[0])
		text_copy(dst, 300, j->log_dir);
	else
		(void)text_format(dst, 300, "%.200s/jobs/%.64s", w->want->state_dir, j->id);
}

/* ---- the list: newest attempt first ---- */

static void files_put(const struct logfiles *l, struct js *list)
{
	char id[48];
	for (size_t i = 0; i < l->n && js_len(list) < FILES_MOST; i++) {
		const struct logfile *f = &l->files[i];
		struct stat st;
		struct js *o = js_object();
		TEXT_FORMAT(id, "%u-%d-%s", l->attempt, f->rank, f->err ? "err" : "out");
		js_put_text(o, "id", id);
		js_put_i64(o, "rank", f->rank);
		js_put_text(o, "stream", f->err ? "stderr" : "stdout");
		js_put_u64(o, "attempt", l->attempt);
		if (fstat(f->fd, &st) == 0)
			js_put_u64(o, "bytes", (uint64_t)st.st_size);
		js_add(list, o);
	}
}

void web_logs(const struct webcall *c)
{
	struct job j;
	char dir[300];
	uint32_t newest = 0;
	if (!web_job(c, &j))
		return;
	log_dir_of(c->web, &j, dir);
	struct js *o = js_object(), *list = js_array();
	int r = logfiles_newest(dir, &newest);
	for (uint32_t n = 0; r == 0 && n <= newest && n < ATTEMPTS_MOST; n++) {
		cleanup(logfiles_done) struct logfiles l = {.n = 0};
		if (logfiles_open(&l, dir, newest - n, -1, LOGFILES_OUT | LOGFILES_ERR) == 0)
			files_put(&l, list);
	}
	js_put_text(o, "schema", "vigil.logfiles/1");
	js_put_text(o, "job", j.id);
	js_put(o, "files", list);
	web_json(c, 200, o);
}

/* ---- one file ---- */

/* "0-3-err" */
static bool file_id_parse(const char *id, uint32_t *ret_attempt, int32_t *ret_rank, bool *ret_err)
{
	uint64_t attempt, rank;
	struct span s = span_of(id), rest = span_after(s, "-"), end = rest.p ? span_after(rest, "-") : rest;
	if (!end.p || span_u64(span_before(s, "-"), &attempt) < 0 || span_u64(span_before(rest, "-"), &rank) < 0 ||
	    attempt > UINT32_MAX || rank > INT32_MAX || (!span_eq(end, "out") && !span_eq(end, "err")))
		return false;
	*ret_attempt = (uint32_t)attempt;
	*ret_rank = (int32_t)rank;
	*ret_err = span_eq(end, "err");
	return true;
}

/* The file's descriptor, owned by the caller; -1 after an answer. */
static int log_open(const struct webcall *c, struct job *j, uint64_t *ret_size)
{
	char dir[300];
	uint32_t attempt;
	int32_t rank;
	bool err;
	struct stat st;
	cleanup(logfiles_done) struct logfiles l = {.n = 0};
	if (!web_job(c, j))
		return -1;
	log_dir_of(c->web, j, dir);
	if (!file_id_parse(c->route.id2, &attempt, &rank, &err) ||
	    logfiles_open(&l, dir, attempt, rank, err ? LOGFILES_ERR : LOGFILES_OUT) < 0 || l.n != 1 ||
	    fstat(l.files[0].fd, &st) < 0) {
		web_fail(c, 404, "absent", "job %s has no output '%s', or it is no longer kept", j->id, c->route.id2);
		return -1;
	}
	*ret_size = (uint64_t)st.st_size;
	return take_fd(&l.files[0].fd);
}

static void line_put(struct js *list, uint64_t at, const char *text, size_t len, bool open)
{
	struct js *o = js_object();
	cleanup(freep) char *line = strndup(text, len);
	js_put_u64(o, "at", at);
	js_put_text(o, "text", line ? line : "");
	if (open)
		js_put_bool(o, "open", true); /* it has no end yet, and is told again */
	js_add(list, o);
}

/* A part that is not kept is told as a line; returns where the text goes on. */
static uint64_t gap_put(int fd, uint64_t at, uint64_t size, struct js *list)
{
	char text[96], bytes[24];
	off_t data = at < size ? lseek(fd, (off_t)at, SEEK_DATA) : -1;
	if (data <= (off_t)at)
		return at;
	TEXT_FORMAT(text, "[vigil: %s of the output are not kept here]", size_format((uint64_t)data - at, bytes));
	line_put(list, at, text, strlen(text), false);
	return (uint64_t)data;
}

/* Whole lines of a part that begins at `from`; returns where the next part begins. */
static uint64_t lines_put(const char *text, size_t len, uint64_t from, bool at_end, struct js *list)
{
	size_t done = 0;
	while (done < len) {
		const char *end = memchr(text + done, '\n', len - done);
		size_t n = end ? (size_t)(end - text) - done : len - done;
		if (!end && done > 0 && !at_end)
			break;
		line_put(list, from + done, text + done, n, !end && at_end);
		if (!end)
			return at_end ? from + done : from + len;
		done += n + 1;
	}
	return from + done;
}

static ssize_t logpart_read(int fd, uint64_t at, uint64_t most, char *dst)
{
	off_t hole = lseek(fd, (off_t)at, SEEK_HOLE); /* no further: zeros come then */
	if (hole > (off_t)at)
		most = MIN(most, (uint64_t)(hole - (off_t)at));
	ssize_t n = pread(fd, dst, (size_t)most, (off_t)at);
	return n < 0 ? -errno : n;
}

static void log_part(const struct webcall *c, int fd, uint64_t size, uint64_t offset, bool mid_line, uint64_t limit)
{
	cleanup(freep) char *text = malloc(limit);
	struct js *list = js_array();
	uint64_t at = gap_put(fd, MIN(offset, size), size, list);
	ssize_t n = text ? logpart_read(fd, at, limit, text) : -ENOMEM;
	if (n < 0) {
		js_free(list);
		return web_fail(c, 503, "io", "cannot read the output: %s", strerror((int)-n));
	}
	size_t skip = 0;
	const char *first = mid_line && at == offset ? memchr(text, '\n', (size_t)n) : NULL;
	if (first)
		skip = (size_t)(first - text) + 1;
	uint64_t end = lines_put(text + skip, (size_t)n - skip, at + skip, at + (uint64_t)n >= size, list);
	struct js *o = js_object();
	js_put_text(o, "schema", "vigil.logpart/1");
	js_put_u64(o, "offset", at + skip);
	js_put_u64(o, "next", end);
	js_put_u64(o, "size", size);
	js_put(o, "lines", list);
	web_json(c, 200, o);
}

/* ---- search ---- */

struct search {
	const char *text;
	size_t len;
	uint64_t from; /* offset of text[0] in the file */
	const char *what;
	size_t what_len;
};

static bool search_has(const struct search *s, const char *line, size_t len)
{
	for (size_t i = 0; len >= s->what_len && i <= len - s->what_len; i++)
		if (strncasecmp(line + i, s->what, s->what_len) == 0)
			return true;
	return false;
}

/* The lines of the text that match, at most MATCHES_MOST: the first, or with `back` the last of them, newest first. */
static struct js *search_lines(const struct search *s, bool back, uint64_t *next)
{
	struct js *list = js_array();
	size_t at = back ? s->len : 0;
	while (js_len(list) < MATCHES_MOST && (back ? at > 0 : at < s->len)) {
		size_t end = at, begin = at;
		if (back) {
			end -= s->text[at - 1] == '\n';
			const char *before = end > 0 ? memrchr(s->text, '\n', end) : NULL;
			begin = before ? (size_t)(before - s->text) + 1 : 0;
			at = begin;
		} else {
			const char *newline = memchr(s->text + at, '\n', s->len - at);
			end = newline ? (size_t)(newline - s->text) : s->len;
			at = newline ? end + 1 : end;
		}
		if (search_has(s, s->text + begin, end - begin))
			line_put(list, s->from + begin, s->text + begin, MIN(end - begin, (size_t)MATCH_TEXT), false);
	}
	*next = s->from + at;
	return list;
}

/* A part in the middle of the file begins and ends with a whole line, unless one line fills it. */
static void search_trim(struct search *s, bool at_begin, bool at_end)
{
	const char *first = at_begin ? NULL : memchr(s->text, '\n', s->len);
	size_t skip = first ? (size_t)(first - s->text) + 1 : 0;
	if (skip < s->len) {
		s->text += skip;
		s->from += skip;
		s->len -= skip;
	}
	const char *last = at_end ? NULL : memrchr(s->text, '\n', s->len);
	if (last)
		s->len = (size_t)(last - s->text) + 1;
}

static void log_search(const struct webcall *c, int fd, uint64_t size, uint64_t offset, const char *what)
{
	static const char *const directions[] = {"forward", "back", NULL};
	struct fault f = {.text = ""};
	size_t direction, len = strlen(what);
	if (weburl_choice(&c->url, "direction", directions, 0, &direction, &f) < 0)
		return web_fault(c, &f);
	if (len == 0 || len > 200)
		return web_fail(c, 400, "bad_request", "search: a text of 1 to 200 bytes is expected");
	bool back = direction == 1;
	uint64_t end = back ? MIN(offset, size) : MIN(offset + SEARCH_BYTES, size);
	uint64_t from = back ? sub_floor(end, SEARCH_BYTES) : MIN(offset, size), next = from;
	cleanup(freep) char *text = malloc(end - from + 1);
	ssize_t n = text ? pread(fd, text, end - from, (off_t)from) : -1;
	if (n < 0)
		return web_fail(c, 503, "io", "cannot read the output: %s", strerror(errno));
	struct search s = {text, (size_t)n, from, what, len};
	search_trim(&s, !back || from == 0, back || end >= size);
	struct js *o = js_object();
	js_put_text(o, "schema", "vigil.logpart/1");
	js_put_u64(o, "offset", offset);
	js_put_u64(o, "size", size);
	js_put(o, "lines", search_lines(&s, back, &next));
	js_put_u64(o, "next", next);
	js_put_bool(o, "more", back ? next > 0 : next < size);
	web_json(c, 200, o);
}

static void log_download(const struct webcall *c, const struct job *j, int *fd, uint64_t size)
{
	char name[240];
	TEXT_FORMAT(name, "attachment; filename=\"%s-%s.log\"", j->id, c->route.id2);
	struct httpd_answer a = {.status = 200,
				 .type = "text/plain; charset=utf-8",
				 .fd = take_fd(fd),
				 .len = (size_t)size,
				 .header = {{"Content-Disposition", name}, {"Cache-Control", "no-store"}},
				 .n_headers = 2};
	httpd_reply(c->request->call, &a);
}

/* "offset": from the beginning, or with a minus from the end. */
static bool offset_parse(const struct webcall *c, uint64_t size, uint64_t fallback, uint64_t *ret)
{
	const char *text = weburl_get(&c->url, "offset");
	int64_t v = 0;
	if (text && span_i64(span_of(text), &v) < 0) {
		web_fail(c, 400, "bad_request", "offset=%.40s: a whole number is expected", text);
		return false;
	}
	*ret = !text ? fallback : v < 0 ? sub_floor(size, (uint64_t) - (v + 1) + 1) : (uint64_t)v;
	return true;
}

void web_log(const struct webcall *c)
{
	struct job j;
	struct fault f = {.text = ""};
	uint64_t size = 0, offset, limit;
	bool download;
	const char *search = weburl_get(&c->url, "search"), *typed = weburl_get(&c->url, "offset");
	if (weburl_u64(&c->url, "limit", 64 * KIB, 1, PART_MOST, &limit, &f) < 0 ||
	    weburl_flag(&c->url, "download", &download, &f) < 0)
		return web_fault(c, &f);
	cleanup(closep) int fd = log_open(c, &j, &size);
	if (fd < 0)
		return;
	const char *direction = weburl_get(&c->url, "direction");
	bool back = search && direction && strcmp(direction, "back") == 0;
	if (!offset_parse(c, size, back ? size : 0, &offset))
		return;
	if (download)
		log_download(c, &j, &fd, size);
	else if (search)
		log_search(c, fd, size, offset, search);
	else
		log_part(c, fd, size, offset, typed && *typed == '-' && offset > 0, limit);
}
