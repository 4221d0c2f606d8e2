#include "sense/native/cython.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/bisect.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/path.h"
#include "base/vec.h"
#include "sense/native/rootfile.h"

#define SCOPES_MAX 16
/* scikit-learn's largest has 2 MB, hand-written giants a few times that. */
#define SOURCE_BYTES_MAX (64 * MIB)
#define MARKS_MAX 1000000

static bool cython_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_name(char c)
{
	return cython_is_digit(c) || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (unsigned char)c >= 0x80;
}

/* "5Plain_" at the beginning of the rest. */
static bool scope_take(struct span *rest, struct span *ret)
{
	uint64_t len;
	size_t digits = 0;
	if (span_u64_prefix(*rest, &len) != 0)
		return false;
	while (digits < rest->len && cython_is_digit(rest->p[digits]))
		digits++;
	if (len == 0 || len >= rest->len - digits || rest->p[digits + len] != '_')
		return false;
	*ret = (struct span){rest->p + digits, (size_t)len};
	*rest = (struct span){rest->p + digits + len + 1, rest->len - digits - (size_t)len - 1};
	return rest->len > 0;
}

/* Whether a rest "3foo" can be a number and a name: the counter of wrappers is odd, that of what they call even. */
static bool has_number(struct span rest, bool odd)
{
	uint64_t n;
	return span_u64_prefix(rest, &n) == 0 && (n % 2 == 1) == odd;
}

enum form { FORM_WRAPPER, FORM_FUNCTION, FORM_C, FORM_NONE };

static enum form form_of(struct span *rest)
{
	static const struct {
		const char *prefix;
		enum form form;
	} forms[] = {{"__pyx_pw_", FORM_WRAPPER},
		     {"__pyx_pf_", FORM_FUNCTION},
		     {"__pyx_gb_", FORM_FUNCTION},
		     {"__pyx_f_", FORM_C},
		     {"__pyx_mdef_", FORM_NONE}};
	struct span after = span_after(*rest, "__pyx_fuse_");
	if (after.p && after.p == rest->p + strlen("__pyx_fuse_")) {
		while (after.len && cython_is_digit(after.p[0]))
			after = (struct span){after.p + 1, after.len - 1};
		*rest = after;
	}
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		if (!span_starts(*rest, forms[i].prefix))
			continue;
		*rest = (struct span){rest->p + strlen(forms[i].prefix), rest->len - strlen(forms[i].prefix)};
		return forms[i].form;
	}
	return FORM_NONE;
}

static size_t scopes_take(struct span *rest, enum form form, struct span scopes[static SCOPES_MAX])
{
	size_t n = 0;
	for (struct span after = *rest; n < SCOPES_MAX && scope_take(&after, &scopes[n]); n++) {
		/* A wrapper's name has a number at its end, so its last part is no scope. */
		if (form == FORM_WRAPPER && !cython_is_digit(after.p[0]) && has_number(*rest, true))
			break;
		*rest = after;
	}
	return n;
}

bool cython_name(const char *symbol, const char *module, char dst[static CYTHON_NAME_MAX])
{
	struct span rest = span_of(symbol), scopes[SCOPES_MAX];
	const char *dot = strchr(module, '.'), *suffix = strchr(symbol, '.');
	struct span own = {module, dot ? (size_t)(dot - module) : strlen(module)};
	if (suffix) /* ".isra.0", ".cold" */
		rest.len = (size_t)(suffix - symbol);
	enum form form = form_of(&rest);
	if (form == FORM_NONE)
		return false;
	size_t n = scopes_take(&rest, form, scopes), from = 0;
	if (n == 0)
		return false;
	while (form != FORM_C && rest.len && cython_is_digit(rest.p[0]))
		rest = (struct span){rest.p + 1, rest.len - 1};
	for (size_t i = 0; i < rest.len; i++)
		if (!is_name(rest.p[i]))
			return false;
	if (rest.len == 0)
		return false;
	for (size_t i = 0; i < n && from == 0; i++)
		from = scopes[i].len == own.len && memcmp(scopes[i].p, own.p, own.len) == 0 ? i + 1 : 0;
	struct buf b = {.text = dst, .cap = CYTHON_NAME_MAX};
	buf_reset(&b);
	for (size_t i = from; i < n; i++) {
		buf_add_n(&b, scopes[i].p, scopes[i].len);
		buf_add(&b, ".");
	}
	buf_add_n(&b, rest.p, rest.len);
	return true;
}

/* Parses the first line of a comment: after its two signs a file in quotes, a colon and a line. */
static bool mark_parse(struct span line, struct span *ret_file, uint32_t *ret_line)
{
	struct span s = span_trim(line);
	uint64_t n;
	if (!span_starts(s, "/* \""))
		return false;
	s = (struct span){s.p + 4, s.len - 4};
	const char *end = memchr(s.p, '"', s.len);
	if (!end || end == s.p || end + 1 >= s.p + s.len || end[1] != ':')
		return false;
	struct span number = {end + 2, (size_t)(s.p + s.len - end - 2)};
	if (span_u64(number, &n) != 0 || n == 0 || n > INT32_MAX)
		return false;
	*ret_file = (struct span){s.p, (size_t)(end - s.p)};
	*ret_line = (uint32_t)n;
	return true;
}

static int marks_find(const char *text, size_t len, struct cython_source *s)
{
	size_t cap = 0;
	uint32_t c_line = 0;
	bool helpers = false; /* what follows the program is Cython's own, of no line */
	for (const char *at = text; at < text + len && s->n < MARKS_MAX && !helpers;) {
		const char *end = memchr(at, '\n', (size_t)(text + len - at));
		struct span line = {at, (size_t)((end ? end : text + len) - at)}, file;
		uint32_t n;
		c_line++;
		at += line.len + 1;
		helpers = span_starts(line, "/* --- Runtime support code ---");
		if (helpers) {
			n = 0;
			file = (struct span){text, 0};
		} else if (!mark_parse(line, &file, &n)) {
			continue;
		}
		if (vec_room(&s->marks, &cap, s->n + 1) < 0)
			return -ENOMEM;
		s->marks[s->n++] = (struct cython_mark){.c_line = c_line,
							.line = n,
							.file_at = (uint32_t)(file.p - text),
							.file_len = (uint32_t)file.len};
	}
	return 0;
}

int cython_parse(struct span c, struct cython_source *ret)
{
	cleanup(cython_done) struct cython_source s = {.text = NULL};
	if (c.len > SOURCE_BYTES_MAX)
		return -ENOMEM;
	s.text = malloc(c.len + 1);
	if (!s.text)
		return -ENOMEM;
	memcpy(s.text, c.p, c.len);
	s.text[c.len] = '\0';
	if (marks_find(s.text, c.len, &s) < 0)
		return -ENOMEM;
	*ret = s;
	s = (struct cython_source){.text = NULL};
	return 0;
}

int cython_read(const struct world *w, pid_t pid, const char *path, int64_t before_s, struct cython_source *ret)
{
	cleanup(closep) int fd = -1;
	cleanup(freep) char *text = NULL;
	cleanup(cython_done) struct cython_source s = {.text = NULL};
	struct stat st;
	int r = path[0] == '/' ? rootfile_open(w, pid, path, ROOTFILE_LINKS, &fd) : WORLD_ABSENT;
	if (r)
		return r;
	if (fstat(fd, &st) < 0 || st.st_size <= 0 || (uint64_t)st.st_size > SOURCE_BYTES_MAX || st.st_mtime > before_s)
		return WORLD_ABSENT;
	size_t len = (size_t)st.st_size, got = 0;
	text = malloc(len);
	if (!text)
		return -ENOMEM;
	r = file_read_from(fd, 0, text, len, &got);
	if (r < 0)
		return r;
	r = cython_parse((struct span){text, got}, &s);
	if (r)
		return r;
	if (s.n == 0)
		return WORLD_ABSENT;
	*ret = s;
	s = (struct cython_source){.text = NULL};
	return 0;
}

void cython_done(struct cython_source *s)
{
	free(s->text);
	free(s->marks);
	*s = (struct cython_source){.text = NULL};
}

bool cython_line(const struct cython_source *s, const char *c_path, uint32_t c_line, char *file, size_t cap,
		 uint32_t *ret_line)
{
	size_t lo = bisect(s->n, mid, s->marks[mid].c_line <= c_line);
	if (lo == 0 || s->marks[lo - 1].line == 0)
		return false;
	const struct cython_mark *m = &s->marks[lo - 1];
	struct span pyx = {s->text + m->file_at, m->file_len};
	const char *name = path_name(c_path), *slash = memrchr(pyx.p, '/', pyx.len);
	struct span base = slash ? (struct span){slash + 1, (size_t)(pyx.p + pyx.len - slash - 1)} : pyx;
	const char *dot = strrchr(name, '.');
	size_t stem = dot ? (size_t)(dot - name) : strlen(name);
	bool beside = base.len > stem && memcmp(base.p, name, stem) == 0 && base.p[stem] == '.';
	struct buf b = {.text = file, .cap = cap};
	buf_reset(&b);
	if (beside)
		buf_add_n(&b, c_path, (size_t)(name - c_path));
	buf_add_n(&b, beside ? base.p : pyx.p, beside ? base.len : pyx.len);
	*ret_line = m->line;
	return true;
}
