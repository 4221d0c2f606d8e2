#include "agent/guard/evict.h"

#include <string.h>

#include "base/buf.h"
#include "base/clock.h"

/* Jobs with more processes than this are scanned with all processes of the machine. */
#define REFRESH_MOST 1024
/* Sizes of processes outside the jobs, which are never ended, may be this old in a report. */
static const uint64_t fresh_ns = 500 * NS_PER_MS;

/* Asks for the names of a process that is new; there is room for as many as are read at a time. */
static void name_want(struct evict *h, const struct task_row *row)
{
	if (h->n_want == GUARD_ASKED)
		return;
	struct guard_wanted *w = &h->want[h->n_want++];
	*w = (struct guard_wanted){.id = {row->pid, row->start_ticks}};
	TEXT_COPY(w->comm, row->comm);
}

/* In the middle of its exec a process has no command line; one that is older has taken it away. */
static bool may_be_in_exec(const struct evict *h, const struct task_row *row, const struct guard_named *named)
{
	const uint64_t young_ns = 5 * NS_PER_S;
	const uint64_t born_ns = sub_floor(row->start_ticks * h->known->tick_ns, h->known->boot_ahead_ns);
	return !named->command[0] && sub_floor(h->w->mono_ns(), born_ns) < young_ns;
}

/* Called by unit_build. The names themselves are read by the supervisor: reading them here could take for ever. */
static bool role_take(void *ctx, const struct task_row *row, const struct role_info *parent, struct role_info *ret)
{
	static struct guard_named named, above;
	struct evict *h = ctx;
	struct proc_id id = {row->pid, row->start_ticks};
	if (!guardnames_find(&h->shm->names, id, &named) || strcmp(named.comm, row->comm) != 0 ||
	    may_be_in_exec(h, row, &named)) {
		name_want(h, row);
		if (role_is_ray_system(span_of(row->comm)))
			ret->role = ROLE_RAY_SYSTEM;
		return false;
	}
	struct role_input in = {.comm = span_of(row->comm),
				.command = span_of(named.command),
				.numbers = named.numbers,
				.proof = named.proof,
				.parent = parent};
	const struct task_row *up = parent ? tasks_find(h->tasks, row->ppid) : NULL;
	if (up) {
		in.parent_comm = span_of(up->comm);
		if (guardnames_find(&h->shm->names, (struct proc_id){up->pid, up->start_ticks}, &above))
			in.parent_command = span_of(above.command);
	}
	role_of(&in, ret);
	if (h->shm->wishes.n == 0)
		return true;
	struct proc_status st;
	struct wish_process p = {.name = row->comm, .command = named.command, .rank = ret->rank};
	p.has_uid = proc_status_read(h->w, row->pid, &st) == 0;
	p.uid = p.has_uid ? st.uid : 0;
	ret->wish = (uint8_t)wishes_of(&h->shm->wishes, &p);
	return true;
}

/* Those who were asked for in this sweep. The supervisor is woken: it answers within a millisecond, if it runs. */
static void names_ask(struct evict *h)
{
	if (h->n_want == 0)
		return;
	guardnames_want(&h->shm->names, h->want, h->n_want);
	evict_kick(h);
}

static int by_pid(const void *a, const void *b)
{
	const pid_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

/* It was of a job when it was last seen. One that is new counts from its second sweep on. */
static bool is_of_job(const struct evict *h, pid_t pid)
{
	return h->shm->former[(size_t)pid & (GUARD_FORMER - 1)].pid == pid;
}

/*
 * statm counts shared memory and mapped files in one number. For the jobs' processes with more than 1/64 of the
 * smallest limit in it, at most 64, `status` is read, which has them apart. Nobody asks that of others, of which a
 * crowded machine has more. only: limit this to these pids, sorted; NULL: all processes.
 */
static void shared_read(struct evict *h, const struct unit_extra *only)
{
	uint64_t least_bytes = MIN(h->shm->now.total_bytes, h->memwatch->meminfo.bytes[MEMINFO_TOTAL]);
	for (size_t j = 0; j < h->n_jobs; j++)
		least_bytes = MIN(least_bytes, h->jobs[j].limit_bytes);
	least_bytes /= 64;
	size_t left = 64;
	for (size_t i = 0; i < h->tasks->n && left > 0; i++) {
		struct task_row *row = &h->tasks->rows[i];
		struct proc_status st;
		if (row->rss_file_bytes < MAX(least_bytes, MIB) || row->apart_pages != 0 || !is_of_job(h, row->pid) ||
		    (only && !bsearch(&row->pid, only->pids, only->n, sizeof(pid_t), by_pid)))
			continue;
		left--;
		if (proc_status_read(h->w, row->pid, &st) != 0 || !st.has_memory)
			continue;
		row->apart_pages = (uint32_t)MIN(row->rss_file_bytes / h->w->page_bytes, (uint64_t)UINT32_MAX);
		row->rss_file_bytes = st.rss_file_bytes;
		row->rss_shmem_bytes = st.rss_shmem_bytes;
	}
}

/* Note which process was of which job, for the report of a death after the process is gone. */
static void former_note(struct evict *h)
{
	for (size_t i = 0; i < h->units->n_members; i++) {
		const struct unit *u = &h->units->unit[h->units->member[i].unit];
		const struct task_row *row = &h->tasks->rows[h->units->member[i].row];
		struct guard_former *k = &h->shm->former[(size_t)row->pid & (GUARD_FORMER - 1)];
		k->pid = row->pid;
		k->job = u->job;
		k->attempt = h->jobs[u->job].attempt;
		k->rank = u->rank;
		TEXT_COPY(k->role, role_name((enum role)h->units->member[i].role));
		TEXT_COPY(k->name, row->comm);
	}
}

/* Sharing below this, or below 1/64 of the smallest limit, changes no decision. */
static const uint64_t share_least_bytes = 16 * MIB;

/* Take over what the supervisor has read of shared pages. Half-written tables are left for the next sweep. */
static void shares_take(struct evict *h)
{
	static struct unit_share seen[UNIT_SHARES];
	struct guard_sharing *s = &h->shm->sharing;
	uint32_t before = atomic_load(&s->seen_seq);
	if (before == h->shares_seq || (before & 1))
		return;
	size_t n = MIN(s->n_seen, (uint32_t)UNIT_SHARES);
	memcpy(seen, s->seen, sizeof(seen));
	if (atomic_load(&s->seen_seq) != before)
		return;
	h->shares_seq = before;
	unit_shares(h->known, seen, n);
}

static void shares_want(struct evict *h)
{
	static struct unit_share want[UNIT_SHARES];
	struct guard_sharing *s = &h->shm->sharing;
	size_t n = unit_sharers(h->known, h->tasks, h->units, share_least_bytes, want);
	if (n == 0 && s->n_want == 0)
		return;
	(void)atomic_fetch_add(&s->want_seq, 1);
	s->n_want = (uint32_t)n;
	memcpy(s->want, want, n * sizeof(want[0]));
	(void)atomic_fetch_add(&s->want_seq, 1);
}

static void groups_list(struct evict *h)
{
	grouppids_list(&h->groups, h->w, h->tasks, h->jobs, h->n_jobs,
		       h->is_pressing ? GROUPPIDS_REST_SHORT : GROUPPIDS_REST);
}

/* Who is in adopted groups, or, when the parents no longer show who is the job's, in all. */
static void read_group_pids(struct evict *h, struct unit_extra *extra)
{
	groups_list(h);
	for (size_t j = 0; j < h->n_jobs; j++) {
		const struct grouppids_job *k = &h->groups.of[j];
		bool counts = h->orphaned || h->jobs[j].adopted_cgroup[0] != '\0';
		extra[j] = (struct unit_extra){k->pids, counts ? k->n : 0};
	}
}

/* read: the processes whose rows are new; NULL: all. */
static void units_build(struct evict *h, const struct unit_extra *read, size_t budget)
{
	static struct unit_extra extra[UNIT_JOBS_MAX];
	static struct unit_job jobs[UNIT_JOBS_MAX];
	for (size_t j = 0; j < h->n_jobs; j++) {
		struct unit_job *u = &jobs[j];
		*u = h->jobs[j].unit;
		u->n_not_ours += helpers_find(&h->shm->own, h->tasks, h->shm->supervisor, u->not_ours + u->n_not_ours,
					      ARRAY_SIZE(u->not_ours) - u->n_not_ours);
	}
	read_group_pids(h, extra);
	if (h->tasks->source == TASKS_PROC)
		shared_read(h, read);
	h->n_want = 0;
	shares_take(h);
	h->known->tick_ns = NS_PER_S / h->w->ticks_per_s;
	h->known->boot_ahead_ns = sub_floor(clock_boot_ns(), clock_mono_ns());
	unit_build(h->known, h->tasks, jobs, h->n_jobs, extra, h->w->mono_ns(), role_take, h, budget, h->units);
	names_ask(h);
	former_note(h);
	shares_want(h);
}

int evict_sweep(struct evict *h, size_t budget)
{
	uint64_t began_ns = h->w->mono_ns();
	jobscan_before(&h->scan, h->w);
	int r = tasks_scan(h->tasks, h->w);
	if (r < 0)
		return r;
	h->swept_ns = h->w->mono_ns();
	units_build(h, NULL, budget);
	if (h->tasks->source == TASKS_PROC)
		jobscan_begin(&h->scan, h->tasks, h->units, h->swept_ns);
	h->sweep_cost_ns = h->w->mono_ns() - began_ns;
	h->look_cost_ns = 0;
	return 0;
}

bool evict_can_look(const struct evict *h)
{
	return h->swept_ns != 0 && !h->orphaned && h->tasks->source == TASKS_PROC && h->scan.is_ready;
}

bool evict_look(struct evict *h, bool full, size_t budget)
{
	const uint64_t began_ns = h->w->mono_ns();
	if (!evict_can_look(h) || !jobscan_look(&h->scan, h->tasks, h->w, full))
		return false;
	units_build(h, &(struct unit_extra){h->scan.pids, h->scan.n}, budget);
	jobscan_keep(&h->scan, h->tasks, h->units);
	h->look_cost_ns = MAX(h->w->mono_ns() - began_ns, UINT64_C(1));
	return true;
}

bool evict_is_fresh(const struct evict *h)
{
	return h->swept_ns != 0 && h->w->mono_ns() - h->swept_ns < fresh_ns && h->units->n > 0;
}

/* The processes in the jobs' groups, and those of the last sweep. False: too many, or a job has no group. */
static bool jobs_pids(struct evict *h, pid_t pids[static REFRESH_MOST], size_t *ret_n)
{
	size_t n = 0;
	groups_list(h);
	for (size_t j = 0; j < h->n_jobs; j++) {
		const struct grouppids_job *k = &h->groups.of[j];
		if (!h->jobs[j].unit.active)
			continue;
		if (!k->is_whole || k->n > REFRESH_MOST - n)
			return false;
		memcpy(pids + n, k->pids, k->n * sizeof(pids[0]));
		n += k->n;
	}
	if (h->units->n_members > REFRESH_MOST - n)
		return false;
	for (size_t i = 0; i < h->units->n_members; i++)
		pids[n++] = h->tasks->rows[h->units->member[i].row].pid;
	grouppids_sort(pids, n);
	size_t kept = 0;
	for (size_t i = 0; i < n; i++)
		if (kept == 0 || pids[kept - 1] != pids[i])
			pids[kept++] = pids[i];
	*ret_n = kept;
	return true;
}

bool evict_refresh(struct evict *h, size_t budget)
{
	static pid_t pids[REFRESH_MOST];
	size_t n;
	/* a full sweep by BPF costs no more and reads more of each process */
	if (!evict_is_fresh(h) || h->tasks->source != TASKS_PROC || h->orphaned || !jobs_pids(h, pids, &n))
		return false;
	tasks_refresh(h->tasks, h->w, pids, n);
	units_build(h, &(struct unit_extra){pids, n}, budget);
	return true;
}

/* The main process of one unit, then its largest others. */
static size_t likely_of(const struct evict *h, size_t unit, pid_t *ret, size_t room)
{
	size_t n = 0;
	ret[n++] = h->units->unit[unit].pid;
	for (uint64_t below = UINT64_MAX; n < room;) {
		const struct task_row *best = NULL;
		for (size_t i = 0; i < h->units->n_members; i++) {
			const struct task_row *row = &h->tasks->rows[h->units->member[i].row];
			bool next = h->units->member[i].unit == unit && row->pid != ret[0] &&
				    unit_own(h->known, row) < below;
			if (next && (!best || unit_own(h->known, row) > unit_own(h->known, best)))
				best = row;
		}
		if (!best)
			break;
		below = unit_own(h->known, best);
		ret[n++] = best->pid;
	}
	return n;
}

void evict_likely(const struct evict *h, pid_t ret[static GUARD_LIKELY])
{
	static struct victim_choice c;
	memset(ret, 0, GUARD_LIKELY * sizeof(*ret));
	victim_choose(h->units, h->shm->policy, 1, &c);
	size_t n = c.n ? likely_of(h, c.order[0], ret, GUARD_LIKELY / 2) : 0;
	for (size_t i = 1; i < c.n && n < GUARD_LIKELY; i++)
		ret[n++] = h->units->unit[c.order[i]].pid;
}

uint64_t evict_job_bytes(const struct evict *h, size_t j)
{
	uint64_t own = 0;
	for (size_t i = 0; i < h->units->n; i++)
		if (h->units->unit[i].job == j)
			own += unit_weight(&h->units->unit[i]);
	return own;
}
