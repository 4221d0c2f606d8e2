#include "tell/memory/protection_show.h"

#include "base/units.h"
#include "tell/host/findings.h"
#include "tell/text/textout.h"

struct js *protection_json(const struct protection_show *s)
{
	struct js *j = js_object(), *processes = js_array(), *values = js_array();
	js_put_text(j, "schema", "vigil.protection/1");
	js_put_text(j, "subject", s->subject);
	js_put_text(j, "level", s->level);
	js_put_bool(j, "dry_run", s->dry_run);
	js_put_i64(j, "wanted_oom_score_adj", s->wanted_adj);
	js_put_text_if(j, "group", s->group);
	js_put_text_if(j, "missing", s->missing);
	for (size_t i = 0; i < s->n_processes; i++) {
		struct js *p = js_object();
		js_put_i64(p, "pid", s->process[i].pid);
		js_put_i64(p, "before", s->process[i].before);
		js_put_i64(p, "after", s->process[i].after);
		js_put_text(p, "result", s->process[i].result);
		js_add(processes, p);
	}
	js_put(j, "processes", processes);
	for (size_t i = 0; i < s->n_values; i++) {
		const struct protection_show_value *v = &s->value[i];
		struct js *p = js_object();
		js_put_text(p, "name", v->name);
		js_put_text(p, "how", v->how);
		js_put_bool(p, "done", v->done);
		if (v->done) {
			js_put_u64(p, "before", v->before);
			js_put_u64(p, "after", v->after);
		}
		js_put_text_if(p, "why_not", v->why_not);
		js_add(values, p);
	}
	js_put(j, "group_values", values);
	js_put(j, "threats", findings_array_json(s->threats));
	return j;
}

static void value_text(const struct textout *p, const struct protection_show_value *v, bool dry_run)
{
	char before[16], after[16];
	if (!v->done)
		textout_value(p, v->name, "left alone: %s", v->why_not);
	else if (v->bytes)
		textout_value(p, v->name, "%s %s (was %s)", dry_run ? "would be" : "now", size_format(v->after, after),
			      size_format(v->before, before));
	else
		textout_value(p, v->name, "%s by %s%s", dry_run ? "would be set" : "set", v->how,
			      v->before ? " (was set before)" : "");
}

#define SHOWN 12

void protection_text(const struct protection_show *s, bool colour, FILE *to)
{
	struct textout p = {.to = to, .colour = colour, .width = textout_width(to)};
	textout_text(&p, 0, "%s: %s, level %s", s->dry_run ? "what protecting would do" : "protection", s->subject,
		     s->level);
	fputc('\n', to);
	textout_value(&p, "oom_score_adj", "%s %d for %zu of %zu process%s%s", s->dry_run ? "would be" : "at or below",
		      s->wanted_adj, s->n_done, s->n_processes, s->n_processes == 1 ? "" : "es",
		      s->n_raised ? "; helpers were raised instead" : "");
	for (size_t i = 0; i < s->n_processes && i < SHOWN; i++) {
		const struct protection_show_process *one = &s->process[i];
		char label[24];
		snprintf(label, sizeof(label), "  %d", one->pid);
		textout_value(&p, label, "%d, was %d: %s", one->after, one->before, one->result);
	}
	if (s->n_processes > SHOWN)
		fprintf(to, "    %zu more process%s; --json lists all\n", s->n_processes - SHOWN,
			s->n_processes - SHOWN == 1 ? "" : "es");
	for (size_t i = 0; i < s->n_values; i++)
		value_text(&p, &s->value[i], s->dry_run);
	if (s->missing[0]) {
		textout_heading(&p, "missing privilege");
		textout_text(&p, 0, "%s", s->missing);
	}
	if (s->notes_lost)
		fprintf(to, "%zu old values could not be stored; --restore will not find them.\n", s->notes_lost);
	textout_heading(&p, "what can still end it");
	findings_text(s->threats, colour, to);
}
