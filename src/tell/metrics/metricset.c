#include "tell/metrics/metricset.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "base/vec.h"

struct metric_family *metricset_family(struct metricset *s, enum metric_type type, const char *name, const char *unit,
				       const char *help)
{
	struct metric_family *f = &s->family[s->n < METRICSET_FAMILIES - 1 ? s->n++ : METRICSET_FAMILIES - 1];
	*f = (struct metric_family){.name = name, .unit = unit, .help = help, .type = type};
	return f;
}

struct metric_sample *metricset_add(struct metricset *s, struct metric_family *f, double value)
{
	struct metric_sample *m = &s->spare;
	if (vec_room(&f->sample, &f->cap, f->n + 1) < 0)
		s->failed = true;
	else
		m = &f->sample[f->n++];
	*m = (struct metric_sample){.value = value};
	return m;
}

/* A copy in which bytes that are no UTF-8 are '?'. */
static const char *text_kept(struct metricset *s, const char *value)
{
	size_t len = strlen(value), width;
	uint32_t code;
	char *copy = arena_text(&s->arena, value, len);
	for (size_t i = 0; copy && i < len; i += width) {
		width = utf8_char(copy + i, len - i, &code);
		if (width > 0 && !utf8_hidden(code))
			continue;
		if (width == 0 || code != '\n')
			memset(copy + i, '?', MAX(width, (size_t)1));
		width = MAX(width, (size_t)1);
	}
	return copy;
}

void metricset_label(struct metricset *s, struct metric_sample *m, const char *name, const char *value)
{
	const char *kept = text_kept(s, value);
	if (!kept || m->n_labels == METRICSET_LABELS)
		s->failed = true;
	else
		m->label[m->n_labels++] = (struct metric_label){name, kept};
}

void metricset_done(struct metricset *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->family[i].sample);
	arena_done(&s->arena);
}
