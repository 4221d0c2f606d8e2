#include "agent/incident/killreport.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "agent/guard/guardcase.h"
#include "agent/incident/prefetch.h"
#include "agent/heap/heapcase.h"
#include "agent/guard/memlock.h"
#include "agent/host/host.h"
#include "agent/memory/toprows.h"
#include "agent/stacks/snapshot.h"
#include "base/buf.h"
#include "base/log.h"
#include "judge/memory/advice.h"
#include "model/jobs/raytitle.h"
#include "sense/framework/rayworker.h"
#include "sense/proc/proc.h"
#include "tell/incident/report.h"

void killreport_common(const struct killreport *e, struct incident *in)
{
	struct raytitle title;
	/* the kernel keeps 15 bytes of the name of a task */
	if (raytitle_of(span_of(in->victim.command), &title))
		TEXT_COPY(in->victim.name, in->victim.command);
	TEXT_COPY(in->job, e->job->id);
	incident_advice_name_job(in);
	TEXT_COPY(in->node, e->job->node);
	host_ip(in->node_ip, sizeof(in->node_ip));
	in->attempt = e->job->attempt;
	if (e->nproc > 0)
		TEXT_FORMAT(in->log_dir, "%s/attempt-%u", e->recorder->job_dir, e->job->attempt);
}

void killreport_retry(const struct killreport *e, struct incident *in)
{
	in->retry.valid = true;
	in->retry.attempt = e->job->attempt;
	in->retry.max = e->retry_max;
	if (!e->retry) {
		in->retry.next = RETRY_NONE;
		TEXT_COPY(in->retry.reason,
			  e->job->adopted	? "vigil did not start this job"
			  : e->victims_stand ? "processes that SIGKILL was sent to have not ended yet"
					     : "the job went on after it");
		return;
	}
	in->retry.next = e->retry->next;
	in->retry.delay_ms = e->retry->delay_ns / NS_PER_MS;
	TEXT_COPY(in->retry.reason, e->retry->reason);
}

/* Time for reading the sizes of surviving processes (about 20 ms each), and their command lines. */
static const uint64_t pss_budget_ns = 40 * NS_PER_MS;

/* The guard goes on at a time that it has named: reading the frozen victim's stacks ends so much earlier. */
static const uint64_t stacks_margin_ns = 1 * NS_PER_MS;
/* Time for it where the victims run on until they end. */
static const uint64_t stacks_budget_ns = 35 * NS_PER_MS;
static const uint64_t tables_wait_ns = 5 * NS_PER_MS;
#define CASE_STACK_PIDS 64

static int32_t victim_rank(const struct guard_case *c, pid_t pid)
{
	for (size_t i = 0; i < c->incident.n_top; i++)
		if (c->incident.top[i].pid == pid)
			return c->incident.top[i].rank;
	return c->incident.victim.rank;
}

/* Wait until the guard has filled its tables (about 0.1 ms). Time out if the guard has died. */
static void wait_for_tables(const struct world *w, const struct guard_case *c)
{
	const uint64_t end_ns = w->mono_ns() + tables_wait_ns;
	const struct timespec pause = {.tv_nsec = 20000};
	while (!atomic_load(&c->described) && w->mono_ns() < end_ns)
		(void)nanosleep(&pause, NULL);
}

/* The guard knows command lines from its last sweep, and of processes that are new since then none. */
static void command_tell(const struct dump_process *p, struct incident *in)
{
	if (p->command[0] == '\0')
		return;
	if (in->victim.pid == p->pid)
		TEXT_COPY(in->victim.command, p->command);
	for (size_t i = 0; i < in->n_top; i++)
		if (in->top[i].pid == p->pid)
			TEXT_COPY(in->top[i].command, p->command);
}

static uint64_t stacks_budget(const struct world *w, const struct guard_case *c)
{
	if (!c->frozen)
		return stacks_budget_ns;
	return MAX(sub_floor(c->until_ns, w->mono_ns() + stacks_margin_ns), stacks_margin_ns);
}

/* Read the victims' stacks, the largest victim first. They are frozen, or are ended soon: the time is the guard's. */
static void victim_stacks(const struct killreport *e, struct guard_case *c)
{
	pid_t pids[CASE_STACK_PIDS];
	struct stackdump d;
	struct fault f = {.text = ""};
	struct snapshot_want want = {.pids = pids,
				     .frozen = c->frozen,
				     .progress = &c->progress,
				     .budget_ns = stacks_budget(e->w, c),
				     .views = &e->ahead->views,
				     .natives = e->ahead->views.natives};
	for (; want.n_pids < MIN((size_t)c->n_victims, ARRAY_SIZE(pids)); want.n_pids++)
		pids[want.n_pids] = c->victim[want.n_pids].pid;
	int r = snapshot_take(e->w, &want, &d, &f);
	wait_for_tables(e->w, c);
	if (r != 0)
		return; /* the report then has no stacks */
	for (size_t i = 0; i < d.n; i++) {
		d.processes[i].rank = victim_rank(c, d.processes[i].pid);
		command_tell(&d.processes[i], &c->incident);
		if (d.processes[i].stands)
			incident_evidence_add(&c->incident, "not_read", "stacks", 0, "the stacks of %s (pid %d): %s",
					      d.processes[i].name, (int)d.processes[i].pid, d.processes[i].note);
	}
	attachments_stacks(e->parts, &d);
}

/* Its file descriptors are closed with its end. */
static void victim_ray(const struct killreport *e, struct incident *in)
{
	struct rayworker r;
	if (in->victim.pid <= 0 || !rayworker_read(e->w, in->victim.pid, &r))
		return;
	TEXT_COPY(in->victim.ray_worker_id, r.worker_id);
	TEXT_COPY(in->victim.ray_job_id, r.job_id);
	TEXT_COPY(in->victim.ray_logs, r.logs);
	if (e->ray)
		raycases_learn(e->ray, e->w, in->victim.pid);
}

void killreport_look(const struct killreport *e, struct guard_case *c)
{
	atomic_store(&c->seen, CASE_SEEN_BEGUN);
	recorder_incident_id(e->recorder, e->job->id, c->incident.id, sizeof(c->incident.id));
	victim_ray(e, &c->incident);
	victim_stacks(e, c);
	e->ahead->draft = c->incident; /* the guard changes it once it goes on */
	atomic_store(&c->seen, CASE_SEEN_ALL);
}

void killreport_skeleton(const struct killreport *e)
{
	struct incident *in = &e->ahead->draft;
	killreport_common(e, in);
	TEXT_FORMAT(in->summary, "vigil is about to end %s (pid %d) for memory", in->victim.name, (int)in->victim.pid);
	recorder_skeleton(e->recorder, in, e->parts);
}

void killreport_show(const struct killreport *e, const struct incident *in)
{
	char path[512];
	cleanup(freep) char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	if (!f)
		return;
	recorder_report_path(e->recorder, in->id, path, sizeof(path));
	report_kill_message(in, path[0] || recorder_keeps(e->recorder), f);
	if (path[0])
		(void)fprintf(f, "vigil: the full report: %s\n", path);
	if (fclose(f) != 0)
		return;
	log_text(text, len);
}

void killreport_denied(struct recorder *k, const struct job *job, const struct guard_case *c)
{
	const char *name = c->incident.victim.name;
	int pid = (int)c->incident.victim.pid;
	log_warning("memory is over the threshold, but %s (pid %d) belongs to another user: vigil may not end it. Run "
		    "vigil as "
		    "that user, or as root",
		    name, pid);
	recorder_event(k, job, "hold_fire", NULL,
		       "over the threshold, but %s (pid %d) belongs to another user: not ended", name, pid);
}

void killreport_clamped(struct recorder *k, const struct job *job, bool loud)
{
	static const char text[] =
		"the kernel's memory numbers cannot be true (one is below zero, or larger than what it is part of): "
		"they are clamped, and the job is guarded by what that leaves";
	if (loud)
		log_warning("%s", text);
	recorder_event(k, job, "absurd_numbers", NULL, "%s", text);
}

/* Shared memory that is still charged to the job's own group. */
static uint64_t shm_charged(const struct killreport *e)
{
	struct cgroup g;
	struct cgroup_memory m;
	if (!e->group || cgroup_open(e->w, e->group->version, e->group->memory, &g) != 0)
		return 0;
	bool known = cgroup_read_full(&g, &m) == 0 && m.has_stat;
	cgroup_close(&g);
	return known ? m.shmem_bytes : 0;
}

void killreport_finish(const struct killreport *e, struct guard_case *c)
{
	static struct incident in;
	in = c->incident;
	killreport_common(e, &in);
	if (in.id[0] == '\0')
		recorder_incident_id(e->recorder, e->job->id, in.id, sizeof(in.id));
	in.victim.has_exit_code = e->has_status && WIFEXITED(e->wait_status);
	in.victim.exit_code = in.victim.has_exit_code ? WEXITSTATUS(e->wait_status) : 0;
	in.victim.signal = e->has_status && WIFSIGNALED(e->wait_status) ? WTERMSIG(e->wait_status) : 0;
	if (!e->has_status)
		in.victim.signal = SIGKILL;
	killreport_retry(e, &in);
	if (in.n_culprits == 0 && in.victim.rank != NO_RANK)
		in.culprit_ranks[in.n_culprits++] = in.victim.rank;
	toprows_read(e->w, in.top, in.n_top, pss_budget_ns);
	const struct shmheld_job whose = {.ended = c->victim,
					  .n_ended = MIN(c->n_victims, (uint32_t)GUARD_CASE_PIDS),
					  .since_unix_ms = e->job->started_unix_ms,
					  .uid = e->job->uid,
					  .charged_bytes = shm_charged(e)};
	prefetch_tell(e->ahead->sizes, e->w, &whose, &in);
	advice_memory_kill(&in, e->job->nproc);
	if (e->heap_folder && e->heap_folder[0] && c->n_victims)
		attachments_heap(e->parts, heapcase_json(e->w, e->heap_folder, c->victim,
							 MIN(c->n_victims, (uint32_t)GUARD_CASE_PIDS), in.victim.name));
	recorder_incident(e->recorder, &in, e->parts, true);
	atomic_store(&c->stored, 1);
	attachments_done(e->parts);
	if (e->ray)
		raycases_expect(e->ray, &in, e->w->mono_ns());
	TEXT_COPY(e->job->last_incident, in.id);
	recorder_event(e->recorder, e->job, "memory_kill", in.id, "%s", in.summary);
	killreport_show(e, &in);
}
