#include "tell/jobs/killpoint.h"

static void killpoint_rank_add(struct killpoint *k, int32_t rank, uint64_t own_bytes)
{
	uint32_t i = 0;
	while (i < k->n && k->of[i].rank != rank)
		i++;
	if (i == k->n)
		k->of[k->n++].rank = rank;
	k->of[i].own_bytes += own_bytes;
}

bool killpoint_of(const struct incident *in, struct killpoint *ret)
{
	const bool killed = in->kind == INCIDENT_MEMORY_KILL && in->action.valid && in->action.kill_us > 0;
	if (!killed || !in->victim.valid || !in->victim.has_memory || !in->memory.valid)
		return false;
	const uint64_t freed_us = MAX(in->action.dead_us, in->action.freed_us);
	*ret = (struct killpoint){
		.time_unix_ms = in->time_unix_ms,
		.freed_unix_ms = in->time_unix_ms + 1 + (int64_t)MIN(freed_us / 1000, UINT64_C(60000)),
		.attempt = in->attempt,
		.job_bytes = in->memory.scope == MEMORY_SCOPE_JOB ? in->memory.used_bytes : in->memory.job_bytes,
		.victim_rank = in->victim.rank,
		.victim_pid = in->victim.pid,
		.victim_bytes = in->victim.own_bytes,
	};
	for (size_t i = 0; i < MIN(in->n_candidates, (size_t)INCIDENT_CANDIDATES); i++)
		killpoint_rank_add(ret, in->candidates[i].rank, in->candidates[i].own_bytes);
	return true;
}

static void look_move(struct series_sample *s, int64_t unix_ms)
{
	const int64_t later_ms = MAX(unix_ms - s->time_unix_ms, INT64_C(0));
	s->time_unix_ms = unix_ms;
	s->mono_ns += (uint64_t)later_ms * NS_PER_MS;
}

static struct series_lane *lane_find(struct series_sample *s, int32_t rank)
{
	for (uint32_t i = 0; i < s->n_lanes; i++)
		if (s->lane[i].rank == rank)
			return &s->lane[i];
	return NULL;
}

/* A lane grows only: the guard lists the largest, and of a rank not always every process. */
static void lane_raise(struct series_sample *s, int32_t rank, uint64_t own_bytes)
{
	struct series_lane *l = lane_find(s, rank);
	if (!l && s->n_lanes < SERIES_LANES) {
		l = &s->lane[s->n_lanes++];
		*l = (struct series_lane){.rank = rank};
	}
	if (l && l->own_bytes < own_bytes) {
		l->rss_bytes += own_bytes - l->own_bytes;
		l->own_bytes = own_bytes;
	}
}

void killpoint_looks(const struct killpoint *k, const struct series_sample *last, struct series_sample *ret_at,
		     struct series_sample *ret_after)
{
	*ret_at = *last;
	look_move(ret_at, k->time_unix_ms);
	for (uint32_t i = 0; i < k->n; i++)
		lane_raise(ret_at, k->of[i].rank, k->of[i].own_bytes);
	lane_raise(ret_at, k->victim_rank, k->victim_bytes);
	ret_at->job_bytes = MAX(k->job_bytes, last->job_bytes);
	*ret_after = *ret_at;
	look_move(ret_after, k->freed_unix_ms);
	struct series_lane *l = lane_find(ret_after, k->victim_rank);
	if (l)
		l->own_bytes = sub_floor(l->own_bytes, k->victim_bytes);
	ret_after->job_bytes = sub_floor(ret_at->job_bytes, k->victim_bytes);
}

void killpoint_large(const struct killpoint *k, const struct series_bulk *last, struct series_bulk *ret_at,
		     struct series_bulk *ret_after)
{
	*ret_at = *last;
	*ret_after = (struct series_bulk){.n = 0};
	for (uint32_t i = 0; i < last->n; i++) {
		if (last->of[i].pid == k->victim_pid)
			ret_at->of[i].own_bytes = MAX(last->of[i].own_bytes, k->victim_bytes);
		else
			ret_after->of[ret_after->n++] = last->of[i];
	}
}
