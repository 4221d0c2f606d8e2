#include "agent/run/supervise.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>

#include "act/oomadj.h"
#include "agent/incident/autopsy.h"
#include "agent/guard/guardrecover.h"
#include "agent/host/host.h"
#include "agent/incident/orphan.h"
#include "agent/run/runprotect.h"
#include "agent/run/super.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/units.h"
#include "tell/jobs/job_json.h"

enum { KEY_SIGNAL = 1, KEY_GUARD, KEY_GUARD_DIED, KEY_SENDERS, KEY_HANG };

/* BPF is loaded when the job has shown that it lives: a short job never pays for it. */
static const uint64_t bpf_delay_ns = 300 * NS_PER_MS;
/* Processes left behind by the main process are announced after this long. */
static const uint64_t linger_say_ns = 1 * NS_PER_S;
/* So long after SIGKILL what still lives will not obey. */
static const uint64_t stuck_say_ns = 5 * NS_PER_S;

static void job_describe(struct super *s)
{
	const struct run_spec *spec = s->spec;
	struct job *j = &s->job;
	const char *base = spec->argv[0];
	const char *slash = strrchr(base, '/');
	/* `python train.py` is the job "train", not "python" */
	for (size_t i = 1; spec->argv[i] && strstr(base, "python"); i++) {
		size_t len = strlen(spec->argv[i]);
		if (len > 3 && strcmp(spec->argv[i] + len - 3, ".py") == 0) {
			base = spec->argv[i];
			slash = strrchr(base, '/');
			break;
		}
	}
	TEXT_COPY(j->name, spec->name ? spec->name : slash ? slash + 1 : base);
	char *dot = strrchr(j->name, '.');
	if (!spec->name && dot && strcmp(dot, ".py") == 0)
		*dot = '\0';
	host_job_id(j->name, j->id, sizeof(j->id));
	struct buf b = BUF_ON(j->command);
	for (size_t i = 0; spec->argv[i]; i++)
		buf_printf(&b, "%s%s", i ? " " : "", spec->argv[i]);
	if (!getcwd(j->cwd, sizeof(j->cwd)))
		j->cwd[0] = '\0';
	host_name(j->node, sizeof(j->node));
	host_user(j->user, sizeof(j->user));
	j->uid = getuid();
	j->nproc = s->nproc;
	j->max_retries = spec->retry.max;
	j->state = JOB_STARTING;
	j->started_unix_ms = s->w->unix_ms();
	s->start_boot_ns = clock_boot_ns();
	j->supervisor_pid = getpid();
	struct proc_stat st;
	if (proc_stat_read(s->w, getpid(), &st) == 0)
		j->supervisor_start_ticks = st.start_ticks;
}

static int signals_take(struct super *s)
{
	sigset_t set;
	(void)sigemptyset(&set);
	static const int taken[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGUSR1, SIGUSR2};
	for (size_t i = 0; i < ARRAY_SIZE(taken); i++)
		(void)sigaddset(&set, taken[i]);
	if (sigprocmask(SIG_BLOCK, &set, &s->old_mask) < 0)
		return -errno;
	(void)signal(SIGPIPE, SIG_IGN);
	s->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return s->signal_fd < 0 ? -errno : 0;
}

static void guard_settings(struct super *s, struct guard_shm *shm)
{
	const struct run_spec *spec = s->spec;
	shm->settings.threshold_ratio = spec->threshold_ratio;
	shm->settings.has_min_free = spec->has_min_free;
	shm->settings.min_free_bytes = spec->min_free_bytes;
	shm->settings.grace_ns = spec->grace_ns;
	shm->policy = spec->policy;
	shm->freeze = spec->freeze;
	shm->n_jobs = 1;
	struct guard_job *g = &shm->jobs[0];
	TEXT_COPY(g->id, s->job.id);
	TEXT_COPY(g->name, s->job.name);
	g->has_group = s->group.version != CGROUP_NONE;
	g->group = s->group;
	g->limit_bytes = spec->limit_bytes;
	g->place = s->place;
	if (s->group.scope.holder > 0) { /* a scope stands elsewhere than we do, and so do the limits above it */
		TEXT_COPY(g->place.memory, s->group.memory);
		*strrchr(g->place.memory, '/') = '\0';
	}
	g->unit = (struct unit_job){.retriable = spec->retry.max > 0, .reaper = getpid()};
}

void super_not_ours(struct super *s)
{
	struct unit_job *u = &s->guard.shm->jobs[0].unit;
	const pid_t helpers[] = {s->guard.pid, s->group.scope.holder, s->notifier.deliverer, s->hang.pid};
	size_t n = 0;
	for (size_t i = 0; i < ARRAY_SIZE(helpers); i++)
		if (helpers[i] > 0)
			u->not_ours[n++] = helpers[i];
	u->n_not_ours = n;
}

static int guard_begin(struct super *s, struct guard_shm *shm)
{
	int r = guardproc_start(&s->guard, shm, s->w);
	if (r < 0)
		return r;
	super_not_ours(s);
	super_poll_add(s, s->guard.from_guard_fd, KEY_GUARD);
	super_poll_add(s, s->guard.pidfd, KEY_GUARD_DIED);
	return 0;
}

void super_guard_died(struct super *s)
{
	int status = 0;
	(void)waitpid(s->guard.pid, &status, 0);
	s->guard_deaths++;
	if (s->guard.shm->start_error < 0) { /* nor would it the next time */
		guardproc_say_start_error(&s->guard);
		guardproc_forget(&s->guard);
		return;
	}
	char how[80];
	if (WIFSIGNALED(status))
		TEXT_FORMAT(how, "signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		TEXT_FORMAT(how, "exit status %d", WEXITSTATUS(status));
	log_warning("the guard process died (%s); what it knew is kept and it is started again", how);
	recorder_event(&s->recorder, &s->job, "guard_died", NULL, "the guard process %d died: %s", (int)s->guard.pid,
		       how);
	struct guard_shm *shm = s->guard.shm;
	guardproc_forget(&s->guard);
	guardrecover_finish(s->w, shm);
	super_guard_cases(s);
	struct timespec pause = {.tv_nsec = s->guard_deaths > 3 ? 500000000L : 0};
	(void)nanosleep(&pause, NULL);
	if (s->guard_deaths > 20 || guard_begin(s, shm) < 0) {
		log_error("the guard cannot be kept alive; the job goes on unguarded");
		s->guard.pid = 0;
		return;
	}
	shm->iter_link_fd = s->iter_link_fd;
	guardproc_jobs_begin(&s->guard);
	guardproc_jobs_end(&s->guard);
}

static struct rank *rank_by_pid(struct super *s, pid_t pid)
{
	for (uint32_t i = 0; i < s->nproc; i++)
		if (s->rank[i].running && s->rank[i].proc.pid == pid)
			return &s->rank[i];
	return NULL;
}

static void children_reap(struct super *s)
{
	for (;;) {
		siginfo_t si = {.si_pid = 0};
		if (waitid(P_ALL, 0, &si, WEXITED | WNOHANG | WNOWAIT) < 0 || si.si_pid == 0)
			return;
		if (si.si_pid == s->guard.pid) {
			super_guard_died(s);
			continue;
		}
		int status;
		struct rank *r = rank_by_pid(s, si.si_pid);
		if (r) {
			super_sample_last(s);
			super_rank_last_name(s, r);
		}
		if (waitpid(si.si_pid, &status, 0) < 0)
			return;
		if (si.si_pid == s->group.scope.holder) { /* somebody ended the scope; its job is told of as any other */
			jobscope_holder_died(&s->group.scope);
			continue;
		}
		char how[200];
		if (hangproc_reaped(&s->hang, si.si_pid, status, how)) {
			super_hang_died(s, how);
			continue;
		}
		notifier_reaped(&s->notifier, si.si_pid);
		if (r)
			super_rank_ended(s, r, status);
	}
}

/* They take no signal, and who asked for the end a second time will not wait for their storage. */
static void leave_behind(struct super *s)
{
	s->left_behind = true;
	for (uint32_t i = 0; i < s->nproc; i++) {
		struct rank *r = &s->rank[i];
		if (!r->running)
			continue;
		log_warning("process %d is left behind: it ends once its storage or its device answers", (int)r->proc.pid);
		recorder_event(&s->recorder, &s->job, "left_behind", NULL,
			       "process %d takes no signal, and vigil was told to end", (int)r->proc.pid);
		super_rank_ended(s, r, SIGKILL);
	}
}

static void forward(struct super *s, const struct signalfd_siginfo *si)
{
	int sig = (int)si->ssi_signo;
	bool ends = sig == SIGINT || sig == SIGTERM || sig == SIGHUP || sig == SIGQUIT;
	if (ends) {
		s->stopping = true;
		s->stop_signal = sig;
		s->interrupts++;
		recorder_event(&s->recorder, &s->job, "signal", NULL, "%s from pid %u, passed on to the job",
			       strsignal(sig), si->ssi_pid);
	}
	if (ends && s->said_stuck && s->phase == SUPER_ENDING) {
		leave_behind(s);
		return;
	}
	/* a signal typed at the terminal has reached the whole foreground group already */
	bool from_terminal = si->ssi_code == SI_KERNEL;
	if (!from_terminal)
		super_attempt_signal(s, sig);
	if (s->phase == SUPER_WAITING && ends)
		s->phase = SUPER_OVER;
	if (s->phase == SUPER_LINGERING && ends)
		super_end_others(s, "you asked vigil to end");
	if (ends && s->interrupts >= 3) {
		log_warning("third request to end: the job is killed now");
		super_attempt_signal(s, SIGKILL);
		ignore(jobgroup_kill(&s->group), "where there is no group, the signal did it");
		if (s->phase != SUPER_OVER) {
			s->phase = SUPER_ENDING; /* what they leave behind is not waited for either */
			s->deadline_ns = s->w->mono_ns();
		}
	}
}

static void signals_read(struct super *s)
{
	struct signalfd_siginfo si;
	while (read(s->signal_fd, &si, sizeof(si)) == (ssize_t)sizeof(si)) {
		if (si.ssi_signo == SIGCHLD)
			continue; /* reaped below, whatever arrived */
		if (si.ssi_signo == SIGWINCH) {
			for (uint32_t i = 0; i < s->nproc; i++)
				if (s->rank[i].running)
					launch_resize(&s->rank[i].proc);
			continue;
		}
		forward(s, &si);
	}
	children_reap(s);
}

static bool any_running(const struct super *s)
{
	for (uint32_t i = 0; i < s->nproc; i++)
		if (s->rank[i].running)
			return true;
	return false;
}

/* All ranks have ended; what of processes they left behind? */
static void after_ranks(struct super *s)
{
	pid_t pids[256];
	size_t left = super_leftovers(s, pids, ARRAY_SIZE(pids));
	if (left == 0 || s->left_behind) {
		super_attempt_ended(s);
		ncclrun_keep(&s->nccl);
		return;
	}
	uint64_t now = s->w->mono_ns();
	if (s->phase == SUPER_RUNNING) {
		if (s->first_failed >= 0) {
			super_end_others(s, "its main process failed");
			return;
		}
		s->phase = SUPER_LINGERING;
		s->lingering_since_ns = now;
	}
	if (s->phase == SUPER_LINGERING && !s->said_lingering && now - s->lingering_since_ns > linger_say_ns) {
		s->said_lingering = true;
		log_info("the main process has ended (exit status 0) but %zu process%s of the job still run%s "
			 "(first: pid %d); vigil keeps watch until they end, Ctrl-C ends them",
			 left, left == 1 ? "" : "es", left == 1 ? "s" : "", (int)pids[0]);
	}
	if (s->phase == SUPER_ENDING && !s->asked_leftovers) {
		s->asked_leftovers = true;
		for (size_t i = 0; i < MIN(left, ARRAY_SIZE(pids)); i++)
			(void)kill(pids[i], SIGTERM);
	}
	if (s->phase == SUPER_ENDING && now >= s->deadline_ns) {
		ignore(jobgroup_kill(&s->group), "each is signalled as well");
		for (size_t i = 0; i < MIN(left, ARRAY_SIZE(pids)); i++)
			(void)kill(pids[i], SIGKILL);
	}
}

static void ending_deadline(struct super *s)
{
	if (s->phase != SUPER_ENDING || s->killed_hard || s->w->mono_ns() < s->deadline_ns)
		return;
	s->killed_hard = true;
	super_attempt_signal(s, SIGKILL);
}

/* A process that no signal ends waits inside the kernel, mostly for storage or a device: whoever waits with us is told. */
static void ending_stuck(struct super *s)
{
	if (s->phase != SUPER_ENDING || !s->killed_hard || s->said_stuck ||
	    s->w->mono_ns() < s->deadline_ns + stuck_say_ns)
		return;
	s->said_stuck = true;
	for (uint32_t i = 0; i < s->nproc; i++) {
		struct proc_stat st;
		char path[48], wchan[64] = "";
		size_t len;
		pid_t pid = s->rank[i].proc.pid;
		if (!s->rank[i].running || proc_stat_read(s->w, pid, &st) != 0 || st.state != 'D')
			continue;
		TEXT_FORMAT(path, "%d/wchan", (int)pid);
		if (file_read_at(s->w->proc_fd, path, wchan, sizeof(wchan) - 1, &len) != 0 || wchan[0] == '0')
			wchan[0] = '\0';
		log_warning("process %d of the job cannot be ended: it is in uninterruptible sleep (state D%s%s) until "
			    "its storage or its device answers. vigil waits for it; ask vigil to end, and it is left behind.",
			    (int)pid, wchan[0] ? " in " : "", wchan);
		recorder_event(&s->recorder, &s->job, "unkillable", NULL,
			       "process %d stays in state D%s%s after SIGKILL", (int)pid, wchan[0] ? " in " : "",
			       wchan);
	}
}

static void *bpf_main(void *arg)
{
	struct super *s = arg;
	int fd = -1;
	autopsy_watch_signals(s->autopsy, getpid(), &fd);
	s->iter_link_fd = s->guard.shm->iter_link_fd = fd;
	atomic_store(&s->bpf_done, true);
	return NULL;
}

static void helpers_due(struct super *s)
{
	bool changed = notifier_tick(&s->notifier);
	if (super_hang_tick(s) || changed)
		super_hang_jobs(s);
	else
		return;
	guardproc_jobs_begin(&s->guard);
	super_not_ours(s);
	guardproc_jobs_end(&s->guard);
}

/* What lies in memory is asked of the living, but not of one who stands frozen: he is to be looked into first. */
static bool heap_copies_wanted(const struct super *s)
{
	const struct guard_shm *shm = s->guard.shm;
	return shm && shm->now.state >= GUARD_WARN && !guard_case_pending(shm);
}

static void heap_copy(struct super *s)
{
	if (heap_copies_wanted(s))
		heaprun_copy(&s->heap, s->w);
}

static void timers(struct super *s)
{
	uint64_t now = s->w->mono_ns();
	if (s->bpf_at_ns && now >= s->bpf_at_ns) {
		s->bpf_at_ns = 0;
		s->bpf_started = pthread_create(&s->bpf_thread, NULL, bpf_main, s) == 0;
	}
	if (!s->bpf_polled && atomic_load(&s->bpf_done)) {
		s->bpf_polled = true;
		super_poll_add(s, autopsy_signals_fd(s->autopsy), KEY_SENDERS);
	}
	if (s->phase == SUPER_WAITING && now >= s->deadline_ns) {
		int status;
		s->job.attempt++;
		if (super_attempt_start(s, &status) != 0) {
			s->exit_status = status;
			s->phase = SUPER_OVER;
			return;
		}
		for (uint32_t i = 0; i < s->nproc; i++)
			super_rank_record(s, &s->rank[i]);
		recorder_event(&s->recorder, &s->job, "attempt_start", NULL, "attempt %u of at most %u", s->job.attempt,
			       s->job.max_retries);
		recorder_job(&s->recorder, &s->job);
	}
	if (s->sampler && now >= sampler_due_ns(s->sampler))
		super_sample(s);
	heap_copy(s);
	if (s->guard.shm)
		lookahead_refresh(&s->ahead, s->guard.shm);
	if (now >= heaprun_due_ns(&s->heap))
		heaprun_tidy(&s->heap, s->w, HEAPRUN_ENDED_BYTES);
	helpers_due(s);
	ending_deadline(s);
	ending_stuck(s);
	if (s->next_summary_ns && now >= s->next_summary_ns) {
		s->next_summary_ns = now + s->spec->summary_ns;
		super_summary(s, "the last time period");
	}
	if (s->pending && s->phase == SUPER_RUNNING && now - s->pending_since_ns > 2 * NS_PER_S)
		super_finish_case(s, s->pending, NULL); /* the job lives on without its victim */
}

static int wait_ms(const struct super *s)
{
	uint64_t now = s->w->mono_ns(), next = UINT64_MAX;
	if (s->bpf_at_ns)
		next = MIN(next, s->bpf_at_ns);
	if (s->sampler)
		next = MIN(next, sampler_due_ns(s->sampler));
	next = MIN(next, heaprun_due_ns(&s->heap));
	if (heap_copies_wanted(s))
		next = MIN(next, heaprun_copy_due_ns(&s->heap));
	next = MIN(next, notifier_due_ns(&s->notifier));
	if (s->phase != SUPER_WAITING && (!s->bpf_started || atomic_load(&s->bpf_done)))
		next = MIN(next, hangproc_due_ns(&s->hang));
	/* past its deadline everything has been killed: what is left wakes us when it ends, if it ever does */
	bool overdue = s->phase == SUPER_ENDING && now >= s->deadline_ns;
	if (s->phase == SUPER_WAITING || (s->phase == SUPER_ENDING && !overdue))
		next = MIN(next, s->deadline_ns);
	if (overdue && s->killed_hard && !s->said_stuck)
		next = MIN(next, s->deadline_ns + stuck_say_ns);
	if (s->next_summary_ns && s->period_kills + s->period_others > 0)
		next = MIN(next, s->next_summary_ns);
	if (s->bpf_started && !s->bpf_polled)
		next = MIN(next, now + 50 * NS_PER_MS);
	bool unsaid = s->phase == SUPER_LINGERING && !s->said_lingering;
	if (unsaid || s->pending || (overdue && !any_running(s)))
		next = MIN(next, now + 100 * NS_PER_MS);
	if (next == UINT64_MAX)
		return -1;
	return next <= now ? 0 : (int)MIN((next - now + NS_PER_MS - 1) / NS_PER_MS, 3600000);
}

static void pump(struct super *s, uint64_t key)
{
	struct rank *r = &s->rank[(key - 100) / 2];
	struct tee *t = (key & 1) ? &r->err : &r->out;
	if (!tee_pump(t))
		return;
	if (t->log_failed) {
		t->log_failed = false;
		log_warning("cannot keep the output of rank %d (%s); it is still shown, but no longer logged", r->rank,
			    strerror(t->log_errno));
		recorder_event(&s->recorder, &s->job, "log_failed", NULL, "rank %d: %s", r->rank,
			       strerror(t->log_errno));
	}
}

static void loop(struct super *s)
{
	while (s->phase != SUPER_OVER) {
		struct epoll_event ev[32];
		int n = epoll_wait(s->epoll_fd, ev, ARRAY_SIZE(ev), wait_ms(s));
		for (int i = 0; i < n; i++) {
			uint64_t key = ev[i].data.u64, count;
			if (key >= 100) {
				pump(s, key);
			} else if (key == KEY_SIGNAL) {
				signals_read(s);
			} else if (key == KEY_GUARD) {
				ignore(read(s->guard.from_guard_fd, &count, sizeof(count)), "only the wake-up counts");
				heap_copy(s);
				super_guard_cases(s);
				lookahead_update(&s->ahead, s->w, s->guard.shm);
			} else if (key == KEY_HANG) {
				ignore(read(s->hang.from_fd, &count, sizeof(count)), "only the wake-up counts");
				super_hang_messages(s);
			} else if (key == SUPER_KEY_OUT) {
				super_output_push(s, &s->out);
			} else if (key == SUPER_KEY_ERR) {
				super_output_push(s, &s->err);
			} else if (key == KEY_SENDERS) {
				autopsy_signals_take(s->autopsy);
			} else if (key == KEY_GUARD_DIED) {
				children_reap(s);
			}
		}
		timers(s);
		bool attempt_over = s->phase == SUPER_RUNNING || s->phase == SUPER_ENDING || s->phase == SUPER_LINGERING;
		if (attempt_over && !any_running(s))
			after_ranks(s);
		super_output_poll(s);
	}
}

static void announce(struct super *s)
{
	if (s->spec->quiet)
		return;
	const struct guard_shm *shm = s->guard.shm;
	for (uint32_t i = 0; i < shm->n_notes; i++)
		log_debug("%s", shm->notes[i]);
}

static void heap_end(struct super *s)
{
	char nothing[400];
	heaprun_tidy(&s->heap, s->w, HEAPRUN_ENDED_BYTES);
	heaprun_nothing(&s->heap, nothing, sizeof(nothing));
	/* what was not started has nothing to leave */
	if (nothing[0] && !s->spec->quiet && s->spec->heap_rate_bytes > 0 && s->exit_status < 126)
		log_info("%s", nothing);
	heaprun_done(&s->heap);
	lookahead_done(&s->ahead);
}

static int finish(struct super *s)
{
	struct job *j = &s->job;
	super_sample_end(s);
	super_hang_messages(s);
	super_hang_forget(s);
	hangproc_close(&s->hang);
	guardproc_stop(&s->guard);
	j->peak_bytes = s->guard.shm->now.job_peak_bytes[0];
	j->state = s->exit_status == 0 ? JOB_DONE : JOB_FAILED;
	j->has_exit = true;
	j->exit_status = s->exit_status;
	recorder_ended(&s->recorder, j, clock_boot_ns() - s->start_boot_ns);
	j->pid = 0;
	if (j->memory_kills + j->other_deaths > 0)
		super_summary(s, "the whole run");
	recorder_job(&s->recorder, j);
	recorder_event(&s->recorder, j, "job_end", NULL, "exit status %d", s->exit_status);
	ignore(jobgroup_unthrottle(&s->group), "the group is removed next");
	if (jobgroup_remove(s->w, &s->group) < 0)
		log_debug("the job's group still holds processes");
	recorder_close(&s->recorder);
	if (j->state == JOB_DONE)
		notifier_well(&s->notifier, j->id);
	notifier_close(&s->notifier);
	callrun_done(&s->calls);
	ncclrun_keep(&s->nccl);
	heap_end(s);
	if (s->spec->json) {
		cleanup(js_freep) struct js *object = job_json(j);
		cleanup(freep) char *text = js_text(object, 0);
		if (text) {
			log_text(text, strlen(text));
			log_text("\n", 1);
		}
	}
	super_output_end(s);
	return s->exit_status;
}

int supervise_run(const struct run_spec *spec, const struct world *w)
{
	static struct super super; /* large: many ranks */
	struct super *s = &super;
	*s = (struct super){.spec = spec, .w = w, .nproc = MAX(spec->nproc, 1), .first_failed = -1, .exit_status = 125,
			     .iter_link_fd = -1};
	char why[160] = "";
	s->group = JOBGROUP_NONE;
	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (s->nproc > SUPER_RANKS || s->epoll_fd < 0 || signals_take(s) < 0) {
		if (s->nproc > SUPER_RANKS)
			log_error("--nproc %u: at most %d ranks are started on one node", s->nproc, SUPER_RANKS);
		else
			log_error("cannot start: %s", strerror(errno));
		return 125;
	}
	struct fault f = {.text = ""};
	if (spec->calls && callrun_prepare(w, &s->calls, &f) < 0) {
		log_error("%s", f.text);
		return 125;
	}
	const struct heaprun_want heap = {.program = spec->argv[0], .rate_bytes = spec->heap_rate_bytes, .objects = spec->heap_objects};
	if (spec->heap && heaprun_prepare(w, &heap, &s->heap, &f) < 0) {
		log_error("%s", f.text);
		return 125;
	}
	if (s->heap.unfit[0])
		log_warning("%s", s->heap.unfit);
	if (spec->collectives && ncclrun_prepare(w, &s->nccl, &f) < 0) {
		log_error("%s", f.text);
		return 125;
	}
	if (s->nccl.users_own)
		log_warning("--collectives: NCCL_PROFILER_PLUGIN is set to %s, which stays: NCCL loads one plugin, and "
			    "vigil's records nothing",
			    getenv("NCCL_PROFILER_PLUGIN"));
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	job_describe(s);
	recorder_open(&s->recorder, spec->state_dir, s->job.id);
	TEXT_COPY(s->job.log_dir, s->recorder.job_dir);
	ignore(oomadj_exempt_self(w), "the guard notes it for vigil doctor");
	notifier_open(&s->notifier, w, spec->state_dir, spec->channels);
	s->recorder.notifier = &s->notifier;
	if (cgroup_place_read(w, 0, &s->place) == 0)
		ignore(jobgroup_make(w, &s->place, s->job.id, &s->group, why), "watching works without a group");
	if (why[0])
		log_debug("%s", why);
	s->group.limit_bytes = spec->limit_bytes;
	s->job.limit_bytes = spec->limit_bytes == CGROUP_NO_LIMIT ? 0 : spec->limit_bytes;
	TEXT_COPY(s->job.cgroup, s->group.name);
	struct guard_shm *shm = guardproc_shm_new();
	if (!shm)
		return 125;
	guard_settings(s, shm);
	helper_list_use(&shm->own);
	orphan_prepare(spec->state_dir, &s->notifier);
	if (guard_begin(s, shm) < 0) {
		log_error("cannot start the guard: %s", strerror(errno));
		return 125;
	}
	if (super_hang_open(s) < 0)
		log_warning("hangs are not looked for: %s", strerror(errno));
	super_poll_add(s, s->hang.from_fd, KEY_HANG);
	super_poll_add(s, s->signal_fd, KEY_SIGNAL);
	struct cgroup_place place = s->place;
	if (s->group.version != CGROUP_NONE) {
		TEXT_COPY(place.memory, s->group.memory);
		TEXT_COPY(place.name, s->group.name);
	}
	s->autopsy = autopsy_new(w, &place);
	super_output_open(s);
	int status = 0;
	s->started_boot_ns = clock_boot_ns();
	int r = super_attempt_start(s, &status);
	if (r != 0) {
		s->exit_status = status;
		return finish(s);
	}
	recorder_job(&s->recorder, &s->job);
	recorder_event(&s->recorder, &s->job, "job_start", NULL, "%s", s->job.command);
	if (spec->protect)
		runprotect_apply(w, &s->recorder, &s->job, spec->quiet);
	for (uint32_t i = 0; i < s->nproc; i++)
		super_rank_record(s, &s->rank[i]);
	super_sample_begin(s);
	s->bpf_at_ns = w->mono_ns() + bpf_delay_ns;
	s->next_summary_ns = spec->summary_ns ? w->mono_ns() + spec->summary_ns : 0;
	announce(s);
	loop(s);
	if (s->bpf_started)
		(void)pthread_join(s->bpf_thread, NULL);
	s->autopsy = autopsy_free(s->autopsy);
	return finish(s);
}
