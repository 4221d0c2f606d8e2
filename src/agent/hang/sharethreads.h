/*
 * What a program without Python does at an instant, for agent/hang/hangshares, where its first thread waits for others
 * of its own (model/speed/threadshare): all of its threads are looked at. Nothing is stopped, but for some stacks.
 */
#pragma once

#include "agent/hang/sharewaits.h"
#include "model/speed/threadshare.h"
#include "sense/native/unwind.h"

struct sharethreads;

/* natives: symbols, borrowed; NULL: no function is named. NULL without memory. */
struct sharethreads *sharethreads_new(const struct world *w, pid_t pid, struct natives *natives);
struct sharethreads *sharethreads_free(struct sharethreads *s);

struct sharethreads_found {
	enum threadshare_is is;
	struct threadwait wait; /* of the thread that shows what the process does */
	pid_t tid; /* of that one */
	char name[16]; /* of that one, if it is not the main one, else "" */
	bool unread; /* some thread is in a wait that is not known yet */
};

/*
 * main_wait: what the main thread does. spins: it goes round in a library of messages. False: it has no other thread,
 * has too many, or its main one tells enough; only that one counts then.
 */
bool sharethreads_look(struct sharethreads *s, const struct sharewaits *waits, const struct threadwait *main_wait,
		       bool spins, struct sharethreads_found *ret);
/*
 * The functions of the program in which a thread runs or sleeps, "nap, called by load". It takes a stack now and then
 * only, which stops the thread briefly. False: not this time, or none is known.
 */
bool sharethreads_place(struct sharethreads *s, pid_t tid, const struct threadwait *t, char *dst, size_t cap);
