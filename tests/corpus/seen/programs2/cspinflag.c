/* Rank 1 spins on a flag of its own memory; the thread that should raise it has returned. */
#include "../programs/job.h"
#include <sched.h>
static volatile int ready, taken;

static void *fill(void *p)
{
	for (int n = 0; rank != 1 || n < 40; n++) {
		while (ready) nap(0.01);
		nap(0.2);
		ready = 1;
	}
	return p;
}

int main(int argc, char **argv)
{
	(void)argc;
	job_start(argv, 2, 0);
	star_join();
	pthread_t t;
	pthread_create(&t, 0, fill, 0);
	for (int i = 0;; i++) {
		while (!ready) sched_yield();
		ready = 0;
		taken++;
		star_sum(1);
		if (!rank) step(i);
		nap(0.1);
	}
}
