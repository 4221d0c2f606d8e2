#include "judge/speed/tracejudge.h"

#include "base/buf.h"
#include "judge/speed/speed_parts.h"
#include "judge/speed/tracesum.h"

/* Part of the time that handing out may take when tasks are put together. */
#define HANDING_OUT 0.1

/* Pauses between the short tasks of a worker: what a task costs beside its work. */
static bool tiny(const struct traceview *v, struct findings *all)
{
	const struct tracesum *s = &v->sum;
	const double each = s->gap_s + s->median_s, worth = s->device ? TRACE_WORTH_DEVICE_S : TRACE_WORTH_S;
	if (s->tasks < 20 || s->median_s >= worth || s->median_s <= 0 || s->gap_s < 0.3 * each)
		return false;
	double batch = MAX(s->gap_s * (1 / HANDING_OUT - 1) / s->median_s, s->device ? 1 : worth / s->median_s);
	/* Only the time among short tasks becomes shorter. */
	const double left = (s->gap_s / batch + s->median_s) / each;
	const double speedup = s->span_s / MAX(s->span_s - s->short_s * (1 - left), 1e-9);
	struct finding *f =
		speed_add(NULL, all, "tiny-tasks", "high", speedup, 0,
			  "the tasks are too small: half of %zu take less than %.3g ms, and between two of them a "
			  "worker waits for %.3g ms",
			  s->tasks, s->median_s * 1e3, s->gap_s * 1e3);
	if (!f)
		return false;
	finding_evidence(f, "%.0f %% of a worker's time among them goes by between tasks", 100 * s->gap_s / each);
	finding_evidence(f, "most of them: %s, in %.3g s of %.3g s", v->f->name[v->short_name].text, s->short_s,
			 s->span_s);
	if (s->device)
		finding_advice(f, "the program cannot launch kernels fast enough: larger batches, fused kernels "
				  "(torch.compile), or CUDA graphs");
	else
		finding_advice(
			f,
			"put %.0f of them into one task (a loop inside it, chunksize=, map_batches), so that a task "
			"takes %.0f ms",
			batch, batch * s->median_s * 1e3);
	return true;
}

static void one_worker_advice(const struct traceview *v, struct finding *f)
{
	if (v->f->name[v->name].actor)
		finding_advice(f, "an actor runs its calls one after another: make several actors and hand the calls "
				  "out in turn (ray.util.ActorPool), or use tasks instead");
	else if (v->f->ray)
		finding_advice(f, "hand out all tasks before waiting for the first result: one ray.get of a list "
				  "instead of one in each turn of a loop; where that is so already, they ask for more "
				  "than the node has at once (num_cpus=)");
	else
		finding_advice(f, "hand the tasks to all workers in turn");
}

static bool one_worker(const struct traceview *v, struct findings *all)
{
	const struct tracesum *s = &v->sum;
	char text[160];
	const double most = v->busy_s[v->busiest];
	if (s->tasks < 3 || most < 0.9 * s->busy_s || most < 0.7 * s->span_s)
		return false;
	const size_t tasks = v->f->row[v->worker[v->busiest]].n;
	if (tasks < 3 || (s->workers == 1 && !v->f->ray))
		return false;
	/* Who is alone in the trace could have as many beside it as there are tasks. */
	double best = s->workers > 1 ? s->best_s : s->longest_s;
	struct finding *f =
		speed_add(NULL, all, "one-worker", s->workers > 1 ? "high" : "medium", s->span_s / MAX(best, 1e-9), 0,
			  "one worker does %zu of %zu tasks, one after another", tasks, s->tasks);
	if (!f)
		return false;
	finding_evidence(f, "%s is busy for %.0f %% of %.3g s",
			 trace_row_text(&v->f->row[v->worker[v->busiest]], text, sizeof(text)), 100 * most / s->span_s,
			 s->span_s);
	if (s->workers == 1)
		finding_evidence(
			f, "no other worker is in the trace; the gain is that of one worker for each task, and needs "
			   "as many processors");
	one_worker_advice(v, f);
	return true;
}

static bool one_at_a_time(const struct traceview *v, struct findings *all)
{
	const struct tracesum *s = &v->sum;
	if (s->workers < 2 || s->tasks < 4 || s->busy_s > 1.15 * s->any_s || v->busy_s[v->busiest] > 0.9 * s->busy_s)
		return false;
	struct finding *f = speed_add(NULL, all, "one-at-a-time", "medium", s->any_s / MAX(s->best_s, 1e-9), 0,
				      "%zu workers work one after another, hardly ever two at once", s->workers);
	if (!f)
		return false;
	finding_evidence(f, "%.2f of them work at once, on average over %.3g s", s->busy_s / s->any_s, s->any_s);
	finding_advice(
		f, "hand out all tasks before waiting for the first result: one ray.get of a list instead of one in "
		   "each turn of a loop");
	return true;
}

static bool trace_uneven(const struct traceview *v, struct findings *all)
{
	const struct tracesum *s = &v->sum;
	double width = s->any_s > 0 ? s->busy_s / s->any_s : 0;
	/* With about one task for each worker it is their start that spreads them. */
	if (s->workers < 2 || v->name_tasks < 2 * s->workers || width > 0.8 * (double)s->workers)
		return false;
	struct finding *f =
		speed_add(NULL, all, "uneven-tasks", "medium", s->any_s / MAX(s->best_s, 1e-9), 0,
			  "the tasks are of unequal length: on average %.1f of %zu workers work, and the rest wait",
			  width, s->workers);
	if (!f)
		return false;
	finding_evidence(f, "the longest task takes %.3g s, half of them less than %.3g s", s->longest_s, s->median_s);
	finding_evidence(f,
			 "handed out with the longest first and without waiting, the same tasks take %.3g s instead of "
			 "%.3g s",
			 s->best_s, s->any_s);
	finding_advice(
		f, "take results as they finish (ray.wait, as_completed, imap_unordered) and hand out the next tasks "
		   "at once; begin with the longest, and split it if it decides the end alone");
	return true;
}

static void idle(const struct traceview *v, struct findings *all)
{
	const struct tracesum *s = &v->sum;
	/* A single row of a program says what was recorded, not what was done. */
	if (s->span_s <= 0 || v->name_tasks < MAX(2 * s->workers, 3u) || (s->workers < 2 && !v->f->ray && !s->device))
		return;
	struct finding *f = speed_add(NULL, all, s->device ? "gpu-idle" : "idle-gaps", "medium",
				      s->span_s / MAX(s->any_s, 1e-9), 0, "for %.0f %% of the time no %s works at all",
				      100 * (1 - s->any_s / s->span_s), s->device ? "stream of a GPU" : "worker");
	if (!f)
		return;
	finding_evidence(f, "%.3g s of %.3g s, between the first task and the last", s->span_s - s->any_s, s->span_s);
	finding_advice(
		f, s->device ? "look for what the program does meanwhile: loading data, copies that it waits for, "
			       ".item() and printing in each step"
			     : "look for what the main program does meanwhile: a step of its own between two rounds "
			       "of tasks, or tasks that are handed out too late");
}

int trace_judge(const struct tracefacts *facts, struct tracesum *ret_sum, struct findings *ret)
{
	struct traceview v;
	int r = traceview_make(facts, &v);
	if (r == 0 && v.sum.tasks > 0) {
		bool tiny_tasks = tiny(&v, ret);
		if (!tiny_tasks && !v.sum.device && !one_worker(&v, ret) && !one_at_a_time(&v, ret))
			(void)trace_uneven(&v, ret);
		if (!tiny_tasks)
			idle(&v, ret);
		findings_sort_cost(ret);
	}
	*ret_sum = v.sum;
	traceview_done(&v);
	return r;
}
