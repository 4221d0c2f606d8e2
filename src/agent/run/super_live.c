#include <string.h>

#include "agent/jobs/jobran.h"
#include "agent/run/super.h"
#include "base/buf.h"
#include "base/log.h"
#include "judge/health/health.h"
#include "tell/jobs/live.h"

/* Readers are told at most so often, and telling takes at most a twentieth of the time. */
static const uint64_t gap_ns = 50 * NS_PER_MS;
#define GIVE_SHARE 20

/* ---- what is heard ---- */

static void on_row(void *ctx, const struct rowlog_row *row)
{
	struct super_live *l = ctx;
	if (row->kind == ROWLOG_EVENT)
		health_event(&l->facts, row->what);
	l->changed = true;
}

static void on_incident(void *ctx, const struct incident *in)
{
	struct super_live *l = ctx;
	health_trouble(&l->facts, in);
	l->changed = true;
}

static const struct recorder_ear ear = {.row = on_row, .incident = on_incident};

void super_live_begin(struct super *s)
{
	struct super_live *l = &s->live;
	int r = s->recorder.job_dir[0] ? livesock_open(s->recorder.job_dir, &l->sock) : -ENOENT;
	if (r < 0) {
		log_debug("no live socket: %s; commands read the store", strerror(-r));
		return;
	}
	s->recorder.ear = &ear;
	s->recorder.ear_ctx = l;
	super_poll_add(s, livesock_fd(l->sock), SUPER_KEY_LIVE);
}

/* ---- what is told ---- */

static const char *phase_name(enum super_phase p)
{
	static const char *const names[] = {"running", "ending", "lingering", "waiting", "over"};
	return names[p];
}

static void live_memory_fill(const struct super *s, struct live_memory *m)
{
	static const char *const guard[] = {"ok", "warn", "act", "emergency"};
	const struct guard_shm *shm = s->services.guard.shm;
	memset(m, 0, sizeof(*m));
	m->used_bytes = shm->now.used_bytes;
	m->total_bytes = shm->now.total_bytes;
	m->node_used_bytes = shm->now.node_used_bytes;
	m->node_total_bytes = shm->now.node_total_bytes;
	m->job_bytes = shm->now.job_bytes[0];
	m->job_peak_bytes = super_peak_bytes(s);
	if (s->services.guard.pid > 0 && (size_t)shm->now.state < ARRAY_SIZE(guard))
		TEXT_COPY(m->guard, guard[shm->now.state]);
}

static void live_health_fill(struct super *s, struct live_state *n)
{
	struct health_facts *f = &s->live.facts;
	f->job = &n->job;
	f->now_unix_ms = n->time_unix_ms;
	(void)job_ran(&n->job, f->now_unix_ms, f->ran);
	job_steps_text(&n->steps, job_is_open(&n->job) ? n->time_unix_ms : 0, f->steps, sizeof(f->steps));
	f->steps_unix_ms = n->steps.time_unix_ms;
	f->has_rate = n->steps.n > 0 && n->steps.of[0].has_rate;
	f->per_s = n->steps.of[0].per_s;
	health_judge(f, &n->health);
	f->job = NULL;
}

static int live_fill(struct super *s, struct live_state *n)
{
	n->seq = s->live.was.seq + 1;
	n->time_unix_ms = s->w->unix_ms();
	TEXT_COPY(n->phase, phase_name(s->phase));
	n->job = s->job;
	live_memory_fill(s, &n->memory);
	int r = sampler_show(s->sampler, s->job.attempt, n);
	live_health_fill(s, n);
	return r;
}

static char *line_text(const struct live_state *was, const struct live_state *now)
{
	cleanup(js_freep) struct js *o = live_json(was, now);
	return js_text(o, 0);
}

static void readers_tell(struct super *s)
{
	struct super_live *l = &s->live;
	cleanup(freep) char *whole = NULL;
	cleanup(freep) char *news = NULL;
	l->changed = false;
	if (live_fill(s, &l->now) < 0)
		return;
	if (livesock_owed(l->sock))
		whole = line_text(NULL, &l->now);
	if (l->was.seq > 0)
		news = line_text(&l->was, &l->now);
	if (livesock_give(l->sock, whole, news) < 0)
		log_debug("no memory for readers of the live socket: they see a gap");
	struct live_state was = l->was;
	l->was = l->now;
	l->now = was;
}

static bool is_owed(const struct super_live *l)
{
	return livesock_readers(l->sock) > 0 && (l->changed || livesock_owed(l->sock));
}

void super_live_turn(struct super *s)
{
	struct super_live *l = &s->live;
	const uint64_t began_ns = s->w->mono_ns();
	sampler_attend(s->sampler, livesock_readers(l->sock) > 0);
	/* a victim's stacks come first, and so does a look that is due: what is told then is fresh */
	if (!is_owed(l) || began_ns < l->next_ns || guard_case_pending(s->services.guard.shm) ||
	    (s->sampler && sampler_due_ns(s->sampler) <= began_ns))
		return;
	readers_tell(s);
	uint64_t now_ns = s->w->mono_ns();
	l->next_ns = now_ns + MAX(gap_ns, (now_ns - began_ns) * GIVE_SHARE);
}

uint64_t super_live_due_ns(const struct super *s)
{
	const struct super_live *l = &s->live;
	/* the end of a case wakes the loop by itself */
	return is_owed(l) && !guard_case_pending(s->services.guard.shm) ? l->next_ns : UINT64_MAX;
}

void super_live_end(struct super *s)
{
	struct super_live *l = &s->live;
	if (livesock_readers(l->sock) > 0)
		readers_tell(s);
	s->recorder.ear = NULL;
	l->sock = livesock_close(l->sock);
	live_done(&l->was);
	live_done(&l->now);
}
