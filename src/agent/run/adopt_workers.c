#include <string.h>

#include "agent/incident/deathfacts.h"
#include "agent/run/adopt_parts.h"
#include "base/buf.h"

/* A worker stays in the list until its raylet has asked for its status. */
static const uint64_t gone_late_ns = 15 * NS_PER_S;
#define WORKERS_AT_ONCE 8

/* Nobody of ours reaps it: its status is not known, and the kernel's log says whom it killed. */
static void worker_died(struct adopt *a, struct adopted *j, const struct sampler_gone *gone)
{
	static struct incident in; /* large */
	memset(&in, 0, sizeof(in));
	const struct autopsy_subject who = {
		.job = j->job.id,
		.pid = gone->id.pid,
		.rank = NO_RANK,
		.start_ticks = gone->id.start_ticks,
		.name = gone->name,
		.command = gone->name,
		.start_unix_ms = gone->started_unix_ms,
		.end_unix_ms = a->w->unix_ms(),
		.cgroup = j->place.name,
		.rules = a->spec->watch.rules,
	};
	struct killreport e = adopt_killreport(a, j);
	struct raycases *ray = &a->services.ray[j - a->job];
	autopsy_of(j->autopsy, &who, &in);
	if (in.killer != KILLER_KERNEL && in.killer != KILLER_CGROUP)
		return;
	killreport_common(&e, &in);
	raycases_victim(ray, &in);
	j->job.other_deaths++;
	recorder_incident_id(&j->recorder, j->job.id, in.id, sizeof(in.id));
	recorder_incident(&j->recorder, &in, NULL, true);
	raycases_expect(ray, &in, a->w->mono_ns());
	TEXT_COPY(j->job.last_incident, in.id);
	recorder_event(&j->recorder, &j->job, incident_kind_name(in.kind), in.id, "%s", in.summary);
	recorder_job(&j->recorder, &j->job);
	if (!a->spec->watch.quiet)
		killreport_show(&e, &in);
}

void adopt_workers(struct adopt *a, struct adopted *j)
{
	struct sampler_gone gone[WORKERS_AT_ONCE];
	uint64_t kills, now_ns = a->w->mono_ns();
	const bool has_ray = a->services.ray[j - a->job].logs.fd >= 0;
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
