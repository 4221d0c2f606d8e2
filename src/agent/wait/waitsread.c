#include "agent/wait/waitsread.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>

#include "agent/collective/collectives.h"
#include "agent/jobs/jobfolder.h"
#include "agent/wait/waitalarms.h"
#include "agent/wait/waitargs.h"
#include "agent/wait/waitcalls.h"
#include "agent/wait/waitlocks.h"
#include "agent/wait/waitsread_parts.h"
#include "agent/wait/wakeplace.h"
#include "agent/inspect/procview.h"
#include "base/buf.h"
#include "base/file.h"

/* The search for holders among all processes of the machine may take this long: somebody waits for the answer. */
static const uint64_t look_budget_ns = NS_PER_S;
/* Time for Python's locks where there is only one look; else the time between the looks is used. */
static const uint64_t hints_budget_ns = 2 * NS_PER_S;
static const uint64_t progress_ns = 100 * NS_PER_MS;

struct taking {
	const struct world *w;
	const struct waitsread_want *want;
	struct waitsread *r;
	size_t cap_hints;
};

static bool over(const struct taking *t)
{
	return t->want->stop && *t->want->stop;
}

void waitsread_done(struct waitsread *r)
{
	waitgraph_done(&r->graph);
	for (size_t i = 0; i < r->n_looks; i++)
		waitfacts_done(&r->look[i]);
	for (size_t i = 0; i < ARRAY_SIZE(r->go); i++)
		waitgo_done(&r->go[i]);
	free(r->who);
	free(r->hint);
	memset(r, 0, sizeof(*r));
}

void waitsread_wakes(const char *state, const char *job, struct wakehist *ret)
{
	cleanup(freep) char *text = NULL;
	char folder[400];
	size_t len;
	*ret = (struct wakehist){.n = 0};
	TEXT_FORMAT(folder, "%s/jobs/%s", state, job);
	if (jobfolder_slurp(folder, "wakers", MIB, &text, &len) == 0)
		ignore(wakehist_parse((struct span){text, len}, ret), "then nothing is known");
}

/* ---- a look ---- */

/* The goroutines beside the look that was taken. */
static int goroutines_look(struct taking *t)
{
	struct waitsread *r = t->r;
	size_t at = r->n_looks - 1;
	bool last = at == 1 || t->want->apart_ns == 0;
	return waitgo_look(t->w, &r->look[at], r->who, r->n_who, last, t->w->mono_ns() + look_budget_ns, &r->go[at]);
}

static void alarms_take(const struct world *w, struct waitfacts *f)
{
	struct waitalarms a = WAITALARMS_INIT;
	waitalarms_take(&a, w, f);
	waitalarms_close(&a);
}

/* Takes a look at the processes that there are now. WAITSREAD_NONE: there are none. */
static int look(struct taking *t)
{
	struct waitsread *r = t->r;
	struct waitsread_processes p = {.n = 0};
	uint64_t began_ns = t->w->mono_ns();
	int e = waitsread_processes_read(t->w, t->want->members, &p);
	if (e == 0 && p.n == 0)
		e = WAITSREAD_NONE;
	if (e == 0)
		e = waitfacts_read(t->w, p.pid, p.n, look_budget_ns, &r->look[r->n_looks]);
	if (e == 0 && (r->n_looks == 1 || t->want->apart_ns == 0))
		alarms_take(t->w, &r->look[r->n_looks]);
	if (e == 0 && r->look[r->n_looks].n_threads == 0) {
		waitfacts_done(&r->look[r->n_looks]);
		e = WAITSREAD_NONE;
	}
	if (e == 0) {
		r->n_looks++;
		r->cut = p.cut;
		r->captured_unix_ms = t->w->unix_ms();
		free(r->who);
		r->who = take(&p.who);
		r->n_who = p.n;
		e = goroutines_look(t);
	}
	r->took_ns += t->w->mono_ns() - began_ns;
	waitsread_processes_done(&p);
	return e;
}

/* Counts the processes that may not be looked into. WORLD_DENIED: that is all that live. */
static int rights_check(struct taking *t, struct fault *f)
{
	const struct waitfacts *now = &t->r->look[t->r->n_looks - 1];
	const struct procview_want none = {.natives = NULL};
	const struct members_want *members = t->want->members;
	size_t alive = 0;
	pid_t first = 0;
	t->r->n_denied = 0;
	for (size_t i = 0; i < now->n_processes; i++) {
		const struct waitfact_process *p = &now->process[i];
		if (!p->wanted || p->state == 'Z')
			continue;
		alive++;
		if (p->readable)
			continue;
		first = first ? first : p->pid;
		t->r->n_denied++;
		t->r->subject_denied |= !members->job_id && p->pid == members->root;
	}
	if (t->r->n_denied == 0 || t->r->n_denied < alive)
		return 0;
	/* What opens a process for its stack needs the same right, and says which one is missing. */
	struct procview *v = NULL;
	if (procview_open(t->w, first, &none, &v, f) != WORLD_DENIED)
		(void)fault_set(f, 0, "process %d may not be looked into: its descriptors belong to another user",
				(int)first);
	procview_close(v);
	return WORLD_DENIED;
}

/* Who usually ended such waits. */
static int habits_read(struct taking *t, uint64_t until_ns)
{
	struct waitsread *r = t->r;
	cleanup(freep) struct wakeplace *place = NULL;
	struct wakehint_in in = {.hist = t->want->wakes, .facts = &r->look[0], .who = r->who, .n_who = r->n_who};
	if (wakeplaces_read(t->w, &r->look[0], until_ns, &place, &in.n_places) < 0)
		return -ENOMEM;
	in.place = place;
	return wakehint_add(&in, &r->hint, &r->n_hints, &t->cap_hints);
}

static size_t ranks_of_who(const struct waitsread *r, struct collectives_rank *dst)
{
	size_t n = 0;
	for (size_t i = 0; i < r->n_who; i++)
		if (r->who[i].main && r->who[i].rank != NO_RANK)
			dst[n++] = (struct collectives_rank){.rank = r->who[i].rank, .pid = r->who[i].pid};
	return n;
}

/*
 * Who waits for whom by the counters of the collective library that are kept in memory, as they are now. Dumps of it
 * show another moment unless they are asked for, and its server wants to be asked twice: `vigil collectives` does both.
 */
static int counters_read(struct taking *t, struct collective_arrow **ret, size_t *ret_n)
{
	cleanup(freep) struct collectives_rank *ranks = calloc(t->r->n_who + 1, sizeof(*ranks));
	cleanup(collectives_done) struct collectives c = {.set = NULL};
	if (!ranks)
		return -ENOMEM;
	const struct collectives_want want = {.ranks = ranks,
					      .n_ranks = ranks_of_who(t->r, ranks),
					      .only_if_used = true,
					      .no_ras = true,
					      .dumps_since_unix_ms = t->w->unix_ms()};
	const int e = want.n_ranks ? collectives_of_job(t->w, &want, &c) : 0;
	if (e || c.n_read == 0)
		return e == -ENOMEM ? e : 0;
	*ret = calloc(COLLECTIVE_ARROWS, sizeof(**ret));
	*ret_n = *ret ? collective_arrows(c.set, *ret, COLLECTIVE_ARROWS) : 0;
	return *ret ? 0 : -ENOMEM;
}

/* Which ranks have not come to the calls that the others are in, or have made them otherwise. */
static int missing_read(struct taking *t, uint64_t until_ns)
{
	struct waitsread *r = t->r;
	cleanup(freep) struct waitcall *call = NULL;
	cleanup(freep) struct collective_arrow *arrow = NULL;
	struct waitmissing_in in = {
		.facts = &r->look[0], .who = r->who, .n_who = r->n_who, .counters_alone = true};
	if (waitcalls_read(t->w, &r->look[0], r->who, r->n_who, until_ns, &call, &in.n_calls) < 0 ||
	    counters_read(t, &arrow, &in.n_arrows) < 0)
		return -ENOMEM;
	in.call = call;
	in.arrow = arrow;
	int e = waitmissing_add(&in, &r->hint, &r->n_hints, &t->cap_hints);
	return e ? e
		 : waitargs_read(t->w, &r->look[0], r->who, r->n_who, until_ns, &r->hint, &r->n_hints, &t->cap_hints);
}

/* What Python says of its locks: in the time between the looks, which is there anyway. */
static int hints_read(struct taking *t)
{
	struct waitsread *r = t->r;
	uint64_t began_ns = t->w->mono_ns(), usual_ns = MAX(t->want->apart_ns, hints_budget_ns);
	uint64_t until_ns = began_ns + (t->want->budget_ns ? t->want->budget_ns : usual_ns);
	int e = waitlocks_read(t->w, NULL, &r->look[0], r->who, r->n_who, until_ns, t->want->stop, &r->hint,
			       &r->n_hints, &t->cap_hints);
	if (e == 0)
		e = missing_read(t, until_ns);
	if (e == 0 && t->want->wakes && t->want->wakes->n > 0)
		e = habits_read(t, until_ns);
	r->took_ns += t->w->mono_ns() - began_ns;
	r->hints_late = e == WAITLOCKS_LATE;
	return r->hints_late ? 0 : e;
}

/* ---- the two looks ---- */

/* Waits until the second look is due. */
static void pause_between(struct taking *t)
{
	uint64_t end_ns = t->r->look[0].taken_ns + t->want->apart_ns;
	for (uint64_t now_ns = t->w->mono_ns(); now_ns < end_ns && !over(t); now_ns = t->w->mono_ns()) {
		uint64_t left_ns = end_ns - now_ns, nap_ns = MIN(left_ns, progress_ns);
		const struct timespec nap = {.tv_sec = (time_t)(nap_ns / NS_PER_S),
					     .tv_nsec = (long)(nap_ns % NS_PER_S)};
		if (t->want->progress)
			t->want->progress(t->want->ctx, left_ns);
		(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL); /* a signal ends it early */
	}
}

static int second_look(struct taking *t, struct fault *f)
{
	uint64_t before_ns = t->r->look[0].taken_ns;
	pause_between(t);
	t->r->stopped = over(t);
	if (t->r->stopped)
		return 0;
	int r = look(t);
	if (r == WAITSREAD_NONE)
		return fault_set(f, WAITSREAD_ENDED, "it ended while it was looked at");
	if (r == 0)
		t->r->apart_ns = t->r->look[1].taken_ns - before_ns;
	return r ? r : rights_check(t, f);
}

/* Goroutines in the place of threads; where the second look was not taken the first one did not search. */
static int goroutines_put(struct taking *t)
{
	struct waitsread *r = t->r;
	bool two = r->n_looks > 1;
	const struct waitgo_into into = {.before = two ? &r->look[0] : NULL,
					 .now = &r->look[r->n_looks - 1],
					 .hint = &r->hint,
					 .n_hints = &r->n_hints,
					 .cap_hints = &t->cap_hints};
	return waitgo_put(two ? &r->go[0] : NULL, &r->go[r->n_looks - 1], &into);
}

static int take_all(struct taking *t, struct fault *f)
{
	struct waitsread *r = t->r;
	int e = look(t);
	if (e == WAITSREAD_NONE)
		return procview_why_none(t->w, t->want->members->root, f) == WORLD_DENIED ? WORLD_DENIED : e;
	if (e == 0)
		e = rights_check(t, f);
	if (e == 0)
		e = hints_read(t);
	if (e == 0 && t->want->apart_ns > 0)
		e = second_look(t, f);
	if (e == 0)
		e = goroutines_put(t);
	if (e)
		return e;
	const struct waitgraph_in in = {
		.before = r->n_looks > 1 ? &r->look[0] : NULL,
		.now = &r->look[r->n_looks - 1],
		.who = r->who,
		.n_who = r->n_who,
		.hint = r->hint,
		.n_hints = r->n_hints,
	};
	return waitgraph_make(&in, &r->graph);
}

int waitsread_take(const struct world *w, const struct waitsread_want *want, struct waitsread *ret, struct fault *f)
{
	struct waitsread r = {.n_looks = 0};
	struct taking t = {.w = w, .want = want, .r = &r};
	int e = take_all(&t, f);
	if (e && e != WORLD_DENIED && e != WAITSREAD_NONE && e != WAITSREAD_ENDED && !f->text[0])
		(void)fault_set(f, 0, "the waits could not be read: %s", e < 0 ? strerror(-e) : "/proc is not there");
	if (e)
		waitsread_done(&r);
	else
		*ret = r;
	return e;
}
