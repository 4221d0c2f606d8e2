#include "tell/jobs/live.h"

#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/buf.h"
#include "base/vec.h"
#include "tell/jobs/health_json.h"
#include "tell/jobs/job_json.h"

void live_done(struct live_state *s)
{
	free(s->process);
	s->process = NULL;
	s->n = s->cap = 0;
}

/* The place of the first process with this pid or a higher one. */
static size_t live_place_of(const struct live_state *s, pid_t pid)
{
	return bisect(s->n, mid, s->process[mid].pid < pid);
}

static const struct live_process *at_pid(const struct live_state *s, pid_t pid)
{
	size_t i = live_place_of(s, pid);
	return i < s->n && s->process[i].pid == pid ? &s->process[i] : NULL;
}

const struct live_process *live_find(const struct live_state *s, pid_t pid, uint64_t start_ticks)
{
	const struct live_process *p = at_pid(s, pid);
	return p && p->start_ticks == start_ticks ? p : NULL;
}

int live_add(struct live_state *s, const struct live_process *p)
{
	if (s->n == LIVE_PROCESSES)
		return 0;
	int r = vec_room(&s->process, &s->cap, s->n + 1);
	if (r == 0)
		s->process[s->n++] = *p;
	return r;
}

/* ---- told ---- */

static struct js *live_process_json(const struct live_process *p)
{
	const char state[2] = {p->state, '\0'};
	struct js *o = js_object();
	js_put_i64(o, "pid", p->pid);
	js_put_i64(o, "ppid", p->ppid);
	js_put_u64(o, "start_ticks", p->start_ticks);
	if (p->rank != NO_RANK)
		js_put_i64(o, "rank", p->rank);
	js_put_u64(o, "attempt", p->attempt);
	js_put_text_if(o, "state", state);
	js_put_text_if(o, "role", p->role);
	js_put_text_if(o, "name", p->name);
	js_put_u64(o, "own_bytes", p->own_bytes);
	js_put_u64(o, "rss_bytes", p->rss_bytes);
	js_put_u64(o, "peak_own_bytes", p->peak_own_bytes);
	js_put_u64(o, "cpu_ns", p->cpu_ns);
	js_put_i64(o, "started_unix_ms", p->started_unix_ms);
	return o;
}

static struct js *live_memory_json(const struct live_memory *m)
{
	struct js *o = js_object();
	js_put_u64(o, "used_bytes", m->used_bytes);
	js_put_u64(o, "total_bytes", m->total_bytes);
	js_put_u64(o, "node_used_bytes", m->node_used_bytes);
	js_put_u64(o, "node_total_bytes", m->node_total_bytes);
	js_put_u64(o, "job_bytes", m->job_bytes);
	js_put_u64(o, "job_peak_bytes", m->job_peak_bytes);
	js_put_text_if(o, "guard", m->guard);
	return o;
}

static struct js *live_steps_json(const struct job_steps *s)
{
	struct js *o = js_object();
	js_put_u64(o, "attempt", s->attempt);
	js_put_i64(o, "time_unix_ms", s->time_unix_ms);
	js_put(o, "ranks", job_steps_json(s));
	return o;
}

static void live_processes_put(struct js *o, const struct live_state *was, const struct live_state *now)
{
	struct js *rows = js_array(), *gone = js_array();
	for (size_t i = 0; i < now->n; i++) {
		const struct live_process *before = was ? at_pid(was, now->process[i].pid) : NULL;
		if (!before || memcmp(before, &now->process[i], sizeof(*before)) != 0)
			js_add(rows, live_process_json(&now->process[i]));
	}
	for (size_t i = 0; was && i < was->n; i++)
		if (!at_pid(now, was->process[i].pid))
			js_add_i64(gone, was->process[i].pid);
	if (!was || js_len(rows) > 0)
		js_put(o, "processes", rows);
	else
		js_free(rows);
	if (js_len(gone) > 0)
		js_put(o, "gone", gone);
	else
		js_free(gone);
}

struct js *live_json(const struct live_state *was, const struct live_state *now)
{
	struct js *o = js_object();
	js_put_text(o, "schema", "vigil.live/1");
	js_put_text(o, "kind", was ? "news" : "whole");
	js_put_u64(o, "seq", now->seq);
	js_put_i64(o, "time_unix_ms", now->time_unix_ms);
	if (now->sampled_unix_ms > 0)
		js_put_i64(o, "sampled_unix_ms", now->sampled_unix_ms);
	if (!was || strcmp(was->phase, now->phase) != 0)
		js_put_text(o, "phase", now->phase);
	if (!was || memcmp(&was->job, &now->job, sizeof(now->job)) != 0)
		js_put(o, "job", job_json(&now->job));
	if (!was || memcmp(&was->memory, &now->memory, sizeof(now->memory)) != 0)
		js_put(o, "memory", live_memory_json(&now->memory));
	if (!was || memcmp(&was->steps, &now->steps, sizeof(now->steps)) != 0)
		js_put(o, "steps", live_steps_json(&now->steps));
	if (!was || memcmp(&was->health, &now->health, sizeof(now->health)) != 0)
		js_put(o, "health", health_json(&now->health));
	live_processes_put(o, was, now);
	return o;
}

/* ---- taken ---- */

static uint64_t get_u64(const struct js *o, const char *key)
{
	return (uint64_t)MAX(js_get_i64(o, key, 0), (int64_t)0);
}

static int32_t get_rank(const struct js *o)
{
	int64_t rank = js_get_i64(o, "rank", NO_RANK);
	return rank >= 0 && rank <= INT32_MAX ? (int32_t)rank : NO_RANK;
}

static void live_job_take(struct job *j, const struct js *o)
{
	*j = (struct job){.state = job_state_of(js_get_text(o, "state", ""))};
	TEXT_COPY(j->id, js_get_text(o, "id", ""));
	TEXT_COPY(j->last_incident, js_get_text(o, "last_incident", ""));
	j->attempt = (uint32_t)MIN(get_u64(o, "attempt"), (uint64_t)UINT32_MAX);
	j->pid = (pid_t)MIN(get_u64(o, "pid"), (uint64_t)INT32_MAX);
	j->memory_kills = (uint32_t)MIN(get_u64(o, "memory_kills"), (uint64_t)UINT32_MAX);
	j->other_deaths = (uint32_t)MIN(get_u64(o, "other_deaths"), (uint64_t)UINT32_MAX);
	j->ended_unix_ms = js_get_i64(o, "ended_unix_ms", 0);
	j->has_exit = js_get(o, "exit_status") != NULL;
	j->exit_status = (int32_t)js_get_i64(o, "exit_status", 0);
}

static void live_memory_take(struct live_memory *m, const struct js *o)
{
	*m = (struct live_memory){.used_bytes = get_u64(o, "used_bytes"),
				  .total_bytes = get_u64(o, "total_bytes"),
				  .node_used_bytes = get_u64(o, "node_used_bytes"),
				  .node_total_bytes = get_u64(o, "node_total_bytes"),
				  .job_bytes = get_u64(o, "job_bytes"),
				  .job_peak_bytes = get_u64(o, "job_peak_bytes")};
	TEXT_COPY(m->guard, js_get_text(o, "guard", ""));
}

static void live_steps_take(struct job_steps *s, const struct js *o)
{
	const struct js *ranks = js_get(o, "ranks");
	*s = (struct job_steps){.attempt = (uint32_t)MIN(get_u64(o, "attempt"), (uint64_t)UINT32_MAX),
				.time_unix_ms = js_get_i64(o, "time_unix_ms", 0)};
	for (size_t i = 0; i < js_len(ranks) && s->n < ARRAY_SIZE(s->of); i++) {
		const struct js *one = js_at(ranks, i);
		s->of[s->n++] = (struct job_step){.rank = get_rank(one),
						  .has_total = js_get(one, "total") != NULL,
						  .has_rate = js_get(one, "per_s") != NULL,
						  .per_s = js_get_double(one, "per_s", 0),
						  .step = get_u64(one, "step"),
						  .total = get_u64(one, "total")};
	}
}

static void texts_take(const struct js *list, char *dst, size_t each, size_t most, size_t *n)
{
	for (size_t i = 0; i < js_len(list) && *n < most; i++)
		text_copy(dst + each * (*n)++, each, js_as_text(js_at(list, i), ""));
}

static void live_health_take(struct health *h, const struct js *o)
{
	const struct js *culprits = js_get(o, "culprit_ranks");
	*h = (struct health){.since_unix_ms = js_get_i64(o, "since_unix_ms", 0)};
	for (int l = 0; l < HEALTH_LEVEL_MAX; l++)
		if (strcmp(js_get_text(o, "level", ""), health_level_name((enum health_level)l)) == 0)
			h->level = (enum health_level)l;
	TEXT_COPY(h->sentence, js_get_text(o, "sentence", ""));
	TEXT_COPY(h->incident, js_get_text(o, "incident", ""));
	for (size_t i = 0; i < js_len(culprits) && h->n_culprits < ARRAY_SIZE(h->culprit); i++)
		h->culprit[h->n_culprits++] = (int32_t)js_as_i64(js_at(culprits, i), -1);
	texts_take(js_get(o, "advice"), h->advice[0], sizeof(h->advice[0]), HEALTH_ADVICE, &h->n_advice);
	texts_take(js_get(o, "evidence"), h->evidence[0], sizeof(h->evidence[0]), HEALTH_EVIDENCE, &h->n_evidence);
}

static int live_process_take(struct live_state *s, const struct js *o)
{
	struct live_process p = {.rank = get_rank(o)};
	uint64_t pid = get_u64(o, "pid");
	if (pid == 0 || pid > INT32_MAX)
		return -EBADMSG;
	p.pid = (pid_t)pid;
	p.ppid = (pid_t)MIN(get_u64(o, "ppid"), (uint64_t)INT32_MAX);
	p.start_ticks = get_u64(o, "start_ticks");
	p.attempt = (uint32_t)MIN(get_u64(o, "attempt"), (uint64_t)UINT32_MAX);
	p.state = js_get_text(o, "state", "")[0];
	TEXT_COPY(p.role, js_get_text(o, "role", ""));
	TEXT_COPY(p.name, js_get_text(o, "name", ""));
	p.own_bytes = get_u64(o, "own_bytes");
	p.rss_bytes = get_u64(o, "rss_bytes");
	p.peak_own_bytes = get_u64(o, "peak_own_bytes");
	p.cpu_ns = get_u64(o, "cpu_ns");
	p.started_unix_ms = js_get_i64(o, "started_unix_ms", 0);
	size_t at = live_place_of(s, p.pid);
	if (at < s->n && s->process[at].pid == p.pid) {
		s->process[at] = p;
		return 0;
	}
	if (s->n == LIVE_PROCESSES)
		return -EBADMSG;
	int r = vec_room(&s->process, &s->cap, s->n + 1);
	if (r < 0)
		return r;
	memmove(&s->process[at + 1], &s->process[at], (s->n++ - at) * sizeof(p));
	s->process[at] = p;
	return 0;
}

static void live_gone_take(struct live_state *s, const struct js *gone)
{
	for (size_t i = 0; i < js_len(gone); i++) {
		int64_t pid = js_as_i64(js_at(gone, i), 0);
		size_t at = pid > 0 && pid <= INT32_MAX ? live_place_of(s, (pid_t)pid) : s->n;
		if (at < s->n && s->process[at].pid == pid)
			memmove(&s->process[at], &s->process[at + 1], (--s->n - at) * sizeof(s->process[0]));
	}
}

int live_take(struct live_state *s, const struct js *line)
{
	const struct js *o;
	bool whole = strcmp(js_get_text(line, "kind", ""), "whole") == 0;
	uint64_t seq = get_u64(line, "seq");
	if (strcmp(js_get_text(line, "schema", ""), "vigil.live/1") != 0 || seq == 0 ||
	    (!whole && (s->seq == 0 || seq != s->seq + 1)))
		return -EBADMSG;
	s->n = whole ? 0 : s->n;
	s->seq = seq;
	s->time_unix_ms = js_get_i64(line, "time_unix_ms", 0);
	s->sampled_unix_ms = js_get_i64(line, "sampled_unix_ms", 0);
	if ((o = js_get(line, "phase")))
		TEXT_COPY(s->phase, js_as_text(o, ""));
	if ((o = js_get(line, "job")))
		live_job_take(&s->job, o);
	if ((o = js_get(line, "memory")))
		live_memory_take(&s->memory, o);
	if ((o = js_get(line, "steps")))
		live_steps_take(&s->steps, o);
	if ((o = js_get(line, "health")))
		live_health_take(&s->health, o);
	live_gone_take(s, js_get(line, "gone"));
	const struct js *rows = js_get(line, "processes");
	int r = 0;
	for (size_t i = 0; r == 0 && i < js_len(rows); i++)
		r = live_process_take(s, js_at(rows, i));
	return r;
}

void live_job(const struct live_state *s, struct job *j)
{
	const struct job *now = &s->job;
	if (now->state == JOB_STATE_MAX || strcmp(now->id, j->id) != 0)
		return;
	j->state = now->state;
	j->attempt = now->attempt;
	j->pid = now->pid;
	j->peak_bytes = MAX(j->peak_bytes, s->memory.job_peak_bytes);
	j->memory_kills = now->memory_kills;
	j->other_deaths = now->other_deaths;
	j->ended_unix_ms = now->ended_unix_ms;
	j->has_exit = now->has_exit;
	j->exit_status = now->exit_status;
	TEXT_COPY(j->last_incident, now->last_incident);
}
