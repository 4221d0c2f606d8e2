#include "agent/run/adopt.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <fcntl.h>

#include "agent/incident/autopsy.h"
#include "agent/guard/guardrecover.h"
#include "agent/incident/killreport.h"
#include "agent/incident/lookahead.h"
#include "agent/guard/guardproc.h"
#include "agent/incident/hangreport.h"
#include "agent/hang/hangproc.h"
#include "agent/run/runprotect.h"
#include "agent/host/host.h"
#include "agent/incident/orphan.h"
#include "agent/run/sampler.h"
#include "agent/run/sdnotify.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/units.h"
#include "sense/proc/proc.h"
#include "tell/jobs/job_json.h"

/* A service looks for new jobs this often; a watched group is checked for life at the same time. */
static const int rescan_ms = 5000;
static const int watch_ms = 1000;
/* A job that hangs and is to be ended gets this long between SIGTERM and SIGKILL. */
static const uint64_t hang_grace_ns = 10 * NS_PER_S;

struct adopted {
	bool active;
	struct job job;
	uint64_t start_boot_ns;
	struct recorder recorder;
	struct autopsy *autopsy;
	struct sampler *sampler; /* NULL: nothing is sampled */
	struct proc_id id;       /* pid 0: by group */
	int pidfd;
	char cgroup[CGROUP_PATH_MAX];
	struct cgroup_place place;
	uint32_t kills;
	struct incident *hang; /* the last one of kind hang; NULL: none */
	uint64_t hard_ns; /* it is being ended: by SIGKILL from then on; 0: it is not */
};

struct adopt {
	const struct adopt_spec *spec;
	const struct world *w;
	struct recorder recorder; /* owns the store */
	struct notifier notifier;
	struct guardproc guard;
	struct hangproc hang;
	struct adopted job[UNIT_JOBS_MAX];
	uint32_t n;
	uint32_t cases_seen, saved_case;
	struct lookahead ahead;
	bool absurd_told;
	int signal_fd;
	uint32_t guard_deaths;
	bool has_iterator; /* the guard was given a BPF iterator, or there is none to be had */
	uint64_t rescan_ns;
	bool stop;
};

static void describe(struct adopt *a, struct adopted *j, const char *name, const char *command)
{
	TEXT_COPY(j->job.name, name);
	host_job_id(name, j->job.id, sizeof(j->job.id));
	TEXT_COPY(j->job.command, command);
	host_name(j->job.node, sizeof(j->job.node));
	host_user(j->job.user, sizeof(j->job.user));
	j->job.uid = getuid();
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

static void guard_tell(struct adopt *a, uint32_t i)
{
	struct adopted *j = &a->job[i];
	struct guard_shm *shm = a->guard.shm;
	guardproc_jobs_begin(&a->guard);
	struct guard_job *g = &shm->jobs[i];
	*g = (struct guard_job){.group = JOBGROUP_NONE, .limit_bytes = a->spec->limit_bytes};
	TEXT_COPY(g->id, j->job.id);
	TEXT_COPY(g->name, j->job.name);
	TEXT_COPY(g->adopted_cgroup, j->cgroup);
	g->place = j->place;
	g->unit = (struct unit_job){.active = j->active};
	if (j->id.pid) {
		g->unit.roots[0] = j->id.pid;
		g->unit.root_start_ticks[0] = j->id.start_ticks;
		g->unit.ranks[0] = NO_RANK;
		g->unit.n_roots = 1;
	}
	/* never ourselves, should we live in the watched group */
	g->unit.not_ours[0] = getpid();
	g->unit.not_ours[1] = a->guard.pid;
	g->unit.not_ours[2] = getppid();
	g->unit.not_ours[3] = a->hang.pid;
	g->unit.n_not_ours = a->hang.pid ? 4 : 3;
	shm->n_jobs = MAX(shm->n_jobs, i + 1);
	guardproc_jobs_end(&a->guard);
}

/* An adopted job may be old: how long it runs is not known, and its output goes where it always went. */
static void hang_tell(struct adopt *a, uint32_t i)
{
	struct adopted *j = &a->job[i];
	if (!a->hang.shm)
		return;
	hangproc_jobs_begin(&a->hang);
	struct hang_job *h = &a->hang.shm->job[i];
	*h = (struct hang_job){.active = j->active, .root = j->id.pid, .root_is_ours = true};
	const pid_t helpers[] = {getpid(), a->guard.pid, a->notifier.deliverer, a->hang.pid};
	memcpy(h->not_ours, helpers, sizeof(helpers));
	TEXT_COPY(h->id, j->job.id);
	TEXT_COPY(h->cgroup, j->cgroup);
	TEXT_COPY(h->freezer, j->cgroup);
	if (j->id.pid) {
		h->n_ranks = 1;
		ownlog_find(a->w, &j->id, h->own_log);
		h->rank[0] = (struct hang_rank){.pid = j->id.pid, .start_ticks = j->id.start_ticks, .rank = NO_RANK};
	}
	a->hang.shm->n_jobs = MAX(a->hang.shm->n_jobs, i + 1);
	hangproc_jobs_end(&a->hang);
	if (j->active)
		hangproc_want(&a->hang, NS_PER_S);
}

static bool known(const struct adopt *a, pid_t pid, const char *cgroup)
{
	for (uint32_t i = 0; i < a->n; i++)
		if (a->job[i].active && ((pid && a->job[i].id.pid == pid) || (cgroup && strcmp(a->job[i].cgroup, cgroup) == 0)))
			return true;
	return false;
}

static struct adopted *slot(struct adopt *a)
{
	for (uint32_t i = 0; i < a->n; i++)
		if (!a->job[i].active)
			return &a->job[i];
	return a->n < UNIT_JOBS_MAX ? &a->job[a->n++] : NULL;
}

static void begin(struct adopt *a, struct adopted *j, const char *name, const char *command)
{
	j->active = true;
	describe(a, j, name, command);
	recorder_open(&j->recorder, a->spec->state_dir, j->job.id);
	recorder_share_store(&j->recorder, &a->recorder);
	j->recorder.notifier = &a->notifier;
	TEXT_COPY(j->job.log_dir, j->recorder.job_dir);
	if (cgroup_place_read(a->w, j->id.pid, &j->place) != 0)
		j->place = (struct cgroup_place){0};
	if (j->cgroup[0])
		TEXT_COPY(j->job.cgroup, j->cgroup);
	j->autopsy = autopsy_new(a->w, &j->place);
	int link = -1;
	if (j->autopsy)
		autopsy_watch_signals(j->autopsy, 0, &link);
	if (a->has_iterator)
		closep(&link);
	else if (link >= 0)
		a->guard.shm->iter_link_fd = link;
	a->has_iterator = true;
	guard_tell(a, (uint32_t)(j - a->job));
	hang_tell(a, (uint32_t)(j - a->job));
	j->sampler = sampler_new(a->w, j->recorder.job_dir, clock_boot_ns());
	recorder_job(&j->recorder, &j->job);
	recorder_event(&j->recorder, &j->job, "job_adopted", NULL, "%s", command);
	if (a->spec->protect)
		runprotect_apply(a->w, &j->recorder, &j->job, a->spec->quiet);
	if (!a->spec->quiet)
		log_info("watching %s (job %s)", command, j->job.id);
}

/* What will be missed of a process that is not ours is said at once, not in the first report. */
static void may_not_say(const struct world *w, pid_t pid)
{
	char path[32];
	TEXT_FORMAT(path, "%d/mem", (int)pid); /* asks for what reading stacks needs */
	cleanup(closep) int memory = openat(w->proc_fd, path, O_RDONLY | O_CLOEXEC);
	bool unseen = memory < 0 && (errno == EACCES || errno == EPERM);
	bool kept = kill(pid, 0) < 0 && errno == EPERM;
	if (unseen && kept)
		log_warning("pid %d belongs to another user: vigil can watch and report, but may neither end it nor see its "
			    "stacks, which tell why it hangs; be its user, or root", (int)pid);
	else if (unseen)
		log_warning("vigil may not see the stacks of pid %d, which tell why it hangs; `vigil stack %d` says what is "
			    "missing", (int)pid, (int)pid);
	else if (kept)
		log_warning("pid %d belongs to another user: vigil can watch and report, but may not end it", (int)pid);
}

static int adopt_pid(struct adopt *a, pid_t pid, const char *name)
{
	struct proc_stat st;
	char command[512];
	int r = proc_stat_read(a->w, pid, &st);
	if (r != 0 || proc_is_over(&st))
		return r < 0 ? r : WORLD_GONE;
	struct adopted *j = slot(a);
	if (!j)
		return -ENOSPC;
	*j = (struct adopted){.id = {pid, st.start_ticks}, .pidfd = (int)syscall(SYS_pidfd_open, pid, 0)};
	may_not_say(a->w, pid);
	if (proc_command_read(a->w, pid, command, sizeof(command)) != 0)
		TEXT_COPY(command, st.comm);
	begin(a, j, name ? name : st.comm, command);
	return 0;
}

static int adopt_cgroup(struct adopt *a, const char *path, const char *name)
{
	struct stat st;
	while (*path == '/')
		path++;
	if (a->w->cgroup_fd < 0 || fstatat(a->w->cgroup_fd, path, &st, 0) < 0 || !S_ISDIR(st.st_mode))
		return WORLD_GONE;
	struct adopted *j = slot(a);
	if (!j)
		return -ENOSPC;
	*j = (struct adopted){.pidfd = -1};
	TEXT_COPY(j->cgroup, path);
	const char *last = strrchr(path, '/');
	char command[CGROUP_PATH_MAX + 16];
	TEXT_FORMAT(command, "control group %s", path);
	begin(a, j, name ? name : last ? last + 1 : path, command);
	return 0;
}

/*
 * Does the command run vigil, itself or through sudo and its like? A folder of that name means nothing: a program may
 * well be installed below one.
 */
static bool runs_vigil(const char *command)
{
	struct span rest = span_of(command), word;
	for (size_t i = 0; i < 4 && span_word(&rest, &word); i++) {
		size_t at = word.len;
		while (at > 0 && word.p[at - 1] != '/')
			at--;
		if (span_eq((struct span){word.p + at, word.len - at}, "vigil"))
			return true;
	}
	return false;
}

/* The outermost process whose command line has the text; ourselves never. */
static void adopt_matching(struct adopt *a, const char *text)
{
	static struct tasks t;
	static char command[4096], above[4096];
	if (t.rows == NULL && tasks_init(&t, UNIT_KNOWN_MAX, -1) < 0)
		return;
	if (tasks_scan(&t, a->w) < 0)
		return;
	for (size_t i = 0; i < t.n; i++) {
		pid_t pid = t.rows[i].pid, parent = t.rows[i].ppid;
		if (pid == getpid() || pid == a->guard.pid || pid == a->hang.pid || known(a, pid, NULL))
			continue;
		if (proc_command_read(a->w, pid, command, sizeof(command)) != 0 || !strstr(command, text))
			continue;
		bool inner = proc_command_read(a->w, parent, above, sizeof(above)) == 0 && strstr(above, text);
		if (!inner && !runs_vigil(command))
			ignore(adopt_pid(a, pid, NULL), "gone again");
	}
}

static int adopt_target(struct adopt *a, const struct adopt_target *t)
{
	switch (t->kind) {
	case ADOPT_PID:
		return known(a, t->pid, NULL) ? 0 : adopt_pid(a, t->pid, a->spec->name);
	case ADOPT_CGROUP:
		return known(a, 0, t->text) ? 0 : adopt_cgroup(a, t->text, a->spec->name);
	case ADOPT_COMMAND:
		adopt_matching(a, t->text);
		return 0;
	}
	return -EINVAL;
}

static struct killreport end_of(struct adopt *a, struct adopted *j)
{
	return (struct killreport){.w = a->w,
				   .recorder = &j->recorder,
				   .job = &j->job,
				   .quiet = a->spec->quiet,
				   .views = &a->ahead.views,
				   .sizes = a->ahead.sizes};
}

static void absurd_tell(struct adopt *a)
{
	if (a->absurd_told || !atomic_load(&a->guard.shm->clamped))
		return;
	for (uint32_t i = 0; i < a->n; i++) {
		if (!a->job[i].active)
			continue;
		killreport_clamped(&a->job[i].recorder, &a->job[i].job, !a->absurd_told);
		a->absurd_told = true;
	}
}

static void guard_cases(struct adopt *a)
{
	struct guard_shm *shm = a->guard.shm;
	absurd_tell(a);
	uint32_t begun = atomic_load(&shm->cases_n);
	while (a->cases_seen < begun) {
		struct guard_case *c = &shm->cases[a->cases_seen % GUARD_CASES];
		uint32_t phase = atomic_load(&c->phase);
		if (c->number != a->cases_seen + 1 || phase == CASE_CANCELLED || phase == CASE_TOO_LATE || phase == CASE_DENIED) {
			a->cases_seen++;
			if (c->number == a->cases_seen)
				recorder_skeleton_drop(&a->job[c->job].recorder, c->incident.id);
			if (c->number == a->cases_seen && phase == CASE_DENIED)
				killreport_denied(&a->job[c->job].recorder, &a->job[c->job].job, c);
			continue;
		}
		struct adopted *j = &a->job[c->job];
		struct killreport end = end_of(a, j);
		if (phase == CASE_DECIDED && a->saved_case != c->number) {
			a->saved_case = c->number;
			killreport_look(&end, c);
			guardproc_wake(&a->guard);
			killreport_skeleton(&end);
		}
		if (phase != CASE_DONE && a->guard.pidfd >= 0)
			return;
		if (phase != CASE_DONE)
			guardrecover_note(a->w, c);
		a->cases_seen++;
		j->kills++;
		j->job.memory_kills++;
		killreport_finish(&end, c);
		recorder_job(&j->recorder, &j->job);
	}
}

/* Each process by its identity: nobody else's is met. */
static void processes_signal(struct adopt *a, struct adopted *j, int signal)
{
	static struct jobpids pids;
	const struct jobpids_want want = {.root = j->id.pid, .root_is_ours = true, .cgroup = j->cgroup[0] ? j->cgroup : NULL,
					  .not_ours = {getpid(), a->guard.pid, a->notifier.deliverer, a->hang.pid}};
	pids.n = 0;
	jobpids_find(&pids, a->w, &want, true);
	for (size_t i = 0; i < pids.n; i++) {
		struct proc_stat st;
		if (proc_stat_read(a->w, pids.pid[i], &st) != 0)
			continue;
		struct target t = {.id = {pids.pid[i], st.start_ticks}, .pidfd = -1};
		if (target_open(a->w, &t, true) == 0)
			ignore(target_signal(a->w, &t, signal), "it has ended, or belongs to somebody else");
		target_close(&t);
	}
}

static void hang_incident_take(struct adopt *a, struct adopted *j, const struct hang_message *m)
{
	bool asked = m->verdict.kind == HANG_HANG && a->spec->on_hang == ON_HANG_KILL;
	bool ends = asked && hang_may_end(&a->hang.shm->settings, &m->verdict);
	struct hangreport e = {.w = a->w,
			       .recorder = &j->recorder,
			       .job = &j->job,
			       .quiet = a->spec->quiet,
			       .next = ends    ? "The job is ended now, because --on-hang kill was given."
				       : asked ? HANGREPORT_UNSURE
					       : ""};
	struct incident *in = malloc(sizeof(*in));
	if (!in)
		return;
	hangreport_incident(&e, m, in);
	if (m->verdict.kind != HANG_HANG) {
		free(in);
		return;
	}
	free(j->hang);
	j->hang = in;
	if (!ends)
		return;
	recorder_event(&j->recorder, &j->job, "hang_kill", in->id, "the job hangs and is ended (--on-hang kill)");
	j->kills++; /* its end needs no further explanation */
	j->job.other_deaths++;
	processes_signal(a, j, SIGTERM);
	processes_signal(a, j, SIGCONT);
	j->hard_ns = a->w->mono_ns() + hang_grace_ns;
}

static void hang_messages(struct adopt *a)
{
	const struct hang_message *m;
	while ((m = hangproc_message(&a->hang))) {
		struct adopted *j = m->job < a->n && a->job[m->job].active ? &a->job[m->job] : NULL;
		struct hangreport e = {.w = a->w, .quiet = a->spec->quiet, .next = ""};
		if (j) {
			e.recorder = &j->recorder;
			e.job = &j->job;
		}
		if (j && m->kind == HANG_SAYS_INCIDENT)
			hang_incident_take(a, j, m);
		else if (j && m->kind == HANG_SAYS_RESOLVED && j->hang)
			hangreport_resolved(&e, m, j->hang);
		else if (j && m->kind == HANG_SAYS_BENIGN)
			hangreport_benign(&e, m);
		else if (j && m->kind == HANG_SAYS_SUSPECT)
			hangreport_suspect(&e, m);
		else if (j && m->kind == HANG_SAYS_LOSS)
			hangreport_loss(&e, m);
		hangproc_taken(&a->hang);
	}
}

/* Which processes are none of the job's has changed. */
static void hang_changed(struct adopt *a)
{
	for (uint32_t i = 0; i < a->n; i++) {
		guard_tell(a, i);
		hang_tell(a, i);
	}
}

static void hang_tick(struct adopt *a)
{
	int status = 0;
	char how[200];
	hang_messages(a);
	if (a->hang.pid > 0 && waitpid(a->hang.pid, &status, WNOHANG) == a->hang.pid &&
	    hangproc_reaped(&a->hang, a->hang.pid, status, how)) {
		log_warning("%s", how);
		hang_changed(a);
	}
	if (hangproc_tick(&a->hang))
		hang_changed(a);
	for (uint32_t i = 0; i < a->n; i++) {
		struct adopted *j = &a->job[i];
		if (!j->active || j->hard_ns == 0 || a->w->mono_ns() < j->hard_ns)
			continue;
		j->hard_ns = 0;
		processes_signal(a, j, SIGKILL);
	}
}

static void job_died(struct adopt *a, struct adopted *j)
{
	static struct incident in;
	memset(&in, 0, sizeof(in));
	struct autopsy_subject who = {
		.job = j->job.id, .pid = j->id.pid, .rank = NO_RANK, .start_ticks = j->id.start_ticks,
		.name = j->job.name, .command = j->job.command, .start_unix_ms = j->job.started_unix_ms,
		.end_unix_ms = a->w->unix_ms(), .cgroup = j->place.name,
		.rules = a->spec->rules,
	};
	struct killreport end = end_of(a, j);
	autopsy_of(j->autopsy, &who, &in);
	killreport_common(&end, &in);
	if (in.killer == KILLER_UNKNOWN || in.killer == KILLER_NONE)
		return; /* not our child: without its exit status an ordinary end looks like any other */
	j->job.other_deaths++;
	recorder_incident_id(&j->recorder, j->job.id, in.id, sizeof(in.id));
	recorder_incident(&j->recorder, &in);
	TEXT_COPY(j->job.last_incident, in.id);
	recorder_event(&j->recorder, &j->job, incident_kind_name(in.kind), in.id, "%s", in.summary);
	killreport_show(&end, &in);
}

static void sample(struct adopt *a, struct adopted *j)
{
	const struct guard_shm *shm = a->guard.shm;
	const struct sampler_want want = {
		.pids = {.root = j->id.pid, .root_is_ours = true, .cgroup = j->cgroup[0] ? j->cgroup : NULL,
			 .not_ours = {getpid(), a->guard.pid, a->notifier.deliverer, a->hang.pid}},
		.node_used_bytes = shm->now.node_used_bytes, .node_total_bytes = shm->now.node_total_bytes,
		.job_bytes = shm->now.job_bytes[j - a->job],
		.own = hangproc_own(&a->hang, (size_t)(j - a->job)),
	};
	int r = sampler_look(j->sampler, &want);
	if (r < 0)
		log_warning("cannot keep samples for the timeline in %s: %s", j->recorder.job_dir, strerror(-r));
}

static void samples_due(struct adopt *a)
{
	uint64_t now = a->w->mono_ns();
	for (uint32_t i = 0; i < a->n; i++)
		if (a->job[i].active && a->job[i].sampler && now >= sampler_due_ns(a->job[i].sampler))
			sample(a, &a->job[i]);
}

static void sample_last(struct adopt *a, struct adopted *j)
{
	if (j->sampler)
		sample(a, j);
	j->sampler = sampler_free(j->sampler);
}

static void job_ended(struct adopt *a, struct adopted *j)
{
	uint32_t i = (uint32_t)(j - a->job);
	/* the kill's numbers may still be on their way */
	for (int n = 0; n < 40 && a->cases_seen < atomic_load(&a->guard.shm->cases_n); n++) {
		struct pollfd p = {.fd = a->guard.from_guard_fd, .events = POLLIN};
		uint64_t count;
		if (poll(&p, 1, 50) > 0)
			ignore(read(a->guard.from_guard_fd, &count, sizeof(count)), "only the wake-up counts");
		guard_cases(a);
	}
	if (j->id.pid && j->kills == 0)
		job_died(a, j);
	sample_last(a, j);
	notifier_ended(&a->notifier, j->job.id);
	free(take(&j->hang));
	j->active = false;
	j->job.state = j->job.memory_kills + j->job.other_deaths > 0 ? JOB_FAILED : JOB_DONE;
	recorder_ended(&j->recorder, &j->job, clock_boot_ns() - j->start_boot_ns);
	j->job.peak_bytes = a->guard.shm->now.job_peak_bytes[i];
	j->job.pid = 0;
	guard_tell(a, i);
	hang_tell(a, i);
	recorder_job(&j->recorder, &j->job);
	recorder_event(&j->recorder, &j->job, "job_end", j->job.last_incident, "the watched %s is gone",
		       j->id.pid ? "process" : "group");
	if (!a->spec->quiet)
		log_info("%s has ended", j->job.id);
	if (a->spec->json) {
		cleanup(js_freep) struct js *object = job_json(&j->job);
		ignore(js_write(object, stderr, 0), "nowhere left to complain");
	}
	closep(&j->pidfd);
	j->pidfd = -1;
	j->autopsy = autopsy_free(j->autopsy);
}

static bool still_alive(struct adopt *a, struct adopted *j)
{
	if (j->id.pid) {
		struct proc_stat st;
		return proc_stat_read(a->w, j->id.pid, &st) == 0 && st.start_ticks == j->id.start_ticks &&
		       !proc_is_over(&st);
	}
	pid_t one[4];
	size_t n = 0;
	if (cgroup_pids(a->w, j->cgroup, one, ARRAY_SIZE(one), &n) != 0)
		return false;
	return true; /* an empty group may fill again; a removed one is gone */
}

static int guard_begin(struct adopt *a, struct guard_shm *shm)
{
	const struct adopt_spec *s = a->spec;
	shm->settings.threshold_ratio = s->threshold_ratio;
	shm->settings.has_min_free = s->has_min_free;
	shm->settings.min_free_bytes = s->min_free_bytes;
	shm->settings.grace_ns = s->grace_ns;
	shm->policy = s->policy;
	shm->freeze = s->freeze;
	return guardproc_start(&a->guard, shm, a->w);
}

static void guard_revive(struct adopt *a)
{
	int status;
	if (waitpid(a->guard.pid, &status, WNOHANG) != a->guard.pid)
		return;
	struct guard_shm *shm = a->guard.shm;
	if (shm->start_error < 0) {
		guardproc_say_start_error(&a->guard);
		guardproc_forget(&a->guard);
		a->stop = true;
		return;
	}
	log_warning("the guard process died; what it knew is kept and it is started again");
	guardproc_forget(&a->guard);
	guardrecover_finish(a->w, shm);
	guard_cases(a);
	if (++a->guard_deaths > 20 || guard_begin(a, shm) < 0) {
		log_error("the guard cannot be kept alive");
		a->stop = true;
		return;
	}
	for (uint32_t i = 0; i < a->n; i++)
		guard_tell(a, i);
}

static bool any_active(const struct adopt *a)
{
	for (uint32_t i = 0; i < a->n; i++)
		if (a->job[i].active)
			return true;
	return false;
}

static void wait_for_something(struct adopt *a)
{
	struct pollfd p[4 + UNIT_JOBS_MAX];
	size_t n = 0;
	uint64_t count;
	lookahead_refresh(&a->ahead, a->guard.shm);
	p[n++] = (struct pollfd){.fd = a->signal_fd, .events = POLLIN};
	p[n++] = (struct pollfd){.fd = a->guard.from_guard_fd, .events = POLLIN};
	p[n++] = (struct pollfd){.fd = a->guard.pidfd, .events = POLLIN};
	p[n++] = (struct pollfd){.fd = a->hang.from_fd, .events = POLLIN}; /* -1 is passed over */
	bool by_group = false;
	uint64_t now = a->w->mono_ns(), due = hangproc_due_ns(&a->hang);
	for (uint32_t i = 0; i < a->n; i++) {
		if (!a->job[i].active)
			continue;
		if (a->job[i].pidfd >= 0)
			p[n++] = (struct pollfd){.fd = a->job[i].pidfd, .events = POLLIN};
		else
			by_group = true;
		if (a->job[i].hard_ns)
			due = MIN(due, a->job[i].hard_ns);
		if (a->job[i].sampler)
			due = MIN(due, sampler_due_ns(a->job[i].sampler));
	}
	uint64_t sample_ms = due == UINT64_MAX ? UINT64_MAX : (sub_floor(due, now) + NS_PER_MS - 1) / NS_PER_MS;
	if (poll(p, n, (int)MIN((uint64_t)(by_group ? watch_ms : rescan_ms), sample_ms)) <= 0)
		return;
	struct signalfd_siginfo si;
	while (read(a->signal_fd, &si, sizeof(si)) == (ssize_t)sizeof(si))
		a->stop |= si.ssi_signo != SIGCHLD;
	if (p[1].revents & POLLIN) {
		ignore(read(a->guard.from_guard_fd, &count, sizeof(count)), "only the wake-up counts");
		lookahead_update(&a->ahead, a->w, a->guard.shm);
	}
	if (p[2].revents & POLLIN)
		guard_revive(a);
	if (p[3].revents & POLLIN)
		ignore(read(a->hang.from_fd, &count, sizeof(count)), "only the wake-up counts");
}

static int first_adoption(struct adopt *a)
{
	for (size_t i = 0; i < a->spec->n_targets; i++) {
		const struct adopt_target *t = &a->spec->target[i];
		int r = adopt_target(a, t);
		if (r == 0 || (a->spec->service && r > 0))
			continue;
		if (t->kind == ADOPT_PID)
			log_error("there is no process %d to watch", (int)t->pid);
		else
			log_error("there is no control group '%s' below the cgroup mount; give its path as in "
				  "/sys/fs/cgroup without that prefix (of version 1 with its controller: memory/…)",
				  t->text);
		return 4;
	}
	if (a->spec->n_targets > 0 && !any_active(a) && !a->spec->quiet)
		log_info("nothing of it runs yet; it is watched as soon as it does");
	return 0;
}

static void rescan(struct adopt *a)
{
	a->rescan_ns = a->w->mono_ns() + (uint64_t)rescan_ms * NS_PER_MS;
	for (size_t i = 0; i < a->spec->n_targets; i++)
		ignore(adopt_target(a, &a->spec->target[i]), "it may come later");
}

static void leave(struct adopt *a)
{
	for (uint32_t i = 0; i < a->n; i++) {
		struct adopted *j = &a->job[i];
		if (!j->active)
			continue;
		sample_last(a, j);
		j->job.state = JOB_LOST;
		recorder_ended(&j->recorder, &j->job, clock_boot_ns() - j->start_boot_ns);
		recorder_event(&j->recorder, &j->job, "unwatched", NULL,
			       "vigil was told to stop watching; the job goes on");
		recorder_job(&j->recorder, &j->job);
		j->autopsy = autopsy_free(j->autopsy);
		free(take(&j->hang));
	}
}

int adopt_run(const struct adopt_spec *spec, const struct world *w)
{
	static struct adopt adopt;
	struct adopt *a = &adopt;
	sigset_t set;
	*a = (struct adopt){.spec = spec, .w = w};
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGINT);
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGHUP);
	(void)sigaddset(&set, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	(void)signal(SIGPIPE, SIG_IGN);
	a->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	struct guard_shm *shm = guardproc_shm_new();
	helper_list_use(shm ? &shm->own : NULL);
	notifier_open(&a->notifier, w, spec->state_dir, spec->channels);
	orphan_prepare(spec->state_dir, &a->notifier);
	if (a->signal_fd < 0 || !shm || guard_begin(a, shm) < 0) {
		log_error("cannot start the guard: %s", strerror(errno));
		return 125;
	}
	if (hangproc_open(&a->hang, w, spec->hang, spec->rules) < 0)
		log_warning("hangs are not looked for: %s", strerror(errno));
	hangproc_progress(&a->hang, spec->progress, spec->n_progress);
	recorder_open(&a->recorder, spec->state_dir, "agent");
	recorder_open_store(&a->recorder);
	int status = first_adoption(a);
	sd_notify_ready();
	while (status == 0 && !a->stop && (spec->service || any_active(a))) {
		wait_for_something(a);
		guard_cases(a);
		for (uint32_t i = 0; i < a->n; i++)
			autopsy_signals_take(a->job[i].active ? a->job[i].autopsy : NULL);
		for (uint32_t i = 0; i < a->n; i++)
			if (a->job[i].active && !still_alive(a, &a->job[i]))
				job_ended(a, &a->job[i]);
		samples_due(a);
		hang_tick(a);
		(void)notifier_tick(&a->notifier);
		if (spec->service && w->mono_ns() >= a->rescan_ns)
			rescan(a);
		sd_notify_alive();
	}
	leave(a);
	lookahead_done(&a->ahead);
	hangproc_close(&a->hang);
	guardproc_stop(&a->guard);
	recorder_close(&a->recorder);
	notifier_close(&a->notifier);
	return status;
}
