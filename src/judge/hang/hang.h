/*
 * Whether a job hangs, which rank holds it up, and why. There are two stages, because a sample a second must cost
 * nothing and an alarm must be proved.
 *
 *  1. hang_check, after every liveness_take: ok, benign, suspect or hung, and for a suspect the evidence to gather
 *     (struct hang_step). It changes only its history.
 *  2. hang_judge, when that evidence is there: a verdict. hang_keep_verdict stores it in the history, whatever it is. A
 *     verdict of kind HANG_NONE is an answer as well: nothing wrong, idle by design, or ask again after again_ns.
 *
 *     liveness_take(liveness, &sample);
 *     hang_check(&history, &settings, liveness, &step);
 *     if (step.want)
 *             gather (over seconds; go on sampling meanwhile, wants are not repeated until hang_keep_verdict)
 *             hang_judge(&settings, &history, &case, &verdict);
 *             hang_keep_verdict(&history, &verdict, liveness);
 *             if (verdict.kind != HANG_NONE && !verdict.known_already)
 *                     hang_incident(&verdict, &case, &incident);
 *
 * Pure: no clock, no allocation. Times are those of the liveness samples (monotonic ns).
 */
#pragma once

#include "judge/pace/hang_pace.h"

/* Evidence to gather. Unavailable evidence is left out of the case, with a line in `unavailable`. */
enum hang_want {
	/*
	 * step.dumps dumps of all processes, step.gap_ns apart: all threads, waits in detail with lock owners, Python
	 * and native frames.
	 */
	HANG_WANT_STACKS = 1,
	HANG_WANT_COLLECTIVE = 2, /* RAS, Flight Recorder, profiler ring */
	HANG_WANT_BOOK = 4, /* the rule book, and the environments compared */
	HANG_WANT_SHARES = 8, /* step.samples quick samples for model/hang/waitshare, step.sample_gap_ns apart */
};

struct hang_step {
	enum hang_state state;
	uint32_t want; /* HANG_WANT_*; 0: none, or asked for already */
	uint32_t dumps; /* 1 to HANG_DUMPS */
	uint64_t gap_ns;
	uint32_t samples;
	uint64_t sample_gap_ns;
	uint64_t since_ns; /* since when nothing moves; 0: it moves, and no step is late */
	bool closely; /* devices are to be read as often as during a standstill */
	/*
	 * Nothing is suspected yet, but a step is late (since_ns, text): the stacks of now are worth keeping, in case
	 * the job ends before it is suspected.
	 */
	bool late;
	bool unsaid; /* suspect, but what looks so is usual: nobody is told before there is a verdict */
	bool resolved; /* it was hung and moves again; set once */
	bool fast_again; /* the rank that was slow by itself is no more, as the text says; set once */
	char text[200]; /* one line for people: "no step for 31 s (usual: 0.4 s)", "idle by design: …" */
};

void hang_check(struct hang_history *m, const struct hang_settings *s, const struct liveness_set *p,
		struct hang_step *ret);
/* Stores a verdict. To be called exactly once for each step that wanted something. */
void hang_keep_verdict(struct hang_history *m, const struct hang_verdict *v, const struct liveness_set *p);
/*
 * Between two verdicts, while m->sleep_until_ns is set: thread m->sleep_tid sleeps until until_ns. A time other than
 * before is another sleep, and the time between the two is how long one lasts. To be called every few seconds.
 */
void hang_slept(struct hang_history *m, uint64_t until_ns);
/* c->liveness is the newest state, after the evidence was gathered. */
void hang_judge(const struct hang_settings *s, const struct hang_history *m, const struct hang_case *c,
		struct hang_verdict *ret);
/*
 * A verdict on the first stacks, before anything is proved: what hang_judge would say of the job, which stands since
 * since_ns, if it stood long enough; with groups and evidence even for HANG_NONE. It is not reported, but kept for a
 * job that ends before its verdict.
 */
void hang_glance(const struct hang_settings *s, uint64_t since_ns, const struct hang_case *c, struct hang_verdict *ret);
/* True when the text says that a wait took too long. */
bool hang_says_time_out(const char *text);
/*
 * A rank gave up waiting before anything was suspected: adds where the others stood right before their end to the
 * evidence. It is one sample, so the reader has to conclude which one was waited for.
 */
void hang_last_stacks(const struct stackdump *d, struct incident *in);
/*
 * Adds to the report of a job that ended while it stood still, or shortly after: the glance becomes evidence, and,
 * where a time-out ended the job, the cause. why: what was missing; before_ns: how long before the end it was.
 */
void hang_ended(const struct hang_verdict *glance, const char *why, uint64_t before_ns, struct incident *in);
/*
 * True when the verdict is sure enough to end a job: it is proved, or as sure as s->end_by asks for. The rule io-gpu,
 * which is asked for by name, acts without evidence too.
 */
bool hang_may_end(const struct hang_settings *s, const struct hang_verdict *v);
/*
 * Fills kind, time (`now_unix_ms` of the case), summary, cause, culprits, advice and evidence; id, job, node, attempt
 * and the rest are the caller's.
 */
void hang_incident(const struct hang_verdict *v, const struct hang_case *c, struct incident *in);
