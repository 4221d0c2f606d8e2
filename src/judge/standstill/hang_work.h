/*
 * What the judge of a standstill works with: the case, what was made of it, and the verdict that is being written. When
 * it stands, by its steps, counters and log; and the words of a verdict. Questions to ask of it: hang_ask.h and
 * hang_beside.h. Rules that decide are above, in judge/hang.
 */
#pragma once

#include "base/buf.h"
#include "judge/standstill/hang_settings.h"

/* How long nothing may move before a verdict, by what the verdict rests on. */
enum hang_proof {
	HANG_CERTAIN, /* proved by itself: a dead rank, a lock without an owner */
	HANG_FIRM, /* seen in the stacks of all ranks */
	HANG_EXPLAINED, /* who is waited for is known, but it may still come */
	HANG_VAGUE, /* nothing moves, and no more is known */
	HANG_DOUBTFUL, /* likewise, but its stack changed between the looks, or anybody may come */
};

struct hang_work {
	const struct hang_settings *s;
	const struct hang_history *m;
	const struct hang_case *c;
	const struct liveness_set *p;
	bool has_stacks;
	struct stackgroups g;
	bool stepping, counting; /* enough steps were seen to miss the next one; it counted up to the standstill */
	double gap_ns; /* between two of them; 0: neither */
	bool first_step; /* no step was seen, and the job is young */
	bool many; /* more than one rank */
	const struct liveness *stalled_rank; /* it alone stands, while the others step on; NULL: none */
	bool by_ticks; /* an excuse did not count, as nothing of the job but clocks of its own goes on */
	bool by_file; /* an excuse did not count, as what all look for is in a folder of this run's own */
	bool by_loop; /* an excuse did not count, as what naps did so before the job came to a stand (hang_loops_on) */
	bool by_pid; /* an excuse did not count, as what naps asks for a process that waits for it */
	bool may_visit; /* nobody of the job acts, but a visitor may bring a goroutine what it waits for */
	bool may_end; /* somebody is seen who may still end it: what logs say makes the verdict no surer */
	bool dead; /* the graph proves that it cannot go on, but the stacks say more about why */
	/* Something moves: only the log, which was regular, or what uses Ray does not; or a child is started anew. */
	bool log_silent, ray_still, made_anew;
	double usual_line_s;
	uint64_t standstill_ns;
	/* Ranks that do not wait for others, as indexes into g.rank. */
	size_t blocking[STACKGROUP_RANKS];
	size_t n_blocking;
	bool benign[STACKGROUP_RANKS]; /* parallel to blocking: may stand there */
	int32_t unseen[STACKGROUP_RANKS]; /* ranks that live, but whose stacks could not be read */
	size_t n_unseen;
	struct hang_verdict *v;
	const char *advice; /* static text: the row of advice that is for the verdict; NULL: that of its id */
};

/* ---- since when it stands (hang_standstill.c) ---- */

/* Settings with their defaults. */
uint64_t hang_time(uint64_t given_ns, uint64_t usual_ns);
#define HANG_FIRST_STEP_NS (20 * 60 * NS_PER_S)
#define HANG_COMPILE_NS (30 * 60 * NS_PER_S)
#define HANG_CHECKPOINT_NS (30 * 60 * NS_PER_S)
#define HANG_EVALUATION_NS (2 * 3600 * NS_PER_S)
#define HANG_DOWNLOAD_NS (2 * 3600 * NS_PER_S)
#define HANG_SLEEP_NS (5 * 60 * NS_PER_S)
/* A sleep that goes on for so long is told before its excuse is over: the time-outs of the others come earlier. */
#define HANG_SLEEP_SURE_NS (30 * 60 * NS_PER_S)
#define HANG_IO_GPU_NS (30 * 60 * NS_PER_S)
#define HANG_UTIL_WINDOW_NS (60 * NS_PER_S)
#define HANG_STRAGGLER_RATIO 0.10
#define HANG_SLOWDOWN_RATIO 0.20
/* Since when the job stands; 0: it does not. text: the reason. */
uint64_t hang_since(const struct hang_settings *s, const struct liveness_set *p, char *text, size_t cap);
/* Since when the log, which was regular, is silent while other signs move, if hang_since has no reason; 0: not so. */
uint64_t hang_log_silent(const struct hang_settings *s, const struct liveness_set *p, double *ret_usual_s);
/* The time without a step after which one is missed. */
uint64_t hang_missed_ns(const struct hang_settings *s, const struct liveness_set *p);
/* The number of ranks that live and do not only serve others. ret_ended: some rank has ended. */
size_t hang_live_ranks(const struct liveness_set *p, bool *ret_ended);
/* How long a step takes as a rule: a line may tell of several. Where steps are known. */
double hang_usual_step_ns(const struct liveness_set *p);
/* gap_ns * n, without overflow. */
uint64_t hang_gap_times(double gap_ns, double n);
/* True when steps are known and the last one is limit_ns or more ago; text says so. */
bool hang_no_step_for(const struct liveness_set *p, uint64_t limit_ns, char *text, size_t cap);
/* A rank that has fallen silent while others, which do not depend on it, step on; NULL: none. */
const struct liveness *hang_stalled_rank(const struct liveness_set *p);
/* True if that is all that says that the job stands. Other signs move, so it only asks for a look. */
bool hang_only_made_anew(const struct hang_settings *s, const struct liveness_set *p);
/*
 * Since when nothing but Ray's own programs does anything, where neither steps, counters nor the log say that the job
 * stands; 0: not so, or there is no Ray. Tasks may be asleep, so it only asks whether something waits for a place.
 */
uint64_t hang_ray_still(const struct hang_settings *s, const struct liveness_set *p);

/* ---- words (hang_text.c) ---- */

/* A verdict is made of these, in any order; what has no room left is dropped. */
void hang_is(struct hang_work *w, const char *id, enum confidence c);
void hang_says(struct hang_work *w, const char *fmt, ...) printf_like(2, 3);
void hang_advise(struct hang_work *w, const char *fmt, ...) printf_like(2, 3);
void hang_evidence(struct hang_work *w, const char *kind, const char *source, const char *fmt, ...) printf_like(4, 5);
void hang_accuse(struct hang_work *w, int32_t rank);
/* Writes "rank 3", or "the job". */
#define HANG_WHO 48
const char *hang_who(int32_t rank, char dst[static HANG_WHO]);
/* Writes "ranks 0-2 and 5" for ascending ranks. */
void hang_ranks_text(const int32_t *ranks, size_t n, char *dst, size_t cap);
/* Writes what a rank does and where, with the text of the source line where that is known. */
void hang_doing(const struct hang_work *w, const struct stackgroup_rank *r, char *dst, size_t cap);
/* True if the source line at which it stands asks for the time: a loop there may end though no variable changes. */
bool hang_reads_a_clock(const struct hang_work *w, const struct stackgroup_rank *r);
/*
 * The longest time that it sleeps at a time: by the system call, by a sleep that was made again since the dump before,
 * or by the number in sleep(N) of the line at which it stands. 0: unknown.
 */
uint64_t hang_sleep_ns_of(const struct hang_work *w, const struct stackgroup_rank *r);
/* The longest by sleeps that were made again, in the dumps and since the last verdict. 0: unknown. */
uint64_t hang_sleep_made_again(const struct hang_work *w, const struct stackgroup_rank *r);
/* Adds "Ranks 0-2 wait for the others: all_reduce at train.py:40 in step.", or nothing where no rank waits. */
void hang_says_who_waits(struct hang_work *w);
void hang_store_key_says(struct hang_work *w); /* "Ranks 0 and 2 wait for key "ready/1" of the store." */
bool hang_waits_for_key(const struct hang_work *w); /* a rank that waits, for a key that is known */
void hang_groups(struct hang_work *w);
void hang_common_evidence(struct hang_work *w);
