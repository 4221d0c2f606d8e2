#include "agent/run/services.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "agent/guard/guardrecover.h"
#include "agent/guard/rescue.h"
#include "agent/host/helper.h"
#include "agent/incident/orphan.h"
#include "base/buf.h"
#include "base/log.h"
#include "sense/framework/frameworks.h"
#include "sense/proc/proc.h"
#include "sense/proc/proctree.h"
#include "sense/lockwait.h"

/* A guard that dies again and again is started after this pause from the fourth death on. */
static const uint64_t revive_pause_ns = 500 * NS_PER_MS;
static const uint32_t revive_at_once = 3;

/* What the machine's own measurements fill in stays as it is. */
static void settings_put(struct guard_settings *dst, const struct guard_spec *g)
{
	dst->threshold_ratio = g->threshold_ratio;
	dst->warn_ratio = g->warn_ratio;
	dst->has_min_free = g->has_min_free;
	dst->min_free_bytes = g->min_free_bytes;
	dst->grace_ns = g->grace_ns;
}

uint64_t services_acts_at(const struct guard_spec *g, uint64_t limit_bytes)
{
	struct guard_settings s = {.threshold_ratio = 0};
	settings_put(&s, g);
	return limit_bytes > 0 && g->threshold_ratio > 0 ? guard_threshold(&s, limit_bytes) : 0;
}

static void settings_fill(struct guard_shm *shm, const struct guard_spec *g)
{
	settings_put(&shm->settings, g);
	shm->policy = g->policy;
	shm->freeze = g->freeze && !g->dry_run;
	shm->dry_run = g->dry_run;
	for (size_t i = 0; i < g->n_prefer; i++)
		wishes_add(&shm->wishes, g->prefer[i], WISH_PREFER);
	for (size_t i = 0; i < g->n_avoid; i++)
		wishes_add(&shm->wishes, g->avoid[i], WISH_AVOID);
}

int services_open(struct services *s, const struct world *w, const struct watch_spec *spec,
		  const struct services_ops *ops, void *owner)
{
	*s = (struct services){.w = w,
			       .ops = ops,
			       .owner = owner,
			       .iter_link_fd = -1,
			       .guard = {.pidfd = -1, .to_guard_fd = -1, .from_guard_fd = -1}};
	notifier_open(&s->notifier, w, spec->state_dir, spec->channels);
	orphan_prepare(spec->state_dir, &s->notifier);
	for (size_t i = 0; i < ARRAY_SIZE(s->ray); i++)
		s->ray[i] = RAYCASES_NONE;
	s->guard.shm = guardproc_shm_new();
	if (!s->guard.shm)
		return -ENOMEM;
	settings_fill(s->guard.shm, &spec->guard);
	helper_list_use(&s->guard.shm->own);
	s->hang = (struct hangproc){.w = w, .from_fd = -1, .due_ns = UINT64_MAX};
	return 0;
}

void services_note_earlier(struct services *s)
{
	size_t n = proctree_children(s->w, s->earlier, SERVICES_EARLIER);
	if (n == SERVICES_EARLIER)
		log_warning("vigil was started with %d children or more: those beyond count as processes of the job",
			    SERVICES_EARLIER);
}

static int guard_start(struct services *s)
{
	int r = guardproc_start(&s->guard, s->guard.shm, s->w);
	if (r == 0)
		s->ops->guard_started(s->owner);
	return r;
}

static void rescue_begin(struct services *s)
{
	pid_t pid = rescue_start(s->guard.shm, s->w);
	s->rescue = MAX(pid, 0);
	if (pid < 0)
		log_warning("no rescue process (%s): if vigil and its guard are killed together, the job's limits stay "
			    "until the next vigil starts",
			    strerror(-pid));
}

int services_start(struct services *s, const struct watch_spec *spec)
{
	rescue_begin(s); /* before the guard sets any limit */
	int r = guard_start(s);
	if (r < 0)
		return r;
	int e = hangproc_open(&s->hang, s->w, spec->hang, spec->rules);
	if (e < 0)
		log_warning("hangs are not looked for: %s", strerror(-e));
	hangproc_progress(&s->hang, spec->progress, spec->n_progress);
	return 0;
}

void services_stop(struct services *s)
{
	services_hang_messages(s);
	hangproc_close(&s->hang);
	guardproc_stop(&s->guard);
}

void services_close(struct services *s)
{
	rescue_stop(s->rescue);
	s->rescue = 0;
	notifier_close(&s->notifier);
	lookahead_done(&s->ahead);
	for (size_t i = 0; i < ARRAY_SIZE(s->parts); i++)
		attachments_done(&s->parts[i]);
	for (size_t i = 0; i < ARRAY_SIZE(s->ray); i++)
		raycases_done(&s->ray[i]);
}

size_t services_helpers(const struct services *s, pid_t ret[static SERVICES_HELPERS])
{
	const pid_t all[] = {s->guard.pid,     s->scope_holder, s->notifier.deliverer,
			     s->hang.pid,      s->rescue,	s->among_jobs ? getpid() : 0,
			     lockwait_helper()};
	size_t n = 0;
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (all[i] > 0)
			ret[n++] = all[i];
	for (size_t i = 0; i < SERVICES_EARLIER; i++)
		if (s->earlier[i] > 0)
			ret[n++] = s->earlier[i];
	return n;
}

/* ---- cases of the guard ---- */

static void clamped_report(struct services *s)
{
	struct killreport e;
	if (s->clamped_reported || !atomic_load(&s->guard.shm->clamped))
		return;
	for (uint32_t job = 0; job < s->n_jobs; job++) {
		if (!s->ops->report(s->owner, job, &e))
			continue;
		killreport_clamped(e.recorder, e.job, !s->clamped_reported);
		s->clamped_reported = true;
	}
}

/* Memory runs short: an event and a notice for each job that could relieve it, and a line for the person. */
static void warning_report(struct services *s)
{
	struct guard_shm *shm = s->guard.shm;
	uint32_t seq = atomic_load(&shm->warning.seq);
	if (seq == s->warning_seen || (seq & 1))
		return;
	const struct warning_facts facts = shm->warning.facts;
	uint64_t jobs = shm->warning.jobs;
	char text[600];
	struct killreport e;
	if (atomic_load(&shm->warning.seq) != seq)
		return;
	bool said = false;
	s->warning_seen = seq;
	warning_text(&facts, text, sizeof(text));
	for (uint32_t job = 0; job < s->n_jobs; job++) {
		if (!(jobs >> job & 1) || !s->ops->report(s->owner, job, &e))
			continue;
		recorder_warning(e.recorder, e.job, "memory_warning", text);
		if (!said && !e.quiet)
			log_warning("%s", text);
		said = true;
	}
}

/* A dry run: whom the guard would have ended. */
static void would_report(struct services *s)
{
	struct guard_shm *shm = s->guard.shm;
	uint32_t seq = atomic_load(&shm->would.seq);
	struct killreport e;
	if (seq == s->would_seen || (seq & 1) || !s->ops->report(s->owner, shm->would.job, &e))
		return;
	s->would_seen = seq;
	log_warning("%s", shm->would.text);
	recorder_event(e.recorder, e.job, "memory_dry_run", NULL, "%s", shm->would.text);
}

/* Once a job: one of its processes has left the job's group. */
static void away_report(struct services *s)
{
	const struct guard_shm *shm = s->guard.shm;
	struct killreport e;
	uint32_t seq = atomic_load(&shm->away.seq), job = shm->away.job, n = shm->away.n;
	pid_t pid = shm->away.pid;
	char text[300], name[16];
	TEXT_COPY(name, shm->away.name);
	if (n == 0 || (seq & 1) || atomic_load(&shm->away.seq) != seq || (s->away_told >> job & 1) ||
	    !s->ops->report(s->owner, job, &e))
		return;
	s->away_told |= UINT64_C(1) << job;
	bool limited = shm->jobs[job].limit_bytes != CGROUP_NO_LIMIT;
	TEXT_FORMAT(text,
		    "process %d (%s) has left the job's group%s: it stays in the job%s and ends with it, but it "
		    "cannot be slowed or frozen with the others",
		    (int)pid, name, n > 1 ? ", and it is not the only one" : "",
		    limited ? ", counts for --memory-limit" : "");
	recorder_event(e.recorder, e.job, "left_group", NULL, "%s", text);
	if (!e.quiet)
		log_warning("%s", text);
}

bool services_report(struct services *s, const struct guard_case *c, struct killreport *ret)
{
	if (!s->ops->report(s->owner, c->job, ret))
		return false;
	const struct guard_job *of = &s->guard.shm->jobs[c->job];
	ret->ahead = &s->ahead;
	ret->ray = &s->ray[c->job];
	ret->group = of->has_group ? &of->group : NULL;
	ret->parts = &s->parts[(c->number - 1) % GUARD_CASES];
	return true;
}

/* The guard holds the victims frozen until their stacks are taken; the first report is written while it goes on. */
static void case_decided(struct services *s, const struct killreport *e, struct guard_case *c)
{
	s->saved_case = c->number;
	killreport_look(e, c);
	guardproc_wake(&s->guard);
	killreport_skeleton(e);
}

/* The case ended without a kill: drop its first report and say why. */
static void case_dropped(const struct killreport *e, const struct guard_case *c, uint32_t phase)
{
	recorder_skeleton_drop(e->recorder, c->incident.id);
	attachments_done(e->parts);
	if (phase == CASE_DENIED)
		killreport_denied(e->recorder, e->job, c);
	else
		recorder_event(
			e->recorder, e->job, "hold_fire", NULL, "%s",
			phase == CASE_TOO_LATE
				? "over the threshold; who was to be ended had already ended by itself"
				: "over the threshold for a moment; memory came back by itself, nobody was ended");
}

/* True if the case is over; false: it is still open, and so are all after it. */
static bool case_work(struct services *s, struct guard_case *c)
{
	struct killreport e;
	uint32_t phase = atomic_load(&c->phase);
	bool guard_gone = s->guard.pidfd < 0;
	bool watched = services_report(s, c, &e);
	if (watched && phase == CASE_DECIDED && s->saved_case != c->number)
		case_decided(s, &e, c);
	if (phase == CASE_DENIED || phase == CASE_CANCELLED || phase == CASE_TOO_LATE) {
		if (watched)
			case_dropped(&e, c, phase);
		return true;
	}
	/* a guard that died before it chose anybody has ended nobody */
	if (phase != CASE_DONE && !(guard_gone && phase != CASE_EMPTY))
		return false;
	if (phase != CASE_DONE)
		guardrecover_note(s->w, c);
	if (watched)
		s->ops->killed(s->owner, c->job, c);
	return true;
}

void services_cases(struct services *s)
{
	struct guard_shm *shm = s->guard.shm;
	clamped_report(s);
	warning_report(s);
	would_report(s);
	away_report(s);
	uint32_t begun = atomic_load(&shm->cases_n);
	while (s->cases_seen < begun) {
		struct guard_case *c = &shm->cases[s->cases_seen % GUARD_CASES];
		bool overtaken = c->number != s->cases_seen + 1; /* its place in the ring was used again */
		if (!overtaken && !case_work(s, c))
			return;
		s->cases_seen++;
	}
}

void services_cases_wait(struct services *s, uint64_t wait_ns)
{
	uint64_t until = s->w->mono_ns() + wait_ns;
	while (s->cases_seen < atomic_load(&s->guard.shm->cases_n) && s->w->mono_ns() < until && s->guard.pid > 0) {
		struct pollfd p[2] = {{.fd = s->guard.from_guard_fd, .events = POLLIN},
				      {.fd = s->guard.pidfd, .events = POLLIN}};
		uint64_t count;
		if (poll(p, 2, 50) > 0 && (p[0].revents & POLLIN))
			ignore(read(s->guard.from_guard_fd, &count, sizeof(count)), "only the wake-up counts");
		services_cases(s);
		if (p[1].revents & POLLIN)
			services_guard_died(s);
	}
}

/* ---- the guard's life ---- */

/* An event for each watched job. */
static void event_for_all(struct services *s, const char *kind, const char *text)
{
	struct killreport e;
	for (uint32_t job = 0; job < s->n_jobs; job++)
		if (s->ops->report(s->owner, job, &e))
			recorder_event(e.recorder, e.job, kind, NULL, "%s", text);
}

static void death_report(struct services *s, int wait_status)
{
	char how[80], text[160];
	if (WIFSIGNALED(wait_status))
		TEXT_FORMAT(how, "signal %d (%s)", WTERMSIG(wait_status), strsignal(WTERMSIG(wait_status)));
	else
		TEXT_FORMAT(how, "exit status %d", WEXITSTATUS(wait_status));
	log_warning("the guard process died (%s); what it knew is kept and it is started again", how);
	TEXT_FORMAT(text, "the guard process %d died: %s", (int)s->guard.pid, how);
	event_for_all(s, "guard_died", text);
}

void services_guard_died(struct services *s)
{
	int status = 0;
	(void)waitpid(s->guard.pid, &status, 0);
	s->guard_deaths++;
	if (s->guard.shm->start_error < 0) { /* a restart would fail the same way */
		guardproc_say_start_error(&s->guard);
		guardproc_forget(&s->guard);
		return;
	}
	death_report(s, status);
	guardproc_forget(&s->guard);
	guardrecover_finish(s->w, s->guard.shm);
	services_cases(s);
	struct timespec pause = {.tv_nsec = s->guard_deaths > revive_at_once ? (long)revive_pause_ns : 0};
	(void)nanosleep(&pause, NULL);
	if (s->guard_deaths > SERVICES_GUARD_DEATHS || guard_start(s) < 0) {
		log_error("the guard cannot be kept alive; the job goes on unguarded");
		s->guard.pid = 0;
		return;
	}
	s->guard.shm->iter_link_fd = s->iter_link_fd;
	guardproc_jobs_begin(&s->guard);
	guardproc_jobs_end(&s->guard);
}

/* ---- a guard that does not move ---- */

/* The guard takes its samples at times that it has named; it is late when it has not by that much. */
static const uint64_t beat_late_ns = 2 * NS_PER_S;
/* A guard that was woken and could not run: the machine itself may have stood still. */
static const uint64_t beat_again_ns = 200 * NS_PER_MS;
static const int stuck_end_ms = 500;

static uint64_t beat_limit_ns(const struct services *s)
{
	uint64_t due = atomic_load(&s->guard.shm->beat_due_ns);
	return add_cap(due ? due : s->guard.started_ns + beat_late_ns, beat_late_ns);
}

/* Lift what the guard has set, end it, and start another. */
static void guard_replace(struct services *s, uint64_t late_ns)
{
	char text[200], state[2] = "?";
	struct proc_stat st;
	struct pollfd p = {.fd = s->guard.pidfd, .events = POLLIN};
	if (proc_stat_read(s->w, s->guard.pid, &st) == 0)
		state[0] = st.state;
	guardrecover_let_go(s->w, s->guard.shm);
	TEXT_FORMAT(text, "the guard process %d has made no progress for %.1f s (state %s); it is replaced",
		    (int)s->guard.pid, (double)late_ns / 1e9, state);
	log_warning("%s", text);
	event_for_all(s, "guard_stuck", text);
	(void)kill(s->guard.pid, SIGKILL);
	if (s->guard.pidfd < 0 || poll(&p, 1, stuck_end_ms) > 0) {
		services_guard_died(s);
		return;
	}
	/* it stands inside the kernel, and dies as soon as it comes back from there */
	guardproc_forget(&s->guard);
	if (guard_start(s) < 0)
		log_error("the guard cannot be started again; the job goes on unguarded");
	s->guard.shm->iter_link_fd = s->iter_link_fd;
	guardproc_jobs_begin(&s->guard);
	guardproc_jobs_end(&s->guard);
}

static void beat_look(struct services *s)
{
	uint64_t now = s->w->mono_ns(), limit = beat_limit_ns(s);
	if (s->guard.pid <= 0 || now < s->beat_look_ns)
		return;
	bool late = now >= limit;
	s->beat_look_ns = late ? now + beat_again_ns : limit;
	if (!late) {
		s->beat_missed = false;
	} else if (!s->beat_missed) {
		s->beat_missed = true;
		guardproc_wake(&s->guard);
	} else {
		s->beat_missed = false;
		guard_replace(s, now - limit + beat_late_ns);
		s->beat_look_ns = now + beat_late_ns;
	}
}

uint64_t services_due_ns(const struct services *s)
{
	uint64_t due = s->guard.pid > 0 ? s->beat_look_ns : UINT64_MAX;
	for (uint32_t job = 0; job < s->n_jobs; job++)
		if (raycases_waits(&s->ray[job]))
			due = MIN(due, s->ray_look_ns);
	return due;
}

/* ---- messages of the hang watcher ---- */

static void hang_message(struct services *s, const struct hang_message *m)
{
	struct hangreport e;
	struct job_hang *kept;
	if (!s->ops->hang(s->owner, m->job, &e, &kept))
		return;
	switch (m->kind) {
	case HANG_SAYS_INCIDENT:
		s->ops->hang_incident(s->owner, m);
		break;
	case HANG_SAYS_RESOLVED:
		if (kept->last && !kept->ended)
			hangreport_resolved(&e, m, kept->last, &kept->parts);
		break;
	case HANG_SAYS_FAST:
		if (kept->slow)
			hangreport_fast(&e, m, kept->slow, &kept->slow_parts);
		jobhang_forget_slow(kept);
		break;
	case HANG_SAYS_BENIGN:
		hangreport_benign(&e, m);
		break;
	case HANG_SAYS_SUSPECT:
		hangreport_suspect(&e, m);
		break;
	case HANG_SAYS_EARLY:
		if (m->attempt == e.job->attempt)
			jobhang_keep_early(kept, m, s->w->mono_ns());
		else
			jobhang_forget_early(kept);
		break;
	case HANG_SAYS_MOVES:
		jobhang_forget_early(kept);
		break;
	case HANG_SAYS_WAKERS:
		hangreport_wakers(&e, m);
		break;
	case HANG_SAYS_PACE:
		hangreport_pace(&e, m);
		break;
	case HANG_SAYS_LOSS:
		hangreport_loss(&e, m, !kept->loss_reported);
		kept->loss_reported = true;
		break;
	}
}

void services_hang_messages(struct services *s)
{
	const struct hang_message *m;
	while ((m = hangproc_message(&s->hang))) {
		hang_message(s, m);
		hangproc_taken(&s->hang);
	}
}

/* ---- starting and reaping ---- */

/* ---- Ray's logs ---- */

static const uint64_t ray_look_ns = NS_PER_S;

static void ray_tick(struct services *s)
{
	const uint64_t now = s->w->mono_ns();
	struct killreport e;
	if (now < s->ray_look_ns)
		return;
	s->ray_look_ns = now + ray_look_ns;
	for (uint32_t job = 0; job < s->n_jobs; job++)
		if (raycases_waits(&s->ray[job]) && s->ops->report(s->owner, job, &e))
			raycases_tick(&s->ray[job], e.recorder, e.job, now);
}

void services_ray_learn(struct services *s, uint32_t job, pid_t worker)
{
	if (worker > 0 && job < ARRAY_SIZE(s->ray))
		raycases_learn(&s->ray[job], s->w, worker);
}

void services_ray_victim(const struct services *s, uint32_t job, struct incident *in)
{
	if (job < ARRAY_SIZE(s->ray))
		raycases_victim(&s->ray[job], in);
}

void services_tick(struct services *s, bool may_fork)
{
	bool changed = notifier_tick(&s->notifier);
	beat_look(s);
	ray_tick(s);
	if (may_fork && s->rescue == 0 && s->rescue_deaths > 0 && s->rescue_deaths < SERVICES_GUARD_DEATHS) {
		rescue_begin(s);
		changed = true;
	}
	if (may_fork && hangproc_tick(&s->hang))
		changed = true;
	if (changed)
		s->ops->helpers_changed(s->owner);
}

/* Its number may now become that of a process of the job. */
static bool earlier_reaped(struct services *s, pid_t pid)
{
	for (size_t i = 0; i < SERVICES_EARLIER; i++) {
		if (pid <= 0 || s->earlier[i] != pid)
			continue;
		s->earlier[i] = 0;
		s->ops->helpers_changed(s->owner);
		return true;
	}
	return false;
}

bool services_reaped(struct services *s, pid_t pid, int wait_status)
{
	char how[200];
	if (earlier_reaped(s, pid))
		return true;
	if (pid > 0 && pid == s->rescue) {
		helper_reaped(pid);
		s->rescue = 0;
		s->rescue_deaths++;
		log_debug("the rescue process ended and is started again");
		return true;
	}
	if (!hangproc_reaped(&s->hang, pid, wait_status, how)) {
		bool deliverer = pid > 0 && pid == s->notifier.deliverer;
		notifier_reaped(&s->notifier, pid);
		return deliverer;
	}
	log_warning("%s", how);
	event_for_all(s, "hang_watcher_died", how);
	s->ops->helpers_changed(s->owner);
	return true;
}

void services_frameworks(struct services *s, uint32_t job, struct recorder *recorder, const struct job *j,
			 uint32_t *noted)
{
	char names[FRAMEWORKS_TEXT];
	uint32_t set = hangproc_frameworks(&s->hang, job, j->id, j->attempt);
	if (set == 0 || set == *noted)
		return;
	*noted = set;
	recorder_framework(recorder, j, frameworks_text(set, names));
}

void services_reap(struct services *s)
{
	int status = 0;
	siginfo_t guard = {.si_pid = 0};
	/* the guard is left for services_guard_died to reap */
	if (s->guard.pid > 0 && waitid(P_PID, (id_t)s->guard.pid, &guard, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	    guard.si_pid)
		services_guard_died(s);
	if (s->rescue > 0 && waitpid(s->rescue, &status, WNOHANG) == s->rescue)
		(void)services_reaped(s, s->rescue, status);
	if (s->hang.pid > 0 && waitpid(s->hang.pid, &status, WNOHANG) == s->hang.pid)
		(void)services_reaped(s, s->hang.pid, status);
}
