#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/units.h"
#include "tell/text/textout.h"
#include "tell/incident/report.h"

static void group_text(const struct textout *p, const struct js *g)
{
	char head[400];
	struct buf b = BUF_ON(head);
	buf_reset(&b);
	const char *ranks = js_get_text(g, "ranks", ""), *activity = js_get_text(g, "activity", "");
	const struct js *frames = js_get(g, "frames");
	if (ranks[0])
		buf_printf(&b, "%s %s", js_get_i64(g, "count", 1) == 1 ? "rank" : "ranks", ranks);
	else
		buf_add(&b, "the main process");
	if (activity[0])
		buf_printf(&b, ": %s", activity);
	if (js_get_bool(g, "unchanged", false))
		buf_add(&b, " (the same each time it was looked at)");
	textout_ink(p, INK_BOLD);
	textout_line(p, 2, head, 300);
	textout_ink(p, INK_PLAIN);
	for (size_t i = 0; i < js_len(frames); i++)
		textout_line(p, 6, js_as_text(js_at(frames, i), "?"), 300);
}

void report_hang_text(const struct js *hang, enum report_style style, FILE *to)
{
	const struct textout p = {.to = to, .colour = style == REPORT_COLOUR, .width = textout_width(to)};
	const struct js *groups = js_get(hang, "groups");
	char lasted[24];
	if (!hang)
		return;
	if (js_len(groups) > 0)
		textout_heading(&p, "How the ranks stand (innermost frame first)");
	for (size_t i = 0; i < js_len(groups); i++)
		group_text(&p, js_at(groups, i));
	if (js_get_i64(hang, "groups_dropped", 0) > 0)
		(void)fprintf(to, "  … and %lld more groups\n", (long long)js_get_i64(hang, "groups_dropped", 0));
	if (js_len(groups) > 0)
		(void)fputs("  All threads of all processes are in the report as JSON.\n", to);
	int64_t ms = js_get_i64(hang, "standstill_ms", 0);
	if (ms > 0)
		textout_value(&p, "stood still for", "%s when this was found",
			      duration_format((uint64_t)ms * NS_PER_MS, lasted));
	if (js_get_bool(hang, "resolved", false)) {
		char when[24];
		textout_value(&p, "resolved", "it moves again since %s",
			      time_format(js_get_i64(hang, "resolved_unix_ms", 0), when));
	}
}
