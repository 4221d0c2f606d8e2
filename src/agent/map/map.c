#include "agent/map/map.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>

#include "agent/map/mapstate.h"
#include "base/buf.h"
#include "base/log.h"
#include "sense/lockwait.h"

#define KEY_SIGNAL 0
#define KEY_INPUT 1
#define KEY_LINES 2 /* and 3: of stdout and stderr, with the slot above */

static int signals_take(struct map *m)
{
	sigset_t ours;
	(void)sigemptyset(&ours);
	static const int taken[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	for (size_t i = 0; i < ARRAY_SIZE(taken); i++) {
		struct sigaction now;
		/* what nohup or a shell's & have us ignore stays ignored */
		if (taken[i] == SIGCHLD || sigaction(taken[i], NULL, &now) < 0 || now.sa_handler != SIG_IGN)
			(void)sigaddset(&ours, taken[i]);
	}
	(void)sigprocmask(SIG_BLOCK, &ours, &m->old_mask);
	(void)signal(SIGPIPE, SIG_IGN);
	m->signal_fd = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
	struct epoll_event ev = {.events = EPOLLIN, .data.u64 = KEY_SIGNAL};
	if (m->signal_fd < 0 || epoll_ctl(m->epoll_fd, EPOLL_CTL_ADD, m->signal_fd, &ev) < 0)
		return -errno;
	return 0;
}

/* The first time tasks are asked to end, the second time they are killed. */
static void stop(struct map *m, int signal)
{
	m->stops++;
	m->tally.stop_signal = signal;
	if (m->stops == 1 && signal != SIGPIPE && m->n_runners > 0 && !m->spec->quiet)
		log_info("ending: %u task%s asked to end, no more are started%s", m->n_runners,
			 m->n_runners == 1 ? " is" : "s are", signal == SIGINT ? " (once more kills them)" : "");
	for (uint32_t i = 0; i < m->n_runners; i++) {
		if (m->stops == 1)
			map_ask_end(m, m->runner[i], MAP_WHY_STOP);
		else
			map_kill(m, m->runner[i]);
	}
}

/* All but the end of children, which is looked for in any case. */
static void stops_read(struct map *m)
{
	struct signalfd_siginfo info[8];
	ssize_t n;
	while ((n = read(m->signal_fd, info, sizeof(info))) > 0)
		for (size_t i = 0; i < (size_t)n / sizeof(*info); i++)
			if (info[i].ssi_signo != SIGCHLD)
				stop(m, (int)info[i].ssi_signo);
}

static void children_ended(struct map *m)
{
	uint32_t before = m->n_runners;
	map_reap(m);
	if (m->n_runners == before)
		return;
	map_strays_end(m, false);
	map_slots_follow(m);
}

static void timers(struct map *m)
{
	map_end_timers(m);
	if (m->w->mono_ns() >= map_memory_due_ns(m))
		map_memory_look(m);
}

/*
 * Our reader is slow: what must not wait for it goes on. Nobody is reaped here, as somebody's output is being
 * written.
 */
static bool while_blocked(void *ctx)
{
	struct map *m = ctx;
	stops_read(m);
	timers(m);
	m->reap_later = true;
	return m->stops < 2;
}

static void lines_read(struct map *m, uint64_t key)
{
	for (uint32_t i = 0; i < m->n_runners; i++) {
		struct map_runner *r = m->runner[i];
		if (r->slot != key >> 2)
			continue;
		cleanup(freep) char *tag = map_tag(m, r->task);
		mapoutput_readable(&m->output, &r->files, (int)(key & 1), tag);
	}
}

/* Inputs that come later wake the loop, while a task could be started with them. */
static void input_poll(struct map *m)
{
	int fd = mapinputs_fd(m->in);
	bool want = fd >= 0 && map_start_open(m) && !m->waiting && map_start_due_ns(m) == UINT64_MAX;
	if (want == m->in_polled)
		return;
	struct epoll_event ev = {.events = EPOLLIN, .data.u64 = KEY_INPUT};
	if (epoll_ctl(m->epoll_fd, want ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, fd, &ev) == 0 || errno != EPERM)
		m->in_polled = want;
}

static int wait_ms(const struct map *m)
{
	uint64_t now = m->w->mono_ns(), next = MIN(map_start_due_ns(m), map_end_due_ns(m));
	next = MIN(MIN(next, map_memory_due_ns(m)), map_bar_due_ns(m));
	if (m->reap_later)
		return 0;
	if (next == UINT64_MAX)
		return -1;
	return next <= now ? 0 : (int)MIN((next - now + NS_PER_MS - 1) / NS_PER_MS, 3600000);
}

static bool is_over(const struct map *m)
{
	return m->n_runners == 0 &&
	       (m->stops > 0 || m->fatal || m->halt != HALT_NEVER || (m->inputs_over && !m->again && !m->waiting));
}

static void map_loop(struct map *m)
{
	for (;;) {
		struct epoll_event ev[64];
		map_start_all(m);
		map_job_started(m);
		if (m->output.error && m->stops == 0)
			stop(m, SIGPIPE);
		if (is_over(m))
			return;
		input_poll(m);
		int n = epoll_wait(m->epoll_fd, ev, ARRAY_SIZE(ev), wait_ms(m));
		bool signalled = false;
		for (int i = 0; i < n; i++) {
			signalled |= ev[i].data.u64 == KEY_SIGNAL;
			if (ev[i].data.u64 == KEY_SIGNAL)
				stops_read(m);
			else if (ev[i].data.u64 >= KEY_LINES)
				lines_read(m, ev[i].data.u64);
		}
		if (signalled || m->reap_later) {
			m->reap_later = false;
			children_ended(m);
		}
		timers(m);
		map_bar_draw(m);
	}
}

static void before_output(void *ctx)
{
	map_bar_clear(ctx);
}

static int prepare(struct map *m)
{
	const struct map_spec *spec = m->spec;
	struct fault f = {.text = ""};
	bool resume = spec->resume || spec->resume_failed;
	bool whole =
		resume || spec->bar || spec->eta || template_wants_total(spec->template) || spec->halt.share_ratio > 0;
	int r = map_gpus_find(m, &f); /* before there are threads: drivers are asked in children */
	if (r == 0)
		r = maplog_open(&m->log, spec, &f);
	if (r == 0 && spec->retry_failed)
		r = map_resume_retry(m, &f);
	if (r == 0)
		r = maptable_open(&m->output.table, spec, &f);
	if (r == 0)
		r = mapinputs_open(m->spec, whole, &m->in, &f);
	if (r == 0) {
		m->total = mapinputs_total(m->in);
		r = resume ? map_resume_check(m, &f) : 0;
	}
	if (r < 0) {
		log_error("%s; nothing was started", f.text);
		return r;
	}
	map_resume_left(m);
	if (!spec->dry_run)
		map_job_begin(m);
	TEXT_FORMAT(m->env_job, "VIGIL_JOB_ID=%s", m->job.id);
	r = map_start_prepare(m);
	if (r == 0 && !spec->dry_run)
		r = warden_start(m->w, m->env_job, &m->groups, &m->warden);
	m->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	m->null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (r == 0 && (m->epoll_fd < 0 || m->null_fd < 0))
		r = -errno;
	r = r == 0 ? signals_take(m) : r;
	if (r == 0)
		map_memory_open(m);
	if (r < 0)
		log_error("cannot start: %s", strerror(-r));
	return r;
}

static void finish(struct map *m)
{
	warden_end(&m->warden);
	map_groups_close(m);
	map_memory_close(m);
	maplog_close(&m->log);
	mapoutput_done(&m->output);
	m->in = mapinputs_close(m->in);
	while (m->again) {
		struct map_task *t = m->again;
		m->again = t->next;
		map_task_free(t);
	}
	map_task_free(m->waiting);
	template_words_done(&m->words);
	free(m->env);
	for (size_t i = 0; m->retry_line && i < m->retried.source[0].n; i++)
		free(m->retry_line[i]);
	free(m->retry_line);
	closep(&m->epoll_fd);
	closep(&m->signal_fd);
	closep(&m->null_fd);
}

int map_run(const struct map_spec *spec, const struct world *w)
{
	static struct map map; /* large: many slots */
	struct map *m = &map;
	*m = (struct map){.spec = spec,
			  .w = w,
			  .next_seq = 1,
			  .log = MAPLOG_NONE,
			  .epoll_fd = -1,
			  .signal_fd = -1,
			  .null_fd = -1,
			  .memory = {.meminfo_fd = -1, .share_ratio = 1},
			  .note_fd = -1,
			  .groups = TASKGROUPS_NONE,
			  .warden = {.fd = -1}};
	m->again_end = &m->again;
	m->slots = spec->slots;
	mapoutput_init(&m->output, spec, &(struct mapoutput_wait){while_blocked, before_output, m});
	map_strays_earlier(m);
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	int status = 125;
	lockwait_begin(); /* the loop may not wait for a process of a task */
	if (prepare(m) == 0) {
		map_bar_open(m);
		map_loop(m);
		map_bar_close(m);
		map_strays_last(m);
		mapoutput_no_more(&m->output); /* to remove groups takes descriptors, of which there may be few */
		map_groups_close(m);
		status = m->fatal ? m->fatal : map_exit_status(&spec->halt, &m->tally, m->total);
		map_job_end(m, status);
	}
	finish(m);
	return status;
}
