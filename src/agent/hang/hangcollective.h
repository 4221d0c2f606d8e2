/*
 * The state of the collective library in a job that seems to hang: Flight
 * Recorder dumps, the rings of vigil's NCCL plugin and NCCL's RAS, through
 * agent/collective/collectives and judge/collective. A server that stalls or a
 * file system that does not answer must not delay the samples: a short-lived
 * child reads them, and what it has not read by the deadline is left out.
 *
 * Sources are read only if a rank uses NCCL: has it in its memory, or names
 * dumps or a ring in its environment. Dumps older than the standstill show
 * another moment and do not count.
 */
#pragma once

#include "agent/hang/hangprocs.h"
#include "judge/standstill/hang_case.h"
#include "model/collective/collective_arrows.h"
#include "model/collective/collective_verdict.h"

#define HANGCOLLECTIVE_NOTES 2
#define HANGCOLLECTIVE_NOTE 340
/* Limit of all waiting in the child together; it has one second more to read the answers. */
#define HANGCOLLECTIVE_NS (7 * NS_PER_S)

struct hangcollective {
	pid_t pid; /* of the child; 0: none */
	uint64_t deadline_ns;
	struct hangcollective_answer *answer; /* shared with the child; NULL: none */
};

/* Starts the child, unless an earlier one still hangs. since_unix_ms: begin of the standstill. */
void hangcollective_begin(struct hangcollective *h, const struct world *w, const struct hangprocs *procs,
			  int64_t since_unix_ms);
/* True: the child has ended, or its time is up. False: call it again soon. */
bool hangcollective_done(struct hangcollective *h, const struct world *w);
struct hangcollective_said {
	struct hang_collective verdict; /* valid false: there is none */
	struct collective_arrow *arrow; /* who waits for whom by the library; owned; NULL: nothing is known */
	size_t n_arrows;
	char note[HANGCOLLECTIVE_NOTES][HANGCOLLECTIVE_NOTE]; /* what was not read, and why */
	size_t n_notes;
};

/* Takes the child's answer after hangcollective_done. Free with hangcollective_said_done. */
void hangcollective_take(struct hangcollective *h, struct hangcollective_said *ret);
void hangcollective_said_done(struct hangcollective_said *s);
/* Kills an unfinished child. */
void hangcollective_end(struct hangcollective *h);
/* Converts a verdict of judge/collective to the type of judge/hang. Pure. */
void hangcollective_map(const struct collective_verdict *v, struct hang_collective *ret);
