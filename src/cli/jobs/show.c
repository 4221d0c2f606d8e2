#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/units.h"
#include "cli/options/commands.h"
#include "agent/jobs/past.h"
#include "cli/screen/view.h"
#include "model/incident/incident.h"
#include "tell/jobs/health_json.h"
#include "tell/jobs/job_json.h"
#include "tell/text/textcols.h"

struct show_options {
	bool json;
	const char *state;
};

static const struct option options[] = {
	OPTION_JSON(show_options),
	OPTION_STATE(show_options),
	OPTION_END,
};

/* How the watch over a job that is lost ended: told to end it, or killed. */
static int watch_end_take(void *ctx, const struct job_event *e)
{
	struct job_event *last = ctx;
	if (strcmp(e->kind, "unwatched") == 0 || strcmp(e->kind, "vigil_killed") == 0)
		*last = *e;
	return 0;
}

/* Of a job whose watch ended at a known time. One that was killed may be found and written down long after. */
static void print_watched(const struct view *v, const struct job *j)
{
	const struct textout *p = &v->paper;
	struct job_event last = {.kind = ""};
	char when[24], ran[24];
	ignore(store_each_event(v->store, j->id, 0, watch_end_take, &last), "then it is not told");
	(void)time_format(j->ended_unix_ms, when);
	if (strcmp(last.kind, "unwatched") == 0)
		textout_value(p, "watched until", "%s, for %s: %s", when, job_ran(j, 0, ran), last.text);
	else
		textout_value(p, "lost", "found at %s: %s; 'vigil why %s' shows what is known", when,
			      last.text[0] ? last.text : "its vigil is gone", j->id);
}

static void print_times(const struct view *v, const struct job *j)
{
	const struct textout *p = &v->paper;
	char started[24], ended[24], ran[24];
	textout_value(p, "started", "%s", time_format(j->started_unix_ms, started));
	if (j->state == JOB_LOST && j->ended_unix_ms > 0) {
		print_watched(v, j);
		return;
	}
	if (j->ended_unix_ms > 0)
		textout_value(p, "ended", "%s, after %s", time_format(j->ended_unix_ms, ended), job_ran(j, 0, ran));
	else if (j->state != JOB_LOST)
		textout_value(p, "running for", "%s", job_ran(j, clock_unix_ms(), ran));
	if (j->state == JOB_LOST)
		textout_value(p, "lost",
			      "the vigil in charge (pid %ld) is gone and did not say how the job ended; 'vigil why %s' "
			      "shows what is known",
			      (long)j->supervisor_pid, j->id);
	if (j->has_exit)
		textout_value(p, "exit status", "%d", j->exit_status);
}

/* live NULL: its supervisor says nothing of it. */
static void print_job(const struct view *v, const struct job *j, const struct live_state *live)
{
	const struct textout *p = &v->paper;
	char peak[16], steps[160];
	static struct job_steps known;
	past_steps(j, &known);
	past_steps_text(j, &known, steps, sizeof(steps));
	textout_ink(p, INK_BOLD);
	fprintf(p->to, "%s", j->id);
	textout_ink(p, INK_PLAIN);
	fprintf(p->to, "  %s\n\n", job_state_word(j));
	textout_value(p, "command", "%s", j->command);
	if (j->cwd[0])
		textout_value(p, "in", "%s", j->cwd);
	if (j->node[0])
		textout_value(p, "on", "%s%s%s", j->node, j->user[0] ? ", user " : "", j->user);
	print_times(v, j);
	if (j->pid > 0 && job_is_open(j))
		textout_value(p, "main process", "%ld", (long)j->pid);
	if (j->supervisor_pid > 0 && job_is_open(j))
		textout_value(p, "watched by", "pid %ld%s", (long)j->supervisor_pid, j->adopted ? " (adopted)" : "");
	if (j->nproc > 1)
		textout_value(p, "ranks", "%u", j->nproc);
	if (live)
		textout_value(p, "now", "%s", live->health.sentence);
	if (steps[0] && !(live && live->health.level == HEALTH_WELL)) /* then "now" tells them */
		textout_value(p, "progress", "%s", steps);
	if (j->max_retries > 0)
		textout_value(p, "attempt", "%u of at most %u, counted from 0", j->attempt, j->max_retries);
	textout_value(p, "deaths", "%u for memory, %u otherwise", j->memory_kills, j->other_deaths);
	if (live && live->memory.job_bytes > 0)
		textout_value(p, "memory", "%s", size_format(live->memory.job_bytes, peak));
	if (j->peak_bytes > 0)
		textout_value(p, "most memory", "%s", size_format(j->peak_bytes, peak));
	if (j->limit_bytes > 0)
		textout_value(p, "memory limit", "%s", size_format(j->limit_bytes, peak));
	if (j->cgroup[0])
		textout_value(p, "control group", "%s", j->cgroup);
	if (j->log_dir[0])
		textout_value(p, "logs", "%s", j->log_dir);
}

struct part {
	const struct view *view;
	struct js *json; /* NULL: print */
	size_t shown;
	struct view_ends ends;
};

static const struct textcol process_columns[] = {
	{.head = "TRY", .width = 3, .spare = 3},
	{.head = "RANK", .width = 4},
	{.head = "ROLE", .width = 8, .left = true, .cut = true, .spare = 1},
	{.head = "PID", .width = 8},
	{.head = "OWN", .width = 10, .spare = 2},
	{.head = "STATE", .width = 8, .left = true},
	{.head = "COMMAND", .width = 12, .gap = 2},
};

static void print_process(struct part *l, const struct job_process *p, bool live)
{
	const struct textout *out = &l->view->paper;
	char own[16], exit[24], rank[12] = "-", attempt[16], pid[16];
	if (l->shown == 0) {
		textout_heading(out, "Processes");
		textcols_head(out, process_columns, ARRAY_SIZE(process_columns), 2, false);
	}
	if (p->rank != NO_RANK)
		TEXT_FORMAT(rank, "%d", p->rank);
	TEXT_FORMAT(attempt, "%u", p->attempt);
	TEXT_FORMAT(pid, "%ld", (long)p->pid);
	const char *state = live ? "running" : view_ended(&l->ends, p, exit);
	const struct textcells cells = {
		.text = {attempt, rank, p->role[0] ? p->role : "-", pid,
			 p->rss_bytes || p->own_bytes ? size_format(p->own_bytes, own) : "-", state,
			 p->command[0] ? p->command : p->name},
	};
	textcols_row(out, process_columns, ARRAY_SIZE(process_columns), 2, &cells);
}

static int show_process(void *ctx, const struct job_process *stored)
{
	struct part *l = ctx;
	struct job_process p = *stored;
	bool live = view_process_now(l->view, &p);
	if (l->json) {
		struct js *o = process_json(&p);
		js_put_bool(o, "running", live);
		js_add(l->json, o);
		return 0;
	}
	print_process(l, &p, live);
	l->shown++;
	return 0;
}

static const struct textcol event_columns[] = {
	{.head = "TIME", .width = 19, .left = true, .spare = 1},
	{.head = "KIND", .width = 15, .left = true, .cut = true, .gap = 2},
	{.head = "TEXT", .width = 24, .least = 16, .gap = 2, .wrap = true},
};

static int show_event(void *ctx, const struct job_event *e)
{
	struct part *l = ctx;
	if (l->json) {
		js_add(l->json, event_json(e));
		return 0;
	}
	const struct textout *out = &l->view->paper;
	char when[24];
	if (l->shown++ == 0)
		textout_heading(out, "Events");
	const struct textcells cells = {.text = {time_format(e->time_unix_ms, when), e->kind, e->text}};
	textcols_row(out, event_columns, ARRAY_SIZE(event_columns), 2, &cells);
	return 0;
}

static const struct textcol incident_columns[] = {
	{.head = "INCIDENT", .width = 24, .left = true, .cut = true},
	{.head = "KIND", .width = 16, .left = true, .cut = true, .spare = 1},
	{.head = "SUMMARY", .width = 24, .least = 16, .wrap = true},
};

static int show_incident(void *ctx, const char *id, const char *text)
{
	struct part *l = ctx;
	cleanup(js_freep) struct js *j = NULL;
	if (js_parse(text, strlen(text), &j, NULL) < 0)
		return 0; /* 'vigil why' reports the damage */
	if (l->json) {
		js_add(l->json, take(&j));
		return 0;
	}
	const struct textout *out = &l->view->paper;
	if (l->shown++ == 0)
		textout_heading(out, "Incidents");
	const struct textcells cells = {.text = {id, js_get_text(j, "kind", "?"), js_get_text(j, "summary", "")}};
	textcols_row(out, incident_columns, ARRAY_SIZE(incident_columns), 2, &cells);
	return 0;
}

/* One object: the job, with its processes, events and incidents as arrays. */
static int show_json(const struct view *v, const struct job *j, const struct live_state *live)
{
	cleanup(js_freep) struct js *o = job_json(j);
	static struct job_steps known;
	past_steps(j, &known);
	past_steps_put(o, &known);
	if (live) {
		js_put_text(o, "phase", live->phase);
		js_put_u64(o, "job_bytes", live->memory.job_bytes);
		js_put(o, "health", health_json(&live->health));
	}
	struct part processes = {.view = v, .json = js_array()}, events = {.view = v, .json = js_array()},
		    incidents = {.view = v, .json = js_array()};
	int r = past_each_process(v->store, j, show_process, &processes);
	if (r == 0)
		r = store_each_event(v->store, j->id, 0, show_event, &events);
	if (r == 0)
		r = store_each_incident(v->store, j->id, show_incident, &incidents);
	js_put(o, "processes", processes.json);
	js_put(o, "events", events.json);
	js_put(o, "incidents", incidents.json);
	if (r < 0)
		return view_failed(v, r, "the job");
	ignore(js_write(o, stdout, 0), "main looks at stdout in the end");
	return 0;
}

static int show_text(const struct view *v, const struct job *j, const struct live_state *live)
{
	struct part processes = {.view = v}, events = {.view = v}, incidents = {.view = v};
	print_job(v, j, live);
	int r = past_each_process(v->store, j, show_process, &processes);
	view_ends_print(&v->paper, &processes.ends);
	if (r == 0)
		r = store_each_event(v->store, j->id, 0, show_event, &events);
	if (r == 0)
		r = store_each_incident(v->store, j->id, show_incident, &incidents);
	return r < 0 ? view_failed(v, r, "the job") : 0;
}

static int show_run(const void *opts, int argc, char **argv)
{
	const struct show_options *o = opts;
	cleanup(view_done) struct view v = {.store = NULL};
	static struct live_state told; /* large */
	struct job j;
	int status = view_words("show", argc, argv, 1);
	if (status == 0)
		status = view_open(o->state, &v);
	if (status == 0)
		status = view_job(&v, argc == 1 ? argv[0] : NULL, &j);
	if (status != 0)
		return status;
	const struct live_state *live = view_live(&j, &told) ? &told : NULL;
	status = o->json ? show_json(&v, &j, live) : show_text(&v, &j, live);
	live_done(&told);
	return status;
}

const struct command command_show = {
	.name = "show",
	.usage = "vigil show [JOB|PID|last] [--json]",
	.summary = "show all that is known about a job",
	.examples = "vigil show last\n"
		    "vigil show digits --json",
	.options = options,
	.options_size = sizeof(struct show_options),
	.run = show_run,
	.paged = true,
	.usage_status = EXIT_USAGE,
};
