/* What the memory of the machine moves while a job is watched, where something counts it (decision 63). */
#include <string.h>

#include "agent/speed/speedwatch_parts.h"
#include "sense/speed/dimms.h"

void speedwatch_traffic_begin(struct speedwatch *s, const struct memcount_ops *ops)
{
	struct speedwatch_traffic *t = &s->traffic;
	/* A recorded machine has no counters of the kernel's. */
	const bool live = ops != &memcount_kernel || !s->w->recorded;
	const int r = live ? memcount_open(s->w, ops, &t->count) : WORLD_ABSENT;
	t->why = r == WORLD_DENIED	 ? SPEED_TRAFFIC_DENIED
		 : r == MEMCOUNT_REFUSED ? SPEED_TRAFFIC_REFUSED
					 : SPEED_TRAFFIC_ABSENT;
	t->groups_ns = s->w->mono_ns();
	const int g = resctrl_read(s->w, &t->groups);
	t->has_groups = g == 0;
	if (g == WORLD_DENIED && t->why == SPEED_TRAFFIC_ABSENT)
		t->why = SPEED_TRAFFIC_DENIED;
	t->at_ns = s->w->mono_ns();
	memcount_begin(&t->count);
}

void speedwatch_traffic_done(struct speedwatch *s)
{
	memcount_close(&s->traffic.count);
	resctrl_done(&s->traffic.groups);
	s->traffic = (struct speedwatch_traffic){.has_groups = false};
}

static double seconds_since(const struct speedwatch *s, uint64_t from_ns)
{
	return (double)MAX(sub_floor(s->w->mono_ns(), from_ns), 1u) / 1e9;
}

static void controllers(const struct speedwatch *s, double seconds, struct speed_traffic *to)
{
	struct memcount_sum sum;
	if (s->traffic.count.n == 0)
		return;
	if (memcount_end(&s->traffic.count, &sum) != 0) {
		to->why = SPEED_TRAFFIC_STILL;
		return;
	}
	to->source = SPEED_TRAFFIC_CONTROLLERS;
	to->reads = sum.reads / seconds;
	to->writes = sum.writes / seconds;
	to->bytes = to->reads + to->writes;
	to->least = sum.lost > 0;
	to->parts = sum.cut ? 0 : sum.n_parts;
	for (uint32_t i = 0; i < to->parts; i++)
		to->part_bytes = MAX(to->part_bytes, sum.part[i].bytes / seconds);
}

static const struct speed_thread *traffic_thread_of(const struct speedwatch *s, uint64_t tid)
{
	for (size_t i = 0; i < s->f->n_threads; i++)
		if ((uint64_t)s->f->thread[i].tid == tid)
			return &s->f->thread[i];
	return NULL;
}

/* True: all tasks of the group are the job's, and there are some; what they used is added to *run. */
static bool group_is_ours(const struct speedwatch *s, const struct resctrl_group *g, double *run)
{
	cleanup(freep) char *text = NULL;
	size_t len, n = 0;
	double sum = 0;
	if (resctrl_tasks(s->w, g, &text, &len) != 0)
		return false;
	struct span rest = {text, len}, line;
	while (span_line(&rest, &line)) {
		uint64_t tid;
		const struct speed_thread *t;
		if (span_u64(span_trim(line), &tid) != 0 || !(t = traffic_thread_of(s, tid)))
			return false;
		sum += t->run;
		n++;
	}
	*run += sum;
	return n > 0;
}

/* The control group that a monitoring group is in is one of those whose tasks are all the job's: it has its bytes. */
static bool is_below_ours(const struct resctrl *r, const bool *ours, size_t group)
{
	for (size_t i = 0; i < r->n_groups; i++) {
		const size_t n = strlen(r->group[i].path);
		if (ours[i] && strncmp(r->group[group].path, r->group[i].path, n) == 0 &&
		    r->group[group].path[n] == '/')
			return true;
	}
	return false;
}

/* The job's own part, where groups have it alone and all of it. Control groups stand before monitoring groups. */
static void groups_of_job(const struct speedwatch *s, const struct resctrl *now, double seconds,
			  struct speed_traffic *to)
{
	double bytes = 0, covered = 0, all = 0;
	bool ours[RESCTRL_GROUPS] = {false};
	for (size_t i = 0; i < s->f->n_threads; i++)
		all += s->f->thread[i].run;
	for (size_t i = 0; i < now->n_groups; i++) {
		const struct resctrl_group *g = &now->group[i];
		double one;
		bool least;
		if (!g->path[0] || is_below_ours(now, ours, i) || !group_is_ours(s, g, &covered))
			continue;
		ours[i] = true;
		if (!resctrl_moved(&s->traffic.groups, now, i, &one, &least) || least)
			return;
		bytes += one;
	}
	if (all <= 0 || covered < 0.95 * all)
		return;
	to->has_job = true;
	to->job_bytes = bytes / seconds;
}

static void caches(const struct speedwatch *s, struct speed_traffic *to)
{
	cleanup(resctrl_done) struct resctrl now = {.n_groups = 0};
	double bytes;
	bool least;
	if (!s->traffic.has_groups)
		return;
	const double seconds = seconds_since(s, s->traffic.groups_ns);
	if (resctrl_read(s->w, &now) != 0)
		return;
	groups_of_job(s, &now, seconds, to);
	if (to->source != SPEED_TRAFFIC_UNSEEN)
		return;
	if (!resctrl_moved_all(&s->traffic.groups, &now, &bytes, &least) || bytes <= 0) {
		to->why = SPEED_TRAFFIC_STILL;
		return;
	}
	to->source = SPEED_TRAFFIC_CACHES;
	to->bytes = bytes / seconds;
	to->least = least;
}

void speedwatch_traffic_end(struct speedwatch *s)
{
	struct speed_traffic t = {.why = s->traffic.why};
	struct dimms dimms;
	controllers(s, seconds_since(s, s->traffic.at_ns), &t);
	caches(s, &t);
	if (t.source != SPEED_TRAFFIC_UNSEEN && dimms_read(s->w, &dimms) == 0) {
		t.limit_bytes = dimms.limit_bytes;
		t.channels = dimms.channels;
	}
	s->f->machine.traffic = t;
}
