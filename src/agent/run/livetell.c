#include "agent/run/livetell.h"

#include <string.h>

#include "agent/jobs/jobran.h"
#include "base/buf.h"
#include "base/log.h"
#include "judge/health/health.h"

/* Readers are told at most so often, and telling takes at most a twentieth of the time. */
static const uint64_t gap_ns = 50 * NS_PER_MS;
#define GIVE_SHARE 20

struct livetell {
	struct recorder *recorder; /* borrowed */
	struct livesock *sock;
	bool changed; /* since readers were told last */
	uint64_t next_ns; /* not again before */
	struct health_facts facts; /* what events and reports said so far; .job is of no use here */
	struct live_state was, now; /* was: what readers were told last */
};

/* ---- what is heard ---- */

static void on_row(void *ctx, const struct rowlog_row *row)
{
	struct livetell *t = ctx;
	if (row->kind == ROWLOG_EVENT)
		health_event(&t->facts, row->what);
	t->changed = true;
}

static void on_incident(void *ctx, const struct incident *in)
{
	struct livetell *t = ctx;
	health_trouble(&t->facts, in);
	t->changed = true;
}

static const struct recorder_ear ear = {.row = on_row, .incident = on_incident};

void livetell_open(struct recorder *recorder, struct livetell **ret)
{
	struct livetell *t = calloc(1, sizeof(*t));
	int r = !t ? -ENOMEM : recorder->job_dir[0] ? livesock_open(recorder->job_dir, &t->sock) : -ENOENT;
	*ret = NULL;
	if (r < 0) {
		log_debug("no live socket: %s; commands read the store", strerror(-r));
		free(t);
		return;
	}
	t->recorder = recorder;
	recorder->ear = &ear;
	recorder->ear_ctx = t;
	*ret = t;
}

struct livetell *livetell_close(struct livetell *t)
{
	if (!t)
		return NULL;
	t->recorder->ear = NULL;
	livesock_close(t->sock);
	live_done(&t->was);
	live_done(&t->now);
	free(t);
	return NULL;
}

int livetell_fd(const struct livetell *t)
{
	return t ? livesock_fd(t->sock) : -1;
}

void livetell_run(struct livetell *t)
{
	if (t)
		livesock_run(t->sock);
}

size_t livetell_readers(const struct livetell *t)
{
	return t ? livesock_readers(t->sock) : 0;
}

void livetell_changed(struct livetell *t)
{
	if (t)
		t->changed = true;
}

uint64_t livetell_due_ns(const struct livetell *t)
{
	bool owed = livetell_readers(t) > 0 && (t->changed || livesock_owed(t->sock));
	return owed ? t->next_ns : UINT64_MAX;
}

/* ---- what is told ---- */

static void live_health_fill(struct livetell *t, struct live_state *n)
{
	struct health_facts *f = &t->facts;
	f->job = &n->job;
	f->now_unix_ms = n->time_unix_ms;
	(void)job_ran(&n->job, f->now_unix_ms, f->ran);
	job_steps_text(&n->steps, job_is_open(&n->job) ? n->time_unix_ms : 0, f->steps, sizeof(f->steps));
	f->steps_unix_ms = n->steps.time_unix_ms;
	const struct job_step *low = job_steps_low(&n->steps);
	f->has_rate = low && low->has_rate;
	f->per_s = low ? low->per_s : 0;
	f->usual_per_s = n->steps.usual_per_s;
	health_judge(f, &n->health);
	f->job = NULL;
}

void livetell_memory(const struct guard_shm *shm, bool guarded, size_t job, uint64_t peak_bytes, struct live_memory *m)
{
	static const char *const guard[] = {"ok", "warn", "act", "emergency"};
	memset(m, 0, sizeof(*m));
	m->used_bytes = shm->now.used_bytes;
	m->total_bytes = shm->now.total_bytes;
	m->node_used_bytes = shm->now.node_used_bytes;
	m->node_total_bytes = shm->now.node_total_bytes;
	m->job_bytes = shm->now.job_bytes[job];
	m->job_peak_bytes = peak_bytes;
	if (guarded && (size_t)shm->now.state < ARRAY_SIZE(guard))
		TEXT_COPY(m->guard, guard[shm->now.state]);
}

static char *line_text(const struct live_state *was, const struct live_state *now)
{
	cleanup(js_freep) struct js *o = live_json(was, now);
	return js_text(o, 0);
}

static void readers_tell(struct livetell *t, const struct world *w, livetell_fill_fn *fill, void *ctx)
{
	cleanup(freep) char *whole = NULL;
	cleanup(freep) char *news = NULL;
	t->changed = false;
	t->now.seq = t->was.seq + 1;
	t->now.time_unix_ms = w->unix_ms();
	int r = fill(ctx, &t->now);
	live_health_fill(t, &t->now);
	if (r < 0)
		return;
	if (livesock_owed(t->sock))
		whole = line_text(NULL, &t->now);
	if (t->was.seq > 0)
		news = line_text(&t->was, &t->now);
	if (livesock_give(t->sock, whole, news) < 0)
		log_debug("no memory for readers of the live socket: they see a gap");
	struct live_state was = t->was;
	t->was = t->now;
	t->now = was;
}

void livetell_give(struct livetell *t, const struct world *w, livetell_fill_fn *fill, void *ctx)
{
	const uint64_t began_ns = w->mono_ns();
	readers_tell(t, w, fill, ctx);
	uint64_t now_ns = w->mono_ns();
	t->next_ns = now_ns + MAX(gap_ns, (now_ns - began_ns) * GIVE_SHARE);
}
