#include "agent/incident/report_gather.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mask/mask.h"
#include "agent/incident/ending.h"
#include "agent/jobs/jobran.h"
#include "agent/jobs/past.h"
#include "agent/memory/procnow.h"
#include "agent/incident/report_output.h"
#include "agent/incident/story.h"
#include "tell/incident/report.h"
#include "tell/jobs/job_json.h"

#define EVENTS_MOST 500
#define SAMPLES_MOST 600
#define PROCESSES_MOST 200

/* Which processes stand in a report that cannot hold all: the first kinds first. */
enum process_worth { WORTH_NAMED, WORTH_ENDED_BADLY, WORTH_RANK, WORTH_OF_RANK, WORTH_OTHER, WORTH_MAX };

struct gather {
	const struct report_from *from;
	const struct job *job;
	struct js *report, *incidents, *events, *attempts, *processes;
	const struct js *lead; /* borrowed from report; NULL: none */
	uint64_t n_events, at_event;
	uint64_t n_processes[WORTH_MAX], room[WORTH_MAX]; /* room: so many more of a kind */
	struct job_event first, last; /* of the attempt that is being read; kind empty: none yet */
};

/* ---- verdict ---- */

static void after_add(struct js *after, const char *text)
{
	if (text[0])
		js_add_text(after, text);
}

static void after_put(const struct job *j, const struct job_story *s, struct js *verdict)
{
	struct js *after = js_array();
	char text[600];
	after_add(after, s->end.text);
	if (s->before[0]) {
		TEXT_FORMAT(text, "Before that it had hung: %s", s->before_text);
		after_add(after, text);
	}
	text[0] = '\0';
	if (job_is_open(j))
		job_story_goes_on(j, s, clock_unix_ms(), text, sizeof(text));
	else if (j->state == JOB_DONE && !s->end.text[0])
		TEXT_FORMAT(text, "After that job %s went on and ended as it should, in attempt %u.", j->id,
			    j->attempt);
	after_add(after, text);
	js_put(verdict, "after", after);
}

/* tone: good, warn, bad, or empty where nothing is known. */
static const char *health_of(const struct job *j, const struct job_story *s, const char **ret_tone)
{
	*ret_tone = "bad";
	if (job_is_open(j) && s->leads_hang)
		return "hangs";
	if (j->state == JOB_FAILED && j->stopped) {
		*ret_tone = "";
		return "stopped on request";
	}
	if (j->state == JOB_FAILED)
		return "failed";
	if (j->state == JOB_LOST && j->ended_unix_ms <= 0)
		return "lost: how it ended is not known";
	*ret_tone = "warn";
	if (j->state == JOB_LOST)
		return "no longer watched";
	if (j->state == JOB_WAITING)
		return "waits for its next attempt";
	if (job_is_open(j) && s->json)
		return "runs; there was an incident before";
	*ret_tone = j->state == JOB_DONE && !j->has_exit ? "" : "good";
	if (job_is_open(j))
		return "runs";
	return j->has_exit ? "ended well" : "ended; its exit status is known only to its parent";
}

static struct js *lead_stored(const struct job_story *s)
{
	static struct incident i; /* too large for the stack */
	struct js *j = NULL;
	if (js_parse(s->json, strlen(s->json), &j, NULL) < 0)
		return NULL;
	i.ended = s->end;
	report_ended_put(j, &i);
	return j;
}

static int verdict_gather(struct gather *g)
{
	static struct incident made;
	cleanup(job_story_done) struct job_story s = {.json = NULL};
	const struct job *j = g->job;
	char text[300], ran[24];
	const char *tone;
	int r = job_story_read(g->from->store, j, &s);
	if (r < 0)
		return r;
	struct js *verdict = js_object(), *lead = NULL;
	bool stored = job_story_leads(j, &s);
	if (stored) {
		lead = lead_stored(&s);
		if (!lead)
			log_warning("a stored report of %s cannot be read back; it is left out", j->id);
	} else if (job_ending(j, &made)) {
		lead = report_json(&made);
	}
	TEXT_FORMAT(text, "Job %s is %s, for %s, attempt %u; there was no incident so far.", j->id,
		    job_state_name(j->state), job_ran(j, clock_unix_ms(), ran), j->attempt);
	if (!lead && !job_is_open(j))
		TEXT_FORMAT(text, "Job %s has ended; what is kept of it cannot be read.", j->id);
	js_put_text(verdict, "text", lead ? js_get_text(lead, "summary", text) : text);
	js_put_text(verdict, "health", health_of(j, &s, &tone));
	js_put_text_if(verdict, "tone", tone);
	if (stored)
		after_put(j, &s, verdict);
	if (lead)
		js_put(verdict, "incident", lead);
	js_put(g->report, "verdict", verdict);
	g->lead = js_get(js_get(g->report, "verdict"), "incident");
	return 0;
}

/* ---- memory ---- */

/* Each part of the run is told by the sample of it that has most memory, so that no peak is lost. */
struct thinned {
	uint64_t n, at, slot, highest_bytes;
	struct js *kept, *best;
	uint64_t node_total_bytes;
};

static struct js *sample_json(const struct series_sample *s, uint64_t own_bytes)
{
	struct js *o = js_object();
	js_put_i64(o, "time_unix_ms", s->time_unix_ms);
	js_put_u64(o, "attempt", s->attempt);
	if (s->job_bytes > 0)
		js_put_u64(o, "job_bytes", s->job_bytes);
	js_put_u64(o, "own_bytes", own_bytes);
	if (s->node_used_bytes > 0)
		js_put_u64(o, "node_used_bytes", s->node_used_bytes);
	return o;
}

static void sample_take(struct thinned *t, const struct series_sample *s)
{
	uint64_t own_bytes = 0, slot = t->at++ * SAMPLES_MOST / MAX(t->n, (uint64_t)SAMPLES_MOST);
	for (uint32_t i = 0; i < s->n_lanes; i++)
		own_bytes += s->lane[i].own_bytes;
	uint64_t bytes = MAX(s->job_bytes, own_bytes);
	t->node_total_bytes = s->node_total_bytes ? s->node_total_bytes : t->node_total_bytes;
	if (t->best && slot == t->slot && bytes <= t->highest_bytes)
		return;
	if (t->best && slot != t->slot)
		js_add(t->kept, take(&t->best));
	js_free(t->best);
	t->best = sample_json(s, own_bytes);
	t->slot = slot;
	t->highest_bytes = bytes;
}

static uint64_t each_sample(struct span text, struct thinned *t)
{
	static struct series_record record;
	struct series_reader reader;
	uint64_t n = 0;
	if (series_reader_init(&reader, text) < 0)
		return 0;
	while (series_next(&reader, &record))
		if (record.kind == SERIES_SAMPLE) {
			n++;
			if (t)
				sample_take(t, &record.sample);
		}
	return n;
}

static void limit_put(const struct gather *g, uint64_t node_total_bytes, struct js *memory)
{
	const struct js *met = js_get(g->lead, "memory");
	uint64_t met_bytes = (uint64_t)MAX(js_get_i64(met, "total_bytes", 0), (int64_t)0);
	const char *level = js_get_text(met, "level", "");
	bool of_machine = strcmp(js_get_text(met, "scope", ""), "node") == 0 || !level[0];
	char what[300] = "the job's own limit";
	uint64_t bytes = g->job->limit_bytes;
	if (bytes == 0 && met_bytes > 0 && !of_machine) {
		bytes = met_bytes;
		TEXT_FORMAT(what, "the limit that the report names%s%s", level[0] ? ": " : "", level);
	} else if (bytes == 0) {
		bytes = met_bytes > 0 ? met_bytes : node_total_bytes;
		TEXT_COPY(what, "the memory of the machine or container");
	}
	if (bytes > 0) {
		js_put_u64(memory, "limit_bytes", bytes);
		js_put_text(memory, "limit", what);
	}
}

static void memory_gather(struct gather *g)
{
	size_t len;
	int error;
	cleanup(freep) char *text = past_read(g->job, &len, &error);
	struct thinned t = {.kept = js_array()};
	if (error)
		log_warning("cannot read %s/%s (%s); the report has no picture of the memory", g->job->log_dir,
			    SERIES_FILE, strerror(error));
	if (text) {
		t.n = each_sample((struct span){text, len}, NULL);
		(void)each_sample((struct span){text, len}, &t);
	}
	if (t.best)
		js_add(t.kept, t.best);
	struct js *memory = js_object();
	limit_put(g, t.node_total_bytes, memory);
	js_put(memory, "samples", t.kept);
	js_put(g->report, "memory", memory);
}

/* ---- processes, events, attempts, incidents ---- */

static bool process_is_named(const struct gather *g, const struct job_process *p)
{
	const struct js *culprits = js_get(g->lead, "culprit_ranks"), *victim = js_get(g->lead, "victim");
	for (size_t i = 0; i < js_len(culprits); i++)
		if (p->rank >= 0 && js_as_i64(js_at(culprits, i), -1) == p->rank)
			return true;
	return js_get_i64(victim, "pid", -1) == p->pid ||
	       (p->rank >= 0 && js_get_i64(victim, "rank", -1) == p->rank);
}

static enum process_worth process_worth_of(const struct gather *g, const struct job_process *p)
{
	if (process_is_named(g, p))
		return WORTH_NAMED;
	if (p->has_status && p->wait_status != 0)
		return WORTH_ENDED_BADLY;
	if (p->rank >= 0 && p->attempt == g->job->attempt)
		return strcmp(p->role, "main") == 0 ? WORTH_RANK : WORTH_OF_RANK;
	return WORTH_OTHER;
}

static int report_process_count(void *ctx, const struct job_process *p)
{
	struct gather *g = ctx;
	g->n_processes[process_worth_of(g, p)]++;
	return 0;
}

/* Shares out the rows of the table. Returns how many processes get none. */
static uint64_t rows_share(struct gather *g)
{
	uint64_t left = PROCESSES_MOST, without = 0;
	for (size_t i = 0; i < WORTH_MAX; i++) {
		g->room[i] = MIN(g->n_processes[i], left);
		left -= g->room[i];
		without += g->n_processes[i] - g->room[i];
	}
	return without;
}

static int report_process_take(void *ctx, const struct job_process *stored)
{
	struct gather *g = ctx;
	struct job_process p = *stored;
	uint64_t *room = &g->room[process_worth_of(g, stored)];
	if (*room == 0)
		return 0;
	--*room;
	bool live = procnow_read(g->from->world, &p);
	struct js *o = process_json(&p);
	js_put_bool(o, "running", live);
	if (process_is_named(g, stored) && stored->attempt == js_get_i64(g->lead, "attempt", -1))
		js_put_bool(o, "named", true);
	js_add(g->processes, o);
	return 0;
}

/* over: another attempt follows, or the job has ended. */
static void attempt_put(struct gather *g, bool over)
{
	char text[560];
	if (!g->first.kind[0])
		return;
	struct js *o = js_object();
	js_put_u64(o, "attempt", g->first.attempt);
	js_put_i64(o, "began_unix_ms", g->first.time_unix_ms);
	if (over)
		js_put_i64(o, "ended_unix_ms", g->last.time_unix_ms);
	TEXT_FORMAT(text, "%s%s%s", g->last.kind, g->last.text[0] ? ": " : "", g->last.text);
	js_put_text(o, "last", text);
	js_add(g->attempts, o);
}

static int event_count(void *ctx, const struct job_event *e)
{
	struct gather *g = ctx;
	(void)e;
	g->n_events++;
	return 0;
}

static int event_take(void *ctx, const struct job_event *e)
{
	struct gather *g = ctx;
	if (!g->first.kind[0] || e->attempt > g->first.attempt) {
		attempt_put(g, true);
		g->first = *e;
	}
	g->last = *e;
	if (g->at_event++ + EVENTS_MOST < g->n_events)
		return 0;
	struct js *o = event_json(e);
	js_put_text(o, "severity", event_severity(e));
	js_add(g->events, o);
	return 0;
}

static int incident_take(void *ctx, const char *id, const char *text)
{
	struct gather *g = ctx;
	struct js *j = NULL;
	if (js_parse(text, strlen(text), &j, NULL) == 0)
		js_add(g->incidents, j);
	else
		log_warning("the stored report %s cannot be read back; it is left out", id);
	return 0;
}

static int rows_gather(struct gather *g)
{
	struct store *store = g->from->store;
	int r = past_each_process(store, g->job, report_process_count, g);
	uint64_t left_out = rows_share(g);
	if (left_out > 0)
		js_put_u64(g->report, "processes_left_out", left_out);
	if (r == 0)
		r = past_each_process(store, g->job, report_process_take, g);
	if (r == 0)
		r = store_each_event(store, g->job->id, 0, event_count, g);
	if (r == 0)
		r = store_each_event(store, g->job->id, 0, event_take, g);
	attempt_put(g, !job_is_open(g->job) && g->job->state != JOB_LOST);
	return r == 0 ? store_each_incident(store, g->job->id, incident_take, g) : r;
}

static void progress_put(const struct gather *g)
{
	static struct job_steps known;
	char text[160];
	past_steps(g->job, &known);
	past_steps_put(g->report, &known);
	past_steps_text(g->job, &known, text, sizeof(text));
	js_put_text_if(g->report, "progress", text);
}

int report_gather(const struct report_from *from, const struct job *j, struct js **ret)
{
	struct gather g = {.from = from, .job = j, .report = js_object(), .incidents = js_array(), .events = js_array(),
			   .attempts = js_array(), .processes = js_array()};
	js_put_text(g.report, "schema", "vigil.report/1");
	js_put_i64(g.report, "made_unix_ms", clock_unix_ms());
	js_put(g.report, "job", job_json(j));
	int r = verdict_gather(&g);
	if (r == 0)
		r = rows_gather(&g);
	progress_put(&g);
	memory_gather(&g);
	js_put(g.report, "processes", g.processes);
	js_put(g.report, "attempts", g.attempts);
	js_put(g.report, "events", g.events);
	if (g.n_events > EVENTS_MOST)
		js_put_u64(g.report, "events_left_out", g.n_events - EVENTS_MOST);
	js_put(g.report, "incidents", g.incidents);
	uint64_t files_left_out = 0;
	js_put(g.report, "output", report_output(from->state_dir, j, g.lead, &files_left_out));
	if (files_left_out > 0)
		js_put_u64(g.report, "output_left_out", files_left_out);
	if (r < 0) {
		js_free(g.report);
		return r;
	}
	js_change_texts(g.report, mask_text);
	*ret = g.report;
	return 0;
}
