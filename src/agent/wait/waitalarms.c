#include "agent/wait/waitalarms.h"

#include "agent/memory/ownroom.h"
#include "sense/bpf/bpfload.h"
#include "sense/proc/tasks.h"

/* Of a machine with more processes those that do not fit are unknown. */
#define WAITALARMS_TASKS 65536

static void tasks_donep(struct tasks *t)
{
	tasks_done(t);
}

void waitalarms_close(struct waitalarms *a)
{
	closep(&a->link_fd);
}

static bool is_open(struct waitalarms *a, const struct world *w)
{
	char why[200];
	if (!a->tried && !w->recorded && ownroom_has(w, OWNROOM_BPF_BYTES)) {
		a->tried = true;
		if (bpf_tasks_load(&a->link_fd, why, sizeof(why)) != 0)
			a->link_fd = -1;
	}
	return a->link_fd >= 0;
}

/* The scan was one of BPF's, which tells of alarms. */
static bool is_scanned(struct waitalarms *a, const struct world *w, struct tasks *t)
{
	return a && is_open(a, w) && tasks_init(t, WAITALARMS_TASKS, a->link_fd) == 0 && tasks_scan(t, w) == 0 &&
	       t->source == TASKS_BPF;
}

void waitalarms_take(struct waitalarms *a, const struct world *w, struct waitfacts *f)
{
	cleanup(tasks_donep) struct tasks t = {.iter_link_fd = -1};
	const bool scanned = is_scanned(a, w, &t);
	for (size_t i = 0; i < f->n_processes; i++) {
		struct waitfact_process *p = &f->process[i];
		const struct task_row *row = scanned ? tasks_find(&t, p->pid) : NULL;
		const bool known = row && row->start_ticks == p->start_ticks;
		p->has_timers |= known && row->alarm_set;
		p->alarm_unknown = !known && !w->recorded;
	}
}
