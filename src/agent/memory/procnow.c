#include "agent/memory/procnow.h"

#include <string.h>

#include "agent/jobs/joblife.h"
#include "agent/memory/pss.h"
#include "base/buf.h"
#include "model/jobs/role.h"
#include "sense/proc/proc.h"

/* Smaller processes are not worth a look at how their pages are shared. */
#define OWN_LEAST_BYTES (4 * MIB)
#define OWN_BUDGET_NS (3 * NS_PER_S)
#define OWN_AGAIN_NS (60 * NS_PER_S)

/* Lowers own_bytes to the process's part of what it shares with forks, while the command has time for that. */
static void own_read(const struct world *w, struct job_process *p)
{
	static struct footprint_row row; /* large */
	static struct world kept; /* a thread that is stuck in the kernel outlives the caller */
	static uint64_t spent_ns, since_ns;
	uint64_t began_ns = w->mono_ns();
	if (began_ns - since_ns > OWN_AGAIN_NS) { /* who stays, as the page's server does, has time again */
		since_ns = began_ns;
		spent_ns = 0;
	}
	if (p->own_bytes < OWN_LEAST_BYTES || spent_ns >= OWN_BUDGET_NS)
		return;
	kept = *w;
	row = (struct footprint_row){.pid = p->pid, .own_bytes = p->own_bytes};
	ignore(pss_read(&kept, &row, 1, OWN_BUDGET_NS - spent_ns), "then it is resident less shared");
	spent_ns += w->mono_ns() - began_ns;
	p->own_bytes = row.own_bytes;
}

/* Ray gives a worker another title with each task. */
static void title_read(const struct world *w, struct job_process *p)
{
	char command[sizeof(p->command)];
	if (strcmp(p->role, role_name(ROLE_RAY_WORKER)) == 0 &&
	    proc_command_read(w, p->pid, command, sizeof(command)) == 0 && command[0])
		TEXT_COPY(p->command, command);
}

bool procnow_read(const struct world *w, struct job_process *p)
{
	struct proc_status s;
	if (!w || p->ended_unix_ms > 0 || !joblife_runs(w, p->pid, p->start_ticks))
		return false;
	title_read(w, p);
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
