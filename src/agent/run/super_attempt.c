#include <arpa/inet.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "sense/framework/errorfile.h"
#include "agent/run/super.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/log.h"
#include "sense/proc/proc.h"

/* Return a port that is free now; torch's store will bind it in a moment. */
static int free_port(void)
{
	cleanup(closep) int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);
	if (fd < 0 || bind(fd, (struct sockaddr *)&a, len) < 0 || getsockname(fd, (struct sockaddr *)&a, &len) < 0)
		return 29500;
	return ntohs(a.sin_port);
}

#define ENV_MAX 32

struct rank_env {
	char text[ENV_MAX][160];
	char error_file[420];
	const char *item[ENV_MAX];
	size_t n;
};

static void env_add(struct rank_env *e, const char *fmt, ...) printf_like(2, 3);
static void env_add(struct rank_env *e, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	(void)vsnprintf(e->text[e->n], sizeof(e->text[0]), fmt, ap);
	va_end(ap);
	e->item[e->n] = e->text[e->n];
	e->n++;
}

static void rank_environment(const struct super *s, uint32_t i, struct rank_env *e)
{
	e->n = 0;
	env_add(e, "VIGIL_JOB_ID=%s", s->job.id);
	env_add(e, "VIGIL_ATTEMPT=%u", s->job.attempt);
	env_add(e, "RESTART_COUNT=%u", s->job.attempt);
	if (s->tools.calls.python_path && s->tools.calls.dir[0]) {
		e->item[e->n++] = s->tools.calls.python_path;
		e->item[e->n++] = s->tools.calls.dir;
	}
	if (s->tools.heap.preload && s->tools.heap.dir[0]) {
		e->item[e->n++] = s->tools.heap.preload;
		e->item[e->n++] = s->tools.heap.dir;
		e->item[e->n++] = s->tools.heap.rate;
		if (s->tools.heap.objects[0])
			e->item[e->n++] = s->tools.heap.objects;
	}
	if (s->tools.nccl.ring[0]) {
		e->item[e->n++] = s->tools.nccl.ring;
		if (s->tools.nccl.plugin[0])
			e->item[e->n++] = s->tools.nccl.plugin;
	}
	for (size_t k = 0; k < s->spec->n_env && e->n < ENV_MAX - 8; k++)
		e->item[e->n++] = s->spec->env[k];
	if (s->spec->nproc == 0)
		return;
	env_add(e, "RANK=%u", i);
	env_add(e, "LOCAL_RANK=%u", i);
	env_add(e, "WORLD_SIZE=%u", s->nproc);
	env_add(e, "LOCAL_WORLD_SIZE=%u", s->nproc);
	const char *addr = getenv("MASTER_ADDR"), *port = getenv("MASTER_PORT");
	env_add(e, "MASTER_ADDR=%s", addr && *addr ? addr : "127.0.0.1");
	if (port && *port)
		env_add(e, "MASTER_PORT=%s", port);
	else
		env_add(e, "MASTER_PORT=%d", s->attempts.master_port);
	/*
	 * PyTorch's error handler writes the exception that ends a rank to this file, unless the user has named another
	 * one
	 */
	if (s->recorder.job_dir[0] && !getenv("TORCHELASTIC_ERROR_FILE")) {
		char dir[360], path[400];
		TEXT_FORMAT(dir, "%s/attempt-%u", s->recorder.job_dir, s->job.attempt);
		errorfile_path(dir, (int32_t)i, path, sizeof(path));
		TEXT_FORMAT(e->error_file, "TORCHELASTIC_ERROR_FILE=%s", path);
		e->item[e->n++] = e->error_file;
	}
}

void super_rank_record(struct super *s, struct rank *r)
{
	struct proc_stat st;
	r->row = (struct job_process){.attempt = s->job.attempt,
				      .pid = r->proc.pid,
				      .ppid = getpid(),
				      .rank = s->spec->nproc ? r->rank : NO_RANK,
				      .start_ticks = r->start_ticks,
				      .started_unix_ms = r->started_unix_ms};
	if (proc_stat_read(s->w, r->proc.pid, &st) == 0)
		TEXT_COPY(r->row.name, proc_known_as(st.comm));
	TEXT_COPY(r->row.job, s->job.id);
	TEXT_COPY(r->row.role, "main");
	TEXT_COPY(r->row.command, s->job.command);
	recorder_process(&s->recorder, &r->row);
}

/* A process that has ended, but was not waited for, still has its limits and its times. */
void super_rank_last_facts(struct super *s, struct rank *r)
{
	struct proc_stat st;
	if (proc_stat_read(s->w, r->proc.pid, &st) == 0 && st.comm[0] != '\0') {
		TEXT_COPY(r->row.name, proc_known_as(st.comm));
		r->has_cpu = true;
		r->cpu_ns = (st.utime_ticks + st.stime_ticks) * (NS_PER_S / s->w->ticks_per_s);
	}
	r->has_limits = true;
	for (int i = 0; i < PROCESS_LIMITS; i++) {
		struct rlimit now;
		if (prlimit(r->proc.pid, (__rlimit_resource_t)i, NULL, &now) < 0) {
			r->has_limits = false;
			return;
		}
		r->soft_limit[i] = now.rlim_cur == RLIM_INFINITY ? UINT64_MAX : now.rlim_cur;
		r->hard_limit[i] = now.rlim_max == RLIM_INFINITY ? UINT64_MAX : now.rlim_max;
	}
}

/* What a rank's start is about, for those who are called meanwhile. */
struct starting {
	struct super *s;
	uint32_t rank;
};

/* Opening the store takes some milliseconds, about as long as the first child needs to enter its group. */
static void open_store(void *ctx)
{
	struct super *s = ((const struct starting *)ctx)->s;
	recorder_open_store(&s->recorder);
}

/*
 * In the child: note it in the guard's shared memory, so that it is ended even if we die now, and have the kernel ask
 * it to end if the guard dies as well.
 */
static void announce_child(void *ctx)
{
	const struct starting *starting = ctx;
	struct super *s = starting->s;
	ignore(deathsig_set(&s->death[starting->rank], getpid()), "the guard ends it as a rule");
	struct guard_shm *shm = s->services.guard.shm;
	uint32_t n = atomic_load(&shm->n_starting);
	struct proc_stat st;
	if (n < ARRAY_SIZE(shm->starting) && proc_stat_read(s->w, getpid(), &st) == 0) {
		shm->starting[n] = (struct proc_id){st.pid, st.start_ticks};
		atomic_store(&shm->n_starting, n + 1);
	}
}

void super_cannot(const char *what, int error)
{
	struct rlimit l;
	if (error == -EMFILE && getrlimit(RLIMIT_NOFILE, &l) == 0)
		log_error("cannot %s: %s; vigil may have no more than %" PRIu64 " open here (RLIMIT_NOFILE, ulimit -n)",
			  what, strerror(-error), (uint64_t)l.rlim_cur);
	else if (error == -EAGAIN && getrlimit(RLIMIT_NPROC, &l) == 0 && l.rlim_cur != RLIM_INFINITY)
		log_error("cannot %s: no more processes may be started here: this user may have %" PRIu64
			  " (RLIMIT_NPROC, ulimit -u), and a container's limit (pids.max) may be lower",
			  what, (uint64_t)l.rlim_cur);
	else if (error == -EAGAIN)
		log_error("cannot %s: no more processes may be started here: a limit of the container or control group "
			  "(pids.max) or of the machine (kernel.pid_max) is reached",
			  what);
	else
		log_error("cannot %s: %s", what, strerror(-error));
}

static int rank_start(struct super *s, uint32_t i)
{
	struct rank *r = &s->rank[i];
	struct rank_env env;
	struct starting starting = {.s = s, .rank = i};
	rank_environment(s, i, &env);
	struct launch l = {.argv = s->spec->argv,
			   .env = env.item,
			   .n_env = env.n,
			   .group = &s->group,
			   .mask = s->old_mask,
			   .keep_stdin = i == 0,
			   .announce = announce_child,
			   .ctx = &starting};
	if (i == 0 && s->job.attempt == 0) {
		recorder_begin(&s->recorder, &s->job);
		l.meanwhile = open_store;
	}
	int e = 0;
	*r = (struct rank){.rank = (int32_t)i, .proc = {.pidfd = -1, .out_fd = -1, .err_fd = -1}};
	int c = launch(&l, &r->proc, &e);
	if (c == LAUNCH_NOT_FOUND) {
		log_error("cannot run '%s': no such command; check the spelling or give its path", s->spec->argv[0]);
		return 127;
	}
	if (c == LAUNCH_NOT_EXECUTABLE) {
		log_error("cannot run '%s': %s", s->spec->argv[0], strerror(e));
		return 126;
	}
	if (c != 0) {
		char what[200];
		TEXT_FORMAT(what, "start '%s'", s->spec->argv[0]);
		super_cannot(what, c);
		if (l.meanwhile)
			l.meanwhile(l.ctx); /* nothing was started beside which it would have been done */
		return 125;
	}
	r->running = true;
	struct proc_stat st;
	if (proc_stat_read(s->w, r->proc.pid, &st) == 0)
		r->start_ticks = st.start_ticks;
	r->started_unix_ms = s->w->unix_ms();
	super_output_begin(s, r);
	return 0;
}

/*
 * Check that the job is in its group. If it could not enter (a limit on processes, a rule of the container), freezing
 * the group would stop nothing.
 */
static bool entered_group(const struct super *s)
{
	pid_t pids[SUPER_RANKS * 4];
	size_t n = 0;
	struct proc_stat st;
	if (s->group.version == CGROUP_NONE)
		return false;
	if (cgroup_pids(s->w, s->group.memory, pids, ARRAY_SIZE(pids), &n) != 0)
		return false;
	for (size_t i = 0; i < MIN(n, ARRAY_SIZE(pids)); i++)
		if (pids[i] == s->rank[0].proc.pid)
			return true;
	/* a process that has ended is in no group */
	bool over = proc_stat_read(s->w, s->rank[0].proc.pid, &st) != 0 || st.state == 'Z';
	return over || n > ARRAY_SIZE(pids);
}

/* Pass the ranks on to the guard before they grow; the disk comes after that. */
static void tell_guard(struct super *s)
{
	struct guard_job *g = &s->services.guard.shm->jobs[0];
	bool in_group = entered_group(s);
	if (!in_group && s->group.version != CGROUP_NONE)
		log_warning("the job did not enter the control group made for it; vigil works by watching alone");
	guardproc_jobs_begin(&s->services.guard);
	g->has_group = in_group;
	g->attempt = s->job.attempt;
	if (s->job.attempt > 0)
		atomic_store(&s->services.guard.shm->growth_since_unix_ms, s->w->unix_ms());
	g->unit.active = true;
	g->unit.n_roots = s->nproc;
	for (uint32_t i = 0; i < s->nproc; i++) {
		g->unit.roots[i] = s->rank[i].proc.pid;
		g->unit.root_start_ticks[i] = s->rank[i].start_ticks;
		g->unit.ranks[i] = s->spec->nproc ? s->rank[i].rank : NO_RANK;
	}
	guardproc_jobs_end(&s->services.guard);
	atomic_store(&s->services.guard.shm->n_starting, 0);
}

int super_attempt_start(struct super *s, int *ret_status)
{
	s->attempts.first_failed = -1;
	super_output_forget(s);
	s->kills.n = 0;
	s->kills.rest_killed = false;
	s->kills.pending = NULL;
	atomic_store(&s->services.guard.shm->n_starting, 0);
	s->ending.killed_hard = s->ending.said_stuck = s->ending.said_lingering = s->ending.asked_leftovers = false;
	s->attempts.master_port = s->spec->nproc ? free_port() : 0;
	s->attempts.start_ns = s->w->mono_ns();
	lookahead_done(&s->services.ahead);
	int kept =
		s->tools.calls.python_path ? callrun_attempt(&s->tools.calls, s->recorder.job_dir, s->job.attempt) : 0;
	if (kept < 0)
		log_warning("calls are not counted: no folder for them in %s: %s", s->spec->watch.state_dir,
			    strerror(-kept));
	kept = s->tools.heap.preload ? heaprun_attempt(&s->tools.heap, s->recorder.job_dir, s->job.attempt) : 0;
	if (kept < 0)
		log_warning("no heap profile: no folder for it in %s: %s", s->spec->watch.state_dir, strerror(-kept));
	kept = s->tools.nccl.on && !s->tools.nccl.users_own
		       ? ncclrun_attempt(&s->tools.nccl, s->recorder.job_dir, s->job.attempt)
		       : 0;
	if (kept < 0)
		log_warning("NCCL's calls are not recorded: no folder for them: %s", strerror(-kept));
	for (uint32_t i = 0; i < s->nproc; i++) {
		int status = rank_start(s, i);
		if (status != 0) {
			s->phase = SUPER_ENDING;
			super_attempt_signal(s, SIGKILL);
			*ret_status = status;
			return 1;
		}
	}
	tell_guard(s);
	s->phase = SUPER_RUNNING;
	s->hang.kept.ended = false;
	super_hang_forget(s);
	super_hang_jobs(s);
	s->job.state = JOB_RUNNING;
	s->job.pid = s->rank[0].proc.pid;
	return 0;
}

/* Why vigil ended it; "": it ended by itself, though it may have been asked to end meanwhile. */
static const char *ended_for(const struct super *s, const struct rank *r)
{
	const int status = r->wait_status;
	const int by = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status) - 128;
	const bool obeyed = by == SIGTERM || by == SIGKILL;
	if (s->ending.stopping && (obeyed || (by > 0 && by == s->ending.stop_signal)))
		return ENDED_FOR_STOP;
	return r->asked_for && obeyed ? r->asked_for : "";
}

static void others_end(struct super *s)
{
	if (s->ending.stopping)
		super_end_others(s, ENDED_FOR_STOP, "the run was told to end");
	else
		super_end_others(s, ENDED_FOR_RANK, "a rank failed, and the others cannot go on without it");
}

void super_rank_ended(struct super *s, struct rank *r, int wait_status)
{
	r->running = false;
	r->wait_status = wait_status;
	r->ended_unix_ms = s->w->unix_ms();
	bool failed = !(WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0);
	super_output_drain(s, r, failed);
	r->row.has_status = true;
	r->row.wait_status = wait_status;
	r->row.ended_unix_ms = r->ended_unix_ms;
	TEXT_COPY(r->row.ended_for, ended_for(s, r));
	struct sampler_memory m;
	if (s->sampler && sampler_recall(s->sampler, r->proc.pid, r->start_ticks, &m)) {
		r->row.own_bytes = m.own_bytes;
		r->row.rss_bytes = m.rss_bytes;
		r->row.shared_bytes = sub_floor(m.rss_bytes, m.own_bytes);
		r->row.peak_own_bytes = m.peak_own_bytes;
	}
	closep(&r->proc.pidfd);
	r->proc.pidfd = -1;
	if (failed && s->attempts.first_failed < 0 && !r->ended_by_us)
		s->attempts.first_failed = (int)(r - s->rank);
	if (failed && s->phase == SUPER_RUNNING && s->nproc > 1)
		super_hang_last_look(s, r);
	if (failed && s->phase == SUPER_RUNNING && s->nproc > 1)
		others_end(s);
	recorder_process(&s->recorder, &r->row);
	super_hang_jobs(s);
}
