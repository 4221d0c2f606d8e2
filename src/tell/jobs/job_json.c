#include "tell/jobs/job_json.h"

#include <string.h>
#include <sys/wait.h>

#include "model/incident/incident.h"

static void put_time_if(struct js *o, const char *key, int64_t unix_ms)
{
	if (unix_ms > 0)
		js_put_i64(o, key, unix_ms);
}

static void put_bytes_if(struct js *o, const char *key, uint64_t bytes)
{
	if (bytes > 0)
		js_put_u64(o, key, bytes);
}

struct js *job_json(const struct job *j)
{
	struct js *o = js_object();
	js_put_text(o, "schema", "vigil.job/1");
	js_put_text(o, "id", j->id);
	js_put_text_if(o, "name", j->name);
	js_put_text(o, "state", job_state_name(j->state));
	if (j->state == JOB_FAILED && j->stopped)
		js_put_bool(o, "stopped", true);
	js_put_text_if(o, "command", j->command);
	js_put_text_if(o, "cwd", j->cwd);
	js_put_text_if(o, "node", j->node);
	js_put_text_if(o, "user", j->user);
	js_put_u64(o, "uid", j->uid);
	js_put_bool(o, "adopted", j->adopted);
	if (j->pid > 0 && j->ended_unix_ms == 0)
		js_put_i64(o, "pid", j->pid);
	if (j->supervisor_pid > 0)
		js_put_i64(o, "supervisor_pid", j->supervisor_pid);
	if (j->nproc > 0)
		js_put_u64(o, "nproc", j->nproc);
	js_put_u64(o, "attempt", j->attempt);
	js_put_u64(o, "max_retries", j->max_retries);
	put_time_if(o, "started_unix_ms", j->started_unix_ms);
	put_time_if(o, "ended_unix_ms", j->ended_unix_ms);
	if (j->has_exit)
		js_put_i64(o, "exit_status", j->exit_status);
	put_bytes_if(o, "peak_bytes", j->peak_bytes);
	put_bytes_if(o, "limit_bytes", j->limit_bytes);
	js_put_u64(o, "memory_kills", j->memory_kills);
	js_put_u64(o, "other_deaths", j->other_deaths);
	js_put_text_if(o, "last_incident", j->last_incident);
	js_put_text_if(o, "log_dir", j->log_dir);
	js_put_text_if(o, "cgroup", j->cgroup);
	return o;
}

struct js *process_json(const struct job_process *p)
{
	struct js *o = js_object();
	js_put_text(o, "schema", "vigil.process/1");
	js_put_text_if(o, "job", p->job);
	js_put_u64(o, "attempt", p->attempt);
	js_put_i64(o, "pid", p->pid);
	if (p->ppid > 0)
		js_put_i64(o, "ppid", p->ppid);
	if (p->start_ticks > 0)
		js_put_u64(o, "start_ticks", p->start_ticks);
	if (p->rank != NO_RANK)
		js_put_i64(o, "rank", p->rank);
	js_put_text_if(o, "role", p->role);
	js_put_text_if(o, "name", p->name);
	js_put_text_if(o, "command", p->command);
	if (p->rss_bytes > 0 || p->own_bytes > 0)
		js_put_u64(o, "own_bytes", p->own_bytes);
	if (p->rss_bytes > 0) {
		js_put_u64(o, "rss_bytes", p->rss_bytes);
		js_put_u64(o, "shared_bytes", p->shared_bytes);
		js_put_u64(o, "swap_bytes", p->swap_bytes);
	}
	put_bytes_if(o, "peak_own_bytes", p->peak_own_bytes);
	put_time_if(o, "started_unix_ms", p->started_unix_ms);
	put_time_if(o, "ended_unix_ms", p->ended_unix_ms);
	if (p->has_status && WIFEXITED(p->wait_status))
		js_put_i64(o, "exit_code", WEXITSTATUS(p->wait_status));
	if (p->has_status && WIFSIGNALED(p->wait_status))
		js_put_i64(o, "signal", WTERMSIG(p->wait_status));
	js_put_text_if(o, "ended_for", p->ended_for);
	return o;
}

struct js *event_json(const struct job_event *e)
{
	struct js *o = js_object();
	js_put_text(o, "schema", "vigil.event/1");
	js_put_u64(o, "seq", e->seq);
	js_put_i64(o, "time_unix_ms", e->time_unix_ms);
	js_put_text_if(o, "job", e->job);
	js_put_u64(o, "attempt", e->attempt);
	js_put_text(o, "kind", e->kind);
	js_put_text_if(o, "text", e->text);
	js_put_text_if(o, "incident", e->incident);
	return o;
}

const char *event_severity(const struct job_event *e)
{
	static const char *const errors[] = {"guard_died", "guard_stuck", "vigil_killed", "unkillable"};
	static const char *const warnings[] = {
		"retry",	  "hold_fire",	"end_others", "absurd_numbers", "log_failed",  "output_cut",
		"output_gap",	  "suspected",	"memory_warning", "loss_broken", "clock_set",
		"memory_dry_run", "left_group", "unwatched",  "left_behind",	"signal",	"hang_left"};
	for (size_t i = 0; i < ARRAY_SIZE(errors); i++)
		if (strcmp(e->kind, errors[i]) == 0)
			return "error";
	for (size_t i = 0; i < ARRAY_SIZE(warnings); i++)
		if (strcmp(e->kind, warnings[i]) == 0)
			return "warning";
	switch (incident_kind_of(e->kind)) {
	case INCIDENT_NONE:
	case INCIDENT_CLEAN_EXIT:
		return "info";
	case INCIDENT_STRAGGLER:
	case INCIDENT_SLOWDOWN:
		return "warning";
	default:
		return "error";
	}
}
