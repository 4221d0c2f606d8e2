/*
 * Whether a job's steps have become longer, by their measured times: at once, as when a disk, a server or a neighbour
 * becomes slow, or little by little, as when a plan lengthens the sequences, or something grows with each step. Pure;
 * no allocation.
 */
#pragma once

#include "model/hang/liveness.h"

struct steptrend {
	double base_s, now_s, ratio; /* a step's time before and now; how much slower: 0.1 is 10 % */
	size_t n_recent; /* steps of now */
	bool gradual; /* at no time did they become longer by most of that */
};

/* True if they are slower by this ratio; where that came little by little, if they take twice as long. */
bool steptrend_slower(const struct liveness_set *p, double ratio, struct steptrend *ret);
/*
 * True if the steps of the last looks take longer than those of some looks before, as far back as these are known: no
 * proof, but a reason to look for a straggler, also where none could be looked for when that began.
 */
bool steptrend_slower_lately(const struct liveness_set *p, double *ret_ratio); /* 0.5: half as long again */
/*
 * The most by which eight steps in a row took longer than the eight before them, of step times oldest first: the middle
 * ones are compared, so that single long steps count for nothing. 0: never, or there are fewer than sixteen.
 */
double steptrend_jump(const double *step_s, size_t n);
