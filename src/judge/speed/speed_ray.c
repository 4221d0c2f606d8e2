/*
 * Calls of a Ray program that are made, or served, one after another. Seen at the program itself: for how many results
 * it waits while how many workers work; a worker that sleeps in a call works as well.
 */
#include "base/buf.h"
#include "base/units.h"
#include "judge/speed/speed_parts.h"
#include "model/jobs/raytitle.h"

#define LOOKS_LEAST 20
#define FOLLOWED_LEAST 3
#define MOVED_LEAST (32.0 * MIB) /* bytes a second between the object store and the disk */

static double ratio_of(uint32_t n, uint32_t all)
{
	return all ? (double)n / all : 0;
}

/* How much of a processor the calls take while one runs. */
static double busy_of(const struct speedview *v, pid_t pid)
{
	for (size_t i = 0; i < v->f->n_processes; i++)
		if (v->f->process[i].pid == pid)
			return speed_busy(v->f, i);
	return 0;
}

/* The share of the time in which some worker of Ray runs. */
static double busy_most(const struct speedview *v)
{
	double most = 0;
	for (size_t i = 0; i < v->f->n_processes; i++)
		if (v->f->process[i].role == ROLE_RAY_WORKER)
			most = MAX(most, speed_busy(v->f, i));
	return most;
}

/* n calls at once instead of one, each of which takes `busy` of a processor. */
static double ray_gain(const struct speedview *v, double n, double busy)
{
	if (busy < 0.05)
		return n;
	return MAX(MIN(n, speed_fair(v, n * busy) / MAX(speed_has(v, busy), 0.01)), 1);
}

static bool one_actor(const struct speedview *v, struct findings *all)
{
	const struct speed_ray *r = &v->f->ray;
	const double part = ratio_of(r->actor_alone, r->looks);
	if (part < 0.5 || ratio_of(r->actor_alone, r->waits - r->singles) < 0.8 || r->results < 2)
		return false;
	const double busy = busy_of(v, r->actor), n = ray_gain(v, r->results, busy / MAX(part, 0.01));
	struct finding *f = speed_add(v, all, "one-worker", "high", 1 / (1 - part + part / n), 0,
				      "one actor, %s (process %d), serves all calls, one after another: program %d "
				      "waits for %.0f results of which it can work on one at a time",
				      r->actor_name[0] ? r->actor_name : "unnamed", r->actor, r->driver, r->results);
	if (!f)
		return false;
	finding_evidence(f,
			 "at %u of %u looks the program stood in ray.get() for several results while this actor alone "
			 "worked; it runs for %.0f %% of the time",
			 r->actor_alone, r->looks, busy * 100);
	finding_advice(f, "make several actors and share the calls out among them, or, if the calls need no state of "
			  "the actor, make them tasks");
	return true;
}

static bool one_by_one(const struct speedview *v, struct findings *all)
{
	const struct speed_ray *r = &v->f->ray;
	const double part = ratio_of(r->task_alone, r->looks);
	if (part < 0.5 || r->followed < FOLLOWED_LEAST || ratio_of(r->singles, r->waits) < 0.9)
		return false;
	const double busy = busy_most(v), want = MIN(v->room, v->cpus);
	const double n = ray_gain(v, MAX(want, 2), busy / MAX(part, 0.01));
	struct finding *f = speed_add(v, all, "one-at-a-time", "medium", 1 / (1 - part + part / n), 0,
				      "program %d waits for each task%s%s before it starts the next one, so one worker "
				      "works at a time",
				      r->driver, r->task_name[0] ? " " : "", r->task_name);
	if (!f)
		return false;
	finding_evidence(f, "at %u of %u looks it stood in ray.get() for one result while one worker alone worked; the "
			    "result was another one %u times",
			 r->task_alone, r->looks, r->followed);
	finding_advice(f, "start all tasks first and keep their references in a list, then one ray.get() for the list "
			  "(unless each task needs the result of the one before)");
	return true;
}

/* What its workers for that read back costs time; what is written once and stays on disk does not. */
static void object_store(const struct speedview *v, struct findings *all)
{
	double in = 0, out = 0, busy = 0;
	size_t movers = 0;
	char back[16], away[16];
	for (size_t i = 0; i < v->f->n_processes; i++) {
		const struct speed_process *p = &v->f->process[i];
		if (p->role != ROLE_RAY_WORKER || !raytitle_moves_objects(span_of(p->name)))
			continue;
		movers++;
		in += p->read_bytes;
		out += p->write_bytes;
		busy = MAX(busy, speed_busy(v->f, i));
	}
	if (in + out < MOVED_LEAST)
		return;
	(void)size_format((uint64_t)in, back);
	(void)size_format((uint64_t)out, away);
	struct finding *f = speed_add(v, all, "object-store-small", "medium", 0, busy,
				      "Ray's object store is too small for the objects that are in use: %s a second "
				      "are read back from disk, %s a second written to it",
				      back, away);
	if (!f)
		return;
	finding_evidence(f, "%zu worker%s of Ray's own that %s objects; the busiest works for %.0f %% of the time",
			 movers, movers == 1 ? "" : "s", movers == 1 ? "moves" : "move", busy * 100);
	finding_advice(f, "give it more memory (ray start --object-store-memory, "
			  "ray.init(object_store_memory=)), or keep fewer objects: hand out less ahead, and drop "
			  "references (del) that are not needed any more");
}

bool speed_ray_rules(const struct speedview *v, struct findings *all)
{
	object_store(v, all);
	if (v->f->ray.looks < LOOKS_LEAST)
		return false;
	return one_actor(v, all) || one_by_one(v, all);
}
