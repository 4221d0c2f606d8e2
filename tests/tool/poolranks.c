/*
 * Ranks in C that sum up over TCP in each step, by RANK and WORLD_SIZE, and whose work is done by threads of their own:
 * poolranks LAYOUT HOW PORT SLOW. As soon as the file SLOW is there, one worker of rank 1 takes longer in each step.
 *
 * LAYOUT: pool (the main thread gives work to workers, waits for them at a condition and exchanges), spawn (it makes
 * and joins them in each step), parked (it joins a thread that does all of that), queue (the pool again; messages are
 * received by a thread of their own). HOW: compute, nap, pipe (reads what another process writes late), none (nobody
 * is slow), ticker (nor is rank 0, which has a thread that sleeps), busy (nor is rank 0, which has one that computes).
 */
#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define WORKERS 2
#define RANKS_MOST 8
#define SLOW_MS 200

static const char *layout, *how, *slow_file;
static int rank, world, port, token[2];
static int peer[RANKS_MOST];
static atomic_bool slow;
static volatile unsigned sink;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t given = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
static pthread_cond_t came = PTHREAD_COND_INITIALIZER;
static unsigned round_given, n_done;
static int received[RANKS_MOST];

static void nap(long ms)
{
	struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
	(void)nanosleep(&t, NULL);
}

static void work(long ms)
{
	struct timespec from, now;
	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
	do {
		for (unsigned i = 0; i < 10000; i++)
			sink += i;
		(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while ((now.tv_sec - from.tv_sec) * 1000 + (now.tv_nsec - from.tv_nsec) / 1000000 < ms);
}

static void slow_part(void)
{
	char c;
	if (strcmp(how, "compute") == 0)
		work(SLOW_MS);
	else if (strcmp(how, "nap") == 0)
		nap(SLOW_MS);
	else if (strcmp(how, "pipe") == 0 && read(token[0], &c, 1) != 1)
		exit(4);
}

static void part(long worker)
{
	nap(60);
	work(10);
	if (worker == 1 && rank == 1 && atomic_load(&slow))
		slow_part();
}

/* ---- messages ---- */

static void say(int fd)
{
	if (write(fd, "x", 1) != 1)
		exit(0);
}

static void hear(int fd)
{
	char c;
	if (read(fd, &c, 1) != 1)
		exit(0);
}

static void *receives(void *of)
{
	for (int i = (int)(long)of;;) {
		hear(peer[i]);
		pthread_mutex_lock(&lock);
		received[i]++;
		pthread_cond_broadcast(&came);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static void wait_for(int i)
{
	if (strcmp(layout, "queue") != 0) {
		hear(peer[i]);
		return;
	}
	pthread_mutex_lock(&lock);
	while (received[i] == 0)
		pthread_cond_wait(&came, &lock);
	received[i]--;
	pthread_mutex_unlock(&lock);
}

/* Rank 0 hears all others and answers; another one knows rank 0 alone. */
static void exchange(void)
{
	if (rank > 0) {
		say(peer[0]);
		wait_for(0);
		return;
	}
	for (int i = 1; i < world; i++)
		wait_for(i);
	for (int i = 1; i < world; i++)
		say(peer[i]);
}

static void meet(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
				.sin_port = htons((uint16_t)port),
				.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
	if (rank == 0) {
		(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
		if (bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(fd, RANKS_MOST) < 0)
			exit(3);
		for (int i = 1; i < world; i++)
			peer[i] = accept(fd, NULL, NULL);
		close(fd);
		return;
	}
	while (connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0) {
		close(fd);
		nap(50);
		fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	}
	peer[0] = fd;
}

/* ---- work ---- */

static void *serves(void *number)
{
	for (unsigned seen = 0;;) {
		pthread_mutex_lock(&lock);
		while (round_given == seen)
			pthread_cond_wait(&given, &lock);
		seen = round_given;
		pthread_mutex_unlock(&lock);
		part((long)number);
		pthread_mutex_lock(&lock);
		if (++n_done == WORKERS)
			pthread_cond_signal(&done);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static void *once(void *number)
{
	part((long)number);
	return NULL;
}

static void all_work(void)
{
	pthread_t t[WORKERS];
	if (strcmp(layout, "spawn") == 0) {
		for (long i = 0; i < WORKERS; i++)
			(void)pthread_create(&t[i], NULL, once, (void *)i);
		for (long i = 0; i < WORKERS; i++)
			pthread_join(t[i], NULL);
		return;
	}
	pthread_mutex_lock(&lock);
	n_done = 0;
	round_given++;
	pthread_cond_broadcast(&given);
	while (n_done < WORKERS)
		pthread_cond_wait(&done, &lock);
	pthread_mutex_unlock(&lock);
}

static void *steps(void *unused)
{
	(void)unused;
	for (unsigned step = 1; step < 100000; step++) {
		if (access(slow_file, F_OK) == 0)
			atomic_store(&slow, true);
		all_work();
		exchange();
		printf("step %u/100000 loss 0.5\n", step);
		(void)fflush(stdout);
	}
	return NULL;
}

static void *ticks(void *unused)
{
	(void)unused;
	for (;;)
		nap(500);
	return NULL;
}

static void *computes(void *unused)
{
	(void)unused;
	for (;;)
		work(100);
	return NULL;
}

/* Another process that writes a byte each SLOW_MS, once it is to be slow. */
static void writer_start(void)
{
	if (pipe(token) < 0)
		exit(3);
	if (fork() > 0)
		return;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		nap(SLOW_MS);
		if (access(slow_file, F_OK) == 0)
			say(token[1]);
	}
}

int main(int argc, char **argv)
{
	pthread_t t;
	if (argc != 5 || !getenv("RANK") || !getenv("WORLD_SIZE"))
		return 2;
	layout = argv[1];
	how = argv[2];
	port = (int)strtol(argv[3], NULL, 10);
	slow_file = argv[4];
	rank = (int)strtol(getenv("RANK"), NULL, 10);
	world = (int)strtol(getenv("WORLD_SIZE"), NULL, 10);
	if (strcmp(how, "pipe") == 0 && rank == 1)
		writer_start();
	meet();
	for (long i = 0; strcmp(layout, "spawn") != 0 && i < WORKERS; i++)
		(void)pthread_create(&t, NULL, serves, (void *)i);
	for (long i = 0; strcmp(layout, "queue") == 0 && i < world; i++)
		if (i != rank && (rank == 0 || i == 0))
			(void)pthread_create(&t, NULL, receives, (void *)i);
	if (rank == 0 && strcmp(how, "ticker") == 0)
		(void)pthread_create(&t, NULL, ticks, NULL);
	if (rank == 0 && strcmp(how, "busy") == 0)
		(void)pthread_create(&t, NULL, computes, NULL);
	if (strcmp(layout, "parked") != 0)
		return steps(NULL) != NULL;
	(void)pthread_create(&t, NULL, steps, NULL);
	pthread_join(t, NULL);
	return 0;
}
