#include "agent/heap/growthset.h"

#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "model/heap/heapgrowth.h"
#include "sense/native/perffault.h"

#define TASKS_MAX 65536

static int who_read(const struct world *w, const struct members_want *want, struct growth_who *who, size_t *ret_n,
		    size_t *ret_all)
{
	struct tasks t = {.n = 0};
	struct members m = {.n = 0};
	size_t n = 0;
	int r = tasks_init(&t, TASKS_MAX, -1);
	if (r < 0)
		return r;
	r = tasks_scan(&t, w);
	if (r == 0)
		r = members_read(w, &t, want, &m);
	for (size_t i = 0; r == 0 && i < m.n && n < GROWTH_PROCESSES_MAX; i++) {
		/*
		 * vigil leaves itself out where it was started by the process that it watches: its own faults would
		 * never end
		 */
		if (m.row[i].task->pid == getpid())
			continue;
		who[n] = (struct growth_who){.pid = m.row[i].task->pid, .rank = m.row[i].who.rank};
		TEXT_COPY(who[n].role, role_name(m.row[i].who.role));
		n++;
	}
	*ret_n = n;
	*ret_all = n < GROWTH_PROCESSES_MAX ? n : m.n;
	members_done(&m);
	tasks_done(&t);
	return r;
}

static uint64_t samples_of(const struct stackset *s)
{
	size_t n;
	uint64_t sum = 0;
	const struct stack_node *nodes = stackset_nodes(s, &n);
	for (size_t i = 0; i < n; i++)
		sum += nodes[i].self_samples[SAMPLE_RUNNING];
	return sum;
}

int growthset_record(const struct world *w, const struct growthset_want *want, struct heapset **ret,
		     char remark[static 300], struct fault *f)
{
	cleanup(freep) struct growth_who *who = calloc(GROWTH_PROCESSES_MAX, sizeof(*who));
	cleanup(stackset_freep) struct stackset *s = NULL;
	struct growth_want record = {.who = who, .duration_ns = want->duration_ns, .stop = want->stop};
	size_t all = 0;
	remark[0] = '\0';
	int r = who ? who_read(w, want->members, who, &record.n_who, &all) : -ENOMEM;
	if (r)
		return fault_set(f, r, "the processes cannot be listed: %s", strerror(r < 0 ? -r : EIO));
	if (all == 0)
		return fault_set(f, WORLD_GONE, "it has no running process: growth can only be watched while it runs");
	r = growth_record(w, &record, &s, f);
	if (r)
		return r;
	uint64_t dropped = stackset_meta_of(s)->dropped, late = stackset_meta_of(s)->shortened;
	if (all > record.n_who)
		(void)text_format(remark, 300, "only %zu of %zu processes were watched", record.n_who, all);
	else if (dropped > 0)
		(void)text_format(remark, 300, "%llu samples came too fast and were dropped: all figures are too low",
				  (unsigned long long)dropped);
	else if (late > 0)
		(void)text_format(
			remark, 300,
			"of %llu of %llu samples the line of Python is not known: the thread had gone on before "
			"it could be read",
			(unsigned long long)late, (unsigned long long)samples_of(s));
	return heapgrowth_of(s, PERFFAULT_PERIOD, ret);
}
