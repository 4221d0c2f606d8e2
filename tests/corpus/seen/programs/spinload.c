/* Three ranks; two look without pause (sched_yield) at a counter while rank 0 loads data for 60 s. */
#include "job.h"
#include <sched.h>
struct sh { _Alignas(64) volatile long at[16]; };

static void load(double n)
{
	int fd = open("/dev/urandom", O_RDONLY);
	char b[4096];
	time_t end = time(0) + (time_t)n;
	while (time(0) < end) {
		if (read(fd, b, sizeof b) < 0) exit(1);
		nap(0.05);
	}
	close(fd);
}

int main(int argc, char **argv)
{
	(void)argc;
	job_start(argv, 3, 0);
	struct sh *s = job_shm(sizeof *s);
	for (long i = 1; i <= 16; i++) {
		nap(0.25);
		if (rank == 0 && i == 10) load(secs(60));
		s->at[rank] = i;
		for (int r = 0; r < world; r++) while (s->at[r] < i) sched_yield();
		if (rank == 1) step((int)i);
	}
	return 0;
}
