/* Time in which nobody works: sleeping, disks. */
#include "base/buf.h"
#include "judge/speed/speed_parts.h"

/* Number of sleeps that begin while the thread is watched. */
static size_t sleeps_of(const struct speedfacts *f, const struct speed_thread *t)
{
	size_t n = 0;
	for (size_t i = 1; i < f->n_sweeps; i++)
		n += t->at[i] == SPEED_SLEEP && t->at[i - 1] != SPEED_SLEEP;
	return n;
}

/* A process that works now and then, and sleeps in between while nobody else of the job works. */
static void sleeping(const struct speedview *v, struct findings *all)
{
	const struct speed_thread *lead = speed_lead_thread(v->f, v->lead);
	if (!lead || v->wanted < 0.08)
		return;
	double alone = speed_alone(v->f, lead, "s");
	if (alone < 0.2 || sleeps_of(v->f, lead) < 3 || v->f->n_processes < 2)
		return;
	struct finding *f =
		speed_add(v, all, "sleeping", "medium", 1 / (1 - MIN(alone, 0.98)), 0,
			  "the main thread of process %d sleeps for %.0f %% of the time while nothing of the job "
			  "works: it looks now and then whether something is done, instead of waiting for it",
			  v->f->process[v->lead].pid, alone * 100);
	if (!f)
		return;
	finding_evidence(f, "%.1f sleeps a second; %.2f processors are used",
			 (double)sleeps_of(v->f, lead) / v->f->watched_s, v->run);
	finding_advice(f, "wait for the event itself (queue.get, Event.wait, join, ray.wait, select) or sleep for a "
			  "shorter time; if the pauses are meant, all is well");
}

/* Waiting for a disk while nobody of the job works. */
static void disk(const struct speedview *v, struct findings *all)
{
	double worst = 0;
	const struct speed_thread *who = NULL;
	for (size_t i = 0; i < v->f->n_threads; i++) {
		const struct speed_thread *t = &v->f->thread[i];
		if (!v->f->process[t->process].main || speed_share(v->f, t, "Df") < 0.15)
			continue;
		double alone = speed_alone(v->f, t, "Df");
		if (alone > worst) {
			worst = alone;
			who = t;
		}
	}
	if (!who || worst < 0.15)
		return;
	struct finding *f =
		speed_add(v, all, "disk-wait", "medium", 1 / (1 - MIN(worst, 0.98)), 0,
			  "thread %d (%s) waits for files or a disk for %.0f %% of the time while nothing of the "
			  "job works",
			  who->tid, who->comm, worst * 100);
	if (!f)
		return;
	if (who->block > 0)
		finding_evidence(f, "the kernel counts %.0f %% of its time as waiting for disks", who->block * 100);
	finding_evidence(f, "the whole machine waits for disks with %.2f processors idle", v->f->machine.iowait);
	finding_advice(f, "read ahead in threads or loader processes, keep the data on a local disk or in memory, and "
			  "write less often (fsync after many records, checkpoints in the background)");
}

void speed_wait_rules(const struct speedview *v, struct findings *all)
{
	sleeping(v, all);
	disk(v, all);
}
