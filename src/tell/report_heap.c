#include <string.h>

#include "base/units.h"
#include "tell/paper.h"
#include "tell/report.h"

void report_heap_text(const struct js *heap, enum report_style style, FILE *to)
{
	const struct paper paper = {.to = to, .colour = style == REPORT_COLOUR}, *p = &paper;
	const struct js *top = js_get(heap, "top");
	char all[16], size[16], grown[16];
	uint64_t bytes = (uint64_t)MAX(js_get_i64(heap, "bytes", 0), (int64_t)0);
	if (js_len(top) == 0)
		return;
	bool live = strcmp(js_get_text(heap, "what", ""), "live") == 0;
	paper_heading(p, "Who asked for its memory");
	for (size_t i = 0; i < js_len(top); i++) {
		const struct js *one = js_at(top, i);
		double growth = js_get_double(one, "growth_bytes_per_s", 0);
		uint64_t part = (uint64_t)MAX(js_get_i64(one, "bytes", 0), (int64_t)0);
		/* what is a hundredth of it helps nobody */
		if (i > 0 && part < bytes / 100)
			break;
		(void)fputs("  ", p->to);
		if (i == 0)
			paper_text(p, 2, "%s of %s %s came from %s%s", size_format(part, size), size_format(bytes, all),
				   live ? "that lived in its heap" : "in its heap at the peak",
				   js_get_text(one, "text", "?"), growth > 0 ? ", and grew steadily" : "");
		else
			paper_text(p, 2, "%s from %s%s", size_format(part, size), js_get_text(one, "text", "?"),
				   growth > 0 ? ", and grew steadily" : "");
		if (growth > 0)
			(void)fprintf(p->to, "    by %s an hour\n", size_format((uint64_t)(growth * 3600), grown));
	}
	const char *file = js_get_text(heap, "file", "");
	if (file[0]) {
		(void)fputs("  ", p->to);
		paper_text(p, 2, "More: vigil heap %s", file);
	}
}
