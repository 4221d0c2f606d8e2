/* What the job's own output says, and whether the head node of a Ray cluster does work of its own. */
#include <string.h>

#include "base/buf.h"
#include "judge/speed/speed_parts.h"

static void loss_broken(const struct speedview *v, struct findings *all)
{
	const struct speed_steps *s = &v->f->steps;
	if (!s->broken)
		return;
	struct finding *f = speed_add(v, all, "loss-broken", "high", 0, 1,
				      "the loss is %s: all that is computed from here on is lost",
				      s->infinite ? "infinite" : "not a number (NaN)");
	if (!f)
		return;
	if (s->has_broken_step)
		finding_evidence(f, "first seen at step %llu of its output", (unsigned long long)s->broken_step);
	finding_advice(f, "end it and go back to the last checkpoint from before; lower the learning rate, clip "
			  "gradients, look for bad input; stop on a NaN in the program itself");
}

static void slower(const struct speedview *v, struct findings *all)
{
	const struct speed_steps *s = &v->f->steps;
	/* Where others take the processors, that alone makes steps longer. */
	const double stretch = v->run > 0 ? (v->run + v->queued) / v->run : 1;
	if (!s->has_rate || s->rate_before <= 0 || s->rate_now <= 0 || s->rate_now * stretch > 0.6 * s->rate_before)
		return;
	/* How fast they would be is not told: the mean from the start has slow ones in it. */
	struct finding *f = speed_add(v, all, "steps-slower", "medium", 0, 1 - s->rate_now / s->rate_before,
				      "the steps slow down: %.2f a second now, %.2f a second from the start until now",
				      s->rate_now, s->rate_before);
	if (!f)
		return;
	finding_evidence(f, "at step %llu of its output", (unsigned long long)s->step);
	finding_advice(
		f, "look for what grows with the steps: lists that are appended to, losses that are kept with their "
		   "graph (loss.item()), logs; `vigil flame JOB` says where the time goes now, `vigil mem JOB` "
		   "whether memory grows");
}

/*
 * A daemon of `ray start` has no parent in the job. One that the program has started for itself (ray.init() without an
 * address) serves no other nodes, and its tasks have nowhere else to run.
 */
static void head(const struct speedview *v, struct findings *all)
{
	double work = 0;
	bool gcs = false;
	for (size_t i = 0; i < v->f->n_processes; i++) {
		const struct speed_process *p = &v->f->process[i];
		gcs |= p->role == ROLE_RAY_SYSTEM && strncmp(p->name, "gcs_server", 10) == 0 &&
		       (p->parent == SIZE_MAX || v->f->process[p->parent].role != ROLE_MAIN);
		work += p->role == ROLE_RAY_WORKER ? speed_run_of(v->f, i) : 0;
	}
	if (!gcs || work < 0.5 || v->wanted < v->room)
		return;
	struct finding *f = speed_add(v, all, "head-node-works", "medium", 0, -SPEED_LEAST_COST,
				      "Ray's head node, which serves the whole cluster, runs tasks as well and has no "
				      "processor left");
	if (!f)
		return;
	finding_evidence(f, "gcs_server runs here; workers use %.1f of %.1f processors", work, v->room);
	finding_advice(f, "ray start --head --num-cpus=0 (or num-cpus: 0 of the head group) keeps tasks away from it, "
			  "where the cluster has other nodes for them");
}

void speed_step_rules(const struct speedview *v, struct findings *all)
{
	loss_broken(v, all);
	slower(v, all);
	head(v, all);
}
