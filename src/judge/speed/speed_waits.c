/* Time in which nobody works: sleeping, disks, readers of what is written. */
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

/* True if a thread beside this one works now and then: something that may be waited for. */
static bool others_work(const struct speedfacts *f, const struct speed_thread *lead)
{
	for (size_t i = 0; i < f->n_threads; i++)
		if (&f->thread[i] != lead && speed_share(f, &f->thread[i], "R") >= 0.05)
			return true;
	return false;
}

/* A process that works now and then, and sleeps in between while nobody else of the job works. */
static void sleeping(const struct speedview *v, struct findings *all)
{
	const struct speed_thread *lead = speed_lead_thread(v->f, v->lead);
	if (!lead || v->wanted < 0.08)
		return;
	double alone = speed_alone(v->f, lead, "s");
	if (alone < 0.2 || sleeps_of(v->f, lead) < 3 || (v->f->n_processes < 2 && !others_work(v->f, lead)))
		return;
	struct finding *f =
		speed_add(v, all, "sleeping", "medium", speed_without_wait(v, lead, alone), 0,
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

/* The thread of a main process that most often waits like this while nobody of the job works; NULL: none does. */
static const struct speed_thread *worst_alone(const struct speedfacts *f, const char *letters, double *ret_part)
{
	const struct speed_thread *who = NULL;
	*ret_part = 0.15;
	for (size_t i = 0; i < f->n_threads; i++) {
		const struct speed_thread *t = &f->thread[i];
		if (!f->process[t->process].main || speed_share(f, t, letters) < *ret_part)
			continue;
		double alone = speed_alone(f, t, letters);
		if (alone >= *ret_part) {
			*ret_part = alone;
			who = t;
		}
	}
	return who;
}

/* Waiting until somebody takes what is written. */
static void output(const struct speedview *v, struct findings *all)
{
	double worst;
	const struct speed_thread *who = worst_alone(v->f, "w", &worst);
	/* Who only passes on what others give is meant to go at their pace. */
	if (!who || v->wanted < 0.08)
		return;
	struct finding *f =
		speed_add(v, all, "output-wait", "medium", speed_without_wait(v, who, worst), 0,
			  "thread %d (%s) waits for %.0f %% of the time until somebody takes what it has written to a "
			  "pipe, socket or terminal, while nothing of the job works",
			  who->tid, who->comm, worst * 100);
	if (!f)
		return;
	finding_evidence(f, "its process writes %.0f bytes a second in %.0f calls",
			 v->f->process[who->process].write_bytes, v->f->process[who->process].writes);
	finding_advice(f,
		       "write less (fewer log lines, larger steps between them), write to a file instead of a pipe or "
		       "terminal, or make the reader faster; `vigil waits %d` says who reads it",
		       v->f->process[who->process].pid);
}

/* Waiting for a disk while nobody of the job works. */
static void disk(const struct speedview *v, struct findings *all)
{
	double worst;
	const struct speed_thread *who = worst_alone(v->f, "Df", &worst);
	if (!who)
		return;
	struct finding *f =
		speed_add(v, all, "disk-wait", "medium", speed_without_wait(v, who, worst), 0,
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
	output(v, all);
}
