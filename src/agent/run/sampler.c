#include "agent/run/sampler.h"

#include <limits.h>
#include <string.h>

#include "base/bisect.h"
#include "base/buf.h"
#include "base/clock.h"
#include "model/jobs/bulk.h"
#include "model/jobs/ownranks.h"
#include "model/jobs/role.h"
#include "model/jobs/usage.h"
#include "model/memory/ledger.h"
#include "sense/proc/proc.h"
#include "tell/store/series.h"

/* A job that ends before this has no series file: the store has its start and end. */
static const uint64_t first_look_ns = 200 * NS_PER_MS;
static const uint64_t just_now_ns = 20 * NS_PER_MS;
static const uint64_t young_ns = 60 * NS_PER_S, old_ns = 600 * NS_PER_S;
static const uint64_t rarest_ns = 300 * NS_PER_S;
static const double young_share = 5e-3, old_share = 5e-5, share_of_job = 1e-3;
/* A quiet job is sampled half as often each time, down to this. */
static const uint64_t quiet_ns = 5 * NS_PER_S, old_quiet_ns = 10 * NS_PER_S, quiet_bytes = 16 * MIB;
/* A number of the guard's is at most so old. */
static const uint64_t guard_look_ns = 30 * NS_PER_S;
#define QUIET_SHARE 100 /* use below this share of a core counts as none */
/* Children of threads other than the main one are searched at every this many samples. */
#define THREADS_EVERY 8
#define ENVIRON_CAP (128 * 1024)

/* What is kept of a process beside its numbers. */
struct about {
	struct role_info who;
	bool named; /* role and name have been read */
	bool unread; /* its memory lock did not come: its name and rank are asked for again */
	bool told;
	uint32_t attempt;
	int64_t started_unix_ms, ended_unix_ms; /* ended_unix_ms 0: it runs */
	struct sampler_memory memory;
	char comm[PROC_COMM_MAX];
	char state;
};

struct table {
	struct usage_process use[JOBPIDS_MAX]; /* by pid */
	struct about about[JOBPIDS_MAX];
	size_t n;
};

struct sampler {
	const struct world *w;
	char path[PATH_MAX];
	struct series_writer *file; /* made at the first sample */
	bool complained;
	uint64_t born_ns, due_ns, looked_ns;
	uint64_t born_ticks;
	uint64_t looks, period_ns, own_bytes, peak_bytes;
	uint64_t still_bytes, moved_ns; /* own memory, and when it last changed much */
	struct usage usage;
	struct bulk bulk; /* processes that are told apart */
	struct jobpids pids;
	struct table table[2], *was, *now;
	struct ownranks_process own[JOBPIDS_MAX]; /* ranks that the program has started itself, now */
	struct series_steps steps; /* that were written last */
	struct steppace pace; /* how fast they usually go */
	struct series_steps then[2]; /* earlier ones, for a rate: [0] a minute before [1], both of the same attempt */
	uint64_t devices_ns; /* the look at the devices that was written last */
	int64_t looked_unix_ms;
	bool attended; /* somebody reads what the samples show */
	bool leaver; /* a process of the last sample is not in the job's group */
	uint32_t own_seen; /* number of such ranks at the last sample */
	char environ[ENVIRON_CAP];
};

struct sampler *sampler_new(const struct world *w, const char *dir, uint64_t since_boot_ns)
{
	struct sampler *s = calloc(1, sizeof(*s)); /* large, and zero pages cost nothing until used */
	if (!s || dir[0] == '\0') {
		free(s);
		return NULL;
	}
	s->w = w;
	s->was = &s->table[0];
	s->now = &s->table[1];
	s->born_ns = w->mono_ns();
	s->due_ns = s->born_ns + first_look_ns;
	s->born_ticks = since_boot_ns / (NS_PER_S / w->ticks_per_s);
	TEXT_FORMAT(s->path, "%s/%s", dir, SERIES_FILE);
	return s;
}

struct sampler *sampler_free(struct sampler *s)
{
	if (s)
		s->file = series_close(s->file);
	free(s);
	return NULL;
}

uint64_t sampler_due_ns(const struct sampler *s)
{
	return s->due_ns;
}

/* ---- one process ---- */

static size_t index_of(const struct table *t, pid_t pid)
{
	const size_t at = bisect(t->n, i, t->use[i].pid < pid);
	return at < t->n && t->use[at].pid == pid ? at : SIZE_MAX;
}

bool sampler_recall(const struct sampler *s, pid_t pid, uint64_t start_ticks, struct sampler_memory *ret)
{
	const struct table *tables[] = {s->now, s->was};
	for (size_t k = 0; k < ARRAY_SIZE(tables); k++) {
		size_t i = index_of(tables[k], pid);
		if (i == SIZE_MAX || tables[k]->use[i].start_ticks != start_ticks ||
		    tables[k]->about[i].memory.rss_bytes == 0)
			continue;
		*ret = tables[k]->about[i].memory;
		return true;
	}
	return false;
}

bool sampler_saw_leaver(const struct sampler *s)
{
	return s->leaver;
}

bool sampler_has(const struct sampler *s, pid_t pid)
{
	return index_of(s->now, pid) != SIZE_MAX;
}

pid_t sampler_one_of(const struct sampler *s, enum role role)
{
	for (size_t i = 0; i < s->now->n; i++)
		if (s->now->about[i].named && s->now->about[i].who.role == role)
			return s->now->use[i].pid;
	return 0;
}

static struct sampler_gone gone_of(const struct usage_process *p, const struct about *about)
{
	struct sampler_gone gone = {
		.id = {p->pid, p->start_ticks}, .parent = p->ppid, .started_unix_ms = about->started_unix_ms};
	TEXT_COPY(gone.name, about->comm);
	return gone;
}

bool sampler_had(const struct sampler *s, struct proc_id id, enum role role, struct sampler_gone *ret)
{
	const struct table *tables[] = {s->now, s->was};
	for (size_t k = 0; k < ARRAY_SIZE(tables); k++) {
		const size_t i = index_of(tables[k], id.pid);
		if (i == SIZE_MAX || tables[k]->use[i].start_ticks != id.start_ticks || !tables[k]->about[i].named ||
		    tables[k]->about[i].who.role != role)
			continue;
		*ret = gone_of(&tables[k]->use[i], &tables[k]->about[i]);
		return true;
	}
	return false;
}

bool sampler_process(const struct sampler *s, size_t place, struct sampler_gone *ret, int32_t *ret_rank)
{
	if (place >= s->now->n)
		return false;
	*ret = gone_of(&s->now->use[place], &s->now->about[place]);
	*ret_rank = s->now->use[place].rank;
	return true;
}

size_t sampler_gone(const struct sampler *s, enum role role, struct sampler_gone *ret, size_t cap)
{
	size_t n = 0;
	for (size_t i = 0; i < s->was->n && n < cap; i++) {
		const struct usage_process *p = &s->was->use[i];
		const struct about *about = &s->was->about[i];
		size_t at = index_of(s->now, p->pid);
		if (!about->named || about->who.role != role ||
		    (at != SIZE_MAX && s->now->use[at].start_ticks == p->start_ticks))
			continue;
		ret[n++] = gone_of(p, about);
	}
	return n;
}

static const struct about *same_before(const struct sampler *s, const struct usage_process *p)
{
	size_t i = index_of(s->was, p->pid);
	return i != SIZE_MAX && s->was->use[i].start_ticks == p->start_ticks ? &s->was->about[i] : NULL;
}

/* False: the process is gone, or a stranger has its number. */
static bool process_read(struct sampler *s, size_t at, struct usage_process *p, struct about *about)
{
	pid_t pid = s->pids.of[at].pid;
	struct proc_stat st;
	struct proc_statm m;
	struct proc_io io;
	if (proc_stat_read(s->w, pid, &st) != 0 || st.kernel_thread ||
	    !jobpids_is(&s->pids, at, st.ppid, st.start_ticks))
		return false;
	uint64_t tick_ns = NS_PER_S / s->w->ticks_per_s;
	*p = (struct usage_process){
		.pid = pid,
		.ppid = st.ppid,
		.start_ticks = st.start_ticks,
		.rank = NO_RANK,
		.young = st.start_ticks >= s->born_ticks,
		.cpu_ns = (st.utime_ticks + st.stime_ticks) * tick_ns,
		.reaped_cpu_ns = st.reaped_ticks * tick_ns,
		.reaped_faults = st.reaped_faults,
	};
	if (proc_statm_read(s->w, pid, &m) == 0) {
		p->rss_bytes = m.resident_pages * s->w->page_bytes;
		p->own_bytes = sub_floor(m.resident_pages, m.shared_pages) * s->w->page_bytes;
	}
	p->has_io = proc_io_read(s->w, pid, &io) == 0;
	if (p->has_io) {
		p->io_bytes[USAGE_READ] = io.read_bytes;
		p->io_bytes[USAGE_WRITTEN] = io.written_bytes;
		p->io_bytes[USAGE_READ_CALLS] = io.read_call_bytes;
		p->io_bytes[USAGE_WRITE_CALLS] = io.write_call_bytes;
	}
	const struct about *before = same_before(s, p);
	*about = before ? *before : (struct about){.who = {.rank = NO_RANK, .local_rank = NO_RANK}};
	if (p->rss_bytes > 0) /* a process that has ended has no memory left */
		about->memory =
			(struct sampler_memory){.own_bytes = p->own_bytes,
						.rss_bytes = p->rss_bytes,
						.peak_own_bytes = MAX(about->memory.peak_own_bytes, p->own_bytes)};
	about->state = st.state;
	if (proc_is_over(&st) && about->ended_unix_ms == 0) { /* its parent has not waited for it yet */
		about->ended_unix_ms = s->looked_unix_ms;
		about->told = false;
	}
	if (before && strcmp(before->comm, st.comm) == 0) {
		about->named &= !about->unread;
		return true;
	}
	TEXT_COPY(about->comm, st.comm);
	about->named = about->told = false; /* exec or a new title changes what the process is */
	if (!before)
		about->started_unix_ms =
			s->w->unix_ms() - (int64_t)(sub_floor(clock_boot_ns(), st.start_ticks * tick_ns) / NS_PER_MS);
	return true;
}

static void role_read(struct sampler *s, size_t i)
{
	struct usage_process *p = &s->now->use[i];
	struct about *about = &s->now->about[i];
	char command[2048] = "", above[2048] = "";
	size_t len = 0, up = index_of(s->now, p->ppid);
	const struct about *parent = up == SIZE_MAX ? NULL : &s->now->about[up];
	int r = proc_environ_read(s->w, p->pid, s->environ, sizeof(s->environ), &len);
	if (r != 0)
		len = 0;
	about->told &= !about->unread || r == -ETIMEDOUT;
	about->unread = r == -ETIMEDOUT;
	ignore(proc_command_read(s->w, p->pid, command, sizeof(command)), "gone or hidden: the role is then 'other'");
	if (parent)
		ignore(proc_command_read(s->w, p->ppid, above, sizeof(above)), "gone");
	struct role_input in = {
		.comm = span_of(about->comm),
		.command = span_of(command),
		.numbers = role_numbers_of((struct span){s->environ, len}),
		.parent = parent ? &parent->who : NULL,
		.parent_comm = span_of(parent ? parent->comm : ""),
		.parent_command = span_of(above),
	};
	int32_t rank = about->who.rank;
	role_of(&in, &about->who);
	if (!parent && about->who.rank == NO_RANK)
		about->who.rank = rank; /* its parent has ended, but it still belongs to the rank */
	about->named = true;
}

static void rank_known(const struct sampler_want *want, const struct usage_process *p, struct about *about)
{
	for (size_t i = 0; i < want->n_ranks; i++)
		if (want->rank[i].pid == p->pid && want->rank[i].start_ticks == p->start_ticks &&
		    want->rank[i].rank != NO_RANK)
			about->who.rank = want->rank[i].rank;
}

/*
 * Take over the ranks that the program has started itself, as the hang watcher found them. Processes whose rank has
 * changed are written again.
 */
static void own_ranks(struct sampler *s, const struct hang_own *own, bool others)
{
	struct table *t = s->now;
	uint32_t n = own ? MIN(atomic_load(&own->n), (uint32_t)HANG_RANKS) : 0;
	if (n == s->own_seen && !others)
		return;
	s->own_seen = n;
	for (size_t i = 0; i < t->n; i++)
		s->own[i] = (struct ownranks_process){.pid = t->use[i].pid,
						      .ppid = t->use[i].ppid,
						      .start_ticks = t->use[i].start_ticks,
						      .ended = t->use[i].rss_bytes == 0,
						      .who = t->about[i].who};
	for (uint32_t k = 0; k < n; k++) {
		size_t i = index_of(t, own->of[k].pid);
		if (i == SIZE_MAX || t->use[i].start_ticks != own->of[k].start_ticks)
			continue;
		s->own[i].reported = OWNRANKS_BY_TORCH;
		s->own[i].number = own->of[k].rank;
	}
	ownranks_name(s->own, t->n);
	for (size_t i = 0; i < t->n; i++) {
		struct role_info *who = &t->about[i].who;
		if (who->rank != s->own[i].who.rank || who->role != s->own[i].who.role)
			t->about[i].told = false;
		*who = s->own[i].who;
	}
}

/* Write processes not seen before, parents first: a parent is at least as old as its child. */
static void roles_read(struct sampler *s, const struct sampler_want *want)
{
	struct table *t = s->now;
	bool others = false;
	for (;;) {
		size_t next = SIZE_MAX;
		for (size_t i = 0; i < t->n; i++) {
			if (t->about[i].named)
				continue;
			size_t up = index_of(t, t->use[i].ppid);
			bool unnamed = up != SIZE_MAX && !t->about[up].named;
			if (unnamed && (t->use[up].start_ticks < t->use[i].start_ticks ||
					(t->use[up].start_ticks == t->use[i].start_ticks && up < i)))
				continue; /* its parent must be written first */
			next = i;
			role_read(s, i);
			rank_known(want, &t->use[i], &t->about[i]);
			others = true;
		}
		if (next == SIZE_MAX)
			break;
	}
	own_ranks(s, want->own, others);
	for (size_t i = 0; i < t->n; i++)
		t->use[i].rank = t->about[i].who.rank;
}

/* ---- into the file ---- */

/* The kernel's time where that is known, else that of the look that saw it; within the process's life. */
static int64_t end_of(const struct sampler_want *want, const struct usage_process *p, int64_t seen_unix_ms)
{
	const int64_t told = autopsy_ended_unix_ms(want->autopsy, &(struct proc_id){p->pid, p->start_ticks});
	return told > 0 && told < seen_unix_ms ? told : seen_unix_ms;
}

static int tell_process(struct sampler *s, const struct usage_process *p, const struct about *about,
			int64_t ended_unix_ms)
{
	struct series_process r = {
		.pid = p->pid,
		.ppid = p->ppid,
		.start_ticks = p->start_ticks,
		.rank = about->who.rank,
		.attempt = about->attempt,
		.started_unix_ms = about->started_unix_ms,
		.ended_unix_ms = ended_unix_ms,
		.own_bytes = about->memory.own_bytes,
	};
	TEXT_COPY(r.role, role_name(about->who.role));
	TEXT_COPY(r.name, proc_known_as(about->comm));
	return series_add_process(s->file, &r);
}

static int tell_processes(struct sampler *s, const struct sampler_want *want, int64_t now_unix_ms)
{
	int r = 0;
	for (size_t i = 0; r == 0 && i < s->was->n; i++) {
		const struct usage_process *p = &s->was->use[i];
		size_t at = index_of(s->now, p->pid);
		const bool gone = at == SIZE_MAX || s->now->use[at].start_ticks != p->start_ticks;
		if (gone && s->was->about[i].ended_unix_ms == 0)
			r = tell_process(s, p, &s->was->about[i], end_of(want, p, now_unix_ms));
	}
	for (size_t i = 0; r == 0 && i < s->now->n; i++) {
		struct about *about = &s->now->about[i];
		if (about->told)
			continue;
		if (!same_before(s, &s->now->use[i]))
			about->attempt = want->attempt;
		about->told = true;
		if (about->ended_unix_ms > 0)
			about->ended_unix_ms = end_of(want, &s->now->use[i], about->ended_unix_ms);
		r = tell_process(s, &s->now->use[i], about, about->ended_unix_ms);
	}
	return r;
}

/* ---- what the group holds ---- */

static uint64_t own_sum(const struct sampler *s)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < s->usage.n; i++)
		sum += s->usage.lane[i].own_bytes;
	return sum;
}

/* What the group holds now, as the guard counts it. False: it cannot be read. */
static bool group_read(const struct sampler *s, const struct sampler_want *want, uint64_t *ret)
{
	struct cgroup g;
	struct cgroup_memory m;
	if (!want->pids.cgroup || cgroup_open(s->w, want->group_version, want->pids.cgroup, &g) != 0)
		return false;
	int r = cgroup_read_full(&g, &m);
	cgroup_close(&g);
	if (r == 0)
		*ret = sub_floor(m.current_bytes, ledger_group_reclaimable(&m));
	return r == 0;
}

/*
 * The guard looks at a calm job every few seconds. Beside what its processes have now an older number says wrongly how
 * much they share: so while that changes the group is read here, for as long as the guard's look may be older. Without
 * a group the guard has only the sum of its last sweep, and what is shared is not known.
 */
static uint64_t job_bytes_now(struct sampler *s, const struct sampler_want *want)
{
	uint64_t own = own_sum(s), group;
	if (sub_floor(own, s->still_bytes) > quiet_bytes || sub_floor(s->still_bytes, own) > quiet_bytes) {
		s->still_bytes = own;
		s->moved_ns = s->looked_ns;
	}
	if (want->job_bytes == 0)
		return 0;
	if (!want->pids.cgroup)
		return own;
	if (s->moved_ns == 0 || s->looked_ns - s->moved_ns > guard_look_ns || !group_read(s, want, &group))
		return want->job_bytes;
	return s->leaver ? MAX(group, own) : group;
}

static int tell_sample(struct sampler *s, const struct sampler_want *want, int64_t now_unix_ms)
{
	static struct series_sample row;
	row = (struct series_sample){
		.time_unix_ms = now_unix_ms,
		.mono_ns = s->looked_ns,
		.attempt = want->attempt,
		.node_used_bytes = want->node_used_bytes,
		.node_total_bytes = want->node_total_bytes,
		.job_bytes = job_bytes_now(s, want),
		.n_lanes = (uint32_t)s->usage.n,
	};
	_Static_assert(SERIES_LANES >= USAGE_LANES, "every lane has its place in a sample");
	for (size_t i = 0; i < s->usage.n; i++) {
		const struct usage_lane *l = &s->usage.lane[i];
		row.lane[i] = (struct series_lane){
			.rank = l->rank,
			.has_io = l->has_io,
			.processes = l->processes,
			.cpu_ns = l->cpu_ns,
			.own_bytes = l->own_bytes,
			.rss_bytes = l->rss_bytes,
			.read_bytes = l->io_bytes[USAGE_READ],
			.written_bytes = l->io_bytes[USAGE_WRITTEN],
			.read_call_bytes = l->io_bytes[USAGE_READ_CALLS],
			.write_call_bytes = l->io_bytes[USAGE_WRITE_CALLS],
		};
	}
	return series_add_sample(s->file, &row);
}

/* Of a job without ranks, whose processes are all in one lane. */
static int tell_bulk(struct sampler *s, const struct sampler_want *want, int64_t now_unix_ms)
{
	_Static_assert(SERIES_BULK_MAX >= BULK_MOST, "every process that is told apart has its place in a record");
	struct series_bulk row = {.time_unix_ms = now_unix_ms, .mono_ns = s->looked_ns, .attempt = want->attempt};
	if (s->usage.n > 1)
		return 0;
	bulk_choose(&s->bulk, s->now->use, s->now->n);
	for (size_t i = 0; i < s->bulk.n; i++) {
		const struct bulk_process *p = &s->bulk.of[i];
		row.of[row.n++] = (struct series_bulk_process){p->pid, p->start_ticks, p->own_bytes};
	}
	return row.n > 0 ? series_add_bulk(s->file, &row) : 0;
}

/* Rates are told over one to two of these times. */
static const uint64_t rate_ns = 60 * NS_PER_S;

static void steps_remember(struct sampler *s)
{
	if (s->then[1].n == 0 || s->then[1].attempt != s->steps.attempt) {
		s->then[0] = s->then[1] = s->steps;
	} else if (s->steps.mono_ns - s->then[1].mono_ns >= rate_ns) {
		s->then[0] = s->then[1];
		s->then[1] = s->steps;
	}
}

/* Written only when a step has changed. */
static int tell_steps(struct sampler *s, const struct sampler_want *want, int64_t now_unix_ms)
{
	static struct hang_steps now;
	static struct series_steps row;
	hang_steps_copy(want->steps, want->attempt, &now);
	row = (struct series_steps){.time_unix_ms = now_unix_ms, .mono_ns = s->looked_ns, .attempt = want->attempt};
	for (uint32_t i = 0; i < MIN(now.n, (uint32_t)HANG_RANKS); i++)
		row.of[row.n++] = (struct series_step){.rank = now.of[i].rank,
						       .has_total = now.of[i].has_total,
						       .step = now.of[i].step,
						       .total = now.of[i].total};
	bool same = row.n == s->steps.n && row.attempt == s->steps.attempt;
	for (uint32_t i = 0; same && i < row.n; i++)
		same = row.of[i].rank == s->steps.of[i].rank && row.of[i].step == s->steps.of[i].step;
	if (same || row.n == 0)
		return 0;
	s->steps = row;
	steps_remember(s);
	job_pace_take(&s->pace, &s->steps);
	return series_add_steps(s->file, &row);
}

/* Written when the watcher has looked again. */
static int tell_devices(struct sampler *s, const struct sampler_want *want)
{
	static struct hang_devices now;
	static struct series_devices row;
	if (!want->devices)
		return 0;
	uint32_t seq = atomic_load(&want->devices->seq);
	memcpy(&now, want->devices, sizeof(now));
	if (seq % 2 || atomic_load(&want->devices->seq) != seq || now.attempt != want->attempt ||
	    now.mono_ns <= s->devices_ns || now.n == 0)
		return 0;
	s->devices_ns = now.mono_ns;
	row = (struct series_devices){.time_unix_ms = now.time_unix_ms,
				      .mono_ns = now.mono_ns,
				      .attempt = now.attempt,
				      .n = MIN(now.n, (uint32_t)SERIES_DEVICES_MAX)};
	memcpy(row.of, now.of, sizeof(row.of));
	return series_add_devices(s->file, &row);
}

static int process_write(struct sampler *s, const struct sampler_want *want)
{
	int64_t now_unix_ms = s->w->unix_ms();
	int r = s->file ? 0 : series_create(s->path, SERIES_MAX_BYTES, &s->file);
	if (r == 0)
		r = tell_processes(s, want, now_unix_ms);
	if (r == 0)
		r = tell_sample(s, want, now_unix_ms);
	if (r == 0)
		r = tell_bulk(s, want, now_unix_ms);
	if (r == 0)
		r = tell_steps(s, want, now_unix_ms);
	if (r == 0)
		r = tell_devices(s, want);
	return r == 0 ? series_flush(s->file) : r;
}

/* ---- when ---- */

/* True if the job is idle: two samples in a row show the same. */
static bool is_quiet(struct sampler *s, uint64_t job_cpu_ns, uint64_t gap_ns)
{
	uint64_t before = s->own_bytes;
	s->own_bytes = own_sum(s);
	s->peak_bytes = MAX(s->peak_bytes, s->own_bytes);
	bool moved = sub_floor(s->own_bytes, before) > quiet_bytes || sub_floor(before, s->own_bytes) > quiet_bytes;
	return gap_ns > 0 && job_cpu_ns < gap_ns / QUIET_SHARE && !moved && s->now->n == s->was->n;
}

static void plan(struct sampler *s, uint64_t cost_ns, uint64_t job_cpu_ns, uint64_t gap_ns)
{
	uint64_t age = s->looked_ns - s->born_ns;
	uint64_t period = age < young_ns ? NS_PER_S : age < old_ns ? 2 * NS_PER_S : 5 * NS_PER_S;
	bool quiet = is_quiet(s, job_cpu_ns, gap_ns);
	if (s->attended)
		period = NS_PER_S;
	else if (quiet)
		period = MAX(period, MIN(2 * s->period_ns, age < old_ns ? quiet_ns : old_quiet_ns));
	s->period_ns = period;
	double share = age < young_ns || s->attended ? young_share : old_share;
	if (gap_ns > 0)
		share += share_of_job * (double)job_cpu_ns / (double)gap_ns;
	double fair_ns = (double)cost_ns / share;
	period = MAX(period, (uint64_t)MIN(fair_ns, (double)rarest_ns));
	s->due_ns = s->looked_ns + period;
}

int sampler_look(struct sampler *s, const struct sampler_want *want)
{
	uint64_t began = clock_thread_ns(), before_ns = s->looked_ns, used_before = usage_cpu_ns(&s->usage);
	struct table *t = s->was;
	s->was = s->now;
	s->now = t;
	s->looked_ns = s->w->mono_ns();
	s->looked_unix_ms = s->w->unix_ms();
	jobpids_find(&s->pids, s->w, &want->pids, s->looks % THREADS_EVERY == 0);
	t->n = 0;
	s->leaver = false;
	for (size_t i = 0; i < s->pids.n; i++) {
		if (!process_read(s, i, &t->use[t->n], &t->about[t->n]))
			continue;
		s->leaver |= s->pids.of[i].outside && t->use[t->n].rss_bytes > 0;
		t->n++;
	}
	for (size_t i = 0; i < t->n; i++)
		jobpids_keep(&s->pids, i, t->use[i].pid, t->use[i].start_ticks);
	s->pids.n = t->n;
	uint64_t roles_began = clock_thread_ns();
	roles_read(s, want);
	/* reading new processes happens once and is no part of a sample's usual cost */
	uint64_t once_ns = clock_thread_ns() - roles_began;
	usage_step(&s->usage, s->was->use, s->was->n, t->use, t->n);
	int r = process_write(s, want);
	s->looks++;
	plan(s, clock_thread_ns() - began - once_ns, usage_cpu_ns(&s->usage) - used_before,
	     before_ns ? s->looked_ns - before_ns : 0);
	if (r >= 0 || s->complained)
		return 0;
	s->complained = true;
	return r;
}

int sampler_look_before_end(struct sampler *s, const struct sampler_want *want)
{
	if (s->looks == 0 || s->w->mono_ns() - s->looked_ns < just_now_ns)
		return 0;
	return sampler_look(s, want);
}

int sampler_steps_last(struct sampler *s, const struct sampler_want *want)
{
	if (!s->file)
		return 0;
	s->looked_ns = s->w->mono_ns();
	int r = tell_steps(s, want, s->w->unix_ms());
	return r == 0 ? series_flush(s->file) : r;
}

uint64_t sampler_peak_bytes(const struct sampler *s)
{
	return s ? s->peak_bytes : 0;
}

/* ---- shown ---- */

void sampler_attend(struct sampler *s, bool attended)
{
	if (!s || s->attended == attended)
		return;
	s->attended = attended;
	if (attended && s->looks > 0)
		s->due_ns = MIN(s->due_ns, s->looked_ns + NS_PER_S);
}

void sampler_attempt(struct sampler *s)
{
	if (!s || s->looks == 0)
		return;
	s->period_ns = NS_PER_S;
	s->due_ns = MIN(s->due_ns, s->w->mono_ns() + first_look_ns);
}

static void rate_show(const struct series_steps *then, const struct series_steps *last, struct job_step *step)
{
	double over_s = (double)sub_floor(last->mono_ns, then->mono_ns) / (double)NS_PER_S;
	for (uint32_t i = 0; over_s >= 0.5 && i < then->n; i++)
		if (then->of[i].rank == step->rank && then->of[i].step < step->step) {
			step->per_s = (double)(step->step - then->of[i].step) / over_s;
			step->has_rate = true;
		}
}

static void steps_show(const struct sampler *s, uint32_t attempt, struct job_steps *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->attempt = attempt;
	if (s->steps.attempt != attempt)
		return;
	ret->time_unix_ms = s->steps.time_unix_ms;
	ret->usual_per_s = steppace_usual(&s->pace);
	for (uint32_t i = 0; i < MIN(s->steps.n, (uint32_t)ARRAY_SIZE(ret->of)); i++) {
		const struct series_step *one = &s->steps.of[i];
		struct job_step *step = &ret->of[ret->n++];
		step->rank = one->rank;
		step->has_total = one->has_total && one->total > 0;
		step->step = one->step;
		step->total = one->total;
		rate_show(&s->then[0], &s->steps, step);
	}
}

int sampler_show(const struct sampler *s, uint32_t attempt, struct live_state *ret)
{
	int r = 0;
	ret->n = 0;
	ret->sampled_unix_ms = s ? s->looked_unix_ms : 0;
	if (s)
		steps_show(s, attempt, &ret->steps);
	for (size_t i = 0; s && r == 0 && i < s->now->n; i++) {
		const struct usage_process *use = &s->now->use[i];
		const struct about *about = &s->now->about[i];
		struct live_process p;
		if (use->rss_bytes == 0) /* it has ended, and waits for its parent */
			continue;
		memset(&p, 0, sizeof(p)); /* with the bytes between the fields */
		p.pid = use->pid;
		p.ppid = use->ppid;
		p.start_ticks = use->start_ticks;
		p.rank = about->who.rank;
		p.attempt = about->attempt;
		p.state = about->state;
		TEXT_COPY(p.role, role_name(about->who.role));
		TEXT_COPY(p.name, proc_known_as(about->comm));
		p.own_bytes = use->own_bytes;
		p.rss_bytes = use->rss_bytes;
		p.peak_own_bytes = about->memory.peak_own_bytes;
		p.cpu_ns = use->cpu_ns;
		p.started_unix_ms = about->started_unix_ms;
		r = live_add(ret, &p);
	}
	return r;
}
