#include "agent/heap/heapread_parts.h"

#include <math.h>

/* Shorter profiles show no leak: a leak needs time to show, and the clock is coarse. */
#define LEAK_SECONDS 10.0
/* The library renews the peak when the live bytes exceed it by this factor (docs/formats/heap.md). */
#define PEAK_STEP 1.05

static struct heap_amount amount_of(const struct heapregion_sum *s)
{
	return (struct heap_amount){.bytes = (double)s->bytes,
				    .objects = (double)s->objects,
				    .variance = s->variance,
				    .chance_bytes = s->chance_bytes,
				    .lean = s->lean,
				    .samples = s->samples};
}

/*
 * Splits each lifetime class of the writer into two. A writer that does not count the halves has all in the later one.
 */
static void lives_of(const struct heapregion_stack *s, struct heap_lives *l)
{
	double middle_byte_s = 0;
	for (size_t k = 0; k < HEAPSET_LIFETIMES; k++) {
		double late = (double)(s->freed_bytes[k] - s->freed_early_bytes[k]);
		l->freed_bytes[2 * k] += (double)s->freed_early_bytes[k];
		l->freed_bytes[2 * k + 1] += late;
		l->coarse |= !s->has_lived && late > 0;
		middle_byte_s += late * heap_life_from_s(2 * k + 1);
	}
	l->freed_byte_s = s->has_lived ? s->lived_byte_s : middle_byte_s;
}

static void figures_of(const struct heapregion_stack *s, struct heapset_figures *f)
{
	lives_of(s, &f->lives);
	double brief = 0;
	f->live = amount_of(&s->live);
	f->total = amount_of(&s->total);
	f->peak = amount_of(&s->peak);
	for (size_t k = 0; k < HEAPSET_LIFETIMES; k++) {
		f->lifetime_bytes[k] = (double)s->freed_bytes[k];
		brief += k < HEAPSET_SHORT ? (double)s->freed_bytes[k] : 0;
	}
	if (f->total.bytes > 0)
		f->temporary_share = MIN(brief / f->total.bytes, 1.0);
}

/* Adds live blocks by their age, and all that was held over time. */
static void lives_add(struct heapread_one *rd)
{
	for (size_t i = 0; i < rd->r.n_live; i++) {
		const struct heapregion_live *l = &rd->r.live[i];
		struct heap_lives *lives = &rd->rows[l->stack].f.lives;
		double age_s = (double)sub_floor(rd->end_mono_ns, l->born_mono_ns) / 1e9;
		lives->alive_bytes[heap_life_class(age_s)] += (double)l->weight;
		lives->alive_byte_s += (double)l->weight * age_s;
		lives->oldest_s = fmax(lives->oldest_s, age_s);
	}
	for (size_t i = 0; i < rd->r.n_stacks; i++) {
		struct heapset_figures *f = &rd->rows[i].f;
		f->held = (struct heap_amount){.bytes = f->lives.freed_byte_s + f->lives.alive_byte_s,
					       .objects = f->total.objects,
					       .variance = f->total.variance * heap_lives_mean_square(&f->lives),
					       .chance_bytes = -1,
					       .samples = f->total.samples};
	}
}

/* Adds live blocks by their time of birth, without the youngest tenth. */
static void ages_add(struct heapread_one *rd)
{
	const struct heap_header *h = &rd->r.header;
	double span_s = rd->seconds * 0.9;
	for (size_t i = 0; i < rd->r.n_live; i++) {
		const struct heapregion_live *l = &rd->r.live[i];
		struct heapread_row *row = &rd->rows[l->stack];
		double born_s = (double)sub_floor(l->born_mono_ns, h->begun_mono_ns) / 1e9;
		if (born_s > span_s)
			continue;
		row->f.old_bytes += (double)l->weight;
		size_t k = span_s > 0 ? (size_t)(born_s / span_s * HEAP_LEAK_POINTS) : 0;
		row->born[MIN(k, (size_t)HEAP_LEAK_POINTS - 1)] += (double)l->weight;
	}
}

static void leak_judge(const struct heapread_one *rd, struct heapread_row *row)
{
	struct heap_point points[HEAP_LEAK_POINTS];
	double sum = 0;
	if (rd->seconds < LEAK_SECONDS)
		return;
	for (size_t k = 0; k < HEAP_LEAK_POINTS; k++) {
		sum += row->born[k];
		points[k] = (struct heap_point){rd->seconds * 0.9 * (double)(k + 1) / HEAP_LEAK_POINTS, sum};
	}
	row->f.leak = heap_leak_of(points, HEAP_LEAK_POINTS);
}

/* Removes the live figures of a process that has ended: its memory is gone. */
static void live_drop(struct heapread_one *rd)
{
	const struct heap_amount none = {.bytes = 0};
	rd->p.live = none;
	for (size_t i = 0; i < rd->r.n_stacks; i++) {
		rd->rows[i].f.live = none;
		rd->rows[i].f.leak = (struct heap_leak){.valid = false};
		rd->rows[i].f.old_bytes = 0;
	}
}

/*
 * The stacks are of a moment near the peak. The live bytes of now can be above it; then they are nearer. An older
 * library does not know the peak itself, only that it renewed its stacks in steps.
 */
static void peak_fill(struct heapread_one *rd)
{
	const struct heap_header *h = &rd->r.header;
	rd->p.peak = amount_of(&rd->r.all_peak);
	double most = rd->p.peak.bytes * PEAK_STEP;
	if (rd->p.live.bytes > rd->p.peak.bytes) {
		for (size_t i = 0; i < rd->r.n_stacks; i++)
			rd->rows[i].f.peak = rd->rows[i].f.live;
		rd->p.peak = rd->p.live;
		rd->p.peak_at_s = (double)sub_floor(h->last_mono_ns, h->begun_mono_ns) / 1e9;
	}
	if (rd->r.highest.bytes == 0) {
		/* A process that never freed was never above its last value. */
		if (h->frees > 0)
			rd->p.peak.above_bytes = fmax(most - rd->p.peak.bytes, 0);
		return;
	}
	double stacks = rd->p.peak.bytes;
	if ((double)rd->r.highest.bytes <= stacks)
		return;
	rd->p.peak = amount_of(&rd->r.highest);
	rd->p.peak_at_s = (double)sub_floor(h->highest_mono_ns, h->begun_mono_ns) / 1e9;
	rd->p.peak_short_bytes = rd->p.peak.bytes - stacks;
}

int heapread_rows_make(struct heapread_one *rd)
{
	rd->rows = calloc(rd->r.n_stacks + 1, sizeof(*rd->rows));
	if (!rd->rows)
		return -ENOMEM;
	for (size_t i = 0; i < rd->r.n_stacks; i++) {
		rd->rows[i].stack = (uint32_t)i;
		figures_of(&rd->r.stacks[i], &rd->rows[i].f);
	}
	lives_add(rd);
	ages_add(rd);
	for (size_t i = 0; i < rd->r.n_stacks; i++)
		leak_judge(rd, &rd->rows[i]);
	rd->p.live = amount_of(&rd->r.all_live);
	rd->p.total = amount_of(&rd->r.all_total);
	peak_fill(rd);
	if (rd->earlier || (rd->h->any_runs && !rd->alive))
		live_drop(rd);
	return 0;
}
