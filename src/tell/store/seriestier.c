#include "tell/store/seriestier.h"

#include <string.h>

#define HOUR_NS (3600 * NS_PER_S)

/* Up to which age a tier reaches, and how far apart its records are. */
static const struct {
	uint64_t age_ns, spacing_ns;
} tiers[SERIES_TIERS] = {
	{HOUR_NS, 0},
	{24 * HOUR_NS, 10 * NS_PER_S},
	{30 * 24 * HOUR_NS, 60 * NS_PER_S},
	{UINT64_MAX, HOUR_NS},
};
/* Upper limit of a distance that is doubled. */
#define DOUBLE_MAX (UINT64_C(1) << 60)

static size_t tier_of(uint64_t age_ns)
{
	size_t t = 0;
	while (t + 1 < SERIES_TIERS && age_ns > tiers[t].age_ns)
		t++;
	return t;
}

/* What is known of one kind while the marks are gone through. */
struct run {
	struct series_mark *first, *best, *last;
	size_t tier;
	uint64_t slot;
};

static void run_take(struct run *r, struct series_mark *m, size_t tier, uint64_t spacing_ns)
{
	uint64_t slot = spacing_ns ? m->mono_ns / spacing_ns : 0;
	bool same = r->best && spacing_ns > 0 && r->tier == tier && r->slot == slot;
	m->stays = true;
	if (same && m->weight < r->best->weight)
		m->stays = false;
	else if (same)
		r->best->stays = false;
	if (m->stays)
		r->best = m;
	r->first = r->first ? r->first : m;
	r->last = m;
	r->tier = tier;
	r->slot = slot;
}

/* One pass with these distances. */
static size_t marks_thin(struct series_mark *mark, size_t n, uint64_t newest_ns,
			 const uint64_t spacing_ns[SERIES_TIERS], size_t bytes[SERIES_TIERS])
{
	struct run run[SERIES_KINDS];
	size_t total = 0;
	memset(run, 0, sizeof(run));
	memset(bytes, 0, SERIES_TIERS * sizeof(*bytes));
	for (size_t i = 0; i < n; i++) {
		size_t tier = tier_of(sub_floor(newest_ns, mark[i].mono_ns));
		if (mark[i].kind > 0)
			run_take(&run[mark[i].kind % SERIES_KINDS], &mark[i], tier, spacing_ns[tier]);
	}
	for (size_t k = 0; k < SERIES_KINDS; k++)
		if (run[k].first)
			run[k].first->stays = run[k].last->stays = true;
	for (size_t i = 0; i < n; i++)
		if (mark[i].kind > 0 && mark[i].stays) {
			bytes[tier_of(sub_floor(newest_ns, mark[i].mono_ns))] += mark[i].bytes;
			total += mark[i].bytes;
		}
	return total;
}

/* False: no distance can be made larger. */
static bool widen(uint64_t spacing_ns[SERIES_TIERS], const size_t bytes[SERIES_TIERS])
{
	size_t most = SERIES_TIERS;
	for (size_t t = 0; t < SERIES_TIERS; t++)
		if (spacing_ns[t] < DOUBLE_MAX && bytes[t] > 0 && (most == SERIES_TIERS || bytes[t] > bytes[most]))
			most = t;
	if (most == SERIES_TIERS)
		return false;
	spacing_ns[most] = spacing_ns[most] ? 2 * spacing_ns[most] : NS_PER_S;
	for (size_t t = most + 1; t < SERIES_TIERS; t++)
		spacing_ns[t] = MAX(spacing_ns[t], spacing_ns[t - 1]);
	return true;
}

size_t seriestier_thin(struct series_mark *mark, size_t n, size_t room_bytes, uint64_t ret_spacing_ns[SERIES_TIERS])
{
	size_t bytes[SERIES_TIERS], total;
	uint64_t newest_ns = 0;
	for (size_t i = 0; i < n; i++)
		newest_ns = MAX(newest_ns, mark[i].kind > 0 ? mark[i].mono_ns : 0);
	for (size_t t = 0; t < SERIES_TIERS; t++)
		ret_spacing_ns[t] = tiers[t].spacing_ns;
	do
		total = marks_thin(mark, n, newest_ns, ret_spacing_ns, bytes);
	while (total > room_bytes && widen(ret_spacing_ns, bytes));
	return total;
}
