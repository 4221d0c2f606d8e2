/* Looking things up in facts of waits, and their names. */
#include "sense/wait/waitfacts.h"

const char *waitfact_kind_name(enum waitfact_kind k)
{
	static const char *const names[] = {
		[WAITFACT_UNKNOWN] = "unknown",
		[WAITFACT_CLOCK] = "clock",
		[WAITFACT_TCP] = "tcp",
		[WAITFACT_CONNECT] = "connect",
		[WAITFACT_LISTEN] = "listen",
		[WAITFACT_DATAGRAM] = "datagram",
		[WAITFACT_UNIX] = "unix socket",
		[WAITFACT_PIPE] = "pipe",
		[WAITFACT_FIFO] = "fifo",
		[WAITFACT_EVENTFD] = "eventfd",
		[WAITFACT_CHILD] = "child",
		[WAITFACT_THREAD] = "thread",
		[WAITFACT_LOCK] = "lock",
		[WAITFACT_FUTEX] = "futex",
		[WAITFACT_SHARED] = "shared futex",
		[WAITFACT_FILE_LOCK] = "file lock",
		[WAITFACT_SEMAPHORE] = "semaphore",
		[WAITFACT_MESSAGE] = "message",
		[WAITFACT_SIGNAL] = "signal",
		[WAITFACT_STOPPED] = "stopped",
		[WAITFACT_TRACED] = "traced",
		[WAITFACT_FROZEN] = "frozen",
		[WAITFACT_STORAGE] = "storage",
		[WAITFACT_FUSE] = "fuse",
		[WAITFACT_TERMINAL] = "terminal",
		[WAITFACT_DEVICE] = "device",
	};
	return (size_t)k < ARRAY_SIZE(names) ? names[k] : "unknown";
}

const struct waitfact_process *waitfacts_process(const struct waitfacts *f, pid_t pid)
{
	size_t lo = 0, hi = f->n_processes;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (f->process[mid].pid < pid)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < f->n_processes && f->process[lo].pid == pid ? &f->process[lo] : NULL;
}

const struct waitfact_thread *waitfacts_thread(const struct waitfacts *f, pid_t pid, pid_t tid)
{
	const struct waitfact_process *p = waitfacts_process(f, pid);
	for (uint32_t i = 0; p && i < p->n_threads; i++)
		if (f->thread[p->first_thread + i].tid == tid)
			return &f->thread[p->first_thread + i];
	return NULL;
}
