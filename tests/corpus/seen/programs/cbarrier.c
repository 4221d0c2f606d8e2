/* Ranks meet at a barrier in shared memory; rank 3 waits for a semaphore that its own side should post. */
#include "job.h"
struct sh { pthread_barrier_t b; };
static sem_t filled;

static void *filler(void *p)
{
	for (int n = 0; rank != 3 || n < 14; n++) {
		sem_post(&filled);
		nap(0.25);
	}
	return p;
}

static void setup(void)
{
	struct sh *s = job_shm(sizeof *s);
	pthread_barrierattr_t a;
	pthread_barrierattr_init(&a);
	pthread_barrierattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&s->b, &a, 4);
}

int main(int argc, char **argv)
{
	(void)argc;
	job_start(argv, 4, setup);
	services(2);
	struct sh *s = job_shm(sizeof *s);
	sem_init(&filled, 0, 0);
	pthread_t t;
	pthread_create(&t, 0, filler, 0);
	for (int i = 0;; i++) {
		sem_wait(&filled);
		nap(0.2);
		pthread_barrier_wait(&s->b);
		if (!rank) step(i);
	}
}
