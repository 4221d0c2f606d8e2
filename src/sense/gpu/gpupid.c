#include "sense/gpu/gpupid.h"

#include <fcntl.h>
#include <string.h>

#include "base/buf.h"
#include "base/text.h"
#include "sense/gpu/gpuheld.h"
#include "sense/ns.h"

static bool holds(const struct world *w, pid_t pid, const struct gpu_sample *g)
{
	struct gpuheld h;
	return gpuheld_read(w, pid, &h) == 0 && (g->has_number ? gpuheld_has(&h, g) : gpuheld_count(&h) > 0);
}

static bool exists(const struct world *w, pid_t pid)
{
	char path[32];
	TEXT_FORMAT(path, "%d/stat", pid);
	return faccessat(w->proc_fd, path, F_OK, 0) == 0;
}

bool gpupid_fill(const struct world *w, struct gpu_set *set)
{
	char name[64];
	ssize_t n = readlinkat(w->proc_fd, "self/ns/pid", name, sizeof(name) - 1);
	bool ours = w->recorded || (n > 0 && span_eq((struct span){name, (size_t)n}, PID_NAMESPACE_FIRST_TEXT));
	for (uint32_t i = 0; i < set->n; i++) {
		for (uint32_t k = 0; k < set->gpu[i].n_processes; k++) {
			struct gpu_process *p = &set->gpu[i].process[k];
			if (p->pid == 0 && exists(w, p->driver_pid) && (ours || holds(w, p->driver_pid, &set->gpu[i])))
				p->pid = p->driver_pid;
		}
	}
	return !ours;
}
