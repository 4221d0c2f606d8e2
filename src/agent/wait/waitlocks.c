#include "agent/wait/waitlocks.h"

#include <string.h>

#include "agent/wait/waithands.h"
#include "agent/wait/waitloader.h"
#include "agent/wait/waitpeer.h"
#include "agent/wait/waitpool.h"
#include "agent/wait/waitray.h"
#include "agent/wait/waitshared.h"
#include "agent/wait/waitstore.h"
#include "agent/inspect/pyasync.h"
#include "agent/inspect/pygrpc.h"
#include "agent/inspect/pyretry.h"
#include "agent/inspect/pywaits.h"
#include "base/vec.h"

/* What of a process may have something to say in Python. */
struct asked {
	bool locks; /* a thread waits for a lock without an owner */
	bool loops; /* a thread may be in an event loop */
	bool naps; /* its main thread sleeps for a moment */
	bool stores; /* a thread waits for a connection's other end */
	bool hands; /* somebody waits for one of its threads at a connection */
};

static struct asked asks_python(const struct waitfacts *f, const struct waitfact_process *p)
{
	struct asked ret = {.hands = waithands_wanted(f, p)};
	for (uint32_t i = 0; i < p->n_threads; i++) {
		const struct waitfact_thread *t = &f->thread[p->first_thread + i];
		ret.loops |= !t->runs && t->wait == WAIT_POLL;
		for (uint32_t k = 0; k < t->n; k++) {
			enum waitfact_kind kind = f->fact[t->first + k].kind;
			ret.locks |= kind == WAITFACT_FUTEX || kind == WAITFACT_SHARED;
			ret.stores |= kind == WAITFACT_TCP;
			ret.naps |= kind == WAITFACT_CLOCK && t->tid == t->pid && t->timed;
		}
	}
	return ret;
}

static bool asks_anything(const struct asked *a)
{
	return a->locks || a->loops || a->naps || a->stores || a->hands;
}

static int waithint_add(const struct waithint *one, struct waithint **hint, size_t *n_hints, size_t *cap_hints)
{
	if (vec_room(hint, cap_hints, *n_hints + 1) < 0)
		return -ENOMEM;
	(*hint)[(*n_hints)++] = *one;
	return 0;
}

static int loader_of(const struct world *w, const struct waitfacts *facts, struct procview *view,
		     struct waithint **hint, size_t *n_hints, size_t *cap_hints)
{
	struct waithint one;
	bool found = false;
	if (waitloader_read(w, facts, view, &one, &found) != 0 || !found)
		return 0;
	return waithint_add(&one, hint, n_hints, cap_hints);
}

/* The rank with which its main thread exchanges a message. */
static int message_of(const struct world *w, struct procview *view, struct waithint **hint, size_t *n_hints,
		      size_t *cap_hints)
{
	struct waithint one;
	bool found = false;
	if (waitpeer_read(w, view, &one, &found) != 0 || !found)
		return 0;
	return waithint_add(&one, hint, n_hints, cap_hints);
}

/* What its main thread tries again. */
static int retry_of(const struct world *w, struct procview *view, struct waithint **hint, size_t *n_hints,
		    size_t *cap_hints)
{
	struct waithint one;
	bool found = false;
	if (pyretry_read(w, view, &one, &found) != 0 || !found)
		return 0;
	return waithint_add(&one, hint, n_hints, cap_hints);
}

static int locks_of(const struct waitpool_in *in, pid_t pid, struct asked asked, struct waithint **hint,
		    size_t *n_hints, size_t *cap_hints)
{
	struct fault fault = {.text = ""};
	const struct procview_want want = {.natives = NULL};
	cleanup(procview_closep) struct procview *view = NULL;
	cleanup(freep) struct waithint *found = NULL;
	size_t n = 0;
	if (procview_open(in->w, pid, &want, &view, &fault) != 0)
		return 0; /* it may not be looked into: the facts alone count */
	if (asked.naps && retry_of(in->w, view, hint, n_hints, cap_hints) < 0)
		return -ENOMEM;
	if (asked.loops && pyasync_hints(in->w, view, hint, n_hints, cap_hints) == -ENOMEM)
		return -ENOMEM;
	if (pygrpc_hints(in->w, view, hint, n_hints, cap_hints) == -ENOMEM)
		return -ENOMEM;
	if (asked.hands && waithands_read(in->w, in->now, view, hint, n_hints, cap_hints) == -ENOMEM)
		return -ENOMEM;
	if ((asked.locks || asked.naps) && waitpool_read(in, view, hint, n_hints, cap_hints) == -ENOMEM)
		return -ENOMEM;
	if (!asked.locks && !asked.loops)
		return 0;
	if (loader_of(in->w, in->now, view, hint, n_hints, cap_hints) < 0)
		return -ENOMEM;
	if (asked.locks && message_of(in->w, view, hint, n_hints, cap_hints) < 0)
		return -ENOMEM;
	if (!asked.locks || pywaits_read(in->w, view, &found, &n) != 0 || n == 0)
		return 0;
	if (vec_room(hint, cap_hints, *n_hints + n) < 0)
		return -ENOMEM;
	memcpy(*hint + *n_hints, found, n * sizeof(*found));
	*n_hints += n;
	return 0;
}

static int process_ask(const struct waitpool_in *in, const struct waitfact_process *p, struct asked asked,
		       struct waithint **hint, size_t *n_hints, size_t *cap_hints)
{
	int e = 0;
	if (asked.locks || asked.loops || asked.naps || asked.hands)
		e = locks_of(in, p->pid, asked, hint, n_hints, cap_hints);
	return e == 0 && asked.stores ? waitstore_read(in->w, in->now, p, hint, n_hints, cap_hints) : e;
}

int waitlocks_read(const struct world *w, const struct waitfacts *before, const struct waitfacts *facts,
		   const struct waitgraph_who *who, size_t n_who, uint64_t until_ns, const volatile bool *stop,
		   struct waithint **hint, size_t *n_hints, size_t *cap_hints)
{
	const struct waitpool_in in = {.w = w, .now = facts, .before = before, .until_ns = until_ns};
	bool late = false;
	for (int turn = 0; turn < 2; turn++)
		for (size_t i = 0; i < n_who; i++) {
			const struct waitfact_process *p = waitfacts_process(facts, who[i].pid);
			struct asked asked = p ? asks_python(facts, p) : (struct asked){.locks = false};
			if (who[i].main != (turn == 0) || !asks_anything(&asked))
				continue;
			if ((stop && *stop) || w->mono_ns() > until_ns)
				/* a store's key only adds words, and whose hands are full only narrows */
				late |= asked.locks || asked.loops;
			else /* a size in a program's memory may be more than there is: that one goes without */
				late |= process_ask(&in, p, asked, hint, n_hints, cap_hints) < 0;
		}
	late |= waitray_read(w, facts, who, n_who, until_ns, hint, n_hints, cap_hints) < 0;
	late |= waitshared_read(w, facts, until_ns, hint, n_hints, cap_hints) < 0;
	return late ? WAITLOCKS_LATE : 0;
}
