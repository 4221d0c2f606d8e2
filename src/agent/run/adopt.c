#include "agent/run/adopt.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>

#include "agent/run/adopt_parts.h"
#include "agent/run/sdnotify.h"
#include "base/log.h"
#include "sense/proc/slurmjob.h"

/* A service looks at all processes for new jobs this often, and at those alone that have just begun in between. */
static const int rescan_ms = 5000;
/* A watched group is checked for life this often. */
static const int watch_ms = 1000;
static const int newcomers_ms = 500;

static bool any_active(const struct adopt *a)
{
	for (uint32_t i = 0; i < a->n; i++)
		if (a->job[i].active)
			return true;
	return false;
}

static void wait_for_something(struct adopt *a)
{
	struct pollfd p[5 + 2 * UNIT_JOBS_MAX];
	struct livetell *live[ARRAY_SIZE(p)] = {NULL}; /* whose descriptor it is */
	size_t n = 0;
	uint64_t count;
	lookahead_refresh(&a->services.ahead, a->w, a->services.guard.shm);
	p[n++] = (struct pollfd){.fd = a->signal_fd, .events = POLLIN};
	p[n++] = (struct pollfd){.fd = a->services.guard.from_guard_fd, .events = POLLIN};
	p[n++] = (struct pollfd){.fd = a->services.guard.pidfd, .events = POLLIN};
	p[n++] = (struct pollfd){.fd = a->services.hang.from_fd, .events = POLLIN}; /* -1 is passed over */
	/* before the sender of a signal and its target are gone; -1 is passed over */
	p[n++] = (struct pollfd){.fd = sigfeed_fd(a->signals), .events = POLLIN};
	uint64_t wait_ms = (uint64_t)(a->spec->service ? newcomers_ms : rescan_ms);
	uint64_t now = a->w->mono_ns(), due = MIN(hangproc_due_ns(&a->services.hang), services_due_ns(&a->services));
	due = MIN(due, adopt_live_due_ns(a));
	for (uint32_t i = 0; i < a->n; i++) {
		if (!a->job[i].active)
			continue;
		if (a->job[i].pidfd >= 0)
			p[n++] = (struct pollfd){.fd = a->job[i].pidfd, .events = POLLIN};
		else
			wait_ms = MIN(wait_ms, (uint64_t)watch_ms);
		if ((live[n] = a->job[i].live) != NULL)
			p[n++] = (struct pollfd){.fd = livetell_fd(a->job[i].live), .events = POLLIN};
		if (a->job[i].hard_ns)
			due = MIN(due, a->job[i].hard_ns);
		if (a->job[i].sampler)
			due = MIN(due, sampler_due_ns(a->job[i].sampler));
	}
	uint64_t sample_ms = due == UINT64_MAX ? UINT64_MAX : (sub_floor(due, now) + NS_PER_MS - 1) / NS_PER_MS;
	if (poll(p, n, (int)MIN(wait_ms, sample_ms)) <= 0)
		return;
	for (size_t i = 0; i < n; i++)
		if (p[i].revents & POLLIN)
			livetell_run(live[i]);
	struct signalfd_siginfo si;
	while (read(a->signal_fd, &si, sizeof(si)) == (ssize_t)sizeof(si))
		a->stop |= si.ssi_signo != SIGCHLD;
	if (p[1].revents & POLLIN) {
		ignore(read(a->services.guard.from_guard_fd, &count, sizeof(count)), "only the wake-up counts");
		lookahead_update(&a->services.ahead, a->w, a->services.guard.shm);
	}
	if (p[2].revents & POLLIN)
		services_guard_died(&a->services);
	if (p[3].revents & POLLIN)
		ignore(read(a->services.hang.from_fd, &count, sizeof(count)), "only the wake-up counts");
}

static int first_adoption(struct adopt *a)
{
	adopt_newcomers_begin(a);
	adopt_crowd_begin(a);
	for (size_t i = 0; i < a->spec->n_targets; i++) {
		const struct adopt_target *t = &a->spec->target[i];
		int r = adopt_target(a, t);
		if (r == 0 || (a->spec->service && r > 0))
			continue;
		if (t->kind == ADOPT_PID)
			log_error("there is no process %d to watch", (int)t->pid);
		else if (t->kind == ADOPT_SLURM && r == SLURMJOB_CLAIMED)
			log_error("processes of several users say that they are of job %u, and no slurmstepd tells "
				  "which are; watch it as its owner",
				  t->job);
		else if (t->kind == ADOPT_SLURM)
			log_error("no process of job %u of Slurm runs on this machine%s; 'squeue --job %u' tells its "
				  "nodes",
				  t->job, geteuid() == 0 ? "" : " as you", t->job);
		else
			log_error("there is no control group '%s' below the cgroup mount; give its path as in "
				  "/sys/fs/cgroup without that prefix (of version 1 with its controller: memory/…)",
				  t->text);
		return 4;
	}
	adopt_crowd_tell(a);
	if (a->spec->n_targets > 0 && !any_active(a) && !a->spec->watch.quiet)
		log_info("nothing of it runs yet; it is watched as soon as it does");
	return 0;
}

static void rescan(struct adopt *a)
{
	a->rescan_ns = a->w->mono_ns() + (uint64_t)rescan_ms * NS_PER_MS;
	adopt_crowd_begin(a);
	for (size_t i = 0; i < a->spec->n_targets; i++)
		ignore(adopt_target(a, &a->spec->target[i]), "it may come later");
	adopt_crowd_tell(a);
}

/* A service's jobs come and go, and a job of Slurm's gets further steps. */
static bool looks_again(struct adopt *a)
{
	const uint64_t now = a->w->mono_ns();
	bool more = a->spec->service || (any_active(a) && a->spec->target[0].kind == ADOPT_SLURM);
	if (more && now >= a->rescan_ns)
		return true;
	if (!a->spec->service || now < a->newcomers_ns)
		return false;
	a->newcomers_ns = now + (uint64_t)newcomers_ms * NS_PER_MS * 9 / 10;
	return adopt_newcomer(a);
}

static int signals_take(struct adopt *a)
{
	static const int taken[] = {SIGINT, SIGTERM, SIGHUP, SIGCHLD};
	sigset_t set;
	(void)sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(taken); i++)
		(void)sigaddset(&set, taken[i]);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	(void)signal(SIGPIPE, SIG_IGN);
	a->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return a->signal_fd < 0 ? -errno : 0;
}

static int adopt_prepare(struct adopt *a)
{
	const struct watch_spec *watch = &a->spec->watch;
	int r = signals_take(a);
	if (r == 0)
		r = services_open(&a->services, a->w, watch, &adopt_ops, a);
	if (r == 0) {
		a->services.among_jobs = true;
		a->services.n_jobs = UNIT_JOBS_MAX;
		r = services_start(&a->services, watch);
	}
	if (r < 0) {
		log_error("cannot start the guard: %s", strerror(-r));
		return r;
	}
	recorder_open(&a->recorder, watch->state_dir, "agent");
	recorder_open_store(&a->recorder);
	return 0;
}

/* Before a job of Slurm's is over, a step that has just begun is looked for. */
static bool has_ended(struct adopt *a, struct adopted *j)
{
	if (adopt_still_alive(a, j))
		return false;
	if (j->slurm)
		adopt_slurm_again(a, j);
	return !j->slurm || !adopt_still_alive(a, j);
}

static void work(struct adopt *a)
{
	services_cases(&a->services);
	sigfeed_take(a->signals);
	for (uint32_t i = 0; i < a->n; i++)
		if (a->job[i].active && has_ended(a, &a->job[i]))
			adopt_ended(a, &a->job[i]);
	adopt_workers_signalled(a);
	adopt_samples(a);
	adopt_live(a);
	services_hang_messages(&a->services);
	services_reap(&a->services);
	services_tick(&a->services, true);
	adopt_hang_deadlines(a);
	if (looks_again(a))
		rescan(a);
	sd_notify_alive();
}

int adopt_run(const struct adopt_spec *spec, const struct world *w)
{
	static struct adopt adopt; /* large: many jobs */
	struct adopt *a = &adopt;
	*a = (struct adopt){.spec = spec, .w = w};
	if (adopt_prepare(a) < 0)
		return 125;
	/* The guard stands. However many jobs are already there, the manager does not wait for them. */
	if (spec->service)
		sd_notify_ready();
	int status = first_adoption(a);
	if (!spec->service)
		sd_notify_ready();
	while (status == 0 && !a->stop && (spec->service || any_active(a))) {
		wait_for_something(a);
		work(a);
	}
	adopt_leave(a);
	a->signals = sigfeed_free(a->signals);
	adopt_crowd_begin(a);
	adopt_crowd_tell(a);
	services_stop(&a->services);
	recorder_close(&a->recorder);
	services_close(&a->services);
	return status;
}
