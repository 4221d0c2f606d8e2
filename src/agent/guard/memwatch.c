#include "agent/guard/memwatch.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/units.h"
#include "sense/memory/psi.h"

static const uint64_t full_gap_ns = 10 * NS_PER_S;

int memwatch_open(struct memwatch *e, const struct world *w, int epoll_fd)
{
	*e = (struct memwatch){.w = w, .epoll_fd = epoll_fd};
	e->meminfo_fd = openat(w->proc_fd, "meminfo", O_RDONLY | O_CLOEXEC);
	if (e->meminfo_fd < 0)
		return -errno;
	return memmarks_start(&e->marks);
}

static bool event_add(struct memwatch *e, int fd, enum memwatch_event_kind kind, int16_t group, uint32_t mask)
{
	size_t at = 0;
	while (at < e->n_events && e->event[at].fd >= 0)
		at++;
	if (at >= MEMWATCH_EVENTS)
		return false;
	struct epoll_event ev = {.events = mask, .data.u32 = MEMWATCH_EVENT_BASE + (uint32_t)at};
	if (epoll_ctl(e->epoll_fd, EPOLL_CTL_ADD, fd, &ev) < 0)
		return false;
	e->n_events = MAX(e->n_events, at + 1);
	e->event[at] = (struct memwatch_event){.fd = fd, .kind = kind, .group = group};
	return true;
}

void memwatch_watch_pressure(struct memwatch *e)
{
	uint64_t window_us;
	int fd;
	if (psi_trigger_open(e->w->proc_fd, "pressure/memory", false, 70000, 1000000, &fd, &window_us) == 0 &&
	    !event_add(e, fd, MEMWATCH_PSI, -1, EPOLLPRI))
		close(fd);
}

void memwatch_close(struct memwatch *e)
{
	closep(&e->meminfo_fd);
	for (size_t i = 0; i < e->n_groups; i++)
		cgroup_close(&e->group[i].g);
	for (size_t i = 0; i < e->n_events; i++)
		closep(&e->event[i].fd);
	e->n_groups = e->n_events = 0;
}

/* A job's own group wakes the guard when its use is at least this far below the threshold. */
static const uint64_t warn_own_bytes = 64 * MIB;

/* v1: "<eventfd> <file>" written to cgroup.event_control. */
static bool v1_oom_event(struct memwatch *e, size_t gi)
{
	struct memwatch_group *g = &e->group[gi];
	cleanup(closep) int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	cleanup(closep) int ffd = openat(g->g.dir_fd, "memory.oom_control", O_RDONLY | O_CLOEXEC);
	if (efd < 0 || ffd < 0)
		return false;
	char text[80];
	TEXT_FORMAT(text, "%d %d", efd, ffd);
	if (file_write_at(g->g.dir_fd, "cgroup.event_control", text) < 0)
		return false;
	if (!event_add(e, efd, MEMWATCH_OOM, (int16_t)gi, EPOLLIN))
		return false;
	efd = -1; /* the table owns it now */
	return true;
}

/* v1: a mark at so many bytes. Returns its ticket, or 0. */
static uint32_t v1_mark(struct memwatch *e, size_t gi, uint64_t at)
{
	cleanup(closep) int efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	uint32_t ticket = efd < 0 ? 0 : memmarks_ask(&e->marks, e->group[gi].g.dir_fd, efd, at);
	if (ticket == 0 || !event_add(e, efd, MEMWATCH_THRESHOLD, (int16_t)gi, EPOLLIN))
		return 0;
	efd = -1; /* the table owns it now */
	return ticket;
}

static void v2_event(struct memwatch *e, size_t gi)
{
	struct memwatch_group *g = &e->group[gi];
	cleanup(closep) int fd = openat(g->g.dir_fd, "memory.events", O_RDONLY | O_CLOEXEC);
	char text[512];
	size_t len;
	if (fd < 0 || file_read_fd(fd, text, sizeof(text), &len) < 0)
		return;
	if (event_add(e, fd, MEMWATCH_EVENTS_FILE, (int16_t)gi, EPOLLPRI))
		fd = -1;
}

/* Have the kernel wake us within microseconds when the usage of a v1 group crosses the threshold, or comes near it. */
static void arm(struct memwatch *e, size_t gi, const struct guard_settings *s)
{
	struct memwatch_group *g = &e->group[gi];
	uint64_t limit = MIN(g->last.max_bytes, e->meminfo.bytes[MEMINFO_TOTAL]);
	if (g->g.version != CGROUP_V1 || g->armed_limit_bytes == limit || g->last.max_bytes == CGROUP_NO_LIMIT)
		return;
	uint64_t act = guard_threshold(s, limit), warn = sub_floor(act, limit - act);
	g->armed_limit_bytes = limit; /* tried once for each limit */
	g->armed = false;
	g->mark[0] = v1_mark(e, gi, act);
	g->mark[1] = v1_mark(e, gi, warn);
}

/*
 * The same for a job's own group. It also wakes us when it is full (its limit is the throttle), but then the threshold
 * is passed and no time is left to open the likely victims: hence one mark well before the threshold and one at it.
 */
static void arm_own(struct memwatch *e, size_t gi, const struct guard_settings *s, uint64_t limit)
{
	struct memwatch_group *g = &e->group[gi];
	if (g->g.version != CGROUP_V1 || g->armed_limit_bytes == limit)
		return;
	uint64_t act = guard_threshold(s, limit),
		 warn = act - MIN(MAX(limit - MIN(act, limit), warn_own_bytes), act / 2);
	g->armed_limit_bytes = limit;
	/* without them the timer finds it too, as a rule */
	(void)v1_mark(e, gi, warn);
	(void)v1_mark(e, gi, act);
}

static size_t group_find(const struct memwatch *e, const char *path)
{
	for (size_t i = 0; i < e->n_groups; i++)
		if (e->group[i].jobs != 0 && strcmp(e->group[i].g.path, path) == 0)
			return i;
	return SIZE_MAX;
}

static void group_add(struct memwatch *e, struct cgroup *g, size_t job, bool own)
{
	size_t known = group_find(e, g->path), at = 0;
	while (at < e->n_groups && e->group[at].jobs != 0)
		at++;
	if (known != SIZE_MAX || at >= MEMWATCH_GROUPS) {
		if (known != SIZE_MAX)
			e->group[known].jobs |= UINT64_C(1) << job;
		else
			e->unwatched++;
		cgroup_close(g);
		return;
	}
	e->n_groups = MAX(e->n_groups, at + 1);
	e->group[at] = (struct memwatch_group){
		.g = *g, .jobs = UINT64_C(1) << job, .own = own, .job = (uint16_t)job, .readable = true};
	if (g->version == CGROUP_V2)
		v2_event(e, at);
	else if (own)
		ignore(v1_oom_event(e, at), "the timer finds it too");
}

static void chain_add(struct memwatch *e, const struct cgroup_place *place, size_t job)
{
	struct cgroup_chain chain;
	if (cgroup_chain_open(e->w, place, &chain) != 0)
		return;
	for (size_t i = 0; i < chain.n; i++)
		group_add(e, &chain.level[i], job, false);
}

void memwatch_add_job(struct memwatch *e, const struct guard_job *job, size_t j)
{
	chain_add(e, &job->place, j);
	struct cgroup g;
	if (job->has_group && cgroup_open(e->w, job->group.version, job->group.memory, &g) == 0)
		group_add(e, &g, j, true);
	if (job->adopted_cgroup[0]) {
		enum cgroup_version v = job->place.memory_version;
		if (cgroup_open(e->w, v, job->adopted_cgroup, &g) == 0)
			group_add(e, &g, j, false);
	}
}

static void group_drop(struct memwatch *e, size_t gi)
{
	cgroup_close(&e->group[gi].g);
	e->group[gi] = (struct memwatch_group){.g = e->group[gi].g};
	for (size_t i = 0; i < e->n_events; i++)
		if (e->event[i].group == (int16_t)gi)
			closep(&e->event[i].fd);
}

void memwatch_drop_job(struct memwatch *e, size_t j)
{
	for (size_t i = 0; i < e->n_groups; i++) {
		if (!(e->group[i].jobs >> j & 1))
			continue;
		e->group[i].jobs &= ~(UINT64_C(1) << j);
		if (e->group[i].jobs == 0)
			group_drop(e, i);
	}
}

static void level_add(struct memwatch *e, struct ledger *l, struct ledger_level v, uint64_t jobs, int16_t group)
{
	if (l->n >= LEDGER_MAX_LEVELS || jobs == 0)
		return;
	e->jobs_of[l->n] = jobs;
	e->group_of[l->n] = group;
	l->level[l->n++] = v;
}

static uint64_t jobs_active(const struct guard_job *jobs, size_t n)
{
	uint64_t mask = 0;
	for (size_t j = 0; j < n; j++)
		if (jobs[j].unit.active)
			mask |= UINT64_C(1) << j;
	return mask;
}

/* True if neither the group nor the machine is near its limit, even if none of the group's use is reclaimable. */
static bool is_far(const struct memwatch *e, const struct cgroup_memory *m, uint64_t job_limit)
{
	uint64_t node = e->meminfo.bytes[MEMINFO_TOTAL];
	uint64_t limit = MIN(MIN(m->max_bytes, m->high_bytes), MIN(node, job_limit));
	return m->current_bytes < limit / 2 && e->meminfo.bytes[MEMINFO_AVAILABLE] > node / 4 &&
	       (m->swap_max_bytes == CGROUP_NO_LIMIT || m->swap_bytes < m->swap_max_bytes / 2);
}

static bool usage_read(struct memwatch_group *g)
{
	struct cgroup_memory m;
	if (cgroup_read_usage(&g->g, &m) != 0)
		return false;
	g->last.current_bytes = m.current_bytes;
	g->last.max_bytes = m.max_bytes;
	g->last.high_bytes = m.high_bytes;
	g->last.low_bytes = m.low_bytes;
	return true;
}

/* Read use and limits; memory.stat and events cost far more and are read only near a limit, or every ten seconds. */
static void group_read(struct memwatch *e, struct memwatch_group *g, uint64_t job_limit)
{
	uint64_t now_ns = e->w->mono_ns();
	if (g->readable && g->full_ns && now_ns - g->full_ns < full_gap_ns && is_far(e, &g->last, job_limit)) {
		g->readable = usage_read(g);
		if (!g->readable || is_far(e, &g->last, job_limit))
			return;
	}
	g->readable = cgroup_read_full(&g->g, &g->last) == 0;
	g->full_ns = now_ns;
}

/*
 * The user's limit of a job with a group. Where processes have left the group, what they had taken before is still
 * charged to it and the rest is not: the group's use and the sum of the processes are both too low, neither too high.
 */
static struct ledger_level own_level(const struct memwatch *e, const struct cgroup_memory *m, size_t job,
				     uint64_t job_used)
{
	struct ledger_level v = ledger_group_level(m, LEDGER_JOB, e->meminfo.bytes[MEMINFO_TOTAL]);
	bool more = (e->away >> job & 1) && job_used > v.used_bytes;
	return more ? ledger_job_level(job_used, m->max_bytes) : v;
}

static void group_sample(struct memwatch *e, size_t gi, const struct guard_job *jobs, uint64_t active,
			 const uint64_t *job_used, struct ledger *l, uint32_t *covered, const struct guard_settings *s)
{
	struct memwatch_group *g = &e->group[gi];
	if (g->jobs == 0)
		return; /* this place is free */
	group_read(e, g, g->own ? jobs[g->job].limit_bytes : CGROUP_NO_LIMIT);
	if (!g->readable || (g->jobs & active) == 0)
		return;
	uint64_t node = e->meminfo.bytes[MEMINFO_TOTAL];
	if (g->own) {
		/* the group's own limit is our throttle: only the user's limit is a level */
		if (jobs[g->job].limit_bytes == CGROUP_NO_LIMIT)
			return;
		struct cgroup_memory m = g->last;
		m.max_bytes = jobs[g->job].limit_bytes;
		m.high_bytes = CGROUP_NO_LIMIT;
		m.hierarchy_max_bytes = 0;
		if (!(e->away >> g->job & 1))
			*covered |= UINT32_C(1) << l->n;
		arm_own(e, gi, s, m.max_bytes);
		level_add(e, l, own_level(e, &m, g->job, job_used[g->job]), g->jobs & active, (int16_t)gi);
		return;
	}
	/*
	 * a group as large as the node counts too: lxcfs shows its limit as the total, but counts shared memory as
	 * cache
	 */
	if (MIN(g->last.max_bytes, g->last.high_bytes) > node)
		return;
	arm(e, gi, s);
	g->armed |= memmarks_is_set(&e->marks, g->mark[0]) && memmarks_is_set(&e->marks, g->mark[1]);
	uint64_t threshold = guard_threshold(s, g->last.max_bytes);
	if (g->armed && g->last.current_bytes < threshold)
		*covered |= UINT32_C(1) << l->n;
	level_add(e, l, ledger_group_level(&g->last, LEDGER_CONTAINER, node), g->jobs & active, (int16_t)gi);
}

int memwatch_look(struct memwatch *e, const struct guard_job *jobs, size_t n_jobs, const uint64_t *job_used,
		  struct ledger *ret, uint32_t *ret_covered, const struct guard_settings *s)
{
	struct meminfo m;
	int r = meminfo_read(e->meminfo_fd, &m);
	if (r == 0)
		e->meminfo = m;
	else if (e->meminfo.bytes[MEMINFO_TOTAL] == 0)
		return r;
	if (e->meminfo.clamped)
		e->clamps++;
	ret->mono_ns = e->w->mono_ns();
	ret->n = 0;
	*ret_covered = 0;
	uint64_t active = jobs_active(jobs, n_jobs);
	level_add(e, ret, ledger_node_level(&e->meminfo, 0), active, -1);
	for (size_t i = 0; i < e->n_groups; i++)
		group_sample(e, i, jobs, active, job_used, ret, ret_covered, s);
	for (size_t j = 0; j < n_jobs; j++) {
		if (!(active >> j & 1) || jobs[j].has_group || jobs[j].limit_bytes == CGROUP_NO_LIMIT)
			continue;
		level_add(e, ret, ledger_job_level(job_used[j], jobs[j].limit_bytes), UINT64_C(1) << j, -1);
	}
	return 0;
}

void memwatch_event_take(struct memwatch *e, uint32_t index)
{
	if (index >= e->n_events)
		return;
	struct memwatch_event *ev = &e->event[index];
	uint64_t count;
	char text[512];
	size_t len;
	for (size_t i = 0; i < e->n_groups; i++)
		e->group[i].full_ns = 0;
	if (ev->kind == MEMWATCH_THRESHOLD || ev->kind == MEMWATCH_OOM)
		ignore(read(ev->fd, &count, sizeof(count)), "only the wake-up counts");
	else if (ev->kind == MEMWATCH_EVENTS_FILE && file_read_fd(ev->fd, text, sizeof(text), &len) < 0)
		/* reading re-arms the poll; the file of a removed group would wake us again and again */
		closep(&ev->fd);
}

void memwatch_level_name(const struct memwatch *e, const struct ledger *l, size_t level, char *dst, size_t cap)
{
	const struct ledger_level *v = &l->level[level];
	struct buf b = {.text = dst, .cap = cap};
	char size[16];
	buf_reset(&b);
	size_format(v->total_bytes, size);
	if (v->scope == LEDGER_NODE)
		buf_printf(&b, "the machine's memory (%s)", size);
	else if (v->scope == LEDGER_JOB)
		buf_printf(&b, "the job's own limit, --memory-limit (%s)", size);
	else
		buf_printf(&b, "control group %s (limit %s)",
			   e->group_of[level] >= 0 ? e->group[e->group_of[level]].g.path : "?", size);
}
