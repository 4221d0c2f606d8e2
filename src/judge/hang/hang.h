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

#include "judge/hang/hang_case.h"
#include "model/incident/incident.h"
#include "model/hang/liveness.h"

enum hang_rule { HANG_RULE_EVIDENCE, HANG_RULE_IO_GPU };

/* What a verdict needs before a job is ended for it. */
enum hang_end_by { HANG_END_BY_PROOF, HANG_END_BY_HIGH, HANG_END_BY_MEDIUM };

/* 0 in any field means the default, given in brackets. */
struct hang_settings {
	enum hang_rule rule;
	/*
	 * How long nothing may move. Evidence rule without it: by evidence (a suspicion after 10 s or 3 usual steps if
	 * steps are known, else after 13 s of silence); with it: no suspicion before it. Rule io-gpu: [30 min].
	 */
	bool has_after;
	uint64_t after_ns;
	uint64_t first_step_ns; /* [20 min] until then a slow start is an alarm only with proof */
	uint64_t compile_ns; /* [30 min] */
	uint64_t checkpoint_ns; /* [30 min] for a checkpoint that is being written; one that does not move is none */
	uint64_t evaluation_ns; /* [2 h] */
	uint64_t download_ns; /* [2 h] */
	/* [5 min] For one rank that sleeps while others wait for it; when all sleep it is never an alarm. */
	uint64_t sleep_ns;
	uint64_t util_window_ns; /* [60 s] io-gpu: the window of variance and median */
	double straggler_ratio; /* [0.10] how much slower than the others */
	double slowdown_ratio; /* [0.20] how much slower than its own past */
	bool no_straggler; /* do not sample for stragglers */
	enum hang_end_by end_by; /* [proof] */
};

enum hang_state {
	HANG_OK,
	HANG_BENIGN, /* stands still, and may: step.text says why */
	HANG_SUSPECT,
	/*
	 * A verdict of kind HANG_HANG, until something moves. Looked at again now and then, as long as it is not
	 * proved: a verdict that is surer replaces it, any other one is known_already.
	 */
	HANG_HUNG,
};

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

#define HANG_UTILS 64

/* What the judge stores between samples. Plain data, zeroed at the start of each attempt. */
struct hang_history {
	enum hang_state state;
	uint64_t asked_ns; /* when evidence was asked for; 0: not asked */
	uint64_t since_ns; /* start of the standstill that is being judged */
	uint64_t again_ns; /* no evidence is asked for before this time */
	uint32_t rounds; /* verdicts of this standstill so far */
	uint64_t moves_ns; /* hung, but something moves since this time; 0: nothing does */
	uint64_t hung_step_ns; /* the last step at the last verdict */
	char text[200]; /* of the last verdict */
	bool proved; /* hung: the verdict is proved */
	enum confidence confidence; /* likewise: how sure it is */
	int32_t sleep_rank; /* sleep_*: those of struct hang_verdict, of this standstill's last verdict */
	pid_t sleep_tid;
	uint64_t sleep_until_ns, sleep_ns;
	uint64_t limit_until_ns; /* that of this standstill's last verdict; a later end is another wait: a loop */
	uint64_t shares_ns; /* when stragglers were last sampled for */
	uint64_t shares_steps;
	bool shares_asked, shares_again; /* again: the last round was not clear, and is repeated once */
	bool shares_calm; /* the round that was asked for was due, and steps are as long as ever */
	uint32_t shares_early; /* rounds that were not due, but steps had become longer */
	struct hang_spent spent; /* while nothing was wrong, by the last samples */
	uint64_t straggler_ns, slowdown_ns; /* last reported; 0: never */
	int32_t straggler_rank, slow_rank;
	double slow_usual_per_s; /* of slow_rank, which became slow by itself; 0: none is, or it is over */
	uint32_t own_rounds; /* in a row in which a rank was slow by its own work */
	uint64_t slowdown_steps;
	/* rule io-gpu */
	uint64_t io_all; /* sum over the ranks */
	uint32_t io_ranks;
	uint64_t io_moved_ns;
	uint64_t util_ns; /* start of the window; 0: none */
	uint64_t util_last_ns;
	uint8_t util[LIVENESS_RANKS][HANG_UTILS]; /* percent */
	uint32_t n_utils;
	bool util_seen; /* a device's use was known since IO last moved */
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
/*
 * True when the quick samples (HANG_WANT_SHARES) can be judged. A hang that begins among them makes the rank that holds
 * up the others look slow, so steps after the last sample are waited for, as long as they are not missed; of long steps
 * enough have to be made since the first one. c->liveness may be the newest state; a case without samples can be judged
 * at once.
 */
bool hang_ripe(const struct hang_settings *s, const struct hang_history *m, const struct hang_case *c);
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
