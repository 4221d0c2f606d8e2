#include "agent/hang/waitlocks.h"

#include <string.h>

#include "agent/inspect/pyasync.h"
#include "agent/inspect/pywaits.h"
#include "base/vec.h"

static bool is_loop(const struct waitfact_thread *t)
{
	return !t->runs && t->wait == WAIT_POLL;
}

/* True if a thread of the process waits for a lock without an owner, or may be in an event loop: only then its Python
 * is looked into. */
static bool asks_python(const struct waitfacts *f, const struct waitfact_process *p)
{
	for (uint32_t i = 0; i < p->n_threads; i++) {
		const struct waitfact_thread *t = &f->thread[p->first_thread + i];
		if (is_loop(t))
			return true;
		for (uint32_t k = 0; k < t->n; k++) {
			enum waitfact_kind kind = f->fact[t->first + k].kind;
			if (kind == WAITFACT_FUTEX || kind == WAITFACT_SHARED)
				return true;
		}
	}
	return false;
}

static int locks_of(const struct world *w, pid_t pid, struct waithint **hint, size_t *n_hints, size_t *cap_hints)
{
	struct fault fault = {.text = ""};
	const struct procview_want want = {.natives = NULL};
	cleanup(procview_closep) struct procview *view = NULL;
	cleanup(freep) struct waithint *found = NULL;
	size_t n = 0;
	if (procview_open(w, pid, &want, &view, &fault) != 0)
		return 0; /* it may not be looked into: the facts alone count */
	if (pyasync_hints(w, view, hint, n_hints, cap_hints) == -ENOMEM)
		return -ENOMEM;
	if (pywaits_read(w, view, &found, &n) != 0 || n == 0)
		return 0;
	if (vec_room(hint, cap_hints, *n_hints + n) < 0)
		return -ENOMEM;
	memcpy(*hint + *n_hints, found, n * sizeof(*found));
	*n_hints += n;
	return 0;
}

int waitlocks_read(const struct world *w, const struct waitfacts *facts, const struct waitgraph_who *who, size_t n_who,
		   uint64_t until_ns, const volatile bool *stop, struct waithint **hint, size_t *n_hints,
		   size_t *cap_hints)
{
	for (int turn = 0; turn < 2; turn++)
		for (size_t i = 0; i < n_who && !(stop && *stop); i++) {
			const struct waitfact_process *p = waitfacts_process(facts, who[i].pid);
			if (who[i].main != (turn == 0) || !p || w->mono_ns() > until_ns || !asks_python(facts, p))
				continue;
			if (locks_of(w, p->pid, hint, n_hints, cap_hints) < 0)
				return -ENOMEM;
		}
	return 0;
}
