#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "tell/text/textout.h"
#include "tell/incident/report.h"

/* The report shows few stacks; its JSON has those of all threads. */
#define STACKS_SHOWN 12
#define WAITED_SHOWN 4
#define FRAMES_SHOWN 40

static void frame_line(const struct textout *p, const struct js *f)
{
	char text[600];
	struct buf b = BUF_ON(text);
	const char *file = js_get_text(f, "file", ""), *module = js_get_text(f, "module", "");
	int64_t line = js_get_i64(f, "line", 0);
	buf_add(&b, js_get_text(f, "name", "?"));
	if (file[0] && line > 0)
		buf_printf(&b, " (%s:%lld)", file, (long long)line);
	else if (file[0])
		buf_printf(&b, " (%s)", file);
	if (module[0])
		buf_printf(&b, " [%s]", module);
	textout_line(p, 6, text, 400);
}

static bool same_frames(const struct js *a, const struct js *b)
{
	const struct js *x = js_get(a, "frames"), *y = js_get(b, "frames");
	if (js_len(x) != js_len(y))
		return false;
	for (size_t i = 0; i < js_len(x); i++) {
		const struct js *f = js_at(x, i), *g = js_at(y, i);
		if (js_get_i64(f, "line", 0) != js_get_i64(g, "line", 0) ||
		    strcmp(js_get_text(f, "name", ""), js_get_text(g, "name", "")) != 0 ||
		    strcmp(js_get_text(f, "file", ""), js_get_text(g, "file", "")) != 0)
			return false;
	}
	return true;
}

static size_t twins_of(const struct js *stacks, size_t i)
{
	size_t n = 0;
	for (size_t k = i + 1; k < js_len(stacks); k++)
		n += same_frames(js_at(stacks, i), js_at(stacks, k));
	return n;
}

static bool shown_before(const struct js *stacks, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (same_frames(js_at(stacks, i), js_at(stacks, k)))
			return true;
	return false;
}

static void head_line(const struct textout *p, const struct js *s, size_t twins)
{
	char text[400];
	struct buf b = BUF_ON(text);
	buf_printf(&b, "pid %lld", (long long)js_get_i64(s, "pid", 0));
	if (js_get(s, "rank"))
		buf_printf(&b, ", rank %lld", (long long)js_get_i64(s, "rank", 0));
	buf_printf(&b, ", thread %lld \"%s\"", (long long)js_get_i64(s, "tid", 0), js_get_text(s, "thread", ""));
	if (twins)
		buf_printf(&b, " and %zu more alike", twins);
	if (js_get_text(s, "waiting_on", "")[0])
		buf_printf(&b, ": %s", js_get_text(s, "waiting_on", ""));
	textout_line(p, 2, text, 300);
}

static void stack_text(const struct textout *p, const struct js *s, size_t twins)
{
	const struct js *frames = js_get(s, "frames");
	head_line(p, s, twins);
	for (size_t k = 0; k < js_len(frames) && k < FRAMES_SHOWN; k++)
		frame_line(p, js_at(frames, k));
	if (js_len(frames) > FRAMES_SHOWN)
		(void)fprintf(p->to, "      … %zu more\n", js_len(frames) - FRAMES_SHOWN);
}

/* True for a thread beside the main one that another one of its process waits for, by proof. */
static bool waited_for(const struct js *stacks, const struct js *s)
{
	int64_t pid = js_get_i64(s, "pid", 0), tid = js_get_i64(s, "tid", 0);
	if (tid == 0 || tid == pid)
		return false;
	for (size_t i = 0; i < js_len(stacks); i++) {
		const struct js *to = js_get(js_get(js_at(stacks, i), "waits_for"), "to");
		if (js_get_i64(js_at(stacks, i), "pid", 0) != pid)
			continue;
		for (size_t k = 0; k < js_len(to); k++)
			if (js_get_i64(js_get(js_at(to, k), "to"), "tid", 0) == tid &&
			    strcmp(js_get_text(js_at(to, k), "quality", ""), "proof") == 0)
				return true;
	}
	return false;
}

/* Beside how the ranks stand, which tells of main threads alone. */
static void waited_text(const struct textout *p, const struct js *stacks)
{
	size_t shown = 0;
	for (size_t i = 0; i < js_len(stacks) && shown < WAITED_SHOWN; i++) {
		if (!waited_for(stacks, js_at(stacks, i)))
			continue;
		if (shown++ == 0)
			textout_heading(p, "Other threads that are waited for");
		stack_text(p, js_at(stacks, i), 0);
	}
}

void report_stacks_text(const struct js *incident, enum report_style style, FILE *to)
{
	const struct textout p = {.to = to, .colour = style == REPORT_COLOUR, .width = textout_width(to)};
	const struct js *stacks = js_get(incident, "stacks");
	size_t shown = 0, n = js_len(stacks);
	if (js_get(incident, "hang")) {
		waited_text(&p, stacks);
		return;
	}
	if (n == 0)
		return;
	textout_heading(&p, "What it was doing (innermost frame first)");
	for (size_t i = 0; i < n && shown < STACKS_SHOWN; i++) {
		if (shown_before(stacks, i))
			continue;
		shown++;
		stack_text(&p, js_at(stacks, i), twins_of(stacks, i));
	}
	if (shown == STACKS_SHOWN)
		(void)fprintf(to, "  … all of them: vigil why --json\n");
}
