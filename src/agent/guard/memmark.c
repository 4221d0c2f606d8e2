#include "agent/guard/memmark.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>

#include "base/buf.h"
#include "base/file.h"

/* "<eventfd> <file> <bytes>", written to cgroup.event_control. */
static bool mark_set(const struct memmark *k)
{
	char text[80];
	TEXT_FORMAT(text, "%d %d %llu", k->event_fd, k->use_fd, (unsigned long long)k->bytes);
	return file_write_all(k->control_fd, text, strlen(text)) == 0;
}

static void mark_close(struct memmark *k)
{
	closep(&k->control_fd);
	closep(&k->use_fd);
	closep(&k->event_fd);
}

static void *memmarks_main(void *arg)
{
	struct memmarks *m = arg;
	for (uint64_t one;;) {
		if (read(m->wake_fd, &one, sizeof(one)) != (ssize_t)sizeof(one))
			continue;
		uint32_t at = atomic_load(&m->done);
		struct memmark *k = &m->queue[at % MEMMARK_QUEUE];
		if (mark_set(k))
			atomic_store(&k->set, at + 1);
		mark_close(k);
		atomic_store(&m->done, at + 1);
	}
	return NULL;
}

int memmarks_start(struct memmarks *m)
{
	*m = (struct memmarks){.wake_fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE)};
	if (m->wake_fd < 0)
		return -errno;
	sigset_t all, old;
	pthread_attr_t attr;
	pthread_t thread;
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	(void)pthread_attr_init(&attr);
	(void)pthread_attr_setstacksize(&attr, 64 * KIB); /* locked memory: keep it small */
	int e = pthread_create(&thread, &attr, memmarks_main, m);
	if (e == 0)
		(void)pthread_detach(thread);
	(void)pthread_attr_destroy(&attr);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	m->running = e == 0;
	return -e;
}

uint32_t memmarks_ask(struct memmarks *m, int dir_fd, int event_fd, uint64_t bytes)
{
	uint32_t at = atomic_load(&m->pushed);
	if (!m->running || at - atomic_load(&m->done) >= MEMMARK_QUEUE)
		return 0;
	struct memmark *k = &m->queue[at % MEMMARK_QUEUE];
	k->control_fd = openat(dir_fd, "cgroup.event_control", O_WRONLY | O_CLOEXEC);
	k->use_fd = openat(dir_fd, "memory.usage_in_bytes", O_RDONLY | O_CLOEXEC);
	k->event_fd = fcntl(event_fd, F_DUPFD_CLOEXEC, 0);
	k->bytes = bytes;
	if (k->control_fd < 0 || k->use_fd < 0 || k->event_fd < 0) {
		mark_close(k);
		return 0;
	}
	const uint64_t one = 1;
	atomic_store(&m->pushed, at + 1);
	ignore(write(m->wake_fd, &one, sizeof(one)), "it has room for as many as the queue");
	return at + 1;
}

bool memmarks_is_set(const struct memmarks *m, uint32_t ticket)
{
	return ticket != 0 && atomic_load(&m->queue[(ticket - 1) % MEMMARK_QUEUE].set) == ticket;
}
