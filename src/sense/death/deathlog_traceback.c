/* Python's tracebacks in a log: the exception that ended one, and the first one of a chain. */
#include <string.h>

#include "base/buf.h"
#include "sense/death/deathlog_parts.h"

/* Lines of an exception's text below its first one that are taken where that one promises more. */
#define TEXT_LINES 3

/* Tracebacks before the last one that are kept. */
#define EARLIER 4

static bool name_char(char c)
{
	return (c >= '0' && c <= '9') || c == '_' || c == '.' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool exception_like(struct span line)
{
	size_t n = 0;
	while (n < line.len && name_char(line.p[n]))
		n++;
	return n > 0 && (n == line.len || line.p[n] == ':');
}

/* "ray.exceptions.RayTaskError(KeyError): …": what its task raised in a worker is quoted below. */
static bool quotes_worker(struct span line)
{
	size_t n = 0, open = 0;
	while (n < line.len && (name_char(line.p[n]) || (line.p[n] == '(' && n > 0 && open == 0))) {
		open = line.p[n] == '(' ? n : open;
		n++;
	}
	return open > 0 && n > open + 1 && n + 1 < line.len && line.p[n] == ')' && line.p[n + 1] == ':';
}

static struct log_hint *last_traceback(const struct reading *r, int32_t rank)
{
	for (size_t i = 0; i < r->d->n; i++) {
		struct log_hint *h = &r->d->hints[i];
		if (strcmp(h->id, "python_traceback") == 0 && h->rank == rank && strcmp(h->source, r->source) == 0)
			return h;
	}
	return NULL;
}

/* Makes room for a newer traceback: the last one becomes an earlier one, the first of too many goes. */
static void keep_as_earlier(const struct reading *r, struct log_hint *last)
{
	struct log_hint *oldest = NULL;
	size_t n = 0;
	for (size_t i = 0; i < r->d->n; i++) {
		struct log_hint *h = &r->d->hints[i];
		if (strcmp(h->id, "earlier_traceback") != 0 || h->rank != last->rank ||
		    strcmp(h->source, r->source) != 0)
			continue;
		n++;
		if (!oldest || h->line < oldest->line)
			oldest = h;
	}
	TEXT_COPY(last->id, "earlier_traceback");
	if (n < EARLIER)
		return;
	*oldest = *last;
	*last = r->d->hints[--r->d->n];
}

/* Members are told behind the text of their group. */
static void member_add(struct log_hint *h, const struct log_hint *group)
{
	struct buf b = BUF_ON(h->first);
	buf_reset(&b);
	h->of_group = true;
	buf_printf(&b, "%s%s %s", group->first[0] ? group->first : group->text,
		   group->first[0] ? ";" : ", of which:", h->text);
}

/* `  File "train.py", line 88, in train` becomes "in train at train.py:88". Whatever else it is is left out. */
static void frame_put(struct span frame, char *dst, size_t cap)
{
	const struct span at = span_after(frame, "\", line "), in = span_after(at, ", in ");
	uint64_t line;
	if (!at.p || !in.p || span_u64_prefix(at, &line) != 0)
		return;
	const struct span file = {frame.p, (size_t)(at.p - frame.p) - strlen("\", line ")};
	if (file.len + in.len + 40 < cap)
		text_format(dst, cap, "in %.*s at %.*s:%llu", (int)in.len, in.p, (int)file.len, file.p,
			    (unsigned long long)line);
}

/* Cython names the file below the folder where the package was built: "h5py/h5f.pyx", of whatever package. */
static bool is_compiled(struct span file)
{
	return file.len > 4 && file.p[0] != '/' &&
	       (memcmp(file.p + file.len - 4, ".pyx", 4) == 0 || memcmp(file.p + file.len - 4, ".pxi", 4) == 0);
}

/* What follows `File "` is a path below an installed package, or of Python's own, or of compiled code. */
static bool in_library(struct span frame)
{
	static const char *const words[] = {"/site-packages/", "/dist-packages/", "/lib/python", "<frozen "};
	const struct span file = span_before(frame, "\"");
	if (is_compiled(file))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (span_has(file, words[i]))
			return true;
	return false;
}

/* A launcher's script (torchrun, accelerate) is no library, and not the program either. */
static bool is_own(struct span frame)
{
	return !in_library(frame) && !span_has(span_before(frame, "\""), "/bin/");
}

/* A pool's parent raises what its worker has raised, with the worker's traceback quoted as the cause. */
static bool raised_again(const struct reading *r, const struct log_hint *last, const struct log_hint *h)
{
	return r->direct && last->of_worker && strcmp(last->text, h->text) == 0;
}

/* Of one exception that has two tracebacks the worker's says where it was raised. */
static void place_of_worker(struct log_hint *h, const struct log_hint *last)
{
	h->of_worker = true;
	h->of_library = last->of_library;
	TEXT_COPY(h->frame, last->frame);
	TEXT_COPY(h->own_frame, last->own_frame);
	TEXT_COPY(h->first, last->first);
}

static void exception_add(struct reading *r, struct span line, int32_t rank)
{
	bool stopped = span_starts(line, "KeyboardInterrupt");
	struct log_hint h = deathlog_hint_make(r, stopped ? "keyboard_interrupt" : "python_traceback", line, rank);
	struct log_hint *last = last_traceback(r, rank);
	h.first_line = r->traceback_line;
	frame_put(r->frame, h.frame, sizeof(h.frame));
	h.of_library = r->frame.p && in_library(r->frame);
	if (h.of_library && r->own_frame.p)
		frame_put(r->own_frame, h.own_frame, sizeof(h.own_frame));
	h.of_thread = r->of_thread;
	h.of_task = r->of_thread && r->of_task;
	h.of_worker = r->of_worker || r->quoted;
	if (r->before_traceback.len < sizeof(h.before))
		span_copy(r->before_traceback, h.before, sizeof(h.before));
	if (r->group_member && last) {
		member_add(&h, last);
		h.first_line = last->first_line;
		h.direct = true;
		TEXT_COPY(h.before, last->before);
	} else if (r->chained && last && raised_again(r, last, &h)) {
		place_of_worker(&h, last);
		h.first_line = last->first_line;
		h.direct = last->direct;
		TEXT_COPY(h.before, last->before);
	} else if (r->chained && last) {
		TEXT_COPY(h.first, last->first[0] ? last->first : last->text);
		h.first_line = last->first_line;
		h.direct = r->direct;
		TEXT_COPY(h.before, last->before);
	} else if (last && !stopped) {
		keep_as_earlier(r, last);
	}
	deathlog_hint_add(r->d, &h);
	const struct span said = span_trim(line);
	r->text_lines = !r->group_member && said.p[said.len - 1] == ':' ? TEXT_LINES : 0;
	if (!span_starts(line, "MemoryError"))
		return;
	h = deathlog_hint_make(r, "python_memory_error", line, rank);
	deathlog_hint_add(r->d, &h);
}

/* "BackendCompilerFailed: backend='inductor' raised:", and in the next line the exception that it was. */
static bool raised_line(struct reading *r, struct log_hint *last, struct span line)
{
	const struct span said = span_of(last->text);
	if (r->line != last->line + 1 || last->first[0] || !exception_like(line) || said.len < 8 ||
	    !span_eq((struct span){said.p + said.len - 8, 8}, " raised:"))
		return false;
	TEXT_COPY(last->first, last->text);
	last->direct = true;
	span_copy(line, last->text, sizeof(last->text));
	return true;
}

/* "grpc…Error: <… of RPC that terminated with:", and below, indented: "status = StatusCode.UNAVAILABLE". */
static bool text_line(struct reading *r, struct span line, int32_t rank)
{
	struct log_hint *last = r->text_lines > 0 && rank == r->traceback_rank ? last_traceback(r, rank) : NULL;
	const struct span more = span_trim(line);
	if (last && raised_line(r, last, line)) {
		r->text_lines = 0;
		return true;
	}
	if (!last || more.len == 0 || more.p == line.p) {
		r->text_lines = 0;
		return false;
	}
	r->text_lines--;
	struct buf b = {.text = last->text, .len = strlen(last->text), .cap = sizeof(last->text)};
	char printable[200];
	span_copy(more, printable, sizeof(printable));
	buf_printf(&b, " %s", printable);
	if (more.p[more.len - 1] == '.') /* a sentence is enough */
		r->text_lines = 0;
	return true;
}

/* "    s.bind(('127.0.0.1', 29511))" in the source lines of a traceback. */
static void bind_line(struct reading *r, struct span line)
{
	struct span at = span_after(line, "bind(");
	for (at = at.p ? span_after(at, ",") : at; at.p; at = span_after(at, ",")) {
		uint64_t v;
		if (span_u64_prefix(span_trim(at), &v) == 0 && v > 0 && v <= UINT16_MAX)
			r->bind_port = (uint16_t)v;
	}
}

/*
 * "  + Exception Group Traceback (most recent call last):", "  | ExceptionGroup: …", "  +-+---------------- 1 ----",
 * "    | ValueError: …": the members stand below their group.
 */
bool traceback_group(struct reading *r, struct span *line, int32_t rank)
{
	struct span s = *line;
	while (s.len > 0 && (s.p[0] == ' ' || s.p[0] == '|' || s.p[0] == '+')) {
		bool branch = s.p[0] != ' ';
		s = (struct span){s.p + 1, s.len - 1};
		if (branch && s.len > 0 && s.p[0] == ' ') {
			s = (struct span){s.p + 1, s.len - 1};
			break;
		}
	}
	if (span_starts(s, "Exception Group Traceback (most recent call last):")) {
		r->group = true;
		r->group_member = false;
		*line = span_of("Traceback (most recent call last):");
		return true;
	}
	if (!r->group)
		return false;
	if (line->len == 0 || (line->p[0] != ' ' && line->p[0] != '|')) {
		r->group = r->group_member = false;
		return false;
	}
	if (span_starts(s, "-")) {
		r->group_member = true;
		r->traceback = false;
	} else if (r->group_member && !r->traceback && exception_like(s)) {
		exception_add(r, s, rank);
		r->group_member = false;
	}
	*line = s;
	return true;
}

/* What Python says before a traceback that it passes over: in a __del__, at its end, of a handler of logging. */
static bool passed_over(struct span line)
{
	return span_starts(line, "Exception ignored ") || span_eq(span_trim(line), "--- Logging error ---");
}

bool traceback_line(struct reading *r, struct span line, int32_t rank)
{
	bool direct = span_starts(line, "The above exception was the direct cause of the following exception");
	if (direct || span_starts(line, "During handling of the above exception, another exception occurred")) {
		r->chained = true;
		r->direct = direct;
		return true;
	}
	if (passed_over(line)) {
		r->ignored = true;
		r->traceback = false;
		return true;
	}
	const bool task = span_starts(line, "Task exception was never retrieved"); /* asyncio, of one nobody awaits */
	if (task || span_starts(line, "Exception in thread ")) {
		r->of_thread = true;
		r->of_task = task;
		r->traceback = false;
		return true;
	}
	bool inner = span_starts(line, "Original Traceback (most recent call last):");
	if (inner || span_starts(line, "Traceback (most recent call last):")) {
		r->chained |= inner; /* the exception of a worker, which the text of the one before quotes */
		r->direct |= inner;
		r->traceback = true;
		r->of_worker = inner || span_eq(r->previous, "\"\"\"");
		r->quoted = false;
		r->traceback_rank = rank;
		r->traceback_line = r->line;
		r->before_traceback = r->previous;
		r->bind_port = 0;
		r->frame = r->own_frame = (struct span){NULL, 0};
		return true;
	}
	if (!r->traceback && text_line(r, line, rank))
		return true;
	if (!r->traceback || rank != r->traceback_rank)
		return false;
	if (line.len == 0 || line.p[0] == ' ' || line.p[0] == '\t') {
		const struct span frame = span_after(line, "File \"");
		if (frame.p && span_starts(span_trim(line), "File \""))
			r->frame = frame;
		if (r->frame.p == frame.p && frame.p && is_own(frame))
			r->own_frame = frame;
		bind_line(r, line);
		return true;
	}
	const bool nothing_quoted = r->quoted && !r->frame.p, quotes = quotes_worker(line);
	if (!nothing_quoted && !r->ignored && (exception_like(line) || quotes))
		exception_add(r, line, rank);
	r->traceback = r->quoted = r->chained = r->direct = quotes && !r->ignored;
	if (r->quoted)
		r->frame = r->own_frame = (struct span){NULL, 0};
	r->ignored = r->of_thread = r->group_member = false;
	return !nothing_quoted;
}

static bool of_log(const struct log_hint *h, const char *id, const char *source)
{
	return strcmp(h->id, id) == 0 && strcmp(h->source, source) == 0;
}

/* The latest exception of the main thread that only tracebacks follow, before this one of another thread; NULL. */
static struct log_hint *main_before(const struct deathlog *d, const struct log_hint *of_thread)
{
	struct log_hint *found = NULL;
	for (size_t i = 0; i < d->n; i++) {
		struct log_hint *h = &d->hints[i];
		if (of_log(h, "earlier_traceback", of_thread->source) && h->rank == of_thread->rank && !h->of_thread &&
		    h->after == 0 && (!found || h->line > found->line))
			found = h;
	}
	return found;
}

void traceback_main_first(const struct deathlog *d, const char *source)
{
	for (size_t i = 0; i < d->n; i++) {
		struct log_hint *last = &d->hints[i];
		struct log_hint *main =
			last->of_thread && of_log(last, "python_traceback", source) ? main_before(d, last) : NULL;
		if (!main)
			continue;
		TEXT_COPY(main->id, "python_traceback");
		TEXT_COPY(last->id, "earlier_traceback");
	}
}
