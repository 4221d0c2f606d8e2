#include "agent/hang/hangsample.h"

#include <string.h>

#include "agent/hang/hangdevices.h"
#include "agent/hang/hangrespawns.h"
#include "base/buf.h"
#include "base/file.h"
#include "sense/net/fdtarget.h"
#include "sense/framework/frametimeout.h"
#include "sense/proc/proc.h"
#include "sense/net/tcpflow.h"

/* The program's arguments are read after this time: before, the process may still be its launcher. */
static const uint64_t timeout_after_ns = 3 * NS_PER_S;
/* Sockets cost a readlink for each descriptor of each process, and the kernel a walk through all sockets. */
static const uint64_t sockets_ns = 2 * NS_PER_S, sockets_rest_ns = 30 * NS_PER_S;

static void hangsample_done(struct hangsample *e)
{
	e->procs = hangprocs_free(e->procs);
	e->logs = hanglogs_free(e->logs);
	for (size_t i = 0; i < 2; i++) {
		free(e->use[i]);
		e->use[i] = NULL;
	}
}

bool hangsample_init(struct hangsample *e, struct procstats *procstats, const struct progress_patterns *user)
{
	*e = (struct hangsample){.procs = hangprocs_new(procstats), .logs = hanglogs_new(user)};
	for (size_t i = 0; i < 2; i++)
		e->use[i] = calloc(JOBPIDS_MAX, sizeof(*e->use[i]));
	if (e->procs && e->logs && e->use[0] && e->use[1])
		return true;
	hangsample_done(e);
	return false;
}

void hangsample_begin(struct hangsample *e, const struct hang_job *job)
{
	int32_t ranks[HANG_RANKS];
	size_t n = 0;
	hangprocs_forget(e->procs);
	e->usage = (struct usage){.n = 0};
	e->n_use[0] = e->n_use[1] = e->n_lanes = e->n_net = 0;
	e->net_ns = e->first_ns = e->timeout_ns = e->ray_busy_ns = 0;
	e->timeout_of = 0;
	e->gpus = e->gpus_ever = 0;
	e->opens_gpus = false;
	for (size_t i = 0; i < job->n_ranks; i++)
		if (job->rank[i].rank != NO_RANK)
			ranks[n++] = job->rank[i].rank;
	hanglogs_begin(e->logs, job->log_dir, ranks, n);
	for (size_t i = 0; i < ARRAY_SIZE(job->own_log); i++)
		hanglogs_follow(e->logs, job->own_log[i]);
}

/* ---- lanes ---- */

static size_t hangsample_lane(struct hangsample *e, int32_t rank)
{
	for (size_t i = 0; i < e->n_lanes; i++)
		if (e->lane[i].rank == rank)
			return i;
	if (e->n_lanes == LIVENESS_RANKS)
		return SIZE_MAX;
	memset(&e->lane[e->n_lanes], 0, sizeof(e->lane[0]));
	e->lane[e->n_lanes].rank = rank;
	return e->n_lanes++;
}

static uint64_t io_all(const struct procstats_io *io)
{
	return io->read_bytes + io->write_bytes + io->read_calls + io->write_calls + io->disk_read_bytes +
	       io->disk_write_bytes;
}

/* Adds up for each rank the growth of its processes' counters, so that processes may come and go. */
static void lanes_add(struct hangsample *e, bool first)
{
	for (size_t i = 0; i < e->procs->n_now; i++) {
		const struct hangprocs_member *m = &e->procs->now[i], *before = hangprocs_before(e->procs, m);
		size_t at = hangsample_lane(e, m->who.rank);
		if (at == SIZE_MAX)
			continue;
		if (!before) {
			e->lane[at].come += !first;
			e->lane[at].io_all += first ? 0 : io_all(&m->io);
			continue;
		}
		e->lane[at].io_all += sub_floor(io_all(&m->io), io_all(&before->io));
		e->lane[at].run_wait += sub_floor(m->main_queued_ns, before->main_queued_ns);
	}
	for (size_t i = 0; i < e->procs->n_gone; i++) {
		const struct hangprocs_gone *g = &e->procs->gone[i];
		size_t at = hangsample_lane(e, g->rank);
		if (at == SIZE_MAX)
			continue;
		e->lane[at].left++;
		if (g->main) {
			e->lane[at].main_gone = *g;
			e->lane[at].main_is_gone = true;
		} else {
			e->lane[at].last_gone = *g;
			e->lane[at].any_gone = true;
		}
	}
}

static void usage_add(struct hangsample *e)
{
	uint32_t now = e->turn ^= 1, was = now ^ 1;
	struct usage_process *use = e->use[now];
	for (size_t i = 0; i < e->procs->n_now; i++) {
		const struct hangprocs_member *m = &e->procs->now[i];
		use[i] = (struct usage_process){
			.pid = m->pid,
			.ppid = m->ppid,
			.start_ticks = m->start_ticks,
			.rank = m->who.rank,
			.young = m->young && e->n_use[was] > 0,
			.has_io = m->has_io,
			.cpu_ns = sub_floor(m->cpu_ns, m->service_cpu_ns),
			.reaped_cpu_ns = m->reaped_ns,
			.reaped_faults = m->reaped_ns > 0,
			.io_bytes =
				{
					[USAGE_READ] = sub_floor(m->io.disk_read_bytes, m->service_io.disk_read_bytes),
					[USAGE_WRITTEN] =
						sub_floor(m->io.disk_write_bytes, m->service_io.disk_write_bytes),
					[USAGE_READ_CALLS] = sub_floor(m->io.read_bytes, m->service_io.read_bytes),
					[USAGE_WRITE_CALLS] = sub_floor(m->io.write_bytes, m->service_io.write_bytes),
				},
		};
	}
	e->n_use[now] = e->procs->n_now;
	usage_step(&e->usage, e->use[was], e->n_use[was], use, e->n_use[now]);
}

/*
 * A worker that nobody calls takes 1 % of a core, and writes a few KiB into its log now and then; the raylet reads
 * about 10 KiB/s for ever, and the dashboard works by itself.
 */
static bool upkeep_alone(const struct hangprocs_member *m, const struct hangprocs_member *before)
{
	const double cores = 0.1, bytes_a_second = 32 * KIB;
	const double s = (double)sub_floor(m->at_ns, before->at_ns) / 1e9;
	const uint64_t bytes = sub_floor(m->io.read_bytes + m->io.write_bytes,
					 before->io.read_bytes + before->io.write_bytes);
	const double cpu_s = (double)sub_floor(m->cpu_ns + m->reaped_ns, before->cpu_ns + before->reaped_ns) / 1e9;
	return cpu_s <= cores * s && (double)bytes <= bytes_a_second * s;
}

static void ray_look(struct hangsample *e, uint64_t now_ns)
{
	bool ray = false, busy = e->procs->n_gone > 0;
	for (size_t i = 0; i < e->procs->n_now; i++) {
		const struct hangprocs_member *m = &e->procs->now[i], *before = hangprocs_before(e->procs, m);
		if (m->who.role == ROLE_RAY_SYSTEM)
			ray |= strcmp(m->comm, "raylet") == 0;
		else
			busy |= !before || !upkeep_alone(m, before);
	}
	e->ray_busy_ns = !ray ? 0 : busy || e->ray_busy_ns == 0 ? now_ns : e->ray_busy_ns;
}

/* ---- sockets ---- */

static void net_add(struct hangsample *e, const struct hangprocs_member *m, const struct tcpflow_sum *sum)
{
	size_t at = hangsample_lane(e, m->who.rank), i = 0;
	if (at == SIZE_MAX || !sum->has_bytes)
		return;
	while (i < e->n_net && e->net[i].pid != m->pid)
		i++;
	if (i == e->n_net) {
		if (e->n_net == ARRAY_SIZE(e->net))
			return;
		e->n_net++;
		e->net[i].pid = m->pid;
	} else {
		e->lane[at].net_sent += sub_floor(sum->acked_bytes, e->net[i].sent);
		e->lane[at].net_received += sub_floor(sum->received_bytes, e->net[i].received);
	}
	e->net[i].sent = sum->acked_bytes;
	e->net[i].received = sum->received_bytes;
}

static bool is_asked(const struct world *w, const struct hangprocs_member *m)
{
	return (m->main || role_serves(m->who.role) || m->who.role == ROLE_HELPER) && m->state != 'Z' &&
	       tcpflow_is_near(w, m->pid);
}

static bool any_socket(const struct hangsample *e, const struct world *w)
{
	for (size_t i = 0; i < e->procs->n_now; i++)
		if (is_asked(w, &e->procs->now[i]) && fd_any_socket(w, e->procs->now[i].pid))
			return true;
	return false;
}

/* Takes away what a process sends to itself. */
static void own_traffic_subtract(const struct world *w, pid_t pid, struct tcpflow_table *t, uint32_t owner,
				 struct tcpflow_sum *sum)
{
	struct tcpflow_sum own;
	if (sum->same_address < 2 || tcpflow_within(w, pid, t, owner, &own) != 0)
		return;
	sum->acked_bytes = sub_floor(sum->acked_bytes, own.acked_bytes);
	sum->received_bytes = sub_floor(sum->received_bytes, own.received_bytes);
}

/* The number of a rank's processes as owners of sockets; 0: none. */
static uint32_t owner_of(struct hangsample *e, const struct hangprocs_member *m)
{
	size_t at = hangsample_lane(e, m->who.rank);
	return at == SIZE_MAX ? 0 : (uint32_t)at + 1;
}

/* All processes are read before any is counted, as who shares a socket is known only then. */
static void traffic_add(struct hangsample *e, const struct world *w, struct tcpflow_table *t)
{
	static struct tcpflow_sum sum[JOBPIDS_MAX];
	static bool read[JOBPIDS_MAX];
	size_t n = MIN(e->procs->n_now, (size_t)JOBPIDS_MAX);
	for (size_t i = 0; i < n; i++) {
		const struct hangprocs_member *m = &e->procs->now[i];
		uint32_t owner = is_asked(w, m) ? owner_of(e, m) : 0;
		read[i] = owner && tcpflow_of(w, m->pid, t, owner, &sum[i]) == 0;
	}
	for (size_t i = 0; i < n; i++) {
		const struct hangprocs_member *m = &e->procs->now[i];
		if (!read[i])
			continue;
		own_traffic_subtract(w, m->pid, t, owner_of(e, m), &sum[i]);
		net_add(e, m, &sum[i]);
	}
}

/* Not while the job moves. The first reading is what later ones are compared with. */
static void sockets_sample(struct hangsample *e, const struct world *w, enum hangsample_rate rate, uint64_t now_ns)
{
	struct tcpflow_table t;
	uint64_t gap_ns = rate == HANGSAMPLE_IDLE ? sockets_rest_ns : sockets_ns;
	if (rate == HANGSAMPLE_NORMAL || (e->net_ns && now_ns - e->net_ns < gap_ns))
		return;
	e->net_ns = now_ns;
	if (!any_socket(e, w))
		return;
	e->no_net = tcpflow_dump(w, &t) != 0;
	if (e->no_net)
		return;
	traffic_add(e, w, &t);
	tcpflow_table_done(&t);
}

/* ---- the sample ---- */

/* True if a process came, or ended, or has had a processor since the sample before. */
static bool any_ran(const struct hangsample *e)
{
	bool ran = e->procs->n_gone > 0;
	for (size_t i = 0; i < e->procs->n_now && !ran; i++) {
		const struct hangprocs_member *m = &e->procs->now[i], *before = hangprocs_before(e->procs, m);
		ran = !before || m->main_run_ns != before->main_run_ns || m->cpu_ns != before->cpu_ns ||
		      m->reaped_ns != before->reaped_ns;
	}
	return ran;
}

static void sign_set(struct liveness_counters *s, enum liveness_counter sign, uint64_t value)
{
	s->has |= 1u << sign;
	s->count[sign] = value;
}

static void seen_usage(struct hangsample *e, size_t at, struct liveness_counters *s)
{
	const struct usage_lane *u = NULL;
	for (size_t i = 0; i < e->usage.n; i++)
		if (e->usage.lane[i].rank == s->rank)
			u = &e->usage.lane[i];
	if (!u)
		return;
	sign_set(s, LIVENESS_CPU, u->cpu_ns);
	sign_set(s, LIVENESS_RUN_WAIT, e->lane[at].run_wait);
	if (!u->has_io)
		return;
	uint64_t beyond = sub_floor(u->io_bytes[USAGE_WRITE_CALLS], hanglogs_bytes(e->logs, e->alone, s->rank));
	e->lane[at].log_wrote = MAX(e->lane[at].log_wrote, beyond);
	sign_set(s, LIVENESS_READ, u->io_bytes[USAGE_READ_CALLS]);
	sign_set(s, LIVENESS_WRITTEN, e->lane[at].log_wrote);
	sign_set(s, LIVENESS_DISK_READ, u->io_bytes[USAGE_READ]);
	sign_set(s, LIVENESS_DISK_WRITTEN, u->io_bytes[USAGE_WRITTEN]);
	sign_set(s, LIVENESS_IO_ALL, e->lane[at].io_all);
}

/* A program that vigil started alone may still have a rank, from the launcher that started vigil. */
static int32_t alone_of(const struct hangsample *e, const struct hang_job *job)
{
	int32_t rank = NO_RANK;
	if (job->n_ranks != 1 || job->rank[0].rank != NO_RANK)
		return NO_RANK;
	for (size_t i = 0; i < e->procs->n_now; i++) {
		const struct hangprocs_member *m = &e->procs->now[i];
		if (!m->main || m->who.rank == NO_RANK)
			continue;
		if (rank != NO_RANK)
			return NO_RANK; /* the output is a launcher's, whose lines may name their ranks */
		rank = m->who.rank;
	}
	return rank;
}

static bool is_frozen(const struct world *w, const struct hang_job *job)
{
	char path[CGROUP_PATH_MAX + 32], text[256];
	size_t len;
	uint64_t v;
	if (job->freezer[0] == '\0' || w->cgroup_fd < 0)
		return false;
	TEXT_FORMAT(path, "%s/cgroup.events", job->freezer);
	if (file_read_at(w->cgroup_fd, path, text, sizeof(text), &len) == 0)
		return text_field_u64((struct span){text, len}, "frozen", &v) == 0 && v == 1;
	TEXT_FORMAT(path, "%s/freezer.state", job->freezer);
	return file_read_at(w->cgroup_fd, path, text, sizeof(text), &len) == 0 &&
	       span_eq(span_trim((struct span){text, len}), "FROZEN");
}

static void main_fill(struct hangsample *e, const struct world *w, size_t at, bool calm, bool frozen,
		      struct liveness_counters *s)
{
	const struct hangprocs_member *m = hangprocs_main(e->procs, s->rank);
	const struct hang_rank *started = NULL;
	for (size_t i = 0; i < e->job.n_ranks; i++)
		if (e->job.rank[i].rank == s->rank)
			started = &e->job.rank[i];
	if (m) {
		struct proc_status st;
		s->pid = m->pid;
		s->state = m->state;
		s->exited = m->state == 'Z' || m->state == 'X';
		s->has_status = m->has_status;
		s->wait_status = m->wait_status;
		s->frozen = frozen;
		if ((!calm || m->state == 't') && proc_status_read(w, m->pid, &st) == 0)
			s->tracer = st.tracer;
	} else if (e->lane[at].main_is_gone || (started && started->ended)) {
		struct hangprocs_gone *g = &e->lane[at].main_gone;
		if (e->lane[at].main_is_gone && g->ended_unix_ms == 0)
			hangrespawns_ended(e->ends, e->job.attempt, g);
		s->pid = e->lane[at].main_is_gone ? g->pid : started->pid;
		s->exited = true;
		s->has_status = e->lane[at].main_is_gone && g->has_status;
		s->wait_status = g->wait_status;
		s->ended_unix_ms = g->ended_unix_ms;
	}
	if (s->exited && !s->has_status && started && started->ended && started->has_status) {
		s->has_status = true;
		s->wait_status = started->wait_status;
	}
}

static void others_fill(const struct hangsample *e, size_t at, struct liveness_counters *s)
{
	for (size_t i = 0; i < e->procs->n_now; i++) {
		const struct hangprocs_member *m = &e->procs->now[i];
		if (m->who.rank != s->rank || m->state == 'Z')
			continue;
		s->processes++;
		s->n_loaders += role_serves(m->who.role);
		s->n_compilers += m->who.role == ROLE_COMPILER;
	}
	s->n_come = e->lane[at].come;
	s->n_gone = e->lane[at].left;
	if (!e->lane[at].any_gone)
		return;
	const struct hangprocs_gone *g = &e->lane[at].last_gone;
	s->last_gone.pid = g->pid;
	s->last_gone.has_status = g->has_status;
	s->last_gone.wait_status = g->wait_status;
	TEXT_COPY(s->last_gone.role, g->role);
	TEXT_COPY(s->last_gone.name, g->name);
}

static void devices_fill(struct hangsample *e, const struct world *w, struct hangdevices *d,
			 struct liveness_counters *s)
{
	pid_t pids[512], own[64];
	size_t n = 0, n_own = 0;
	if (!d || !d->n_probes)
		return;
	for (size_t i = 0; i < e->procs->n_now && n < ARRAY_SIZE(pids); i++) {
		const struct hangprocs_member *m = &e->procs->now[i];
		if (m->who.rank != s->rank)
			continue;
		pids[n++] = m->pid; /* in order, as now[] is */
		if (!role_serves(m->who.role) && m->who.role != ROLE_COMPILER && n_own < ARRAY_SIZE(own))
			own[n_own++] = m->pid;
	}
	struct gpuclaim claim = hangdevices_claim(d, w, pids, n, own, n_own);
	hangdevices_fill(d, claim, s);
	for (uint32_t i = 0; i < GPU_MAX; i++) {
		bool first = !(e->gpus >> i & 1) || e->gpu_rank[i] == NO_RANK;
		if (claim.devices >> i & 1 && (first || (s->rank != NO_RANK && s->rank < e->gpu_rank[i])))
			e->gpu_rank[i] = s->rank;
	}
	e->gpus |= claim.devices;
	e->gpus_ever |= claim.devices;
	if (d->set && d->set->n_findings && !e->gpus_ever && !e->opens_gpus)
		e->opens_gpus = hangdevices_any_open(d, w, own, n_own);
}

/* Read once, from the first main process, some seconds after the first sample. */
static void timeout_read(struct hangsample *e, const struct world *w, uint64_t now_ns)
{
	static char variables[256 * 1024], command[16 * 1024];
	const struct hangprocs_member *m = NULL;
	size_t len = 0;
	for (size_t i = 0; i < e->procs->n_now && !m; i++)
		if (e->procs->now[i].main && e->procs->now[i].state != 'Z')
			m = &e->procs->now[i];
	if (e->timeout_of || !m || now_ns - e->first_ns < timeout_after_ns)
		return;
	e->timeout_of = m->pid;
	if (proc_environ_read(w, m->pid, variables, sizeof(variables), &len) != 0)
		len = 0;
	if (proc_command_read(w, m->pid, command, sizeof(command)) != 0)
		command[0] = '\0';
	e->timeout_ns = frametimeout_find((struct span){variables, len}, span_of(command));
}

void hangsample_take(struct hangsample *e, const struct world *w, const struct hang_job *job, enum hangsample_rate rate,
		     uint64_t *thread_ns, struct hangdevices *devices, struct liveness_sample *ret)
{
	uint64_t now_ns = w->mono_ns();
	bool first = e->first_ns == 0, calm = rate == HANGSAMPLE_NORMAL;
	e->job = *job;
	if (first)
		e->first_ns = now_ns;
	hangprocs_sample(e->procs, w, job, now_ns, thread_ns);
	hanglogs_read(e->logs, w, now_ns, w->unix_ms());
	e->alone = alone_of(e, job);
	lanes_add(e, first);
	usage_add(e);
	ray_look(e, now_ns);
	sockets_sample(e, w, rate, now_ns);
	for (size_t i = 0; i < job->n_ranks; i++)
		if (job->rank[i].rank != NO_RANK)
			ignore(hangsample_lane(e, job->rank[i].rank),
			       "a rank that ended before the first look is a rank");
	memset(ret, 0, sizeof(*ret));
	ret->now_ns = now_ns;
	ret->job_age_ns = sub_floor(now_ns, job->started_ns ? job->started_ns : e->first_ns);
	timeout_read(e, w, now_ns);
	ret->timeout_ns = e->timeout_ns;
	ret->ray_busy_ns = e->ray_busy_ns;
	ret->has_ran = !first;
	ret->ran = any_ran(e);
	bool frozen = !calm && is_frozen(w, job);
	e->gpus = 0;
	for (size_t i = 0; i < e->n_lanes; i++)
		hanglogs_know(e->logs, e->lane[i].rank);
	for (size_t i = 0; i < e->n_lanes; i++) {
		struct liveness_counters *s = &ret->rank[ret->n++];
		s->rank = e->lane[i].rank;
		seen_usage(e, i, s);
		if (!e->no_net) { /* from the first sample on: one that appears later would look like a movement */
			sign_set(s, LIVENESS_NET_SENT, e->lane[i].net_sent);
			sign_set(s, LIVENESS_NET_RECEIVED, e->lane[i].net_received);
		}
		hanglogs_fill(e->logs, e->alone, s);
		main_fill(e, w, i, calm, frozen, s);
		others_fill(e, i, s);
		devices_fill(e, w, devices, s);
	}
	if (devices)
		hangdevices_ports(devices, ret);
}
