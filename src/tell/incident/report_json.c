#include "tell/incident/report.h"

#include <string.h>

#include "base/buf.h"

#define REPORT_SCHEMA "vigil.incident/1"

/* A value that does not apply is absent, never zero. */
static void put_u64_if(struct js *o, const char *key, uint64_t v)
{
	if (v > 0)
		js_put_u64(o, key, v);
}

static void put_i64_if(struct js *o, const char *key, int64_t v)
{
	if (v != 0)
		js_put_i64(o, key, v);
}

static void put_rank_if(struct js *o, int32_t rank)
{
	if (rank != NO_RANK)
		js_put_i64(o, "rank", rank);
}

/* Arrays without an element are left out. */
static void put_array_if(struct js *o, const char *key, struct js *a)
{
	if (js_len(a) > 0)
		js_put(o, key, a);
	else
		js_free(a);
}

static void put_cause(struct js *o, const struct incident *i)
{
	if (!i->cause.id[0] && !i->cause.text[0])
		return;
	struct js *c = js_object();
	js_put_text_if(c, "id", i->cause.id);
	js_put_text(c, "confidence", confidence_name(i->cause.confidence));
	js_put_text_if(c, "text", i->cause.text);
	struct js *advice = js_array();
	for (size_t n = 0; n < i->cause.n_advice; n++)
		js_add_text(advice, i->cause.advice[n]);
	put_array_if(c, "advice", advice);
	js_put(o, "cause", c);
}

static void put_victim(struct js *o, const struct incident *i)
{
	if (!i->victim.valid)
		return;
	struct js *v = js_object();
	put_i64_if(v, "pid", i->victim.pid);
	put_rank_if(v, i->victim.rank);
	js_put_text_if(v, "name", i->victim.name);
	js_put_text_if(v, "command", i->victim.command);
	if (i->victim.has_memory) {
		js_put_u64(v, "own_bytes", i->victim.own_bytes);
		js_put_u64(v, "rss_bytes", i->victim.rss_bytes);
		js_put_u64(v, "shared_bytes", i->victim.shared_bytes);
		js_put_u64(v, "swap_bytes", i->victim.swap_bytes);
	}
	if (i->victim.has_exit_code)
		js_put_i64(v, "exit_code", i->victim.exit_code);
	put_i64_if(v, "signal", i->victim.signal);
	js_put_text_if(v, "ray_worker_id", i->victim.ray_worker_id);
	js_put_text_if(v, "ray_job_id", i->victim.ray_job_id);
	js_put_text_if(v, "ray_logs", i->victim.ray_logs);
	js_put(o, "victim", v);
}

void report_ray_put(struct js *report, const struct incident *i)
{
	if (!i->ray_retry.valid)
		return;
	struct js *o = js_object();
	js_put_text(o, "task_id", i->ray_retry.task_id);
	js_put_u64(o, "attempt", i->ray_retry.attempt);
	if (i->ray_retry.has_left)
		js_put_i64(o, "retries_left", i->ray_retry.left);
	js_put(report, "ray_retry", o);
}

static void put_memory(struct js *o, const struct incident *i)
{
	if (!i->memory.valid)
		return;
	struct js *m = js_object();
	js_put_u64(m, "used_bytes", i->memory.used_bytes);
	if (i->memory.total_bytes > 0) {
		js_put_u64(m, "total_bytes", i->memory.total_bytes);
		js_put_double(m, "ratio", i->memory.ratio);
	}
	if (i->memory.threshold_ratio > 0)
		js_put_double(m, "threshold_ratio", i->memory.threshold_ratio);
	if (i->memory.scope != MEMORY_SCOPE_NONE)
		js_put_text(m, "scope", memory_scope_name(i->memory.scope));
	js_put_text_if(m, "level", i->memory.level);
	js_put_text_if(m, "threshold", i->memory.threshold);
	put_u64_if(m, "available_bytes", i->memory.available_bytes);
	put_u64_if(m, "kernel_used_bytes", i->memory.kernel_used_bytes);
	put_u64_if(m, "reclaimable_bytes", i->memory.reclaimable_bytes);
	if (i->memory.swap_total_bytes > 0) {
		js_put_u64(m, "swap_total_bytes", i->memory.swap_total_bytes);
		js_put_u64(m, "swap_free_bytes", i->memory.swap_free_bytes);
	}
	put_u64_if(m, "shm_bytes", i->memory.shm_bytes);
	put_u64_if(m, "shm_left_bytes", i->memory.shm_left_bytes);
	if (i->memory.has_rate) {
		js_put_i64(m, "growth_bytes_per_s", i->memory.growth_bytes_per_s);
		put_u64_if(m, "growth_over_ms", i->memory.growth_over_ms);
		if (i->memory.time_to_limit_ms != UINT64_MAX)
			js_put_u64(m, "time_to_limit_ms", i->memory.time_to_limit_ms);
	}
	js_put(o, "memory", m);
}

static void put_policy(struct js *o, const struct incident *i)
{
	if (!i->policy.name[0] && !i->policy.reason[0])
		return;
	struct js *p = js_object();
	js_put_text_if(p, "name", i->policy.name);
	js_put_text_if(p, "reason", i->policy.reason);
	js_put_text_if(p, "next", i->policy.next);
	js_put(o, "policy", p);
}

static void put_retry(struct js *o, const struct incident *i)
{
	if (!i->retry.valid)
		return;
	struct js *r = js_object();
	js_put_u64(r, "attempt", i->retry.attempt);
	js_put_u64(r, "max", i->retry.max);
	js_put_text(r, "next", retry_name(i->retry.next));
	if (i->retry.next == RETRY_RETRY)
		js_put_u64(r, "delay_ms", i->retry.delay_ms);
	js_put_text_if(r, "reason", i->retry.reason);
	js_put(o, "retry", r);
}

static void put_action(struct js *o, const struct incident *i)
{
	if (!i->action.valid)
		return;
	struct js *a = js_object();
	js_put_text_if(a, "method", i->action.method);
	put_u64_if(a, "freed_bytes", i->action.freed_bytes);
	put_u64_if(a, "notice_us", i->action.notice_us);
	put_u64_if(a, "freeze_us", i->action.freeze_us);
	put_u64_if(a, "kill_us", i->action.kill_us);
	put_u64_if(a, "dead_us", i->action.dead_us);
	put_u64_if(a, "freed_us", i->action.freed_us);
	put_u64_if(a, "processes_ended", i->action.processes_ended);
	put_u64_if(a, "reaped", i->action.reaped);
	js_put(o, "action", a);
}

static void put_top(struct js *o, const struct incident *i)
{
	struct js *top = js_array();
	for (size_t n = 0; n < i->n_top; n++) {
		const struct incident_process *p = &i->top[n];
		struct js *row = js_object();
		js_put_i64(row, "pid", p->pid);
		put_rank_if(row, p->rank);
		js_put_text_if(row, "role", p->role);
		js_put_u64(row, "own_bytes", p->own_bytes);
		js_put_u64(row, "rss_bytes", p->rss_bytes);
		js_put_u64(row, "shared_bytes", p->shared_bytes);
		put_u64_if(row, "swap_bytes", p->swap_bytes);
		if (p->has_pss) {
			js_put_u64(row, "pss_bytes", p->pss_bytes);
			js_put_u64(row, "private_bytes", p->private_bytes);
			put_u64_if(row, "pss_age_ms", p->pss_age_ms);
			if (p->pss_sampled)
				js_put_bool(row, "pss_sampled", true);
		}
		put_u64_if(row, "start_unix_ms", p->start_unix_ms);
		js_put_text(row, "command", p->command);
		js_add(top, row);
	}
	put_array_if(o, "top", top);
}

static void put_candidates(struct js *o, const struct incident *i)
{
	struct js *all = js_array();
	for (size_t n = 0; n < i->n_candidates; n++) {
		const struct incident_candidate *c = &i->candidates[n];
		struct js *row = js_object();
		js_put_text_if(row, "name", c->name);
		put_i64_if(row, "pid", c->pid);
		put_rank_if(row, c->rank);
		put_u64_if(row, "processes", c->processes);
		js_put_u64(row, "own_bytes", c->own_bytes);
		js_put_i64(row, "growth_bytes_per_s", c->growth_bytes_per_s);
		js_put_bool(row, "chosen", c->chosen);
		js_put_bool(row, "retriable", c->retriable);
		js_put_text_if(row, "why", c->why);
		js_add(all, row);
	}
	put_array_if(o, "candidates", all);
	put_u64_if(o, "candidates_all", i->n_candidates_all);
}

static void put_history(struct js *o, const struct incident *i)
{
	struct js *history = js_array();
	for (size_t n = 0; n < i->n_history; n++) {
		struct js *row = js_object();
		js_put_u64(row, "age_ms", i->history[n].age_ms);
		js_put_u64(row, "used_bytes", i->history[n].used_bytes);
		put_u64_if(row, "job_bytes", i->history[n].job_bytes);
		js_add(history, row);
	}
	put_array_if(o, "history", history);
	struct js *growers = js_array();
	for (size_t n = 0; n < i->n_growers; n++) {
		struct js *row = js_object();
		js_put_i64(row, "pid", i->growers[n].pid);
		js_put_text_if(row, "name", i->growers[n].name);
		js_put_text_if(row, "role", i->growers[n].role);
		if (i->growers[n].rank != NO_RANK)
			js_put_i64(row, "rank", i->growers[n].rank);
		js_put_u64(row, "own_bytes", i->growers[n].own_bytes);
		js_put_i64(row, "growth_bytes_per_s", i->growers[n].growth_bytes_per_s);
		put_u64_if(row, "grown_bytes", i->growers[n].grown_bytes);
		put_u64_if(row, "over_ms", i->growers[n].over_ms);
		js_add(growers, row);
	}
	put_array_if(o, "growers", growers);
}

static void put_shm(struct js *o, const struct incident *i)
{
	struct js *shm = js_array();
	for (size_t n = 0; n < i->n_shm; n++) {
		struct js *row = js_object();
		js_put_text(row, "path", i->shm[n].path);
		js_put_u64(row, "bytes", i->shm[n].bytes);
		js_put_text_if(row, "owners", i->shm[n].owners);
		js_put_bool(row, "orphan", i->shm[n].orphan);
		if (i->shm[n].freed)
			js_put_bool(row, "freed", true);
		if (i->shm[n].left)
			js_put_bool(row, "left", true);
		js_add(shm, row);
	}
	put_array_if(o, "shm", shm);
}

static void put_evidence(struct js *o, const struct incident *i)
{
	struct js *evidence = js_array();
	for (size_t n = 0; n < i->n_evidence; n++) {
		struct js *row = js_object();
		js_put_text(row, "kind", i->evidence[n].kind);
		js_put_text(row, "text", i->evidence[n].text);
		js_put_text_if(row, "source", i->evidence[n].source);
		put_i64_if(row, "time_unix_ms", i->evidence[n].time_unix_ms);
		js_add(evidence, row);
	}
	put_array_if(o, "evidence", evidence);
	put_u64_if(o, "evidence_dropped", i->n_evidence_dropped);
}

void report_ended_put(struct js *o, const struct incident *i)
{
	if (!i->ended.text[0])
		return;
	struct js *e = js_object();
	js_put_text(e, "text", i->ended.text);
	js_put_text_if(e, "incident", i->ended.incident);
	put_i64_if(e, "time_unix_ms", i->ended.time_unix_ms);
	js_put(o, "ended", e);
}

struct js *report_json(const struct incident *i)
{
	struct js *o = js_object();
	js_put_text(o, "schema", REPORT_SCHEMA);
	js_put_text_if(o, "id", i->id);
	js_put_text_if(o, "job", i->job);
	js_put_u64(o, "attempt", i->attempt);
	js_put_text(o, "kind", incident_kind_name(i->kind));
	put_i64_if(o, "time_unix_ms", i->time_unix_ms);
	js_put_text_if(o, "node", i->node);
	js_put_text_if(o, "node_ip", i->node_ip);
	js_put_text_if(o, "summary", i->summary);
	put_cause(o, i);
	struct js *culprits = js_array();
	for (size_t n = 0; n < i->n_culprits; n++)
		js_add_i64(culprits, i->culprit_ranks[n]);
	put_array_if(o, "culprit_ranks", culprits);
	put_victim(o, i);
	report_ray_put(o, i);
	js_put_text(o, "killer", killer_name(i->killer));
	js_put_text_if(o, "killer_text", i->killer_text);
	put_memory(o, i);
	put_policy(o, i);
	put_retry(o, i);
	put_action(o, i);
	put_top(o, i);
	put_candidates(o, i);
	put_history(o, i);
	put_shm(o, i);
	put_evidence(o, i);
	js_put_text_if(o, "log_dir", i->log_dir);
	report_ended_put(o, i);
	return o;
}

/* Reading back: a number out of its range becomes the nearest one within it. */
static uint64_t report_json_u64(const struct js *o, const char *key)
{
	return (uint64_t)MAX(js_get_i64(o, key, 0), (int64_t)0);
}

static uint32_t get_u32(const struct js *o, const char *key)
{
	return (uint32_t)MIN(report_json_u64(o, key), (uint64_t)UINT32_MAX);
}

/* The ratio exceeds 1 where a limit was lowered below the use; it is cut at 1000. */
static double get_ratio(const struct js *o, const char *key)
{
	double v = js_get_double(o, key, 0);
	return v > 0 ? MIN(v, 1000.0) : 0;
}

static int32_t get_i32(const struct js *o, const char *key, int32_t fallback)
{
	int64_t v = js_get_i64(o, key, fallback);
	return (int32_t)MAX(MIN(v, (int64_t)INT32_MAX), (int64_t)INT32_MIN);
}

#define GET_TEXT(array, o, key) TEXT_COPY(array, js_get_text((o), (key), ""))

static size_t name_of(const char *const *names, size_t n, const char *text)
{
	for (size_t i = 0; i < n; i++)
		if (names[i] && strcmp(names[i], text) == 0)
			return i;
	return 0;
}

static void get_cause(const struct js *c, struct incident *i)
{
	static const char *const names[] = {"low", "medium", "high"};
	GET_TEXT(i->cause.id, c, "id");
	GET_TEXT(i->cause.text, c, "text");
	i->cause.confidence = (enum confidence)name_of(names, ARRAY_SIZE(names), js_get_text(c, "confidence", "low"));
	const struct js *advice = js_get(c, "advice");
	for (size_t n = 0; n < MIN(js_len(advice), (size_t)INCIDENT_ADVICE); n++)
		incident_advice_add(i, "%s", js_as_text(js_at(advice, n), ""));
}

static void get_victim(const struct js *v, struct incident *i)
{
	i->victim.rank = NO_RANK;
	if (!v)
		return;
	i->victim.valid = true;
	i->victim.pid = get_i32(v, "pid", 0);
	i->victim.rank = get_i32(v, "rank", NO_RANK);
	GET_TEXT(i->victim.name, v, "name");
	GET_TEXT(i->victim.command, v, "command");
	i->victim.has_memory = js_get(v, "own_bytes") != NULL;
	i->victim.own_bytes = report_json_u64(v, "own_bytes");
	i->victim.rss_bytes = report_json_u64(v, "rss_bytes");
	i->victim.shared_bytes = report_json_u64(v, "shared_bytes");
	i->victim.swap_bytes = report_json_u64(v, "swap_bytes");
	i->victim.has_exit_code = js_get(v, "exit_code") != NULL;
	i->victim.exit_code = get_i32(v, "exit_code", 0);
	i->victim.signal = get_i32(v, "signal", 0);
	GET_TEXT(i->victim.ray_worker_id, v, "ray_worker_id");
	GET_TEXT(i->victim.ray_job_id, v, "ray_job_id");
	GET_TEXT(i->victim.ray_logs, v, "ray_logs");
}

static void get_ray_retry(const struct js *r, struct incident *i)
{
	if (!r)
		return;
	i->ray_retry.valid = true;
	GET_TEXT(i->ray_retry.task_id, r, "task_id");
	i->ray_retry.attempt = report_json_u64(r, "attempt");
	i->ray_retry.has_left = js_get(r, "retries_left") != NULL;
	i->ray_retry.left = js_get_i64(r, "retries_left", 0);
}

static void get_memory(const struct js *m, struct incident *i)
{
	static const char *const scopes[] = {NULL, "node", "container", "job"};
	if (!m)
		return;
	i->memory.valid = true;
	i->memory.used_bytes = report_json_u64(m, "used_bytes");
	i->memory.total_bytes = report_json_u64(m, "total_bytes");
	i->memory.ratio = get_ratio(m, "ratio");
	i->memory.threshold_ratio = get_ratio(m, "threshold_ratio");
	i->memory.scope = (enum memory_scope)name_of(scopes, ARRAY_SIZE(scopes), js_get_text(m, "scope", ""));
	GET_TEXT(i->memory.level, m, "level");
	GET_TEXT(i->memory.threshold, m, "threshold");
	i->memory.available_bytes = report_json_u64(m, "available_bytes");
	i->memory.kernel_used_bytes = report_json_u64(m, "kernel_used_bytes");
	i->memory.reclaimable_bytes = report_json_u64(m, "reclaimable_bytes");
	i->memory.swap_total_bytes = report_json_u64(m, "swap_total_bytes");
	i->memory.swap_free_bytes = report_json_u64(m, "swap_free_bytes");
	i->memory.shm_bytes = report_json_u64(m, "shm_bytes");
	i->memory.shm_left_bytes = report_json_u64(m, "shm_left_bytes");
	i->memory.growth_over_ms = report_json_u64(m, "growth_over_ms");
	i->memory.has_rate = js_get(m, "growth_bytes_per_s") != NULL;
	i->memory.growth_bytes_per_s = js_get_i64(m, "growth_bytes_per_s", 0);
	i->memory.time_to_limit_ms =
		js_get(m, "time_to_limit_ms") ? report_json_u64(m, "time_to_limit_ms") : UINT64_MAX;
}

static void get_retry(const struct js *r, struct incident *i)
{
	static const char *const names[] = {"none", "retry", "give_up"};
	if (!r)
		return;
	i->retry.valid = true;
	i->retry.attempt = get_u32(r, "attempt");
	i->retry.max = get_u32(r, "max");
	i->retry.next = (enum incident_retry)name_of(names, ARRAY_SIZE(names), js_get_text(r, "next", "none"));
	i->retry.delay_ms = report_json_u64(r, "delay_ms");
	GET_TEXT(i->retry.reason, r, "reason");
}

static void get_action(const struct js *a, struct incident *i)
{
	if (!a)
		return;
	i->action.valid = true;
	GET_TEXT(i->action.method, a, "method");
	i->action.freed_bytes = report_json_u64(a, "freed_bytes");
	i->action.notice_us = report_json_u64(a, "notice_us");
	i->action.freeze_us = report_json_u64(a, "freeze_us");
	i->action.kill_us = report_json_u64(a, "kill_us");
	i->action.dead_us = report_json_u64(a, "dead_us");
	i->action.freed_us = report_json_u64(a, "freed_us");
	i->action.processes_ended = get_u32(a, "processes_ended");
	i->action.reaped = get_u32(a, "reaped");
}

static void get_top(const struct js *top, struct incident *i)
{
	for (size_t n = 0; n < MIN(js_len(top), (size_t)INCIDENT_TOP); n++) {
		const struct js *row = js_at(top, n);
		struct incident_process *p = &i->top[i->n_top++];
		p->pid = get_i32(row, "pid", 0);
		p->rank = get_i32(row, "rank", NO_RANK);
		GET_TEXT(p->role, row, "role");
		p->own_bytes = report_json_u64(row, "own_bytes");
		p->rss_bytes = report_json_u64(row, "rss_bytes");
		p->shared_bytes = report_json_u64(row, "shared_bytes");
		p->swap_bytes = report_json_u64(row, "swap_bytes");
		p->has_pss = js_get(row, "pss_bytes") != NULL;
		p->pss_bytes = report_json_u64(row, "pss_bytes");
		p->private_bytes = report_json_u64(row, "private_bytes");
		p->pss_age_ms = get_u32(row, "pss_age_ms");
		p->pss_sampled = js_get_bool(row, "pss_sampled", false);
		p->start_unix_ms = report_json_u64(row, "start_unix_ms");
		GET_TEXT(p->command, row, "command");
	}
}

static void get_candidates(const struct js *all, struct incident *i)
{
	for (size_t n = 0; n < MIN(js_len(all), (size_t)INCIDENT_CANDIDATES); n++) {
		const struct js *row = js_at(all, n);
		struct incident_candidate *c = &i->candidates[i->n_candidates++];
		GET_TEXT(c->name, row, "name");
		c->pid = get_i32(row, "pid", 0);
		c->rank = get_i32(row, "rank", NO_RANK);
		c->processes = get_u32(row, "processes");
		c->own_bytes = report_json_u64(row, "own_bytes");
		c->growth_bytes_per_s = js_get_i64(row, "growth_bytes_per_s", 0);
		c->chosen = js_get_bool(row, "chosen", false);
		c->retriable = js_get_bool(row, "retriable", false);
		GET_TEXT(c->why, row, "why");
	}
}

static void get_history(const struct js *o, struct incident *i)
{
	const struct js *history = js_get(o, "history"), *growers = js_get(o, "growers");
	for (size_t n = 0; n < MIN(js_len(history), (size_t)INCIDENT_HISTORY); n++) {
		struct incident_sample *s = &i->history[i->n_history++];
		s->age_ms = get_u32(js_at(history, n), "age_ms");
		s->used_bytes = report_json_u64(js_at(history, n), "used_bytes");
		s->job_bytes = report_json_u64(js_at(history, n), "job_bytes");
	}
	for (size_t n = 0; n < MIN(js_len(growers), (size_t)INCIDENT_GROWERS); n++) {
		struct incident_grower *g = &i->growers[i->n_growers++];
		g->pid = get_i32(js_at(growers, n), "pid", 0);
		g->rank = get_i32(js_at(growers, n), "rank", NO_RANK);
		GET_TEXT(g->name, js_at(growers, n), "name");
		GET_TEXT(g->role, js_at(growers, n), "role");
		g->own_bytes = report_json_u64(js_at(growers, n), "own_bytes");
		g->growth_bytes_per_s = js_get_i64(js_at(growers, n), "growth_bytes_per_s", 0);
		g->grown_bytes = report_json_u64(js_at(growers, n), "grown_bytes");
		g->over_ms = report_json_u64(js_at(growers, n), "over_ms");
	}
}

static void get_shm_and_evidence(const struct js *o, struct incident *i)
{
	const struct js *shm = js_get(o, "shm"), *evidence = js_get(o, "evidence");
	for (size_t n = 0; n < MIN(js_len(shm), (size_t)INCIDENT_SHM); n++) {
		struct incident_shm *s = &i->shm[i->n_shm++];
		GET_TEXT(s->path, js_at(shm, n), "path");
		s->bytes = report_json_u64(js_at(shm, n), "bytes");
		GET_TEXT(s->owners, js_at(shm, n), "owners");
		s->orphan = js_get_bool(js_at(shm, n), "orphan", false);
		s->freed = js_get_bool(js_at(shm, n), "freed", false);
		s->left = js_get_bool(js_at(shm, n), "left", false);
	}
	for (size_t n = 0; n < MIN(js_len(evidence), (size_t)INCIDENT_EVIDENCE); n++) {
		struct incident_evidence *e = &i->evidence[i->n_evidence++];
		GET_TEXT(e->kind, js_at(evidence, n), "kind");
		GET_TEXT(e->text, js_at(evidence, n), "text");
		GET_TEXT(e->source, js_at(evidence, n), "source");
		e->time_unix_ms = js_get_i64(js_at(evidence, n), "time_unix_ms", 0);
	}
	i->n_evidence_dropped = report_json_u64(o, "evidence_dropped");
}

int report_from_json(const struct js *o, struct incident *ret)
{
	if (strcmp(js_get_text(o, "schema", ""), REPORT_SCHEMA) != 0)
		return -EBADMSG;
	struct incident *i = ret; /* nothing below fails */
	memset(i, 0, sizeof(*i));
	GET_TEXT(i->id, o, "id");
	GET_TEXT(i->job, o, "job");
	i->attempt = get_u32(o, "attempt");
	i->kind = incident_kind_of(js_get_text(o, "kind", ""));
	i->hang_over = js_get_bool(js_get(o, "hang"), "resolved", false);
	i->time_unix_ms = js_get_i64(o, "time_unix_ms", 0);
	GET_TEXT(i->node, o, "node");
	GET_TEXT(i->node_ip, o, "node_ip");
	GET_TEXT(i->summary, o, "summary");
	get_cause(js_get(o, "cause"), i);
	const struct js *culprits = js_get(o, "culprit_ranks");
	for (size_t n = 0; n < MIN(js_len(culprits), (size_t)INCIDENT_CULPRITS); n++)
		i->culprit_ranks[i->n_culprits++] = (int32_t)js_as_i64(js_at(culprits, n), NO_RANK);
	get_victim(js_get(o, "victim"), i);
	get_ray_retry(js_get(o, "ray_retry"), i);
	i->killer = killer_of(js_get_text(o, "killer", "unknown"));
	GET_TEXT(i->killer_text, o, "killer_text");
	get_memory(js_get(o, "memory"), i);
	const struct js *policy = js_get(o, "policy");
	GET_TEXT(i->policy.name, policy, "name");
	GET_TEXT(i->policy.reason, policy, "reason");
	GET_TEXT(i->policy.next, policy, "next");
	get_retry(js_get(o, "retry"), i);
	get_action(js_get(o, "action"), i);
	get_top(js_get(o, "top"), i);
	get_candidates(js_get(o, "candidates"), i);
	i->n_candidates_all = report_json_u64(o, "candidates_all");
	get_history(o, i);
	get_shm_and_evidence(o, i);
	GET_TEXT(i->log_dir, o, "log_dir");
	const struct js *ended = js_get(o, "ended");
	GET_TEXT(i->ended.text, ended, "text");
	GET_TEXT(i->ended.incident, ended, "incident");
	i->ended.time_unix_ms = js_get_i64(ended, "time_unix_ms", 0);
	return 0;
}
