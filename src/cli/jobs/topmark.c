#include "cli/jobs/topmark.h"

static size_t topmark_find(const struct topmark *m, struct proc_id id)
{
	size_t i = 0;
	while (i < m->n && (m->of[i].pid != id.pid || m->of[i].start_ticks != id.start_ticks))
		i++;
	return i;
}

bool topmark_has(const struct topmark *m, struct proc_id id)
{
	return topmark_find(m, id) < m->n;
}

void topmark_set(struct topmark *m, struct proc_id id, bool on)
{
	const size_t i = topmark_find(m, id);
	if (on && i == m->n && m->n < ARRAY_SIZE(m->of))
		m->of[m->n++] = id;
	else if (!on && i < m->n)
		m->of[i] = m->of[--m->n];
}
