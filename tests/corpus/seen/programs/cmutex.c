/* Rank 2: a writer thread keeps a mutex while it waits for a buffer on a condition. */
#include "job.h"
static pthread_mutex_t state = PTHREAD_MUTEX_INITIALIZER, bufs = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t freed = PTHREAD_COND_INITIALIZER;
static int avail = 12;

static void *writer(void *p)
{
	for (;;) {
		pthread_mutex_lock(&state);
		pthread_mutex_lock(&bufs);
		while (rank == 2 && avail == 0) pthread_cond_wait(&freed, &bufs);
		avail--;
		pthread_mutex_unlock(&bufs);
		pthread_mutex_unlock(&state);
		nap(0.3);
	}
	return p;
}

int main(int argc, char **argv)
{
	(void)argc;
	job_start(argv, 4, 0);
	services(1);
	star_join();
	pthread_t t;
	pthread_create(&t, 0, writer, 0);
	for (int i = 0;; i++) {
		nap(0.3);
		pthread_mutex_lock(&state);
		pthread_mutex_unlock(&state);
		star_sum(1);
		if (!rank) step(i);
	}
}
