#include "agent/incident/report_output.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/mask/mask.h"
#include "agent/jobs/logfiles.h"

#define LINES_MOST 40
#define LINE_BYTES_MOST 2000
#define FILES_MOST 32

/* What a terminal would show of it: the last state of a progress bar, without the codes for colours. In place. */
static void line_clean(char *line)
{
	size_t len = strcspn(line, "\n"), n = 0;
	while (len > 0 && line[len - 1] == '\r')
		len--;
	line[len] = '\0';
	const char *from = strrchr(line, '\r');
	for (const char *p = from ? from + 1 : line; *p; p++) {
		if (p[0] == '\033' && p[1] == '[') {
			p += 2 + strspn(p + 2, "0123456789;:?");
			if (!*p)
				break;
			continue;
		}
		line[n++] = *p;
	}
	line[n] = '\0';
}

struct output_lines {
	struct js *lines;
	bool in_key; /* a private key in lines of its own has begun and not ended */
};

/* Whether a private key has begun before the first line that is shown. */
static bool key_begins_before(const struct logfile *f)
{
	char text[8192]; /* the longest keys that are in use have 6,400 bytes */
	const size_t want = (size_t)MIN(f->at, (uint64_t)sizeof(text));
	const ssize_t got = pread(f->fd, text, want, (off_t)(f->at - want));
	return got > 0 && mask_key_begun((struct span){text, (size_t)got}, false);
}

static int output_line_take(void *ctx, const struct logfile *f, const char *text, size_t len)
{
	struct output_lines *o = ctx;
	(void)f;
	cleanup(freep) char *line = strndup(text, len);
	if (!line)
		return -1;
	const bool hidden = o->in_key;
	o->in_key = mask_key_begun((struct span){text, len}, o->in_key);
	line_clean(line);
	if (hidden) {
		const char *end = o->in_key ? NULL : strstr(line, "-----END");
		js_add_text(o->lines, end && end == line ? line : "***");
		return 0;
	}
	/* before it is cut, as half a secret is not known as one; the end of a line is what was printed last */
	mask_text(line);
	const size_t masked = strlen(line);
	js_add_text(o->lines, line + sub_floor(masked, LINE_BYTES_MOST));
	return 0;
}

static void file_take(const struct logfiles *l, struct logfile *f, struct js *all)
{
	struct js *lines = js_array();
	int r = logfiles_tail(f, LINES_MOST);
	uint64_t earlier_bytes = f->at;
	struct output_lines to = {.lines = lines, .in_key = key_begins_before(f)};
	if (r == 0)
		r = logfiles_read(f, false, true, output_line_take, &to);
	if (r < 0)
		log_warning("cannot read all of the output of rank %d in %s: %s", f->rank, l->dir, strerror(-r));
	if (js_len(lines) == 0) {
		js_free(lines);
		return;
	}
	struct js *o = js_object();
	js_put_i64(o, "rank", f->rank);
	js_put_u64(o, "attempt", l->attempt);
	js_put_text(o, "stream", f->err ? "stderr" : "stdout");
	js_put(o, "lines", lines);
	if (earlier_bytes > 0)
		js_put_u64(o, "earlier_bytes", earlier_bytes);
	js_add(all, o);
}

static bool file_has_some(const struct logfile *f)
{
	struct stat st;
	return fstat(f->fd, &st) == 0 && st.st_size > 0;
}

static bool output_is_named(const struct js *lead, int32_t rank)
{
	const struct js *culprits = js_get(lead, "culprit_ranks");
	for (size_t i = 0; i < js_len(culprits); i++)
		if (js_as_i64(js_at(culprits, i), -1) == rank)
			return true;
	return js_get_i64(js_get(lead, "victim"), "rank", -1) == rank;
}

struct js *report_output(const char *state_dir, const struct job *j, const struct js *lead, uint64_t *ret_left_out)
{
	struct js *all = js_array();
	cleanup(logfiles_done) struct logfiles l = {.n = 0};
	char log_dir[300];
	uint32_t attempt = 0;
	if (j->log_dir[0])
		TEXT_COPY(log_dir, j->log_dir);
	else
		TEXT_FORMAT(log_dir, "%.200s/jobs/%.64s", state_dir, j->id);
	int r = logfiles_newest(log_dir, &attempt);
	if (r == 0)
		r = logfiles_open(&l, log_dir, attempt, -1, LOGFILES_OUT | LOGFILES_ERR);
	if (r < 0 && r != -ENOENT)
		log_warning("cannot read the output in %s: %s; it is left out", log_dir, strerror(-r));
	*ret_left_out = 0;
	for (int named = 1; named >= 0; named--)
		for (size_t i = 0; r == 0 && i < l.n; i++) {
			if (output_is_named(lead, l.files[i].rank) != (named == 1))
				continue;
			if (js_len(all) < FILES_MOST)
				file_take(&l, &l.files[i], all);
			else
				*ret_left_out += file_has_some(&l.files[i]);
		}
	return all;
}
