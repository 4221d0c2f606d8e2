#include <math.h>

#include "base/buf.h"
#include "base/units.h"
#include "tell/incident/page_parts.h"

/* The picture's own units; it is stretched to the width of the page. */
#define WIDTH 800.0
#define HEIGHT 240.0

struct picture {
	const struct js *samples;
	size_t n;
	int64_t from_ms, to_ms;
	double top_bytes; /* at the upper edge */
	uint64_t limit_bytes;
	uint64_t peak_bytes; /* of the job's memory */
	uint64_t own_peak_bytes; /* of the sum; more than the job's where forks share pages */
	const char *limit_what;
	bool limit_drawn;
	FILE *to;
};

static uint64_t bytes_of(const struct js *o, const char *key)
{
	return (uint64_t)MAX(js_get_i64(o, key, 0), (int64_t)0);
}

/* Of the group if it has one, shared memory once; else the sum of what its processes own. */
static uint64_t used_bytes(const struct js *sample)
{
	return js_get(sample, "job_bytes") ? bytes_of(sample, "job_bytes") : bytes_of(sample, "own_bytes");
}

static double across(const struct picture *p, int64_t time_ms)
{
	double span_ms = (double)MAX(p->to_ms - p->from_ms, (int64_t)1);
	return fmin(fmax((double)(time_ms - p->from_ms) / span_ms, 0), 1) * WIDTH;
}

static double down(const struct picture *p, uint64_t bytes)
{
	return HEIGHT - fmin((double)bytes / p->top_bytes, 1) * HEIGHT;
}

/* The job's own limit counts; else the machine's memory, which is drawn only where the job comes near it. */
static void limit_find(struct picture *p, const struct js *memory)
{
	p->limit_bytes = bytes_of(memory, "limit_bytes");
	p->limit_what = js_get_text(memory, "limit", "limit");
	p->limit_drawn = p->limit_bytes > 0 && p->peak_bytes >= p->limit_bytes / 20;
	uint64_t highest = MAX(MAX(p->peak_bytes, p->own_peak_bytes), p->limit_drawn ? p->limit_bytes : 0);
	p->top_bytes = fmax((double)highest * 1.1, 1);
}

static void line_put(const struct picture *p, const char *class, bool own)
{
	fprintf(p->to, "<polyline class=\"%s\" points=\"", class);
	for (size_t i = 0; i < p->n; i++) {
		const struct js *s = js_at(p->samples, i);
		fprintf(p->to, "%s%.1f,%.1f", i ? " " : "", across(p, js_get_i64(s, "time_unix_ms", 0)),
			down(p, own ? bytes_of(s, "own_bytes") : used_bytes(s)));
	}
	fputs("\"/>\n", p->to);
}

static void area_put(const struct picture *p)
{
	fputs("<polygon class=\"area\" points=\"", p->to);
	for (size_t i = 0; i < p->n; i++) {
		const struct js *s = js_at(p->samples, i);
		fprintf(p->to, "%.1f,%.1f ", across(p, js_get_i64(s, "time_unix_ms", 0)), down(p, used_bytes(s)));
	}
	fprintf(p->to, "%.1f,%.1f %.1f,%.1f\"/>\n", across(p, p->to_ms), HEIGHT, across(p, p->from_ms), HEIGHT);
}

static void marks_put(const struct picture *p, const struct js *incidents)
{
	for (size_t i = 0; i < js_len(incidents); i++) {
		int64_t time_ms = js_get_i64(js_at(incidents, i), "time_unix_ms", 0);
		if (time_ms < p->from_ms || time_ms > p->to_ms)
			continue;
		double x = across(p, time_ms);
		fprintf(p->to, "<line class=\"mark\" x1=\"%.1f\" x2=\"%.1f\" y1=\"0\" y2=\"%.1f\"/>\n", x, x, HEIGHT);
	}
}

static void words_put(const struct picture *p)
{
	char peak[16], limit[16], from[24], to[24], top[16];
	fputs("<figcaption>", p->to);
	fprintf(p->to, "Solid line and area: the job's memory, at most %s in the samples kept. Thin line: the sum of "
		       "what its processes own. ",
		size_format(p->peak_bytes, peak));
	if (p->own_peak_bytes > p->peak_bytes + p->peak_bytes / 20)
		fputs("It is higher where processes share pages since a fork, which count in each. ", p->to);
	if (p->limit_bytes > 0) {
		fputs(p->limit_drawn ? "Dashed line: " : "Not drawn, far above: ", p->to);
		page_text(p->limit_what, p->to);
		fprintf(p->to, ", %s. ", size_format(p->limit_bytes, limit));
	} else {
		fputs("No limit is known. ", p->to);
	}
	fprintf(p->to, "Upright dashes: incidents. Lower edge: 0, upper edge: %s. From %s to %s.</figcaption>\n",
		size_format((uint64_t)p->top_bytes, top), time_format(p->from_ms, from), time_format(p->to_ms, to));
}

static void drawing_put(const struct picture *p, const struct js *incidents)
{
	char peak[16], limit[16];
	fprintf(p->to,
		"<svg viewBox=\"0 0 %.0f %.0f\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"Memory of the "
		"job over its life: at most %s",
		WIDTH, HEIGHT, size_format(p->peak_bytes, peak));
	if (p->limit_bytes > 0)
		fprintf(p->to, "; limit %s", size_format(p->limit_bytes, limit));
	fputs("\">\n", p->to);
	area_put(p);
	line_put(p, "used", false);
	line_put(p, "own", true);
	if (p->limit_drawn)
		fprintf(p->to, "<line class=\"limit\" x1=\"0\" x2=\"%.0f\" y1=\"%.1f\" y2=\"%.1f\"/>\n", WIDTH,
			down(p, p->limit_bytes), down(p, p->limit_bytes));
	marks_put(p, incidents);
	fputs("</svg>\n", p->to);
}

void page_picture(const struct js *report, FILE *to)
{
	const struct js *memory = js_get(report, "memory");
	struct picture p = {.samples = js_get(memory, "samples"), .to = to};
	p.n = js_len(p.samples);
	fputs("<section aria-labelledby=\"memory\"><h2 id=\"memory\">Memory over the job's life</h2>\n", to);
	if (p.n < 2) {
		fputs("<p>Fewer than two samples of its memory were kept: there is no picture.</p></section>\n", to);
		return;
	}
	p.from_ms = js_get_i64(js_at(p.samples, 0), "time_unix_ms", 0);
	p.to_ms = js_get_i64(js_at(p.samples, p.n - 1), "time_unix_ms", 0);
	for (size_t i = 0; i < p.n; i++) {
		p.peak_bytes = MAX(p.peak_bytes, used_bytes(js_at(p.samples, i)));
		p.own_peak_bytes = MAX(p.own_peak_bytes, bytes_of(js_at(p.samples, i), "own_bytes"));
	}
	limit_find(&p, memory);
	fputs("<figure>\n", to);
	drawing_put(&p, js_get(report, "incidents"));
	words_put(&p);
	fputs("</figure></section>\n", to);
}
