/*
 * A job that stands for a while and is woken by what no list of holders shows. wakes WHAT SECONDS:
 *
 *   memory    a process that was made with its parent's memory posts a semaphore of it
 *   files     a thread with descriptors of its own writes to a pipe
 *   lock      the mutex in the shared memory WAKES_FILE is another program's, which gives it back
 *   keep      is that program: takes the mutex, says "kept", gives it back after SECONDS
 */
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static sem_t woken;
static int ends[2];
static int seconds;

static void wait_seconds(void)
{
	const struct timespec t = {.tv_sec = seconds};
	(void)nanosleep(&t, NULL);
}

static void steps(int first, int n)
{
	const struct timespec pause = {.tv_nsec = 100000000};
	for (int i = first; i < first + n; i++) {
		printf("step %d\n", i);
		fflush(stdout);
		(void)nanosleep(&pause, NULL);
	}
}

static void take(void)
{
	while (sem_wait(&woken) < 0)
		;
}

static int posts(void *unused)
{
	(void)unused;
	wait_seconds();
	(void)sem_post(&woken);
	return 0;
}

static void by_memory(void)
{
	static char stack[65536];
	if (clone(posts, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL) < 0)
		err(1, "clone");
	take();
}

static void *writes(void *unused)
{
	(void)unused;
	if (unshare(CLONE_FILES) < 0)
		err(1, "unshare");
	(void)sem_post(&woken);
	wait_seconds();
	if (write(ends[1], "x", 1) != 1)
		err(1, "write");
	return NULL;
}

static void by_files(void)
{
	pthread_t t;
	char byte;
	if (pipe(ends) < 0 || pthread_create(&t, NULL, writes, NULL) != 0)
		err(1, "pipe");
	take();
	(void)close(ends[1]);
	if (read(ends[0], &byte, 1) != 1)
		err(1, "read");
	(void)pthread_join(t, NULL);
}

static pthread_mutex_t *shared_lock(void)
{
	const char *path = getenv("WAKES_FILE");
	const int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
	if (fd < 0 || ftruncate(fd, 4096) < 0)
		err(1, "%s", path ? path : "WAKES_FILE");
	void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		err(1, "mmap");
	(void)close(fd);
	return at;
}

static void keep(void)
{
	pthread_mutexattr_t a;
	pthread_mutex_t *lock = shared_lock();
	(void)pthread_mutexattr_init(&a);
	(void)pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
	(void)pthread_mutex_init(lock, &a);
	(void)pthread_mutex_lock(lock);
	puts("kept");
	fflush(stdout);
	wait_seconds();
	(void)pthread_mutex_unlock(lock);
}

int main(int argc, char **argv)
{
	if (argc != 3 || sem_init(&woken, 0, 0) < 0)
		errx(2, "usage: wakes memory|files|lock|keep SECONDS");
	seconds = (int)strtol(argv[2], NULL, 10);
	if (strcmp(argv[1], "keep") == 0) {
		keep();
		return 0;
	}
	steps(0, 20);
	if (strcmp(argv[1], "memory") == 0)
		by_memory();
	else if (strcmp(argv[1], "files") == 0)
		by_files();
	else
		(void)pthread_mutex_lock(shared_lock());
	steps(20, 10);
	return 0;
}
