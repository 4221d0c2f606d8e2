/* Rank 1 shares a mutex in memory with a cache warmer, which ended without unlocking it. */
#include "job.h"
struct sh { pthread_mutex_t m; };

static void warm(void)
{
	struct sh *s = job_shm(sizeof *s);
	nap(4);
	pthread_mutex_lock(&s->m);
	/* nothing more to warm */
}

static void setup(void)
{
	struct sh *s = job_shm(sizeof *s);
	pthread_mutexattr_t a;
	pthread_mutexattr_init(&a);
	pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&s->m, &a);
	job_helper("warmer", warm);
}

int main(int argc, char **argv)
{
	(void)argc;
	job_start(argv, 3, setup);
	services(1);
	struct sh *s = job_shm(sizeof *s);
	star_join();
	for (int i = 0;; i++) {
		nap(0.3);
		if (rank == 1) {
			pthread_mutex_lock(&s->m);
			pthread_mutex_unlock(&s->m);
		}
		star_sum(1);
		if (!rank) step(i);
	}
}
