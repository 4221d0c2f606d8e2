#include "agent/run/supervise.h"

#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>

#include "act/oomadj.h"
#include "agent/incident/autopsy.h"
#include "agent/incident/sigfeed.h"
#include "agent/incident/leftover.h"
#include "agent/incident/story.h"
#include "agent/host/host.h"
#include "agent/jobs/keptoutput.h"
#include "agent/run/runprotect.h"
#include "agent/run/super.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mask/mask.h"
#include "base/path.h"
#include "base/units.h"
#include "sense/lockwait.h"
#include "sense/proc/proc.h"
#include "tell/jobs/job_json.h"

/* BPF is loaded when the job has lived this long: a short job never pays for it. */
static const uint64_t bpf_delay_ns = 300 * NS_PER_MS;

/* The arguments as one line, without secrets. */
static void command_line(char *const *argv, char *dst, size_t cap)
{
	char args[8192];
	size_t len = 0;
	for (size_t i = 0; argv[i] && len < sizeof(args); i++) {
		size_t n = MIN(strlen(argv[i]) + 1, sizeof(args) - len);
		memcpy(args + len, argv[i], n);
		len += n;
	}
	args[sizeof(args) - 1] = '\0';
	len = mask_args(args, len);
	struct buf b = {.text = dst, .cap = cap};
	buf_reset(&b);
	for (size_t at = 0; at < len; at += strlen(args + at) + 1)
		buf_printf(&b, "%s%s", at ? " " : "", args + at);
}

static void job_describe(struct super *s)
{
	const struct run_spec *spec = s->spec;
	struct job *j = &s->job;
	const char *base = spec->argv[0];
	/* `python train.py` is the job "train", not "python" */
	for (size_t i = 1; spec->argv[i] && strstr(base, "python"); i++) {
		size_t len = strlen(spec->argv[i]);
		if (len > 3 && strcmp(spec->argv[i] + len - 3, ".py") == 0) {
			base = spec->argv[i];
			break;
		}
	}
	TEXT_COPY(j->name, spec->watch.name ? spec->watch.name : path_name(base));
	char *dot = strrchr(j->name, '.');
	if (!spec->watch.name && dot && strcmp(dot, ".py") == 0)
		*dot = '\0';
	mask_text(j->name);
	host_job_id(j->name, j->id, sizeof(j->id));
	command_line(spec->argv, j->command, sizeof(j->command));
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

static void announce(struct super *s)
{
	if (s->spec->watch.quiet)
		return;
	const struct guard_shm *shm = s->services.guard.shm;
	for (uint32_t i = 0; i < shm->n_notes; i++)
		log_debug("%s", shm->notes[i]);
}

static void heap_end(struct super *s)
{
	char nothing[400];
	heapfiles_tidy(&s->tools.heap.files, s->w, HEAPFILES_ENDED_BYTES);
	heaprun_nothing(&s->tools.heap, nothing, sizeof(nothing));
	/* a command that could not be started leaves no profile */
	if (nothing[0] && !s->spec->watch.quiet && s->spec->heap_rate_bytes > 0 && s->exit_status < 126)
		log_info("%s", nothing);
	heaprun_done(&s->tools.heap);
}

static void json_print(const struct job *j)
{
	cleanup(js_freep) struct js *object = job_json(j);
	cleanup(freep) char *text = js_text(object, 0);
	if (!text)
		return;
	log_text(text, strlen(text));
	log_text("\n", 1);
}

static void group_gone(struct super *s)
{
	leftover_forget(s->spec->watch.state_dir, s->job.id);
	jobscope_stop_empty(s->w, s->group.memory);
}

static int supervise_finish(struct super *s)
{
	struct job *j = &s->job;
	j->peak_bytes = super_peak_bytes(s);
	super_sample_end(s);
	services_stop(&s->services);
	super_hang_forget(s);
	j->state = s->exit_status == 0 ? JOB_DONE : JOB_FAILED;
	j->has_exit = true;
	j->exit_status = s->exit_status;
	recorder_ended(&s->recorder, j, clock_boot_ns() - s->start_boot_ns);
	j->pid = 0;
	if (j->memory_kills + j->other_deaths > 0)
		super_summary(s, "the whole run");
	job_stopped_look(s->recorder.store, j);
	recorder_job(&s->recorder, j);
	recorder_event(&s->recorder, j, "job_end", NULL, "exit status %d", s->exit_status);
	super_live_end(s);
	ignore(jobgroup_unthrottle(&s->group), "the group is removed next");
	if (jobgroup_remove(s->w, &s->group) < 0)
		log_debug("the job's group still holds processes");
	else
		group_gone(s);
	closep(&s->note_fd);
	for (uint32_t i = 0; i < s->nproc; i++)
		deathsig_close(&s->death[i]);
	recorder_close(&s->recorder);
	if (j->state == JOB_DONE)
		notifier_ok(&s->services.notifier, j->id);
	services_close(&s->services);
	callrun_done(&s->tools.calls);
	ncclrun_keep(&s->tools.nccl);
	heap_end(s);
	if (s->spec->watch.json)
		json_print(j);
	super_output_end(s);
	struct keptoutput_result swept;
	char bytes[16];
	keptoutput_ended(s->spec->watch.state_dir, j->id, s->output.kept.kept_bytes, s->spec->keep_all_bytes, &swept);
	if (swept.jobs > 0)
		log_info("the kept output of %zu job%s that ended longest ago was removed (%s), as there was too much "
			 "in all (--keep-output-all)",
			 swept.jobs, swept.jobs == 1 ? "" : "s", size_format(swept.bytes, bytes));
	return s->exit_status;
}

/* ---- services_ops ---- */

static bool on_report(void *owner, uint32_t job, struct killreport *ret)
{
	if (job != 0)
		return false;
	*ret = super_killreport(owner);
	return true;
}

static void on_killed(void *owner, uint32_t job, struct guard_case *c)
{
	(void)job;
	super_killed(owner, c);
}

static void on_guard_started(void *owner)
{
	struct super *s = owner;
	super_not_ours(s);
	super_poll_add(s, s->services.guard.from_guard_fd, SUPER_KEY_GUARD);
	super_poll_add(s, s->services.guard.pidfd, SUPER_KEY_GUARD_DIED);
}

static bool on_hang(void *owner, uint32_t job, struct hangreport *ret, struct job_hang **ret_kept)
{
	struct super *s = owner;
	if (job != 0)
		return false;
	*ret = super_hangreport(s);
	*ret_kept = &s->hang.kept;
	return true;
}

static void on_hang_incident(void *owner, const struct hang_message *m)
{
	super_hang_incident(owner, m);
}

static void on_helpers_changed(void *owner)
{
	struct super *s = owner;
	super_hang_jobs(s);
	guardproc_jobs_begin(&s->services.guard);
	super_not_ours(s);
	guardproc_jobs_end(&s->services.guard);
}

static const struct services_ops ops = {
	.report = on_report,
	.killed = on_killed,
	.guard_started = on_guard_started,
	.hang = on_hang,
	.hang_incident = on_hang_incident,
	.helpers_changed = on_helpers_changed,
};

/* ---- the run, step by step; each step says on stderr why it failed ---- */

/* Find the libraries and plugins that the job's environment will load. */
static int tools_prepare(struct super *s)
{
	const struct run_spec *spec = s->spec;
	struct fault f = {.text = ""};
	const struct heaprun_want heap = {
		.program = spec->argv[0], .rate_bytes = spec->heap_rate_bytes, .objects = spec->heap_objects};
	int r = spec->calls ? callrun_prepare(s->w, &s->tools.calls, &f) : 0;
	if (r >= 0 && spec->heap)
		r = heaprun_prepare(s->w, &heap, &s->tools.heap, &f);
	if (r >= 0 && s->tools.heap.unfit[0])
		log_warning("%s", s->tools.heap.unfit);
	if (r >= 0 && spec->collectives)
		r = ncclrun_prepare(s->w, &s->tools.nccl, &f);
	if (r < 0)
		log_error("%s", f.text);
	if (s->tools.nccl.users_own)
		log_warning("--collectives: NCCL_PROFILER_PLUGIN is set to %s, which stays: NCCL loads one plugin, and "
			    "vigil's records nothing",
			    getenv("NCCL_PROFILER_PLUGIN"));
	return r;
}

static void group_make(struct super *s)
{
	const uint64_t limit_bytes = s->spec->watch.guard.limit_bytes;
	struct jobgroup noted = JOBGROUP_NONE;
	char why[160] = "";
	const bool placed = cgroup_place_read(s->w, 0, &s->place) == 0;
	if (placed)
		jobgroup_expect(&s->place, s->job.id, &noted);
	/* held open: guard and rescue process inherit the lock */
	s->note_fd = leftover_note(s->spec->watch.state_dir, s->job.id, &noted);
	if (placed)
		ignore(jobgroup_make(s->w, &s->place, s->job.id, &s->group, why), "watching works without a group");
	if (why[0])
		log_debug("%s", why);
	if (s->group.version != noted.version || strcmp(s->group.memory, noted.memory) != 0 ||
	    strcmp(s->group.freezer, noted.freezer) != 0)
		leftover_note_change(s->note_fd, &s->group);
	s->group.limit_bytes = limit_bytes;
	s->job.limit_bytes = limit_bytes == CGROUP_NO_LIMIT ? 0 : limit_bytes;
	TEXT_COPY(s->job.cgroup, s->group.name);
}

/* Before the guard and the others are forked: the kernel sends what is set here when the last of them is gone. */
static void death_prepare(struct super *s)
{
	for (uint32_t i = 0; i < s->nproc; i++)
		if (deathsig_open(&s->death[i], SIGTERM) < 0) {
			s->death[i] = DEATHSIG_NONE;
			log_debug("no descriptors for rank %u: it outlives a vigil that is killed with its helpers", i);
		}
}

/* Prepare everything that must exist before the first rank is started. */
static int supervise_prepare(struct super *s)
{
	const struct watch_spec *watch = &s->spec->watch;
	int r = tools_prepare(s);
	if (r < 0)
		return r;
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	job_describe(s);
	recorder_open(&s->recorder, watch->state_dir, s->job.id);
	TEXT_COPY(s->job.log_dir, s->recorder.job_dir);
	ignore(oomadj_exempt_self(s->w), "the guard notes it for vigil doctor");
	r = services_open(&s->services, s->w, watch, &ops, s);
	if (r < 0)
		return r;
	services_note_earlier(&s->services);
	s->services.n_jobs = 1;
	s->recorder.notifier = &s->services.notifier;
	group_make(s); /* only where vigil is alone in the group that it is in */
	lockwait_start(s->w->proc_fd);
	s->services.scope_holder = s->group.scope.holder;
	death_prepare(s);
	super_guard_job(s);
	r = services_start(&s->services, watch);
	if (r < 0) {
		super_cannot("start the guard", r);
		return r;
	}
	super_poll_add(s, s->services.hang.from_fd, SUPER_KEY_HANG);
	super_poll_add(s, s->signal_fd, SUPER_KEY_SIGNAL);
	struct cgroup_place place = s->place;
	if (s->group.version != CGROUP_NONE) {
		TEXT_COPY(place.memory, s->group.memory);
		TEXT_COPY(place.name, s->group.name);
	}
	s->signals = sigfeed_new(s->w);
	if (s->signals)
		sigfeed_ends(s->signals, super_hang_end, s);
	s->autopsy = autopsy_new(s->w, &place, s->signals);
	r = super_output_open(s);
	if (r < 0)
		super_cannot("pass output on", r);
	return r;
}

/* Do what can wait until the ranks run. */
static void started(struct super *s)
{
	const struct run_spec *spec = s->spec;
	recorder_job(&s->recorder, &s->job);
	recorder_event(&s->recorder, &s->job, "job_start", NULL, "%s", s->job.command);
	recorder_threshold(&s->recorder, &s->job, spec->watch.guard.threshold_ratio,
			   services_acts_at(&spec->watch.guard, s->job.limit_bytes));
	if (spec->watch.protect)
		runprotect_apply(s->w, &s->recorder, &s->job, spec->watch.quiet);
	for (uint32_t i = 0; i < s->nproc; i++)
		super_rank_record(s, &s->rank[i]);
	super_sample_begin(s);
	super_live_begin(s);
	s->bpf.at_ns = s->w->mono_ns() + bpf_delay_ns;
	s->tally.next_ns = spec->summary_ns ? s->w->mono_ns() + spec->summary_ns : 0;
	announce(s);
}

int supervise_run(const struct run_spec *spec, const struct world *w)
{
	static struct super super; /* large: many ranks */
	struct super *s = &super;
	int status = 0;
	*s = (struct super){.spec = spec,
			    .w = w,
			    .nproc = MAX(spec->nproc, 1),
			    .attempts = {.first_failed = -1},
			    .exit_status = 125,
			    .note_fd = -1,
			    .output = {.kept = {.most_bytes = spec->keep_bytes}},
			    .group = JOBGROUP_NONE};
	if (s->nproc > SUPER_RANKS) {
		log_error("--nproc %u: at most %d ranks are started on one node", s->nproc, SUPER_RANKS);
		return 125;
	}
	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll_fd < 0 || super_signals_take(s) < 0) {
		super_cannot("start", -errno);
		return 125;
	}
	if (supervise_prepare(s) < 0) {
		if (jobgroup_remove(w, &s->group) == 0) /* else the next vigil does, by the note */
			group_gone(s);
		return 125;
	}
	s->sample_boot_ns = clock_boot_ns();
	if (super_attempt_start(s, &status) != 0) {
		s->exit_status = status;
		return supervise_finish(s);
	}
	started(s);
	lockwait_begin(); /* output, signals and reports may not wait for a process of the job */
	super_loop(s);
	if (s->bpf.started)
		(void)pthread_join(s->bpf.thread, NULL);
	s->autopsy = autopsy_free(s->autopsy);
	s->signals = sigfeed_free(s->signals);
	return supervise_finish(s);
}
