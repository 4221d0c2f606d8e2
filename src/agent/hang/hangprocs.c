#include "agent/hang/hangprocs.h"

#include <string.h>

#include "agent/hang/hangshm.h"
#include "agent/wait/waitwho.h"
#include "base/bisect.h"
#include "base/buf.h"
#include "sense/proc/proc.h"
#include "sense/proc/remote.h"
#include "sense/wait/threadwait.h"

/* Children of threads other than the main one are searched in one of this many samples. */
#define THREADS_EVERY 8
#define THREADS_MOST 4096
/* Children that may be ranks: at most this many are read for their number in a sample, none before this age. */
#define SPAWNED_MOST 4
static const uint64_t spawned_first_ns = NS_PER_S;
/* A process without a command line is read so often: one that has taken its own away never has one. */
#define READ_MOST 30
/* Above these rates a process works by itself, and its service threads are not read. */
static const double busy_ratio = 0.25;
static const uint64_t busy_bytes_per_s = 4 * MIB;

struct hangprocs *hangprocs_new(struct procstats *procstats)
{
	struct hangprocs *c = calloc(1, sizeof(*c)); /* large, and zero pages cost nothing until used */
	if (!c)
		return NULL;
	c->procstats = procstats;
	c->was = calloc(JOBPIDS_MAX, sizeof(*c->was));
	c->now = calloc(JOBPIDS_MAX, sizeof(*c->now));
	c->own = calloc(JOBPIDS_MAX, sizeof(*c->own));
	c->spawned = spawnranks_new();
	return c->was && c->now && c->own && c->spawned ? c : hangprocs_free(c);
}

struct hangprocs *hangprocs_free(struct hangprocs *c)
{
	if (c) {
		free(c->was);
		free(c->now);
		free(c->own);
		free(c->spawned);
	}
	free(c);
	return NULL;
}

void hangprocs_forget(struct hangprocs *c)
{
	c->n_was = c->n_now = c->n_gone = c->pids.n = 0;
	if (c->samples > 0) /* what was never used is not touched */
		memset(c->ever, 0, sizeof(c->ever));
	c->samples = c->stirred_ns = 0;
	spawnranks_forget(c->spawned);
}

bool hangprocs_knows(const struct hangprocs *c, pid_t pid)
{
	return pid > 0 && c->ever[(size_t)pid % HANGPROCS_EVER] == pid;
}

static struct hangprocs_member *find_in(struct hangprocs_member *list, size_t n, pid_t pid)
{
	const size_t at = bisect(n, i, list[i].pid < pid);
	return at < n && list[at].pid == pid ? &list[at] : NULL;
}

const struct hangprocs_member *hangprocs_find(const struct hangprocs *c, pid_t pid)
{
	return find_in(c->now, c->n_now, pid);
}

const struct hangprocs_member *hangprocs_before(const struct hangprocs *c, const struct hangprocs_member *m)
{
	const struct hangprocs_member *was = find_in(c->was, c->n_was, m->pid);
	return was && was->start_ticks == m->start_ticks ? was : NULL;
}

const struct hangprocs_member *hangprocs_main(const struct hangprocs *c, int32_t rank)
{
	for (size_t i = 0; i < c->n_now; i++)
		if (c->now[i].main && c->now[i].who.rank == rank)
			return &c->now[i];
	return NULL;
}

/* ---- one process ---- */

static bool member_read(struct hangprocs *c, size_t at, uint64_t now_ns, struct hangprocs_member *m)
{
	pid_t pid = c->pids.of[at].pid;
	struct procstats_process p;
	if (procstats_process_read(c->procstats, pid, &p) != 0 || !jobpids_is(&c->pids, at, p.ppid, p.start_ticks))
		return false;
	const struct hangprocs_member *before = find_in(c->was, c->n_was, pid);
	if (before && before->start_ticks != p.start_ticks)
		before = NULL;
	*m = before ? *before : (struct hangprocs_member){.who = {.rank = NO_RANK, .local_rank = NO_RANK}};
	m->young = !before;
	m->at_ns = now_ns;
	m->pid = pid;
	c->ever[(size_t)pid % HANGPROCS_EVER] = pid;
	m->ppid = p.ppid;
	m->start_ticks = p.start_ticks;
	m->state = p.state;
	m->threads = p.threads;
	m->has_schedule = p.has_schedule;
	m->main_queued_ns = p.main_queued_ns;
	m->main_run_ns = p.main_run_ns;
	m->cpu_ns = p.user_ns + p.system_ns;
	m->reaped_ns = p.reaped_ns;
	m->major_faults = p.major_faults;
	m->has_io = p.has_io;
	m->io = p.io;
	m->has_status = p.has_status;
	m->wait_status = p.wait_status;
	if (m->n_read > 0)
		m->named = p.state == 'Z';
	if (strcmp(m->comm, p.comm) != 0)
		m->named = before && p.state == 'Z'; /* exec and a new title may change its role */
	TEXT_COPY(m->comm, p.comm);
	return true;
}

static const struct hang_rank *started_as(const struct hang_job *job, const struct hangprocs_member *m)
{
	for (size_t i = 0; i < job->n_ranks; i++)
		if (job->rank[i].pid == m->pid && job->rank[i].start_ticks == m->start_ticks)
			return &job->rank[i];
	return NULL;
}

/*
 * True if what was read may not be all: in the middle of its exec a process has no command line, and before it that of
 * its parent, whose name it has as well, so that its name does not tell when it called exec.
 */
static bool read_too_early(const struct hangprocs_member *m, const struct hangprocs_member *parent, const char *command)
{
	return (!command[0] && m->n_read < READ_MOST) ||
	       (m->n_read <= 1 && parent && strcmp(parent->comm, m->comm) == 0);
}

static void role_read(struct hangprocs *c, const struct world *w, const struct hang_job *job,
		      struct hangprocs_member *m)
{
	char command[2048] = "", above[2048] = "";
	size_t len = 0;
	struct role_info before = m->who;
	const struct hangprocs_member *parent = find_in(c->now, c->n_now, m->ppid);
	if (proc_environ_read(w, m->pid, c->environ, sizeof(c->environ), &len) != 0)
		len = 0;
	ignore(proc_command_read(w, m->pid, command, sizeof(command)), "gone or hidden: the role is then 'other'");
	if (parent)
		ignore(proc_command_read(w, m->ppid, above, sizeof(above)), "gone");
	struct role_input in = {
		.comm = span_of(m->comm),
		.command = span_of(command),
		.numbers = role_numbers_of((struct span){c->environ, len}),
		.parent = parent ? &parent->who : NULL,
		.parent_comm = span_of(parent ? parent->comm : ""),
		.parent_command = span_of(above),
	};
	role_of(&in, &m->who);
	if (!parent && m->who.rank == NO_RANK)
		m->who.rank = before.rank; /* its parent has ended; it keeps its rank */
	const struct hang_rank *started = started_as(job, m);
	if (started && started->rank != NO_RANK)
		m->who.rank = started->rank;
	m->named = true;
	m->n_read++;
	if (!read_too_early(m, parent, command))
		m->n_read = 0;
	c->others = true;
}

/* Reads the roles of new processes, parents first: a parent is at least as old as its child. */
static void roles_read(struct hangprocs *c, const struct world *w, const struct hang_job *job)
{
	for (bool more = true; more;) {
		more = false;
		for (size_t i = 0; i < c->n_now; i++) {
			struct hangprocs_member *m = &c->now[i];
			if (m->named)
				continue;
			const struct hangprocs_member *up = find_in(c->now, c->n_now, m->ppid);
			if (up && up != m && !up->named && up->start_ticks <= m->start_ticks &&
			    !(up->start_ticks == m->start_ticks && up > m)) {
				more = true;
				continue; /* the parent comes first */
			}
			role_read(c, w, job, m);
		}
	}
}

/* ---- ranks that a program starts itself ---- */

static void own_ranks_read(struct hangprocs *c, const struct world *w)
{
	for (size_t i = 0; i < c->n_now; i++) {
		const struct hangprocs_member *m = &c->now[i];
		c->own[i] = (struct ownranks_process){.pid = m->pid,
						      .ppid = m->ppid,
						      .start_ticks = m->start_ticks,
						      .ended = m->state == 'Z',
						      .who = m->who};
	}
	if (spawnranks_update(c->spawned, w, c->own, c->n_now, spawned_first_ns, SPAWNED_MOST, c->others))
		for (size_t i = 0; i < c->n_now; i++)
			c->now[i].who = c->own[i].who;
	c->others = false;
}

static int claim(const struct hang_job *job, const struct hangprocs_member *m)
{
	return waitwho_claim(m->who.role, started_as(job, m) != NULL);
}

/* Of several equal ones the oldest: a program that starts itself again still stands for its rank. */
static void mains_choose(struct hangprocs *c, const struct hang_job *job)
{
	for (size_t i = 0; i < c->n_now; i++)
		c->now[i].main = false;
	for (size_t i = 0; i < c->n_now; i++) {
		struct hangprocs_member *m = &c->now[i], *best = NULL;
		if (claim(job, m) == 0)
			continue;
		for (size_t k = 0; k < c->n_now; k++)
			if (c->now[k].main && c->now[k].who.rank == m->who.rank)
				best = &c->now[k];
		int better = best ? claim(job, m) - claim(job, best) : 1;
		/* a shell that was started as a rank stands for it only while no better process does */
		if (better < 0 || (better == 0 && m->start_ticks >= best->start_ticks))
			continue;
		if (best)
			best->main = false;
		m->main = true;
	}
}

/* ---- threads ---- */

static void io_add(struct procstats_io *to, const struct procstats_io *io)
{
	to->read_bytes += io->read_bytes;
	to->write_bytes += io->write_bytes;
	to->read_calls += io->read_calls;
	to->write_calls += io->write_calls;
	to->disk_read_bytes += io->disk_read_bytes;
	to->disk_write_bytes += io->disk_write_bytes;
}

static void threads_read_of(struct hangprocs *c, struct hangprocs_member *m)
{
	static struct procstats_thread thread[THREADS_MOST];
	size_t n = 0;
	if (procstats_threads_read(c->procstats, m->pid, thread, ARRAY_SIZE(thread), &n) != 0)
		return;
	struct procstats_io io = {.read_bytes = 0};
	uint64_t cpu_ns = 0;
	for (size_t i = 0; i < MIN(n, ARRAY_SIZE(thread)); i++) {
		if (!liveness_service_thread(thread[i].comm))
			continue;
		cpu_ns += thread[i].run_ns;
		io_add(&io, &thread[i].io);
	}
	/*
	 * a thread that ended is not in the sum any more: the sum must not shrink, or its work would count as the
	 * program's
	 */
	m->service_cpu_ns = MAX(m->service_cpu_ns, cpu_ns);
	if (io.read_bytes + io.write_bytes >= m->service_io.read_bytes + m->service_io.write_bytes)
		m->service_io = io;
}

/* True if the process did something, but so little that its service threads may have done all of it. */
static bool is_doubtful(const struct hangprocs_member *before, const struct hangprocs_member *m)
{
	if (!before || m->threads < 2 || m->state == 'Z')
		return false;
	uint64_t gap_ns = sub_floor(m->at_ns, before->at_ns);
	double s = (double)gap_ns / (double)NS_PER_S;
	uint64_t cpu = sub_floor(m->cpu_ns, before->cpu_ns);
	uint64_t bytes =
		sub_floor(m->io.read_bytes + m->io.write_bytes, before->io.read_bytes + before->io.write_bytes);
	bool moved = cpu > 0 || bytes > 0;
	return moved && (double)cpu < busy_ratio * (double)gap_ns && (double)bytes < (double)busy_bytes_per_s * s;
}

/*
 * Keeps the numbers of the sample before: without time to read the threads it is not known whether the program moved.
 * They are read some seconds later.
 */
static void hold_back(const struct hangprocs_member *before, struct hangprocs_member *m)
{
	m->at_ns = before->at_ns;
	m->cpu_ns = before->cpu_ns;
	m->io = before->io;
	m->main_queued_ns = before->main_queued_ns;
}

static void threads_weigh(struct hangprocs *c, const struct world *w, uint64_t *thread_ns)
{
	for (size_t i = 0; i < c->n_now; i++) {
		struct hangprocs_member *m = &c->now[i];
		const struct hangprocs_member *before = hangprocs_before(c, m);
		if (!is_doubtful(before, m))
			continue;
		if (*thread_ns == 0) {
			hold_back(before, m);
			continue;
		}
		uint64_t began = w->mono_ns();
		threads_read_of(c, m);
		*thread_ns = sub_floor(*thread_ns, w->mono_ns() - began);
	}
}

/* ---- ended processes ---- */

static void gone_add(struct hangprocs *c, const struct hangprocs_member *m)
{
	if (c->n_gone == HANGPROCS_GONE)
		return;
	struct hangprocs_gone *g = &c->gone[c->n_gone++];
	*g = (struct hangprocs_gone){.rank = m->who.rank,
				     .pid = m->pid,
				     .start_ticks = m->start_ticks,
				     .main = m->main,
				     .has_status = m->has_status,
				     .wait_status = m->wait_status};
	TEXT_COPY(g->role, role_name(m->who.role));
	TEXT_COPY(g->name, m->comm);
}

/*
 * A zombie counts as ended, whether or not its parent has reaped it; it is reported once. One that ended before it was
 * seen to live counts if it failed: many short ones that end well say nothing.
 */
static void gone_find(struct hangprocs *c)
{
	c->n_gone = 0;
	for (size_t i = 0; i < c->n_was; i++) {
		const struct hangprocs_member *was = &c->was[i], *now = find_in(c->now, c->n_now, was->pid);
		bool same = now && now->start_ticks == was->start_ticks;
		if (was->state == 'Z' || (same && now->state != 'Z'))
			continue;
		gone_add(c, same ? now : was);
	}
	for (size_t i = 0; c->samples > 0 && i < c->n_now; i++) {
		const struct hangprocs_member *m = &c->now[i];
		const bool failed = !m->main && m->state == 'Z' && m->has_status && m->wait_status != 0;
		if (failed && !hangprocs_before(c, m))
			gone_add(c, m);
	}
}

/* ---- whether anything runs ---- */

/* The other threads of a process are not read, so whoever has some may have run. */
static bool may_have_run(const struct hangprocs *c, const struct hangprocs_member *m)
{
	const struct hangprocs_member *before = hangprocs_before(c, m);
	if (before && before->state == 'Z')
		return false;
	return !before || m->threads != 1 || !m->has_schedule || !before->has_schedule ||
	       m->main_run_ns != before->main_run_ns;
}

/* The first sample has none before it. */
static void stir_note(struct hangprocs *c, uint64_t now_ns)
{
	bool stirred = c->n_gone > 0;
	for (size_t i = 0; i < c->n_now && !stirred; i++)
		stirred = may_have_run(c, &c->now[i]);
	if (stirred && c->samples > 0)
		c->stirred_ns = now_ns;
}

bool hangprocs_stirred(const struct hangprocs *c, uint64_t now_ns, uint64_t within_ns)
{
	if (c->samples < 2)
		return true; /* not known */
	return c->stirred_ns && sub_floor(now_ns, c->stirred_ns) <= within_ns;
}

void hangprocs_sample(struct hangprocs *c, const struct world *w, const struct hang_job *job, uint64_t now_ns,
		      uint64_t *thread_ns)
{
	struct hangprocs_member *swap = c->was;
	c->was = c->now;
	c->n_was = c->n_now;
	c->now = swap;
	c->n_now = 0;
	struct jobpids_want want = {.cgroup = job->cgroup[0] ? job->cgroup : NULL,
				    .root = job->root,
				    .root_start_ticks = job->root_start_ticks,
				    .root_is_ours = job->root_is_ours};
	_Static_assert(sizeof(want.not_ours) == sizeof(job->not_ours), "both name the same helpers");
	memcpy(want.not_ours, job->not_ours, sizeof(want.not_ours));
	memcpy(want.also, job->also, sizeof(want.also));
	jobpids_find(&c->pids, w, &want, c->samples % THREADS_EVERY == 0);
	for (size_t i = 0; i < c->pids.n; i++)
		c->n_now += member_read(c, i, now_ns, &c->now[c->n_now]) ? 1 : 0;
	for (size_t i = 0; i < c->n_now; i++)
		jobpids_keep(&c->pids, i, c->now[i].pid, c->now[i].start_ticks);
	c->pids.n = c->n_now;
	roles_read(c, w, job);
	own_ranks_read(c, w);
	mains_choose(c, job);
	threads_weigh(c, w, thread_ns);
	gone_find(c);
	stir_note(c, now_ns);
	c->samples++;
}

void hangprocs_own_publish(const struct hangprocs *c, struct hang_own *own)
{
	for (size_t i = 0; i < c->n_now; i++) {
		const struct hangprocs_member *m = &c->now[i];
		uint32_t n = atomic_load(&own->n), k = 0;
		if (!m->main || !m->who.own_number || m->who.rank == NO_RANK)
			continue;
		while (k < n && (own->of[k].pid != m->pid || own->of[k].start_ticks != m->start_ticks))
			k++;
		if (k < n || n == HANG_RANKS)
			continue;
		own->of[n] = (struct hang_own_rank){.pid = m->pid, .rank = m->who.rank, .start_ticks = m->start_ticks};
		atomic_store(&own->n, n + 1);
	}
}

bool hangprocs_sleeps(const struct world *w, pid_t pid, pid_t tid, uint64_t *ret_until_ns)
{
	struct threadwait t;
	struct remote r;
	remote_open(w, pid, &r);
	const bool sleeps = threadwait_read(w, pid, tid, &r, true, &t) == 0 && t.kind == WAIT_SLEEP;
	remote_done(&r);
	if (sleeps)
		*ret_until_ns = t.sleep_until_ns;
	return sleeps;
}
