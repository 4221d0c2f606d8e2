/*
 * What the collective library says of a job that seems to hang: Flight
 * Recorder dumps, the rings of vigil's NCCL plugin and NCCL's RAS, through
 * agent/collective/collectives and judge/collective. A server that stalls or a file
 * system that does not answer must not hold up the looks: a short-lived child
 * asks, and what it has not said by the deadline is left out.
 *
 * Only where a rank shows that it uses NCCL: has it in its memory, or names
 * dumps or a ring in its environment. Dumps that are older than the standstill
 * show another moment and do not count.
 */
#pragma once

#include "agent/hang/hangprocs.h"
#include "judge/hang/hang_case.h"
#include "model/collective/collective_verdict.h"

#define HANGCOLLECTIVE_NOTES 2
/* All its waiting together; the child has a second more to read what came. */
#define HANGCOLLECTIVE_NS (7 * NS_PER_S)

struct hangcollective {
	pid_t pid; /* of the child; 0 none */
	uint64_t deadline_ns;
	struct hangcollective_answer *answer; /* shared with it; NULL none */
};

/* The child begins. since_unix_ms: of the standstill. Nothing happens when a child of before still hangs. */
void hangcollective_begin(struct hangcollective *h, const struct world *w, const struct hangprocs *procs,
			  int64_t since_unix_ms);
/* False: it has neither ended nor used up its time; to be asked again soon. */
bool hangcollective_done(struct hangcollective *h, const struct world *w);
/*
 * What it said: ret->valid false if nothing. ret_note: what was not read, and why; the number of notes. After
 * hangcollective_done.
 */
size_t hangcollective_take(struct hangcollective *h, struct hang_collective *ret,
			   char ret_note[HANGCOLLECTIVE_NOTES][120]);
/* An unfinished child is killed. */
void hangcollective_end(struct hangcollective *h);
/* The same verdict in the words of the hang's judge. Pure. */
void hangcollective_map(const struct collective_verdict *v, struct hang_collective *ret);
