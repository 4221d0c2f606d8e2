/*
 * Writes what the guard knows into the case at hand, in the shared mapping.
 * Allocates nothing; what needs names, logs or a disk is added by the
 * supervisor (agent/incident/killreport).
 */
#pragma once

#include "agent/guard/evict.h"

/* Before there is one: the next case's memory is made, so that beginning it does not wait for pages. */
void guardcase_prepare(struct guard_shm *shm);
/* Opens the next case: trigger, victim, policy. Before the kill, so kept short. */
struct guard_case *guardcase_begin(struct evict *h, const struct ledger *l, const struct guard_step *step);
/* Tables and history: top users, candidates, growers. */
void guardcase_describe(struct evict *h, const struct ledger *l);
/* How the victims are ended, in words. */
void guardcase_method(struct evict *h);
/* The numbers that only the end gives: freed bytes and times. */
void guardcase_finish(struct evict *h);
