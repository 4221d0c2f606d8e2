#include "agent/incident/story.h"

#include <stdlib.h>
#include <string.h>

#include "agent/jobs/jobran.h"
#include "base/buf.h"
#include "base/jsonpart.h"
#include "base/units.h"
#include "judge/death/story.h"

/* A stored incident, as far as the story needs it. */
struct kept {
	char *json; /* owned */
	char summary[400];
	int64_t time_unix_ms;
	int64_t stands_since_unix_ms; /* a hang; 0: unknown */
	char ended_by[48]; /* a hang: the setting by which vigil ended the job; empty: it did not */
};

struct reading {
	struct story story;
	struct kept newest, hang;
	struct job_event signal; /* the last signal that vigil passed on; seq 0: none */
};

static void story_reading_done(struct reading *g)
{
	free(g->newest.json);
	free(g->hang.json);
}

static int story_keep(struct kept *k, const char *json, const struct js *j)
{
	char *copy = strdup(json);
	if (!copy)
		return -ENOMEM;
	free(k->json);
	*k = (struct kept){.json = copy, .time_unix_ms = js_get_i64(j, "time_unix_ms", 0)};
	int64_t stood_ms = js_get_i64(js_get(j, "hang"), "standstill_ms", 0);
	if (stood_ms > 0 && stood_ms < k->time_unix_ms)
		k->stands_since_unix_ms = k->time_unix_ms - stood_ms;
	TEXT_COPY(k->summary, js_get_text(j, "summary", ""));
	if (killer_of(js_get_text(j, "killer", "")) == KILLER_VIGIL)
		TEXT_COPY(k->ended_by, js_get_text(j, "killer_text", ""));
	return 0;
}

static int incident_take(void *ctx, const char *id, const char *json)
{
	static const struct jsonpart parts[] = {
		{"kind", 0},	{"attempt", 0}, {"hang", 0},	   {"time_unix_ms", 0},
		{"summary", 0}, {"killer", 0},	{"killer_text", 0}};
	struct reading *g = ctx;
	cleanup(js_freep) struct js *j = NULL;
	struct story_part p = {.kind = INCIDENT_NONE};
	if (jsonpart_parse(json, strlen(json), parts, ARRAY_SIZE(parts), &j) == 0) {
		p.kind = incident_kind_of(js_get_text(j, "kind", ""));
		p.attempt = (uint32_t)MAX(js_get_i64(j, "attempt", 0), (int64_t)0);
		p.hang_over = js_get_bool(js_get(j, "hang"), "resolved", false);
	}
	TEXT_COPY(p.id, id);
	story_add(&g->story, &p);
	int r = story_keep(&g->newest, json, j);
	bool is_hang = strcmp(g->story.hang.id, id) == 0;
	return r == 0 && is_hang ? story_keep(&g->hang, json, j) : r;
}

static int signal_take(void *ctx, const struct job_event *e)
{
	struct reading *g = ctx;
	if (strcmp(e->kind, "signal") == 0 && e->attempt == g->story.hang.attempt)
		g->signal = *e;
	return 0;
}

static void signal_text(const struct reading *g, struct incident_end *e)
{
	struct buf b = {.text = e->text, .len = strlen(e->text), .cap = sizeof(e->text)};
	if (g->signal.seq > 0 && g->signal.time_unix_ms >= g->hang.time_unix_ms)
		buf_printf(&b, "%sThe signal: %s.", b.len ? " " : "", g->signal.text);
}

static void end_tell(const struct reading *g, const struct job *j, struct incident_end *e)
{
	char ran[24];
	if (job_is_open(j))
		return;
	e->time_unix_ms = j->ended_unix_ms;
	if (strcmp(g->story.newest.id, g->story.hang.id) != 0) {
		TEXT_COPY(e->text, g->newest.summary);
		TEXT_COPY(e->incident, g->story.newest.id);
	} else if (j->state == JOB_LOST) {
		TEXT_FORMAT(e->text, "%s",
			    j->ended_unix_ms > 0
				    ? "Vigil was told to stop watching; what became of the job since is not known."
				    : "Vigil itself was ended while the job hung, most likely by SIGKILL.");
	} else if (g->hang.ended_by[0]) {
		TEXT_FORMAT(e->text, "Vigil ended it, as it hung (%s), after %s in all.", g->hang.ended_by,
			    job_ran(j, 0, ran));
	} else if (j->has_exit) {
		TEXT_FORMAT(e->text, "It ended with exit status %d, after %s in all.", j->exit_status,
			    job_ran(j, 0, ran));
	} else {
		TEXT_FORMAT(e->text, "It ended after %s in all; its exit status is known only to its parent.",
			    job_ran(j, 0, ran));
	}
	signal_text(g, e);
}

int job_story_read(struct store *store, const struct job *j, struct job_story *ret)
{
	cleanup(story_reading_done) struct reading g = {.signal = {.seq = 0}};
	int r = store_each_incident(store, j->id, incident_take, &g);
	if (r == 0 && g.story.hang.id[0])
		r = store_each_event(store, j->id, 0, signal_take, &g);
	if (r < 0)
		return r;
	*ret = (struct job_story){.leads_hang = story_hang_leads(&g.story)};
	ret->json = ret->leads_hang ? take(&g.hang.json) : take(&g.newest.json);
	if (ret->leads_hang)
		end_tell(&g, j, &ret->end);
	if (ret->leads_hang && g.story.hang.attempt == j->attempt)
		ret->stands_since_unix_ms = g.hang.stands_since_unix_ms;
	if (!story_hang_before(&g.story))
		return 0;
	TEXT_COPY(ret->before, g.story.hang.id);
	TEXT_COPY(ret->before_text, g.hang.summary);
	return 0;
}

void job_story_goes_on(const struct job *j, const struct job_story *s, int64_t now_unix_ms, char *dst, size_t cap)
{
	char since[24], stands[24];
	int64_t ms = now_unix_ms - s->stands_since_unix_ms;
	if (s->stands_since_unix_ms > 0 && ms > 0)
		text_format(dst, cap, "Job %s still stands: since %s, for %s now; it is %s, attempt %u.", j->id,
			    time_format(s->stands_since_unix_ms, since),
			    duration_format((uint64_t)ms * NS_PER_MS, stands), job_state_name(j->state), j->attempt);
	else
		text_format(dst, cap, "Job %s goes on: it is %s, attempt %u.", j->id, job_state_name(j->state),
			    j->attempt);
}

void job_stopped_look(struct store *store, struct job *j)
{
	static const struct jsonpart parts[] = {{"kind", 0}, {"cause", 0}};
	cleanup(job_story_done) struct job_story story = {.json = NULL};
	cleanup(js_freep) struct js *lead = NULL;
	if (!store || j->state != JOB_FAILED || !j->last_incident[0])
		return;
	if (job_story_read(store, j, &story) < 0 || !story.json)
		return;
	if (jsonpart_parse(story.json, strlen(story.json), parts, ARRAY_SIZE(parts), &lead) < 0)
		return;
	j->stopped = incident_kind_of(js_get_text(lead, "kind", "")) == INCIDENT_KILLED_BY &&
		     incident_asked(js_get_text(js_get(lead, "cause"), "id", ""));
}

bool job_story_leads(const struct job *j, const struct job_story *s)
{
	return s->json && (j->state != JOB_LOST || j->ended_unix_ms > 0 || s->leads_hang);
}

void job_story_done(struct job_story *s)
{
	free(s->json);
	s->json = NULL;
}
