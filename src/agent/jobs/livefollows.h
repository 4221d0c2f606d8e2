/*
 * Listens to the jobs that somebody asks for again and again, for programs that stay (the page's server): a job is
 * asked for by its row, is listened to from then on, and is left alone when nobody has asked for ten seconds. Never
 * waits.
 */
#pragma once

#include "tell/jobs/live.h"

struct livefollows;

/* NULL without memory; the functions below then do nothing. */
struct livefollows *livefollows_new(void);
struct livefollows *livefollows_free(struct livefollows *all);
/* NULL: the job's supervisor says nothing, or nothing yet. Borrowed until the next call. */
const struct live_state *livefollows_state(struct livefollows *all, const struct job *j);
/* Leaves those that nobody asks for. Milliseconds until it must be called again; -1: not before the next question. */
int livefollows_turn(struct livefollows *all);
