/* What scenarios do not show well: chance, numbers, limits. tests/scenarios/hang has the causes. */
#include "testing.h"

#include <string.h>

#include "base/buf.h"
#include "judge/hang/hang.h"
#include "judge/hang/hang_advice.h"
#include "model/hang/steptrend.h"
#include "judge/plain_words.h"

static uint64_t seed = 1;

static double chance(void)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (double)(seed >> 33) / (double)(UINT64_C(1) << 31);
}

/* ---- pace ---- */

/* Steps of one second give or take spread; the last slow ones take ratio longer. */
static struct liveness_set *paced(size_t n, size_t slow, double spread, double ratio)
{
	struct liveness_set *p = calloc(1, sizeof(*p));
	assert_non_null(p);
	for (size_t i = 0; i < n; i++) {
		double s = 1 + spread * (chance() + chance() + chance() - 1.5);
		p->step_s[p->n_step_times++ % LIVENESS_STEPS] = (float)(i + slow >= n ? s * (1 + ratio) : s);
	}
	return p;
}

static void a_quarter_slower_is_found_within_sixteen_steps(void **state)
{
	(void)state;
	size_t found = 0;
	for (int i = 0; i < 300; i++) {
		struct steptrend pace;
		struct liveness_set *p = paced(120, 16, 0.1, 0.25);
		found += steptrend_slower(p, 0.20, &pace) && pace.ratio > 0.15 && pace.ratio < 0.35;
		free(p);
	}
	assert_true(found >= 290);
}

static void noise_is_no_slowdown(void **state)
{
	(void)state;
	for (int i = 0; i < 2000; i++) {
		struct steptrend pace;
		struct liveness_set *p = paced(60 + (size_t)i % 300, 0, 0.2, 0);
		if (steptrend_slower(p, 0.20, &pace))
			fail_msg("run %d: %.0f %% slower by chance", i, pace.ratio * 100);
		free(p);
	}
}

static void a_few_slow_steps_are_none_and_few_steps_say_nothing(void **state)
{
	(void)state;
	struct steptrend pace;
	struct liveness_set *p = paced(120, 6, 0.05, 3);
	assert_false(steptrend_slower(p, 0.20, &pace));
	free(p);
	p = paced(40, 16, 0, 1);
	assert_false(steptrend_slower(p, 0.20, &pace));
	free(p);
}

/* What pulses make of so many seconds of steps of one length and of another behind them, looked at each second. */
static double slower_by(double before_s, double now_s, double length_s, bool exact)
{
	struct liveness_set *p = calloc(1, sizeof(*p));
	struct liveness_sample *look = calloc(1, sizeof(*look));
	struct steptrend pace;
	double ratio = 0, next = before_s, last = 0;
	assert_true(p && look);
	look->n = 1;
	struct liveness_counters *x = &look->rank[0];
	*x = (struct liveness_counters){.rank = 0, .has_progress = true, .progress.has_step = true};
	for (double t = 1; t < 2 * length_s; t += 1) {
		bool any = false;
		for (; next <= t; next += next < length_s ? before_s : now_s, any = true) {
			x->progress.step++;
			last = next;
		}
		look->now_ns = (uint64_t)((1000 + t) * 1e9);
		if (any) {
			x->progress.last_step_ns = exact ? (uint64_t)((1000 + last) * 1e9) : look->now_ns;
			x->progress.last_step_slack_ns = exact ? 0 : NS_PER_S;
		}
		liveness_take(p, look);
		if (ratio <= 0 && steptrend_slower(p, 0.20, &pace))
			ratio = pace.ratio;
	}
	free(look);
	free(p);
	return ratio;
}

static void a_slowdown_s_figure_is_right_though_looks_are_a_second_apart(void **state)
{
	(void)state;
	static const struct {
		double before_s, now_s;
	} jobs[] = {{0.2, 0.26}, {0.2, 0.3}, {0.23, 0.3}, {0.5, 0.65}, {1.1, 1.4}, {0.9, 1.2}, {2.1, 2.8}};
	for (size_t i = 0; i < ARRAY_SIZE(jobs); i++) {
		double is = jobs[i].now_s / jobs[i].before_s - 1;
		double exact = slower_by(jobs[i].before_s, jobs[i].now_s, 120, true);
		double seen = slower_by(jobs[i].before_s, jobs[i].now_s, 900, false);
		if (exact < is - 0.03 || exact > is + 0.03)
			fail_msg("%.2f s become %.2f: %.3f where times are known", jobs[i].before_s, jobs[i].now_s,
				 exact);
		if (seen < is - 0.1 || seen > is + 0.1)
			fail_msg("%.2f s become %.2f: %.3f where they are not", jobs[i].before_s, jobs[i].now_s, seen);
		if (slower_by(jobs[i].before_s, jobs[i].before_s, 900, false) > 0)
			fail_msg("%.2f s are a slowdown", jobs[i].before_s);
	}
}

/* ---- stragglers ---- */

static void sampled(struct waitshare *w, int32_t ranks, int32_t slow, double wait, double ratio, uint32_t looks)
{
	*w = (struct waitshare){.samples = looks};
	for (int32_t r = 0; r < ranks; r++) {
		struct waitshare_rank *x = &w->rank[w->n++];
		/* a step lasts as long as its slowest rank, and the exchange itself takes `wait` of it */
		double share = ratio <= 0 || r == slow ? wait : wait + (1 - wait) * ratio / (1 + ratio);
		*x = (struct waitshare_rank){.rank = r, .n = looks};
		for (uint32_t i = 0; i < looks; i++)
			x->ranks += chance() < share;
		x->running = looks - x->ranks;
	}
}

static void look_add(struct waitshare_rank *x, int look, bool own)
{
	size_t b = MIN((size_t)look / WAITSHARE_BLOCK, (size_t)WAITSHARE_BLOCKS - 1);
	x->n++;
	x->running += own;
	x->ranks += !own;
	x->block[b].n++;
	x->block[b].own = (uint16_t)(x->block[b].own + own);
}

/* The same as it is seen in time: a look every 40 ms at steps of about 0.3 s, whose ends are spent waiting. */
static void timed(struct waitshare *w, int32_t ranks, int32_t slow, double wait, double ratio)
{
	double ends = 0, works[WAITSHARE_RANKS] = {0}, began = 0;
	*w = (struct waitshare){.samples = 250, .n = (size_t)ranks};
	for (int32_t r = 0; r < ranks; r++)
		w->rank[r] = (struct waitshare_rank){.rank = r};
	for (int i = 0; i < 250; i++) {
		double t = i * 0.04 + 0.02 * chance();
		while (t >= ends) {
			double longest = 0;
			began = ends;
			for (int32_t r = 0; r < ranks; r++) {
				works[r] = 0.27 * (1 + 0.01 * (chance() - 0.5)) * (r == slow ? 1 + ratio : 1);
				longest = MAX(longest, works[r]);
			}
			ends = began + longest * (1 + wait);
		}
		for (int32_t r = 0; r < ranks; r++)
			look_add(&w->rank[r], i, t - began <= works[r]);
	}
}

/* slower: by how much the steps had become longer, if that was why it was looked for. */
static bool straggles_after(const struct waitshare *w, double slower, struct hang_verdict *v)
{
	struct hang_settings s = {.rule = HANG_RULE_EVIDENCE};
	struct hang_history m = {.shares_asked = true, .shares_slower = slower};
	struct liveness_set *p = calloc(1, sizeof(*p));
	assert_non_null(p);
	struct hang_case c = {.liveness = p, .shares = w};
	hang_judge(&s, &m, &c, v);
	free(p);
	return v->kind == HANG_STRAGGLER;
}

static bool straggles(const struct waitshare *w, struct hang_verdict *v)
{
	return straggles_after(w, 0, v);
}

/* Rank 0 does a little more, as it always has: that is not why steps take half as long again. */
static void a_little_more_work_does_not_explain_much_longer_steps(void **state)
{
	(void)state;
	struct waitshare *w = calloc(1, sizeof(*w));
	struct hang_verdict *v = calloc(1, sizeof(*v));
	timed(w, 4, 0, 0.03, 0.12);
	assert_true(straggles(w, v) && v->culprits[0] == 0);
	assert_false(straggles_after(w, 0.5, v));
	timed(w, 4, 0, 0.03, 0.5);
	assert_true(straggles_after(w, 0.5, v) && v->culprits[0] == 0);
	free(w);
	free(v);
}

/* 10 % slower, from the 250 looks that are asked for; a wrong rank is never named. */
static void the_slow_rank_of_eight_is_named_and_no_other(void **state)
{
	(void)state;
	struct waitshare *w = calloc(1, sizeof(*w));
	struct hang_verdict *v = calloc(1, sizeof(*v));
	size_t named[2] = {0, 0}, rounds[1] = {0};
	static const double ratios[2] = {0.10, 0.20};
	for (int k = 0; k < 2; k++)
		for (int i = 0; i < 300; i++) {
			int32_t slow = i % 8;
			sampled(w, 8, slow, 0.03, ratios[k], 250);
			if (!straggles(w, v))
				continue;
			assert_int_equal(v->n_culprits, 1);
			assert_int_equal(v->culprits[0], slow);
			named[k]++;
		}
	print_message("[          ] 10 %% slower: %zu of 300 named; 20 %%: %zu\n", named[0], named[1]);
	assert_true(named[0] >= 210); /* looks that fall by pure chance, the worst case */
	assert_true(named[1] >= 299);
	named[0] = 0;
	for (int i = 0; i < 300; i++) {
		int32_t slow = i % 8;
		timed(w, 8, slow, 0.03, 0.10);
		bool first = straggles(w, v);
		rounds[0] += first;
		if (!first && v->again_ns > 0) {
			timed(w, 8, slow, 0.03, 0.10);
			first = straggles(w, v);
		}
		if (!first)
			continue;
		assert_int_equal(v->culprits[0], slow);
		assert_true(v->ratio > 0.05 && v->ratio < 0.16);
		named[0]++;
	}
	print_message("[          ] 10 %% slower, in time: %zu of 300 named in 34 steps, %zu in 68\n", rounds[0],
		      named[0]);
	assert_true(rounds[0] >= 270 && named[0] >= 297);
	free(w);
	free(v);
}

static void equal_ranks_have_no_straggler(void **state)
{
	(void)state;
	struct waitshare *w = calloc(1, sizeof(*w));
	struct hang_verdict *v = calloc(1, sizeof(*v));
	size_t wrong = 0;
	for (int i = 0; i < 3000; i++) {
		sampled(w, 2 + i % 63, 0, 0.02 + 0.3 * chance(), 0, 250);
		wrong += straggles(w, v);
	}
	print_message("[          ] named by chance: %zu of 3000\n", wrong);
	assert_true(wrong <= 15);
	free(w);
	free(v);
}

/*
 * A look every 80 ms at steps of a second or more, of which each rank's own part varies by chance, as on a machine that
 * has too much to do: equal ranks, or one that is slower by a ratio.
 */
static void varied(struct waitshare *w, int32_t ranks, int32_t slow, double spread, double ratio)
{
	double ends = 0, works[WAITSHARE_RANKS] = {0}, began = 0;
	*w = (struct waitshare){.n = (size_t)ranks};
	for (int32_t r = 0; r < ranks; r++)
		w->rank[r].rank = r;
	for (int i = 0; i < 250; i++) {
		double t = i * 0.08, longest = 0;
		while (t >= ends) {
			began = ends;
			for (int32_t r = 0; r < ranks; r++) {
				double more = chance() < 0.3 ? 2 * spread * chance() : 0;
				works[r] = 0.7 * (1 + spread * (chance() - 0.5) + more) * (r == slow ? 1 + ratio : 1);
				longest = MAX(longest, works[r]);
			}
			ends = began + longest + 0.02;
			longest = 0;
		}
		w->samples++;
		for (int32_t r = 0; r < ranks; r++)
			look_add(&w->rank[r], i, t - began <= works[r]);
	}
}

static void ranks_whose_steps_vary_have_no_straggler(void **state)
{
	(void)state;
	struct waitshare *w = calloc(1, sizeof(*w));
	struct hang_verdict *v = calloc(1, sizeof(*v));
	size_t wrong = 0, named = 0;
	for (int i = 0; i < 2000; i++) {
		varied(w, 2 + i % 7, -1, 0.2 + 0.8 * chance(), 0);
		wrong += straggles(w, v);
	}
	print_message("[          ] of ranks with unequal steps named by chance: %zu of 2000\n", wrong);
	for (int i = 0; i < 300; i++) {
		int32_t n = 2 + i % 7;
		varied(w, n, i % n, 0.2 + 0.8 * chance(), 1);
		bool told = straggles(w, v);
		named += told && v->culprits[0] == i % n;
	}
	print_message("[          ] of those one that takes twice as long: %zu of 300\n", named);
	assert_true(wrong <= 20);
	assert_true(named >= 270);
	free(w);
	free(v);
}

/* ---- hangs ---- */

#define C10D "/usr/lib/python3/dist-packages/torch/distributed/distributed_c10d.py"

struct jam {
	struct liveness_set p;
	struct liveness_sample look;
	struct dump_frame in[2], out[1];
	struct dump_thread threads[3][LIVENESS_RANKS];
	struct dump_process processes[3][LIVENESS_RANKS];
	struct stackdump dumps[3];
	struct hang_history mind;
	struct hang_case c;
	struct hang_verdict v;
};

static char *literal(const char *text)
{
	return (char *)(uintptr_t)text;
}

/* n ranks train for a minute; then all but `odd` wait in all_reduce. */
static struct jam *jam_new(int32_t n, int32_t odd)
{
	struct jam *j = calloc(1, sizeof(*j));
	struct hang_settings s = {.rule = HANG_RULE_EVIDENCE};
	struct hang_step step;
	assert_non_null(j);
	j->look.now_ns = 1000 * NS_PER_S;
	for (int t = 0; t < 90; t++) {
		j->look.now_ns += NS_PER_S;
		j->look.job_age_ns += NS_PER_S;
		j->look.n = 0;
		for (int32_t r = 0; r < n; r++) {
			struct liveness_counters *x = &j->look.rank[j->look.n++];
			x->rank = r;
			x->state = 'S';
			x->has = 1u << LIVENESS_CPU;
			x->has_progress = x->progress.has_step = true;
			if (t >= 60)
				continue;
			x->count[LIVENESS_CPU] += NS_PER_S;
			x->progress.step++;
			x->progress.last_step_ns = j->look.now_ns;
		}
		liveness_take(&j->p, &j->look);
		struct hang_settings quiet = s;
		quiet.no_straggler = true;
		hang_check(&j->mind, &quiet, &j->p, &step);
	}
	j->in[0] = (struct dump_frame){.name = literal("all_reduce"), .file = literal(C10D), .line = 1};
	j->in[1] = (struct dump_frame){.name = literal("step"), .file = literal("/job/train.py"), .line = 40};
	j->out[0] = (struct dump_frame){.name = literal("load"), .file = literal("/job/data.py"), .line = 7};
	for (int d = 0; d < 3; d++) {
		for (int32_t r = 0; r < n; r++) {
			bool is = r == odd;
			j->threads[d][r] = (struct dump_thread){.tid = 100 + r,
								.main = true,
								.has_python = true,
								.frames = is ? j->out : j->in,
								.n_frames = is ? 1 : 2,
								.wait.kind = is ? WAIT_LOCK : WAIT_SOCKET};
			j->processes[d][r] = (struct dump_process){.pid = 100 + r,
								   .rank = r,
								   .role = "main",
								   .threads = &j->threads[d][r],
								   .n_threads = 1};
		}
		j->dumps[d] =
			(struct stackdump){.captured_unix_ms = d * 2000, .processes = j->processes[d], .n = (size_t)n};
		j->c.dumps[d] = &j->dumps[d];
	}
	j->c.n_dumps = 3;
	j->c.liveness = &j->p;
	return j;
}

static void the_rank_that_is_missing_is_named_in_300_of_300(void **state)
{
	(void)state;
	struct hang_settings s = {.rule = HANG_RULE_EVIDENCE};
	for (int i = 0; i < 300; i++) {
		int32_t n = 2 + (int32_t)(chance() * 62.99), odd = (int32_t)(chance() * n);
		struct jam *j = jam_new(n, odd);
		hang_judge(&s, &j->mind, &j->c, &j->v);
		if (j->v.kind != HANG_HANG || j->v.n_culprits != 1 || j->v.culprits[0] != odd)
			fail_msg("%d of %d: %s, %zu culprits: %s", odd, n, j->v.id, j->v.n_culprits, j->v.text);
		assert_string_equal(j->v.id, "missing_rank");
		assert_int_equal(j->v.confidence, CONFIDENCE_HIGH);
		free(j);
	}
}

/* A rank fewer in the dumps, whichever it is: never a wrong one at high confidence. */
static void with_one_dump_missing_nobody_is_accused_for_sure(void **state)
{
	(void)state;
	struct hang_settings s = {.rule = HANG_RULE_EVIDENCE};
	for (int32_t gone = 0; gone < 8; gone++) {
		struct jam *j = jam_new(8, 5);
		for (int d = 0; d < 3; d++) {
			j->dumps[d].n--;
			j->processes[d][gone] = j->processes[d][7];
		}
		hang_judge(&s, &j->mind, &j->c, &j->v);
		assert_true(j->v.confidence < CONFIDENCE_HIGH);
		if (gone != 5 && gone != 7) {
			assert_int_equal(j->v.n_culprits, 1);
			assert_int_equal(j->v.culprits[0], 5);
		}
		free(j);
	}
}

static void the_rank_whose_dump_is_missing_is_the_suspect_when_all_others_wait(void **state)
{
	(void)state;
	struct hang_settings s = {.rule = HANG_RULE_EVIDENCE};
	struct jam *j = jam_new(8, 7);
	for (int d = 0; d < 3; d++)
		j->dumps[d].n--;
	hang_judge(&s, &j->mind, &j->c, &j->v);
	assert_string_equal(j->v.id, "missing_rank");
	assert_int_equal(j->v.n_culprits, 1);
	assert_int_equal(j->v.culprits[0], 7);
	assert_int_equal(j->v.confidence, CONFIDENCE_LOW);
	free(j);
}

static void the_same_evidence_gives_the_same_verdict(void **state)
{
	(void)state;
	struct hang_settings s = {.rule = HANG_RULE_EVIDENCE};
	struct jam *j = jam_new(8, 3);
	struct hang_verdict *again = calloc(1, sizeof(*again));
	hang_judge(&s, &j->mind, &j->c, &j->v);
	hang_judge(&s, &j->mind, &j->c, again);
	assert_memory_equal(&j->v, again, sizeof(*again));
	free(again);
	free(j);
}

static void the_incident_holds_what_the_verdict_says(void **state)
{
	(void)state;
	struct hang_settings s = {.rule = HANG_RULE_EVIDENCE};
	struct jam *j = jam_new(8, 3);
	struct incident *in = calloc(1, sizeof(*in));
	j->c.now_unix_ms = 1234;
	hang_judge(&s, &j->mind, &j->c, &j->v);
	hang_incident(&j->v, &j->c, in);
	assert_int_equal(in->kind, INCIDENT_HANG);
	assert_int_equal(in->time_unix_ms, 1234);
	assert_string_equal(in->cause.id, "missing_rank");
	assert_int_equal(in->n_culprits, 1);
	assert_int_equal(in->culprit_ranks[0], 3);
	assert_non_null(strstr(in->summary, "held up by rank 3"));
	assert_true(in->cause.n_advice > 0 && in->n_evidence >= 2);
	free(in);
	free(j);
}

static void a_glance_names_who_is_missing_and_is_less_sure(void **state)
{
	(void)state;
	struct hang_settings s = {.rule = HANG_RULE_EVIDENCE};
	struct jam *j = jam_new(8, 3);
	j->c.n_dumps = 1;
	/* a minute after the end of its wait a verdict would be told; 5 s after it there is only this */
	j->mind.since_ns = j->p.now_ns - 5 * NS_PER_S;
	hang_glance(&s, j->mind.since_ns, &j->c, &j->v);
	assert_string_equal(j->v.id, "missing_rank");
	assert_true(j->v.confidence < CONFIDENCE_HIGH && j->v.n_groups == 2 && j->v.n_evidence >= 2);
	assert_true(j->v.n_culprits == 1 && j->v.culprits[0] == 3);
	hang_judge(&s, &j->mind, &j->c, &j->v);
	assert_int_equal(j->v.kind, HANG_NONE);
	free(j);
}

static void ended_by(struct incident *in, const char *last_line)
{
	*in = (struct incident){.kind = INCIDENT_ERROR_EXIT, .n_culprits = 0};
	TEXT_COPY(in->summary, "rank 0 ended with a Python exception");
	TEXT_COPY(in->cause.id, "python_exception");
	in->cause.confidence = CONFIDENCE_HIGH;
	incident_evidence_add(in, "log", "stderr", 0, "its last line: %s", last_line);
	incident_advice_add(in, "look at it");
}

static void a_time_out_in_a_suspicion_has_the_hang_as_its_cause(void **state)
{
	(void)state;
	struct hang_settings s = {.rule = HANG_RULE_EVIDENCE};
	struct jam *j = jam_new(8, 3);
	struct incident *in = calloc(1, sizeof(*in));
	j->c.n_dumps = 1;
	hang_glance(&s, j->mind.since_ns, &j->c, &j->v);
	ended_by(in, "RuntimeError: Timed out waiting 20000ms for recv operation to complete");
	hang_ended(&j->v, "no step for 11 s", 9 * NS_PER_S, in);
	assert_string_equal(in->cause.id, "missing_rank");
	assert_int_equal(in->cause.confidence, CONFIDENCE_MEDIUM);
	assert_true(in->n_culprits == 1 && in->culprit_ranks[0] == 3);
	assert_string_equal(
		in->summary,
		"rank 0 ended with a Python exception. It hung before: rank 3 held up the others (missing_rank).");
	assert_string_equal(in->cause.advice[in->cause.n_advice - 1], "look at it");
	assert_non_null(strstr(in->evidence[1].text, "9.0 s before its end it stood still: no step for 11 s"));
	free(in);
	free(j);
}

/* Another error, a verdict that is none, a kind that no time-out makes: what was seen is shown, and that is all. */
static void another_end_keeps_its_cause(void **state)
{
	(void)state;
	struct hang_settings s = {.rule = HANG_RULE_EVIDENCE};
	struct jam *j = jam_new(8, 3);
	struct incident *in = calloc(1, sizeof(*in));
	j->c.n_dumps = 1;
	hang_glance(&s, j->mind.since_ns, &j->c, &j->v);
	ended_by(in, "KeyError: 'lr'");
	hang_ended(&j->v, "no step for 11 s", 9 * NS_PER_S, in);
	assert_string_equal(in->cause.id, "python_exception");
	assert_true(in->n_culprits == 0 && in->n_evidence > 3);
	ended_by(in, "the watchdog ended it");
	in->kind = INCIDENT_KERNEL_OOM;
	hang_ended(&j->v, "no step for 11 s", 9 * NS_PER_S, in);
	assert_string_equal(in->cause.id, "python_exception");
	ended_by(in, "the watchdog ended it");
	j->v.kind = HANG_NONE;
	hang_ended(&j->v, "no step for 11 s", 9 * NS_PER_S, in);
	assert_string_equal(in->cause.id, "python_exception");
	free(in);
	free(j);
}

/* Two ranks step each second until the 60th one; suspected after so long. Before that, a step is late. */
static uint64_t suspected_after(const struct hang_settings *s, uint64_t timeout_ns, bool steps, uint64_t *ret_late_ns)
{
	struct hang_history *m = calloc(1, sizeof(*m));
	struct hang_step step;
	struct liveness_set *p = calloc(1, sizeof(*p));
	struct liveness_sample *look = calloc(1, sizeof(*look));
	char text[200];
	uint64_t stands_ns = 0;
	assert_true(p && look && m);
	*ret_late_ns = 0;
	look->now_ns = 1000 * NS_PER_S;
	look->n = 2;
	look->timeout_ns = timeout_ns;
	for (int t = 0; t < 200 && stands_ns == 0; t++) {
		look->now_ns += NS_PER_S;
		for (int32_t r = 0; r < 2; r++) {
			struct liveness_counters *x = &look->rank[r];
			x->rank = r;
			x->has = 1u << LIVENESS_CPU | 1u << LIVENESS_READ;
			x->count[LIVENESS_READ] += t < 60 ? 1000000 : 0;
			x->has_progress = x->progress.has_step = steps;
			if (t >= 60)
				continue;
			x->progress.step++;
			x->progress.last_step_ns = look->now_ns;
		}
		liveness_take(p, look);
		hang_check(m, s, p, &step);
		if (step.late && *ret_late_ns == 0)
			*ret_late_ns = look->now_ns - 1060 * NS_PER_S;
		assert_true(!step.late || (step.state == HANG_OK && step.since_ns == 1060 * NS_PER_S));
		if (hang_since(s, p, text, sizeof(text)) > 0)
			stands_ns = look->now_ns - 1060 * NS_PER_S;
	}
	free(m);
	free(look);
	free(p);
	return stands_ns;
}

static void a_short_time_out_of_the_framework_is_looked_at_in_time(void **state)
{
	(void)state;
	struct hang_settings s = {.rule = HANG_RULE_EVIDENCE}, given = {.has_after = true, .after_ns = 30 * NS_PER_S};
	uint64_t late_ns;
	assert_int_equal(suspected_after(&s, 0, true, &late_ns), 10 * NS_PER_S);
	assert_int_equal(late_ns, 5 * NS_PER_S);
	assert_int_equal(suspected_after(&s, 15 * NS_PER_S, true, &late_ns), 5 * NS_PER_S);
	assert_int_equal(late_ns, 3 * NS_PER_S);
	assert_int_equal(suspected_after(&s, 3 * NS_PER_S, true, &late_ns), 4 * NS_PER_S);
	assert_int_equal(suspected_after(&s, 600 * NS_PER_S, true, &late_ns), 10 * NS_PER_S);
	assert_int_equal(suspected_after(&s, 0, false, &late_ns), 13 * NS_PER_S);
	assert_int_equal(late_ns, 0);
	assert_int_equal(suspected_after(&s, 15 * NS_PER_S, false, &late_ns), 5 * NS_PER_S);
	/* who gives a time means it */
	assert_int_equal(suspected_after(&given, 15 * NS_PER_S, true, &late_ns), 30 * NS_PER_S);
	assert_int_equal(late_ns, 15 * NS_PER_S);
}

static void what_moves_while_evidence_is_gathered_is_no_hang(void **state)
{
	(void)state;
	struct hang_settings s = {.rule = HANG_RULE_EVIDENCE};
	struct jam *j = jam_new(8, 3);
	j->look.now_ns += NS_PER_S;
	j->look.rank[5].progress.step++;
	j->look.rank[5].progress.last_step_ns = j->look.now_ns;
	liveness_take(&j->p, &j->look);
	hang_judge(&s, &j->mind, &j->c, &j->v);
	assert_int_equal(j->v.kind, HANG_NONE);
	assert_false(j->v.benign);
	assert_string_equal(j->v.text, "it moves again");
	free(j);
}

/* Two ranks without steps work for 20 s and stand for 25: what the suspicion says of what still moves. */
static void stands(uint64_t log_lines, uint64_t cpu_ns, const char *says)
{
	struct liveness_set *p = calloc(1, sizeof(*p));
	struct liveness_sample *look = calloc(1, sizeof(*look));
	struct hang_settings s = {.rule = HANG_RULE_EVIDENCE};
	char text[200];
	assert_non_null(p);
	assert_non_null(look);
	look->now_ns = 1000 * NS_PER_S;
	look->n = 2;
	for (int t = 0; t < 45; t++) {
		look->now_ns += NS_PER_S;
		for (int32_t r = 0; r < 2; r++) {
			struct liveness_counters *x = &look->rank[r];
			x->rank = r;
			x->has = 1u << LIVENESS_CPU | 1u << LIVENESS_READ | 1u << LIVENESS_LOG_LINES;
			x->count[LIVENESS_CPU] += t < 20 ? NS_PER_S : cpu_ns;
			x->count[LIVENESS_READ] += t < 20 ? 1000000 : 0;
			x->count[LIVENESS_LOG_LINES] += t < 20 ? 1 : log_lines;
		}
		liveness_take(p, look);
	}
	assert_true(hang_since(&s, p, text, sizeof(text)) > 0);
	if (strncmp(text, says, strlen(says)) != 0)
		fail_msg("it says '%s', not '%s'", text, says);
	free(look);
	free(p);
}

static void a_suspicion_says_what_still_moves(void **state)
{
	(void)state;
	stands(0, 0, "nothing moved for ");
	stands(1, 0, "nothing but the log moved for ");
	stands(0, NS_PER_S, "nothing but processor time moved for ");
	stands(1, NS_PER_S, "nothing but the log and processor time moved for ");
}

static void ranks_are_written_as_ranges(void **state)
{
	(void)state;
	char text[60];
	static const int32_t r[] = {0, 1, 2, 5, 7, 8};
	hang_ranks_text(r, 6, text, sizeof(text));
	assert_string_equal(text, "ranks 0-2, 5, 7 and 8");
	hang_ranks_text(r, 1, text, sizeof(text));
	assert_string_equal(text, "rank 0");
	hang_ranks_text(r, 2, text, sizeof(text));
	assert_string_equal(text, "ranks 0 and 1");
}

static void every_cause_has_its_advice(void **state)
{
	(void)state;
	struct hang_verdict *v = calloc(1, sizeof(*v));
	struct hang_work *w = calloc(1, sizeof(*w));
	w->v = v;
	for (size_t i = 0; i < ARRAY_SIZE(hang_cause_ids); i++) {
		v->n_advice = 0;
		hang_advise_for(w, hang_cause_ids[i]);
		if (v->n_advice == 0)
			fail_msg("no advice for %s", hang_cause_ids[i]);
		for (size_t k = 0; k < v->n_advice; k++)
			if (strlen(v->advice[k]) + 1 >= sizeof(v->advice[k]))
				fail_msg("advice %zu for %s is cut", k, hang_cause_ids[i]);
	}
	free(v);
	free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_quarter_slower_is_found_within_sixteen_steps),
		cmocka_unit_test(noise_is_no_slowdown),
		cmocka_unit_test(a_slowdown_s_figure_is_right_though_looks_are_a_second_apart),
		cmocka_unit_test(a_few_slow_steps_are_none_and_few_steps_say_nothing),
		cmocka_unit_test(a_little_more_work_does_not_explain_much_longer_steps),
		cmocka_unit_test(the_slow_rank_of_eight_is_named_and_no_other),
		cmocka_unit_test(equal_ranks_have_no_straggler),
		cmocka_unit_test(ranks_whose_steps_vary_have_no_straggler),
		cmocka_unit_test(the_rank_that_is_missing_is_named_in_300_of_300),
		cmocka_unit_test(with_one_dump_missing_nobody_is_accused_for_sure),
		cmocka_unit_test(the_rank_whose_dump_is_missing_is_the_suspect_when_all_others_wait),
		cmocka_unit_test(the_same_evidence_gives_the_same_verdict),
		cmocka_unit_test(the_incident_holds_what_the_verdict_says),
		cmocka_unit_test(a_glance_names_who_is_missing_and_is_less_sure),
		cmocka_unit_test(a_time_out_in_a_suspicion_has_the_hang_as_its_cause),
		cmocka_unit_test(another_end_keeps_its_cause),
		cmocka_unit_test(a_short_time_out_of_the_framework_is_looked_at_in_time),
		cmocka_unit_test(what_moves_while_evidence_is_gathered_is_no_hang),
		cmocka_unit_test(a_suspicion_says_what_still_moves),
		cmocka_unit_test(ranks_are_written_as_ranges),
		cmocka_unit_test(every_cause_has_its_advice),
	};
	return cmocka_run_group_tests_name("judge/hang", tests, NULL, NULL);
}
