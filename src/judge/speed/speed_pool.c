/*
 * A main process and its workers: who works while who waits. Loaders, pools, actors; and ranks among one another.
 */
#include <string.h>

#include "base/buf.h"
#include "base/units.h"
#include "judge/speed/speed_parts.h"

#define POOL_MAX 512

struct pool {
	size_t lead;
	bool unseen; /* the lead is Ray's daemon: whoever hands out, and waits, is not of the job */
	size_t worker[POOL_MAX];
	double busy[POOL_MAX];
	size_t n;
	size_t used; /* workers that are busy for at least a twentieth of the time */
	size_t busiest;
	double most, second, mean;
	double lead_busy;
	double lead_only; /* parts of the time: the lead works and no worker */
	double workers_only; /* at least one worker works and the lead does not */
	double workers_two; /* of that, two or more */
	double together; /* the lead works and at least one worker */
	double width; /* mean number of workers that work, while one does and the lead does not */
	double worker_run, lead_run; /* cores */
	double worker_system;
	double switches; /* voluntary ones a second of all workers */
	double messages; /* calls that write, a second, of all workers */
};

/* Ray's workers descend from its daemon, not from the program; those that it keeps in reserve are nobody's. */
static bool is_ray_worker(const struct speed_process *p)
{
	return p->role == ROLE_RAY_WORKER && strcmp(p->name, "ray::IDLE") != 0;
}

/* The same task, or actors of one class, whatever they are called for at the moment. */
static bool of_one_kind(const struct speed_process *a, const struct speed_process *b)
{
	const size_t n = strcspn(a->name, ".");
	return n == strcspn(b->name, ".") && strncmp(a->name, b->name, n) == 0;
}

/* The busiest worker of Ray: others of its kind may be there for the same work. NULL: there is none. */
static const struct speed_process *busiest_of_ray(const struct speedfacts *f)
{
	const struct speed_process *who = NULL;
	double most = -1;
	for (size_t i = 0; i < f->n_processes; i++)
		if (is_ray_worker(&f->process[i]) && speed_busy(f, i) > most) {
			most = speed_busy(f, i);
			who = &f->process[i];
		}
	return who;
}

static bool is_worker(const struct speedfacts *f, size_t i, size_t lead, const struct speed_process *ray)
{
	const struct speed_process *p = &f->process[i];
	if (p->role == ROLE_RAY_WORKER)
		return i != lead && is_ray_worker(p) && of_one_kind(p, ray);
	return p->parent == lead && i != lead && !p->main && role_serves(p->role);
}

static void pool_sweeps(const struct speedfacts *f, struct pool *p)
{
	size_t lead_only = 0, only = 0, two = 0, together = 0, width = 0;
	for (size_t i = 0; i < f->n_sweeps; i++) {
		bool lead = speed_runs_at(f, p->lead, i);
		size_t n = 0;
		for (size_t k = 0; k < p->n; k++)
			n += speed_runs_at(f, p->worker[k], i);
		lead_only += lead && n == 0;
		together += lead && n > 0;
		only += !lead && n > 0;
		two += !lead && n > 1;
		width += !lead ? n : 0;
	}
	const double all = (double)f->n_sweeps;
	p->lead_only = (double)lead_only / all;
	p->workers_only = (double)only / all;
	p->workers_two = (double)two / all;
	p->together = (double)together / all;
	p->width = only ? (double)width / (double)only : 0;
}

static void pool_worker(const struct speedfacts *f, size_t i, struct pool *p)
{
	double busy = speed_busy(f, i);
	p->worker[p->n] = i;
	p->busy[p->n++] = busy;
	p->mean += busy;
	p->used += busy >= 0.05;
	if (busy > p->most) {
		p->second = p->most;
		p->most = busy;
		p->busiest = i;
	} else {
		p->second = MAX(p->second, busy);
	}
	p->messages += f->process[i].writes;
	for (size_t k = 0; k < f->n_threads; k++)
		if (f->thread[k].process == i) {
			p->worker_run += f->thread[k].run;
			p->worker_system += f->thread[k].system;
			p->switches += f->thread[k].voluntary;
		}
}

static bool pool_of(const struct speedfacts *f, size_t lead, struct pool *ret)
{
	const struct speed_process *ray = busiest_of_ray(f);
	*ret = (struct pool){.lead = lead, .unseen = f->process[lead].role == ROLE_RAY_SYSTEM};
	for (size_t i = 0; i < f->n_processes && ret->n < POOL_MAX; i++)
		if (is_worker(f, i, lead, ray))
			pool_worker(f, i, ret);
	if (ret->n == 0)
		return false;
	ret->mean /= (double)ret->n;
	ret->lead_busy = speed_busy(f, lead);
	ret->lead_run = speed_run_of(f, lead);
	pool_sweeps(f, ret);
	return true;
}

/* How many times as much gets done by `want` workers at once as by `have`. */
static double gain(const struct speedview *v, double want, double have)
{
	return speed_fair(v, want) / MAX(speed_has(v, have), 0.01);
}

/* True if PyTorch's DataLoader says by the workers' names that they are its own. */
static bool are_named_loaders(const struct speedview *v, const struct pool *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (strcmp(v->f->process[p->worker[i]].name, "pt_data_worker") != 0)
			return false;
	return true;
}

/*
 * The main process of loaders computes on what they give, which is no handing out, and a batch of PyTorch's takes
 * several messages.
 */
static bool are_loaders(const struct speedview *v, const struct pool *p)
{
	return are_named_loaders(v, p) || (v->f->loader.workers > 0 && v->f->loader.process == p->lead);
}

static void loaders(const struct speedview *v, const struct pool *p, struct findings *all)
{
	double waits = p->workers_only;
	/* The main process of a pool has nothing else to do; one that trains on a GPU takes little of a processor. */
	double least_busy = are_named_loaders(v, p) ? 0.005 : 0.08;
	if (p->lead_busy < least_busy || waits < 0.15 || p->mean < 0.75 || p->lead_only > 0.15)
		return;
	/* What they would use with the processors alone is what they want to use. */
	double have = v->beside ? p->lead_run + p->worker_run : p->lead_busy + p->mean * (double)p->n;
	double speedup = MIN(1 / MAX(p->lead_busy, 0.01), speed_fair(v, v->cpus) / MAX(have, 0.01));
	struct finding *f =
		speed_add(v, all, "loader-bound", "high", speedup, 0,
			  "process %d waits for its %zu worker%s for %.0f %% of the time: they are busy all the "
			  "time and cannot keep up",
			  v->f->process[p->lead].pid, p->n, p->n == 1 ? "" : "s", waits * 100);
	if (!f)
		return;
	finding_evidence(f, "the workers are busy for %.0f %% of the time, the main process for %.0f %%", p->mean * 100,
			 p->lead_busy * 100);
	finding_evidence(f, "%.2f of %.2f processors are used", v->run, v->room);
	finding_advice(f,
		       "start %.0f workers (num_workers= of a DataLoader), or make each item cheaper: decode once and "
		       "keep the result, smaller images, less augmentation",
		       (double)p->n * speedup + 0.5);
}

/* The most time that a thread of the main process works, or waits until a worker takes what it writes. */
static double lead_hands_out(const struct speedfacts *f, size_t lead)
{
	double most = 0;
	for (size_t i = 0; i < f->n_threads; i++)
		if (f->thread[i].process == lead)
			most = MAX(most, speed_share(f, &f->thread[i], "Rw"));
	return most;
}

/* Large data go through the main process to the workers, which take longer to copy than to work on. */
static void main_bound(const struct speedview *v, const struct pool *p, struct findings *all)
{
	const struct speed_process *lead = &v->f->process[p->lead];
	const double bytes = lead->read_bytes + lead->write_bytes, hands_out = lead_hands_out(v->f, p->lead);
	if (p->n < 2 || hands_out < 0.7 || p->mean < 0.03 || p->worker_system < 0.3 * p->worker_run || bytes < 20e6 ||
	    bytes < 4096 * (lead->reads + lead->writes))
		return;
	struct finding *f = speed_add(v, all, "main-bound", "medium", 0, -hands_out,
				      "process %d is taken up for %.0f %% of the time with handing data to its %zu "
				      "workers, which spend %.0f %% of theirs on taking it",
				      lead->pid, hands_out * 100, p->n, 100 * p->worker_system / p->worker_run);
	if (!f)
		return;
	char size[16];
	finding_evidence(f, "it reads and writes %s/s; how fast the workers would be without is not seen",
			 size_format((uint64_t)bytes, size));
	finding_advice(f, "let the workers get the data themselves: hand them a file name or an index, or shared "
			  "memory (multiprocessing.shared_memory, torch's shared tensors, ray.put once for all)");
}

static void one_worker(const struct speedview *v, const struct pool *p, struct findings *all)
{
	if (p->n < 2 || p->most < 0.4 || p->second > 0.05 || p->lead_busy > 0.5 || p->workers_only < 0.4)
		return;
	double n = gain(v, (double)p->n, 1);
	struct finding *f = speed_add(v, all, "one-worker", p->unseen ? "medium" : "high",
				      1 / (1 - p->workers_only + p->workers_only / n), 0,
				      p->n == 2 ? "worker %d serves everything, and the other one has nothing to do"
						: "worker %d serves everything, and the other %zu have nothing to do",
				      v->f->process[p->busiest].pid, p->n - 1);
	if (!f)
		return;
	finding_evidence(f, "it is busy for %.0f %% of the time, the next one for %.0f %%; %s", p->most * 100,
			 p->second * 100,
			 p->unseen ? "who calls them is not of the job, so what waits is not seen"
				   : "the main process waits meanwhile");
	finding_advice(f,
		       "hand the tasks to all workers in turn; of calls to one actor, which runs them one after "
		       "another, make %zu actors",
		       p->n);
}

/*
 * True if a worker that works for some of the time mostly rests where only others of the job can end it. A request at
 * a socket may come at any time, from anywhere, and who sleeps does so by its own wish: these wait for nobody's task.
 */
static bool wait_for_work(const struct speedview *v, const struct pool *p)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct speed_thread *t = speed_lead_thread(v->f, p->worker[i]);
		if (t && p->busy[i] >= 0.05 && speed_share(v->f, t, "kps") > speed_share(v->f, t, "iLMG."))
			return false;
	}
	return true;
}

static void one_at_a_time(const struct speedview *v, const struct pool *p, struct findings *all)
{
	/* Where they wait for one lock, that is the reason. */
	if (p->used < 2 || p->workers_only < 0.5 || p->width > 1.08 || p->second < 0.1 ||
	    speed_found(all, "lock-contention") || !wait_for_work(v, p))
		return;
	double n = gain(v, (double)p->n, 1);
	struct finding *f =
		speed_add(v, all, "one-at-a-time", "medium", 1 / (1 - p->workers_only + p->workers_only / n), 0,
			  "the %zu workers of process %d work one after another, never two at once", p->n,
			  v->f->process[p->lead].pid);
	if (!f)
		return;
	finding_evidence(f, "while one works, %.2f work on average; each is busy for up to %.0f %% of the time",
			 p->width, p->most * 100);
	finding_advice(f, "hand out all tasks before waiting for the first result (a list of futures, then one ray.get "
			  "or gather for all)");
}

static void uneven_tasks(const struct speedview *v, const struct pool *p, struct findings *all)
{
	double want = MIN((double)p->n, v->room);
	if (p->used < 2 || p->lead_busy > 0.25 || p->workers_only < 0.75 || p->width <= 1.08 ||
	    p->width > 0.85 * want || !wait_for_work(v, p))
		return;
	double n = gain(v, (double)p->n, p->width);
	struct finding *f =
		speed_add(v, all, "uneven-tasks", "medium", 1 / (1 - p->workers_only + p->workers_only / n), 0,
			  "the tasks are of unequal length: on average %.1f of %zu workers work, and the rest "
			  "wait for the longest one",
			  p->width, p->n);
	if (!f)
		return;
	finding_evidence(f, "some worker works for %.0f %% of the time, all %zu seldom", p->workers_only * 100, p->n);
	finding_advice(f, "take results as they finish and hand out the next tasks at once (imap_unordered, "
			  "as_completed, ray.wait), begin with the longest, and split it if one alone decides the end");
}

static void serial(const struct speedview *v, const struct pool *p, struct findings *all)
{
	if (p->n < 2 || p->lead_only < 0.15 || p->workers_two < 0.15 || p->together > 0.1 ||
	    p->lead_only + p->workers_only < 0.7)
		return;
	double n = gain(v, (double)p->n, 1), s = p->lead_only;
	struct finding *f = speed_add(v, all, "serial-part", "medium", 1 / (1 - s + s / n), 0,
				      "process %d works alone for %.0f %% of the time while its %zu workers wait",
				      v->f->process[p->lead].pid, s * 100, p->n);
	if (!f)
		return;
	finding_evidence(
		f, "the workers work for %.0f %% of the time, %.1f of them at once; both at the same time: %.0f %%",
		p->workers_only * 100, p->width, p->together * 100);
	finding_advice(f,
		       "move that part into the tasks, or do it while the workers are busy with the next round; with "
		       "it the job will never be more than %.1f times as fast as it is, however many workers there are",
		       1 / s);
}

static void tiny(const struct speedview *v, const struct pool *p, struct findings *all)
{
	/* A worker writes a result for each task; where that may not be read, it waits at most once for each. */
	const double rate = MAX(p->messages, p->switches);
	const double work = MAX(p->worker_run - p->worker_system, 0.01);
	const double each_us = rate > 0 ? p->worker_run / rate * 1e6 : 0;
	if (rate < 500 || p->worker_run < 0.05 || each_us > 2000 || p->lead_run < 0.25 * work || p->lead_run < 0.1)
		return;
	/*
	 * What is left when only the work itself is done, by all workers at once. Had it the processors alone, the job
	 * would use more of them than it was given. A part of the work is still unpacking and packing, which is not
	 * seen apart: the gain is larger, so it only says what the finding costs.
	 */
	const double alone = MIN(v->room, v->run + v->queued) / MAX(v->run, 0.01);
	const double speedup = MIN((double)p->n, v->room) / (work * MAX(alone, 1));
	struct finding *f =
		speed_add(v, all, "tiny-tasks", "medium", 0, speedup > 1 ? 1 - 1 / speedup : 0,
			  "the tasks are too small: a worker works for %.0f us on each, and the main process for "
			  "%.0f us to hand it out",
			  each_us, p->lead_run / rate * 1e6);
	if (!f)
		return;
	finding_evidence(
		f,
		"%.0f results a second of %zu workers; the main process uses %.2f processors, the workers %.2f, "
		"%.2f of that in the kernel",
		rate, p->n, p->lead_run, p->worker_run, p->worker_system);
	finding_evidence(f,
			 "handed out many at once they would be done at least %.1f times as fast; how much more is not "
			 "seen, as unpacking a task looks like working on it",
			 speedup);
	finding_advice(
		f,
		"hand out %.0f of them at once (chunksize= of a Pool or executor, a loop inside the Ray task), so "
		"that a task takes 10 ms or more",
		MAX(10000 / MAX(each_us, 1), 2));
}

/* Tasks that are handed out: the main process has nothing to do but that. */
static void tasks(const struct speedview *v, const struct pool *p, struct findings *all)
{
	static void (*const rules[])(const struct speedview *, const struct pool *, struct findings *) = {
		tiny, one_worker, loaders, serial, one_at_a_time, uneven_tasks,
	};
	const size_t before = all->n;
	for (size_t i = 0; i < ARRAY_SIZE(rules) && all->n == before; i++)
		rules[i](v, p, all);
}

void speed_pool_rules(const struct speedview *v, struct findings *all)
{
	static struct pool p;
	for (size_t i = 0; i < v->f->n_processes; i++) {
		if (!v->f->process[i].main || !pool_of(v->f, i, &p))
			continue;
		const size_t before = all->n;
		if (p.unseen) {
			one_worker(v, &p, all);
			return;
		}
		main_bound(v, &p, all);
		if (all->n == before && are_loaders(v, &p))
			loaders(v, &p, all);
		else if (all->n == before)
			tasks(v, &p, all);
		return; /* ranks are alike: the first one speaks for all */
	}
}
