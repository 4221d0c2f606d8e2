/* A rank sleeps while the others wait for it, and the kernel says that it goes on sleeping for too long. */
#include <string.h>

#include "base/units.h"
#include "judge/hang/hang_parts.h"

static const uint64_t stepping_sure_ns = 10 * 60 * NS_PER_S;

/*
 * What is left at the least of the one sleep that it is in; 0: unknown, or a loop of sleeps. Of one whose length alone
 * is known it is counted from the job's beginning, as nothing tells when it began.
 */
static uint64_t sleep_left_ns(const struct hang_work *w, const struct stackgroup_rank *r)
{
	const struct threadwait *t = &r->acting->wait;
	if (t->sleep_until_ns)
		return hang_sleep_made_again(w, r) ? 0 : t->sleep_left_ns;
	return r->compared && r->unchanged ? sub_floor(t->sleep_ns, w->p->job_age_ns) : 0;
}

/* True if it waits for other ranks by the name of its call, or in the backward pass of a job of many. */
static bool waits_by_name(const struct hang_work *w, const struct stackgroup_rank *r)
{
	return activity_waits_for_ranks(r->activity.kind) ||
	       (r->activity.kind == ACTIVITY_BACKWARD && hang_waits(w, r));
}

/* True if somebody waits, and whoever does waits for other ranks, so for the ones that do not. */
static bool others_wait_by_name(const struct hang_work *w)
{
	size_t n = 0;
	for (size_t i = 0; i < w->g.n; i++) {
		if (!hang_waits(w, &w->g.rank[i]))
			continue;
		if (!waits_by_name(w, &w->g.rank[i]))
			return false;
		n++;
	}
	return n > 0;
}

/* True if another thread of the rank is in the others' call: then that one counts, and its main thread may sleep. */
static bool joins_beside(const struct stackgroup_rank *r)
{
	struct activity_found f;
	for (size_t i = 0; i < r->process->n_threads; i++) {
		const struct dump_thread *t = &r->process->threads[i];
		activity_of(t, &f);
		if (t != r->acting && activity_waits_for_ranks(f.kind))
			return true;
	}
	return false;
}

/* True if another thread of the rank may be the one that answers: it runs, or waits for connections or data. */
static bool serves_in_its_stead(const struct stackgroup_rank *r)
{
	for (size_t i = 0; i < r->process->n_threads; i++) {
		const struct dump_thread *t = &r->process->threads[i];
		bool busy = t->wait.kind == WAIT_RUNNING || t->wait.kind == WAIT_POLL || t->wait.kind == WAIT_SOCKET;
		if (t != r->acting && busy)
			return true;
	}
	return false;
}

/* True if the others wait for this rank: by the names of their calls, or by the graph. */
static bool is_waited_for(const struct hang_work *w, const struct stackgroup_rank *r)
{
	enum confidence by_graph = CONFIDENCE_LOW;
	if (others_wait_by_name(w))
		return !joins_beside(r);
	return hang_graph_names(w, r->rank, &by_graph) && by_graph >= CONFIDENCE_MEDIUM && !serves_in_its_stead(r);
}

/*
 * How long a sleep must go on to be told before its excuse is over: beyond that. If the excuse is vigil's own, half an
 * hour at least, or, where steps are known, until ten minutes after the standstill began: by then usual time-outs of
 * what waits for it have passed, and it would have been told of for long.
 */
static uint64_t sure_of(const struct hang_work *w, uint64_t excuse_ns)
{
	const uint64_t least_ns = w->stepping ? sub_floor(stepping_sure_ns, w->standstill_ns) : HANG_SLEEP_SURE_NS;
	return w->s->sleep_ns ? excuse_ns : MAX(excuse_ns, least_ns);
}

bool hang_outsleeps(const struct hang_work *w, const struct stackgroup_rank *r)
{
	if (!w->many || r->activity.kind != ACTIVITY_SLEEP || !r->acting || hang_works(w, r) || !is_waited_for(w, r))
		return false;
	uint64_t excuse = sub_floor(hang_time(w->s->sleep_ns, HANG_SLEEP_NS), w->standstill_ns);
	return sleep_left_ns(w, r) > sure_of(w, excuse);
}

static void sleeper_says(struct hang_work *w, const struct stackgroup_rank *r)
{
	char who[HANG_WHO], doing[300], left[24];
	hang_doing(w, r, doing, sizeof(doing));
	hang_who(r->rank, who);
	who[0] = 'R'; /* "rank" begins a sentence here */
	hang_says(w, "%s sleeps: %s, %s%s left.", who, doing, r->acting->wait.sleep_until_ns ? "" : "at least ",
		  duration_format(sleep_left_ns(w, r), left));
}

/* True if each of these sleeps goes on for half an hour at least; a shorter one may be meant to end. */
static bool all_last(const struct hang_work *w)
{
	for (size_t i = 0; i < w->n_blocking; i++)
		if (!w->benign[i] && sleep_left_ns(w, &w->g.rank[w->blocking[i]]) <= HANG_SLEEP_SURE_NS)
			return false;
	return true;
}

bool hang_long_sleep(struct hang_work *w)
{
	size_t n = 0;
	for (size_t i = 0; i < w->n_blocking; i++) {
		const struct stackgroup_rank *r = &w->g.rank[w->blocking[i]];
		if (!w->benign[i] && !hang_outsleeps(w, r))
			return false; /* somebody else may be to blame */
		n += !w->benign[i];
	}
	if (n == 0 || w->n_unseen > 0)
		return false;
	const bool lasts = all_last(w);
	if (!hang_old_enough(w, lasts ? HANG_FIRM : HANG_EXPLAINED))
		return true;
	bool sure = lasts && hang_all_still(w) && others_wait_by_name(w);
	hang_is(w, "rank_sleeps", sure ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM);
	for (size_t i = 0; i < w->n_blocking; i++) {
		if (w->benign[i])
			continue;
		hang_accuse(w, w->g.rank[w->blocking[i]].rank);
		sleeper_says(w, &w->g.rank[w->blocking[i]]);
	}
	hang_says_who_waits(w);
	return true;
}

bool hang_end_outsleeps(const struct hang_work *w, const struct waitgraph_sink *s, uint64_t excuse_ns)
{
	const struct waitgraph_node *n = &w->c->graph->node[s->node];
	bool beside = n->thread && n->fact && n->fact->kind == WAITFACT_CLOCK && !(n->who && n->who->main);
	if (s->end != WAITEND_CLOCK || !beside || n->naps || s->n_followers == 0 || s->quality < WAITGRAPH_LIKELY)
		return false;
	uint64_t length = sub_floor(n->thread->limit_ns, w->p->job_age_ns);
	/* who waits for it may be told of something else meanwhile: a shell with a trap */
	if (hang_waiter_handles_signals(w, s))
		return false;
	return MAX(n->thread->left_ns, length) > sure_of(w, sub_floor(excuse_ns, w->standstill_ns));
}

/* ---- processes without numbers, of which one never comes to the others ---- */

/* True of a main thread that is in one sleep, seen twice, which goes on for half an hour at least. */
static bool sleeps_on(const struct hang_work *w, const struct dump_process *p)
{
	const struct dump_thread *t = &p->threads[0];
	const struct dump_thread *before = hang_thread_in(w->c->dumps[0], p->pid, t->tid);
	return w->c->n_dumps > 1 && before && t->wait.sleep_until_ns > 0 &&
	       before->wait.sleep_until_ns == t->wait.sleep_until_ns && t->wait.sleep_left_ns > HANG_SLEEP_SURE_NS;
}

static bool is_same_program(const struct dump_frame *a, const struct dump_frame *b)
{
	return a && b && a->file && b->file && strcmp(a->file, b->file) == 0;
}

/*
 * Of a job whose processes have no numbers, each main process is in the call by which ranks meet, or in a sleep of
 * hours in the same file: the first of each. NULL: it is none of the kind.
 */
static const struct dump_process *never_comes(const struct hang_work *w, const struct dump_process **ret_meets)
{
	const struct stackdump *d = hang_newest(w);
	const struct dump_process *sleeps = NULL;
	struct activity_found f;
	const struct dump_frame *meets_at = NULL, *sleeps_at = NULL;
	*ret_meets = NULL;
	for (size_t i = 0; i < d->n; i++) {
		const struct dump_process *p = &d->processes[i];
		if (strcmp(p->role, "main") != 0)
			continue;
		if (p->n_threads == 0)
			return NULL;
		activity_of(&p->threads[0], &f);
		if (f.kind == ACTIVITY_STORE) {
			meets_at = *ret_meets ? meets_at : f.user;
			*ret_meets = *ret_meets ? *ret_meets : p;
		} else if (f.kind == ACTIVITY_SLEEP && sleeps_on(w, p)) {
			sleeps_at = sleeps ? sleeps_at : f.user;
			sleeps = sleeps ? sleeps : p;
		} else {
			return NULL;
		}
	}
	return *ret_meets && sleeps && is_same_program(meets_at, sleeps_at) ? sleeps : NULL;
}

bool hang_never_comes(struct hang_work *w)
{
	char place[300], left[24];
	const struct dump_process *meets = NULL;
	const struct dump_process *p = w->many || w->stepping || w->g.n != 1 ? NULL : never_comes(w, &meets);
	if (!p)
		return false;
	if (!hang_old_enough(w, HANG_EXPLAINED))
		return true;
	hang_is(w, "rendezvous", CONFIDENCE_LOW); /* it may be none of those that are to come */
	w->may_end = true;
	hang_place(w, meets, &meets->threads[0], place, sizeof(place));
	hang_says(w, "Process %d (%s) waits for others to come: %s.", (int)meets->pid, meets->name, place);
	hang_place(w, p, &p->threads[0], place, sizeof(place));
	hang_says(w, "Process %d of the same program has not come: it sleeps, for %s more (%s).", (int)p->pid,
		  duration_format(p->threads[0].wait.sleep_left_ns, left), place);
	hang_advise(w, "look at what that process sleeps for; every process has to come to this call, and most "
		       "libraries give up after some minutes");
	return true;
}
