#include <string.h>

#include "agent/incident/sigfeed.h"
#include "agent/run/super.h"
#include "base/buf.h"
#include "base/log.h"

static void want_fill(const struct super *s, struct sampler_want *want)
{
	const struct guard_shm *shm = s->services.guard.shm;
	*want = (struct sampler_want){
		.pids = {.root = getpid(), .cgroup = shm->jobs[0].has_group ? s->group.memory : NULL},
		.attempt = s->job.attempt,
		.node_used_bytes = shm->now.node_used_bytes,
		.node_total_bytes = shm->now.node_total_bytes,
		.job_bytes = shm->now.job_bytes[0],
		.group_version = s->group.version,
		.own = hangproc_own(&s->services.hang, 0),
		.steps = hangproc_steps(&s->services.hang, 0),
		.devices = hangproc_devices(&s->services.hang, 0),
		.autopsy = s->autopsy,
	};
	(void)services_helpers(&s->services, want->pids.not_ours);
	for (uint32_t i = 0; s->spec->nproc > 0 && i < s->nproc && want->n_ranks < SAMPLER_RANKS; i++) {
		want->rank[want->n_ranks].pid = s->rank[i].proc.pid;
		want->rank[want->n_ranks].start_ticks = s->rank[i].start_ticks;
		want->rank[want->n_ranks++].rank = s->rank[i].rank;
	}
}

static void complain_if(struct super *s, int r)
{
	if (r < 0)
		log_warning("cannot keep samples for the timeline in %s: %s", s->recorder.job_dir, strerror(-r));
}

void super_sample_begin(struct super *s)
{
	s->sampler = sampler_new(s->w, s->recorder.job_dir, s->sample_boot_ns);
}

/* A child of ours that the group does not have: whoever left it and then lost its parent. */
static bool stray_child(struct super *s)
{
	pid_t pids[64];
	size_t n = super_leftovers(s, pids, ARRAY_SIZE(pids));
	for (size_t i = 0; i < MIN(n, ARRAY_SIZE(pids)); i++)
		if (!sampler_has(s->sampler, pids[i]) && pids[i] != s->stray) {
			s->stray = pids[i];
			return true;
		}
	return false;
}

/* The guard knows who is of the job, and looks at once. */
static void leavers_tell(struct super *s)
{
	struct guard_shm *shm = s->services.guard.shm;
	if (!shm || !shm->jobs[0].has_group || s->services.guard.pid <= 0)
		return;
	bool known = s->services.away_told & 1;
	if ((known || !sampler_saw_leaver(s->sampler)) && !stray_child(s))
		return;
	atomic_store(&shm->sweep_wanted, 1);
	guardproc_wake(&s->services.guard);
}

/* How each ends is told where BPF does not tell it. */
static void ends_watch(struct super *s)
{
	struct sampler_gone p;
	struct process_end who = {.wait_status = 0};
	for (size_t i = 0; i < PROCESS_LIMITS; i++)
		who.soft_limit[i] = who.hard_limit[i] = UINT64_MAX;
	for (size_t i = 0; sampler_process(s->sampler, i, &p, &who.rank); i++) {
		who.pid = p.id.pid;
		who.start_ticks = p.id.start_ticks;
		who.parent = p.parent;
		who.start_unix_ms = p.started_unix_ms;
		TEXT_COPY(who.name, p.name);
		sigfeed_know(s->signals, &who);
	}
}

void super_sample(struct super *s)
{
	struct sampler_want want;
	want_fill(s, &want);
	complain_if(s, sampler_look(s->sampler, &want));
	services_ray_learn(&s->services, 0, sampler_one_of(s->sampler, ROLE_RAY_WORKER));
	ends_watch(s);
	livetell_changed(s->live);
	services_frameworks(&s->services, 0, &s->recorder, &s->job, &s->frameworks);
	leavers_tell(s);
}

void super_sample_last(struct super *s)
{
	struct sampler_want want;
	if (!s->sampler)
		return;
	want_fill(s, &want);
	complain_if(s, sampler_look_before_end(s->sampler, &want));
}

void super_sample_attempt_end(struct super *s)
{
	static struct hang_steps steps; /* large */
	struct sampler_want want;
	super_sample_last(s);
	if (!s->sampler)
		return;
	want_fill(s, &want);
	super_steps_last(s, &steps);
	want.steps = &steps;
	complain_if(s, sampler_steps_last(s->sampler, &want));
}

void super_sample_end(struct super *s)
{
	s->sampler = sampler_free(s->sampler);
}

uint64_t super_peak_bytes(const struct super *s)
{
	return MAX(s->services.guard.shm->now.job_peak_bytes[0], sampler_peak_bytes(s->sampler));
}
