/* Rank 0 waits on an eventfd for a copy thread that has returned. */
#include "job.h"
#include <sys/eventfd.h>
static int want, ready;

static void *copier(void *p)
{
	uint64_t n;
	for (int k = 0; rank || k < 15; k++) {
		if (read(want, &n, 8) != 8) break;
		nap(0.05);
		n = 1;
		if (write(ready, &n, 8) != 8) break;
	}
	return p;
}

int main(int argc, char **argv)
{
	(void)argc;
	uint64_t n = 1;
	job_start(argv, 3, 0);
	star_join();
	want = eventfd(0, 0);
	ready = eventfd(0, 0);
	pthread_t t;
	pthread_create(&t, 0, copier, 0);
	for (int i = 0;; i++) {
		nap(0.2);
		if (write(want, &n, 8) != 8 || read(ready, &n, 8) != 8) return 1;
		star_sum(1);
		if (rank == 1) step(i);
		n = 1;
	}
}
