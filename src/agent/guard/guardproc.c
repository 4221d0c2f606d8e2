#include "agent/guard/guardproc.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "agent/guard/guardloop.h"
#include "base/log.h"

struct guard_shm *guardproc_shm_new(void)
{
	void *p = mmap(NULL, sizeof(struct guard_shm), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	struct guard_shm *shm = p;
	shm->iter_link_fd = -1;
	shm->supervisor = getpid();
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	shm->settings = (struct guard_settings){
		.threshold_ratio = 0.95,
		.reaction_ns = 10 * NS_PER_MS,
		/* one core fills at most about 5 GB/s with huge pages */
		.fastest_bytes_per_s = MIN(MAX((uint64_t)cpus, 2) * 5, 40) * GIB,
		.grace_ns = 2 * NS_PER_S,
	};
	shm->freeze = true;
	return shm;
}

int guardproc_start(struct guardproc *g, struct guard_shm *shm, const struct world *w)
{
	int to = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), from = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (to < 0 || from < 0)
		return -errno;
	atomic_store(&shm->stop, 0);
	atomic_store(&shm->ready, 0);
	atomic_store(&shm->beat_due_ns, 0);
	shm->guard = (struct proc_id){.pid = 0};
	pid_t pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0) {
		log_set_sink(NULL, NULL); /* the supervisor's output is not ours to keep */
		guardloop_main(shm, w, to, from);
	}
	*g = (struct guardproc){.pid = pid, .pidfd = (int)syscall(SYS_pidfd_open, pid, 0), .to_guard_fd = to,
				.from_guard_fd = from, .started_ns = w->mono_ns(), .shm = shm};
	return 0;
}

void guardproc_jobs_begin(struct guardproc *g)
{
	atomic_fetch_add(&g->shm->jobs_seq, 1);
}

void guardproc_jobs_end(struct guardproc *g)
{
	atomic_fetch_add(&g->shm->jobs_seq, 1);
	guardproc_wake(g);
}

void guardproc_wake(struct guardproc *g)
{
	uint64_t one = 1;
	ignore(write(g->to_guard_fd, &one, sizeof(one)), "a full eventfd wakes as well");
}

void guardproc_say_start_error(const struct guardproc *g)
{
	int e = -g->shm->start_error;
	log_error("the guard cannot start: %s%s; the job goes on unguarded", strerror(e),
		  e == ENOENT ? " (the machine's meminfo, which a mounted proc would have)" : "");
}

void guardproc_forget(struct guardproc *g)
{
	closep(&g->pidfd);
	closep(&g->to_guard_fd);
	closep(&g->from_guard_fd);
	g->pidfd = g->to_guard_fd = g->from_guard_fd = -1;
	g->pid = 0;
}

void guardproc_stop(struct guardproc *g)
{
	if (g->pid <= 0)
		return;
	atomic_store(&g->shm->stop, 1);
	guardproc_wake(g);
	struct pollfd p = {.fd = g->pidfd, .events = POLLIN};
	if (g->pidfd < 0 || poll(&p, 1, 200) <= 0)
		(void)kill(g->pid, SIGKILL);
	(void)waitpid(g->pid, NULL, 0);
	guardproc_forget(g);
}
