#include "act/reaper.h"

#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#define REAPER_THREADS 2

static void *reaper_main(void *arg)
{
	struct reaper *r = arg;
	/*
	 * priority of this thread only: a reaper without processor time frees nothing; without the permission it keeps
	 * its priority
	 */
	(void)setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), -20);
	for (;;) {
		uint64_t one;
		if (read(r->wake_fd, &one, sizeof(one)) != (ssize_t)sizeof(one))
			continue;
		uint32_t i = atomic_fetch_add(&r->taken, 1);
		if (target_reap(&r->queue[i % REAPER_QUEUE]) == 0)
			atomic_fetch_add(&r->worked, 1);
		atomic_fetch_add(&r->done, 1);
	}
	return NULL;
}

int reaper_start(struct reaper *r)
{
	*r = (struct reaper){.wake_fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE)};
	if (r->wake_fd < 0)
		return -errno;
	sigset_t all, old;
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	pthread_attr_t attr;
	(void)pthread_attr_init(&attr);
	(void)pthread_attr_setstacksize(&attr, 64 * KIB); /* locked memory: keep it small */
	int e = 0;
	for (int i = 0; i < REAPER_THREADS && e == 0; i++) {
		pthread_t t;
		e = pthread_create(&t, &attr, reaper_main, r);
		if (e == 0)
			(void)pthread_detach(t);
	}
	(void)pthread_attr_destroy(&attr);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	r->running = e == 0;
	return -e;
}

bool reaper_push(struct reaper *r, const struct target *t)
{
	uint32_t at = atomic_load(&r->pushed);
	if (!r->running || at - atomic_load(&r->done) >= REAPER_QUEUE)
		return false;
	r->queue[at % REAPER_QUEUE] = *t;
	atomic_store(&r->pushed, at + 1);
	uint64_t one = 1;
	return write(r->wake_fd, &one, sizeof(one)) == (ssize_t)sizeof(one);
}

bool reaper_idle(const struct reaper *r)
{
	return atomic_load(&r->done) == atomic_load(&r->pushed);
}

uint32_t reaper_worked(const struct reaper *r)
{
	return atomic_load(&r->worked);
}
