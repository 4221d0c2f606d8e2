/* Rank 1's trainer waits on a condition until its reader has parsed for 62 s. */
#include "job.h"
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static int have;

static void *reader(void *p)
{
	for (int n = 0; n < 16; n++) {
		nap(0.1);
		if (rank == 1 && n == 10) {
			time_t end = time(0) + (time_t)secs(62);
			while (time(0) < end) { for (volatile int k = 0; k < 100000; k++) ; nap(0.02); }
		}
		pthread_mutex_lock(&m);
		have++;
		pthread_cond_signal(&ready);
		pthread_mutex_unlock(&m);
	}
	return p;
}

int main(int argc, char **argv)
{
	(void)argc;
	job_start(argv, 3, 0);
	star_join();
	pthread_t t;
	pthread_create(&t, 0, reader, 0);
	for (int i = 0; i < 16; i++) {
		pthread_mutex_lock(&m);
		while (!have) pthread_cond_wait(&ready, &m);
		have--;
		pthread_mutex_unlock(&m);
		nap(0.2);
		star_sum(1);
		if (!rank) step(i);
	}
	return 0;
}
