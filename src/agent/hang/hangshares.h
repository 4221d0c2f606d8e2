/*
 * Many quick samples of the main threads of a job's ranks for
 * model/hang/waitshare, which finds the rank that waits least. A wait for other
 * ranks is known by Python's frames, by the kernel's facts, and by being busy
 * within a library of messages (MPI, UCX). No process is stopped, and processes
 * stay open between samples.
 */
#pragma once

#include "agent/hang/hangprocs.h"
#include "model/hang/waitshare.h"
#include "sense/native/unwind.h"

struct hangshares;

/*
 * Opens the main processes; those that may not be read are left out. natives: symbols of programs without Python;
 * borrowed; NULL: their functions are not named. NULL without memory.
 */
struct hangshares *hangshares_new(const struct world *w, const struct hangprocs *c, struct natives *natives);
struct hangshares *hangshares_free(struct hangshares *s);
/* Adds one sample to *to. Drops processes that have ended. procs: the job as it is now. */
void hangshares_sample(struct hangshares *s, const struct hangprocs *procs, struct waitshare *to);
