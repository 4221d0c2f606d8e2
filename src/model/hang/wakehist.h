/*
 * Who usually ended the waits of a job's threads while it worked (sense/wait/wakers), so that in a hang the one can be
 * named that is missing, where the kernel's facts only say who could.
 *
 * A wait is known by its kind and by what tells it from the thread's other waits: the number of a descriptor, the
 * address of a lock, or, where a program makes a new lock for each wait as Python does, the place in the program.
 * History of the thread itself comes first. One that has too little of its own, as after a restart, or a rank that has
 * just begun, takes that of threads with the same role: process, name, main or not, and the same place or descriptor.
 *
 * It is never a proof: what usually ended a wait need not be what is missing now. Pure; zeroed by its owner, freed with
 * wakehist_done.
 */
#pragma once

#include "base/text.h"
#include "sense/wait/wakers.h"

/* Least number of wakes that say something, and the share of them that one waker must have. */
#define WAKEHIST_LEAST 20
#define WAKEHIST_PERCENT 80
#define WAKEHIST_ROWS 512 /* most that are kept; those not seen for the longest time go first */

struct wake_who {
	pid_t pid, tid;
	uint64_t start_ticks; /* of the thread */
	int32_t rank; /* NO_RANK */
	bool main; /* the main thread of its process */
	char role[16]; /* of its process: "main", "loader" */
	char name[32]; /* of the thread: Python's, else the kernel's, as always of a main one */
};

struct wake_wait {
	enum wake_kind kind;
	uint64_t arg; /* as the system call has it */
	uint64_t place; /* number of the place in the program; 0: none, arg decides */
};

struct wakehist_row {
	struct wake_who wakee, waker;
	struct wake_wait wait;
	bool stranger; /* the waker is not of the job, and unknown */
	uint32_t round; /* when it was last seen */
	uint64_t n;
};

struct wakehist {
	struct wakehist_row *row; /* owned */
	size_t n, cap;
	uint32_t round;
};

struct wakehist_usual {
	struct wake_who by;
	uint64_t n, of; /* wakes by it, and all */
	bool by_role; /* of threads like this one: by is one example of who woke them */
};

void wakehist_done(struct wakehist *h);
/* Begins another round of counting. */
void wakehist_round(struct wakehist *h);
/* Adds wakes. waker NULL: somebody who is not of the job. -ENOMEM. */
int must_check wakehist_add(struct wakehist *h, const struct wake_who *wakee, const struct wake_wait *wait,
			    const struct wake_who *waker, uint64_t n);
/* Who usually ends this wait of this thread; false: nobody does, or too little is known. */
bool wakehist_usual(const struct wakehist *h, const struct wake_who *wakee, const struct wake_wait *wait,
		    struct wakehist_usual *ret);
/* As lines of text, "vigil.wakers/1" (docs/formats/store.md), at most cap bytes: rows that do not fit are left out. */
size_t wakehist_text(const struct wakehist *h, char *dst, size_t cap);
/* Reads such a text into an empty history. Lines that are none of it are passed over. -EBADMSG, -ENOMEM. */
int must_check wakehist_parse(struct span text, struct wakehist *ret);
