#include "agent/metrics/metricsgather.h"

#include <stdlib.h>
#include <string.h>

#include "agent/jobs/joblife.h"
#include "agent/jobs/profilenote.h"
#include "agent/metrics/metricslive.h"
#include "agent/metrics/metricsseries.h"
#include "base/json.h"
#include "model/incident/incident.h"
#include "sense/rank.h"

/* An ended job has metrics of its own for so long, so that every scraper sees its end. */
#define ENDED_KEPT_MS (INT64_C(10) * 60 * 1000)
/* A suspicion or a harmless standstill of which nothing more was heard is over after this. */
#define SUSPECTED_KEPT_MS (INT64_C(30) * 60 * 1000)

/* What the events of a job say of its progress, up to the event `seq`. */
struct standing {
	enum metrics_hang hang;
	uint32_t attempt;
	uint64_t seq;
	int64_t since_unix_ms;
	char incident[64];
};

struct known {
	struct metrics_series series;
	struct standing standing;
};

struct metrics_memory {
	struct known *job; /* METRICS_JOBS of them; owned */
	size_t n;
};

struct metrics_memory *metrics_memory_new(void)
{
	struct metrics_memory *m = calloc(1, sizeof(*m));
	if (m)
		m->job = calloc(METRICS_JOBS, sizeof(*m->job));
	return m && m->job ? m : metrics_memory_free(m);
}

struct metrics_memory *metrics_memory_free(struct metrics_memory *m)
{
	if (m)
		free(m->job);
	free(m);
	return NULL;
}

/* ---- jobs ---- */

struct gathering {
	struct metrics_memory *memory;
	struct store *store;
	const struct world *world;
	struct metrics_facts *facts;
};

static int job_take(void *ctx, const struct job *j)
{
	struct gathering *g = ctx;
	struct metrics_facts *f = g->facts;
	enum job_state state = joblife_is_lost(g->world, j) ? JOB_LOST : j->state;
	bool open = state == JOB_STARTING || state == JOB_RUNNING || state == JOB_WAITING;
	bool stopped = state == JOB_FAILED && j->stopped;
	f->jobs_in_state[stopped ? METRICS_STOPPED : state < JOB_STATE_MAX ? (int)state : JOB_LOST]++;
	/* nobody wrote down when a lost job was lost: at its last sample */
	int64_t ended = open || j->ended_unix_ms > 0 ? j->ended_unix_ms : metricsseries_changed_unix_ms(j->log_dir);
	if (!open && f->now_unix_ms - MAX(ended, j->started_unix_ms) > ENDED_KEPT_MS)
		return 0;
	if (f->n_jobs == METRICS_JOBS) {
		f->jobs_left_out++;
		return 0;
	}
	f->job[f->n_jobs] = (struct metrics_job){.job = *j};
	f->job[f->n_jobs++].job.state = state;
	return 0;
}

/* What is known of a job that was read before, or a new one in the place of one whose job is no longer told of. */
static struct known *known_of(struct metrics_memory *m, const char *job)
{
	struct known *unseen = NULL;
	for (size_t i = 0; i < m->n; i++) {
		if (strcmp(m->job[i].series.job, job) == 0)
			return &m->job[i];
		if (!m->job[i].series.seen)
			unseen = &m->job[i];
	}
	if (m->n < METRICS_JOBS)
		unseen = &m->job[m->n++];
	if (!unseen)
		return NULL;
	memset(unseen, 0, sizeof(*unseen));
	TEXT_COPY(unseen->series.job, job);
	return unseen;
}

static int series_take(struct metrics_series *s, struct metrics_job *j)
{
	s->seen = true;
	metricsseries_read(s, j->job.log_dir);
	j->steps = s->times.times;
	j->sampled_unix_ms = s->sampled_unix_ms;
	j->group_bytes = s->group_bytes;
	j->rank = calloc(s->n_ranks + 1, sizeof(*j->rank));
	if (!j->rank)
		return -ENOMEM;
	memcpy(j->rank, s->rank, s->n_ranks * sizeof(*j->rank));
	j->n_ranks = s->n_ranks;
	return 0;
}

/* ---- whether it moves ---- */

static int event_take(void *ctx, const struct job_event *e)
{
	static const struct {
		const char *kind;
		enum metrics_hang hang;
	} means[] = {
		{"attempt_start", METRICS_WELL},    {"hang_resolved", METRICS_WELL},  {"suspected", METRICS_SUSPECTED},
		{"standstill", METRICS_STANDSTILL}, {"hang", METRICS_HUNG},	      {"straggler", METRICS_STRAGGLER},
		{"slowdown", METRICS_SLOWDOWN},	    {"straggler_over", METRICS_WELL},
	};
	struct standing *s = ctx;
	if (e->attempt != s->attempt)
		*s = (struct standing){.attempt = e->attempt};
	s->seq = e->seq;
	for (size_t i = 0; i < ARRAY_SIZE(means); i++) {
		if (strcmp(e->kind, means[i].kind) != 0)
			continue;
		s->hang = means[i].hang;
		s->since_unix_ms = e->time_unix_ms;
		TEXT_COPY(s->incident, e->incident);
	}
	return 0;
}

static bool stepped_since(const struct metrics_job *j, int64_t unix_ms)
{
	for (uint32_t i = 0; i < j->n_ranks; i++)
		if (j->rank[i].moved_unix_ms > unix_ms)
			return true;
	return false;
}

/* How much slower the culprits of a report are. */
static void slower_take(struct store *store, const char *incident, struct metrics_job *j)
{
	cleanup(freep) char *text = NULL;
	cleanup(js_freep) struct js *report = NULL;
	struct fault f;
	if (!incident[0] || store_find_incident(store, incident, &text) != 0 ||
	    js_parse(text, strlen(text), &report, &f) < 0)
		return;
	double ratio = js_get_double(js_get(report, "hang"), "slower_ratio", 0);
	const struct js *culprits = js_get(report, "culprit_ranks");
	for (size_t i = 0; culprits && i < js_len(culprits); i++)
		for (uint32_t k = 0; k < j->n_ranks; k++)
			if (j->rank[k].rank == js_as_i64(js_at(culprits, i), NO_RANK))
				j->rank[k].slower_ratio = ratio;
}

static int standing_take(struct gathering *g, struct standing *s, struct metrics_job *j)
{
	int r = store_each_event(g->store, j->job.id, s->seq, event_take, s);
	if (r < 0)
		return r;
	bool passing = s->hang == METRICS_SUSPECTED || s->hang == METRICS_STANDSTILL;
	bool over = passing && (stepped_since(j, s->since_unix_ms) ||
				g->facts->now_unix_ms - s->since_unix_ms > SUSPECTED_KEPT_MS);
	j->hang = over ? METRICS_WELL : s->hang;
	if (s->hang == METRICS_STRAGGLER || s->hang == METRICS_SLOWDOWN)
		slower_take(g->store, s->incident, j);
	return 0;
}

static void threshold_take(struct gathering *g, struct metrics_job *j)
{
	char text[32], *end;
	if (store_get_note(g->store, j->job.id, STORE_NOTE_THRESHOLD, text, sizeof(text)) != 0)
		return;
	double ratio = strtod(text, &end);
	if (end != text && ratio > 0 && ratio <= 1)
		j->threshold_ratio = ratio;
}

static void notes_take(struct gathering *g, struct metrics_job *j)
{
	char names[sizeof(j->framework)];
	size_t n = 0;
	_Static_assert(PROFILENOTE_KIND_MAX <= METRICS_PROFILES, "each kind has its place");
	threshold_take(g, j);
	if (store_get_note(g->store, j->job.id, STORE_NOTE_FRAMEWORK, names, sizeof(names)) == 0)
		TEXT_COPY(j->framework, names);
	for (int k = 0; k < PROFILENOTE_KIND_MAX; k++) {
		struct profilenote p;
		profilenote_read(g->store, j->job.id, (enum profilenote_kind)k, &p);
		if (p.n > 0)
			j->profiles[n++] = (struct metrics_profiles){profilenote_kind_name((enum profilenote_kind)k),
								     p.n, p.took_ns};
	}
}

static int jobs_take(struct gathering *g)
{
	g->facts->job = calloc(METRICS_JOBS, sizeof(*g->facts->job));
	if (!g->facts->job)
		return -ENOMEM;
	for (size_t i = 0; i < g->memory->n; i++)
		g->memory->job[i].series.seen = false;
	int r = store_each_job(g->store, 0, job_take, g);
	for (size_t i = 0; r == 0 && i < g->facts->n_jobs; i++) {
		struct metrics_job *j = &g->facts->job[i];
		struct known *known = known_of(g->memory, j->job.id);
		r = known ? series_take(&known->series, j) : 0;
		if (r == 0 && known && job_is_open(&j->job))
			r = standing_take(g, &known->standing, j);
		notes_take(g, j);
	}
	return r;
}

/* ---- counters ---- */

#define COUNTS_ROOM (METRICS_WHAT_MAX * (METRICS_COUNTS + 1))

static struct metrics_count *count_find(struct metrics_facts *f, const struct metrics_count *like)
{
	for (size_t i = 0; i < f->n_counts; i++)
		if (f->count[i].what == like->what && memcmp(f->count[i].label, like->label, sizeof(like->label)) == 0)
			return &f->count[i];
	return NULL;
}

static struct metrics_count *count_at(struct metrics_facts *f, const struct metrics_count *like)
{
	const struct metrics_count other = {.what = like->what, .label = {"other", "other", "other", "other"}};
	struct metrics_count *have = count_find(f, like);
	size_t n = 0;
	if (have)
		return have;
	for (size_t i = 0; i < f->n_counts; i++)
		n += f->count[i].what == like->what;
	if (n >= METRICS_COUNTS) {
		have = count_find(f, &other);
		like = &other;
	}
	if (have || f->n_counts == COUNTS_ROOM)
		return have;
	f->count[f->n_counts] = *like;
	f->count[f->n_counts].n = 0;
	return &f->count[f->n_counts++];
}

static void count_add(struct metrics_facts *f, const struct metrics_count *c)
{
	struct metrics_count *to = count_at(f, c);
	if (!to)
		return;
	to->n += c->n;
	if (!c->incident[0] || c->time_unix_ms < to->time_unix_ms)
		return;
	to->time_unix_ms = c->time_unix_ms;
	TEXT_COPY(to->incident, c->incident);
}

static bool is_kill(enum incident_kind k)
{
	return k == INCIDENT_MEMORY_KILL || k == INCIDENT_KERNEL_OOM || k == INCIDENT_CGROUP_OOM ||
	       k == INCIDENT_SYSTEMD_OOMD || k == INCIDENT_OTHER_OOM_DAEMON || k == INCIDENT_KILLED_BY;
}

/* A name in hexadecimal; what is no such text gives nothing. */
static void unhex(const char *hex, char *dst, size_t cap)
{
	static const char digits[] = "0123456789ABCDEF";
	size_t n = 0;
	for (; hex[0] && hex[1] && n + 1 < cap; hex += 2) {
		const char *high = strchr(digits, hex[0]), *low = strchr(digits, hex[1]);
		if (!high || !low)
			break;
		dst[n++] = (char)((high - digits) * 16 + (low - digits));
	}
	dst[n] = '\0';
}

static void kill_count(struct metrics_facts *f, const struct js *key, struct metrics_count c)
{
	const struct js *how = js_at(key, 2);
	char name[64], killer[32];
	unhex(js_as_text(js_at(key, 3), ""), name, sizeof(name));
	text_copy(killer, sizeof(killer), killer_name(killer_of(js_as_text(js_at(how, 0), "unknown"))));
	const char *policy = js_as_text(js_at(how, 1), ""), *cause = js_as_text(js_at(how, 3), "");
	c.what = METRICS_KILLS;
	memset(c.label, 0, sizeof(c.label));
	(void)metrics_name(killer, c.label[0], sizeof(c.label[0]));
	(void)metrics_name(policy[0] ? policy : "none", c.label[1], sizeof(c.label[1]));
	(void)metrics_name(name, c.label[2], sizeof(c.label[2]));
	(void)metrics_name(cause[0] ? cause : "unknown", c.label[3], sizeof(c.label[3]));
	count_add(f, &c);
}

static void incident_count(struct metrics_facts *f, const struct js *key, struct metrics_count c)
{
	enum incident_kind kind = incident_kind_of(js_as_text(js_at(key, 1), ""));
	const char *next = js_as_text(js_at(js_at(key, 2), 2), "");
	if (kind == INCIDENT_NONE)
		return;
	c.what = METRICS_INCIDENTS;
	TEXT_COPY(c.label[0], incident_kind_name(kind));
	count_add(f, &c);
	/* a hang that vigil ended is a kill, one that it left alone is none */
	const char *killer = js_as_text(js_at(js_at(key, 2), 0), "");
	if (is_kill(kind) || (kind == INCIDENT_HANG && killer_of(killer) == KILLER_VIGIL))
		kill_count(f, key, c);
	bool again = strcmp(next, retry_name(RETRY_RETRY)) == 0;
	if (!again && strcmp(next, retry_name(RETRY_GIVE_UP)) != 0)
		return;
	memset(c.label, 0, sizeof(c.label));
	c.what = METRICS_RETRIES;
	TEXT_COPY(c.label[0], again ? "retried" : "given_up");
	count_add(f, &c);
}

static int tally_take(void *ctx, const char *key_text, const char *value_text)
{
	struct metrics_facts *f = ctx;
	cleanup(js_freep) struct js *key = NULL;
	cleanup(js_freep) struct js *value = NULL;
	struct fault fault;
	if (!key_text || !value_text || js_parse(key_text, strlen(key_text), &key, &fault) < 0 ||
	    js_parse(value_text, strlen(value_text), &value, &fault) < 0)
		return 0;
	struct metrics_count c = {.n = (uint64_t)MAX(js_as_i64(js_at(value, 0), 0), INT64_C(0)),
				  .time_unix_ms = js_as_i64(js_at(value, 1), 0)};
	TEXT_COPY(c.incident, js_as_text(js_at(value, 2), ""));
	if (strcmp(js_as_text(js_at(key, 0), ""), "incident") == 0) {
		incident_count(f, key, c);
		return 0;
	}
	const char *state = js_as_text(js_at(key, 1), "");
	c = (struct metrics_count){.what = METRICS_ENDED, .n = c.n};
	for (int k = JOB_DONE; k < METRICS_STATES; k++)
		if (strcmp(state, metrics_state_name(k)) == 0) {
			TEXT_COPY(c.label[0], state);
			count_add(f, &c);
		}
	return 0;
}

/* A counter that is there from the beginning: the first increase of one that appears with 1 is not seen. */
static void zero_add(struct metrics_facts *f, enum metrics_what what, const char *label)
{
	struct metrics_count c = {.what = what};
	TEXT_COPY(c.label[0], label);
	count_add(f, &c);
}

static int counts_take(struct gathering *g)
{
	struct metrics_facts *f = g->facts;
	f->count = calloc(COUNTS_ROOM, sizeof(*f->count));
	if (!f->count)
		return -ENOMEM;
	for (int k = INCIDENT_NONE + 1; k < INCIDENT_KIND_MAX; k++)
		zero_add(f, METRICS_INCIDENTS, incident_kind_name((enum incident_kind)k));
	zero_add(f, METRICS_RETRIES, "retried");
	zero_add(f, METRICS_RETRIES, "given_up");
	for (int k = JOB_DONE; k < METRICS_STATES; k++)
		zero_add(f, METRICS_ENDED, metrics_state_name(k));
	return store_each_tally(g->store, tally_take, f);
}

int metrics_gather(struct metrics_memory *m, struct store *s, const struct world *w, const struct metrics_want *want,
		   struct metrics_facts *ret, struct fault *f)
{
	struct metrics_facts facts = {.now_unix_ms = w->unix_ms(), .has_store = s != NULL};
	struct gathering g = {.memory = m, .store = s, .world = w, .facts = &facts};
	if (gethostname(facts.node, sizeof(facts.node) - 1) != 0)
		TEXT_COPY(facts.node, "this node");
	int r = s ? jobs_take(&g) : 0;
	if (r == 0 && s)
		r = counts_take(&g);
	if (r != 0)
		r = fault_set(f, r < 0 ? r : -EIO, "the store cannot be read for metrics: %s",
			      strerror(r < 0 ? -r : EIO));
	metricslive_node(w, &facts);
	metricslive_self(w, &facts);
	if (r == 0 && want->processes)
		r = metricslive_processes(w, &facts, f);
	if (r == 0 && want->gpus)
		r = metricslive_gpus(w, &facts, f);
	if (r != 0) {
		metrics_facts_done(&facts);
		return r;
	}
	*ret = facts;
	return 0;
}
