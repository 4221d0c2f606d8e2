#include "agent/speed/speedwatch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "agent/speed/speedwatch_parts.h"
#include "base/buf.h"
#include "base/clock.h"
#include "sense/proc/keptfds.h"

/* Most instants; the letters of all threads then take some megabytes at most. */
#define SWEEPS_MAX 1200
#define SWEEP_LEAST_NS (20 * NS_PER_MS)
/* Looking takes at most this part of one processor. */
#define SWEEP_SHARE 400
#define LIST_EVERY_NS (500 * NS_PER_MS)
#define STAY_NS (250 * NS_PER_MS)
#define ANEW_MOST 3

static void speedwatch_done(struct speedwatch *s)
{
	speedwatch_ray_done(s);
	speedwatch_traffic_done(s);
	for (size_t i = 0; i < s->own_process_cap && i < s->f->n_processes; i++)
		s->process[i].view = procview_close(s->process[i].view);
	for (size_t i = 0; i < s->own_thread_cap && i < s->f->n_threads; i++)
		if (s->thread[i].schedstat_fd >= 0) {
			keptfds_give(1);
			closep(&s->thread[i].schedstat_fd);
		}
	for (size_t i = 0; i < s->own_process_cap && i < s->f->n_processes; i++) {
		s->process[i].watch = threadwatch_free(s->process[i].watch);
		closep(&s->process[i].children_fd);
	}
	speedwatch_asks_done(s);
	free(s->process);
	free(s->thread);
	tasks_done(&s->tasks);
}

/* Costs a second, from what was read first and last. */
static void thread_costs(struct speedwatch *s, size_t i)
{
	const struct speedwatch_thread *t = &s->thread[i];
	struct speed_thread *to = &s->f->thread[i];
	const double s_all = s->f->watched_s;
	to->gone = t->gone;
	to->run = (double)sub_floor(t->last.run_ns, t->begin.run_ns) / 1e9 / s_all;
	to->queued = (double)sub_floor(t->last.queued_ns, t->begin.queued_ns) / 1e9 / s_all;
	to->system = MIN((double)sub_floor(t->last.system_ns, t->begin.system_ns) / 1e9 / s_all, to->run);
	to->slices = (double)sub_floor(t->last.slices, t->begin.slices) / s_all;
	to->voluntary = (double)sub_floor(t->last.voluntary, t->begin.voluntary) / s_all;
	to->involuntary = (double)sub_floor(t->last.involuntary, t->begin.involuntary) / s_all;
	to->minor_faults = (double)sub_floor(t->last.minor_faults, t->begin.minor_faults) / s_all;
	to->major_faults = (double)sub_floor(t->last.major_faults, t->begin.major_faults) / s_all;
	to->block = (double)sub_floor(t->last.block_ns, t->begin.block_ns) / 1e9 / s_all;
	to->processor = t->last.processor;
	for (size_t k = 0, most = 0; k < ARRAY_SIZE(t->lock); k++)
		if (t->lock_n[k] > most) {
			most = t->lock_n[k];
			to->lock = t->lock[k];
			to->lock_shared = t->lock_shared[k];
		}
}

static void costs_read(struct speedwatch *s)
{
	for (size_t i = 0; i < s->f->n_threads; i++) {
		struct speedwatch_thread *t = &s->thread[i];
		const pid_t pid = s->f->process[s->f->thread[i].process].pid;
		if (!t->gone && threadcost_again(s->w, pid, s->f->thread[i].tid, speedwatch_schedstat(s, i), &t->last,
						 &t->last) != 0)
			t->gone = true;
	}
}

static void process_costs(struct speedwatch *s)
{
	for (size_t i = 0; i < s->f->n_processes; i++) {
		struct speedwatch_process *p = &s->process[i];
		struct speed_process *to = &s->f->process[i];
		struct proc_stat st;
		struct iocalls io;
		if (!p->gone && proc_stat_read(s->w, to->pid, &st) == 0)
			p->reaped_ns = st.reaped_ticks * (NS_PER_S / s->w->ticks_per_s);
		to->children = p->children / s->f->watched_s;
		to->children_ratio = (double)p->children_sweeps / (double)MAX(s->f->n_sweeps, 1u);
		to->started = (double)sub_floor(p->reaped_ns, p->reaped_begin_ns) / 1e9 / s->f->watched_s;
		if (p->gone || !p->has_io || iocalls_read(s->w, to->pid, &io) != 0)
			continue;
		to->reads = (double)sub_floor(io.reads, p->io_begin.reads) / s->f->watched_s;
		to->writes = (double)sub_floor(io.writes, p->io_begin.writes) / s->f->watched_s;
		to->read_bytes = (double)sub_floor(io.read_bytes, p->io_begin.read_bytes) / s->f->watched_s;
		to->write_bytes = (double)sub_floor(io.write_bytes, p->io_begin.write_bytes) / s->f->watched_s;
	}
}

static void pause_until(const struct world *w, uint64_t until_ns)
{
	uint64_t now = w->mono_ns();
	if (now >= until_ns)
		return;
	struct timespec ts = {.tv_sec = (time_t)((until_ns - now) / NS_PER_S),
			      .tv_nsec = (long)((until_ns - now) % NS_PER_S)};
	(void)nanosleep(&ts, NULL); /* a signal ends it early: the caller looks at the clock */
}

/* Steps of equal length would fall in step with the job's own: they vary by a third. */
static uint64_t step_ns(uint64_t mean_ns, size_t sweep)
{
	return mean_ns * (16 + (uint32_t)(sweep * 2654435761u) / 53687092u % 16) / 24;
}

static bool all_gone(const struct speedwatch *s)
{
	for (size_t i = 0; i < s->f->n_processes; i++)
		if (!s->process[i].gone)
			return false;
	return true;
}

/* True: processes have started that stay, soon enough to begin anew with them. */
static bool begins_anew(struct speedwatch *s, uint64_t now)
{
	if (now >= s->anew_until_ns || now < s->stay_ns + STAY_NS)
		return false;
	s->stay_ns = now;
	s->anew = speedwatch_children_stay(s);
	return s->anew;
}

static int sweeps(struct speedwatch *s)
{
	const uint64_t end = s->begin_ns + s->want->for_ns;
	uint64_t listed = s->begin_ns, told = 0;
	const uint64_t least = MAX(SWEEP_LEAST_NS, s->want->for_ns / (SWEEPS_MAX - 100));
	uint64_t mean = least;
	while (s->w->mono_ns() < end && !(s->want->stop && *s->want->stop) && s->f->n_sweeps < s->sweep_cap) {
		uint64_t now = s->w->mono_ns(), used = clock_thread_ns();
		int r = speedwatch_sweep(s);
		if (r)
			return r;
		uint64_t took = clock_thread_ns() - used; /* neighbours make a look longer, not dearer */
		mean = MAX(least, MIN((mean + took * SWEEP_SHARE) / 2, s->want->for_ns / 40));
		if (s->want->progress && now >= told + 100 * NS_PER_MS) {
			told = now;
			s->want->progress(s->want->ctx, sub_floor(end, now));
		}
		if (begins_anew(s, now))
			break;
		if (now >= listed + LIST_EVERY_NS) {
			r = speedwatch_new_threads(s);
			if (r)
				return r;
			listed = s->w->mono_ns();
			if (all_gone(s))
				break;
		}
		pause_until(s->w, MIN(now + step_ns(mean, s->f->n_sweeps), end));
	}
	return 0;
}

static int process_order(const void *a, const void *b)
{
	const struct speed_thread *x = a, *y = b;
	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

/* Threads that have started meanwhile stand behind those of other processes. */
static void threads_sort(struct speedfacts *f)
{
	if (f->n_threads > 1)
		qsort(f->thread, f->n_threads, sizeof(*f->thread), process_order);
	for (size_t i = f->n_threads; i-- > 0;)
		f->process[f->thread[i].process].first = i;
}

static int speedwatch_run(struct speedwatch *s, pid_t pid)
{
	struct speedwatch_around *around = calloc(2, sizeof(*around));
	if (!around)
		return -ENOMEM;
	speedwatch_children_begin(s);
	speedwatch_ray_begin(s);
	speedwatch_loader_begin(s);
	speedwatch_around_read(s->w, pid, &s->tasks, &around[0]);
	speedwatch_traffic_begin(s, &memcount_kernel);
	s->begin_ns = s->w->mono_ns();
	costs_read(s);
	for (size_t i = 0; i < s->f->n_threads; i++)
		s->thread[i].begin = s->thread[i].last;
	int r = sweeps(s);
	if (r == 0 && !s->anew) {
		costs_read(s);
		s->f->watched_s = (double)MAX(s->w->mono_ns() - s->begin_ns, 1u) / 1e9;
		for (size_t i = 0; i < s->f->n_threads; i++)
			thread_costs(s, i);
		speedwatch_traffic_end(s);
		process_costs(s);
		speedwatch_around_read(s->w, pid, NULL, &around[1]);
		speedwatch_machine(s, &around[0], &around[1]);
		speedwatch_ray_names(s);
		r = speedwatch_whose(s);
		threads_sort(s->f);
	}
	speedwatch_around_done(&around[0]);
	speedwatch_around_done(&around[1]);
	free(around);
	return r;
}

/* *ret_anew: processes have started by now that are to be watched as well; there are no facts then. */
static int take_once(const struct world *w, const struct speedwatch_want *want, uint64_t anew_until_ns,
		     struct speedfacts *ret, bool *ret_anew, struct fault *f)
{
	struct speedfacts facts = {.n_threads = 0};
	struct speedwatch s = {
		.w = w, .want = want, .f = &facts, .sweep_cap = SWEEPS_MAX, .anew_until_ns = anew_until_ns};
	int r = speedwatch_processes(&s);
	if (r == 0 && facts.n_processes == 0)
		r = fault_set(f, SPEEDWATCH_NONE, "no process of it runs");
	else if (r == 0)
		r = speedwatch_run(&s, facts.process[0].pid);
	if (r < 0)
		r = fault_set(f, r, "cannot watch it: %s", strerror(-r));
	speedwatch_done(&s);
	*ret_anew = r == 0 && s.anew;
	if (r || s.anew)
		speedfacts_done(&facts);
	else
		*ret = facts;
	return r;
}

/*
 * Facts are of processes that were there all the time. Where some start in the first half and stay, as a job's workers
 * do, it begins anew with them, some times at most, and the time that is left is what counts.
 */
int speedwatch_take(const struct world *w, const struct speedwatch_want *want, struct speedfacts *ret, struct fault *f)
{
	const uint64_t begin = w->mono_ns(), end = begin + want->for_ns;
	struct speedwatch_want left = *want;
	bool anew = true;
	int r = 0;
	for (int n = 0; anew && r == 0; n++) {
		left.for_ns = MAX(sub_floor(end, w->mono_ns()), want->for_ns / 2);
		r = take_once(w, &left, n < ANEW_MOST ? begin + want->for_ns / 2 : 0, ret, &anew, f);
	}
	return r;
}
