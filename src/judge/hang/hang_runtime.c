/*
 * What a runtime's own tables say of a job that stands: goroutines of programs made by Go, and what waits for a place
 * in a Ray node. Threads of both wake up all the time, so by them such a program works; whether it can go on is known
 * by these tables alone.
 */
#include <string.h>

#include "base/units.h"
#include "judge/hang/hang_parts.h"

/* As for other ranks that only wake up now and then. */
static const uint64_t work_ns = 5 * 60 * NS_PER_S, work_again_ns = 30 * NS_PER_S;

static const struct gostand *gostand_of(const struct hang_work *w, int32_t rank)
{
	for (size_t i = 0; i < w->c->n_go; i++)
		if (w->c->go[i].rank == rank)
			return &w->c->go[i];
	return NULL;
}

/* True if the rank waits for others, as far as its goroutines or its stack tell. */
static bool waits_for_others(const struct hang_work *w, int32_t rank)
{
	const struct gostand *s = gostand_of(w, rank);
	const struct stackgroup_rank *r = stackgroups_find(&w->g, rank);
	return s ? s->kind == GOSTAND_OUTSIDE : r && hang_waits(w, r);
}

/* Every rank waits either for a goroutine of its own, or for the other ranks. */
static bool explains_all(const struct hang_work *w)
{
	for (size_t i = 0; i < w->p->n; i++) {
		const struct liveness *l = &w->p->rank[i];
		const struct gostand *s = gostand_of(w, l->rank);
		if (l->serves || (s && (s->kind == GOSTAND_NOBODY || s->kind == GOSTAND_SOMEBODY)))
			continue;
		if (l->seen.exited || !waits_for_others(w, l->rank))
			return false;
	}
	return true;
}

static void stand_says(struct hang_work *w, const struct gostand *s)
{
	char who[HANG_WHO], since[24], long_for[60] = "";
	hang_who(s->rank, who);
	who[0] = 'R'; /* "rank" begins a sentence here */
	if (s->rank == NO_RANK)
		TEXT_FORMAT(who, "Process %d", (int)s->pid);
	if (s->since_ns && s->since_ns < w->p->now_ns)
		TEXT_FORMAT(long_for, ", for %s at least", duration_format(w->p->now_ns - s->since_ns, since));
	hang_says(w, "%s: %s%s; no goroutine that is still alive comes to what it waits for.", who, s->text, long_for);
	if (s->other[0] && s->owed)
		hang_says(w, "Those that could end it stand themselves, and nobody is left for these either: %s.",
			  s->other);
	else if (s->other[0])
		hang_says(w, "Beside it, %s.", s->other);
	hang_evidence(
		w, "goroutines", "memory of the process",
		"process %d (%s): of %u goroutines %u stand, seen twice; what goroutine 1 waits for was searched from "
		"the stacks of those that live, the variables and the timers",
		(int)s->pid, s->version, s->n, s->n_stand);
}

/*
 * True if what its main goroutine waits for comes from another process of the job in the end, as the goroutine that
 * lives only reads from that one: then the graph says more.
 */
static bool goroutine_waits_for_others(const struct hang_work *w, const struct gostand *s)
{
	const struct waitgraph *g = w->c->graph;
	const struct waitgraph_node *n = g ? waitgraph_thread(g, s->pid, 0) : NULL;
	return n && n->thread->goroutine && waitgraph_leads_to_rank(g, (uint32_t)(n - g->node));
}

/*
 * How long a goroutine that lives may be at work: not long where all that the graph has wait for each other, or for
 * visitors, one of whom may still bring something.
 */
static uint64_t works_most_ns(const struct hang_work *w)
{
	const bool none_acts = w->c->graph && w->stepping && hang_nobody_acts(w);
	return none_acts ? MIN(work_ns, hang_looks_most_ns(w)) : work_ns;
}

/* Who waits for a goroutine that lives waits for its work, as one whose threads run does. */
static bool goroutine_works(struct hang_work *w)
{
	const struct gostand *works = NULL;
	for (size_t i = 0; i < w->c->n_go; i++)
		if (w->c->go[i].kind == GOSTAND_SOMEBODY && !goroutine_waits_for_others(w, &w->c->go[i]))
			works = &w->c->go[i];
	if (!works || w->s->has_after || !explains_all(w))
		return false;
	if (w->standstill_ns >= works_most_ns(w)) {
		w->may_visit |= w->standstill_ns < work_ns;
		return false;
	}
	w->v->kind = HANG_NONE;
	w->v->benign = true;
	TEXT_COPY(w->v->id, "own_thread");
	hang_says(w, "it waits for another goroutine that lives: %s", works->text);
	w->v->again_ns = MIN(work_again_ns, MAX(sub_floor(works_most_ns(w), w->standstill_ns), NS_PER_S));
	return true;
}

bool hang_goroutines(struct hang_work *w)
{
	size_t n = 0;
	for (size_t i = 0; i < w->c->n_go; i++) {
		const struct gostand *s = &w->c->go[i];
		if (s->kind != GOSTAND_NOBODY)
			continue;
		/*
		 * A program that makes no steps may leave its work to goroutines that wait for requests, and its main
		 * one in a wait that is meant for ever: nobody at all could end that.
		 */
		if (!w->stepping && s->serves && !s->owed)
			return false;
		n++;
	}
	if (n == 0)
		return goroutine_works(w);
	if (!explains_all(w))
		return false;
	if (!hang_old_enough(w, HANG_EXPLAINED))
		return true;
	hang_is(w, "orphaned_wait", CONFIDENCE_MEDIUM);
	for (size_t i = 0; i < w->c->n_go; i++) {
		const struct gostand *s = &w->c->go[i];
		if (s->kind != GOSTAND_NOBODY)
			continue;
		hang_accuse(w, s->rank);
		stand_says(w, s);
	}
	hang_advise(
		w,
		"in Go, look for a goroutine that returned early without wg.Done(), Unlock(), close or a send; put "
		"these behind `defer`, and a case <-ctx.Done() beside the channel; `vigil stack` lists all goroutines");
	return true;
}

/* ---- places of Ray ---- */

/* So many statuses in a row, one each 5 s, say the same: what is only on its way to a place is gone by then. */
static const uint32_t statuses_least = 3;
/* What Ray writes each 10 s is waited for until the job has stood for so long. */
static const uint64_t ray_written_ns = 60 * NS_PER_S, ray_again_ns = 5 * NS_PER_S;
/* It was written some time after the job came to stand. */
static const int64_t ray_slack_ms = 2000;

/* True if each of Ray's processes waits, so that none of them gives a place back or asks for less. */
static bool all_of_ray_wait(const struct raystand *s)
{
	size_t gets = 0, programs = 0;
	for (size_t i = 0; i < s->n; i++) {
		if (s->process[i].does == RAYSTAND_SOMETHING)
			return false;
		gets += s->process[i].does == RAYSTAND_GETS;
		programs += !s->process[i].worker;
	}
	for (size_t i = 0; i < s->places.n_holders; i++)
		if (!raystand_find(s, s->places.holder[i].pid))
			return false;
	return gets > 0 && !s->cut && !s->others && !s->places.holders_cut && programs >= s->places.drivers;
}

/*
 * True if nothing that waits for a place could have one now, on the only node that there is or will be, which starts no
 * worker either.
 */
static bool none_has_room(const struct rayplaces *p)
{
	const struct rayplaces_kind *kind;
	for (size_t i = 0; i < p->n_demands; i++) {
		const enum raystand_lack lack = raystand_lack(p, &p->demand[i], &kind);
		if (lack == RAYSTAND_UNKNOWN || lack == RAYSTAND_FITS)
			return false;
	}
	return p->n_demands > 0 && !p->demands_cut && p->has_state && p->starting == 0 && p->nodes == 1 && !p->changes;
}

static bool ray_is_of_now(const struct hang_work *w, const struct rayplaces *p)
{
	const int64_t since_ms = w->c->now_unix_ms - (int64_t)(w->standstill_ns / NS_PER_MS) + ray_slack_ms;
	return p->statuses >= statuses_least && p->state_unix_ms >= since_ms && p->status_unix_ms >= since_ms;
}

static const char *ray_call(const struct raystand_process *p)
{
	return p->waits ? "ray.wait()" : "ray.get()";
}

static void ray_who_says(struct hang_work *w, const struct raystand *s)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct raystand_process *p = &s->process[i];
		if (p->worker || p->does != RAYSTAND_GETS)
			continue;
		hang_says(w, "Process %d waits in %s%s%s.", (int)p->pid, ray_call(p), p->place[0] ? " at " : "",
			  p->place);
		return;
	}
}

/* Who has a part of this resource, and what they do. Returns how many were found. */
static size_t holders_text(const struct raystand *s, const char *kind, struct buf *b, size_t *ret_gets)
{
	const size_t most = 4;
	size_t n = 0;
	*ret_gets = 0;
	for (size_t i = 0; i < s->places.n_holders; i++) {
		const struct rayplaces_holder *h = &s->places.holder[i];
		const struct raystand_process *p = raystand_find(s, h->pid);
		if (raystand_amount(&h->has, kind) <= 0 || !p)
			continue;
		const bool gets = p->does == RAYSTAND_GETS;
		*ret_gets += gets;
		/* of an actor what it ran to get its place: "Rollout.__init__" */
		if (n < most)
			buf_printf(b, "%sprocess %d (%.*s, which %s)", n ? ", " : "", (int)h->pid,
				   (int)span_before(span_of(h->name), ".__init__").len, h->name,
				   !gets      ? "has nothing to do"
				   : p->waits ? "waits in ray.wait() itself"
					      : "waits in ray.get() itself");
		n++;
	}
	if (n > most)
		buf_printf(b, " and %zu more", n - most);
	return n;
}

static void taken_says(struct hang_work *w, const struct raystand *s, const struct rayplaces_kind *kind)
{
	char text[400];
	struct buf b = {.text = text, .cap = sizeof(text)};
	size_t gets;
	buf_reset(&b);
	const size_t n = holders_text(s, kind->name, &b, &gets);
	hang_says(w, "%g of %g %s are free; the others are %s%s. Nobody is left who could give one back.",
		  raystand_amount(&s->places.available, kind->name), raystand_amount(&s->places.total, kind->name),
		  kind->name, n > 0 ? "held by " : "reserved by placement groups", text);
	if (gets > 0)
		hang_advise(w, "a task or actor keeps its place while it waits in ray.get(): start fewer of those that "
			       "wait than there are places, or let what they wait for ask for other resources");
	if (n > gets)
		hang_advise(w, "an actor keeps its place as long as it lives: end those that are done with ray.kill(), "
			       "or drop the last reference to them; one that mostly waits can take none (num_cpus=0)");
	if (n == 0)
		hang_advise(w, "remove placement groups that are done (ray.util.remove_placement_group), or start what "
			       "waits within one");
}

static void too_large_says(struct hang_work *w, const struct raystand *s, const struct rayplaces_demand *d,
			   const struct rayplaces_kind *kind)
{
	if (kind)
		hang_says(w, "%g of %s are wanted, and there is one node, with %g in all: it can never be placed.",
			  kind->amount, kind->name, raystand_amount(&s->places.total, kind->name));
	else
		hang_says(w, "%llu nodes are wanted, and there is one: it can never be placed.",
			  (unsigned long long)d->bundles);
	hang_advise(w, "ask for less (num_cpus=, num_gpus=, resources=, the bundles of the group), or give the node "
		       "more: ray.init(num_cpus=…, resources=…), `ray start --num-cpus=…`");
}

static void demand_says(struct hang_work *w, const struct raystand *s, const struct rayplaces_demand *d)
{
	const struct rayplaces_kind *kind;
	const enum raystand_lack lack = raystand_lack(&s->places, d, &kind);
	char what[60];
	if (d->count > 1)
		TEXT_FORMAT(what, "%llu %s", (unsigned long long)d->count,
			    d->group ? "placement groups" : "tasks or actors");
	else
		TEXT_COPY(what, d->group ? "a placement group" : "a task or actor");
	hang_says(w, "Ray has no free resources for %s of %s.", what, d->text);
	if (lack == RAYSTAND_TAKEN)
		taken_says(w, s, kind);
	else
		too_large_says(w, s, d, kind);
}

/*
 * Everybody waits, and what they wait for has no place. Nothing is ended for it: the logs are the user's own files, and
 * a person may add a node.
 */
bool hang_ray_places(struct hang_work *w)
{
	const struct raystand *s = w->c->ray;
	if (!s || !none_has_room(&s->places) || !all_of_ray_wait(s))
		return false;
	if (!ray_is_of_now(w, &s->places)) {
		if (w->standstill_ns >= ray_written_ns)
			return false;
		w->v->kind = HANG_NONE;
		w->v->again_ns = ray_again_ns;
		TEXT_COPY(w->v->text, "what Ray writes of its places is older than the standstill");
		return true;
	}
	if (!hang_old_enough(w, HANG_FIRM))
		return true;
	hang_is(w, "ray_no_place", CONFIDENCE_HIGH);
	ray_who_says(w, s);
	demand_says(w, s, &s->places.demand[0]);
	hang_evidence(w, "waits", "Ray's logs (debug_state.txt, monitor.log)",
		      "what waits for a place is the same in the last %u statuses; each of the %zu workers and "
		      "programs of Ray's waits in ray.get() without a time limit, or has nothing to do",
		      s->places.statuses, s->n);
	return true;
}

/* ---- actors and tasks of Ray that wait for each other ---- */

/* A program of Ray's that is not seen to wait for what these actors should answer; NULL: none. */
static const struct raystand_process *program_elsewhere(const struct raystand *s)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct raystand_process *p = &s->process[i];
		if (!p->worker && (p->does != RAYSTAND_GETS || !raystand_awaits_stuck(s, p)))
			return p;
	}
	return NULL;
}

/* Who might break it, as one that may end an actor; "": nobody, as every program of Ray's waits for them. */
static void breaker_text(const struct raystand *s, char *dst, size_t cap)
{
	static const char *const does[] = {
		[RAYSTAND_SOMETHING] = "does something else, or what it does is not known",
		[RAYSTAND_GETS] = "waits for something else, or what for is not known",
		[RAYSTAND_IDLE] = "has nothing to do",
	};
	const struct raystand_process *p = program_elsewhere(s);
	size_t n = 0;
	for (size_t i = 0; i < s->n; i++)
		n += !s->process[i].worker;
	text_copy(dst, cap, "");
	if (p)
		text_format(dst, cap, "process %d, a program of Ray's, %s", (int)p->pid, does[p->does]);
	else if (n == 0 || n < s->places.drivers)
		text_format(dst, cap, "of the %llu programs that are connected to Ray %zu are known",
			    (unsigned long long)s->places.drivers, n);
	else if (s->cut || s->others)
		text_copy(dst, cap, s->cut ? "Ray has more processes than were looked at" : "there is a second Ray");
}

/* A member of a circle: whoever waits for the others comes to one. */
static const struct raystand_process *circle_member(const struct raystand *s)
{
	const struct raystand_process *p = NULL;
	for (size_t i = 0; i < s->n && !p; i++)
		p = s->process[i].stuck ? &s->process[i] : NULL;
	for (size_t i = 0; i < s->n && p; i++)
		p = raystand_next(s, p);
	return p;
}

/* "actor Stage in process 7", "task fold in process 8" */
static void ray_member_text(const struct raystand_process *p, char *dst, size_t cap)
{
	text_format(dst, cap, "%s%s%s in process %d", p->is_actor ? "actor" : "task", p->name[0] ? " " : "", p->name,
		    (int)p->pid);
}

static void actor_says(struct hang_work *w, const struct raystand_process *p, const struct raystand_process *next)
{
	char at[140] = "", threads[60] = "", who[140], whom[140];
	if (p->place[0])
		TEXT_FORMAT(at, " at %s", p->place);
	if (p->calls > 1)
		TEXT_FORMAT(threads, ", with all %zu threads that run its calls,", p->calls);
	ray_member_text(p, who, sizeof(who));
	ray_member_text(next, whom, sizeof(whom));
	if (p == next)
		hang_says(w, "The %s waits in %s%s%s for a call of its own.", who, ray_call(p), at, threads);
	else
		hang_says(w, "The %s waits in %s%s%s for %sthe %s.", who, ray_call(p), at, threads,
			  next->is_actor ? "a call of " : "", whom);
}

/* What those of the circle wait for, as evidence. */
static void circle_evidence(struct hang_work *w, size_t members, size_t tasks)
{
	static const char source[] = "references, actors and tasks in the memory of Ray's processes";
	if (tasks > 0)
		hang_evidence(w, "waits", source,
			      "%zu actors and tasks wait without a time limit for results that only these make, and no "
			      "thread of the actors is free for a call",
			      members);
	else
		hang_evidence(w, "waits", source,
			      "%zu actor%s without a time limit for results that only calls of %s make, and no thread "
			      "is free for a call",
			      members, members > 1 ? "s wait" : " waits", members > 1 ? "these actors" : "this actor");
}

/*
 * A call of an actor begins when a thread of its is free. Nothing is ended for it by itself: what is read is the
 * program's own memory, and somebody outside could end an actor.
 */
bool hang_ray_circle(struct hang_work *w)
{
	const struct raystand *s = w->c->ray;
	const struct raystand_process *first = s ? circle_member(s) : NULL;
	if (!first)
		return false;
	char breaker[160];
	breaker_text(s, breaker, sizeof(breaker));
	const bool all = !breaker[0];
	if (!hang_old_enough(w, all ? HANG_FIRM : HANG_EXPLAINED))
		return true;
	hang_is(w, "ray_actors_wait", all ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM);
	const struct raystand_process *p = first;
	size_t told = 0, tasks = 0;
	const size_t most = 4;
	do {
		const struct raystand_process *next = raystand_next(s, p);
		tasks += !p->is_actor;
		if (told++ < most)
			actor_says(w, p, next);
		p = next;
	} while (p != first);
	if (told > most)
		hang_says(w, "So do %zu more, in a circle.", told - most);
	hang_says(w, tasks > 0	? "None of them can go on before another one has."
		     : told > 1 ? "None of these calls can begin or go on before another one of them has ended."
				: "It cannot begin before one that waits so has ended.");
	circle_evidence(w, told, tasks);
	if (!all)
		hang_evidence(w, "waits", "Ray's processes", "who could end one of them may be there: %s", breaker);
	return true;
}

/*
 * All that is known of Ray waits in ray.get() without a time limit, has nothing to do, or is an asynchronous actor
 * whose calls await futures of its own: only another call could set one, as of a queue that is full, and nobody is at
 * work who would make it.
 */
bool hang_ray_async(struct hang_work *w)
{
	const struct raystand *s = w->c->ray;
	size_t gets = 0, programs = 0, n = 0;
	char actors[200] = "";
	struct buf b = BUF_ON(actors);
	if (!s || !w->stepping || s->cut || s->others || s->places.n_demands > 0)
		return false;
	for (size_t i = 0; i < s->n; i++) {
		const struct raystand_process *p = &s->process[i];
		if (p->does == RAYSTAND_SOMETHING && !p->awaits_call)
			return false;
		/* a call of an actor, or a task that runs, is what it waits for */
		if (p->does == RAYSTAND_GETS && p->n_awaits == 0)
			return false;
		gets += p->does == RAYSTAND_GETS;
		programs += !p->worker;
		if (!p->awaits_call)
			continue;
		buf_printf(&b, "%s%d%s%s", n++ > 0 ? ", " : "", (int)p->pid, p->name[0] ? " " : "", p->name);
	}
	if (n == 0 || gets == 0 || programs < s->places.drivers)
		return false;
	if (!hang_old_enough(w, HANG_EXPLAINED))
		return true;
	hang_is(w, "ray_call_awaits", CONFIDENCE_MEDIUM);
	ray_who_says(w, s);
	hang_says(w,
		  "The asynchronous actor in process %s has a call that awaits something of its own (a queue, an "
		  "event, a lock): no connection and no timer can end that, only another call, and nobody else is "
		  "at work who would make one.",
		  actors);
	hang_evidence(w, "waits", "stacks and tasks of Ray's processes",
		      "each of the %zu workers and programs of Ray's waits in ray.get() without a time limit, has "
		      "nothing to do, or rests in an event loop with calls that await futures",
		      s->n);
	return true;
}

/* Nothing of the program is on any stack of it, and its threads of Python wait. */
static bool has_no_part(const struct stackgroup_rank *r)
{
	struct activity_found found;
	for (size_t i = 0; i < r->process->n_threads; i++) {
		const struct dump_thread *t = &r->process->threads[i];
		activity_of(t, &found);
		if (found.user || (t->has_python && t != r->main && t->wait.kind != WAIT_LOCK))
			return false;
	}
	return r->has_stack && r->idle && r->unchanged;
}

/*
 * The main threads of these ranks are Ray's, which wakes up all the time: what they do says nothing. Told where each
 * rank waits for the others or has no part in the program any more; else what one of them does is looked at as usual.
 */
bool hang_ray_ranks(struct hang_work *w)
{
	int32_t left[STACKGROUP_RANKS];
	size_t n_left = 0;
	char ranks[200];
	if (!w->many || !w->stepping || w->n_unseen > 0)
		return false;
	for (size_t i = 0; i < w->g.n; i++) {
		const struct stackgroup_rank *r = &w->g.rank[i];
		if (!r->main || !stackgroup_of_ray(r->process))
			return false;
		if (r->acting != r->main && r->unchanged && activity_waits_for_ranks(r->activity.kind))
			continue;
		if (r->acting != r->main || !has_no_part(r))
			return false;
		left[n_left++] = r->rank;
	}
	if (n_left == 0)
		return hang_all_wait(w);
	if (n_left == w->g.n)
		return false;
	if (!hang_old_enough(w, HANG_FIRM))
		return true;
	hang_is(w, "missing_rank", CONFIDENCE_MEDIUM);
	for (size_t i = 0; i < n_left; i++)
		hang_accuse(w, left[i]);
	hang_ranks_text(left, n_left, ranks, sizeof(ranks));
	ranks[0] = 'R'; /* it begins a sentence */
	hang_says(w,
		  "%s run%s nothing of the program any more: the function that Ray Train runs has returned there, and "
		  "the other ranks still need it.",
		  ranks, n_left == 1 ? "s" : "");
	hang_says_who_waits(w);
	return true;
}
