#include "tell/jobs/killpoint.h"

#include <string.h>

#include "base/json.h"
#include "tell/incident/report.h"

static void killpoint_rank_add(struct killpoint *k, int32_t rank, uint64_t own_bytes)
{
	uint32_t i = 0;
	while (i < k->n && k->of[i].rank != rank)
		i++;
	if (i == k->n)
		k->of[k->n++].rank = rank;
	k->of[i].own_bytes += own_bytes;
}

static bool by_guard(const struct incident *in)
{
	return in->kind == INCIDENT_MEMORY_KILL && in->action.valid && in->action.kill_us > 0 && in->memory.valid;
}

static bool by_kernel(const struct incident *in)
{
	return in->kind == INCIDENT_KERNEL_OOM || in->kind == INCIDENT_CGROUP_OOM;
}

/* The kernel's log has its time; the report that of the end, which was seen later. */
static int64_t kernel_unix_ms(const struct incident *in)
{
	for (size_t i = 0; i < MIN(in->n_evidence, (size_t)INCIDENT_EVIDENCE); i++) {
		const struct incident_evidence *e = &in->evidence[i];
		if (strcmp(e->kind, "kmsg") == 0 && e->time_unix_ms > 0 && e->time_unix_ms < in->time_unix_ms)
			return e->time_unix_ms;
	}
	return in->time_unix_ms;
}

bool killpoint_of(const struct incident *in, struct killpoint *ret)
{
	const bool guard = by_guard(in);
	if ((!guard && !by_kernel(in)) || !in->victim.valid || !in->victim.has_memory)
		return false;
	const uint64_t freed_us = guard ? MAX(in->action.dead_us, in->action.freed_us) : 0;
	*ret = (struct killpoint){
		.time_unix_ms = guard ? in->time_unix_ms : kernel_unix_ms(in),
		.attempt = in->attempt,
		.victim_rank = in->victim.rank,
		.victim_pid = in->victim.pid,
		.victim_bytes = in->victim.own_bytes,
	};
	ret->freed_unix_ms = ret->time_unix_ms + 1 + (int64_t)MIN(freed_us / 1000, UINT64_C(60000));
	if (!guard)
		return true;
	ret->job_bytes = in->memory.scope == MEMORY_SCOPE_JOB ? in->memory.used_bytes : in->memory.job_bytes;
	for (size_t i = 0; i < MIN(in->n_candidates, (size_t)INCIDENT_CANDIDATES); i++)
		killpoint_rank_add(ret, in->candidates[i].rank, in->candidates[i].own_bytes);
	return true;
}

static int killpoint_take(void *ctx, const char *id, const char *text)
{
	static struct incident in; /* large */
	struct killpoints *all = ctx;
	cleanup(js_freep) struct js *o = NULL;
	struct killpoint k;
	(void)id;
	if (js_parse(text, strlen(text), &o, NULL) < 0 || report_from_json(o, &in) < 0 || !killpoint_of(&in, &k))
		return 0; /* 'vigil why' reports the damage */
	if (all->n > 0 && k.time_unix_ms < all->of[all->n - 1].time_unix_ms)
		return 0; /* a clock that was set back */
	if (all->n < ARRAY_SIZE(all->of))
		all->of[all->n++] = k;
	return 0;
}

int killpoints_read(struct store *s, const char *job, struct killpoints *ret)
{
	ret->n = 0;
	return store_each_memory_kill(s, job, killpoint_take, ret);
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

/* A lane grows only: the guard lists the largest, and of a rank not always every process. Returns by how much. */
static uint64_t lane_raise(struct series_sample *s, int32_t rank, uint64_t own_bytes)
{
	struct series_lane *l = lane_find(s, rank);
	if (!l && s->n_lanes < SERIES_LANES) {
		l = &s->lane[s->n_lanes++];
		*l = (struct series_lane){.rank = rank};
	}
	if (!l || l->own_bytes >= own_bytes)
		return 0;
	const uint64_t more_bytes = own_bytes - l->own_bytes;
	l->rss_bytes += more_bytes;
	l->own_bytes = own_bytes;
	return more_bytes;
}

static const struct series_bulk_process *bulk_of(const struct series_bulk *b, pid_t pid)
{
	for (uint32_t i = 0; i < b->n; i++)
		if (b->of[i].pid == pid)
			return &b->of[i];
	return NULL;
}

/* What the victim's lane had with it: of one that was told apart, the others of its lane as they were. */
static uint64_t victim_lane_bytes(struct killwalk *w, const struct killpoint *k)
{
	const struct series_bulk_process *was = bulk_of(&w->bulk, k->victim_pid);
	const struct series_lane *l = lane_find(&w->at, k->victim_rank);
	if (k->n > 0 || !was || !l)
		return k->victim_bytes;
	return sub_floor(l->own_bytes, was->own_bytes) + MAX(k->victim_bytes, was->own_bytes);
}

static void looks_fill(struct killwalk *w, const struct killpoint *k)
{
	uint64_t more_bytes = 0;
	w->at = w->last;
	look_move(&w->at, k->time_unix_ms);
	for (uint32_t i = 0; i < k->n; i++)
		more_bytes += lane_raise(&w->at, k->of[i].rank, k->of[i].own_bytes);
	more_bytes += lane_raise(&w->at, k->victim_rank, victim_lane_bytes(w, k));
	if (k->job_bytes > 0)
		w->at.job_bytes = MAX(k->job_bytes, w->last.job_bytes);
	else if (w->last.job_bytes > 0)
		w->at.job_bytes = add_cap(w->last.job_bytes, more_bytes);
	w->after = w->at;
	look_move(&w->after, k->freed_unix_ms);
	struct series_lane *l = lane_find(&w->after, k->victim_rank);
	if (l)
		l->own_bytes = sub_floor(l->own_bytes, k->victim_bytes);
	w->after.job_bytes = sub_floor(w->at.job_bytes, k->victim_bytes);
}

static void large_fill(struct killwalk *w, const struct killpoint *k)
{
	const struct series_bulk *last = &w->bulk;
	w->bulk_at = *last;
	w->bulk_after = (struct series_bulk){.time_unix_ms = w->after.time_unix_ms,
					     .mono_ns = w->after.mono_ns,
					     .attempt = last->attempt};
	w->bulk_at.time_unix_ms = w->at.time_unix_ms;
	w->bulk_at.mono_ns = w->at.mono_ns;
	for (uint32_t i = 0; i < last->n; i++) {
		if (last->of[i].pid == k->victim_pid)
			w->bulk_at.of[i].own_bytes = MAX(last->of[i].own_bytes, k->victim_bytes);
		else
			w->bulk_after.of[w->bulk_after.n++] = last->of[i];
	}
}

bool killwalk_next(struct killwalk *w, int64_t until_unix_ms)
{
	while (w->next < w->kills->n && w->kills->of[w->next].time_unix_ms < until_unix_ms) {
		const struct killpoint *k = &w->kills->of[w->next++];
		if (w->last.n_lanes == 0 || k->attempt != w->last.attempt)
			continue;
		looks_fill(w, k);
		large_fill(w, k);
		w->has_after = k->freed_unix_ms < until_unix_ms;
		w->last = w->after;
		w->bulk = w->bulk_after;
		return true;
	}
	return false;
}

void killwalk_record(struct killwalk *w, const struct series_record *record)
{
	if (record->kind == SERIES_BULK)
		w->bulk = record->bulk;
	if (record->kind != SERIES_SAMPLE)
		return;
	w->last = record->sample;
	w->bulk.n = 0;
}
