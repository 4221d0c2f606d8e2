#include <string.h>

#include "agent/run/super.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/path.h"
#include "judge/death/consequence.h"

void super_guard_job(struct super *s)
{
	struct guard_shm *shm = s->services.guard.shm;
	struct guard_job *g = &shm->jobs[0];
	shm->n_jobs = 1;
	TEXT_COPY(g->id, s->job.id);
	TEXT_COPY(g->name, s->job.name);
	g->has_group = s->group.version != CGROUP_NONE;
	g->group = s->group;
	g->limit_bytes = s->spec->watch.guard.limit_bytes;
	g->place = s->place;
	if (s->group.scope.holder > 0) { /* a systemd scope is not below our own group, so other limits apply to it */
		TEXT_COPY(g->place.memory, s->group.memory);
		ignore(path_cut(g->place.memory), "a scope has a parent");
	}
	g->unit = (struct unit_job){.retriable = s->spec->retry.max > 0, .reaper = getpid()};
}

void super_not_ours(struct super *s)
{
	struct unit_job *u = &s->services.guard.shm->jobs[0].unit;
	_Static_assert(ARRAY_SIZE(u->not_ours) >= SERVICES_HELPERS, "room for all helpers");
	u->n_not_ours = services_helpers(&s->services, u->not_ours);
}

struct killreport super_killreport(struct super *s)
{
	return (struct killreport){.w = s->w,
				   .recorder = &s->recorder,
				   .job = &s->job,
				   .nproc = s->nproc,
				   .quiet = s->spec->watch.quiet,
				   .retry_max = s->spec->retry.max,
				   .heap_folder = s->tools.heap.files.folder};
}

/* True if this kill hit processes left behind after all ranks had ended well. */
static bool only_rest(const struct super *s, const struct guard_case *c)
{
	struct consequence_rank rank[SUPER_RANKS];
	for (uint32_t i = 0; i < s->nproc; i++)
		rank[i] = (struct consequence_rank){s->rank[i].running, s->rank[i].ended_unix_ms};
	return consequence_only_rest(rank, s->nproc, s->attempts.first_failed >= 0, c->incident.time_unix_ms);
}

void super_killed(struct super *s, struct guard_case *c)
{
	s->kills.n++;
	s->job.memory_kills++;
	s->tally.kills++;
	if (s->kills.pending && s->kills.pending != c)
		super_finish_case(s, s->kills.pending, NULL); /* that kill did not free enough */
	s->kills.pending = c;
	s->kills.rest_killed |= only_rest(s, c);
	s->kills.pending_since_ns = s->kills.last_ns = s->w->mono_ns();
	s->kills.last_victim = c->incident.victim.pid;
}

static void memory_end_note(struct super *s, struct rank *r)
{
	if (!WIFSIGNALED(r->wait_status) || WTERMSIG(r->wait_status) != SIGKILL)
		return;
	TEXT_COPY(r->row.ended_for, ENDED_FOR_MEMORY);
	recorder_process(&s->recorder, &r->row);
}

static uint64_t victim_start_ticks(const struct guard_case *c)
{
	for (uint32_t i = 0; i < MIN(c->n_victims, (uint32_t)GUARD_CASE_PIDS); i++)
		if (c->victim[i].pid == c->incident.victim.pid)
			return c->victim[i].start_ticks;
	return 0;
}

/* A rank that a launcher started: the launcher alone is told how it ended, and vigil knows, as it has ended it. */
static void launched_end_note(struct super *s, const struct guard_case *c)
{
	const struct incident *in = &c->incident;
	const uint64_t start_ticks = victim_start_ticks(c);
	if (s->kills.stand || in->victim.rank == NO_RANK || start_ticks == 0)
		return;
	const uint64_t lived_ns = sub_floor(clock_boot_ns(), start_ticks * (NS_PER_S / s->w->ticks_per_s));
	struct job_process row = {.attempt = in->attempt,
				  .pid = in->victim.pid,
				  .start_ticks = start_ticks,
				  .rank = in->victim.rank,
				  .own_bytes = in->victim.own_bytes,
				  .rss_bytes = in->victim.rss_bytes,
				  .shared_bytes = in->victim.shared_bytes,
				  .swap_bytes = in->victim.swap_bytes,
				  .started_unix_ms = s->w->unix_ms() - (int64_t)(lived_ns / NS_PER_MS),
				  .ended_unix_ms = in->time_unix_ms + (int64_t)(in->action.dead_us / 1000),
				  .has_status = true,
				  .wait_status = SIGKILL};
	TEXT_COPY(row.job, s->job.id);
	TEXT_COPY(row.role, "main");
	TEXT_COPY(row.name, in->victim.name);
	TEXT_COPY(row.command, in->victim.command);
	TEXT_COPY(row.ended_for, ENDED_FOR_MEMORY);
	recorder_process(&s->recorder, &row);
}

void super_finish_case(struct super *s, struct guard_case *c, const struct retry_decision *retry)
{
	struct killreport e;
	if (!services_report(&s->services, c, &e))
		return;
	e.retry = retry;
	e.victims_stand = s->kills.stand;
	bool own = false; /* one that vigil started itself */
	for (uint32_t i = 0; i < s->nproc; i++)
		own |= s->rank[i].proc.pid == c->incident.victim.pid;
	if (!own)
		launched_end_note(s, c);
	s->kills.stand = false;
	for (uint32_t i = 0; i < s->nproc; i++)
		if (s->rank[i].proc.pid == c->incident.victim.pid && !s->rank[i].running) {
			e.has_status = true;
			e.wait_status = s->rank[i].wait_status;
			memory_end_note(s, &s->rank[i]);
		}
	killreport_finish(&e, c);
	s->kills.pending = NULL;
}
