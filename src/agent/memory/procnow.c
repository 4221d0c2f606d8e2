#include "agent/memory/procnow.h"

#include "agent/jobs/joblife.h"
#include "agent/memory/pss.h"
#include "sense/proc/proc.h"

/* Smaller processes are not worth a look at how their pages are shared. */
#define OWN_LEAST_BYTES (4 * MIB)
#define OWN_BUDGET_NS (3 * NS_PER_S)

/* Lowers own_bytes to the process's part of what it shares with forks, while the command has time for that. */
static void own_read(const struct world *w, struct job_process *p)
{
	static struct footprint_row row; /* large */
	static struct world kept; /* a thread that is stuck in the kernel outlives the caller */
	static uint64_t spent_ns;
	uint64_t began_ns = w->mono_ns();
	if (p->own_bytes < OWN_LEAST_BYTES || spent_ns >= OWN_BUDGET_NS)
		return;
	kept = *w;
	row = (struct footprint_row){.pid = p->pid, .own_bytes = p->own_bytes};
	ignore(pss_read(&kept, &row, 1, OWN_BUDGET_NS - spent_ns), "then it is resident less shared");
	spent_ns += w->mono_ns() - began_ns;
	p->own_bytes = row.own_bytes;
}

bool procnow_read(const struct world *w, struct job_process *p)
{
	struct proc_status s;
	if (!w || p->ended_unix_ms > 0 || !joblife_runs(w, p->pid, p->start_ticks))
		return false;
	if (proc_status_read(w, p->pid, &s) == 0 && s.has_memory) {
		p->rss_bytes = s.rss_bytes;
		p->shared_bytes = add_cap(s.rss_file_bytes, s.rss_shmem_bytes);
		p->own_bytes = sub_floor(s.rss_bytes, p->shared_bytes);
		p->swap_bytes = s.swap_bytes;
		own_read(w, p);
		if (p->peak_own_bytes > 0) /* 0: it was not measured while it ran, so its memory now is no peak */
			p->peak_own_bytes = MAX(p->peak_own_bytes, p->own_bytes);
	}
	return true;
}
