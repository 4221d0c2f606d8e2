#include "model/memory/growth.h"

/* Points are this far apart at first, and at most this far when the table has been thinned out. */
#define STEP_FIRST_MS 250
#define STEP_LAST_MS 64000
/* A history that is shorter is used as a whole. */
#define SHORT_MS 4000
/* A process whose size moved by less than this part of its growth stood still. */
#define STILL_PART 16

static uint64_t point_bytes(const struct growth_point *p)
{
	return (uint64_t)p->kib * KIB;
}

/* Keeps every second point; once they are a minute apart, the oldest one goes instead. */
static void thin_out(struct growth *g)
{
	if (g->step_ms >= STEP_LAST_MS) {
		for (size_t i = 1; i < g->n; i++)
			g->point[i - 1] = g->point[i];
		g->n--;
		return;
	}
	size_t kept = 0;
	for (size_t i = 0; i < g->n; i += 2)
		g->point[kept++] = g->point[i];
	g->n = (uint32_t)kept;
	g->step_ms *= 2;
}

void growth_add(struct growth *g, uint64_t mono_ns, uint64_t bytes)
{
	if (g->n == 0) {
		g->first_ns = mono_ns;
		g->step_ms = STEP_FIRST_MS;
	}
	uint64_t at_ms = sub_floor(mono_ns, g->first_ns) / NS_PER_MS;
	if (at_ms > UINT32_MAX || (g->n > 0 && at_ms < (uint64_t)g->point[g->n - 1].at_ms + g->step_ms))
		return;
	if (g->n == GROWTH_POINTS)
		thin_out(g);
	g->point[g->n++] = (struct growth_point){(uint32_t)at_ms, (uint32_t)MIN(bytes / KIB, (uint64_t)UINT32_MAX)};
}

void growth_raise(struct growth *g, uint64_t from_ns, uint64_t to_ns, uint64_t bytes)
{
	double from_ms = (double)sub_floor(from_ns, g->first_ns) / (double)NS_PER_MS;
	double to_ms = (double)sub_floor(to_ns, g->first_ns) / (double)NS_PER_MS;
	for (size_t i = 0; i < g->n; i++) {
		struct growth_point *p = &g->point[i];
		double part = to_ms > from_ms ? ((double)p->at_ms - from_ms) / (to_ms - from_ms) : 1;
		uint64_t kib = (uint64_t)(MIN(MAX(part, 0.0), 1.0) * (double)bytes) / KIB;
		p->kib = (uint32_t)MIN((uint64_t)p->kib + kib, (uint64_t)UINT32_MAX);
	}
}

/* The first point of the later half of its time. */
static size_t half_of(const struct growth *g, uint64_t now_ms)
{
	uint64_t began_ms = g->point[0].at_ms;
	size_t i = 0;
	if (now_ms - began_ms < SHORT_MS)
		return 0;
	while (i + 1 < g->n && g->point[i + 1].at_ms - began_ms <= (now_ms - began_ms) / 2)
		i++;
	return i;
}

struct growth_said growth_say(const struct growth *g, uint64_t mono_ns, uint64_t bytes)
{
	struct growth_said s = {.over_ns = 0};
	uint64_t now_ms = sub_floor(mono_ns, g->first_ns) / NS_PER_MS;
	if (g->n == 0 || now_ms <= g->point[0].at_ms)
		return s;
	size_t i = half_of(g, now_ms);
	uint64_t base = point_bytes(&g->point[i]), still = base + sub_floor(bytes, base) / STILL_PART;
	while (bytes > base && i + 1 < g->n && g->point[i + 1].at_ms < now_ms && point_bytes(&g->point[i + 1]) <= still)
		i++;
	uint64_t over_ms = now_ms - MIN(now_ms, (uint64_t)g->point[i].at_ms);
	if (over_ms == 0)
		return s;
	s.grown_bytes = (int64_t)bytes - (int64_t)point_bytes(&g->point[i]);
	s.over_ns = over_ms * NS_PER_MS;
	s.bytes_per_s = (int64_t)((double)s.grown_bytes * 1000 / (double)over_ms);
	return s;
}
