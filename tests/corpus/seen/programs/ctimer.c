/* Rank 2 paces its steps with a timerfd; a new rate of zero has switched the timer off. */
#include "job.h"
#include <sys/timerfd.h>

static void set_rate(int fd, double hz)
{
	struct itimerspec t = {{0, 0}, {0, 0}};
	if (hz > 0) t.it_interval.tv_nsec = t.it_value.tv_nsec = (long)(1e9 / hz);
	timerfd_settime(fd, 0, &t, 0);
}

int main(int argc, char **argv)
{
	(void)argc;
	uint64_t n;
	job_start(argv, 3, 0);
	services(1);
	star_join();
	int fd = timerfd_create(CLOCK_MONOTONIC, 0);
	for (int i = 0;; i++) {
		set_rate(fd, rank == 2 && i == 15 ? 0 : 4);
		if (read(fd, &n, 8) != 8) return 1;
		star_sum(1);
		if (!rank) step(i);
	}
}
