/* The line at the end of a log that says why: before the frames of a stack that follow it, with the lines before it. */
#include <string.h>

#include "base/buf.h"
#include "sense/death/deathlog_parts.h"

#define BEFORE 2 /* lines before it that are kept */

static bool indented(struct span line)
{
	return line.len > 0 && (line.p[0] == ' ' || line.p[0] == '\t');
}

/* What runtimes (Go, Rust, Node.js) write around the frames of a stack. */
static bool around_frames(struct span line)
{
	static const char *const starts[] = {
		"note: ", "Node.js v", "goroutine ", "stack backtrace:", "exit status ", "[signal SIG", "created by "};
	for (size_t i = 0; i < ARRAY_SIZE(starts); i++)
		if (span_starts(line, starts[i]))
			return true;
	return false;
}

/* Go writes each frame as two lines: the function, and its place below it. */
static bool names_function(struct span line, struct span below)
{
	return line.len > 0 && line.p[line.len - 1] == ')' && below.len > 0 && below.p[0] == '\t';
}

static const struct span *kept(const struct reading *r, size_t back)
{
	return &r->latest[(r->n_latest - 1 - back) % DEATHLOG_LATEST];
}

/* How many lines back the reason stands; 0: the last line. */
static size_t reason_at(const struct reading *r, size_t have)
{
	for (size_t back = 0; back < have; back++) {
		struct span line = *kept(r, back);
		if (indented(line) || around_frames(line))
			continue;
		if (back > 0 && names_function(line, *kept(r, back - 1)))
			continue;
		return back;
	}
	return 0;
}

void deathlog_last(struct reading *r)
{
	const size_t have = MIN(r->n_latest, (size_t)DEATHLOG_LATEST);
	size_t at, n = 0;
	if (have == 0)
		return;
	at = reason_at(r, have);
	struct log_hint h = deathlog_hint_make(r, "last_line", *kept(r, at), r->rank);
	struct span before[BEFORE];
	for (size_t back = at + 1; back < have && n < BEFORE; back++) {
		struct span line = *kept(r, back);
		if (indented(line) || logshape_repeats(&r->shape, line))
			break;
		before[n++] = line;
	}
	struct buf b = BUF_ON(h.first);
	buf_reset(&b);
	while (n-- > 0)
		buf_printf(&b, "%s%.*s", b.len ? " / " : "", (int)MIN(before[n].len, (size_t)150), before[n].p);
	deathlog_hint_add(r->d, &h);
}
