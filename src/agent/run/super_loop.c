#include <signal.h>
#include <string.h>
#include <sys/epoll.h>

#include "agent/incident/sigfeed.h"
#include "agent/run/super.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/log.h"
#include "sense/proc/proc.h"

/* Processes left behind by the main process are announced after this long. */
static const uint64_t linger_say_ns = 1 * NS_PER_S;
/* A kill whose attempt has not ended by then is told of before it ends. */
static const uint64_t kill_report_ns = 2 * NS_PER_S;
/* After this time a process that survived SIGKILL is taken as stuck in the kernel. */
static const uint64_t stuck_say_ns = 5 * NS_PER_S;

/* All ranks have ended: wait for processes that they left behind, or end them. */
static void after_ranks(struct super *s)
{
	pid_t pids[256];
	size_t left = super_leftovers(s, pids, ARRAY_SIZE(pids));
	if (left == 0 || s->ending.left_behind) {
		super_attempt_ended(s);
		ncclrun_keep(&s->tools.nccl);
		return;
	}
	uint64_t now = s->w->mono_ns();
	if (s->phase == SUPER_RUNNING) {
		if (s->attempts.first_failed >= 0) {
			super_end_others(s, ENDED_FOR_RANK, "its main process failed");
			return;
		}
		s->phase = SUPER_LINGERING;
		s->ending.lingering_since_ns = now;
	}
	if (s->phase == SUPER_LINGERING && !s->ending.said_lingering &&
	    now - s->ending.lingering_since_ns > linger_say_ns) {
		s->ending.said_lingering = true;
		log_info("the main process has ended (exit status 0) but %zu process%s of the job still run%s "
			 "(first: pid %d); vigil keeps watch until they end, Ctrl-C ends them",
			 left, left == 1 ? "" : "es", left == 1 ? "s" : "", (int)pids[0]);
	}
	if (s->phase == SUPER_ENDING && !s->ending.asked_leftovers) {
		s->ending.asked_leftovers = true;
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
	if (s->phase != SUPER_ENDING || s->ending.killed_hard || s->w->mono_ns() < s->deadline_ns)
		return;
	s->ending.killed_hard = true;
	super_attempt_signal(s, SIGKILL);
}

/* Report processes that SIGKILL did not end: they wait inside the kernel, mostly for storage or a device. */
static void ending_stuck(struct super *s)
{
	if (s->phase != SUPER_ENDING || !s->ending.killed_hard || s->ending.said_stuck ||
	    s->w->mono_ns() < s->deadline_ns + stuck_say_ns)
		return;
	s->ending.said_stuck = true;
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
			    "its storage or its device answers. vigil waits for it; ask vigil to end, and it is left "
			    "behind.",
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
	if (s->signals)
		sigfeed_load(s->signals, getpid(), &fd);
	s->services.iter_link_fd = s->services.guard.shm->iter_link_fd = fd;
	atomic_store(&s->bpf.done, true);
	return NULL;
}

/* Copy heap files while memory is short, but not while a victim is frozen: its stacks come first. */
static bool heap_copies_wanted(const struct super *s)
{
	const struct guard_shm *shm = s->services.guard.shm;
	return shm && shm->now.state >= GUARD_WARN && !guard_case_pending(shm);
}

static void heap_copy(struct super *s)
{
	if (heap_copies_wanted(s))
		heapfiles_copy(&s->tools.heap.files, s->w);
}

static bool is_victim(const struct guard_case *c, pid_t pid)
{
	for (uint32_t i = 0; i < MIN(c->n_victims, (uint32_t)GUARD_CASE_PIDS); i++)
		if (c->victim[i].pid == pid)
			return true;
	return false;
}

/*
 * The report of a kill waits for the end of its attempt, to say what follows. Not where the job lives on without the
 * victim, nor where all that is left are victims that SIGKILL did not end: that may last for ever.
 */
static bool kill_report_due(struct super *s, uint64_t now_ns)
{
	pid_t pids[256];
	const struct guard_case *c = s->kills.pending;
	if (!c || now_ns - s->kills.pending_since_ns <= kill_report_ns)
		return false;
	if (s->phase == SUPER_RUNNING)
		return true;
	if (s->phase != SUPER_ENDING && s->phase != SUPER_LINGERING)
		return false;
	for (uint32_t i = 0; i < s->nproc; i++)
		if (s->rank[i].running && !is_victim(c, s->rank[i].proc.pid))
			return false;
	size_t n = super_leftovers(s, pids, ARRAY_SIZE(pids));
	for (size_t i = 0; i < MIN(n, ARRAY_SIZE(pids)); i++)
		if (!is_victim(c, pids[i]))
			return false;
	return n > 0 && n <= ARRAY_SIZE(pids);
}

static void timers(struct super *s)
{
	uint64_t now = s->w->mono_ns();
	if (s->bpf.at_ns && now >= s->bpf.at_ns) {
		s->bpf.at_ns = 0;
		s->bpf.started = pthread_create(&s->bpf.thread, NULL, bpf_main, s) == 0;
	}
	if (!s->bpf.polled && atomic_load(&s->bpf.done)) {
		s->bpf.polled = true;
		super_poll_add(s, sigfeed_fd(s->signals), SUPER_KEY_SENDERS);
	}
	if (s->phase == SUPER_WAITING && now >= s->deadline_ns) {
		int status;
		s->job.attempt++;
		keptlogs_next_attempt(&s->output.kept, s->recorder.job_dir, s->job.attempt);
		if (super_attempt_start(s, &status) != 0) {
			s->exit_status = status;
			s->phase = SUPER_OVER;
			return;
		}
		for (uint32_t i = 0; i < s->nproc; i++)
			super_rank_record(s, &s->rank[i]);
		recorder_event(&s->recorder, &s->job, "attempt_start", NULL, "retry %u of at most %u", s->job.attempt,
			       s->job.max_retries);
		recorder_job(&s->recorder, &s->job);
		sampler_attempt(s->sampler);
	}
	if (s->sampler && now >= sampler_due_ns(s->sampler))
		super_sample(s);
	heap_copy(s);
	if (s->services.guard.shm)
		lookahead_refresh(&s->services.ahead, s->w, s->services.guard.shm);
	if (now >= heapfiles_due_ns(&s->tools.heap.files))
		heapfiles_tidy(&s->tools.heap.files, s->w, HEAPFILES_ENDED_BYTES);
	/* do not fork while the thread that loads BPF runs */
	bool alone = !s->bpf.started || atomic_load(&s->bpf.done);
	services_tick(&s->services, alone && s->phase != SUPER_WAITING);
	ending_deadline(s);
	ending_stuck(s);
	if (s->tally.next_ns && now >= s->tally.next_ns) {
		s->tally.next_ns = now + s->spec->summary_ns;
		super_summary(s, "the last time period");
	}
	if (kill_report_due(s, now)) {
		s->kills.stand = s->phase != SUPER_RUNNING;
		super_finish_case(s, s->kills.pending, NULL);
	}
	super_live_turn(s);
}

static int wait_ms(const struct super *s)
{
	uint64_t now = s->w->mono_ns(), next = UINT64_MAX;
	if (s->bpf.at_ns)
		next = MIN(next, s->bpf.at_ns);
	if (s->sampler)
		next = MIN(next, sampler_due_ns(s->sampler));
	next = MIN(next, heapfiles_due_ns(&s->tools.heap.files));
	if (heap_copies_wanted(s))
		next = MIN(next, heapfiles_copy_due_ns(&s->tools.heap.files));
	next = MIN(next, notifier_due_ns(&s->services.notifier));
	next = MIN(next, services_due_ns(&s->services));
	next = MIN(next, super_live_due_ns(s));
	if (s->phase != SUPER_WAITING && (!s->bpf.started || atomic_load(&s->bpf.done)))
		next = MIN(next, hangproc_due_ns(&s->services.hang));
	/* past the deadline everything has been killed: its end wakes us, no timer is needed */
	bool overdue = s->phase == SUPER_ENDING && now >= s->deadline_ns;
	if (s->phase == SUPER_WAITING || (s->phase == SUPER_ENDING && !overdue))
		next = MIN(next, s->deadline_ns);
	if (overdue && s->ending.killed_hard && !s->ending.said_stuck)
		next = MIN(next, s->deadline_ns + stuck_say_ns);
	if (s->tally.next_ns && s->tally.kills + s->tally.others > 0)
		next = MIN(next, s->tally.next_ns);
	if (s->bpf.started && !s->bpf.polled)
		next = MIN(next, now + 50 * NS_PER_MS);
	bool unsaid = s->phase == SUPER_LINGERING && !s->ending.said_lingering;
	if (unsaid || s->kills.pending || (overdue && !super_any_running(s)))
		next = MIN(next, now + 100 * NS_PER_MS);
	if (next == UINT64_MAX)
		return -1;
	return next <= now ? 0 : (int)MIN((next - now + NS_PER_MS - 1) / NS_PER_MS, 3600000);
}

void super_loop(struct super *s)
{
	while (s->phase != SUPER_OVER) {
		struct epoll_event ev[32];
		int n = epoll_wait(s->epoll_fd, ev, ARRAY_SIZE(ev), wait_ms(s));
		for (int i = 0; i < n; i++) {
			uint64_t key = ev[i].data.u64, count;
			if (key == SUPER_KEY_SIGNAL) {
				super_signals_read(s);
			} else if (key == SUPER_KEY_GUARD) {
				ignore(read(s->services.guard.from_guard_fd, &count, sizeof(count)),
				       "only the wake-up counts");
				heap_copy(s);
				services_cases(&s->services);
				lookahead_update(&s->services.ahead, s->w, s->services.guard.shm);
			} else if (key == SUPER_KEY_HANG) {
				ignore(read(s->services.hang.from_fd, &count, sizeof(count)),
				       "only the wake-up counts");
				services_hang_messages(&s->services);
			} else if (key == SUPER_KEY_OUTPUT) {
				ignore(read(s->output.news_fd, &count, sizeof(count)), "only the wake-up counts");
				super_output_news(s);
			} else if (key == SUPER_KEY_LIVE) {
				livetell_run(s->live);
			} else if (key == SUPER_KEY_SENDERS) {
				sigfeed_take(s->signals);
			} else if (key == SUPER_KEY_GUARD_DIED) {
				super_children_reap(s);
			}
		}
		timers(s);
		bool attempt_over =
			s->phase == SUPER_RUNNING || s->phase == SUPER_ENDING || s->phase == SUPER_LINGERING;
		if (attempt_over && !super_any_running(s))
			after_ranks(s);
	}
}
