#include <signal.h>
#include <string.h>

#include "agent/incident/deathfacts.h"
#include "agent/run/adopt_parts.h"
#include "base/buf.h"
#include "sense/proc/proc.h"

/* A worker stays in the list until its raylet has asked for its status. */
static const uint64_t gone_late_ns = 15 * NS_PER_S;
#define WORKERS_AT_ONCE 8

/* A signal that is handled may end a worker so much later. */
static const uint64_t handled_ns = 30 * NS_PER_S;
/* Who stops the whole node ends the raylet at about the same time as the workers. */
static const uint64_t node_stop_ns = NS_PER_S, node_stops_ns = 60 * NS_PER_S;

/* told: what its killer wrote, with its whole name; NULL: nothing. */
static void worker_autopsy(struct adopt *a, struct adopted *j, const struct sampler_gone *gone, int after_signal,
			   const struct killer_line *told, struct incident *ret)
{
	char name[sizeof(told->name) + 8];
	TEXT_COPY(name, gone->name);
	if (told)
		TEXT_FORMAT(name, "ray::%s", told->name);
	memset(ret, 0, sizeof(*ret));
	const struct autopsy_subject who = {
		.job = j->job.id,
		.pid = gone->id.pid,
		.rank = NO_RANK,
		.start_ticks = gone->id.start_ticks,
		.name = name,
		.command = name,
		.after_signal = after_signal,
		.start_unix_ms = gone->started_unix_ms,
		.end_unix_ms = a->w->unix_ms(),
		.cgroup = j->place.name,
		.rules = a->spec->watch.rules,
		.store = recorder_store(&j->recorder),
		.job_dir = j->recorder.job_dir,
		.told = told,
	};
	autopsy_of(j->autopsy, &who, ret);
}

/*
 * A user's node decides how many workers end, and what its log says: reports have a limit, so that they fill neither
 * the disk nor anybody's mailbox.
 */
static bool report_has_room(struct adopt *a, struct adopted *j)
{
	static const struct reportroom_limit of_node = {.at_once = 32, .each_ns = 30 * NS_PER_S},
					     of_user = {.at_once = 64, .each_ns = 15 * NS_PER_S};
	const uint64_t now_ns = a->w->mono_ns();
	struct reportroom *users = j->job.uid ? reportrooms_of(&a->worker_reports, j->job.uid, of_user, now_ns) : NULL;
	const bool node_has = reportroom_has(&j->worker_reports, of_node, now_ns),
		   user_has = !users || reportroom_has(users, of_user, now_ns);
	if (node_has && user_has) {
		reportroom_take(&j->worker_reports);
		if (users)
			reportroom_take(users);
		return true;
	}
	const struct reportroom_limit limit = node_has ? of_user : of_node;
	if (!j->worker_reports.told)
		recorder_event(&j->recorder, &j->job, "reports_end", NULL,
			       "%u workers%s have ended soon after each other: from here on one in %u s has a report",
			       limit.at_once, node_has ? " of this user's nodes" : "",
			       (unsigned)(limit.each_ns / NS_PER_S));
	j->worker_reports.told = true;
	return false;
}

/* also: what the event says after the summary. */
static void worker_report(struct adopt *a, struct adopted *j, struct incident *in, const char *also)
{
	struct killreport e = adopt_killreport(a, j);
	struct raycases *ray = &a->services.ray[j - a->job];
	if (!report_has_room(a, j))
		return;
	killreport_common(&e, in);
	raycases_victim(ray, in);
	j->job.other_deaths++;
	recorder_incident_id(&j->recorder, j->job.id, in->id, sizeof(in->id));
	recorder_incident(&j->recorder, in, NULL, true);
	raycases_expect(ray, in, a->w->mono_ns());
	TEXT_COPY(j->job.last_incident, in->id);
	recorder_event(&j->recorder, &j->job, incident_kind_name(in->kind), in->id, "%s%s", in->summary, also);
	recorder_job(&j->recorder, &j->job);
	if (!a->spec->watch.quiet)
		killreport_show(&e, in);
}

/* Nobody of ours reaps it: its status is not known, and the kernel's log says whom it killed. */
static void worker_died(struct adopt *a, struct adopted *j, const struct sampler_gone *gone)
{
	static struct incident in; /* large */
	worker_autopsy(a, j, gone, 0, NULL, &in);
	if (in.killer == KILLER_KERNEL || in.killer == KILLER_CGROUP)
		worker_report(a, j, &in, "");
}

/* ---- ended by a signal that was seen ---- */

static bool is_fault(int signal)
{
	return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE || signal == SIGABRT;
}

/*
 * Ray ends its idle workers, those of a program that is over, and some for memory, by signals of the raylet. What vigil
 * ends has a report, and so has what the kernel kills for memory.
 */
static bool is_told_of(const struct adopted *j, const struct sampler_gone *worker, const struct signal_sent *s)
{
	if (s->from_kernel)
		return is_fault(s->signal);
	if (s->sender == worker->id.pid)
		return is_fault(s->signal) || s->signal == SIGKILL;
	return s->sender != j->id.pid && s->sender != worker->parent && strncmp(s->sender_comm, "vigil", 5) != 0;
}

/*
 * A worker tells its title when a task begins, which is newer than the last sample, and keeps it until its raylet has
 * asked for its status. One that no sample has had is known by its title and its raylet.
 */
static bool worker_of(const struct adopt *a, const struct adopted *j, struct proc_id id, struct sampler_gone *ret)
{
	struct proc_stat st;
	const bool had = sampler_had(j->sampler, id, ROLE_RAY_WORKER, ret);
	if (!proc_is_same(a->w, id, &st) || !span_starts(span_of(st.comm), "ray::"))
		return had;
	if (!had && st.ppid != j->id.pid)
		return false;
	if (!had)
		*ret = (struct sampler_gone){.id = id, .parent = st.ppid};
	TEXT_COPY(ret->name, st.comm);
	return true;
}

static void signal_note(struct adopt *a, struct adopted *j, const struct signal_sent *s)
{
	const struct proc_id id = {s->target, s->target_start_ticks};
	struct adopt_dying d = {.sent = *s, .since_ns = a->w->mono_ns()};
	size_t at = 0;
	if (j->id.pid && id.pid == j->id.pid && id.start_ticks == j->id.start_ticks)
		j->stops_until_ns = d.since_ns + node_stops_ns;
	if (!worker_of(a, j, id, &d.worker) || !is_told_of(j, &d.worker, s))
		return;
	while (at < j->n_dying && j->dying[at].worker.id.pid != id.pid)
		at++;
	if (at == ADOPT_DYING || (at < j->n_dying && j->dying[at].sent.signal == SIGKILL))
		return;
	j->dying[at] = d;
	j->n_dying = MAX(j->n_dying, at + 1);
}

static void ended_tell(struct adopt *a, struct adopted *j, const struct adopt_dying *d)
{
	static struct incident in; /* large */
	worker_autopsy(a, j, &d->worker, d->sent.signal, NULL, &in);
	incident_advice_add(&in, "Nothing, if Ray may start it again by itself: it runs a task again as often as its "
				 "max_retries says, and restarts an actor as often as its max_restarts says.");
	worker_report(a, j, &in, " Ray itself may start it again.");
}

/* Those that have ended are told of once it is clear that the node goes on; those that live on are forgotten. */
static void dying_look(struct adopt *a, struct adopted *j, uint64_t now_ns)
{
	size_t kept = 0;
	if (now_ns < j->stops_until_ns)
		j->n_dying = 0;
	for (size_t i = 0; i < j->n_dying; i++) {
		const struct adopt_dying d = j->dying[i];
		const bool over = proc_has_ended(a->w, d.worker.id);
		if (over && now_ns >= d.since_ns + node_stop_ns)
			ended_tell(a, j, &d);
		else if (over || now_ns < d.since_ns + handled_ns)
			j->dying[kept++] = d;
	}
	j->n_dying = kept;
}

void adopt_workers_signalled(struct adopt *a)
{
	const uint64_t now_ns = a->w->mono_ns();
	for (uint32_t i = 0; i < a->n; i++) {
		struct adopted *j = &a->job[i];
		const struct signal_sent *s;
		if (!j->active || !j->autopsy || !j->sampler)
			continue;
		while ((s = autopsy_signal_next(j->autopsy, &j->signals_at)) != NULL)
			signal_note(a, j, s);
		dying_look(a, j, now_ns);
	}
}

/* ---- ended by Ray for memory ---- */

/* The log is the user's, and may name anybody. */
static bool is_of_others(const struct adopt *a, const struct adopted *j, pid_t pid)
{
	struct proc_status st;
	return proc_status_read(a->w, pid, &st) == 0 && st.uid != j->job.uid;
}

static void ray_killed(struct adopt *a, struct adopted *j, const struct killer_line *l)
{
	static struct incident in; /* large */
	if (is_of_others(a, j, l->pid))
		return;
	const struct sampler_gone worker = {.id = {.pid = l->pid}, .started_unix_ms = j->job.started_unix_ms};
	worker_autopsy(a, j, &worker, SIGKILL, l, &in);
	if (in.killer == KILLER_RAY)
		worker_report(a, j, &in, "");
}

/* Its program is told nothing where Ray tries again, and nothing of the process is left: the raylet's log says it. */
static void ray_kills(struct adopt *a, struct adopted *j)
{
	static struct killer_line line[WORKERS_AT_ONCE]; /* large */
	struct raycases *ray = &a->services.ray[j - a->job];
	size_t n = rayoom_read(&ray->logs, &ray->oom, a->w->unix_ms(), line, ARRAY_SIZE(line));
	for (size_t i = 0; i < n; i++)
		if (line[i].pid > 0)
			ray_killed(a, j, &line[i]);
}

/* ---- ended by the kernel for memory ---- */

void adopt_workers(struct adopt *a, struct adopted *j)
{
	struct sampler_gone gone[WORKERS_AT_ONCE];
	uint64_t kills, now_ns = a->w->mono_ns();
	const bool has_ray = a->services.ray[j - a->job].logs.fd >= 0;
	if (has_ray && j->autopsy)
		ray_kills(a, j);
	if (!has_ray || !j->autopsy || !deathfacts_oom_kills(a->w, &kills))
		return;
	if (j->has_oom_kills && kills > j->oom_kills)
		j->oom_until_ns = now_ns + gone_late_ns;
	j->has_oom_kills = true;
	j->oom_kills = kills;
	if (now_ns >= j->oom_until_ns)
		return;
	size_t n = sampler_gone(j->sampler, ROLE_RAY_WORKER, gone, ARRAY_SIZE(gone));
	for (size_t i = 0; i < n; i++)
		worker_died(a, j, &gone[i]);
}
