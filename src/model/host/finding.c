#include "model/host/finding.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"

struct finding *finding_add(struct findings *all, const char *id, enum severity s, const char *fmt, ...)
{
	if (all->n == FINDINGS_MAX)
		all->dropped++;
	else
		all->n++;
	struct finding *f = &all->row[all->n - 1];
	*f = (struct finding){.severity = s};
	TEXT_COPY(f->id, id);
	va_list ap;
	va_start(ap, fmt);
	(void)vsnprintf(f->text, sizeof(f->text), fmt, ap);
	va_end(ap);
	return f;
}

void finding_evidence(struct finding *f, const char *fmt, ...)
{
	if (f->n_evidence == FINDING_EVIDENCE)
		return;
	va_list ap;
	va_start(ap, fmt);
	(void)vsnprintf(f->evidence[f->n_evidence++], sizeof(f->evidence[0]), fmt, ap);
	va_end(ap);
}

void finding_advice(struct finding *f, const char *fmt, ...)
{
	if (f->n_advice == FINDING_ADVICE)
		return;
	va_list ap;
	va_start(ap, fmt);
	(void)vsnprintf(f->advice[f->n_advice++], sizeof(f->advice[0]), fmt, ap);
	va_end(ap);
}

const char *severity_name(enum severity s)
{
	static const char *const names[] = {"note", "warning", "problem"};
	return names[MIN((size_t)s, ARRAY_SIZE(names) - 1)];
}

enum severity findings_worst(const struct findings *all)
{
	enum severity worst = SEVERITY_NOTE;
	for (size_t i = 0; i < all->n; i++)
		worst = MAX(worst, all->row[i].severity);
	return worst;
}

/* Insertion sort: there are few rows, and equal ones keep their order. */
static void sort_by(struct findings *all, bool (*before)(const struct finding *a, const struct finding *b))
{
	for (size_t i = 1; i < all->n; i++)
		for (size_t k = i; k > 0 && before(&all->row[k], &all->row[k - 1]); k--) {
			struct finding t = all->row[k];
			all->row[k] = all->row[k - 1];
			all->row[k - 1] = t;
		}
}

static bool is_worse(const struct finding *a, const struct finding *b)
{
	return a->severity > b->severity;
}

static bool is_dearer(const struct finding *a, const struct finding *b)
{
	return a->weight > b->weight;
}

void findings_sort(struct findings *all)
{
	sort_by(all, is_worse);
}

void findings_sort_cost(struct findings *all)
{
	sort_by(all, is_dearer);
}
