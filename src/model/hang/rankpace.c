#include "model/hang/rankpace.h"

#include <math.h>
#include <string.h>

#include "base/buf.h"

/* Bytes in the output buffers of Python and libc when output goes to a file or pipe. */
#define OUTPUT_BUFFER 8192u

static struct rankpace_rank *rank_at(struct rankpace *p, int32_t rank)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->of[i].rank == rank)
			return &p->of[i];
	if (rank == NO_RANK || p->n == RANKPACE_RANKS) {
		p->n_dropped++;
		return NULL;
	}
	p->of[p->n] = (struct rankpace_rank){.rank = rank};
	return &p->of[p->n++];
}

static bool epoch_valid(double epoch)
{
	return isfinite(epoch) && epoch >= 0 && epoch < 1e9;
}

void rankpace_line(struct rankpace *p, const struct progress_line *l, int32_t stream_rank, size_t bytes)
{
	struct rankpace_rank *r = rank_at(p, l->rank != NO_RANK ? l->rank : stream_rank);
	if (!r)
		return;
	bool new_epoch = l->has_epoch && epoch_valid(l->epoch) && r->has_epoch && l->epoch > r->epoch;
	if (new_epoch && r->has_step)
		r->longest = MAX(r->longest, r->step);
	if (l->has_epoch && epoch_valid(l->epoch)) {
		r->has_epoch = true;
		r->epoch = l->epoch;
	}
	if (l->has_step) {
		if (r->has_step && !new_epoch && l->step > r->step)
			r->stride = r->stride ? MIN(r->stride, l->step - r->step) : l->step - r->step;
		r->has_step = true;
		r->step = l->step;
	}
	if (l->has_total)
		r->total = l->total;
	r->line_bytes = (uint32_t)MIN(bytes, (size_t)65536);
	r->at_once = l->form == PROGRESS_TQDM || l->form == PROGRESS_LIGHTNING || l->form == PROGRESS_KERAS;
	r->n_lines++;
}

void rankpace_ended(struct rankpace *p, int32_t rank, int32_t exit_code)
{
	struct rankpace_rank *r = rank_at(p, rank);
	if (r) {
		r->ended = true;
		r->exit_code = exit_code;
	}
}

bool rankpace_steps(const struct rankpace *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->of[i].stride > 0 || p->of[i].longest > 0)
			return true;
	return false;
}

void rankpace_there(struct rankpace *p, int32_t rank)
{
	struct rankpace_rank *r = rank_at(p, rank);
	if (r)
		r->ended = false;
}

void rankpace_revive(struct rankpace *p)
{
	for (size_t i = 0; i < p->n; i++)
		p->of[i].ended = false;
}

/* ---- comparing ---- */

static void listed(struct rankpace_finding *f, int32_t rank)
{
	if (f->n_ranks < RANKPACE_LISTED)
		f->ranks[f->n_ranks++] = rank;
}

static bool living(const struct rankpace_rank *r)
{
	return !r->ended && r->n_lines > 0;
}

static bool ended_early(const struct rankpace *p, struct rankpace_finding *f)
{
	size_t ended_ok = 0, here = 0;
	for (size_t i = 0; i < p->n; i++) {
		ended_ok += p->of[i].ended && p->of[i].exit_code == 0;
		here += !p->of[i].ended;
		if (p->of[i].ended && p->of[i].exit_code != 0)
			return false; /* the failure explains the difference */
	}
	if (ended_ok == 0 || here == 0)
		return false;
	f->kind = RANKPACE_ENDED_EARLY;
	f->spread = ended_ok;
	struct buf b = BUF_ON(f->text);
	buf_reset(&b);
	buf_add(&b, "ended with 0:");
	for (size_t i = 0; i < p->n; i++)
		if (p->of[i].ended)
			buf_printf(&b, " %d", p->of[i].rank);
	buf_add(&b, "; not ended:");
	for (size_t i = 0; i < p->n; i++)
		if (!p->of[i].ended)
			buf_printf(&b, " %d", p->of[i].rank);
	for (size_t i = 0; i < p->n; i++)
		if (p->of[i].ended == (ended_ok <= here))
			listed(f, p->of[i].rank);
	return true;
}

/* The highest known number of steps of an epoch. */
static uint64_t epoch_steps(const struct rankpace *p)
{
	uint64_t steps = 0;
	for (size_t i = 0; i < p->n; i++)
		steps = MAX(steps, MAX(p->of[i].total, MAX(p->of[i].longest, p->of[i].step)));
	return steps;
}

/*
 * Steps by which ranks may differ and still count as even. Ranks print at different times, and a hang may leave lines
 * in an unwritten buffer; the tolerance is two lines, or as many as a buffer holds.
 */
static uint64_t tolerance(const struct rankpace *p)
{
	uint64_t most = 2;
	for (size_t i = 0; i < p->n; i++) {
		const struct rankpace_rank *r = &p->of[i];
		if (!living(r))
			continue;
		uint64_t lines = r->at_once ? 2 : MAX(2, OUTPUT_BUFFER / MAX(r->line_bytes, 1u));
		most = MAX(most, lines * MAX(r->stride, (uint64_t)1));
	}
	return most;
}

/* Steps from a to b, counted over whole epochs; a is behind. */
static double apart(const struct rankpace_rank *a, const struct rankpace_rank *b, uint64_t steps)
{
	double epochs = floor(b->epoch) - floor(a->epoch);
	return epochs * (double)steps + (double)b->step - (double)a->step;
}

static void groups_text(const struct rankpace *p, double low, bool by_epoch, struct rankpace_finding *f)
{
	struct buf b = BUF_ON(f->text);
	size_t behind = 0, n = 0;
	buf_reset(&b);
	for (size_t i = 0; i < p->n; i++) {
		const struct rankpace_rank *r = &p->of[i];
		if (!living(r))
			continue;
		n++;
		behind += (by_epoch ? floor(r->epoch) : (double)r->step) <= low;
		buf_printf(&b, "%srank %d:", n > 1 ? ", " : "", r->rank);
		if (r->has_epoch)
			buf_printf(&b, " epoch %.0f", floor(r->epoch));
		if (r->has_step)
			buf_printf(&b, " step %llu", (unsigned long long)r->step);
	}
	for (size_t i = 0; i < p->n; i++) {
		const struct rankpace_rank *r = &p->of[i];
		if (living(r) && ((by_epoch ? floor(r->epoch) : (double)r->step) <= low) == (behind * 2 <= n))
			listed(f, r->rank);
	}
}

static bool epochs_differ(const struct rankpace *p, struct rankpace_finding *f)
{
	const struct rankpace_rank *first = NULL, *last = NULL;
	size_t n = 0;
	bool steps_known = true;
	for (size_t i = 0; i < p->n; i++) {
		const struct rankpace_rank *r = &p->of[i];
		if (!living(r) || !r->has_epoch)
			continue;
		n++;
		steps_known &= r->has_step;
		if (!first || floor(r->epoch) < floor(first->epoch) ||
		    (floor(r->epoch) <= floor(first->epoch) && r->step > first->step))
			first = r; /* in the lowest epoch, the rank nearest to the others */
		if (!last || floor(r->epoch) > floor(last->epoch) ||
		    (floor(r->epoch) >= floor(last->epoch) && r->step < last->step))
			last = r;
	}
	if (n < 2 || floor(last->epoch) <= floor(first->epoch))
		return false;
	uint64_t steps = epoch_steps(p);
	/* ranks just before and just after the end of an epoch are even */
	if (steps_known && apart(first, last, steps) <= (double)tolerance(p))
		return false;
	/* without steps, adjacent epochs may be a moment apart */
	if (!steps_known && floor(last->epoch) - floor(first->epoch) < 2)
		return false;
	f->kind = RANKPACE_EPOCHS;
	f->spread = (uint64_t)(floor(last->epoch) - floor(first->epoch));
	groups_text(p, floor(first->epoch), true, f);
	return true;
}

static bool steps_differ(const struct rankpace *p, struct rankpace_finding *f)
{
	uint64_t low = UINT64_MAX, high = 0;
	size_t n = 0;
	for (size_t i = 0; i < p->n; i++) {
		const struct rankpace_rank *r = &p->of[i];
		if (!living(r))
			continue;
		if (!r->has_step)
			return false;
		n++;
		low = MIN(low, r->step);
		high = MAX(high, r->step);
	}
	if (n < 2 || high - low <= tolerance(p))
		return false;
	f->kind = RANKPACE_STEPS;
	f->spread = high - low;
	groups_text(p, (double)low, false, f);
	return true;
}

static bool one_epoch(const struct rankpace *p)
{
	double epoch = 0;
	bool any = false, have = false;
	for (size_t i = 0; i < p->n; i++) {
		const struct rankpace_rank *r = &p->of[i];
		if (!living(r))
			continue;
		if (any && r->has_epoch != have)
			return false;
		if (any && have && floor(r->epoch) != floor(epoch))
			return false;
		any = true;
		have = r->has_epoch;
		epoch = r->epoch;
	}
	return any;
}

void rankpace_compare(const struct rankpace *p, struct rankpace_finding *ret)
{
	struct rankpace_finding f = {.kind = RANKPACE_EVEN};
	if (!ended_early(p, &f) && !epochs_differ(p, &f) && one_epoch(p))
		ignore(steps_differ(p, &f), "even");
	*ret = f;
}

void rankpace_line_format(const struct rankpace_finding *f, char *dst, size_t cap)
{
	static const char *const names[] = {
		[RANKPACE_EPOCHS] = "epoch_spread",
		[RANKPACE_STEPS] = "step_spread",
		[RANKPACE_ENDED_EARLY] = "ranks_ended_early",
	};
	struct buf b = {.text = dst, .cap = cap};
	buf_reset(&b);
	if (f->kind == RANKPACE_EVEN)
		return;
	buf_printf(&b, "%s %llu ranks=", names[f->kind], (unsigned long long)f->spread);
	for (size_t i = 0; i < f->n_ranks; i++)
		buf_printf(&b, "%s%d", i ? "," : "", f->ranks[i]);
	buf_printf(&b, ": %s", f->text);
}
