/* A job of C ranks: each joins a thread that packs its shard for a minute; rank 0 is the last. */
#include "../programs/job.h"

static void *pack(void *p)
{
	double s = secs(rank ? 40 + 6 * rank : 62);
	volatile double x = 0;
	for (double t = 0; t < s; t += 0.1) {
		for (int k = 0; k < 200000; k++) x += k * 1e-9;
		nap(secs(0.1));
	}
	return p;
}

int main(int argc, char **argv)
{
	(void)argc;
	job_start(argv, 3, 0);
	star_join();
	for (int i = 0; i < 20; i++) {
		nap(0.3);
		if (i == 10) {
			pthread_t t;
			pthread_create(&t, 0, pack, 0);
			pthread_join(t, 0);
		}
		star_sum(1);
		if (!rank) printf("iter %d: train loss %.4f\n", i, 3.0 / (1 + i)), fflush(stdout);
	}
	return 0;
}
