/*
 * What a look at the facts of waits costs: waitbench PROCESSES THREADS OTHERS LOOKS. The processes wait in locks,
 * sockets, pipes, polls and epolls as ranks do; the others only sleep, with a copy of one socket each.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/text.h"
#include "sense/wait/waitfacts.h"

#define PROCESSES_MAX 256
#define OTHERS_MAX 5000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

static void wait_in_descriptors(size_t which)
{
	int s[2], p[2];
	char c;
	struct epoll_event ev = {.events = EPOLLIN};
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, s) != 0 || pipe(p) != 0)
		return;
	struct pollfd fds[2] = {{.fd = s[0], .events = POLLIN}, {.fd = p[0], .events = POLLIN}};
	const int e = epoll_create1(EPOLL_CLOEXEC);
	if (which == 0)
		(void)!read(s[0], &c, 1);
	else if (which == 1)
		(void)!read(p[0], &c, 1);
	else if (which == 2)
		(void)poll(fds, 2, -1);
	else if (epoll_ctl(e, EPOLL_CTL_ADD, s[0], &ev) == 0 && epoll_ctl(e, EPOLL_CTL_ADD, p[0], &ev) == 0)
		(void)epoll_wait(e, &ev, 1, -1);
}

static void *wait_thread(void *arg)
{
	const size_t i = *(size_t *)arg;
	if (i % 8 == 0) {
		(void)pthread_mutex_lock(&lock);
	} else if (i % 8 < 4) {
		(void)pthread_mutex_lock(&guard);
		(void)pthread_cond_wait(&never, &guard);
	} else {
		wait_in_descriptors(i % 4);
	}
	for (;;)
		pause();
	return NULL;
}

static _Noreturn void process_run(size_t threads, int ready)
{
	pthread_t t;
	size_t *index = calloc(threads + 1, sizeof(*index));
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)pthread_mutex_lock(&lock);
	for (size_t i = 0; index && i < threads; i++) {
		index[i] = i;
		if (pthread_create(&t, NULL, wait_thread, &index[i]) != 0)
			break;
	}
	if (write(ready, "x", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

static size_t number(const char *text, size_t most)
{
	uint64_t v = 0;
	return span_u64(span_of(text), &v) == 0 && v <= most ? (size_t)v : 0;
}

static int looks(const pid_t *pids, size_t n, size_t times)
{
	struct world w = {.proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
			  .sys_fd = -1,
			  .cgroup_fd = -1,
			  .shm_fd = -1,
			  .kmsg_fd = -1,
			  .page_bytes = (uint64_t)sysconf(_SC_PAGESIZE),
			  .ticks_per_s = (uint64_t)sysconf(_SC_CLK_TCK),
			  .mono_ns = clock_mono_ns,
			  .unix_ms = clock_unix_ms};
	for (size_t i = 0; i < times; i++) {
		struct waitfacts f;
		if (waitfacts_read(&w, pids, n, 0, &f) != 0)
			return 1;
		size_t whole = 0;
		for (size_t j = 0; j < f.n_facts; j++)
			whole += f.fact[j].complete;
		printf("%.1f ms: %zu threads, %zu facts, %zu complete, %zu holders%s\n", (double)f.took_ns / 1e6,
		       f.n_threads, f.n_facts, whole, f.n_holders, f.out_of_time ? ", out of time" : "");
		waitfacts_done(&f);
	}
	closep(&w.proc_fd);
	return 0;
}

int main(int argc, char **argv)
{
	static pid_t pids[PROCESSES_MAX];
	int ready[2], copy[2];
	char c;
	if (argc != 5 || pipe(ready) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, copy) != 0) {
		fprintf(stderr, "waitbench PROCESSES THREADS OTHERS LOOKS\n");
		return 2;
	}
	const size_t n = number(argv[1], PROCESSES_MAX), threads = number(argv[2], 10000);
	const size_t others = number(argv[3], OTHERS_MAX);
	for (size_t i = 0; i < n + others; i++) {
		const pid_t pid = fork();
		if (pid < 0)
			return 1;
		if (pid == 0)
			process_run(i < n ? threads : 0, ready[1]);
		if (i < n)
			pids[i] = pid;
	}
	for (size_t i = 0; i < n + others; i++)
		if (read(ready[0], &c, 1) != 1)
			return 1;
	return looks(pids, n, number(argv[4], 1000));
}
