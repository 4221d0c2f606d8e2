#include "judge/speed/speed.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "judge/speed/speed_parts.h"

double speed_share(const struct speedfacts *f, const struct speed_thread *t, const char *letters)
{
	size_t n = 0;
	for (size_t i = 0; i < f->n_sweeps; i++)
		n += t->at[i] != '\0' && strchr(letters, t->at[i]) ? 1 : 0;
	return f->n_sweeps ? (double)n / (double)f->n_sweeps : 0;
}

bool speed_runs_at(const struct speedfacts *f, size_t process, size_t sweep)
{
	const struct speed_process *p = &f->process[process];
	for (size_t i = p->first; i < p->first + p->n; i++)
		if (f->thread[i].at[sweep] == SPEED_RUN)
			return true;
	return false;
}

double speed_busy(const struct speedfacts *f, size_t process)
{
	size_t n = 0;
	for (size_t i = 0; i < f->n_sweeps; i++)
		n += speed_runs_at(f, process, i);
	return f->n_sweeps ? (double)n / (double)f->n_sweeps : 0;
}

double speed_run_of(const struct speedfacts *f, size_t process)
{
	double run = 0;
	for (size_t i = 0; i < f->n_threads; i++)
		run += f->thread[i].process == process ? f->thread[i].run : 0;
	return run;
}

const struct speed_thread *speed_lead_thread(const struct speedfacts *f, size_t process)
{
	for (size_t i = 0; i < f->n_threads; i++)
		if (f->thread[i].process == process && f->thread[i].lead)
			return &f->thread[i];
	return NULL;
}

double speed_others_counted(const struct speedview *v)
{
	const struct speed_machine *m = &v->f->machine;
	return m->has_running && m->running > v->wanted ? m->running - v->wanted : 0;
}

double speed_fair(const struct speedview *v, double want)
{
	const double cpus = MIN(v->room, v->cpus);
	if (want + v->others > v->cpus)
		return MIN(MIN(want, v->cpus * want / (want + v->others)), cpus);
	return MIN(want, cpus);
}

bool speed_starved(const struct speedview *v)
{
	return v->wanted > v->room && v->run < 0.5 * v->room && speed_others_counted(v) > v->wanted;
}

double speed_has(const struct speedview *v, double have)
{
	const double got = v->run > 0 ? v->run / (v->run + v->queued) : 1;
	return v->beside ? MIN(have * got, v->cpus) : speed_fair(v, have);
}

double speed_alone(const struct speedfacts *f, const struct speed_thread *except, const char *letters)
{
	size_t n = 0;
	for (size_t i = 0; i < f->n_sweeps; i++) {
		bool alone = except->at[i] != '\0' && strchr(letters, except->at[i]);
		for (size_t k = 0; k < f->n_threads && alone; k++)
			alone = &f->thread[k] == except || f->thread[k].at[i] != SPEED_RUN;
		n += alone;
	}
	return f->n_sweeps ? (double)n / (double)f->n_sweeps : 0;
}

/*
 * The least time that others of the job work while this thread does not, by what the busiest of them cost: looks are
 * too few to tell 11 from 13 %.
 */
static double others_cost(const struct speedview *v, const struct speed_thread *t)
{
	double most = 0;
	for (size_t k = 0; k < v->f->n_threads; k++) {
		const struct speed_thread *o = &v->f->thread[k];
		size_t both = 0;
		for (size_t i = 0; i < v->f->n_sweeps && o != t; i++)
			both += o->at[i] == SPEED_RUN && t->at[i] == SPEED_RUN;
		if (o != t)
			most = MAX(most, o->run - (double)both / (double)v->f->n_sweeps);
	}
	return most;
}

double speed_without_wait(const struct speedview *v, const struct speed_thread *t, double part)
{
	const double got = v->run > 0 ? v->run / (v->run + v->queued) : 1, gets = MAX(speed_fair(v, 1), 0.01);
	/* Others of the job work while it waits. Its own part is what it cost: looks are too few to tell 2 from 4 %. */
	const double meanwhile = MAX(1 - part - speed_share(v->f, t, "R"), 0.0) * MIN(got / gets, 1);
	return 1 / MAX(MAX(meanwhile, others_cost(v, t)) + MIN(t->run / gets, speed_share(v->f, t, "R")), 0.01);
}

struct finding *speed_add(const struct speedview *v, struct findings *all, const char *id, const char *confidence,
			  double speedup, double cost, const char *fmt, ...)
{
	char text[480];
	if (speedup > 0)
		cost = speedup > 1 ? 1 - 1 / speedup : 0;
	const double weight = cost < 0 && speedup <= 0 ? -cost : cost;
	if (weight < (v ? v->least_cost : SPEED_LEAST_COST))
		return NULL;
	va_list ap;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	struct finding *f = finding_add(all, id, weight >= 0.3 ? SEVERITY_PROBLEM : SEVERITY_WARNING, "%s", text);
	f->cost_ratio = MIN(MAX(cost, 0.0), 1.0);
	f->weight = MIN(weight, 1.0);
	f->speedup = speedup;
	TEXT_COPY(f->confidence, confidence);
	return f;
}

const char *speed_who(const struct speed_process *p, char dst[static SPEED_WHO])
{
	if (p->called[0])
		text_format(dst, SPEED_WHO, "actor %s (process %d)", p->called, p->pid);
	else
		text_format(dst, SPEED_WHO, "process %d", p->pid);
	return dst;
}

bool speed_found(const struct findings *all, const char *id)
{
	for (size_t i = 0; i < all->n; i++)
		if (strcmp(all->row[i].id, id) == 0)
			return true;
	return false;
}

/*
 * Threads outside the job that compete with it, as threads of its own weight. They are counted; but what the job got of
 * its processors says better how much they weigh, where it did not get all that it wanted. Many that are hardly felt
 * weigh little, and make room wherever the job wants to run: what is felt of them are waits after each wake-up, which a
 * thread that goes on running has not.
 */
static double others_of(const struct speedview *v)
{
	double counted = speed_others_counted(v);
	if (v->run < 0.1 || v->run > v->cpus || v->room < v->cpus)
		return counted;
	double felt = v->wanted * (v->cpus - v->run) / v->run, light = v->cpus * v->queued / v->run;
	if (counted > 8 * felt)
		return 0;
	if (counted > 2 * felt)
		return MIN(light, felt);
	return v->queued > 0.1 * v->run ? MIN(felt, 4 * counted) : MIN(felt, counted);
}

void speedview_of(const struct speedfacts *f, struct speedview *ret)
{
	struct speedview v = {.f = f, .lead = SIZE_MAX, .least_cost = SPEED_LEAST_COST};
	size_t wanted = 0;
	for (size_t i = 0; i < f->n_threads; i++) {
		const struct speed_thread *t = &f->thread[i];
		v.run += t->run;
		v.queued += t->queued;
		v.system += t->system;
		v.faults += t->minor_faults;
		for (size_t k = 0; k < f->n_sweeps; k++)
			wanted += t->at[k] == SPEED_RUN;
	}
	v.wanted = f->n_sweeps ? (double)wanted / (double)f->n_sweeps : 0;
	for (size_t i = 0; i < f->n_processes; i++) {
		v.run += f->process[i].started;
		if (f->process[i].main && v.lead == SIZE_MAX)
			v.lead = i;
	}
	v.cpus = MAX(f->machine.job_cpus, 1u);
	v.room = f->machine.quota_cores > 0 ? MIN(v.cpus, f->machine.quota_cores) : v.cpus;
	*ret = v;
}

static void speed_rules(const struct speedview *v, struct findings *ret)
{
	speed_step_rules(v, ret);
	speed_machine_rules(v, ret);
	speed_memory_rules(v, ret);
	speed_bandwidth_rules(v, ret);
	speed_thread_rules(v, ret);
	speed_wait_rules(v, ret);
	speed_loader_rules(v, ret);
	speed_call_rules(v, ret);
	speed_ask_rules(v, ret);
	if (!speed_ray_rules(v, ret))
		speed_pool_rules(v, ret);
}

/* What the same remedies bring while the others of the machine go on. */
static void gains_beside_others(const struct speedview *v, struct findings *all)
{
	cleanup(freep) struct findings *now = calloc(1, sizeof(*now));
	struct speedview beside = *v;
	beside.others = others_of(v);
	beside.least_cost = -1;
	beside.beside = true;
	if (!now || speed_others_counted(v) < 0.1)
		return;
	speed_rules(&beside, now);
	for (size_t i = 0; i < all->n; i++)
		for (size_t k = 0; k < now->n; k++)
			if (all->row[i].speedup > 0 && strcmp(all->row[i].id, now->row[k].id) == 0)
				all->row[i].speedup_now = MIN(MAX(now->row[k].speedup, 1.0), all->row[i].speedup);
}

void speed_judge(const struct speedfacts *f, struct findings *ret)
{
	struct speedview v;
	speedview_of(f, &v);
	if (f->n_sweeps == 0 || v.lead == SIZE_MAX)
		return;
	speed_rules(&v, ret);
	gains_beside_others(&v, ret);
	findings_sort_cost(ret);
}
