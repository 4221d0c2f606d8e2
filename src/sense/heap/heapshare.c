#include "sense/heap/heapshare.h"

#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/buf.h"
#include "base/vec.h"

#define TITLE "vigil-heap-share 1 "
#define ROWS_MAX 65536
#define ROW_CHARS 64

void heapshare_done(struct heapshare *s)
{
	free(s->row);
	*s = (struct heapshare){.row = NULL};
}

static bool heapshare_number(struct span *line, uint64_t *ret)
{
	struct span word;
	return span_word(line, &word) && span_u64(word, ret) == 0;
}

static bool row_parse(struct span line, struct heapshare_row *ret)
{
	uint64_t stack, seen, resident;
	if (!heapshare_number(&line, &stack) || !heapshare_number(&line, &seen) ||
	    !heapshare_number(&line, &resident) || stack > UINT32_MAX || seen >> 62 || resident > seen)
		return false;
	*ret = (struct heapshare_row){.stack = stack, .seen_bytes = seen, .resident_bytes = resident};
	return true;
}

int heapshare_parse(struct span text, struct heapshare *ret)
{
	cleanup(heapshare_done) struct heapshare s = {.row = NULL};
	struct span line;
	size_t cap = 0;
	if (!span_line(&text, &line) || !span_starts(line, TITLE))
		return -EBADMSG;
	struct span time = {line.p + strlen(TITLE), line.len - strlen(TITLE)};
	if (span_i64(time, &s.time_unix_ms) < 0 || s.time_unix_ms <= 0)
		return -EBADMSG;
	while (span_line(&text, &line)) {
		if (s.n == ROWS_MAX)
			return -EBADMSG;
		if (vec_room(&s.row, &cap, s.n + 1) < 0)
			return -ENOMEM;
		/* Rows must be sorted: heapshare_find searches by halves. */
		if (!row_parse(line, &s.row[s.n]) || (s.n > 0 && s.row[s.n].stack <= s.row[s.n - 1].stack))
			return -EBADMSG;
		s.n++;
	}
	*ret = s;
	s.row = NULL;
	return 0;
}

int heapshare_format(const struct heapshare *s, char **ret_text, size_t *ret_len)
{
	size_t cap = (s->n + 1) * ROW_CHARS;
	char *text = malloc(cap);
	if (!text)
		return -ENOMEM;
	struct buf b = {.text = text, .cap = cap};
	buf_reset(&b);
	buf_printf(&b, TITLE "%lld\n", (long long)s->time_unix_ms);
	for (size_t i = 0; i < s->n; i++)
		buf_printf(&b, "%llu %llu %llu\n", (unsigned long long)s->row[i].stack,
			   (unsigned long long)s->row[i].seen_bytes, (unsigned long long)s->row[i].resident_bytes);
	*ret_text = text;
	*ret_len = b.len;
	return 0;
}

const struct heapshare_row *heapshare_find(const struct heapshare *s, uint64_t stack)
{
	size_t low = bisect(s->n, middle, s->row[middle].stack < stack);
	return low < s->n && s->row[low].stack == stack ? &s->row[low] : NULL;
}
