#include "sense/native/perfmap.h"

#include <string.h>
#include <sys/stat.h>

#include "base/bisect.h"
#include "base/buf.h"
#include "base/file.h"
#include "sense/native/rootfile.h"
#include "sense/proc/proc.h"

#define FILE_MAX (64 * MIB)
#define LOOK_BACK 64
#define NOT_BEFORE_NS (100 * NS_PER_MS)
/* Reading a large map that grows all the time may use at most 1/20 of our time. */
#define COST_SHARE 20

static bool perfmap_hex_word(struct span *rest, uint64_t *ret)
{
	struct span word;
	uint64_t v = 0;
	if (!span_word(rest, &word))
		return false;
	if (span_starts(word, "0x") || span_starts(word, "0X"))
		word = (struct span){word.p + 2, word.len - 2};
	if (word.len == 0 || word.len > 16)
		return false;
	for (size_t i = 0; i < word.len; i++) {
		char c = word.p[i];
		unsigned digit = c >= '0' && c <= '9'	? (unsigned)(c - '0')
				 : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
				 : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
							: 16;
		if (digit > 15)
			return false;
		v = v << 4 | digit;
	}
	*ret = v;
	return true;
}

/* line lies in text, which is writable: the name is terminated in place, over its newline. */
static bool perfmap_row_parse(char *text, struct span line, struct perfmap_row *ret)
{
	struct span rest = line;
	uint64_t start, size;
	if (!perfmap_hex_word(&rest, &start) || !perfmap_hex_word(&rest, &size) || size == 0 ||
	    size > UINT64_MAX - start)
		return false;
	struct span name = span_trim(rest);
	if (name.len == 0 || memchr(name.p, '\0', name.len))
		return false;
	size_t at = (size_t)(name.p - text);
	text[at + name.len] = '\0';
	*ret = (struct perfmap_row){.start = start, .end = start + size, .name = (uint32_t)at};
	return true;
}

static int by_start(const void *x, const void *y)
{
	const struct perfmap_row *a = x, *b = y;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->seq < b->seq ? -1 : a->seq > b->seq;
}

/* Of lines with the same start only the last is valid. */
static void rows_thin(struct perfmap *m)
{
	size_t kept = 0;
	for (size_t i = 0; i < m->n; i++)
		if (i + 1 == m->n || m->rows[i + 1].start != m->rows[i].start)
			m->rows[kept++] = m->rows[i];
	m->n = kept;
}

/* Takes text: len bytes and room for one more. */
static int perfmap_rows_parse(char *text, size_t len, struct perfmap *ret)
{
	size_t cap = 0, whole = 0;
	for (size_t i = 0; i < len; i++)
		if (text[i] == '\n') {
			cap++;
			whole = i + 1;
		}
	struct perfmap m = {.text = text, .rows = calloc(cap + 1, sizeof(*m.rows))};
	if (!m.rows) {
		free(text);
		return -ENOMEM;
	}
	struct span rest = {text, whole}, line;
	for (uint32_t seq = 0; span_line(&rest, &line); seq++)
		if (perfmap_row_parse(text, line, &m.rows[m.n]))
			m.rows[m.n++].seq = seq;
	qsort(m.rows, m.n, sizeof(*m.rows), by_start);
	rows_thin(&m);
	*ret = m;
	return 0;
}

int perfmap_parse(struct span text, struct perfmap *ret)
{
	if (text.len > FILE_MAX)
		return -EFBIG;
	char *copy = malloc(text.len + 1);
	if (!copy)
		return -ENOMEM;
	if (text.len > 0)
		memcpy(copy, text.p, text.len);
	copy[text.len] = '\0';
	return perfmap_rows_parse(copy, text.len, ret);
}

static int trusted_open(const struct world *w, pid_t pid, int *ret_fd, struct stat *ret_st)
{
	struct proc_status s;
	char path[64];
	cleanup(closep) int fd = -1;
	int r = proc_status_read(w, pid, &s);
	if (r)
		return r;
	TEXT_FORMAT(path, "/tmp/perf-%d.map", s.ns_pid);
	r = rootfile_open(w, pid, path, 0, &fd);
	if (r)
		return r;
	if (fstat(fd, ret_st) < 0)
		return -errno;
	if (ret_st->st_uid != 0 && ret_st->st_uid != s.euid && ret_st->st_uid != s.uid)
		return WORLD_ABSENT;
	*ret_fd = take_fd(&fd);
	return 0;
}

static int file_load(struct perfmap *m, int fd, const struct stat *st)
{
	size_t cap = (size_t)MIN((uint64_t)st->st_size, FILE_MAX), len = 0;
	cleanup(freep) char *text = malloc(cap + 1);
	struct perfmap fresh = {};
	if (!text)
		return -ENOMEM;
	int r = file_read_from(fd, 0, text, cap, &len);
	if (r)
		return r;
	r = perfmap_rows_parse(take(&text), len, &fresh);
	if (r)
		return r;
	fresh.file_bytes = (uint64_t)st->st_size;
	fresh.inode = st->st_ino;
	perfmap_done(m);
	*m = fresh;
	return 0;
}

int perfmap_refresh(struct perfmap *m, const struct world *w, pid_t pid)
{
	uint64_t now_ns = w->mono_ns();
	struct stat st;
	cleanup(closep) int fd = -1;
	if (now_ns < m->mono_next_ns)
		return 0;
	int r = trusted_open(w, pid, &fd, &st);
	if (r == 0 && ((uint64_t)st.st_size != m->file_bytes || st.st_ino != m->inode))
		r = file_load(m, fd, &st);
	uint64_t end_ns = w->mono_ns();
	m->mono_next_ns = end_ns + MAX(NOT_BEFORE_NS, (end_ns - now_ns) * COST_SHARE);
	return r;
}

void perfmap_done(struct perfmap *m)
{
	free(m->text);
	free(m->rows);
	*m = (struct perfmap){};
}

bool perfmap_find(const struct perfmap *m, uint64_t addr, const char **ret_name, uint64_t *ret_start)
{
	const struct perfmap_row *best = NULL;
	size_t lo = bisect(m->n, mid, m->rows[mid].start <= addr);
	for (size_t i = lo, seen = 0; i-- > 0 && seen < LOOK_BACK; seen++)
		if (addr < m->rows[i].end && (!best || m->rows[i].seq > best->seq))
			best = &m->rows[i];
	if (!best)
		return false;
	*ret_name = m->text + best->name;
	*ret_start = best->start;
	return true;
}
