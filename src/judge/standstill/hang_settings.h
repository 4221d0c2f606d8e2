/*
 * What a standstill is judged by beside its evidence: settings, and what is kept between samples.
 */
#pragma once

#include "judge/standstill/hang_case.h"

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
	struct hang_armed armed[HANG_ARMED]; /* as in struct hang_verdict, of this standstill's last verdict */
	size_t n_armed;
	uint64_t limit_until_ns; /* that of this standstill's last verdict; a later end is another wait: a loop */
	uint64_t shares_ns; /* when stragglers were last sampled for */
	uint64_t shares_steps;
	bool shares_asked, shares_again; /* again: the last round was not clear, and is repeated once */
	bool shares_calm; /* the round that was asked for was due, and steps are as long as ever */
	uint32_t shares_early; /* rounds that were not due, but steps had become longer */
	double shares_slower; /* of such a round: by how much, 0.5 is half as long again; 0: it was due */
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
