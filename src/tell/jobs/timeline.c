#include "tell/jobs/timeline.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/signame.h"
#include "base/vec.h"
#include "model/incident/incident.h"
#include "tell/incident/report.h"
#include "tell/jobs/bulklife.h"
#include "tell/jobs/curvekeep.h"
#include "tell/jobs/jobpast.h"
#include "tell/jobs/killpoint.h"
#include "tell/jobs/lifeorder.h"
#include "tell/jobs/serieslook.h"
#include "tell/store/series.h"
#include "tell/store/storelast.h"
#include "tell/jobs/timeline_ray.h"
#include "tell/jobs/trace_json.h"

/* Lanes, in the order they are shown. Ranks begin at LANE_RANK: a trace's lane 0 is the idle process of the kernel. */
enum { LANE_JOB = 1, LANE_NODE = 2, LANE_NONE = 3, LANE_RANK = 10 };
/* Rows of LANE_JOB. */
enum { ROW_ATTEMPTS = 1, ROW_EVENTS = 2, ROW_INCIDENTS = 3, ROW_FIRST = 10 };
#define ATTEMPTS_MAX 256
#define KINDS_MAX 64
/* Rows that a picture has for processes of one kind of one rank. */
#define ROWS_OF_PICTURE 16
/* Large processes of a job without ranks that have a counter each. */
#define LARGE_MOST 16

struct attempt {
	int64_t began_ms, ended_ms; /* unix; 0: not known */
	bool open; /* one of its processes has no known end */
};

/* One line of spans that do not overlap. */
struct row {
	int64_t id, free_us;
};

/* Those of one kind of process in one lane. */
struct rows {
	int64_t lane;
	char class[16];
	struct row *of;
	size_t n, cap;
};

struct timeline {
	const struct timeline_want *want;
	struct trace_json json;
	int64_t began_ms, until_ms;
	struct attempt attempt[ATTEMPTS_MAX];
	uint32_t n_attempts;
	int64_t *lane; /* lanes that have a name */
	size_t n_lanes, lanes_cap;
	struct rows *rows;
	size_t n_rows, rows_cap; /* of all kinds */
	int64_t last_row; /* number of the newest */
	struct lifeorder *told; /* processes from the store */
	size_t n_told, told_cap;
	struct series_process *worker;
	size_t n_workers, workers_cap;
	struct bulklife *large; /* the largest processes of a job without ranks */
	size_t n_large;
	char large_name[LARGE_MOST][64]; /* of their counters */
	bool large_told[LARGE_MOST]; /* its counter is not 0 */
	uint64_t n_samples, skipped_bytes;
	struct {
		char name[32];
		int64_t at_ms;
	} kind[KINDS_MAX]; /* of events: when the last one that was written happened */
	size_t n_kinds;
	uint64_t left_out;
	struct curvekeep curves; /* of a picture */
	struct series_steps steps; /* that were written last; n 0: none */
	int64_t looked_ms; /* unix: the latest time of which memory was told */
	bool last_part; /* of which every curve is told, so that it reaches as far */
	bool rankless; /* a process without a rank was sampled */
	bool no_memory;
	struct killpoints kills;
};

static void timeline_done(struct timeline *t)
{
	for (size_t i = 0; i < t->n_rows; i++)
		free(t->rows[i].of);
	free(t->lane);
	free(t->rows);
	free(t->told);
	free(t->worker);
	free(t->large);
	curvekeep_done(&t->curves);
}

/* One more element; NULL and no_memory when there is no room. */
static void *grow(struct timeline *t, void **array, size_t *n, size_t *cap, size_t each)
{
	if (vec_reserve(array, cap, *n + 1, each) < 0) {
		t->no_memory = true;
		return NULL;
	}
	return (char *)*array + (*n)++ * each;
}

static int64_t at_us(const struct timeline *t, int64_t unix_ms)
{
	int64_t ms = MIN(MAX(unix_ms, t->began_ms), t->until_ms) - t->began_ms;
	return ms * 1000;
}

/* What is wanted of the life; of a whole one everything that has a time, even a wrong one. */
static int64_t wanted_from_ms(const struct timeline *t)
{
	const struct timeline_want *w = t->want;
	return w->from_unix_ms ? w->from_unix_ms : w->points ? t->began_ms : INT64_MIN;
}

static int64_t wanted_to_ms(const struct timeline *t)
{
	const struct timeline_want *w = t->want;
	return w->to_unix_ms ? w->to_unix_ms : w->points ? t->until_ms : INT64_MAX;
}

/* A quarter of a part: a picture has about a pixel for it. 0: nothing is too short. */
static int64_t shortest_ms(const struct timeline *t)
{
	uint32_t points = t->want->points;
	return points ? MAX(wanted_to_ms(t) - wanted_from_ms(t), INT64_C(0)) / ((int64_t)points * 4) : 0;
}

/* Else it is counted as left out. */
static bool span_is_told(struct timeline *t, int64_t from_ms, int64_t to_ms)
{
	int64_t shortest = shortest_ms(t);
	bool told = from_ms <= wanted_to_ms(t) && to_ms >= wanted_from_ms(t) &&
		    (shortest == 0 || to_ms - from_ms >= shortest);
	t->left_out += !told;
	return told;
}

/* Of events of one kind that would stand on each other the first is told. */
static bool event_is_told(struct timeline *t, const struct job_event *e)
{
	size_t i = 0;
	while (i < t->n_kinds && strcmp(t->kind[i].name, e->kind) != 0)
		i++;
	bool known = i < t->n_kinds;
	bool told = e->time_unix_ms >= wanted_from_ms(t) && e->time_unix_ms <= wanted_to_ms(t) &&
		    (!known || llabs(e->time_unix_ms - t->kind[i].at_ms) >= shortest_ms(t));
	t->left_out += !told;
	if (!told || i == KINDS_MAX)
		return told;
	TEXT_COPY(t->kind[i].name, e->kind);
	t->kind[i].at_ms = e->time_unix_ms;
	t->n_kinds += !known;
	return true;
}

static int64_t timeline_lane_find(struct timeline *t, int32_t rank)
{
	int64_t lane = rank < 0 ? LANE_NONE : LANE_RANK + (int64_t)rank;
	for (size_t i = 0; i < t->n_lanes; i++)
		if (t->lane[i] == lane)
			return lane;
	int64_t *known = grow(t, (void **)&t->lane, &t->n_lanes, &t->lanes_cap, sizeof(*t->lane));
	if (!known)
		return lane;
	*known = lane;
	char name[200];
	const struct job *j = t->want->job;
	if (rank < 0)
		TEXT_FORMAT(name, "%s (%s)", j->name[0] ? j->name : j->id, j->node);
	else
		TEXT_FORMAT(name, "rank %d (%s)", rank, j->node);
	trace_json_lane(&t->json, lane, name, lane);
	return lane;
}

static struct rows *timeline_rows_of(struct timeline *t, int64_t lane, const char *class)
{
	for (size_t i = 0; i < t->n_rows; i++)
		if (t->rows[i].lane == lane && strcmp(t->rows[i].class, class) == 0)
			return &t->rows[i];
	struct rows *rows = grow(t, (void **)&t->rows, &t->n_rows, &t->rows_cap, sizeof(*t->rows));
	if (!rows)
		return NULL;
	*rows = (struct rows){.lane = lane};
	TEXT_COPY(rows->class, class);
	return rows;
}

/* Takes a row of the lane that is free from at_us on, until end_us; negative: a picture has no room for one more. */
static int64_t timeline_row_find(struct timeline *t, int64_t lane, const char *class, int64_t from_us, int64_t end_us)
{
	struct rows *rows = timeline_rows_of(t, lane, class);
	for (size_t i = 0; rows && i < rows->n; i++) {
		if (rows->of[i].free_us > from_us)
			continue;
		rows->of[i].free_us = end_us;
		return rows->of[i].id;
	}
	if (rows && t->want->points > 0 && rows->n >= ROWS_OF_PICTURE)
		return -1;
	struct row *r = rows ? grow(t, (void **)&rows->of, &rows->n, &rows->cap, sizeof(*rows->of)) : NULL;
	if (!r)
		return ROW_FIRST;
	*r = (struct row){.id = ROW_FIRST + ++t->last_row, .free_us = end_us};
	char name[40];
	if (rows->n > 1)
		TEXT_FORMAT(name, "%s %zu", class, rows->n);
	else
		TEXT_COPY(name, class);
	trace_json_row(&t->json, lane, r->id, name);
	return r->id;
}

/* Processes ------------------------------------------------------------- */

static const char *ending(bool known, int32_t wait_status, char dst[static 32])
{
	(void)text_copy(dst, 32, "");
	const char *name = known && WIFSIGNALED(wait_status) ? signame(WTERMSIG(wait_status)) : NULL;
	if (known && WIFEXITED(wait_status))
		(void)text_format(dst, 32, "exit status %d", WEXITSTATUS(wait_status));
	else if (known && WIFSIGNALED(wait_status))
		(void)text_format(dst, 32, "signal %d%s%s", WTERMSIG(wait_status), name ? " " : "", name ? name : "");
	return dst;
}

static struct attempt *attempt_of(struct timeline *t, uint32_t number)
{
	if (number >= ATTEMPTS_MAX)
		return NULL;
	t->n_attempts = MAX(t->n_attempts, number + 1);
	return &t->attempt[number];
}

static void attempt_began(struct timeline *t, uint32_t number, int64_t unix_ms)
{
	struct attempt *a = attempt_of(t, number);
	if (a && (a->began_ms == 0 || unix_ms < a->began_ms))
		a->began_ms = unix_ms;
}

static int note_process(void *ctx, const struct job_process *p)
{
	struct timeline *t = ctx;
	struct attempt *a = attempt_of(t, p->attempt);
	attempt_began(t, p->attempt, p->started_unix_ms);
	if (a) {
		a->ended_ms = MAX(a->ended_ms, p->ended_unix_ms);
		a->open |= p->ended_unix_ms == 0;
	}
	t->until_ms = MAX(t->until_ms, p->ended_unix_ms);
	struct lifeorder *l = grow(t, (void **)&t->told, &t->n_told, &t->told_cap, sizeof(*t->told));
	if (l)
		*l = (struct lifeorder){p->pid, p->start_ticks};
	return 0;
}

/* False: it is left out. Else its arguments follow. */
static bool process_span(struct timeline *t, int32_t rank, const char *class, const char *called, pid_t pid,
			 int64_t from_ms, int64_t ended_ms)
{
	int64_t to_ms = ended_ms ? ended_ms : t->until_ms;
	char name[64];
	if (!span_is_told(t, from_ms, to_ms))
		return false;
	int64_t lane = timeline_lane_find(t, rank), from = at_us(t, from_ms), end = MAX(at_us(t, to_ms), from + 1);
	int64_t row = timeline_row_find(t, lane, class[0] ? class : "process", from, end);
	t->left_out += row < 0;
	if (row < 0)
		return false;
	TEXT_FORMAT(name, "%s (%d)", called, pid);
	trace_json_span(&t->json, lane, row, "process", name, from, end - from);
	return true;
}

/* Keeps the latest record of each process. */
static void workers_settle(struct timeline *t)
{
	size_t n = 0;
	if (t->n_workers)
		qsort(t->worker, t->n_workers, sizeof(*t->worker), lifeorder_latest_last);
	for (size_t i = 0; i < t->n_workers; i++) {
		const struct series_process *p = &t->worker[i];
		bool again = i + 1 < t->n_workers && t->worker[i + 1].pid == p->pid &&
			     t->worker[i + 1].start_ticks == p->start_ticks;
		if (!again)
			t->worker[n++] = *p;
	}
	t->n_workers = n;
}

static int write_process(void *ctx, const struct job_process *p)
{
	struct timeline *t = ctx;
	char how[32];
	/* the store keeps the name of the first moment, which may be the parent's */
	const struct series_process key = {.pid = p->pid, .start_ticks = p->start_ticks};
	const struct series_process *sampled =
		t->n_workers ? bsearch(&key, t->worker, t->n_workers, sizeof(key), lifeorder_same) : NULL;
	const char *called = sampled ? sampled->name : p->name;
	if (!process_span(t, p->rank, p->role, called[0] ? called : "process", p->pid, p->started_unix_ms,
			  p->ended_unix_ms))
		return 0;
	trace_json_i64(&t->json, "pid", p->pid);
	trace_json_u64(&t->json, "attempt", p->attempt);
	trace_json_text_if(&t->json, "command", p->command);
	trace_json_text_if(&t->json, "ended", ending(p->has_status, p->wait_status, how));
	if (p->peak_own_bytes)
		trace_json_u64(&t->json, "peak_own_bytes", p->peak_own_bytes);
	trace_json_close(&t->json);
	return 0;
}

static void write_workers(struct timeline *t)
{
	if (t->n_told)
		qsort(t->told, t->n_told, sizeof(*t->told), lifeorder_by_pid);
	if (t->n_workers)
		qsort(t->worker, t->n_workers, sizeof(*t->worker), lifeorder_by_start);
	for (size_t i = 0; i < t->n_workers; i++) {
		const struct series_process *p = &t->worker[i];
		const struct lifeorder key = {p->pid, p->start_ticks};
		if (t->n_told && bsearch(&key, t->told, t->n_told, sizeof(key), lifeorder_by_pid))
			continue; /* the store's record is fuller */
		if (!process_span(t, p->rank, p->role, p->name, p->pid, p->started_unix_ms, p->ended_unix_ms))
			continue;
		trace_json_i64(&t->json, "pid", p->pid);
		trace_json_i64(&t->json, "ppid", p->ppid);
		trace_json_u64(&t->json, "attempt", p->attempt);
		trace_json_close(&t->json);
	}
}

/* Attempts, events, incidents -------------------------------------------- */

static void note_event(struct timeline *t, const struct job_event *e)
{
	static const char *const beginnings[] = {"job_start", "attempt_start", "job_adopted"};
	for (size_t i = 0; i < ARRAY_SIZE(beginnings); i++)
		if (strcmp(e->kind, beginnings[i]) == 0)
			attempt_began(t, e->attempt, e->time_unix_ms);
}

/* A job is not over before its last event. */
static int note_last_event(struct timeline *t)
{
	struct job_event last;
	int r = store_last_event(t->want->store, t->want->job->id, &last);
	if (r == 0)
		t->until_ms = MAX(t->until_ms, last.time_unix_ms);
	return r == STORE_NONE ? 0 : r;
}

static void write_attempts(struct timeline *t)
{
	char name[32];
	int64_t free_us = 0;
	trace_json_row(&t->json, LANE_JOB, ROW_ATTEMPTS, "attempts");
	for (uint32_t i = 0; i < t->n_attempts; i++) {
		const struct attempt *a = &t->attempt[i];
		if (a->began_ms == 0)
			continue;
		bool last = i + 1 == t->n_attempts;
		int64_t end_ms = (a->open && last) || a->ended_ms == 0 ? t->until_ms : a->ended_ms;
		if (!last && t->attempt[i + 1].began_ms)
			end_ms = MIN(end_ms, t->attempt[i + 1].began_ms);
		int64_t from = MAX(at_us(t, a->began_ms), free_us), end = MAX(at_us(t, end_ms), from);
		TEXT_FORMAT(name, "attempt %u", i);
		trace_json_span(&t->json, LANE_JOB, ROW_ATTEMPTS, "attempt", name, from, end - from);
		trace_json_u64(&t->json, "attempt", i);
		trace_json_close(&t->json);
		free_us = end;
	}
}

static int write_event(void *ctx, const struct job_event *e)
{
	struct timeline *t = ctx;
	note_event(t, e);
	if (!event_is_told(t, e))
		return 0;
	trace_json_instant(&t->json, LANE_JOB, ROW_EVENTS, "event", e->kind, at_us(t, e->time_unix_ms), TRACE_ROW);
	trace_json_u64(&t->json, "attempt", e->attempt);
	trace_json_text_if(&t->json, "text", e->text);
	trace_json_text_if(&t->json, "incident", e->incident);
	trace_json_close(&t->json);
	return 0;
}

static void deed(struct timeline *t, int64_t lane, int64_t row, const char *name, int64_t began_us, uint64_t from_us,
		 uint64_t to_us)
{
	if (to_us <= from_us)
		return;
	trace_json_span(&t->json, lane, row, "guard", name, began_us + (int64_t)from_us, (int64_t)(to_us - from_us));
	trace_json_close(&t->json);
}

/* The guard's steps, on a row of the victim's lane. */
static void write_deeds(struct timeline *t, const struct incident *in)
{
	const uint64_t longest = UINT64_C(24) * 3600 * 1000000;
	uint64_t freeze = in->action.freeze_us, kill = in->action.kill_us, dead = in->action.dead_us;
	uint64_t freed = in->action.freed_us, end = MAX(MAX(freeze, kill), MAX(dead, freed));
	if (!in->action.valid || end == 0 || end > longest)
		return;
	int64_t lane = timeline_lane_find(t, in->victim.valid ? in->victim.rank : NO_RANK),
		began = at_us(t, in->time_unix_ms);
	int64_t row = timeline_row_find(t, lane, "guard", began, began + (int64_t)end);
	if (row < 0)
		return;
	char name[120];
	TEXT_FORMAT(name, "%s: %s", incident_kind_name(in->kind), in->victim.name);
	trace_json_span(&t->json, lane, row, "guard", name, began, (int64_t)end);
	trace_json_text(&t->json, "incident", in->id);
	trace_json_i64(&t->json, "victim_pid", in->victim.pid);
	trace_json_text_if(&t->json, "method", in->action.method);
	trace_json_u64(&t->json, "freed_bytes", in->action.freed_bytes);
	trace_json_close(&t->json);
	if (freeze > 0 && freeze < kill)
		deed(t, lane, row, "frozen", began, freeze, kill);
	if (kill > 0)
		deed(t, lane, row, "ending", began, kill, dead);
	if (dead > 0)
		deed(t, lane, row, "memory comes back", began, dead, freed);
}

static int write_incident(void *ctx, const char *id, const char *text)
{
	struct timeline *t = ctx;
	static struct incident in; /* large */
	cleanup(js_freep) struct js *j = NULL;
	if (js_parse(text, strlen(text), &j, NULL) < 0 || report_from_json(j, &in) < 0)
		return 0; /* `vigil why` shows the whole of it */
	int64_t at = at_us(t, in.time_unix_ms);
	trace_json_instant(&t->json, LANE_JOB, ROW_INCIDENTS, "incident", incident_kind_name(in.kind), at, TRACE_ALL);
	trace_json_text(&t->json, "incident", id);
	trace_json_u64(&t->json, "attempt", in.attempt);
	trace_json_text_if(&t->json, "summary", in.summary);
	if (in.victim.valid) {
		trace_json_i64(&t->json, "victim_pid", in.victim.pid);
		trace_json_text_if(&t->json, "victim", in.victim.name);
		if (in.victim.rank != NO_RANK)
			trace_json_i64(&t->json, "rank", in.victim.rank);
	}
	trace_json_close(&t->json);
	write_deeds(t, &in);
	return 0;
}

/* Counters --------------------------------------------------------------- */

static void rate_counter(struct timeline *t, int64_t lane, const char *name, int64_t at, const char *one, double a,
			 const char *two, double b)
{
	if (t->want->points > 0 && !curvekeep_changes(&t->curves, lane, name, a, b) && !t->last_part)
		return;
	trace_json_counter(&t->json, lane, name, at);
	trace_json_double(&t->json, one, a);
	if (two)
		trace_json_double(&t->json, two, b);
	trace_json_close(&t->json);
}

static double per_second(uint64_t was, uint64_t now, double seconds)
{
	return (double)(uint64_t)((double)sub_floor(now, was) / seconds + 0.5);
}

/* A rate holds for the time before its sample, so it is drawn from the sample before on. */
static void write_rates(struct timeline *t, int64_t lane, const struct series_lane *was, const struct series_lane *now,
			int64_t from, double seconds)
{
	double cores = (double)sub_floor(now->cpu_ns, was->cpu_ns) / (double)NS_PER_S / seconds;
	rate_counter(t, lane, "CPU", from, "cores", (double)(int64_t)(cores * 1000 + 0.5) / 1000, NULL, 0);
	if (!now->has_io)
		return;
	rate_counter(t, lane, "disk bytes/s", from, "read", per_second(was->read_bytes, now->read_bytes, seconds),
		     "written", per_second(was->written_bytes, now->written_bytes, seconds));
	rate_counter(t, lane, "IO calls bytes/s", from, "read",
		     per_second(was->read_call_bytes, now->read_call_bytes, seconds), "written",
		     per_second(was->write_call_bytes, now->write_call_bytes, seconds));
}

static void write_memory(struct timeline *t, int64_t lane, const struct series_lane *l, int64_t at)
{
	rate_counter(t, lane, "memory bytes", at, "own", (double)l->own_bytes, "shared",
		     (double)sub_floor(l->rss_bytes, l->own_bytes));
}

static void write_state(struct timeline *t, int64_t lane, const struct series_lane *l, int64_t at)
{
	write_memory(t, lane, l, at);
	rate_counter(t, lane, "processes", at, "processes", l->processes, NULL, 0);
}

/* The end of an attempt that lies between two looks; 0: of none. *ret_next_ms: when the next began. */
static int64_t end_between(const struct timeline *t, int64_t was_ms, int64_t now_ms, int64_t *ret_next_ms)
{
	for (uint32_t i = 0; i + 1 < t->n_attempts; i++) {
		const struct attempt *a = &t->attempt[i], *next = a + 1;
		if (a->open || a->ended_ms < was_ms || a->ended_ms >= now_ms || next->began_ms <= a->ended_ms)
			continue;
		*ret_next_ms = next->began_ms;
		return a->ended_ms;
	}
	return 0;
}

/* The last look of an attempt may be one of ranks that ended after it; graphs would go on with that. */
static void write_attempt_end(struct timeline *t, const struct series_sample *was, const struct series_sample *now)
{
	int64_t next_ms = 0, ended_ms = end_between(t, was->time_unix_ms, now->time_unix_ms, &next_ms);
	if (ended_ms == 0)
		return;
	const int64_t at = at_us(t, MIN(MAX(ended_ms, t->looked_ms), now->time_unix_ms));
	if (was->job_bytes)
		rate_counter(t, LANE_JOB, "memory bytes", at, "job",
			     now->time_unix_ms < next_ms ? (double)now->job_bytes : 0, NULL, 0);
	for (uint32_t i = 0; i < was->n_lanes; i++) {
		const struct series_lane none = {.rank = was->lane[i].rank};
		if (none.rank >= 0 || t->rankless)
			write_state(t, timeline_lane_find(t, none.rank), &none, at);
	}
}

static void write_sample(struct timeline *t, const struct series_sample *was, const struct series_sample *now)
{
	if (was)
		write_attempt_end(t, was, now);
	t->looked_ms = MAX(t->looked_ms, now->time_unix_ms);
	int64_t at = at_us(t, now->time_unix_ms);
	uint64_t gap_ns = was ? sub_floor(now->mono_ns, was->mono_ns) : 0;
	if (now->node_total_bytes)
		rate_counter(t, LANE_NODE, "memory bytes", at, "used", (double)now->node_used_bytes, NULL, 0);
	if (now->job_bytes)
		rate_counter(t, LANE_JOB, "memory bytes", at, "job", (double)now->job_bytes, NULL, 0);
	for (uint32_t i = 0; i < now->n_lanes; i++) {
		const struct series_lane *l = &now->lane[i], *before = was ? serieslook_lane(was, i, l->rank) : NULL;
		t->rankless |= l->rank < 0 && l->processes > 0;
		if (l->rank < 0 && !t->rankless)
			continue; /* every process has a rank */
		const struct series_lane none = {.rank = l->rank};
		int64_t lane = timeline_lane_find(t, l->rank);
		if (gap_ns > 0)
			write_rates(t, lane, before ? before : &none, l, at_us(t, was->time_unix_ms),
				    (double)gap_ns / (double)NS_PER_S);
		write_state(t, lane, l, at);
	}
}

/* The first 0 says that it has ended. */
static void write_large(struct timeline *t, const struct series_bulk *look, int64_t unix_ms)
{
	for (size_t i = 0; i < t->n_large; i++) {
		const struct series_bulk_process *p = bulklife_at(look, &t->large[i]);
		if (!p && !t->large_told[i])
			continue;
		rate_counter(t, LANE_NONE, t->large_name[i], at_us(t, unix_ms), "own",
			     p ? (double)p->own_bytes : 0, NULL, 0);
		t->large_told[i] = p != NULL;
	}
}

/* Between two attempts no step is done; graphs would go on with the last one. */
static void write_steps_end(struct timeline *t, int64_t next_unix_ms)
{
	const struct series_steps *s = &t->steps;
	int64_t ended_ms = s->attempt < t->n_attempts ? t->attempt[s->attempt].ended_ms : 0;
	int64_t at = at_us(t, MIN(MAX(ended_ms, s->time_unix_ms), next_unix_ms));
	for (uint32_t i = 0; i < s->n; i++)
		rate_counter(t, timeline_lane_find(t, s->of[i].rank), "step", at, "step", 0, NULL, 0);
}

static void write_steps(struct timeline *t, const struct series_steps *s)
{
	if (t->steps.n > 0 && t->steps.attempt != s->attempt)
		write_steps_end(t, s->time_unix_ms);
	for (uint32_t i = 0; i < s->n; i++)
		rate_counter(t, timeline_lane_find(t, s->of[i].rank), "step", at_us(t, s->time_unix_ms), "step",
			     (double)s->of[i].step, NULL, 0);
	t->steps = *s;
}

/* Counters drop to 0 at the end; graphs would go on with their last values. */
static void write_last(struct timeline *t, const struct series_sample *last)
{
	int64_t at = at_us(t, last->time_unix_ms), end = t->until_ms > last->time_unix_ms ? at_us(t, t->until_ms) : at;
	for (uint32_t i = 0; i < last->n_lanes; i++) {
		const struct series_lane *l = &last->lane[i];
		if (l->rank < 0 && !t->rankless)
			continue;
		const struct series_lane none = {.rank = l->rank, .has_io = l->has_io};
		int64_t lane = timeline_lane_find(t, l->rank);
		write_rates(t, lane, &none, &none, at, 1);
		if (!t->want->running)
			write_state(t, lane, &none, end);
	}
	if (!t->want->running)
		write_large(t, &(struct series_bulk){.n = 0}, t->until_ms);
}

/* Of a job with ranks none is told apart. */
static void note_large(struct timeline *t)
{
	size_t n = 0;
	if (bulklife_read(t->want->series, wanted_from_ms(t), wanted_to_ms(t), &t->large, &n) < 0) {
		t->no_memory = true;
		return;
	}
	t->n_large = bulklife_largest(t->large, n, LARGE_MOST);
	bulklife_name(t->want->series, t->large, t->n_large);
	for (size_t i = 0; i < t->n_large; i++) {
		const struct bulklife *l = &t->large[i];
		TEXT_FORMAT(t->large_name[i], "own bytes of %s (%d)", l->name[0] ? l->name : "process", l->pid);
	}
}

/* Reads the series twice: first for processes and the end of time, then for the counters. */
static void note_series(struct timeline *t)
{
	struct series_reader r;
	static struct series_record rec;
	if (series_reader_init(&r, t->want->series) < 0)
		return;
	while (series_next(&r, &rec)) {
		if (rec.kind == SERIES_SAMPLE) {
			t->n_samples++;
			if (!t->want->running && rec.sample.time_unix_ms <= t->want->now_unix_ms)
				t->until_ms = MAX(t->until_ms, rec.sample.time_unix_ms);
			continue;
		}
		if (rec.kind != SERIES_PROCESS)
			continue;
		struct series_process *p = grow(t, (void **)&t->worker, &t->n_workers, &t->workers_cap, sizeof(*p));
		if (p)
			*p = rec.process;
	}
	t->skipped_bytes = r.skipped_bytes;
}

/* What is told of one part of the time: its last sample, with the most memory of all of them, and its last steps. */
struct part {
	struct series_sample sample;
	struct series_steps steps;
	struct series_bulk bulk; /* n 0: none */
	bool has_sample, has_steps;
	uint64_t number;
};

/* The samples as they are written: one after the other, each with the one before. */
struct thinning {
	struct timeline *t;
	int64_t from_ms, to_ms;
	struct part part;
	struct series_sample was;
	bool some; /* there is one before */
	struct killwalk kills;
};

static bool is_within(const struct thinning *th, int64_t unix_ms)
{
	return unix_ms >= th->from_ms && unix_ms <= th->to_ms;
}

static uint64_t part_number(const struct thinning *th, int64_t unix_ms)
{
	if (th->t->want->points == 0)
		return 0;
	double whole = (double)MAX(th->to_ms - th->from_ms, INT64_C(0)) + 1;
	return (uint64_t)((double)(unix_ms - th->from_ms) / whole * (double)th->t->want->points);
}

static void part_write(struct thinning *th)
{
	struct part *p = &th->part;
	if (p->has_steps)
		write_steps(th->t, &p->steps);
	if (p->has_sample) {
		write_sample(th->t, th->some ? &th->was : NULL, &p->sample);
		write_large(th->t, &p->bulk, p->sample.time_unix_ms);
		th->was = p->sample;
		th->some = true;
	}
	p->has_sample = p->has_steps = false;
	p->bulk.n = 0;
}

static void part_take(struct thinning *th, struct series_sample *s)
{
	/* a clock that was set back makes no parts */
	uint64_t number = MAX(part_number(th, s->time_unix_ms), th->part.number);
	if (th->t->want->points == 0 || number != th->part.number)
		part_write(th);
	th->part.number = number;
	if (th->part.has_sample)
		serieslook_keep_peaks(&th->part.sample, s);
	th->part.sample = *s;
	th->part.has_sample = true;
}

/* Of each process the most of the part. Who is not in the latest look has ended. */
static void part_bulk(struct thinning *th, const struct series_bulk *look)
{
	const struct series_bulk before = th->part.bulk;
	if (!th->part.has_sample || th->part.sample.mono_ns != look->mono_ns)
		return;
	th->part.bulk = *look;
	serieslook_keep_large_peaks(&before, &th->part.bulk);
}

/* Memory alone: rates are told from one look of the sampler to the next. */
static void write_kill_look(struct timeline *t, const struct series_sample *s, const struct series_bulk *large)
{
	const int64_t at = at_us(t, s->time_unix_ms);
	t->looked_ms = MAX(t->looked_ms, s->time_unix_ms);
	if (s->job_bytes)
		rate_counter(t, LANE_JOB, "memory bytes", at, "job", (double)s->job_bytes, NULL, 0);
	for (uint32_t i = 0; i < s->n_lanes; i++)
		if (s->lane[i].rank >= 0 || t->rankless)
			write_memory(t, timeline_lane_find(t, s->lane[i].rank), &s->lane[i], at);
	write_large(t, large, s->time_unix_ms);
}

/* What was seen at kills between the latest look and the next one. */
static void write_kills(struct thinning *th, int64_t until_unix_ms)
{
	struct killwalk *w = &th->kills;
	while (killwalk_next(w, until_unix_ms)) {
		if (!is_within(th, w->at.time_unix_ms))
			continue;
		part_write(th);
		write_kill_look(th->t, &w->at, &w->bulk_at);
		if (w->has_after)
			write_kill_look(th->t, &w->after, &w->bulk_after);
	}
}

static void record_take(struct thinning *th, struct series_record *rec)
{
	if (rec->kind == SERIES_SAMPLE)
		write_kills(th, rec->sample.time_unix_ms);
	killwalk_record(&th->kills, rec);
	if (rec->kind == SERIES_STEPS && is_within(th, rec->steps.time_unix_ms)) {
		if (th->t->want->points == 0)
			part_write(th);
		th->part.steps = rec->steps;
		th->part.has_steps = true;
	}
	if (rec->kind == SERIES_BULK)
		part_bulk(th, &rec->bulk);
	if (rec->kind != SERIES_SAMPLE)
		return;
	if (!th->some && !th->part.has_sample)
		th->some = serieslook_at_start(th->t->want->job, &rec->sample, &th->was);
	if (is_within(th, rec->sample.time_unix_ms)) {
		part_take(th, &rec->sample);
	} else if (rec->sample.time_unix_ms < th->from_ms) {
		th->was = rec->sample;
		th->some = true;
	}
}

static void write_series(struct timeline *t)
{
	static struct thinning th; /* large */
	static struct series_record rec;
	struct series_reader r;
	th = (struct thinning){
		.t = t, .from_ms = wanted_from_ms(t), .to_ms = wanted_to_ms(t), .kills = {.kills = &t->kills}};
	ignore(killpoints_read(t->want->store, t->want->job->id, &t->kills), "the looks are told");
	if (series_reader_init(&r, t->want->series) < 0)
		return;
	while (series_next(&r, &rec))
		record_take(&th, &rec);
	write_kills(&th, INT64_MAX);
	t->last_part = true;
	part_write(&th);
	if (th.some && t->want->to_unix_ms == 0)
		write_last(t, &th.was);
}

/* ------------------------------------------------------------------------ */

static void write_lanes(struct timeline *t)
{
	const struct job *j = t->want->job;
	char name[200];
	TEXT_FORMAT(name, "job %s", j->id);
	trace_json_lane(&t->json, LANE_JOB, name, LANE_JOB);
	TEXT_FORMAT(name, "node %s", j->node);
	trace_json_lane(&t->json, LANE_NODE, name, LANE_NODE);
}

/* How far the rank that is behind is, and of a running job what is left. */
static void write_ahead(struct timeline *t)
{
	static struct job_steps steps; /* large */
	struct job_step_cells cells;
	(void)job_steps_of(t->want->series, t->want->job->attempt, &steps);
	const struct job_step *low = job_steps_low(&steps);
	if (!low)
		return;
	job_step_cells(&steps, low, t->want->running ? t->want->now_unix_ms : 0, &cells);
	trace_json_u64(&t->json, "step", low->step);
	if (low->has_total)
		trace_json_u64(&t->json, "steps_total", low->total);
	if (cells.left_ms > 0)
		trace_json_u64(&t->json, "left_ms", cells.left_ms);
}

static void write_other(struct timeline *t)
{
	const struct job *j = t->want->job;
	struct trace_json *o = &t->json;
	trace_json_other(o);
	trace_json_text(o, "schema", "vigil.timeline/1");
	trace_json_text(o, "job", j->id);
	trace_json_text_if(o, "name", j->name);
	trace_json_text_if(o, "command", j->command);
	trace_json_text_if(o, "node", j->node);
	trace_json_text(o, "state", job_state_name(j->state));
	trace_json_i64(o, "started_unix_ms", t->began_ms);
	trace_json_i64(o, "until_unix_ms", t->until_ms);
	trace_json_u64(o, "samples", t->n_samples);
	write_ahead(t);
	if (t->left_out)
		trace_json_u64(o, "left_out", t->left_out);
	if (t->skipped_bytes)
		trace_json_u64(o, "series_skipped_bytes", t->skipped_bytes);
	trace_json_end(o);
}

static int timeline_write_all(struct timeline *t)
{
	struct store *s = t->want->store;
	const char *id = t->want->job->id;
	int r = store_each_process(s, id, note_process, t);
	if (r == 0)
		r = note_last_event(t);
	if (r != 0)
		return r;
	note_series(t);
	note_large(t);
	workers_settle(t);
	if (t->want->running)
		t->until_ms = MAX(t->want->now_unix_ms, t->began_ms);
	else if (t->want->job->ended_unix_ms > 0)
		t->until_ms = MAX(t->until_ms, t->want->job->ended_unix_ms);
	write_lanes(t);
	trace_json_row(&t->json, LANE_JOB, ROW_EVENTS, "events");
	trace_json_row(&t->json, LANE_JOB, ROW_INCIDENTS, "incidents");
	r = store_each_event(s, id, 0, write_event, t);
	write_attempts(t); /* some are known by their events only */
	if (r == 0)
		r = store_each_process(s, id, write_process, t);
	write_workers(t);
	if (r == 0)
		r = store_each_incident(s, id, write_incident, t);
	write_series(t);
	if (r == 0 && t->want->ray)
		r = timeline_ray(t->want->ray, t->began_ms, t->until_ms, &t->json, t->want->ret_ray_tasks);
	return r;
}

int timeline_write(const struct timeline_want *want, FILE *to)
{
	cleanup(freep) struct timeline *t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->want = want;
	t->began_ms = t->until_ms = want->job->started_unix_ms;
	trace_json_begin(&t->json, to);
	int r = timeline_write_all(t);
	write_other(t);
	if (r == 0 && t->no_memory)
		r = -ENOMEM;
	timeline_done(t);
	return r;
}
