/*
 * A rank whose own steps have become slower while those of the others go on as before, which nobody waits for: found by
 * each rank's steps alone (model/jobs/ownpace). Only hang*.c include this.
 */
#pragma once

#include "judge/standstill/hang_work.h"

/* Steps slower than they were, of a rank whose neighbours keep theirs. False: there is none, or too little is known. */
bool hang_own_pace_slow(const struct liveness_set *p);
/*
 * The rank whose steps are timed became slower, or counts others, and most of the others' are as before, or lost less
 * than half as much: the job has not.
 */
bool hang_own_pace_alone(const struct liveness_set *p);
/* True once where the rank that was told of is as fast as it was, or has ended; text says so. */
bool hang_own_pace_over(struct hang_history *m, const struct liveness_set *p, char *text, size_t cap);
bool hang_own_pace_judge(struct hang_work *w);
/* hang_pace.c: says what a rank spends that part of its time on, by these samples, whatever the others do. */
void hang_pace_split(struct hang_work *w, const struct waitshare *s, size_t at, double lack);
