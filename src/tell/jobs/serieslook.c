#include "tell/jobs/serieslook.h"

const struct series_lane *serieslook_lane(const struct series_sample *s, uint32_t place, int32_t rank)
{
	return place < s->n_lanes && s->lane[place].rank == rank ? &s->lane[place] : NULL;
}

void serieslook_keep_peaks(const struct series_sample *before, struct series_sample *s)
{
	s->node_used_bytes = MAX(s->node_used_bytes, before->node_used_bytes);
	s->job_bytes = MAX(s->job_bytes, before->job_bytes);
	for (uint32_t i = 0; i < s->n_lanes; i++) {
		const struct series_lane *was = serieslook_lane(before, i, s->lane[i].rank);
		if (!was || was->own_bytes <= s->lane[i].own_bytes)
			continue;
		s->lane[i].own_bytes = was->own_bytes;
		s->lane[i].rss_bytes = was->rss_bytes;
	}
}

void serieslook_keep_large_peaks(const struct series_bulk *before, struct series_bulk *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		for (uint32_t k = 0; k < before->n; k++)
			if (before->of[k].pid == s->of[i].pid && before->of[k].start_ticks == s->of[i].start_ticks)
				s->of[i].own_bytes = MAX(before->of[k].own_bytes, s->of[i].own_bytes);
}

bool serieslook_at_start(const struct job *j, const struct series_sample *first, struct series_sample *ret)
{
	uint64_t gap_ns = (uint64_t)MAX(first->time_unix_ms - j->started_unix_ms, INT64_C(0)) * NS_PER_MS;
	if (j->adopted || first->attempt > 0 || gap_ns == 0 || gap_ns > MIN(first->mono_ns, 10 * NS_PER_S))
		return false;
	*ret = (struct series_sample){.time_unix_ms = j->started_unix_ms, .mono_ns = first->mono_ns - gap_ns};
	return true;
}
