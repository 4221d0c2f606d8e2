/*
 * Does the job hang, who holds it up, and why? In two stages, because a look
 * a second must cost nothing and an alarm must be proved.
 *
 *  1. hang_look, after every liveness_take: well, benign, suspect or hung, and
 *     for a suspect what evidence to gather (struct hang_step). It changes
 *     nothing but its own mind.
 *  2. hang_judge, when that evidence is there: a verdict. hang_told tells the
 *     mind of it, whatever it is. A verdict of kind HANG_NONE is an answer as
 *     well: nothing wrong, idle by design, or look again after again_ns.
 *
 *     liveness_take(pulses, &look);
 *     hang_look(&mind, &settings, pulses, &step);
 *     if (step.want)
 *             gather (over seconds; go on looking meanwhile, wants are not repeated until hang_told)
 *             hang_judge(&settings, &case, &verdict);
 *             hang_told(&mind, &verdict, pulses);
 *             if (verdict.kind != HANG_NONE && !verdict.known_already)
 *                     hang_incident(&verdict, &case, &incident);
 *
 * Pure: no clock, no allocation. Times are those of the pulses (monotonic ns).
 */
#pragma once

#include "judge/hang/hang_case.h"
#include "model/incident/incident.h"
#include "model/hang/liveness.h"

enum hang_rule { HANG_RULE_EVIDENCE, HANG_RULE_IO_GPU };

/* 0 anywhere means the default, given in brackets. */
struct hang_settings {
	enum hang_rule rule;
	/*
	 * How long nothing may move. Evidence rule, not given: by evidence (a suspicion after 10 s or 3 usual steps if
	 * steps are known, else after 18 s of silence). Given: no suspicion before it. io-gpu: [30 min].
	 */
	bool has_after;
	uint64_t after_ns;
	uint64_t first_step_ns; /* [20 min] until then slow beginnings are no alarm without proof */
	uint64_t compile_ns; /* [30 min] */
	uint64_t checkpoint_ns; /* [30 min] one that writes; one that does not is none */
	uint64_t evaluation_ns; /* [2 h] */
	uint64_t download_ns; /* [2 h] */
	uint64_t sleep_ns; /* [5 min] one rank sleeps while others wait for it. That all sleep is never an alarm */
	uint64_t util_window_ns; /* [60 s] io-gpu: over which variance and median are taken */
	double straggler_ratio; /* [0.10] slower than the others by this */
	double slowdown_ratio; /* [0.20] slower than its own past by this */
	bool no_straggler; /* do not sample for stragglers */
};

enum hang_state {
	HANG_WELL,
	HANG_BENIGN, /* stands still, and may: step.text says why */
	HANG_SUSPECT,
	HANG_HUNG, /* a verdict of kind HANG_HANG stands until something moves */
};

/* Evidence to be gathered. What cannot be had is left out of the case, with a line in `blind`. */
enum hang_want {
	HANG_WANT_STACKS = 1, /* step.dumps dumps of all processes, step.gap_ns apart: all threads, waits in detail with
				 lock owners, Python frames and native ones */
	HANG_WANT_COLLECTIVE = 2, /* RAS, Flight Recorder, profiler ring */
	HANG_WANT_BOOK = 4, /* the cause book, and environments compared */
	HANG_WANT_SHARES = 8, /* step.samples quick looks into model/hang/waitshare, step.sample_gap_ns apart */
};

struct hang_step {
	enum hang_state state;
	uint32_t want; /* HANG_WANT_*; 0: none, or asked for already */
	uint32_t dumps; /* 1 to HANG_DUMPS */
	uint64_t gap_ns;
	uint32_t samples;
	uint64_t sample_gap_ns;
	uint64_t since_ns; /* since when nothing moves; 0 while well and not late */
	bool closely; /* devices are wanted as often as while something stands */
	/*
	 * Nothing is suspected yet, but a step is late (since_ns, text): the stacks of now are worth keeping, in case the
	 * job ends before it is suspected.
	 */
	bool late;
	bool resolved; /* it was hung and moves again: once */
	char text[200]; /* one line for people: "no step for 31 s (usual: 0.4 s)", "idle by design: …" */
};

#define HANG_UTILS 64

/* What the judge remembers between looks. Plain data, zeroed at the start of each attempt. */
struct hang_history {
	enum hang_state state;
	uint64_t asked_ns; /* evidence was asked for; 0: not */
	uint64_t since_ns; /* of the standstill that is being judged */
	uint64_t again_ns; /* not to be asked for again before */
	uint32_t rounds; /* verdicts of this standstill so far */
	uint64_t moves_ns; /* hung, but something moves since then; 0: nothing does */
	uint64_t hung_step_ns; /* the last step at the last verdict */
	char text[200]; /* of the last verdict */
	int32_t sleep_rank; /* struct hang_verdict's, of the last verdict of this standstill */
	pid_t sleep_tid;
	uint64_t sleep_until_ns, sleep_ns;
	uint64_t shares_ns; /* stragglers were last sampled for */
	uint64_t shares_steps;
	bool shares_asked, shares_again; /* again: the last round was not clear, and is repeated once */
	uint64_t straggler_ns, slowdown_ns; /* last told; 0 never */
	int32_t straggler_rank;
	uint64_t slowdown_steps;
	/* io-gpu */
	uint64_t io_all; /* sum over the ranks */
	uint32_t io_ranks;
	uint64_t io_moved_ns;
	uint64_t util_ns; /* the window was begun; 0: not */
	uint64_t util_last_ns;
	uint8_t util[LIVENESS_RANKS][HANG_UTILS]; /* percent */
	uint32_t n_utils;
	bool util_seen; /* a device's use was known since IO last moved */
};

void hang_look(struct hang_history *m, const struct hang_settings *s, const struct liveness_set *p,
	       struct hang_step *ret);
/* Call it exactly once for each step that wanted something. */
void hang_told(struct hang_history *m, const struct hang_verdict *v, const struct liveness_set *p);
/*
 * Between two verdicts, while m->sleep_until_ns is set: thread m->sleep_tid sleeps until then. Another time than before is
 * another sleep, and the time between them how long it sleeps. Call it every few seconds.
 */
void hang_slept(struct hang_history *m, uint64_t until_ns);
/*
 * Can the quick looks (HANG_WANT_SHARES) be judged yet? A hang that begins among them makes the rank that holds up the
 * others look slow: it is waited for steps after the last look, as long as they are not missed. c->liveness may be the
 * newest state; a case without looks is ripe.
 */
bool hang_ripe(const struct hang_settings *s, const struct hang_case *c);
/* c->liveness is the newest state, after the evidence was gathered. */
void hang_judge(const struct hang_settings *s, const struct hang_history *m, const struct hang_case *c,
		struct hang_verdict *ret);
/*
 * The first of the stacks, before anything is proved: what hang_judge would say if the job, which stands since since_ns,
 * stood long enough, with groups and evidence even where that is nothing. Not to be told: it is kept for the report of a
 * job that ends before its verdict.
 */
void hang_glance(const struct hang_settings *s, uint64_t since_ns, const struct hang_case *c, struct hang_verdict *ret);
/* Do these words say that somebody has waited for too long? */
bool hang_says_time_out(const char *text);
/*
 * Nothing was suspected yet when a rank gave up waiting: where the others stood right before they were ended, into the
 * evidence. Who of them it waited for is left to the reader: it is one look.
 */
void hang_last_look(const struct stackdump *d, struct incident *in);
/*
 * The report of a job that ended while it stood still, or shortly after: what the glance saw becomes evidence; where a
 * time-out ended the job, the cause as well. why: what was missing; before_ns: how long before the end it was.
 */
void hang_ended(const struct hang_verdict *glance, const char *why, uint64_t before_ns, struct incident *in);
/*
 * Sure enough to end a job for? What is told with low confidence is told, and nothing else; but who asks for the rule
 * io-gpu asks for what it does, evidence or not.
 */
bool hang_may_end(const struct hang_settings *s, const struct hang_verdict *v);
/*
 * Kind, time, summary, cause, culprits, advice and evidence of an incident;
 * id, job, node, attempt and whatever else are the caller's. `now_unix_ms` is
 * the case's.
 */
void hang_incident(const struct hang_verdict *v, const struct hang_case *c, struct incident *in);
