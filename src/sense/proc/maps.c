#include "sense/proc/maps.h"

#include <fcntl.h>
#include <string.h>

#include "base/bisect.h"
#include "base/buf.h"
#include "base/file.h"
#include "sense/lockwait.h"

/* Limit of the text: the kernel allows 65,530 mappings by default, at about 100 bytes a line. */
#define MAPS_TEXT_MAX (64 * MIB)

static int hex_u64(struct span s, uint64_t *ret)
{
	uint64_t v = 0;
	if (s.len == 0 || s.len > 16)
		return -EINVAL;
	for (size_t i = 0; i < s.len; i++) {
		char c = s.p[i];
		unsigned digit;
		if (c >= '0' && c <= '9')
			digit = (unsigned)(c - '0');
		else if (c >= 'a' && c <= 'f')
			digit = (unsigned)(c - 'a') + 10;
		else
			return -EINVAL;
		v = v << 4 | digit;
	}
	*ret = v;
	return 0;
}

static int hex_pair(struct span word, const char *between, uint64_t *ret_a, uint64_t *ret_b)
{
	struct span a = span_before(word, between), b = span_after(word, between);
	return b.p && hex_u64(a, ret_a) == 0 && hex_u64(b, ret_b) == 0 ? 0 : -EINVAL;
}

static uint8_t flags_of(struct span word)
{
	uint8_t f = 0;
	for (size_t i = 0; i < word.len; i++)
		f |= word.p[i] == 'r'	? MAP_READ
		     : word.p[i] == 'w' ? MAP_WRITE
		     : word.p[i] == 'x' ? MAP_EXEC
		     : word.p[i] == 's' ? MAP_IS_SHARED
					: 0;
	return f;
}

/* Parses a line of a text that is owned and may be modified. */
static int maps_row_parse(struct span line, struct map_row *ret)
{
	struct span range, perms, offset, dev, inode, rest = line;
	uint64_t major, minor;
	if (!span_word(&rest, &range) || !span_word(&rest, &perms) || !span_word(&rest, &offset) ||
	    !span_word(&rest, &dev) || !span_word(&rest, &inode))
		return -EINVAL;
	struct map_row r = {.path = "", .flags = flags_of(perms)};
	if (hex_pair(range, "-", &r.start, &r.end) < 0 || r.end <= r.start || hex_u64(offset, &r.offset) < 0 ||
	    hex_pair(dev, ":", &major, &minor) < 0 || span_u64(inode, &r.inode) < 0)
		return -EINVAL;
	r.dev = (uint32_t)(major << 20 | (minor & 0xfffff));
	struct span path = rest;
	while (path.len > 0 && path.p[0] == ' ') { /* blanks at the end belong to the name of the file */
		path.p++;
		path.len--;
	}
	const struct span gone = SPAN(" (deleted)");
	if (path.len > gone.len && memcmp(path.p + path.len - gone.len, gone.p, gone.len) == 0) {
		r.deleted = true;
		path.len -= gone.len;
	}
	if (path.len > 0) {
		/* writable: the byte is a newline, a blank or the end of our copy */
		((char *)(uintptr_t)path.p)[path.len] = '\0';
		r.path = path.p;
	}
	*ret = r;
	return 0;
}

/* Takes ownership of text, which is malloc'ed and has one more byte of room. */
static int maps_rows(char *text, size_t len, struct maps *ret)
{
	size_t cap = 0;
	for (size_t i = 0; i < len; i++)
		cap += text[i] == '\n';
	struct maps m = {.text = text, .rows = calloc(cap + 1, sizeof(*m.rows))};
	if (!m.rows) {
		free(text);
		return -ENOMEM;
	}
	struct span rest = {text, len}, line;
	uint64_t last = 0;
	while (span_line(&rest, &line))
		if (maps_row_parse(line, &m.rows[m.n]) == 0 && m.rows[m.n].start >= last)
			last = m.rows[m.n++].end;
	*ret = m;
	return 0;
}

int maps_parse(struct span text, struct maps *ret)
{
	char *copy = malloc(text.len + 1);
	if (!copy)
		return -ENOMEM;
	if (text.len > 0)
		memcpy(copy, text.p, text.len);
	copy[text.len] = '\0';
	return maps_rows(copy, text.len, ret);
}

int maps_read(const struct world *w, pid_t pid, struct maps *ret)
{
	char path[48], *text = NULL;
	size_t len = 0;
	if (w->proc_fd < 0)
		return WORLD_ABSENT;
	int r = lockwait_ask(w->proc_fd, pid);
	if (r != 0)
		return r;
	TEXT_FORMAT(path, "%d/maps", pid);
	r = file_slurp(w->proc_fd, path, MAPS_TEXT_MAX, &text, &len);
	if (r < 0)
		return world_condition(r);
	return maps_rows(text, len, ret);
}

void maps_done(struct maps *m)
{
	free(m->rows);
	free(m->text);
	*m = (struct maps){};
}

const struct map_row *maps_find(const struct maps *m, uint64_t addr)
{
	size_t lo = bisect(m->n, mid, m->rows[mid].end <= addr);
	return lo < m->n && m->rows[lo].start <= addr ? &m->rows[lo] : NULL;
}
