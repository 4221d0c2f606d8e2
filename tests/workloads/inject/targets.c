/*
 * targets KIND: programs that are hard to load something into. Each prints "ready" and then, for ever, does one thing:
 *   futex     waits for a condition that never comes, with two more threads
 *   malloc    allocates and frees, as fast as it can, in two threads
 *   fork      forks children that end at once, and waits for each
 *   epoll     waits with epoll_wait, which fails when it is interrupted; counts failures and ends with 3 at the first
 *   errno     sleeps by system calls and ends with 3 if one of them says anything but what it should
 *   exec      becomes itself, ten times a second
 *   short     ends after 30 ms
 *   vector    keeps numbers in vector registers, and ends with 3 when one of them changes
 *   qsort     is inside libc all the time
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

static void *futex(void *arg)
{
	pthread_mutex_lock(&lock);
	for (;;)
		pthread_cond_wait(&never, &lock);
	return arg;
}

static void *storm(void *arg)
{
	void *kept[64] = {NULL};
	for (unsigned i = 0;; i++) {
		unsigned at = i % 64;
		free(kept[at]);
		kept[at] = malloc(16 + i * 7919u % 3000u);
		if (kept[at])
			memset(kept[at], 1, 16);
	}
	return arg;
}

static void forks(void)
{
	for (;;) {
		pid_t pid = fork();
		if (pid == 0)
			_exit(0);
		if (pid > 0)
			(void)waitpid(pid, NULL, 0);
	}
}

static void epolls(void)
{
	struct epoll_event e;
	int fd = epoll_create1(0);
	for (;;)
		if (epoll_wait(fd, &e, 1, 1000) < 0)
			exit(3);
}

static void errnos(void)
{
	for (;;) {
		struct timespec t = {.tv_nsec = 20000000}, rest;
		errno = 77;
		if (nanosleep(&t, &rest) != 0 || errno != 77)
			exit(3);
	}
}

static void vectors(void)
{
	typedef double v4 __attribute__((vector_size(32)));
	v4 a = {1, 2, 3, 4}, b = {5, 6, 7, 8};
	for (unsigned long i = 0;; i++) {
		__asm__ volatile("" : "+x"(a), "+x"(b));
		v4 c = a + b;
		__asm__ volatile("" : "+x"(c));
		if (c[0] != 6 || c[1] != 8 || c[2] != 10 || c[3] != 12)
			exit(3);
	}
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a < *(const int *)b ? -1 : 1;
}

static void sorts(void)
{
	static int n[4096];
	for (;;) {
		for (int i = 0; i < 4096; i++)
			n[i] = i * 7919 % 4096;
		qsort(n, 4096, sizeof(n[0]), compare);
	}
}

static void naps(long ms)
{
	struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
	(void)nanosleep(&t, NULL);
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "";
	pthread_t t;
	(void)printf("ready\n");
	(void)fflush(stdout);
	if (strcmp(kind, "futex") == 0) {
		(void)pthread_create(&t, NULL, futex, NULL);
		(void)pthread_create(&t, NULL, futex, NULL);
		(void)futex(NULL);
	} else if (strcmp(kind, "malloc") == 0) {
		(void)pthread_create(&t, NULL, storm, NULL);
		(void)storm(NULL);
	} else if (strcmp(kind, "fork") == 0) {
		forks();
	} else if (strcmp(kind, "epoll") == 0) {
		epolls();
	} else if (strcmp(kind, "errno") == 0) {
		errnos();
	} else if (strcmp(kind, "vector") == 0) {
		vectors();
	} else if (strcmp(kind, "qsort") == 0) {
		sorts();
	} else if (strcmp(kind, "short") == 0) {
		naps(30);
		return 0;
	} else if (strcmp(kind, "exec") == 0) {
		naps(100);
		(void)execv(argv[0], argv);
	} else if (strcmp(kind, "sleep") == 0) {
		for (;;)
			naps(3600 * 1000);
	}
	return 2;
}
