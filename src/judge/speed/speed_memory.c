/* What memory takes from a job: swap, pressure, page faults, workers that do not fit, a small /dev/shm. */
#include "base/buf.h"
#include "base/units.h"
#include "judge/speed/speed_parts.h"

static void swap(const struct speedview *v, struct findings *all)
{
	const struct speed_machine *m = &v->f->machine;
	char in[16], out[16];
	double waits = 0, major = 0;
	for (size_t i = 0; i < v->f->n_threads; i++) {
		waits = MAX(waits, speed_share(v->f, &v->f->thread[i], "mD"));
		major += v->f->thread[i].major_faults;
	}
	if (!m->has_swap || m->swap_in_bytes < (double)MIB || major < 20)
		return;
	struct finding *f =
		speed_add(v, all, "swapping", "high", waits < 0.95 ? 1 / (1 - waits) : 20, 0,
			  "memory is short: pages of the job are read back from swap, and it waits for them");
	if (!f)
		return;
	finding_evidence(f, "%s a second came in, %s went out; %.0f faults a second of the job had to read",
			 size_format((uint64_t)m->swap_in_bytes, in), size_format((uint64_t)m->swap_out_bytes, out),
			 major);
	finding_advice(f, "use less memory (fewer workers, smaller batches), or a machine with more; `vigil mem` says "
			  "who holds it");
}

static void pressure(const struct speedview *v, struct findings *all)
{
	const struct speed_machine *m = &v->f->machine;
	char used[16], limit[16];
	double waits = 0, major = 0;
	for (size_t i = 0; i < v->f->n_threads; i++) {
		waits = MAX(waits, speed_share(v->f, &v->f->thread[i], "m"));
		major += v->f->thread[i].major_faults;
	}
	const bool reads_again = m->group_full && major >= 20;
	if (waits < SPEED_LEAST_COST || !(reads_again || (m->has_pressure && m->memory_pressure >= SPEED_LEAST_COST)))
		return;
	/* Pages that are dropped and read again cost more than the waiting: how much, is not seen. */
	struct finding *f =
		speed_add(v, all, "memory-pressure", "high", reads_again ? 0 : 1 / (1 - MIN(waits, 0.95)), waits,
			  "the job's threads wait for memory to be freed for %.0f %% of the time", waits * 100);
	if (!f)
		return;
	if (m->has_pressure)
		finding_evidence(f, "memory pressure %.0f %% of the machine (PSI)", m->memory_pressure * 100);
	if (reads_again)
		finding_evidence(f, "%.0f times a second a page that was dropped is read from its file again", major);
	if (m->limit_bytes)
		finding_evidence(f, "%s used of %s %s", size_format(m->used_bytes, used),
				 size_format(m->limit_bytes, limit),
				 m->limit_is_group ? "that the control group may have" : "of the machine");
	finding_advice(f, "raise the limit of memory (memory.high, memory.max, --memory), or use less of it");
}

/* The kernel spends 0.1 to 20 us on a fault; what is beside that is not spent on faults. */
static void faults(const struct speedview *v, struct findings *all)
{
	if (v->run < 0.05 || v->faults < 10000 * v->run || v->system < 0.1 * v->run)
		return;
	double each_us = v->system / v->faults * 1e6;
	if (each_us < 0.05 || each_us > 20)
		return;
	struct finding *f =
		speed_add(v, all, "page-faults", "medium", 0, v->system / v->run,
			  "the job makes %.0f page faults a second: memory is taken from the kernel and given "
			  "back all the time",
			  v->faults);
	if (!f)
		return;
	finding_evidence(f, "%.2f of the %.2f processors that it uses are spent in the kernel, %.1f us for each fault",
			 v->system, v->run, each_us);
	finding_evidence(f, "a page that the kernel has just cleared is in the cache, so the program's own part takes "
			    "longer without it: the gain is smaller than that");
	finding_advice(f, "keep large arrays and write into them again (out= in numpy, torch's in-place functions) "
			  "instead of making new ones in each step");
	finding_advice(f, "or let malloc keep what was freed: MALLOC_TRIM_THRESHOLD_=1073741824 "
			  "MALLOC_MMAP_THRESHOLD_=1073741824, or preload jemalloc or tcmalloc");
}

/* Workers of one parent, of about the same size, that together come near the limit. */
static void fit(const struct speedview *v, struct findings *all)
{
	const struct speed_machine *m = &v->f->machine;
	uint64_t sum = 0;
	size_t n = 0;
	char one[16], used[16], limit[16];
	for (size_t i = 0; i < v->f->n_processes; i++)
		if (v->f->process[i].parent == v->lead &&
		    (role_serves(v->f->process[i].role) || v->f->process[i].role == ROLE_RAY_WORKER)) {
			sum += v->f->process[i].own_bytes;
			n++;
		}
	if (n < 2 || m->limit_bytes == 0 || (double)m->used_bytes < 0.85 * (double)m->limit_bytes ||
	    (double)sum < 0.5 * (double)m->used_bytes)
		return;
	double each = (double)sum / (double)n, rest = (double)m->used_bytes - (double)sum;
	double fits = ((double)m->limit_bytes * 0.8 - MAX(rest, 0)) / each;
	struct finding *f = speed_add(v, all, "memory-fit", "high", 0, -0.5,
				      "%zu workers of %s each do not fit into the memory: the next one that grows is "
				      "ended, or all of them slow down",
				      n, size_format((uint64_t)each, one));
	if (!f)
		return;
	finding_evidence(f, "%s used of %s %s", size_format(m->used_bytes, used), size_format(m->limit_bytes, limit),
			 m->limit_is_group ? "that the control group may have" : "of the machine");
	const uint32_t start = fits >= 1 && fits < 1e6 ? (uint32_t)fits : 1;
	finding_advice(f,
		       "start %u worker%s at once: num_workers= of a DataLoader, processes= of a Pool, max_workers= of "
		       "an executor, num_cpus= or memory= of a Ray task",
		       start, start == 1 ? "" : "s");
}

static void shm(const struct speedview *v, struct findings *all)
{
	const struct speed_machine *m = &v->f->machine;
	char total[16], left[16];
	bool loaders = false;
	for (size_t i = 0; i < v->f->n_processes; i++)
		loaders |= v->f->process[i].role == ROLE_LOADER || v->f->process[i].role == ROLE_RAY_WORKER;
	if (!loaders || m->shm_total_bytes == 0 ||
	    (m->shm_total_bytes > 128 * MIB && m->shm_free_bytes >= m->shm_total_bytes / 10))
		return;
	struct finding *f = speed_add(v, all, "shm-small", "high", 0, -SPEED_LEAST_COST,
				      "/dev/shm is small for what the workers pass through it: a bus error is next, or "
				      "the object store spills to disk");
	if (!f)
		return;
	finding_evidence(f, "%s in total, %s free", size_format(m->shm_total_bytes, total),
			 size_format(m->shm_free_bytes, left));
	finding_advice(f, "docker run --shm-size 8g (or --ipc=host); in Kubernetes mount an emptyDir with medium: "
			  "Memory on /dev/shm");
}

void speed_memory_rules(const struct speedview *v, struct findings *all)
{
	swap(v, all);
	pressure(v, all);
	faults(v, all);
	fit(v, all);
	shm(v, all);
}
