#include "judge/memory/warning.h"

#include "base/buf.h"
#include "base/units.h"

static const uint64_t hold_ns = 2 * NS_PER_S;
#define REARM_PART 20

uint64_t warning_threshold(const struct guard_settings *s, uint64_t total_bytes)
{
	uint64_t act = guard_threshold(s, total_bytes), warn = (uint64_t)((double)total_bytes * s->warn_ratio);
	if (s->warn_ratio <= 0 || s->threshold_ratio <= 0)
		return UINT64_MAX;
	return warn < act ? warn : act / 10 * 9;
}

bool warning_due(struct warning_state *w, const struct guard_settings *s, const struct ledger_level *v, uint64_t now_ns)
{
	uint64_t threshold = warning_threshold(s, v->total_bytes);
	if (v->used_bytes <= threshold) {
		w->since_ns = 0;
		w->told = w->told && v->used_bytes + v->total_bytes / REARM_PART > threshold;
		return false;
	}
	if (w->since_ns == 0)
		w->since_ns = now_ns;
	if (w->told || now_ns - w->since_ns < hold_ns)
		return false;
	w->told = true;
	return true;
}

static void say_when(const struct warning_facts *f, struct buf *b)
{
	char rate[16], over[24], soon[24], full[24];
	if (f->growth_over_ms == 0 || f->growth_bytes_per_s <= 0) {
		buf_add(b, "; it does not grow at present");
		return;
	}
	double per_s = (double)f->growth_bytes_per_s;
	double act_s = (double)sub_floor(f->threshold_bytes, f->used_bytes) / per_s;
	double full_s = (double)f->available_bytes / per_s;
	buf_printf(b, "; it has grown by %s/s over the last %s", size_format((uint64_t)f->growth_bytes_per_s, rate),
		   duration_format(MIN(f->growth_over_ms, UINT64_MAX / NS_PER_MS) * NS_PER_MS, over));
	if (full_s < 7 * 86400.0)
		buf_printf(b, ": at that rate the guard acts in %s, and it would be full in %s",
			   duration_format((uint64_t)(act_s * 1e9), soon),
			   duration_format((uint64_t)(full_s * 1e9), full));
}

void warning_text(const struct warning_facts *f, char *dst, size_t cap)
{
	struct buf b = {.text = dst, .cap = cap};
	char used[16], total[16], grown[16], over[24];
	const struct incident_grower *g = &f->grower;
	double all = (double)MAX(f->total_bytes, UINT64_C(1));
	buf_reset(&b);
	buf_printf(&b, "memory runs short: %s of %s in use (%.1f %%; the guard acts at %.1f %%) in %s",
		   size_format(f->used_bytes, used), size_format(f->total_bytes, total),
		   (double)f->used_bytes / all * 100, (double)f->threshold_bytes / all * 100, f->level);
	say_when(f, &b);
	if (!f->has_grower)
		return;
	buf_printf(&b, ". Who grows most: pid %d (%s%s%s)", (int)g->pid, g->name, g->role[0] ? ", " : "", g->role);
	if (g->rank != NO_RANK)
		buf_printf(&b, " of rank %d", g->rank);
	buf_printf(&b, ", by %s in %s", size_format(g->grown_bytes, grown),
		   duration_format(MIN(g->over_ms, UINT64_MAX / NS_PER_MS) * NS_PER_MS, over));
}
