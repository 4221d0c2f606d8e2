/* Looks at the main thread of a program of PyTorch: what it does inside its DataLoader. */
#include "agent/speed/speedwatch_parts.h"
#include "base/buf.h"
#include "sense/gpu/gpuheld.h"
#include "sense/pylib/loadercall.h"

/* The gain is told by how many of them met it: more of them tell it better. */
#define LOADER_LOOK_NS (20 * NS_PER_MS)
/* One is enough to know them by. */
#define WORKERS_LOOKED 4
#define WORKER_TRIES 3

/* A process that computes on a GPU has its device mapped. Not known counts as one: no gain is told then. */
static bool has_gpu(const struct world *w, pid_t pid)
{
	struct gpuheld h;
	return gpuheld_mapped(w, pid, &h) != 0 || (h.nvidia | h.davinci | h.render | h.card) != 0;
}

/* Workers keep their loop on the stack as long as they live; a stack that changes is read again. */
static bool is_loader_worker(struct procview *view)
{
	struct procview_sample sample;
	for (int n = 0; n < WORKER_TRIES; n++)
		if (speedwatch_frames(view, PROCVIEW_RUNS, &sample))
			return loadercall_of(sample.python.frames, sample.python.n) == LOADERCALL_WORKS;
	return false;
}

static void workers_count(struct speedwatch *s, size_t lead)
{
	size_t n = 0;
	for (size_t i = 0; i < s->f->n_processes && n < WORKERS_LOOKED; i++)
		if (s->f->process[i].parent == lead && s->process[i].view) {
			s->f->loader.workers += is_loader_worker(s->process[i].view);
			n++;
		}
}

/* Ranks are alike: the first one speaks for all. */
void speedwatch_loader_begin(struct speedwatch *s)
{
	for (size_t i = 0; i < s->f->n_processes; i++) {
		const struct speed_process *p = &s->f->process[i];
		if (!p->main)
			continue;
		if (s->process[i].view && (p->libs & THREADLIB_TORCH)) {
			s->loads = s->process[i].view;
			s->f->loader.process = i;
			s->f->loader.gpu = has_gpu(s->w, p->pid);
			workers_count(s, i);
		}
		return;
	}
}

void speedwatch_loader(struct speedwatch *s)
{
	struct speed_loader *f = &s->f->loader;
	struct procview_sample sample;
	if (!s->loads || s->process[f->process].gone || s->sweep_ns < s->loader_looked_ns + LOADER_LOOK_NS)
		return;
	s->loader_looked_ns = s->sweep_ns;
	if (!speedwatch_frames(s->loads, PROCVIEW_RUNS, &sample)) {
		f->missed++;
		return;
	}
	f->looks++;
	const enum loadercall now = loadercall_of(sample.python.frames, sample.python.n);
	const bool of_workers = now == LOADERCALL_STARTS || now == LOADERCALL_ENDS;
	f->reads += now == LOADERCALL_READS;
	f->starts += now == LOADERCALL_STARTS;
	f->ends += now == LOADERCALL_ENDS;
	f->times += of_workers && !s->of_workers;
	s->of_workers = of_workers;
}
