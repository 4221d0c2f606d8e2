/*
 * What the readers of a job's live socket are told, and when: the verdict out of what was stored of the job, and
 * whatever its owner knows. Readers are told at most 20 times a second, and telling takes a twentieth of the time at
 * most.
 *
 * Its owner's loop waits for livetell_fd, and is never held up.
 */
#pragma once

#include "agent/guard/guardshm.h"
#include "agent/incident/recorder.h"
#include "agent/run/livesock.h"
#include "sense/world.h"
#include "tell/jobs/live.h"

struct livetell;

/* Listens in the job's folder, and from then on hears what is recorded. *ret NULL: there is no socket. */
void livetell_open(struct recorder *r, struct livetell **ret);
/* Takes NULL, returns it. The recorder must still be there. */
struct livetell *livetell_close(struct livetell *t);
/* To be waited for; readable: call livetell_run. Borrowed; -1: t is NULL. */
int livetell_fd(const struct livetell *t);
void livetell_run(struct livetell *t);
size_t livetell_readers(const struct livetell *t);
/* Something is new that readers should be told of. */
void livetell_changed(struct livetell *t);
/* When livetell_give is to be called; UINT64_MAX: not by time, as nobody reads or nothing is new. */
uint64_t livetell_due_ns(const struct livetell *t);

/* Sets phase, job, memory, steps and processes of the state. A negative errno: nothing is told this time. */
typedef int livetell_fill_fn(void *ctx, struct live_state *n);
/* What the guard knows. guarded: it runs. job: its number for the guard. */
void livetell_memory(const struct guard_shm *shm, bool guarded, size_t job, uint64_t peak_bytes, struct live_memory *m);
/* Tells all readers now. */
void livetell_give(struct livetell *t, const struct world *w, livetell_fill_fn *fill, void *ctx);
