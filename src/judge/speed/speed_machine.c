/* What the machine and its limits take from a job: quota, processors, stolen time, clocks, other programs. */
#include <string.h>

#include "base/buf.h"
#include "judge/speed/speed_parts.h"

static void speed_stopped(const struct speedview *v, struct findings *all)
{
	const struct speed_thread *lead = speed_lead_thread(v->f, v->lead);
	if (!lead)
		return;
	double share = speed_share(v->f, lead, "T");
	struct finding *f = share < 0.5
				    ? NULL
				    : speed_add(v, all, "stopped", "high", 0, share,
						"process %d is stopped (by a signal, a debugger or a frozen control "
						"group) and does nothing",
						v->f->process[v->lead].pid);
	if (!f)
		return;
	finding_evidence(f, "its main thread was stopped at %.0f %% of %zu looks", share * 100, v->f->n_sweeps);
	finding_advice(f, "kill -CONT %d, unless somebody stopped it on purpose; `vigil stack %d` says what stopped it",
		       v->f->process[v->lead].pid, v->f->process[v->lead].pid);
}

/* True: the job used what its quota allows, and was held back by it. */
static bool quota_binds(const struct speedview *v)
{
	const struct speed_machine *m = &v->f->machine;
	return m->quota_cores > 0 && m->periods >= 5 && m->throttled >= 0.1 * m->periods && v->run > 0;
}

/* Each thread that wants to run is held back for its part of the time. */
static double quota_gain(const struct speedview *v)
{
	const struct speed_machine *m = &v->f->machine;
	struct speedview free = *v;
	if (m->throttled_cores > 0)
		return 1 / (1 - MIN(m->throttled_cores / MAX(MIN(v->wanted, v->cpus), 0.1), 0.98));
	free.room = v->cpus;
	return speed_fair(&free, v->wanted) / MAX(MIN(v->run, m->quota_cores), 0.01);
}

static void quota(const struct speedview *v, struct findings *all)
{
	const struct speed_machine *m = &v->f->machine;
	if (!quota_binds(v))
		return;
	double speedup = quota_gain(v);
	struct finding *f =
		speed_add(v, all, "cpu-quota", "high", MAX(speedup, 1.0), 0,
			  "the control group may use %.2g processors, the job wants %.2g: it is stopped for "
			  "the rest of each period once that is used up",
			  m->quota_cores, v->wanted);
	if (!f)
		return;
	finding_evidence(f, "held back in %.0f of %.0f periods; it used %.2f processors", m->throttled, m->periods,
			 v->run);
	finding_evidence(f, "group %s", m->quota_group);
	const uint32_t wanted = (uint32_t)(MIN(v->cpus, v->wanted + 0.5) + 0.5),
		       most = (uint32_t)MAX(m->quota_cores, 1.0);
	finding_advice(
		f,
		"raise the limit to %u processor%s (docker --cpus, resources.limits.cpu in Kubernetes, CPUQuota= "
		"in a unit), or start no more than %u thread%s",
		wanted, wanted == 1 ? "" : "s", most, most == 1 ? "" : "s");
}

static void cpuset(const struct speedview *v, struct findings *all)
{
	const struct speed_machine *m = &v->f->machine;
	if (m->job_cpus == 0 || m->job_cpus >= m->cpus || v->wanted < v->cpus * 1.25 || quota_binds(v))
		return;
	struct speedview wide = *v;
	wide.cpus = m->cpus;
	/*
	 * Those that are felt here weigh as much elsewhere. Few of whom none is felt have the other processors; many
	 * would have come here as well if they weighed as much as the job.
	 */
	const double counted = speed_others_counted(v), felt = v->others * m->cpus / v->cpus;
	const bool many = counted > 2 * (m->cpus - v->cpus);
	wide.others = !v->beside ? 0 : felt > 0 || many ? MIN(felt, counted) : counted;
	wide.room = m->quota_cores > 0 ? MIN(wide.cpus, m->quota_cores) : wide.cpus;
	double speedup = speed_fair(&wide, v->wanted) / MAX(speed_has(v, v->wanted), 0.01);
	struct finding *f = speed_add(v, all, "cpuset-small", "high", speedup, 0,
				      "the job may use %u of the machine's %u processors, and %.1f of its threads want "
				      "to run at once",
				      m->job_cpus, m->cpus, v->wanted);
	if (!f)
		return;
	finding_evidence(f, "it used %.2f processors; its threads waited for one as long as %.2f would run", v->run,
			 v->queued);
	finding_evidence(f, "the processors that it may not use were idle for %.2f", m->idle_elsewhere);
	finding_advice(f,
		       "give it more processors (taskset, numactl, docker --cpuset-cpus, srun --cpus-per-task, "
		       "sched_setaffinity in the program), or start %u thread%s",
		       m->job_cpus, m->job_cpus == 1 ? "" : "s");
}

static void steal(const struct speedview *v, struct findings *all)
{
	const struct speed_machine *m = &v->f->machine;
	if (!m->has_cpu || m->steal <= 0 || v->run < 0.1)
		return;
	double speedup = (m->busy + m->steal) / MAX(m->busy, 0.01);
	struct finding *f =
		speed_add(v, all, "cpu-stolen", "high", speedup, 0,
			  "the host gives the processors of this virtual machine to others for %.0f %% of the "
			  "time in which they would work",
			  100 * m->steal / (m->busy + m->steal));
	if (!f)
		return;
	finding_evidence(f, "steal time of %.2f processors beside %.2f that worked", m->steal, m->busy);
	finding_advice(f, "nothing inside this machine helps: move to a host that is not oversold, or to one with "
			  "processors of its own");
}

static void clocks(const struct speedview *v, struct findings *all)
{
	const struct speed_machine *m = &v->f->machine;
	if (!m->has_clock || m->throttles <= 0 || m->clock_ratio <= 0 || m->clock_ratio > 0.9 ||
	    v->run < 0.5 * m->job_cpus)
		return;
	struct finding *f = speed_add(v, all, "clock-throttled", "medium", 1 / m->clock_ratio, 0,
				      "heat or the power limit slows the processors to %.0f %% of their highest clock",
				      m->clock_ratio * 100);
	if (!f)
		return;
	finding_evidence(f, "the clocks were lowered %.1f times a second while the job ran", m->throttles);
	finding_advice(f, "look at cooling and at the power limit (turbostat, the BMC); a frequency governor is set "
			  "with cpupower frequency-set -g performance");
}

/* Others want the processors that the job may use, on which its own threads would have room, or get nearly none. */
static void others(const struct speedview *v, struct findings *all)
{
	const struct speed_machine *m = &v->f->machine;
	/* What hardly runs wants nothing, unless it waits for a processor. */
	if ((v->run < 0.1 && v->wanted < 0.5) || (v->wanted > v->room * 1.1 && !speed_starved(v)) ||
	    speed_others_counted(v) < 0.5 || speed_found(all, "cpu-quota"))
		return;
	double speedup = MIN(v->run + v->queued, MAX(v->room, v->run)) / MAX(v->run, 0.01);
	struct finding *f =
		speed_add(v, all, "others-busy", "high", speedup, 0,
			  "other programs want the same processors: the job's threads wait for one for %.0f "
			  "%% of the time in which they could run",
			  100 * v->queued / (v->run + v->queued));
	if (!f)
		return;
	finding_evidence(f, "%.1f threads of others wanted to run beside %.1f of the job, on %u processor%s",
			 speed_others_counted(v), v->wanted, m->cpus, m->cpus == 1 ? "" : "s");
	for (size_t i = 0; i < v->f->n_others && v->f->other[i].run >= 0.1; i++)
		finding_evidence(f, "process %d (%s) used %.2f", v->f->other[i].pid, v->f->other[i].name,
				 v->f->other[i].run);
	finding_advice(f, "move them or the job, or give each its own processors (taskset, cpuset); on a shared node "
			  "ask the scheduler for exclusive processors");
}

/* Two busy threads on each of some cores while other cores that the job may use have none. */
static void siblings(const struct speedview *v, struct findings *all)
{
	const struct speed_machine *m = &v->f->machine;
	if (m->job_pairs == 0 || m->job_cores >= m->job_cpus || v->wanted > m->job_cores || v->run < 1.5)
		return;
	struct finding *f =
		speed_add(v, all, "smt-shared", "medium", 0, -0.2,
			  "%u pair%s of the job's busy threads share%s a core, while other cores that it may use "
			  "are free",
			  m->job_pairs, m->job_pairs == 1 ? "" : "s", m->job_pairs == 1 ? "s" : "");
	if (!f)
		return;
	finding_evidence(f, "%.1f busy threads, %u core%s with %u processors", v->wanted, m->job_cores,
			 m->job_cores == 1 ? "" : "s", m->job_cpus);
	finding_advice(f, "bind each thread to a core of its own (OMP_PLACES=cores OMP_PROC_BIND=close, srun "
			  "--hint=nomultithread, taskset)");
}

/* A thread for each hardware thread, where the work is numeric and there are half as many cores. */
static void logical(const struct speedview *v, struct findings *all)
{
	const struct speed_machine *m = &v->f->machine;
	unsigned libs = 0;
	for (size_t i = 0; i < v->f->n_processes; i++)
		libs |= v->f->process[i].libs;
	if (libs == 0 || m->job_cores == 0 || m->job_cores * 2 > m->job_cpus || v->wanted < m->job_cpus * 0.85 ||
	    v->wanted > m->job_cpus * 1.15)
		return;
	struct finding *f =
		speed_add(v, all, "logical-cores", "low", 0, -SPEED_LEAST_COST,
			  "the job runs %.0f threads on %u core%s: %u is the number of hardware threads, and "
			  "two of one core share its arithmetic",
			  v->wanted, m->job_cores, m->job_cores == 1 ? "" : "s", m->job_cpus);
	if (!f)
		return;
	f->severity = SEVERITY_NOTE;
	finding_evidence(f, "%s is loaded; numeric work gains little or nothing from the second thread of a core",
			 threadlib_name(libs));
	if (m->job_cores == 1)
		finding_advice(f, "try one thread (%s), which has the core to itself", threadlib_remedy(libs));
	else
		finding_advice(f,
			       "try %u threads (%s), and do not expect to be more than %u times as fast as one thread",
			       m->job_cores, threadlib_remedy(libs), m->job_cores);
}

static void remote_memory(const struct speedview *v, struct findings *all)
{
	const struct speed_machine *m = &v->f->machine;
	if (m->nodes < 2 || !m->has_remote || m->remote_ratio < 0.3 || v->run < 0.5)
		return;
	struct finding *f = speed_add(v, all, "numa-remote", "low", 0, -0.2,
				      "%.0f %% of the memory of the busiest process lies on another NUMA node than it "
				      "runs on",
				      m->remote_ratio * 100);
	if (!f)
		return;
	finding_evidence(f, "the machine has %u nodes", m->nodes);
	finding_advice(f, "keep a process and its memory on one node: numactl --cpunodebind=N --membind=N, or srun "
			  "--cpu-bind=ldoms --mem-bind=local");
}

void speed_machine_rules(const struct speedview *v, struct findings *all)
{
	speed_stopped(v, all);
	quota(v, all);
	cpuset(v, all);
	steal(v, all);
	clocks(v, all);
	others(v, all);
	siblings(v, all);
	logical(v, all);
	remote_memory(v, all);
}
