/*
 * Writes what the guard knows into the open case, in the shared mapping. Allocates nothing. What needs names, logs or a
 * disk is added by the supervisor (agent/incident/killreport).
 */
#pragma once

#include "agent/guard/evict.h"

/* Touch the memory of the next case, so that beginning it does not wait for pages. */
void guardcase_prepare(struct guard_shm *shm);
/* Open the next case with trigger, victim and policy. Runs before the kill, so it is short. */
struct guard_case *guardcase_begin(struct evict *h, const struct ledger *l, const struct guard_step *step);
/* Add tables and history: top users, candidates, growers. */
void guardcase_describe(struct evict *h, const struct ledger *l);
/*
 * How fast a level of this size has filled up to now, over minutes where it was watched so long; what is older than the
 * attempt, or than the last kill, does not count. Nothing is said where another level was the tightest.
 */
struct growth_said guardcase_growth(const struct guard_shm *shm, uint64_t total_bytes, uint64_t used_bytes,
				    int64_t now_unix_ms);
/* Who of the given jobs (a bit each) grew most by the last sweep. Returns how many of ret are filled. */
size_t guardcase_growers(const struct evict *h, uint64_t jobs, struct incident_grower ret[static INCIDENT_GROWERS]);
/* Write down in words how the victims are ended. */
void guardcase_method(struct evict *h);
/* Add the numbers that are known at the end only: freed bytes and times. */
void guardcase_finish(struct evict *h);
