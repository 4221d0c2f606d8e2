/*
 * Memory kills whose reports the dead supervisor had not stored yet, replayed from the guard's mapping by whoever is
 * left. Runs once nothing is frozen or throttled any more; it may allocate and wait.
 */
#pragma once

#include "agent/guard/guardshm.h"
#include "agent/incident/recorder.h"

/*
 * Write the report of each such kill of this job; k has its store open, and k->incidents is the number of stored
 * incidents. row: the job, whose kills are counted; NULL: it is not stored. left: how many processes of the job were
 * ended for want of a supervisor. Returns how many reports were written; they tell of the supervisor's death too.
 */
uint32_t orphancase_replay(struct guard_shm *shm, size_t job, struct recorder *k, struct job *row, size_t left);
