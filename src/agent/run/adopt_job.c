#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "act/target.h"
#include "agent/host/host.h"
#include "agent/incident/story.h"
#include "agent/run/adopt_parts.h"
#include "agent/run/runprotect.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mask/mask.h"
#include "sense/proc/proc.h"
#include "sense/proc/procfile.h"
#include "tell/jobs/job_json.h"

/* A kill's numbers are complete within milliseconds; for a victim that stands the guard itself waits for 2 s. */
static const uint64_t case_wait_ns = 4 * NS_PER_S;

/*
 * Whose job it is, and who may read its reports: the user of the process, or of all processes of the group and below
 * it. Ourselves where they are several users', more than are looked at, or nobody is there yet.
 */
static uid_t owner_of(const struct adopt *a, const struct adopted *j)
{
	static pid_t pids[4096];
	size_t n = 0;
	uid_t owner = geteuid(), user;
	if (j->id.pid)
		return procfile_owner(a->w, j->id.pid, &user) == 0 ? user : owner;
	if (cgroup_tree_pids(a->w, j->cgroup, pids, ARRAY_SIZE(pids), &n) != 0 || n > ARRAY_SIZE(pids))
		return owner;
	for (size_t i = 0; i < n; i++) {
		if (procfile_owner(a->w, pids[i], &user) != 0 || (i > 0 && user != owner))
			return geteuid();
		owner = user;
	}
	return owner;
}

static void job_describe(struct adopt *a, struct adopted *j, const char *name, const char *command)
{
	TEXT_COPY(j->job.name, name);
	mask_text(j->job.name);
	host_job_id(j->job.name, j->job.id, sizeof(j->job.id));
	TEXT_COPY(j->job.command, command);
	host_name(j->job.node, sizeof(j->job.node));
	j->job.uid = owner_of(a, j);
	host_user_of(j->job.uid, j->job.user, sizeof(j->job.user));
	j->job.adopted = true;
	j->job.pid = j->id.pid;
	j->job.state = JOB_RUNNING;
	j->job.started_unix_ms = a->w->unix_ms();
	j->start_boot_ns = clock_boot_ns();
	j->job.supervisor_pid = getpid();
	struct proc_stat st;
	if (proc_stat_read(a->w, getpid(), &st) == 0)
		j->job.supervisor_start_ticks = st.start_ticks;
}

static void guard_pass_on(struct adopt *a, uint32_t i)
{
	struct adopted *j = &a->job[i];
	struct guard_shm *shm = a->services.guard.shm;
	guardproc_jobs_begin(&a->services.guard);
	struct guard_job *g = &shm->jobs[i];
	*g = (struct guard_job){.group = JOBGROUP_NONE, .limit_bytes = a->spec->watch.guard.limit_bytes};
	TEXT_COPY(g->id, j->job.id);
	TEXT_COPY(g->name, j->job.name);
	TEXT_COPY(g->adopted_cgroup, j->cgroup);
	g->adopted_number = j->cgroup_number;
	g->place = j->place;
	g->unit = (struct unit_job){.active = j->active};
	if (j->id.pid) {
		g->unit.roots[0] = j->id.pid;
		g->unit.root_start_ticks[0] = j->id.start_ticks;
		g->unit.ranks[0] = NO_RANK;
		g->unit.n_roots = 1;
	}
	_Static_assert(UNIT_ROOTS_MAX > JOBPIDS_ALSO, "room for all roots");
	for (size_t k = 0; k < j->n_also; k++) {
		size_t n = g->unit.n_roots++;
		g->unit.roots[n] = j->also[k].pid;
		g->unit.root_start_ticks[n] = j->also[k].start_ticks;
		g->unit.ranks[n] = NO_RANK;
	}
	_Static_assert(ARRAY_SIZE(g->unit.not_ours) > SERVICES_HELPERS, "room for all helpers and the parent");
	size_t n = services_helpers(&a->services, g->unit.not_ours);
	g->unit.not_ours[n++] = getppid(); /* the shell or service that started us may live in the watched group */
	g->unit.n_not_ours = n;
	shm->n_jobs = MAX(shm->n_jobs, i + 1);
	guardproc_jobs_end(&a->services.guard);
}

/* When an adopted job was started is left out, and its output is read from its own files. */
static void hang_pass_on(struct adopt *a, uint32_t i)
{
	struct adopted *j = &a->job[i];
	if (!a->services.hang.shm)
		return;
	hangproc_jobs_begin(&a->services.hang);
	struct hang_job *h = &a->services.hang.shm->job[i];
	*h = (struct hang_job){
		.active = j->active, .root = j->id.pid, .root_start_ticks = j->id.start_ticks, .root_is_ours = true};
	_Static_assert(ARRAY_SIZE(h->not_ours) >= SERVICES_HELPERS, "room for all helpers");
	(void)services_helpers(&a->services, h->not_ours);
	for (size_t k = 0; k < j->n_also; k++)
		h->also[k] = j->also[k];
	TEXT_COPY(h->id, j->job.id);
	h->uid = j->job.uid;
	TEXT_COPY(h->cgroup, j->cgroup);
	TEXT_COPY(h->freezer, j->cgroup);
	if (j->id.pid) {
		h->n_ranks = 1;
		ownlog_find(a->w, &j->id, h->own_log);
		h->rank[0] = (struct hang_rank){.pid = j->id.pid, .start_ticks = j->id.start_ticks, .rank = NO_RANK};
	}
	a->services.hang.shm->n_jobs = MAX(a->services.hang.shm->n_jobs, i + 1);
	hangproc_jobs_end(&a->services.hang);
	if (j->active)
		hangproc_want(&a->services.hang, NS_PER_S);
}

void adopt_pass_on(struct adopt *a, uint32_t i)
{
	guard_pass_on(a, i);
	hang_pass_on(a, i);
}

struct adopted *adopt_slot(struct adopt *a)
{
	for (uint32_t i = 0; i < a->n; i++)
		if (!a->job[i].active)
			return &a->job[i];
	return a->n < UNIT_JOBS_MAX ? &a->job[a->n++] : NULL;
}

/* Limits and names are those of the watched group and of the groups above it, not of vigil's own. */
static void place_of_group(const struct adopt *a, struct adopted *j)
{
	struct cgroup g;
	if (!j->cgroup[0] || cgroup_open(a->w, j->place.memory_version, j->cgroup, &g) != 0)
		return;
	cgroup_close(&g);
	TEXT_COPY(j->place.memory, j->cgroup);
	if (j->cgroup_name[0])
		TEXT_COPY(j->place.name, j->cgroup_name);
}

/* The name that the group of `watch --cgroup` has in /proc/PID/cgroup, by which readers find who is in it. */
static void name_of_group(const struct adopt *a, struct adopted *j)
{
	const char *below = strchr(j->cgroup, '/');
	if (!j->cgroup[0] || j->cgroup_name[0])
		return;
	if (faccessat(a->w->cgroup_fd, "cgroup.controllers", F_OK, 0) == 0) /* version 2 alone */
		TEXT_FORMAT(j->cgroup_name, "/%s", j->cgroup);
	else if (below) /* the first part is the controller's */
		TEXT_COPY(j->cgroup_name, below);
}

/* With the first job: BPF programs that see all signals of the machine, for all jobs, and the guard's iterator. */
static void signals_watch(struct adopt *a)
{
	int link = -1;
	if (a->signals || !(a->signals = sigfeed_new(a->w)))
		return;
	sigfeed_load(a->signals, 0, &link);
	if (link >= 0)
		a->services.iter_link_fd = a->services.guard.shm->iter_link_fd = link;
}

void adopt_begin(struct adopt *a, struct adopted *j, const char *name, const char *command)
{
	j->active = true;
	job_describe(a, j, name, command);
	recorder_open_for(&j->recorder, a->spec->watch.state_dir, j->job.id, j->job.uid);
	recorder_share_store(&j->recorder, &a->recorder);
	j->recorder.notifier = &a->services.notifier;
	TEXT_COPY(j->job.log_dir, j->recorder.job_dir);
	if (cgroup_place_read(a->w, j->id.pid, &j->place) != 0)
		j->place = (struct cgroup_place){0};
	name_of_group(a, j);
	place_of_group(a, j);
	if (j->cgroup[0])
		TEXT_COPY(j->job.cgroup, j->cgroup_name[0] ? j->cgroup_name : j->cgroup);
	signals_watch(a);
	j->autopsy = autopsy_new(a->w, &j->place, a->signals);
	adopt_pass_on(a, (uint32_t)(j - a->job));
	j->sampler = sampler_new(a->w, j->recorder.job_dir, clock_boot_ns());
	livetell_open(&j->recorder, &j->live);
	recorder_job(&j->recorder, &j->job);
	recorder_event(&j->recorder, &j->job, "job_adopted", NULL, "%s", command);
	recorder_threshold(&j->recorder, &j->job, a->spec->watch.guard.threshold_ratio,
			   services_acts_at(&a->spec->watch.guard, j->job.limit_bytes));
	if (a->spec->watch.protect)
		runprotect_apply(a->w, &j->recorder, &j->job, a->spec->watch.quiet);
	if (!a->spec->watch.quiet)
		log_info("watching %s (job %s)", command, j->job.id);
}

struct killreport adopt_killreport(struct adopt *a, struct adopted *j)
{
	return (struct killreport){.w = a->w, .recorder = &j->recorder, .job = &j->job, .quiet = a->spec->watch.quiet};
}

static void job_died(struct adopt *a, struct adopted *j)
{
	static struct incident in;
	memset(&in, 0, sizeof(in));
	struct autopsy_subject who = {
		.job = j->job.id,
		.pid = j->id.pid,
		.rank = NO_RANK,
		.start_ticks = j->id.start_ticks,
		.name = j->job.name,
		.command = j->job.command,
		.start_unix_ms = j->job.started_unix_ms,
		.end_unix_ms = a->w->unix_ms(),
		.cgroup = j->place.name,
		.rules = a->spec->watch.rules,
		.store = recorder_store(&j->recorder),
		.job_dir = j->recorder.job_dir,
	};
	struct killreport e = adopt_killreport(a, j);
	autopsy_of(j->autopsy, &who, &in);
	services_ray_victim(&a->services, (uint32_t)(j - a->job), &in);
	killreport_common(&e, &in);
	if (in.killer == KILLER_UNKNOWN || in.killer == KILLER_NONE)
		return; /* not our child: without its exit status an ordinary end looks like any other */
	j->job.other_deaths++;
	recorder_incident_id(&j->recorder, j->job.id, in.id, sizeof(in.id));
	struct attachments parts = {.heap = NULL};
	(void)jobhang_ended(&j->hang, a->w->mono_ns(), &in, &parts);
	recorder_incident(&j->recorder, &in, &parts, true);
	attachments_done(&parts);
	TEXT_COPY(j->job.last_incident, in.id);
	recorder_event(&j->recorder, &j->job, incident_kind_name(in.kind), in.id, "%s", in.summary);
	killreport_show(&e, &in);
}

struct jobpids_want adopt_pids_want(const struct adopt *a, const struct adopted *j)
{
	struct jobpids_want want = {.root = j->id.pid,
				    .root_start_ticks = j->id.start_ticks,
				    .root_is_ours = true,
				    .cgroup = j->cgroup[0] ? j->cgroup : NULL};
	_Static_assert(ARRAY_SIZE(want.not_ours) >= SERVICES_HELPERS, "room for all helpers");
	(void)services_helpers(&a->services, want.not_ours);
	for (size_t i = 0; i < j->n_also; i++)
		want.also[i] = j->also[i];
	return want;
}

static void sample(struct adopt *a, struct adopted *j)
{
	const struct guard_shm *shm = a->services.guard.shm;
	struct sampler_want want = {
		.pids = adopt_pids_want(a, j),
		.node_used_bytes = shm->now.node_used_bytes,
		.node_total_bytes = shm->now.node_total_bytes,
		.job_bytes = shm->now.job_bytes[j - a->job],
		.group_version = j->place.memory_version,
		.own = hangproc_own(&a->services.hang, (size_t)(j - a->job)),
		.steps = hangproc_steps(&a->services.hang, (size_t)(j - a->job)),
		.devices = hangproc_devices(&a->services.hang, (size_t)(j - a->job)),
		.autopsy = j->autopsy,
	};
	int r = sampler_look(j->sampler, &want);
	livetell_changed(j->live);
	services_ray_learn(&a->services, (uint32_t)(j - a->job), sampler_one_of(j->sampler, ROLE_RAY_WORKER));
	adopt_workers(a, j);
	if (r < 0)
		log_warning("cannot keep samples for the timeline in %s: %s", j->recorder.job_dir, strerror(-r));
	services_frameworks(&a->services, (uint32_t)(j - a->job), &j->recorder, &j->job, &j->frameworks);
}

void adopt_samples(struct adopt *a)
{
	uint64_t now = a->w->mono_ns();
	for (uint32_t i = 0; i < a->n; i++)
		if (a->job[i].active && a->job[i].sampler && now >= sampler_due_ns(a->job[i].sampler))
			sample(a, &a->job[i]);
}

/* ---- those who read live sockets ---- */

struct telling {
	struct adopt *a;
	struct adopted *j;
	const char *phase;
};

static int live_fill(void *ctx, struct live_state *n)
{
	const struct telling *t = ctx;
	const struct guardproc *g = &t->a->services.guard;
	const size_t i = (size_t)(t->j - t->a->job);
	TEXT_COPY(n->phase, t->phase);
	n->job = t->j->job;
	livetell_memory(g->shm, g->pid > 0, i, MAX(g->shm->now.job_peak_bytes[i], t->j->job.peak_bytes), &n->memory);
	return sampler_show(t->j->sampler, 0, n);
}

static void live_give(struct adopt *a, struct adopted *j, const char *phase)
{
	struct telling t = {a, j, phase};
	livetell_give(j->live, a->w, live_fill, &t);
}

static void live_end(struct adopt *a, struct adopted *j, const char *phase)
{
	if (livetell_readers(j->live) > 0)
		live_give(a, j, phase);
	j->live = livetell_close(j->live);
}

void adopt_live(struct adopt *a)
{
	const uint64_t now_ns = a->w->mono_ns();
	for (uint32_t i = 0; i < a->n; i++) {
		struct adopted *j = &a->job[i];
		if (!j->active || !j->live)
			continue;
		sampler_attend(j->sampler, livetell_readers(j->live) > 0);
		/* a victim's stacks come first, and so does a look that is due: what is told then is fresh */
		if (now_ns < livetell_due_ns(j->live) || guard_case_pending(a->services.guard.shm) ||
		    (j->sampler && sampler_due_ns(j->sampler) <= now_ns))
			continue;
		live_give(a, j, "running");
	}
}

uint64_t adopt_live_due_ns(const struct adopt *a)
{
	uint64_t due_ns = UINT64_MAX;
	/* the end of a case wakes the loop by itself */
	for (uint32_t i = 0; i < a->n && !guard_case_pending(a->services.guard.shm); i++)
		if (a->job[i].active)
			due_ns = MIN(due_ns, livetell_due_ns(a->job[i].live));
	return due_ns;
}

static void sample_last(struct adopt *a, struct adopted *j)
{
	if (j->sampler)
		sample(a, j);
	j->job.peak_bytes = MAX(a->services.guard.shm->now.job_peak_bytes[j - a->job], sampler_peak_bytes(j->sampler));
	j->sampler = sampler_free(j->sampler);
}

void adopt_ended(struct adopt *a, struct adopted *j)
{
	uint32_t i = (uint32_t)(j - a->job);
	services_cases_wait(&a->services, case_wait_ns);
	if (j->id.pid && j->kills == 0)
		job_died(a, j);
	sample_last(a, j);
	notifier_ended(&a->services.notifier, j->job.id);
	jobhang_clear(&j->hang);
	raycases_done(&a->services.ray[i]);
	j->active = false;
	j->job.state = j->job.memory_kills + j->job.other_deaths > 0 ? JOB_FAILED : JOB_DONE;
	recorder_ended(&j->recorder, &j->job, clock_boot_ns() - j->start_boot_ns);
	j->job.pid = 0;
	adopt_pass_on(a, i);
	job_stopped_look(j->recorder.store, &j->job);
	recorder_job(&j->recorder, &j->job);
	recorder_event(&j->recorder, &j->job, "job_end", j->job.last_incident, "the watched %s is gone",
		       j->id.pid ? "process" : "group");
	live_end(a, j, "over");
	if (!a->spec->watch.quiet)
		log_info("%s has ended", j->job.id);
	if (a->spec->watch.json) {
		cleanup(js_freep) struct js *object = job_json(&j->job);
		ignore(js_write(object, stderr, 0), "nowhere left to complain");
	}
	closep(&j->pidfd);
	j->pidfd = -1;
	j->autopsy = autopsy_free(j->autopsy);
	recorder_close(&j->recorder);
}

bool adopt_still_alive(const struct adopt *a, const struct adopted *j)
{
	for (size_t i = 0; i < j->n_also; i++)
		if (!proc_has_ended(a->w, j->also[i]))
			return true;
	if (j->id.pid)
		return !target_ended(a->w, &(struct target){.id = j->id, .pidfd = j->pidfd});
	pid_t one[4];
	size_t n = 0;
	const uint64_t now = j->cgroup_number ? cgroup_number(a->w, j->cgroup) : 0;
	if (now && now != j->cgroup_number)
		return false; /* what is there by now is another group, of others maybe */
	/* An empty group may fill again, and one that cannot be read now is still there; a removed one is gone. */
	return cgroup_pids(a->w, j->cgroup, one, ARRAY_SIZE(one), &n) != WORLD_GONE;
}

void adopt_release(struct adopt *a, struct adopted *j, const char *why)
{
	sample_last(a, j);
	j->job.state = JOB_LOST;
	recorder_ended(&j->recorder, &j->job, clock_boot_ns() - j->start_boot_ns);
	recorder_event(&j->recorder, &j->job, "unwatched", NULL, "%s", why);
	recorder_job(&j->recorder, &j->job);
	live_end(a, j, "unwatched");
	j->autopsy = autopsy_free(j->autopsy);
	jobhang_clear(&j->hang);
	recorder_close(&j->recorder);
	raycases_done(&a->services.ray[j - a->job]);
	notifier_ended(&a->services.notifier, j->job.id);
	j->active = false;
	adopt_pass_on(a, (uint32_t)(j - a->job));
	closep(&j->pidfd);
	j->pidfd = -1;
}

void adopt_leave(struct adopt *a)
{
	for (uint32_t i = 0; i < a->n; i++)
		if (a->job[i].active)
			adopt_release(a, &a->job[i], "vigil was told to stop watching, and the job went on");
}
