/*
 * Children that fail and are started anew, again and again: counted by who starts them and by their name, from the ends
 * of the job's processes in their order. A child of the same parent and name that ends well, or that lived for longer
 * than RESPAWN_LIVED_NS, begins the count anew. Times as in model/hang/liveness.h. No allocation, no clock.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "model/jobs/renewals.h"
#include "sense/death/facts.h"

#define RESPAWNS_KEPT 16
#define RESPAWN_LIVED_NS (30 * UINT64_C(1000000000))
#define RESPAWN_COMMAND 132
#define RESPAWN_WORDS 200

/* What the last line of the output says, as each of them ended. */
enum respawn_words {
	RESPAWN_SILENT, /* it differs from end to end, or there is none */
	RESPAWN_SAYS, /* the same each time, but it is no error that is known by its form */
	RESPAWN_ASKS, /* an error that says that something is not there, or not yet */
	RESPAWN_FAILS, /* any other error */
};

struct respawn {
	pid_t parent;
	char parent_name[16]; /* "" and NO_RANK until somebody who knows the parent has filled them */
	int32_t rank;
	char name[16]; /* of the child */
	char command[RESPAWN_COMMAND]; /* of one of them; "": unknown, or it executed none */
	uint64_t n; /* failures in a row */
	uint64_t since_ns; /* the first of them */
	struct renewals failed; /* the last of them */
	int32_t wait_status; /* of the last one, as of wait(2) */
	uint64_t n_same; /* the last ones of this status, in a row */
	uint64_t lived_ns; /* the last one */
	uint64_t spent_ns; /* processor time of all that failed in the job since then, children of theirs included */
	char words[RESPAWN_WORDS]; /* the last line of the output as the last ones failed; "": unknown */
	uint64_t n_words; /* so many in a row, when numbers are left out */
	uint64_t words_ns; /* when these were last looked at */
};

struct respawns {
	struct respawn of[RESPAWNS_KEPT];
	size_t n; /* rows that are, or were, in use */
};

/* Counts an end. The row, if it failed and is counted; else NULL. It is valid until the next call. */
struct respawn *respawns_end(struct respawns *r, const struct process_end *e, uint64_t now_ns);
/* The command of one that has failed, and the last line of the output then. */
void respawn_says(struct respawn *r, const char *command, const char *line, uint64_t now_ns);

/* Mean time between two of them; 0: there is one alone. */
uint64_t respawn_gap_ns(const struct respawn *r);
/* True if it was ended by a fault of its own: a signal that the kernel sends for an access or that abort() raises. */
bool respawn_by_fault(const struct respawn *r);
/* What the words say, if the last three failures and more had the same ones. */
enum respawn_words respawn_words_of(const struct respawn *r);
