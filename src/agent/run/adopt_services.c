#include <signal.h>

#include "agent/run/adopt_parts.h"
#include "act/target.h"
#include "sense/proc/proc.h"
#include "sense/proc/slurmjob.h"

/* A job that hangs and is to be ended gets this long between SIGTERM and SIGKILL. */
static const uint64_t hang_grace_ns = 10 * NS_PER_S;

/*
 * Signals go through pidfds. A pidfd is taken first and the start time looked at afterwards (target_open), so that a
 * stranger who got a number of the job in between is not hit; whose the number was is known from the search.
 */
static void processes_signal(struct adopt *a, struct adopted *j, int signal)
{
	cleanup(freep) struct jobpids *pids = calloc(1, sizeof(*pids));
	if (!pids)
		return;
	const struct jobpids_want want = adopt_pids_want(a, j);
	jobpids_find(pids, a->w, &want, true);
	for (size_t i = 0; i < pids->n; i++) {
		struct proc_stat st;
		pid_t pid = pids->of[i].pid;
		if (proc_stat_read(a->w, pid, &st) != 0 || !jobpids_is(pids, i, st.ppid, st.start_ticks))
			continue;
		/* slurmstepd has to live: it reaps the step and tells Slurm of its end */
		if (j->slurm && slurmjob_is_stepd(st.comm))
			continue;
		struct target t = {.id = {pid, st.start_ticks}, .pidfd = -1};
		if (target_open(a->w, &t, true) == 0)
			ignore(target_signal(a->w, &t, signal), "it has ended, or belongs to somebody else");
		target_close(&t);
	}
}

static struct hangreport hangreport_of(struct adopt *a, struct adopted *j)
{
	return (struct hangreport){.w = a->w,
				   .recorder = &j->recorder,
				   .job = &j->job,
				   .quiet = a->spec->watch.quiet,
				   .autopsy = j->autopsy,
				   .next = ""};
}

static void hung_end(struct adopt *a, struct adopted *j, const struct incident *in)
{
	recorder_event(&j->recorder, &j->job, "hang_kill", in->id, "the job hangs and is ended (--on-hang kill)");
	j->kills++; /* its end needs no further explanation */
	j->job.other_deaths++;
	processes_signal(a, j, SIGTERM);
	processes_signal(a, j, SIGCONT);
	j->hard_ns = a->w->mono_ns() + hang_grace_ns;
}

static struct adopted *job_of(struct adopt *a, uint32_t job)
{
	return job < a->n && a->job[job].active ? &a->job[job] : NULL;
}

static void on_hang_incident(void *owner, const struct hang_message *m)
{
	static struct incident in; /* large */
	struct attachments parts = {.heap = NULL};
	struct adopt *a = owner;
	struct adopted *j = job_of(a, m->job);
	struct hangreport e = hangreport_of(a, j);
	bool asked = m->verdict.kind == HANG_HANG && a->spec->watch.on_hang == ON_HANG_KILL;
	bool ends = asked && hang_may_end(&a->services.hang.shm->settings, &m->verdict);
	e.unsure = asked && !ends;
	e.ends = ends ? "--on-hang kill" : NULL;
	if (ends)
		e.next = "The job is ended now, because --on-hang kill was given.";
	else if (asked)
		e.next = HANGREPORT_UNSURE;
	hangreport_incident(&e, m, &in, &parts);
	jobhang_keep(&j->hang, &m->verdict, &in, &parts);
	attachments_done(&parts);
	if (ends)
		hung_end(a, j, &in);
}

void adopt_hang_deadlines(struct adopt *a)
{
	for (uint32_t i = 0; i < a->n; i++) {
		struct adopted *j = &a->job[i];
		if (!j->active || j->hard_ns == 0 || a->w->mono_ns() < j->hard_ns)
			continue;
		j->hard_ns = 0;
		processes_signal(a, j, SIGKILL);
	}
}

static bool on_report(void *owner, uint32_t job, struct killreport *ret)
{
	struct adopt *a = owner;
	struct adopted *j = job_of(a, job);
	if (j)
		*ret = adopt_killreport(a, j);
	return j != NULL;
}

static void on_killed(void *owner, uint32_t job, struct guard_case *c)
{
	struct adopt *a = owner;
	struct adopted *j = &a->job[job];
	struct killreport e;
	if (!services_report(&a->services, c, &e))
		return;
	j->kills++;
	j->job.memory_kills++;
	killreport_finish(&e, c);
	recorder_job(&j->recorder, &j->job);
}

static bool on_hang(void *owner, uint32_t job, struct hangreport *ret, struct job_hang **ret_kept)
{
	struct adopt *a = owner;
	struct adopted *j = job_of(a, job);
	if (!j)
		return false;
	*ret = hangreport_of(a, j);
	*ret_kept = &j->hang;
	return true;
}

static void on_helpers_changed(void *owner)
{
	struct adopt *a = owner;
	for (uint32_t i = 0; i < a->n; i++)
		adopt_pass_on(a, i);
}

const struct services_ops adopt_ops = {
	.report = on_report,
	.killed = on_killed,
	.guard_started = on_helpers_changed,
	.hang = on_hang,
	.hang_incident = on_hang_incident,
	.helpers_changed = on_helpers_changed,
};
