#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "sense/framework/errorfile.h"
#include "agent/run/super.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/log.h"
#include "sense/proc/proc.h"

/* Ranks that are ended because another one failed get this long between SIGTERM and SIGKILL. */
static const uint64_t end_grace_ns = 10 * NS_PER_S;

/* A port that is free now; torch's store will bind it in a moment. */
static int free_port(void)
{
	cleanup(closep) int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);
	if (fd < 0 || bind(fd, (struct sockaddr *)&a, len) < 0 || getsockname(fd, (struct sockaddr *)&a, &len) < 0)
		return 29500;
	return ntohs(a.sin_port);
}

#define ENV_MAX 20

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
	if (s->calls.python_path && s->calls.dir[0]) {
		e->item[e->n++] = s->calls.python_path;
		e->item[e->n++] = s->calls.dir;
	}
	if (s->heap.preload && s->heap.dir[0]) {
		e->item[e->n++] = s->heap.preload;
		e->item[e->n++] = s->heap.dir;
		e->item[e->n++] = s->heap.rate;
		if (s->heap.objects[0])
			e->item[e->n++] = s->heap.objects;
	}
	if (s->nccl.ring[0]) {
		e->item[e->n++] = s->nccl.ring;
		if (s->nccl.plugin[0])
			e->item[e->n++] = s->nccl.plugin;
	}
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
		env_add(e, "MASTER_PORT=%d", s->master_port);
	/* where PyTorch's error handler writes the exception that ends a rank: who has said where gets it there */
	if (s->recorder.job_dir[0] && !getenv("TORCHELASTIC_ERROR_FILE")) {
		char dir[360], path[400];
		TEXT_FORMAT(dir, "%s/attempt-%u", s->recorder.job_dir, s->job.attempt);
		errorfile_path(dir, (int32_t)i, path, sizeof(path));
		TEXT_FORMAT(e->error_file, "TORCHELASTIC_ERROR_FILE=%s", path);
		e->item[e->n++] = e->error_file;
	}
}

void super_poll_add(struct super *s, int fd, uint64_t key)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.u64 = key};
	if (fd >= 0 && epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &ev) < 0)
		log_debug("epoll: %s", strerror(errno));
}

void super_rank_record(struct super *s, struct rank *r)
{
	struct proc_stat st;
	r->row = (struct job_process){.attempt = s->job.attempt, .pid = r->proc.pid, .ppid = getpid(),
				      .rank = s->spec->nproc ? r->rank : NO_RANK,
				      .start_ticks = r->start_ticks, .started_unix_ms = r->started_unix_ms};
	if (proc_stat_read(s->w, r->proc.pid, &st) == 0)
		TEXT_COPY(r->row.name, st.comm);
	TEXT_COPY(r->row.job, s->job.id);
	TEXT_COPY(r->row.role, "main");
	TEXT_COPY(r->row.command, s->job.command);
	recorder_process(&s->recorder, &r->row);
}

void super_rank_last_name(struct super *s, struct rank *r)
{
	struct proc_stat st;
	if (proc_stat_read(s->w, r->proc.pid, &st) == 0 && st.comm[0] != '\0')
		TEXT_COPY(r->row.name, st.comm);
}

/* The store takes some milliseconds to open, and the first child about as long to enter its group. */
static void open_store(void *ctx)
{
	struct super *s = ctx;
	recorder_open_store(&s->recorder);
}

/* In the child: the guard, which shares this memory, knows of it before anybody can be killed. */
static void announce_child(void *ctx)
{
	struct super *s = ctx;
	struct guard_shm *shm = s->guard.shm;
	uint32_t n = atomic_load(&shm->n_starting);
	struct proc_stat st;
	if (n < ARRAY_SIZE(shm->starting) && proc_stat_read(s->w, getpid(), &st) == 0) {
		shm->starting[n] = (struct proc_id){st.pid, st.start_ticks};
		atomic_store(&shm->n_starting, n + 1);
	}
}

static int rank_start(struct super *s, uint32_t i)
{
	struct rank *r = &s->rank[i];
	struct rank_env env;
	rank_environment(s, i, &env);
	struct launch l = {.argv = s->spec->argv, .env = env.item, .n_env = env.n, .group = &s->group,
			   .mask = s->old_mask, .keep_stdin = i == 0,
			   .announce = announce_child, .ctx = s};
	if (i == 0 && s->job.attempt == 0)
		l.meanwhile = open_store;
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
		log_error("cannot start '%s': %s", s->spec->argv[0], strerror(-c));
		return 125;
	}
	r->running = true;
	struct proc_stat st;
	if (proc_stat_read(s->w, r->proc.pid, &st) == 0)
		r->start_ticks = st.start_ticks;
	r->started_unix_ms = s->w->unix_ms();
	tee_open(&r->out, r->proc.out_fd, &s->out, recorder_log_open(&s->recorder, s->job.attempt, r->rank, "out"));
	tee_open(&r->err, r->proc.err_fd, s->err_to, recorder_log_open(&s->recorder, s->job.attempt, r->rank, "err"));
	super_output_poll(s);
	return 0;
}

/*
 * A job that could not enter its group (a limit on processes, a rule of the
 * container) must not be believed to be in it: freezing would stop nobody.
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
	/* one that has ended already is in no group, and needs none */
	bool over = proc_stat_read(s->w, s->rank[0].proc.pid, &st) != 0 || st.state == 'Z';
	return over || n > ARRAY_SIZE(pids);
}

/* The guard must know the ranks before they grow; the disk comes after that. */
static void tell_guard(struct super *s)
{
	struct guard_job *g = &s->guard.shm->jobs[0];
	bool in_group = entered_group(s);
	if (!in_group && s->group.version != CGROUP_NONE)
		log_warning("the job did not enter the control group made for it; vigil works by watching alone");
	guardproc_jobs_begin(&s->guard);
	g->has_group = in_group;
	g->attempt = s->job.attempt;
	g->unit.active = true;
	g->unit.n_roots = s->nproc;
	for (uint32_t i = 0; i < s->nproc; i++) {
		g->unit.roots[i] = s->rank[i].proc.pid;
		g->unit.root_start_ticks[i] = s->rank[i].start_ticks;
		g->unit.ranks[i] = s->spec->nproc ? s->rank[i].rank : NO_RANK;
	}
	guardproc_jobs_end(&s->guard);
	atomic_store(&s->guard.shm->n_starting, 0);
}

int super_attempt_start(struct super *s, int *ret_status)
{
	s->first_failed = -1;
	s->attempt_kills = 0;
	s->rest_killed = false;
	s->pending = NULL;
	atomic_store(&s->guard.shm->n_starting, 0);
	s->killed_hard = s->said_stuck = s->said_lingering = s->asked_leftovers = false;
	s->master_port = s->spec->nproc ? free_port() : 0;
	s->attempt_start_ns = s->w->mono_ns();
	lookahead_done(&s->ahead);
	int kept = s->calls.python_path ? callrun_attempt(&s->calls, s->recorder.job_dir, s->job.attempt) : 0;
	if (kept < 0)
		log_warning("calls are not counted: no folder for them in %s: %s", s->spec->state_dir, strerror(-kept));
	kept = s->heap.preload ? heaprun_attempt(&s->heap, s->recorder.job_dir, s->job.attempt) : 0;
	if (kept < 0)
		log_warning("no heap profile: no folder for it in %s: %s", s->spec->state_dir, strerror(-kept));
	kept = s->nccl.on && !s->nccl.users_own ? ncclrun_attempt(&s->nccl, s->recorder.job_dir, s->job.attempt) : 0;
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
	s->hung = false;
	s->hang_incident.id[0] = '\0';
	super_hang_forget(s);
	super_hang_jobs(s);
	s->job.state = JOB_RUNNING;
	s->job.pid = s->rank[0].proc.pid;
	return 0;
}

void super_attempt_signal(struct super *s, int signal)
{
	for (uint32_t i = 0; i < s->nproc; i++)
		if (s->rank[i].running)
			(void)kill(s->rank[i].proc.pid, signal);
}

void super_end_others(struct super *s, const char *why)
{
	pid_t pids[1024];
	size_t n = 0;
	for (uint32_t i = 0; i < s->nproc; i++) {
		if (!s->rank[i].running)
			continue;
		s->rank[i].ended_by_us = true;
		n++;
	}
	super_attempt_signal(s, SIGTERM);
	size_t left = n == 0 ? super_leftovers(s, pids, ARRAY_SIZE(pids)) : 0;
	s->asked_leftovers = n == 0;
	for (size_t i = 0; i < MIN(left, ARRAY_SIZE(pids)); i++)
		(void)kill(pids[i], SIGTERM);
	if (n + left > 0) {
		recorder_event(&s->recorder, &s->job, "end_others", NULL, "%zu more processes are ended: %s", n + left,
			       why);
		if (!s->spec->quiet && (n > 0 || s->stopping))
			log_info("ending %zu more process%s of the job: %s", n + left, n + left == 1 ? "" : "es", why);
	}
	s->phase = SUPER_ENDING;
	s->deadline_ns = s->w->mono_ns() + end_grace_ns;
}

/* Everything that descends from us, but for our helpers: double forks end up as our children. */
size_t super_leftovers(struct super *s, pid_t *pids, size_t cap)
{
	char text[8192], path[64];
	size_t len, n = 0;
	(void)snprintf(path, sizeof(path), "self/task/%d/children", (int)getpid());
	if (file_read_at(s->w->proc_fd, path, text, sizeof(text), &len) < 0)
		return 0;
	struct span rest = {text, len}, word;
	while (span_word(&rest, &word)) {
		uint64_t pid;
		struct proc_stat st;
		if (span_u64(word, &pid) < 0 || (pid_t)pid == s->guard.pid || (pid_t)pid == s->group.scope.holder ||
		    (pid_t)pid == s->notifier.deliverer || (pid_t)pid == s->hang.pid)
			continue;
		if (proc_stat_read(s->w, (pid_t)pid, &st) != 0 || st.state == 'Z')
			continue;
		if (n < cap)
			pids[n] = (pid_t)pid;
		n++;
	}
	return n;
}

static void drain(struct tee *t)
{
	/* what the job wrote before it died is still in the channel */
	for (int i = 0; i < 1024 && t->from_fd >= 0; i++) {
		uint64_t before = t->bytes;
		if (!tee_pump(t) || t->bytes == before)
			break;
	}
}

void super_rank_ended(struct super *s, struct rank *r, int wait_status)
{
	r->running = false;
	r->wait_status = wait_status;
	r->ended_unix_ms = s->w->unix_ms();
	drain(&r->out);
	drain(&r->err);
	r->row.has_status = true;
	r->row.wait_status = wait_status;
	r->row.ended_unix_ms = r->ended_unix_ms;
	struct sampler_memory m;
	if (s->sampler && sampler_recall(s->sampler, r->proc.pid, r->start_ticks, &m)) {
		r->row.own_bytes = m.own_bytes;
		r->row.rss_bytes = m.rss_bytes;
		r->row.shared_bytes = sub_floor(m.rss_bytes, m.own_bytes);
		r->row.peak_own_bytes = m.peak_own_bytes;
	}
	closep(&r->proc.pidfd);
	r->proc.pidfd = -1;
	bool failed = !(WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0);
	if (failed && s->first_failed < 0 && !r->ended_by_us)
		s->first_failed = (int)(r - s->rank);
	if (failed && s->phase == SUPER_RUNNING && s->nproc > 1)
		super_hang_last_look(s, r);
	if (failed && s->phase == SUPER_RUNNING && s->nproc > 1)
		super_end_others(s, "a rank failed, and the others cannot go on without it");
	recorder_process(&s->recorder, &r->row);
	super_hang_jobs(s);
}
