#include "agent/wait/waitloader.h"

#include "agent/inspect/standstill.h"
#include "base/buf.h"
#include "sense/proc/proc.h"
#include "sense/pylib/pyloader.h"

/* The child of the process that has this number in its pid namespace; 0: none. */
static pid_t child_of(const struct world *w, const struct waitfacts *facts, pid_t parent, pid_t inner)
{
	struct proc_status status;
	for (size_t i = 0; i < facts->n_processes; i++) {
		const struct waitfact_process *p = &facts->process[i];
		if (p->ppid == parent && proc_status_read(w, p->pid, &status) == 0 && status.ns_pid == inner)
			return p->pid;
	}
	return 0;
}

int waitloader_read(const struct world *w, const struct waitfacts *facts, struct procview *v, struct waithint *ret,
		    bool *ret_found)
{
	const struct pythread *py = NULL, *main;
	char token[STANDSTILL_TOKEN];
	struct threadwait call;
	struct pystack stack;
	struct pyloader loader;
	size_t n = 0;
	*ret_found = false;
	if (!v->has_python || !v->stacks || procview_python_threads(v, &py, &n) != 0)
		return 0;
	main = procview_python_thread(py, n, v->pid);
	if (!main || !standstill_token(w, v->via, v->pid, token, &call))
		return 0;
	int e = pystacks_read(v->stacks, main, false, &stack);
	if (e == 0)
		e = pyloader_awaited(&v->rt, &v->remote, stack.frames, stack.n, &loader);
	if (e)
		return e < 0 || e == WORLD_GONE || e == WORLD_DENIED ? e : 0;
	pid_t worker = loader.worker ? child_of(w, facts, v->pid, loader.worker) : 0;
	if (worker == 0 || standstill_moved(w, v->via, v->pid, token))
		return 0;
	*ret = (struct waithint){.kind = WAITHINT_OWNER, .pid = v->pid, .tid = v->pid, .owner_pid = worker};
	ret->owner_tid = worker;
	TEXT_FORMAT(ret->text, "batch %llu of a DataLoader", (unsigned long long)loader.batch);
	TEXT_COPY(ret->owner_text, "a worker that was asked for it");
	*ret_found = true;
	return 0;
}
