/* Rank 2 joins its saver thread, which waits for a free slot that nobody gives back. */
#include "../programs/job.h"
static sem_t slots;

static void *saver(void *p)
{
	long n = (long)p;
	sem_wait(&slots);
	nap(0.05);
	if (rank != 2 || n % 4) sem_post(&slots);
	return p;
}

int main(int argc, char **argv)
{
	(void)argc;
	job_start(argv, 4, 0);
	services(1);
	star_join();
	sem_init(&slots, 0, 6);
	for (long i = 0;; i++) {
		pthread_t t;
		nap(0.3);
		pthread_create(&t, 0, saver, (void *)i);
		star_sum(1);
		pthread_join(t, 0);
		if (!rank) printf("[%ld] loss=%.5f grad_norm=%.3f\n", i, 2.0 / (1 + i), 1.0 / (2 + i)), fflush(stdout);
	}
}
