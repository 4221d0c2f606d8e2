#include "tell/host/findings.h"

#include "tell/text/textout.h"

struct js *findings_array_json(const struct findings *all)
{
	struct js *array = js_array();
	for (size_t i = 0; i < all->n; i++) {
		const struct finding *f = &all->row[i];
		struct js *j = js_object(), *evidence = js_array(), *advice = js_array();
		js_put_text(j, "id", f->id);
		js_put_text(j, "severity", severity_name(f->severity));
		js_put_text(j, "text", f->text);
		for (size_t k = 0; k < f->n_evidence; k++)
			js_add_text(evidence, f->evidence[k]);
		for (size_t k = 0; k < f->n_advice; k++)
			js_add_text(advice, f->advice[k]);
		js_put(j, "evidence", evidence);
		js_put(j, "advice", advice);
		if (f->cost_ratio > 0)
			js_put_double(j, "cost_ratio", f->cost_ratio);
		if (f->speedup > 0)
			js_put_double(j, "speedup", f->speedup);
		if (f->speedup_now > 0)
			js_put_double(j, "speedup_now", f->speedup_now);
		js_put_text_if(j, "confidence", f->confidence);
		js_add(array, j);
	}
	return array;
}

struct js *findings_json(const struct findings *all)
{
	struct js *j = js_object();
	js_put_text(j, "schema", "vigil.findings/1");
	js_put(j, "findings", findings_array_json(all));
	if (all->dropped)
		js_put_u64(j, "dropped", all->dropped);
	return j;
}

static void finding_speedup(const struct textout *p, const struct finding *f)
{
	if (f->speedup_now > 0 && f->speedup_now < 0.95 * f->speedup)
		textout_text(
			p, 18,
			"%.0f %% of the time; without it up to %.2f times as fast, and %.2f times beside the other "
			"programs that run now (confidence %s)",
			f->cost_ratio * 100, f->speedup, f->speedup_now, f->confidence);
	else
		textout_text(p, 18, "%.0f %% of the time; without it up to %.2f times as fast (confidence %s)",
			     f->cost_ratio * 100, f->speedup, f->confidence);
}

/* What it costs, and what its remedy brings. */
static void finding_gain(const struct textout *p, const struct finding *f)
{
	if (f->confidence[0] == '\0')
		return;
	fputs("           costs: ", p->to);
	if (f->speedup > 0)
		finding_speedup(p, f);
	else if (f->cost_ratio > 0)
		textout_text(p, 18, "%.0f %% of the time; what its end would bring is not known (confidence %s)",
			     f->cost_ratio * 100, f->confidence);
	else
		textout_text(p, 18, "not known (confidence %s)", f->confidence);
}

void findings_text(const struct findings *all, bool colour, FILE *to)
{
	static const enum textout_ink inks[] = {
		[SEVERITY_NOTE] = INK_DIM, [SEVERITY_WARNING] = INK_YELLOW, [SEVERITY_PROBLEM] = INK_RED};
	struct textout p = {.to = to, .colour = colour, .width = textout_width(to)};
	for (size_t i = 0; i < all->n; i++) {
		const struct finding *f = &all->row[i];
		textout_ink(&p, inks[MIN((size_t)f->severity, ARRAY_SIZE(inks) - 1)]);
		fprintf(to, "%-9s", severity_name(f->severity));
		textout_ink(&p, INK_PLAIN);
		textout_text(&p, 9, "%s [%s]", f->text, f->id);
		finding_gain(&p, f);
		for (size_t k = 0; k < f->n_evidence; k++) {
			fputs("           seen: ", to);
			textout_text(&p, 17, "%s", f->evidence[k]);
		}
		for (size_t k = 0; k < f->n_advice; k++) {
			fputs("           do:   ", to);
			textout_text(&p, 17, "%s", f->advice[k]);
		}
	}
	if (all->dropped)
		fprintf(to, "%zu more finding%s not shown.\n", all->dropped, all->dropped == 1 ? " is" : "s are");
}
