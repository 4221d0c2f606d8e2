/* Runs the hang judge over the text scenarios in tests/scenarios/hang (their README says what the lines mean). */
#include "testing.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/text.h"
#include "base/units.h"
#include "judge/hang/hang.h"
#include "judge/hang_verdict_check.h"
#include "judge/hang_wait_word.h"
#include "judge/plain_words.h"
#include "judge/scenario_lines.h"
#include "judge/scenario_words.h"
#include "wait_scenario.h"

#define RANKS 64
#define BLOCKS 160
#define FRAMES 12

/* Facts of waits, and the graph of them; large, and one file runs at a time. */
static struct wait_scenario waits;
static struct waitgraph graph;

struct rates {
	double count[LIVENESS_COUNTERS]; /* per second */
	uint32_t has;
	double sum[LIVENESS_COUNTERS], burst[LIVENESS_COUNTERS]; /* added every burst_s */
	uint64_t step_ns, count_ns; /* between two of them; 0: it makes none, or counts no further */
	uint64_t next_ns, restart_ns, stride; /* another main process so often, 0: it stays; steps a line of progress */
	struct liveness_counters seen;
};

struct block {
	int32_t from, to, loader; /* loader 0: the main process */
	bool of_ray, another; /* as Ray calls its workers; another main process */
	char thread[16], role[16], name[32];
	struct dump_thread t;
	struct dump_frame frame[FRAMES];
	double cores;
	bool moves, alternates, wakes, missed, last, before; /* last, before: at such looks alone */
	uint64_t naps_ns, asleep_ns; /* sleeps so long again and again; once, since the mark */
};

struct scenario {
	struct hang_settings settings;
	struct hang_history mind;
	struct liveness_set liveness;
	struct liveness_sample look;
	struct rates rank[RANKS + 1]; /* 0: what has no rank */
	int32_t n_ranks; /* 0: a job without ranks */
	uint64_t now_ns, begin_ns, mark_ns;
	struct block block[BLOCKS];
	size_t n_blocks;
	bool no_stacks;
	struct {
		char text[300];
		size_t len;
	} environment[RANKS]; /* NUL-separated */
	bool has_environment;
	struct rankenv compared;
	struct hang_source source[RANKS];
	size_t n_source;
	struct cause_verdict book;
	struct hang_collective collective;
	struct waitshare shares;
	struct gostand go[RANKS];
	size_t n_go;
	char unavailable[120], nobodys_error[120];
	uint64_t retransmits_per_s;
	struct refused_scenario refused;
	struct asked_scenario connects;
	struct anew_scenario anew;
	struct ray_scenario ray;
	/* what came of it since the mark */
	uint64_t due_ns; /* the evidence that was asked for will be there; 0: none */
	struct hang_step asked, step;
	uint64_t suspect_ns, verdict_ns;
	struct hang_verdict verdict, told; /* the last of any kind; the last alarm */
	char noted[200]; /* the last line for the events */
	size_t alarms, looks, checks, judged, resolved, relieved;
};

/* ---- words ---- */

/* "*", "3", "0-2", "job" */
static void set_of(const struct scenario *s, struct span w, int32_t *from, int32_t *to)
{
	if (span_eq(w, "job")) {
		*from = *to = NO_RANK;
	} else if (span_eq(w, "*")) {
		*from = s->n_ranks ? 0 : NO_RANK;
		*to = s->n_ranks - 1;
	} else {
		struct span first = span_before(w, "-");
		*from = *to = int_of(first);
		if (first.len < w.len)
			*to = int_of((struct span){w.p + first.len + 1, w.len - first.len - 1});
	}
}

/* ---- the job ---- */

static const struct {
	const char *name;
	enum liveness_counter sign;
	double unit;
	bool size;
} signs[] = {
	{"cpu", LIVENESS_CPU, 1e9, false},	   {"runwait", LIVENESS_RUN_WAIT, 1e9, false},
	{"read", LIVENESS_READ, 1, true},	   {"written", LIVENESS_WRITTEN, 1, true},
	{"diskread", LIVENESS_DISK_READ, 1, true}, {"diskwritten", LIVENESS_DISK_WRITTEN, 1, true},
	{"sent", LIVENESS_NET_SENT, 1, true},	   {"received", LIVENESS_NET_RECEIVED, 1, true},
	{"log", LIVENESS_LOG_LINES, 1, false},	   {"io", LIVENESS_IO_ALL, 1, true},
};

static const struct {
	const char *name;
	enum liveness_gpu_value value;
} gpus[] = {
	{"gpu", LIVENESS_GPU_BUSY},	     {"mem", LIVENESS_GPU_MEMORY_BUSY}, {"power", LIVENESS_GPU_POWER},
	{"limit", LIVENESS_GPU_POWER_LIMIT}, {"clock", LIVENESS_GPU_CLOCK},	{"maxclock", LIVENESS_GPU_CLOCK_MAX},
	{"reasons", LIVENESS_GPU_REASONS},
};

static bool sign_set(struct rates *r, struct span key, struct span *rest, const char *where)
{
	for (size_t i = 0; i < ARRAY_SIZE(signs); i++)
		if (span_eq(key, signs[i].name)) {
			struct span v = next(rest, where);
			r->count[signs[i].sign] =
				signs[i].size ? (double)size_of(v, where) : real_of(v) * signs[i].unit;
			r->has |= 1u << signs[i].sign;
			return true;
		}
	for (size_t i = 0; i < ARRAY_SIZE(gpus); i++)
		if (span_eq(key, gpus[i].name)) {
			struct span v = next(rest, where);
			r->seen.gpu_has &= ~(1u << gpus[i].value);
			if (span_eq(v, "-"))
				return true;
			r->seen.gpu[gpus[i].value] = real_of(v);
			r->seen.gpu_has |= 1u << gpus[i].value;
			return true;
		}
	return false;
}

static void steps_set(struct scenario *s, struct rates *r, struct span v, const char *where)
{
	r->step_ns = span_eq(v, "none") ? 0 : duration_of(v, where);
	r->next_ns = s->now_ns + r->step_ns;
	r->seen.has_progress = r->seen.progress.has_step = true;
}

/* "0.5s": it counts so often; "none": no further; "over": and another line was printed since. */
static void counts_set(struct rates *r, struct span v, const char *where)
{
	r->count_ns = span_eq(v, "none") || span_eq(v, "over") ? 0 : duration_of(v, where);
	if (span_eq(v, "over"))
		r->seen.progress.count_ns = 0;
	r->seen.progress.count_gap_ns = r->count_ns ? r->count_ns : r->seen.progress.count_gap_ns;
}

static void ended(struct rates *r, bool has_status, int status)
{
	r->seen.exited = true;
	r->seen.has_status = has_status;
	r->seen.wait_status = status;
	r->seen.processes = 0;
	r->seen.n_gone++;
	r->step_ns = 0;
}

static void rank_word(struct scenario *s, struct rates *r, struct span key, struct span *rest, const char *where)
{
	if (sign_set(r, key, rest, where))
		return;
	if (span_eq(key, "step"))
		steps_set(s, r, next(rest, where), where);
	else if (span_eq(key, "counts"))
		counts_set(r, next(rest, where), where);
	else if (span_eq(key, "stride"))
		r->stride = (uint64_t)int_of(next(rest, where));
	else if (span_eq(key, "at-step"))
		r->seen.progress.step = (uint64_t)int_of(next(rest, where));
	else if (span_eq(key, "total"))
		r->seen.progress.total = (uint64_t)int_of(next(rest, where)), r->seen.progress.has_total = true;
	else if (span_eq(key, "epoch"))
		r->seen.progress.epoch = real_of(next(rest, where)),
		r->seen.progress.has_epoch = r->seen.has_progress = true;
	else if (span_eq(key, "epoch-over"))
		r->seen.progress.epoch_ended = true;
	else if (span_eq(key, "nan"))
		r->seen.progress.loss_broken = true, r->seen.progress.loss_broken_step = r->seen.progress.step;
	else if (span_eq(key, "state"))
		r->seen.state = next(rest, where).p[0];
	else if (span_eq(key, "tracer"))
		r->seen.tracer = int_of(next(rest, where));
	else if (span_eq(key, "frozen"))
		r->seen.frozen = int_of(next(rest, where)) != 0;
	else if (span_eq(key, "exit"))
		ended(r, true, int_of(next(rest, where)) << 8);
	else if (span_eq(key, "signal"))
		ended(r, true, int_of(next(rest, where)));
	else if (span_eq(key, "at-ms"))
		r->seen.ended_unix_ms = int_of(next(rest, where));
	else if (span_eq(key, "restarts"))
		r->restart_ns = duration_of(next(rest, where), where);
	else if (span_eq(key, "gone"))
		ended(r, false, 0);
	else if (span_eq(key, "compilers"))
		r->seen.n_compilers = (uint32_t)int_of(next(rest, where));
	else if (span_eq(key, "burst")) /* every 15 s */
		r->burst[LIVENESS_WRITTEN] = (double)size_of(next(rest, where), where);
	else if (span_eq(key, "left") || span_eq(key, "left-with-1") || span_eq(key, "lost-loader")) {
		bool loader = span_eq(key, "lost-loader"), failed = span_eq(key, "left-with-1");
		r->seen.last_gone.pid = int_of(next(rest, where));
		r->seen.last_gone.has_status = loader || failed;
		r->seen.last_gone.wait_status = loader ? 9 : failed ? 1 << 8 : 0;
		TEXT_COPY(r->seen.last_gone.role, loader ? "loader" : "");
		TEXT_COPY(r->seen.last_gone.name, loader ? "pt_data_worker" : "python");
		r->seen.n_gone += !loader;
	} else
		fail_msg("%s: unknown sign '%.*s'", where, (int)key.len, key.p);
}

static void rank_line(struct scenario *s, struct span rest, const char *where)
{
	int32_t from, to;
	set_of(s, next(&rest, where), &from, &to);
	for (int32_t r = from; r <= to; r++) {
		struct span words = rest, key;
		while (span_word(&words, &key))
			rank_word(s, &s->rank[r + 1], key, &words, where);
	}
}

/* ---- stacks ---- */

static void stack_word(struct block *b, struct span key, struct span *rest, const char *where)
{
	if (span_eq(key, "wait")) {
		struct span kind = next(rest, where);
		b->t.wait.kind = wait_of(kind, where);
		span_copy(kind, b->t.wait_kind, sizeof(b->t.wait_kind));
		b->t.wait.state = b->t.wait.kind == WAIT_RUNNING ? 'R' : b->t.wait.kind == WAIT_DISK ? 'D' : 'S';
	} else if (span_eq(key, "syscall")) {
		b->t.wait.has_syscall = true;
		span_copy(next(rest, where), b->t.syscall, sizeof(b->t.syscall));
	} else if (span_eq(key, "wchan"))
		span_copy(next(rest, where), b->t.wait.wchan, sizeof(b->t.wait.wchan));
	else if (span_eq(key, "target"))
		span_copy(next(rest, where), b->t.wait.target, sizeof(b->t.wait.target));
	else if (span_eq(key, "owner"))
		b->t.wait.owner = int_of(next(rest, where));
	else if (span_eq(key, "futex")) { /* without a limit, of this process alone, at this address */
		b->t.wait = (struct threadwait){.kind = WAIT_LOCK, .state = 'S', .has_syscall = true, .arg[1] = 0x189};
		b->t.wait.arg[0] = (uint64_t)int_of(next(rest, where));
		TEXT_COPY(b->t.wait_kind, "lock");
		TEXT_COPY(b->t.syscall, "futex");
	} else if (span_eq(key, "timed"))
		b->t.wait.arg[3] = 1;
	else if (span_eq(key, "owner-gone") || span_eq(key, "roams"))
		*(span_eq(key, "roams") ? &b->t.roams : &b->t.wait.owner_gone) = true;
	else if (span_eq(key, "gil"))
		b->t.gil = span_eq(next(rest, where), "holds") ? DUMP_GIL_HOLDS : DUMP_GIL_WAITS;
	else if (span_eq(key, "tid"))
		b->t.tid = int_of(next(rest, where));
	else if (span_eq(key, "loader") || span_eq(key, "another")) {
		b->another = span_eq(key, "another");
		b->loader = int_of(next(rest, where));
	} else if (span_eq(key, "ray-worker"))
		b->of_ray = true;
	else if (span_eq(key, "thread"))
		span_copy(next(rest, where), b->thread, sizeof(b->thread));
	else if (span_eq(key, "cores"))
		b->cores = real_of(next(rest, where));
	else if (span_eq(key, "moves") || span_eq(key, "wakes"))
		*(span_eq(key, "moves") ? &b->moves : &b->wakes) = true;
	else if (span_eq(key, "only"))
		*(span_eq(next(rest, where), "last") ? &b->last : &b->before) = true;
	else if (span_eq(key, "alternates") || span_eq(key, "missed"))
		*(span_eq(key, "missed") ? &b->missed : &b->alternates) = true;
	else if (span_eq(key, "half"))
		TEXT_COPY(b->t.note, "no native frames");
	else if (span_eq(key, "sleeps"))
		b->t.wait.sleep_ns = duration_of(next(rest, where), where);
	else if (span_eq(key, "listens"))
		b->t.wait.listens = true;
	else if (span_eq(key, "naps"))
		b->naps_ns = duration_of(next(rest, where), where);
	else if (span_eq(key, "asleep"))
		b->asleep_ns = duration_of(next(rest, where), where);
	else
		fail_msg("%s: unknown word '%.*s'", where, (int)key.len, key.p);
}

static void stack_line(struct scenario *s, struct span rest, const char *where)
{
	struct span key;
	assert_true(s->n_blocks < BLOCKS);
	struct block *b = &s->block[s->n_blocks++];
	*b = (struct block){.t.has_python = false};
	set_of(s, next(&rest, where), &b->from, &b->to);
	while (span_word(&rest, &key))
		stack_word(b, key, &rest, where);
	TEXT_COPY(b->role, b->loader && !b->another ? "loader" : "main");
	b->t.main = !b->thread[0];
}

/* "py NAME FILE LINE" or "native NAME MODULE": of the last stack */
static void frame_line(struct scenario *s, struct span kind, struct span rest, const char *where)
{
	if (s->n_blocks == 0)
		fail_msg("%s: a frame without a stack", where);
	struct block *b = &s->block[s->n_blocks - 1];
	assert_true(b->t.n_frames < FRAMES);
	struct dump_frame *f = &b->frame[b->t.n_frames++];
	struct span name = next(&rest, where), file = next(&rest, where);
	f->name = strndup(name.p, name.len);
	if (span_eq(kind, "py")) {
		f->kind = FRAME_PYTHON;
		f->file = strndup(file.p, file.len);
		if (span_starts(file, "<frozen:")) /* a blank would end the word */
			f->file[7] = ' ';
		f->line = int_of(next(&rest, where));
		b->t.has_python = true;
	} else {
		f->kind = FRAME_NATIVE;
		f->module = strndup(file.p, file.len);
	}
	/* Variables, or registers, are the same at each look, and one of them is a time near now. */
	f->clocked = span_eq(span_trim(rest), "clocked");
	f->state = f->clocked || span_eq(span_trim(rest), "still");
}

static void blocks_clear(struct scenario *s)
{
	for (size_t i = 0; i < s->n_blocks; i++)
		for (size_t k = 0; k < s->block[i].t.n_frames; k++)
			dump_frame_done(&s->block[i].frame[k]);
	s->n_blocks = 0;
}

static pid_t pid_of(int32_t rank, int32_t loader)
{
	return 1000 + (rank + 1) * 100 + loader;
}

static struct dump_process *process_at(struct stackdump *d, int32_t rank, const struct block *b)
{
	pid_t pid = pid_of(rank, b->loader);
	for (size_t i = 0; i < d->n; i++)
		if (d->processes[i].pid == pid)
			return &d->processes[i];
	d->processes = realloc(d->processes, (d->n + 1) * sizeof(*d->processes));
	assert_non_null(d->processes);
	struct dump_process *p = &d->processes[d->n++];
	*p = (struct dump_process){.pid = pid, .ppid = b->loader ? pid_of(rank, 0) : 1, .rank = rank, .state = 'S'};
	TEXT_COPY(p->role, b->role);
	TEXT_COPY(p->name, b->of_ray ? "ray::RayTrainWo" : "python");
	TEXT_COPY(p->python, "3.11.2");
	return p;
}

/* number: which of the dumps; it counts on what changes between them. */
static void thread_add(const struct scenario *s, struct dump_process *p, const struct block *b, int number)
{
	uint64_t at_ns = s->now_ns - (uint64_t)(2 - number) * 2 * NS_PER_S;
	p->threads = realloc(p->threads, (p->n_threads + 1) * sizeof(*p->threads));
	assert_non_null(p->threads);
	struct dump_thread *t = &p->threads[p->n_threads];
	*t = b->t;
	if (t->tid == 0)
		t->tid = p->pid + (pid_t)p->n_threads * 10;
	TEXT_COPY(t->name, b->thread[0] ? b->thread : "python");
	t->wait.user_ticks = (uint64_t)(b->cores * 100 * 2 * number);
	if (b->naps_ns)
		t->wait.sleep_until_ns = (at_ns / b->naps_ns + 1) * b->naps_ns;
	else if (b->asleep_ns)
		t->wait.sleep_until_ns = s->mark_ns + b->asleep_ns;
	t->wait.sleep_left_ns = t->wait.sleep_until_ns > at_ns ? t->wait.sleep_until_ns - at_ns : 0;
	if (b->wakes && number == 2) {
		t->wait.kind = WAIT_RUNNING;
		t->wait.sleep_ns = t->wait.sleep_until_ns = t->wait.sleep_left_ns = 0;
	}
	TEXT_FORMAT(t->wait.text, "%s%s%s", b->t.wait_kind, b->t.wait.wchan[0] ? " in " : "", b->t.wait.wchan);
	if (b->missed && number == 0) {
		t->n_frames = 0;
		TEXT_COPY(t->note, "no native frames");
	}
	t->frames = calloc(t->n_frames ? t->n_frames : 1, sizeof(*t->frames));
	assert_non_null(t->frames);
	for (size_t i = 0; i < t->n_frames; i++) {
		t->frames[i] = b->frame[i];
		t->frames[i].name = strdup(b->frame[i].name);
		t->frames[i].file = b->frame[i].file ? strdup(b->frame[i].file) : NULL;
		t->frames[i].module = b->frame[i].module ? strdup(b->frame[i].module) : NULL;
	}
	if (t->n_frames > 0 && b->alternates)
		t->frames[0].line += number % 2;
	if (t->n_frames > 0 && b->moves) {
		t->frames[0].line += 7 * number;
		free(t->frames[0].name);
		char name[32];
		TEXT_FORMAT(name, "f%d", number);
		t->frames[0].name = strdup(name);
	}
	p->n_threads++;
}

static void dump_make(const struct scenario *s, int number, struct stackdump *ret)
{
	*ret = (struct stackdump){.captured_unix_ms = 1700000000000 + number * 2000};
	for (int32_t r = NO_RANK; r < s->n_ranks; r++)
		for (size_t i = 0; i < s->n_blocks; i++)
			if (r >= s->block[i].from && r <= s->block[i].to && !s->rank[r + 1].seen.exited &&
			    !(number == 2 ? s->block[i].before : s->block[i].last))
				thread_add(s, process_at(ret, r, &s->block[i]), &s->block[i], number);
}

/* ---- time ---- */

static void rates_step(struct scenario *s, struct rates *r, uint64_t dt_ns)
{
	double dt = (double)dt_ns / 1e9;
	for (size_t i = 0; i < LIVENESS_COUNTERS; i++) {
		r->sum[i] += r->seen.exited ? 0 : r->count[i] * dt;
		if (r->burst[i] > 0 && s->now_ns / NS_PER_S % 15 == 0)
			r->sum[i] += r->burst[i];
		r->seen.count[i] = (uint64_t)r->sum[i];
	}
	r->seen.has = r->has;
	if (r->count_ns > 0)
		r->seen.progress.count_ns = s->now_ns;
	while (r->step_ns > 0 && r->next_ns <= s->now_ns) {
		r->seen.progress.step += MAX(r->stride, 1);
		r->seen.progress.n_lines++;
		r->seen.progress.last_step_ns = r->next_ns;
		r->next_ns += r->step_ns;
	}
}

static void look_make(struct scenario *s, uint64_t dt_ns)
{
	s->look.now_ns = s->now_ns;
	s->look.ray_busy_ns = s->ray.still ? MAX(s->mark_ns, s->begin_ns) : s->ray.on ? s->now_ns : 0;
	s->look.job_age_ns = s->now_ns - s->begin_ns;
	s->look.has_retransmits = true;
	s->look.retransmits += s->retransmits_per_s * dt_ns / NS_PER_S;
	s->look.n = 0;
	anew_put(&s->anew, s->now_ns, &s->look.respawns);
	for (int32_t r = s->n_ranks ? 0 : NO_RANK; r < MAX(s->n_ranks, 0); r++) {
		struct rates *x = &s->rank[r + 1];
		rates_step(s, x, dt_ns);
		x->seen.rank = r;
		x->seen.pid = pid_of(r, 0) + (x->restart_ns ? (pid_t)(s->now_ns / x->restart_ns) : 0);
		s->look.rank[s->look.n++] = x->seen;
		if (r == NO_RANK)
			break;
	}
}

static const struct rankenv *environments_compare(struct scenario *s)
{
	struct rankenv_process p[RANKS];
	for (int32_t r = 0; r < s->n_ranks; r++)
		p[r] = (struct rankenv_process){.pid = pid_of(r, 0),
						.environ = {s->environment[r].text, s->environment[r].len},
						.known_rank = r};
	rankenv_compare(p, (size_t)s->n_ranks, &s->compared);
	return &s->compared;
}

static const struct waitgraph *graph_of_waits(void)
{
	struct waitgraph_in in = {
		.before = &waits.facts[0],
		.now = &waits.facts[1],
		.who = waits.who,
		.n_who = waits.n_who,
		.hint = waits.hint,
		.n_hints = waits.n_hints,
	};
	waitgraph_done(&graph);
	assert_int_equal(waitgraph_make(&in, &graph), 0);
	return &graph;
}

static void case_make(struct scenario *s, struct stackdump *dumps, struct hang_case *c)
{
	*c = (struct hang_case){
		.now_unix_ms = 1700000000000, .liveness = &s->liveness, .source = s->source, .n_source = s->n_source};
	if (s->asked.want & HANG_WANT_STACKS && !s->no_stacks)
		for (size_t i = 0; i < s->asked.dumps; i++) {
			dump_make(s, (int)i, &dumps[i]);
			c->dumps[c->n_dumps++] = &dumps[i];
		}
	if (s->has_environment)
		c->environment = environments_compare(s);
	if (s->asked.want & HANG_WANT_BOOK)
		c->book = &s->book;
	if (s->asked.want & HANG_WANT_COLLECTIVE)
		c->collective = &s->collective;
	if (s->asked.want & HANG_WANT_SHARES) {
		for (size_t i = 0; i < s->shares.n; i++)
			assert_true(s->asked.samples >= 40);
		c->shares = &s->shares;
	}
	c->nobodys_error = s->nobodys_error;
	refused_put(&s->refused, s->look.now_ns, c);
	asked_put(&s->connects, s->look.now_ns, c);
	if (s->asked.want & HANG_WANT_STACKS && waits.n_who > 0)
		c->graph = graph_of_waits();
	if (s->asked.want & HANG_WANT_STACKS) {
		c->go = s->go;
		c->n_go = s->n_go;
		ray_put(&s->ray, c);
	}
	if (s->unavailable[0])
		TEXT_COPY(c->unavailable[c->n_unavailable++], s->unavailable);
}

/* What the agent sees of who sleeps, at each look. */
static void sleep_look(struct scenario *s)
{
	for (const struct block *b = s->block; b < s->block + s->n_blocks && s->mind.sleep_until_ns; b++)
		if (b->from <= s->mind.sleep_rank && s->mind.sleep_rank <= b->to && b->naps_ns &&
		    s->mind.state != HANG_OK)
			hang_slept(&s->mind, (s->now_ns / b->naps_ns + 1) * b->naps_ns);
}

static void judge(struct scenario *s, const char *where)
{
	struct stackdump dumps[HANG_DUMPS] = {{.n = 0}};
	struct hang_case c;
	struct incident *in = calloc(1, sizeof(*in));
	assert_non_null(in);
	case_make(s, dumps, &c);
	hang_judge(&s->settings, &s->mind, &c, &s->verdict);
	hang_keep_verdict(&s->mind, &s->verdict, &s->liveness);
	s->judged++;
	if (s->verdict.pace[0])
		TEXT_COPY(s->noted, s->verdict.pace);
	if (s->verdict.kind != HANG_NONE && !s->verdict.known_already) {
		s->told = s->verdict;
		s->alarms++;
		if (s->verdict_ns == 0)
			s->verdict_ns = s->now_ns;
		hang_incident(&s->verdict, &c, in);
		if (!in->summary[0] || !in->cause.text[0] || in->n_evidence == 0 ||
		    (in->cause.n_advice == 0 && s->verdict.kind == HANG_HANG))
			fail_msg("%s: the incident '%s' is not complete: %zu advice, %zu evidence", where,
				 s->verdict.id, in->cause.n_advice, in->n_evidence);
		plain_words(in, where);
	}
	for (size_t i = 0; i < HANG_DUMPS; i++)
		stackdump_done(&dumps[i]);
	free(in);
}

static void look(struct scenario *s, const char *where)
{
	s->now_ns += NS_PER_S;
	look_make(s, NS_PER_S);
	liveness_take(&s->liveness, &s->look);
	sleep_look(s);
	hang_check(&s->mind, &s->settings, &s->liveness, &s->step);
	s->looks++;
	s->resolved += s->step.resolved;
	s->relieved += s->step.fast_again;
	if (s->step.state != HANG_OK && !s->step.unsaid && s->suspect_ns == 0)
		s->suspect_ns = s->now_ns;
	if (s->step.want) {
		assert_int_equal(s->due_ns, 0); /* not asked for twice */
		s->asked = s->step;
		s->due_ns = s->now_ns + (s->step.dumps ? (s->step.dumps - 1) * s->step.gap_ns : 0) +
			    s->step.samples * s->step.sample_gap_ns;
	}
	if (s->due_ns != 0 && s->now_ns >= s->due_ns) {
		if (s->shares.last_ns < s->due_ns)
			s->shares.last_ns = s->now_ns;
		const struct hang_case so_far = {.liveness = &s->liveness,
						 .shares = s->asked.want & HANG_WANT_SHARES ? &s->shares : NULL};
		if (!hang_ripe(&s->settings, &s->mind, &so_far))
			return;
		s->due_ns = 0;
		judge(s, where);
	}
}

static void mark(struct scenario *s)
{
	s->mark_ns = s->now_ns;
	s->suspect_ns = s->verdict_ns = 0;
	s->alarms = s->judged = s->resolved = s->relieved = 0;
	s->told = (struct hang_verdict){.kind = HANG_NONE};
}

/* ---- what is expected ---- */

/* id confidence C culprits 3,4 within T split S says TEXT… */
static void check_verdict(struct scenario *s, const struct hang_verdict *v, struct span rest, const char *where)
{
	struct span w;
	while (span_word(&rest, &w)) {
		if (span_eq(w, "id")) {
			w = next(&rest, where);
			if (!span_eq(w, v->id))
				fail_verdict(v, where, "expected", w);
		} else if (span_eq(w, "confidence")) {
			w = next(&rest, where);
			if (!span_eq(w, confidence_name(v->confidence)))
				fail_verdict(v, where, "expected confidence", w);
		} else if (span_eq(w, "culprits")) {
			check_culprits(v, next(&rest, where), where);
		} else if (span_eq(w, "split")) {
			w = next(&rest, where);
			if (!span_eq(w, v->split))
				fail_verdict(v, where, "expected split", w);
		} else if (span_eq(w, "proved") || span_eq(w, "unproved")) {
			if (v->proved != span_eq(w, "proved"))
				fail_verdict(v, where, "expected to be", w);
		} else if (span_eq(w, "within")) {
			w = next(&rest, where);
			if (s->verdict_ns == 0 || s->verdict_ns - s->mark_ns > duration_of(w, where))
				fail_verdict(v, where, "too late for", w);
		} else if (check_text(v, w, text_of(span_trim(rest)), where)) {
			return;
		} else {
			fail_msg("%s: unknown expectation '%.*s'", where, (int)w.len, w.p);
		}
	}
}

static void expect(struct scenario *s, struct span rest, const char *where)
{
	struct span w = next(&rest, where);
	s->checks++;
	if (span_eq(w, "hang") || span_eq(w, "straggler") || span_eq(w, "slowdown")) {
		if (!span_eq(w, kinds_of_verdict[s->told.kind]))
			fail_verdict(s->alarms ? &s->told : &s->verdict, where, "expected", w);
		check_verdict(s, &s->told, rest, where);
	} else if (span_eq(w, "benign")) {
		if (s->alarms > 0 || !s->verdict.benign || s->step.state != HANG_BENIGN)
			fail_verdict(s->alarms ? &s->told : &s->verdict, where, "expected", w);
		check_verdict(s, &s->verdict, rest, where);
	} else if (span_eq(w, "quiet")) { /* suspected or not, nothing was told */
		if (s->alarms > 0)
			fail_verdict(&s->told, where, "expected", w);
	} else if (span_eq(w, "well")) {
		if (s->alarms > 0 || s->step.state != HANG_OK)
			fail_verdict(s->alarms ? &s->told : &s->verdict, where, "expected", w);
	} else if (span_eq(w, "unasked")) { /* not even evidence was gathered */
		if (s->judged > 0 || s->due_ns)
			fail_verdict(&s->verdict, where, "expected", w);
	} else if (span_eq(w, "unsaid")) { /* nor that it is looked at */
		assert_true(s->suspect_ns == 0 && s->judged > 0);
	} else if (span_eq(w, "noted")) {
		if (!strstr(s->noted, text_of(span_trim(rest))))
			fail_msg("%s: noted is '%s'", where, s->noted);
	} else if (span_eq(w, "suspicion")) {
		w = next(&rest, where);
		if (s->suspect_ns == 0 || s->suspect_ns - s->mark_ns > duration_of(next(&rest, where), where))
			fail_msg("%s: no suspicion in time (%s)", where, s->step.text);
	} else if (span_eq(w, "resolved") || span_eq(w, "relieved")) {
		assert_int_equal(span_eq(w, "resolved") ? s->resolved : s->relieved, 1);
	} else if (span_eq(w, "judged") || span_eq(w, "alarms")) { /* judged: so often was evidence gathered */
		const size_t n = span_eq(w, "judged") ? s->judged : s->alarms;
		if (n != (size_t)int_of(next(&rest, where)))
			fail_msg("%s: %.*s %zu times", where, (int)w.len, w.p, n);
	} else {
		fail_msg("%s: unknown expectation '%.*s'", where, (int)w.len, w.p);
	}
}

/* ---- lines ---- */

static void environment_line(struct scenario *s, struct span rest, const char *where)
{
	int32_t rank = int_of(next(&rest, where));
	struct span w;
	assert_in_range(rank, 0, RANKS - 1);
	s->has_environment = true;
	while (span_word(&rest, &w)) {
		char *to = s->environment[rank].text + s->environment[rank].len;
		assert_true(s->environment[rank].len + w.len < sizeof(s->environment[0].text));
		memcpy(to, w.p, w.len);
		to[w.len] = '\0';
		s->environment[rank].len += w.len + 1;
	}
}

/* book ID ROLE CONFIDENCE CULPRIT|- TEXT */
static void book_line(struct scenario *s, struct span rest, const char *where)
{
	struct cause_verdict *b = &s->book;
	*b = (struct cause_verdict){.valid = true};
	span_copy(next(&rest, where), b->id, sizeof(b->id));
	struct span w = next(&rest, where);
	b->of_stack = b->of_main_thread = span_eq(w, "root-of-stack");
	b->role = b->of_stack || span_eq(w, "root") ? RULE_ROOT
		  : span_eq(w, "cascade")	    ? RULE_CASCADE
						    : RULE_CONFIRMATION;
	b->confidence = (enum rule_confidence)confidence_read(next(&rest, where));
	w = next(&rest, where);
	if (!span_eq(w, "-"))
		b->culprits[b->n_culprits++] = int_of(w);
	span_copy(span_trim(rest), b->text, sizeof(b->text));
	TEXT_COPY(b->advice[b->n_advice++], "what the book advises");
}

/* share SET LOOKS ranks N loader N running N sleeping N gpu N */
static void share_line(struct scenario *s, struct span rest, const char *where)
{
	int32_t from, to;
	struct span set = next(&rest, where);
	if (span_eq(set, "none")) {
		s->shares.n = 0;
		return;
	}
	set_of(s, set, &from, &to);
	struct waitshare_rank r = share_of(rest, where);
	for (r.rank = from; r.rank <= to; r.rank++)
		s->shares.rank[s->shares.n++] = r;
}

/* go SET KIND [serves] [owed] [TEXT]; go none */
static void go_line(struct scenario *s, struct span rest, const char *where)
{
	static const char *const kinds[] = {"unknown", "lives", "outside", "somebody", "nobody"};
	struct gostand g = {.pid = 1000, .n = 3, .n_stand = 2, .version = "go1.26.8"};
	struct span set = next(&rest, where);
	int32_t from, to;
	size_t kind = 0;
	if (span_eq(set, "none")) {
		s->n_go = 0;
		return;
	}
	set_of(s, set, &from, &to);
	struct span w = next(&rest, where);
	while (kind < ARRAY_SIZE(kinds) && !span_eq(w, kinds[kind]))
		kind++;
	assert_true(kind < ARRAY_SIZE(kinds));
	g.kind = (enum gostand_kind)kind;
	rest = span_trim(rest);
	if (span_starts(rest, "serves")) {
		g.serves = true;
		(void)span_word(&rest, &w);
	}
	rest = span_trim(rest);
	if (span_starts(rest, "owed")) {
		g.owed = true;
		TEXT_COPY(g.other, "goroutine 21 waits in chan send at worker.go:20 in main.work");
		(void)span_word(&rest, &w);
	}
	span_copy(span_trim(rest), g.text, sizeof(g.text));
	for (g.rank = from; g.rank <= to && s->n_go < RANKS; g.rank++)
		s->go[s->n_go++] = g;
}

static void setting_line(struct scenario *s, struct span key, struct span rest, const char *where)
{
	struct span v = next(&rest, where);
	if (span_eq(key, "rule"))
		s->settings.rule = span_eq(v, "io-gpu") ? HANG_RULE_IO_GPU : HANG_RULE_EVIDENCE;
	else if (span_eq(key, "after"))
		s->settings.after_ns = duration_of(v, where), s->settings.has_after = true;
	else if (span_eq(key, "util-window"))
		s->settings.util_window_ns = duration_of(v, where);
	else if (span_eq(key, "sleep"))
		s->settings.sleep_ns = duration_of(v, where);
	else if (span_eq(key, "checkpoint"))
		s->settings.checkpoint_ns = duration_of(v, where);
	else if (span_eq(key, "ranks"))
		s->n_ranks = int_of(v);
	else
		fail_msg("%s: unknown line", where);
}

static void line(struct scenario *s, struct span text, const char *where)
{
	struct span key, rest = span_before(text, "#");
	if (!span_word(&rest, &key))
		return;
	if (span_eq(key, "rank"))
		rank_line(s, rest, where);
	else if (span_eq(key, "stack"))
		stack_line(s, rest, where);
	else if (span_eq(key, "py") || span_eq(key, "native"))
		frame_line(s, key, rest, where);
	else if (span_eq(key, "stacks")) { /* stacks none: from here on others */
		s->no_stacks = span_eq(next(&rest, where), "denied");
		blocks_clear(s);
	} else if (span_eq(key, "run")) {
		uint64_t until = s->now_ns + duration_of(next(&rest, where), where);
		while (s->now_ns < until)
			look(s, where);
	} else if (span_eq(key, "mark"))
		mark(s);
	else if (span_eq(key, "expect"))
		expect(s, rest, where);
	else if (span_eq(key, "environment"))
		environment_line(s, rest, where);
	else if (span_eq(key, "source"))
		source_line(&s->source[s->n_source++], rest, where);
	else if (span_eq(key, "book"))
		book_line(s, rest, where);
	else if (span_eq(key, "collective"))
		collective_line(&s->collective, rest, where);
	else if (span_eq(key, "go"))
		go_line(s, rest, where);
	else if (span_eq(key, "ray"))
		ray_line(&s->ray, rest, where);
	else if (span_eq(key, "share"))
		share_line(s, rest, where);
	else if (span_eq(key, "nobodys-error"))
		span_copy(span_trim(rest), s->nobodys_error, sizeof(s->nobodys_error));
	else if (span_eq(key, "blind"))
		span_copy(span_trim(rest), s->unavailable, sizeof(s->unavailable));
	else if (span_eq(key, "waits"))
		waits_line(&waits, rest);
	else if (span_eq(key, "retransmits"))
		s->retransmits_per_s = (uint64_t)int_of(next(&rest, where));
	else if (span_eq(key, "refused"))
		refused_line(&s->refused, rest, where);
	else if (span_eq(key, "asked"))
		asked_line(&s->connects, rest, where);
	else if (span_eq(key, "anew"))
		anew_line(&s->anew, rest, s->now_ns, where);
	else
		setting_line(s, key, rest, where);
}

static struct scenario *scenario_new(void)
{
	struct scenario *s = calloc(1, sizeof(*s));
	assert_non_null(s);
	wait_scenario_begin(&waits);
	s->now_ns = s->begin_ns = 1000 * NS_PER_S;
	for (size_t i = 0; i < ARRAY_SIZE(s->rank); i++) {
		s->rank[i].seen.state = 'S';
		s->rank[i].seen.processes = 1;
		s->rank[i].has = 1u << LIVENESS_CPU;
	}
	return s;
}

static void run_file(const char *name)
{
	char path[512], where[300];
	char *text;
	size_t len;
	struct scenario *s = scenario_new();
	TEXT_FORMAT(path, "%s/hang/%s", SCENARIOS, name);
	assert_int_equal(file_slurp(AT_FDCWD, path, 1 << 20, &text, &len), 0);
	struct span rest = {text, len}, l;
	for (int n = 1; span_line(&rest, &l); n++) {
		TEXT_FORMAT(where, "%s:%d", name, n);
		line(s, l, where);
	}
	if (s->looks == 0 || s->checks == 0)
		fail_msg("%s: no looks, or nothing expected", name);
	blocks_clear(s);
	free(s);
	free(text);
}

static void every_scenario_is_judged_as_expected(void **state)
{
	(void)state;
	size_t files = 0;
	DIR *d = opendir(SCENARIOS "/hang");
	assert_non_null(d);
	for (struct dirent *e; (e = readdir(d)) != NULL;) {
		size_t len = strlen(e->d_name);
		if (len < 5 || strcmp(e->d_name + len - 4, ".txt") != 0)
			continue;
		run_file(e->d_name);
		files++;
	}
	closedir(d);
	assert_true(files >= 40);
}

/* One file only: test_judge_hang_scenarios NAME. */
int main(int argc, char **argv)
{
	if (argc > 1) {
		run_file(argv[1]);
		return 0;
	}
	const struct CMUnitTest tests[] = {cmocka_unit_test(every_scenario_is_judged_as_expected)};
	return cmocka_run_group_tests_name("judge/hang_scenarios", tests, NULL, NULL);
}
