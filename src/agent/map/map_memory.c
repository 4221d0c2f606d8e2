#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/map/mapslots.h"
#include "agent/map/mapstate.h"
#include "base/log.h"
#include "base/units.h"
#include "model/memory/ledger.h"
#include "sense/speed/cpustat.h"

/* Between two looks. A look costs some 20 us a process. */
static const uint64_t shortest_ns = 4 * NS_PER_MS;
static const uint64_t longest_ns = 100 * NS_PER_MS;
/* Tasks may begin to grow as fast as this; twice as fast as they grew is expected in any case. */
static const uint64_t fast_bytes_per_s = 2 * GIB;
/* Growth comes in steps: so long after one a task is taken to grow still. Less than this is noise. */
static const uint64_t lately_ns = 500 * NS_PER_MS;
static const uint64_t grown_noise_bytes = 1 * MIB;
/* Tasks younger than this are not looked at: most end before. */
static const uint64_t young_ns = 5 * NS_PER_MS;
/* The sizes of inputs are asked for once a task has needed so much: small ones need no forecast. */
static const uint64_t sizes_matter_bytes = 16 * MIB;
/* Acts in one look: each changes one task. */
#define ACTS_MAX (2 * MAP_SLOTS)
#define TREE_MAX 1024
#define LOOKS_FOR_AVERAGE 4

void map_memory_open(struct map *m)
{
	struct map_memory *mem = &m->memory;
	struct cgroup_place place;
	struct cpuquota quota;
	mem->meminfo_fd = openat(m->w->proc_fd, "meminfo", O_RDONLY | O_CLOEXEC);
	if (cgroup_place_read(m->w, 0, &place) != 0 || cgroup_chain_open(m->w, &place, &mem->chain) != 0)
		mem->chain.n = 0;
	mem->room_bytes = m->spec->memory_limit_bytes;
	mem->n_processors = mapslots_cores();
	if (cpuquota_read(m->w, getpid(), &quota) == 0 && quota.cores > 0)
		mem->n_processors = MIN(mem->n_processors, (size_t)ceil(quota.cores));
	map_memory_look(m);
}

void map_memory_close(struct map *m)
{
	closep(&m->memory.meminfo_fd);
	cgroup_chain_close(&m->memory.chain);
}

/* What the tightest of machine and groups has left; the room follows from it. */
static void room_read(struct map *m, uint64_t own_bytes)
{
	struct map_memory *mem = &m->memory;
	struct meminfo info;
	uint64_t room_bytes = m->spec->memory_limit_bytes, total_bytes = UINT64_MAX;
	if (mem->meminfo_fd >= 0 && meminfo_read(mem->meminfo_fd, &info) == 0) {
		struct ledger_level node = ledger_node_level(&info, 0);
		total_bytes = node.total_bytes;
		room_bytes = admit_room(room_bytes, own_bytes, node.available_bytes, node.total_bytes);
	}
	for (size_t i = 0; i < mem->chain.n; i++) {
		struct cgroup_memory g;
		if (cgroup_read_full(&mem->chain.level[i], &g) != 0)
			continue;
		struct ledger_level v = ledger_group_level(&g, LEDGER_CONTAINER, total_bytes);
		if (v.total_bytes < total_bytes)
			room_bytes = admit_room(room_bytes, own_bytes, v.available_bytes, v.total_bytes);
	}
	mem->room_bytes = room_bytes;
}

static bool is_growing(const struct map_runner *r, uint64_t now_ns)
{
	return r->n_looks < LOOKS_FOR_AVERAGE || now_ns - r->grew_ns < lately_ns;
}

/* Until the last look, without the time in which it was suspended. */
static uint64_t lived_ns(const struct map_runner *r)
{
	return sub_floor(r->looked_ns, r->started_ns + r->suspended_ns);
}

static struct admit_state map_memory_state(const struct map *m, struct admit_task *t)
{
	const uint64_t now = m->w->mono_ns();
	for (uint32_t i = 0; i < m->n_runners; i++) {
		const struct map_runner *r = m->runner[i];
		t[i] = (struct admit_task){.own_bytes = r->own_bytes,
					   .expected_bytes = r->need.expected_bytes,
					   .spread_bytes = r->need.spread_bytes,
					   .lived_ns = lived_ns(r),
					   .growing = is_growing(r, now),
					   .suspended = r->suspended,
					   .ending = r->why == MAP_WHY_MEMORY || r->why == MAP_WHY_TOO_BIG};
	}
	return (struct admit_state){.room_bytes = m->memory.room_bytes,
				    .ahead_bytes = m->memory.grow_bytes_per_s / (NS_PER_S / shortest_ns),
				    .share_ratio = m->memory.share_ratio,
				    .n_processors = m->memory.n_processors,
				    .task = t,
				    .n = m->n_runners};
}

/* ---- starting ---- */

/* Nothing is known of the first ones: each may have an equal part, or as much as one of them has come to hold. */
static uint64_t first_guess(const struct map *m)
{
	uint64_t guess_bytes = m->memory.room_bytes / 20 * 19 / m->slots;
	for (uint32_t i = 0; i < m->n_runners; i++)
		guess_bytes = MAX(guess_bytes, m->runner[i]->peak_bytes);
	return guess_bytes;
}

/* The size of a task's only input if that is a file, or of its block. */
static bool input_size(const struct map *m, const struct map_task *t, uint64_t *ret)
{
	struct statx st;
	if (t->args.piped) {
		*ret = t->args.in_bytes;
		return true;
	}
	if (t->args.n != 1 || m->memory.peak_bytes < sizes_matter_bytes)
		return false;
	if (statx(AT_FDCWD, t->args.arg[0], AT_STATX_DONT_SYNC, STATX_TYPE | STATX_SIZE, &st) < 0 ||
	    !S_ISREG(st.stx_mode))
		return false;
	*ret = st.stx_size;
	return true;
}

/* held_bytes: 0 for a task that has not been started. */
static void task_need(const struct map *m, const struct map_task *t, uint64_t held_bytes, struct forecast_need *ret)
{
	if (!forecast_of(&m->memory.forecast, t->has_size ? &t->size_bytes : NULL, held_bytes, ret))
		*ret = (struct forecast_need){.expected_bytes = MAX(first_guess(m), 2 * held_bytes)};
	if (t->reserve_bytes > ret->expected_bytes)
		*ret = (struct forecast_need){.expected_bytes = t->reserve_bytes};
}

bool map_memory_admits(struct map *m, struct map_task *t)
{
	static struct admit_task all[MAP_SLOTS];
	struct admit_state s = map_memory_state(m, all);
	if (!t->has_size)
		t->has_size = input_size(m, t, &t->size_bytes);
	task_need(m, t, 0, &t->need);
	return admit_start(&s, &(struct admit_task){.expected_bytes = t->need.expected_bytes,
						    .spread_bytes = t->need.spread_bytes});
}

void map_memory_learn(struct map *m, const struct map_runner *r, uint64_t peak_bytes)
{
	struct map_memory *mem = &m->memory;
	struct forecast_point p = {
		.has_size = r->task->has_size, .size_bytes = r->task->size_bytes, .peak_bytes = peak_bytes};
	double lived_s = (double)lived_ns(r) / 1e9;
	if (r->n_looks >= LOOKS_FOR_AVERAGE && lived_s > 0)
		p.average_bytes = (uint64_t)(r->held_byte_s / lived_s);
	mem->peak_bytes = MAX(mem->peak_bytes, peak_bytes);
	forecast_add(&mem->forecast, &p);
	mem->share_stale = true;
}

/* ---- acting ---- */

static void memory_suspend(struct map *m, struct map_runner *r)
{
	map_suspend(m, r);
	r->suspended = true;
	r->suspended_since_ns = m->w->mono_ns();
	m->memory.suspends++;
	map_job_event(m, "suspend", "task %llu (pid %d) is suspended: memory is short",
		      (unsigned long long)r->task->seq, (int)r->pid);
	log_debug("task %llu is suspended", (unsigned long long)r->task->seq);
}

void map_memory_resume(struct map *m, struct map_runner *r)
{
	if (!r->suspended)
		return;
	map_continue(m, r);
	r->suspended = false;
	uint64_t paused_ns = m->w->mono_ns() - r->suspended_since_ns;
	r->suspended_ns += paused_ns;
	r->looked_ns += paused_ns;
}

static void memory_kill(struct map *m, struct map_runner *r, enum map_why why)
{
	r->why = why;
	r->task->reserve_bytes = admit_more(r->own_bytes, r->need.expected_bytes);
	map_kill(m, r);
	map_job_killed(m, r);
	log_debug("task %llu is ended for memory", (unsigned long long)r->task->seq);
}

static void memory_act(struct map *m)
{
	static struct admit_task all[MAP_SLOTS];
	for (int i = 0; i < ACTS_MAX; i++) {
		struct admit_state s = map_memory_state(m, all);
		struct admit_verdict v = admit_judge(&s);
		if (v.act == ADMIT_NOTHING)
			return;
		struct map_runner *r = m->runner[v.task];
		if (v.act == ADMIT_SUSPEND)
			memory_suspend(m, r);
		else if (v.act == ADMIT_RESUME)
			map_memory_resume(m, r);
		else
			memory_kill(m, r, v.act == ADMIT_KILL ? MAP_WHY_MEMORY : MAP_WHY_TOO_BIG);
	}
}

/* ---- looking ---- */

/* Returns by how much it has grown. */
static uint64_t runner_look(struct map *m, struct map_runner *r)
{
	static struct proctree_row rows[TREE_MAX];
	size_t n = map_task_rows(m, r, rows, TREE_MAX);
	uint64_t own_bytes = 0;
	for (size_t i = 0; i < n; i++)
		own_bytes += rows[i].own_bytes;
	uint64_t grown_bytes = sub_floor(own_bytes, r->own_bytes);
	/* suspended time does not count: it is no part of a task's own course */
	uint64_t now = m->w->mono_ns(), since = MAX(r->looked_ns, r->started_ns);
	r->held_byte_s += ((double)r->own_bytes + (double)own_bytes) / 2 * (double)(now - since) / 1e9;
	r->looked_ns = now;
	r->n_looks++;
	if (grown_bytes > grown_noise_bytes)
		r->grew_ns = now;
	r->own_bytes = own_bytes;
	r->peak_bytes = MAX(r->peak_bytes, own_bytes);
	task_need(m, r->task, r->peak_bytes, &r->need);
	return grown_bytes;
}

/* So that half of what is left can be used before the next look. */
static uint64_t next_look_ns(const struct map_memory *mem, uint64_t used_bytes)
{
	double left = (double)sub_floor(mem->room_bytes, used_bytes);
	double rate = (double)MAX(2 * mem->grow_bytes_per_s, fast_bytes_per_s);
	double ns = left / rate * (double)NS_PER_S;
	return ns > (double)longest_ns ? longest_ns : MAX((uint64_t)ns, shortest_ns);
}

void map_memory_look(struct map *m)
{
	struct map_memory *mem = &m->memory;
	uint64_t now = m->w->mono_ns(), used_bytes = 0, grown_bytes = 0;
	for (uint32_t i = 0; i < m->n_runners; i++) {
		struct map_runner *r = m->runner[i];
		if (now - r->started_ns >= young_ns && !r->suspended)
			grown_bytes += runner_look(m, r);
		used_bytes = add_cap(used_bytes, r->own_bytes);
		map_job_process(m, r);
	}
	mem->most_bytes = MAX(mem->most_bytes, used_bytes);
	mem->grow_bytes_per_s = mem->looked_ns > 0 && now > mem->looked_ns
					? (uint64_t)((double)grown_bytes * 1e9 / (double)(now - mem->looked_ns))
					: 0;
	mem->looked_ns = now;
	mem->used_bytes = used_bytes;
	room_read(m, used_bytes);
	if (mem->share_stale) {
		mem->share_stale = false;
		mem->share_ratio = forecast_share(&mem->forecast);
	}
	if (m->stops == 0)
		memory_act(m);
	mem->next_ns = now + next_look_ns(mem, used_bytes);
}

/* A task has been started: it may grow at once. */
void map_memory_soon(struct map *m)
{
	struct map_memory *mem = &m->memory;
	mem->next_ns = MIN(mem->next_ns, m->w->mono_ns() + next_look_ns(mem, mem->used_bytes));
}

uint64_t map_memory_due_ns(const struct map *m)
{
	return m->n_runners > 0 ? m->memory.next_ns : UINT64_MAX;
}
