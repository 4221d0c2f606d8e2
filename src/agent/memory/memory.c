#include "agent/memory/memory.h"

#include <fcntl.h>
#include <string.h>
#include <sys/statvfs.h>

#include "agent/gpu/gpus.h"
#include "agent/host/host.h"
#include "agent/memory/pss.h"
#include "agent/memory/raystore.h"
#include "base/buf.h"
#include "sense/memory/cgroup.h"
#include "sense/memory/meminfo.h"
#include "sense/memory/psi.h"
#include "sense/memory/shm.h"

#define TASKS_CAP 65536
#define NODE_ROWS 30 /* for the whole node, unless all processes are asked for */
#define PSS_ROWS 64 /* each costs 10 ms for each GiB */
#define SHM_ROWS 20
/* Of these, what nobody holds in a job's view: the machine's, of which the job may have left some. */
#define SHM_JOB_ORPHANS 3
#define DEPTH_MAX 64 /* of a process below the one that was adopted */
#define PSS_BUDGET_NS (3 * NS_PER_S)
#define SHM_BUDGET_NS (NS_PER_S / 2)

/* True for a group that vigil made for the job: its limit is the guard's throttle, not one that a person set. */
static bool is_own_group(const struct job *job, const char *path)
{
	size_t len = strlen(path), tail = job ? strlen(job->cgroup) : 0;
	return tail > 1 && !job->adopted && len >= tail && strcmp(path + len - tail, job->cgroup) == 0;
}

static void level_add(struct footprint *f, const struct ledger_level *level, const char *name)
{
	if (f->ledger.n == LEDGER_MAX_LEVELS)
		return;
	f->ledger.level[f->ledger.n] = *level;
	TEXT_COPY(f->level_name[f->ledger.n], name);
	f->ledger.n++;
}

/* Adds the level of the first job against its own limit. group: counters of its own group; NULL: it has none. */
static void job_level(const struct job *job, const struct cgroup_memory *group, struct footprint *f)
{
	if (!job || f->n_jobs == 0)
		return;
	struct footprint_job *row = &f->job[0];
	uint64_t used = add_cap(row->own_bytes, row->shmem_bytes);
	if (group)
		used = sub_floor(group->current_bytes, ledger_group_reclaimable(group));
	struct ledger_level level = ledger_job_level(used, job->limit_bytes);
	level.reclaimable_bytes = group ? ledger_group_reclaimable(group) : 0;
	if (job->limit_bytes > 0)
		level_add(f, &level, job->id);
}

static void chain_levels(const struct world *w, pid_t pid, const struct job *job, uint64_t total_cap,
			 struct footprint *f)
{
	struct cgroup_memory own;
	bool has_own = false;
	struct cgroup_place place;
	struct cgroup_chain chain = {.n = 0};
	if (cgroup_place_read(w, pid, &place) != 0 || cgroup_chain_open(w, &place, &chain) != 0) {
		job_level(job, NULL, f);
		return;
	}
	for (size_t i = 0; i < chain.n; i++) {
		struct cgroup_memory m;
		if (cgroup_read_full(&chain.level[i], &m) != 0)
			continue;
		if (is_own_group(job, chain.level[i].path)) {
			own = m;
			has_own = true;
			continue;
		}
		if (m.max_bytes == CGROUP_NO_LIMIT && m.high_bytes == CGROUP_NO_LIMIT)
			continue; /* without a limit the level of the node says more */
		const struct ledger_level level = ledger_group_level(&m, LEDGER_CONTAINER, total_cap);
		level_add(f, &level, chain.level[i].path);
	}
	job_level(job, has_own ? &own : NULL, f);
	cgroup_chain_close(&chain);
}

static int levels_read(const struct world *w, pid_t pid, const struct job *job, struct footprint *f,
		       struct fault *fault)
{
	cleanup(closep) int fd = openat(w->proc_fd, "meminfo", O_RDONLY | O_CLOEXEC);
	struct meminfo m;
	int r = fd < 0 ? -errno : meminfo_read(fd, &m);
	if (r)
		return fault_set(fault, r, "cannot read the node's memory (meminfo): %s", strerror(-r));
	f->ledger.mono_ns = w->mono_ns();
	f->ledger.level[0] = ledger_node_level(&m, 0);
	TEXT_COPY(f->level_name[0], f->node);
	f->ledger.n = 1;
	f->has_shm = meminfo_has(&m, MEMINFO_SHMEM);
	f->shm_bytes = m.bytes[MEMINFO_SHMEM];
	chain_levels(w, pid, job, m.bytes[MEMINFO_TOTAL], f);
	return 0;
}

/* Reads exact numbers; false: the process is gone. */
static bool row_fill(const struct world *w, const struct member *m, bool in_job, struct footprint_row *row)
{
	struct proc_status s;
	int r = proc_status_read(w, m->task->pid, &s);
	if (r == WORLD_GONE)
		return false;
	*row = (struct footprint_row){
		.pid = m->task->pid,
		.ppid = m->task->ppid,
		.start_ticks = m->task->start_ticks,
		.who = m->who,
		/* outside a job the root of a tree may be any program: only roles that are certain are shown */
		.has_role = in_job || m->job[0] || m->who.rank != NO_RANK || role_serves(m->who.role) ||
			    m->who.role == ROLE_RAY_WORKER || m->who.role == ROLE_RAY_SYSTEM ||
			    m->who.role == ROLE_COMPILER || m->who.role == ROLE_LAUNCHER,
	};
	TEXT_COPY(row->job, m->job);
	TEXT_COPY(row->comm, m->task->comm);
	TEXT_COPY(row->command, m->command);
	if (r == 0 && s.has_memory) {
		row->own_bytes = s.rss_anon_bytes;
		row->rss_bytes = s.rss_bytes;
		row->shared_bytes = s.rss_file_bytes + s.rss_shmem_bytes;
		row->shmem_bytes = s.rss_shmem_bytes;
		row->swap_bytes = s.swap_bytes;
	} else {
		row->own_bytes = task_own_bytes(m->task);
		row->rss_bytes = task_rss_bytes(m->task);
		row->shared_bytes = sub_floor(row->rss_bytes, row->own_bytes);
		row->swap_bytes = m->task->swap_bytes;
	}
	return true;
}

/*
 * The job that watches over the process, where its environment names none: processes of an adopted job descend from
 * what was adopted.
 */
static const struct job *adopted_by(const struct memory_want *want, const struct members *m,
				    const struct footprint_row *row)
{
	pid_t pid = row->pid;
	for (size_t depth = 0; pid > 1 && depth < DEPTH_MAX; depth++) {
		for (size_t k = 0; k < want->n_jobs; k++)
			if (want->jobs[k].adopted && want->jobs[k].pid == pid)
				return &want->jobs[k];
		const struct member *above = member_find(m, pid);
		pid = above ? above->task->ppid : 0;
	}
	return NULL;
}

static void jobs_name(const struct memory_want *want, const struct members *m, struct footprint *f)
{
	bool any = false;
	for (size_t k = 0; k < want->n_jobs; k++)
		any |= want->jobs[k].adopted && want->jobs[k].pid > 0;
	for (size_t i = 0; any && i < f->n; i++) {
		const struct job *j = f->rows[i].job[0] ? NULL : adopted_by(want, m, &f->rows[i]);
		if (!j)
			continue;
		TEXT_COPY(f->rows[i].job, j->id);
		f->rows[i].has_role = true;
	}
}

static int rows_read(const struct world *w, const struct members *m, const struct memory_want *want,
		     struct footprint *f)
{
	f->rows = calloc(m->n ? m->n : 1, sizeof(*f->rows));
	if (!f->rows)
		return -ENOMEM;
	for (size_t i = 0; i < m->n; i++)
		f->n += row_fill(w, &m->row[i], want->members != NULL, &f->rows[f->n]) ? 1 : 0;
	if (!want->members)
		jobs_name(want, m, f);
	/* every row is of the job asked for, also where its environment cannot be read */
	for (size_t i = 0; i < f->n && want->members && want->members->job_id; i++)
		TEXT_COPY(f->rows[i].job, want->members->job_id);
	f->n_all = f->n;
	f->n_denied = m->n_denied;
	footprint_settle(f);
	return 0;
}

static void pss_dropp(struct pss_work **k)
{
	*k = pss_drop(*k);
}

/* The rows are sorted anew: what a process has by itself is less than it seemed. */
static void pss_put(const struct memory_want *want, struct pss_work *k, struct footprint *f)
{
	f->pss_late = pss_take(k, f->rows, MIN(f->n, (size_t)PSS_ROWS));
	footprint_settle(f);
	for (size_t i = 0; i < f->n_jobs; i++)
		for (size_t m = 0; m < want->n_jobs; m++)
			if (strcmp(f->job[i].id, want->jobs[m].id) == 0)
				f->job[i].limit_bytes = want->jobs[m].limit_bytes;
}

/*
 * True if a file without a holder may be reported as an orphan, with the advice to remove it: only where all processes
 * are visible. The administrator sees all but those that a security module hides.
 */
static bool orphans_certain(const struct shm_ledger *l)
{
	return shm_complete(l) || geteuid() == 0;
}

static void shm_fill(const struct shm_ledger *l, const struct shm_item *it, struct footprint_shm *row)
{
	*row = (struct footprint_shm){
		.kind = shm_kind_name(it->kind),
		.maker = it->maker,
		.has_bytes = it->has_bytes,
		.bytes = it->bytes,
		.mapped_bytes = it->mapped_bytes,
		.has_uid = it->has_uid,
		.uid = it->uid,
		.since_unix_ms = it->since_unix_ms,
		.maker_pid = it->maker_pid,
		.maker_gone = it->maker_gone,
		.orphan = it->orphan && orphans_certain(l),
		.n_owners = it->n_owners,
	};
	shm_item_path(it, row->path, sizeof(row->path));
	if (it->has_uid)
		host_account(it->uid, row->user, sizeof(row->user));
	for (size_t i = 0; i < it->n_owners && i < FOOTPRINT_OWNERS; i++)
		row->owners[i] = l->owners[it->first_owner + i].pid;
}

static bool shm_of_rows(const struct shm_ledger *l, const struct shm_item *it, const struct footprint *f)
{
	for (size_t i = 0; i < it->n_owners; i++)
		for (size_t k = 0; k < f->n; k++)
			if (l->owners[it->first_owner + i].pid == f->rows[k].pid)
				return true;
	return false;
}

static int shm_rows(const struct shm_ledger *l, bool in_job, bool all, struct footprint *f)
{
	f->shm = calloc(l->n ? l->n : 1, sizeof(*f->shm));
	if (!f->shm)
		return -ENOMEM;
	size_t orphans = 0;
	for (size_t i = 0; i < l->n; i++) {
		const struct shm_item *it = &l->items[i];
		f->n_orphans += it->orphan && orphans_certain(l) ? 1 : 0;
		/* a job's view also shows objects without a holder: an earlier job may have left them */
		if (in_job && !it->orphan && !shm_of_rows(l, it, f))
			continue;
		raystore_shm(l, it, f);
		f->n_shm_all++;
		bool room = f->n_shm < SHM_ROWS && !(in_job && it->orphan && orphans++ >= SHM_JOB_ORPHANS);
		if (all || room)
			shm_fill(l, it, &f->shm[f->n_shm++]);
	}
	return 0;
}

static int shm_part(const struct world *w, bool in_job, bool all, struct footprint *f)
{
	struct shm_ledger l;
	cleanup(freep) pid_t *first = calloc(f->n ? f->n : 1, sizeof(*first));
	if (!first)
		return -ENOMEM;
	for (size_t i = 0; i < f->n; i++)
		first[i] = f->rows[i].pid;
	int r = shm_read(w, first, in_job ? f->n : 0, SHM_BUDGET_NS, &l);
	if (r)
		return r;
	f->orphan_bytes = orphans_certain(&l) ? l.orphan_bytes : 0;
	f->owners_denied = l.n_denied;
	f->owners_unscanned = l.n_unscanned;
	f->owners_hidden = l.hidden;
	f->shm_total_bytes = l.has_space ? l.total_bytes : 0;
	f->shm_free_bytes = l.free_bytes;
	r = shm_rows(&l, in_job, all, f);
	shm_done(&l);
	return r;
}

static int members_part(const struct world *w, const struct memory_want *want, struct tasks *t, struct footprint *f,
			struct fault *fault)
{
	struct members m;
	int r = tasks_scan(t, w);
	if (r == 0)
		r = members_read(w, t, want->members, &m);
	if (r)
		return fault_set(fault, r < 0 ? r : -ENOENT, "cannot list the processes: %s",
				 r < 0 ? strerror(-r) : "no /proc");
	r = rows_read(w, &m, want, f);
	members_done(&m);
	if (r == 0)
		r = raystore_find(w, f);
	if (r)
		return fault_set(fault, r, "out of memory");
	if (want->members && f->n == 0)
		return fault_set(fault, MEMORY_NO_PROCESS, "no process of %s is alive", want->subject);
	return 0;
}

static void pressure_read(const struct world *w, struct footprint *f)
{
	static const char *const files[STALLS] = {
		[STALL_CPU] = "pressure/cpu", [STALL_MEMORY] = "pressure/memory", [STALL_IO] = "pressure/io"};
	for (int i = 0; i < STALLS; i++) {
		struct psi p;
		if (psi_read(w->proc_fd, files[i], &p) == 0)
			f->pressure[i] = (struct footprint_pressure){.known = true,
								     .has_full = p.has_full,
								     .some_ratio = p.some.avg10_ratio,
								     .full_ratio = p.full.avg10_ratio};
	}
}

static int memory_sweep(const struct world *w, const struct memory_want *want, struct tasks *t, struct footprint *f,
			struct fault *fault)
{
	bool in_job = want->members != NULL;
	struct gpus_memory gpus = {.n = 0};
	if (!want->gpus)
		gpus_memory_ask(w, &gpus);
	int r = members_part(w, want, t, f, fault);
	/* the largest first; the kernel adds up their pages while shared memory is listed */
	cleanup(pss_dropp) struct pss_work *pss =
		r == 0 ? pss_begin(w, f->rows, MIN(f->n, (size_t)PSS_ROWS), PSS_BUDGET_NS) : NULL;
	gpus_memory_collect(&gpus, w, f->rows, r == 0 ? f->n : 0);
	if (want->gpus && r == 0)
		gpus_memory_put(want->gpus, f->rows, f->n);
	if (r)
		return r;
	const struct job *job = in_job && want->members->job_id && want->n_jobs ? want->jobs : NULL;
	r = levels_read(w, in_job ? f->rows[0].pid : 0, job, f, fault);
	if (r)
		return r;
	r = shm_part(w, in_job, want->all, f);
	if (r)
		return fault_set(fault, r, "out of memory while listing shared memory");
	pss_put(want, take(&pss), f);
	if (!in_job) {
		pressure_read(w, f);
		footprint_head(f);
	}
	if (!in_job && !want->all)
		f->n = MIN(f->n, (size_t)NODE_ROWS);
	return 0;
}

int memory_gather(const struct world *w, const struct memory_want *want, struct footprint *ret, struct fault *f)
{
	struct footprint p = {.n = 0};
	struct tasks t;
	if (gethostname(p.node, sizeof(p.node) - 1) != 0)
		TEXT_COPY(p.node, "this node");
	TEXT_COPY(p.subject, want->subject);
	int r = tasks_init(&t, TASKS_CAP, -1);
	if (r)
		return fault_set(f, r, "out of memory");
	r = memory_sweep(w, want, &t, &p, f);
	tasks_done(&t);
	if (r) {
		footprint_done(&p);
		return r;
	}
	*ret = p;
	return 0;
}
