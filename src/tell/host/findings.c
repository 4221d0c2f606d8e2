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
		fprintf(to, "%zu more findings are not shown.\n", all->dropped);
}
