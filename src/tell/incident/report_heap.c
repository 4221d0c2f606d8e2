#include <string.h>

#include "base/buf.h"
#include "base/units.h"
#include "tell/text/textout.h"
#include "tell/incident/report.h"

/* "in the heaps of 3 of 4 processes at their peaks" */
static void whose_text(const struct js *heap, char dst[static 120])
{
	bool live = strcmp(js_get_text(heap, "what", ""), "live") == 0;
	int64_t n = js_get_i64(heap, "processes", 1), pid = js_get_i64(heap, "pid", 0);
	int64_t of = MAX(js_get_i64(heap, "ended_processes", n), n);
	char who[64] = "its heap", more[48] = "";
	if (of > n)
		text_format(more, sizeof(more), n == 1 ? " (one of %lld that were ended)" : " of %lld that were ended",
			    (long long)of);
	if (n > 1)
		text_format(who, sizeof(who), "the heaps of %lld processes", (long long)n);
	else if (pid > 0)
		text_format(who, sizeof(who), "the heap of process %lld", (long long)pid);
	text_format(dst, 120, "%s %s%s%s", live ? "that lived in" : "in", who, more,
		    live ? "" : n > 1 ? " at their peaks" : " at its peak");
}

/* Memory that was asked for and never touched is not counted. */
static void in_memory_text(const struct js *heap, const struct js *one, char dst[static 80])
{
	int64_t bytes = js_get_i64(one, "resident_bytes", -1), all = js_get_i64(one, "bytes", 0);
	char size[16];
	dst[0] = '\0';
	if (js_get_i64(heap, "resident_unix_ms", 0) > 0 && bytes >= 0 && bytes > all - all / 50)
		text_copy(dst, 80, "; all of it took up memory");
	else if (js_get_i64(heap, "resident_unix_ms", 0) > 0 && bytes >= 0)
		text_format(dst, 80, "; about %s of it took up memory", size_format((uint64_t)bytes, size));
}

void report_heap_text(const struct js *heap, enum report_style style, FILE *to)
{
	const struct textout paper = {.to = to, .colour = style == REPORT_COLOUR, .width = textout_width(to)};
	const struct textout *p = &paper;
	const struct js *top = js_get(heap, "top");
	char all[16], size[16], grown[16];
	uint64_t bytes = (uint64_t)MAX(js_get_i64(heap, "bytes", 0), (int64_t)0);
	char whose[120], memory[80];
	if (js_len(top) == 0)
		return;
	whose_text(heap, whose);
	textout_heading(p, "Who asked for its memory");
	for (size_t i = 0; i < js_len(top); i++) {
		const struct js *one = js_at(top, i);
		double growth = js_get_double(one, "growth_bytes_per_s", 0);
		uint64_t part = (uint64_t)MAX(js_get_i64(one, "bytes", 0), (int64_t)0);
		/* stacks below a hundredth of the total are left out */
		if (i > 0 && part < bytes / 100)
			continue;
		(void)fputs("  ", p->to);
		in_memory_text(heap, one, memory);
		if (i == 0)
			textout_text(p, 2, "%s of %s %s came from %s%s%s", size_format(part, size),
				     size_format(bytes, all), whose, js_get_text(one, "text", "?"),
				     growth > 0 ? ", and grew steadily" : "", memory);
		else
			textout_text(p, 2, "%s from %s%s%s", size_format(part, size), js_get_text(one, "text", "?"),
				     growth > 0 ? ", and grew steadily" : "", memory);
		if (growth > 0)
			(void)fprintf(p->to, "    by %s an hour\n", size_format((uint64_t)(growth * 3600), grown));
	}
	const char *file = js_get_text(heap, "file", "");
	if (file[0]) {
		(void)fputs("  ", p->to);
		textout_text(p, 2, "More: vigil heap %s", file);
	}
	const char *before = js_get_text(heap, "before", "");
	if (before[0]) {
		(void)fputs("  ", p->to);
		textout_text(p, 2, "As it was when memory got short: vigil heap %s --what live", before);
	}
}
