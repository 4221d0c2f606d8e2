/* What a program asks of the kernel too often: tiny reads and writes, a process for each small task. */
#include <inttypes.h>

#include "base/buf.h"
#include "base/units.h"
#include "judge/speed/speed_parts.h"

static double system_of(const struct speedfacts *f, size_t process)
{
	double system = 0;
	for (size_t i = 0; i < f->n_threads; i++)
		system += f->thread[i].process == process ? f->thread[i].system : 0;
	return system;
}

/* A call costs some tenths of a microsecond in the kernel, and as much again in the program. */
static void small_io(const struct speedview *v, struct findings *all)
{
	size_t who = SIZE_MAX;
	double most = 0;
	for (size_t i = 0; i < v->f->n_processes; i++) {
		const struct speed_process *p = &v->f->process[i];
		const double calls = p->reads + p->writes, run = speed_run_of(v->f, i);
		if (run < 0.05 || calls < 100e3 * run || p->read_bytes + p->write_bytes > 512 * calls || calls < most)
			continue;
		most = calls;
		who = i;
	}
	if (who == SIZE_MAX || v->run <= 0)
		return;
	const struct speed_process *p = &v->f->process[who];
	const uint64_t piece = (uint64_t)((p->read_bytes + p->write_bytes) / most + 0.5);
	char words[SPEED_WHO];
	struct finding *f = speed_add(v, all, "small-io", "high", 0, system_of(v->f, who) / v->run,
				      "%s reads and writes in pieces of %" PRIu64 " byte%s, %.0f times a second",
				      speed_who(p, words), piece, piece == 1 ? "" : "s", most);
	if (!f)
		return;
	finding_evidence(f,
			 "%.2f of the %.2f processors that the job uses are spent in the kernel for it; what the calls "
			 "cost in the program itself is not seen, so the gain is larger than that",
			 system_of(v->f, who), v->run);
	finding_advice(f, "read and write through a buffer (open() without buffering=0, io.BufferedReader, readinto of "
			  "a large block), or map the file");
}

/* Processes that live for less than a fifth of a second, one after another. */
static void process_each(const struct speedview *v, struct findings *all)
{
	const struct speed_process *p = &v->f->process[v->lead];
	if (p->children < 4 || p->children_ratio < 0.2 || p->children_ratio > 0.2 * p->children)
		return;
	if (v->f->loader.times > 0 && v->f->loader.process == v->lead)
		return; /* they are workers of a loader, which is a finding of its own */
	struct finding *f =
		speed_add(v, all, "process-each", "medium", 0, -p->children_ratio,
			  "process %d starts a program for each small task: none that was seen lives for more than "
			  "%.0f ms on average",
			  p->pid, p->children_ratio / p->children * 1e3);
	if (!f)
		return;
	finding_evidence(f,
			 "at least %.0f are started a second, and one runs for %.0f %% of the time; they use %.2f "
			 "processors",
			 p->children, p->children_ratio * 100, p->started);
	finding_evidence(f, "how much of that is their start is not seen from outside, so no gain is told");
	finding_advice(f, "hand many tasks to one process (xargs instead of a loop, a pool of workers that stay), or "
			  "do the work inside the program itself");
}

void speed_call_rules(const struct speedview *v, struct findings *all)
{
	small_io(v, all);
	process_each(v, all);
}
