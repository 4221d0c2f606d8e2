/*
 * naps HZ SECONDS: wakes up so many times a second and does nothing else. What
 * that costs here is the floor of every profiler that samples by the clock.
 * Prints the share of a core.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NS_PER_S 1000000000L

static double seconds(clockid_t clock)
{
	struct timespec t;
	(void)clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	long hz = argc > 1 ? strtol(argv[1], NULL, 10) : 0, for_s = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
	struct timespec t;
	if (hz < 1 || hz > 1000000 || for_s < 1) {
		(void)fprintf(stderr, "usage: naps HZ SECONDS\n");
		return 2;
	}
	double start = seconds(CLOCK_MONOTONIC);
	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	for (long i = 0; i < hz * for_s; i++) {
		t.tv_nsec += NS_PER_S / hz;
		t.tv_sec += t.tv_nsec / NS_PER_S;
		t.tv_nsec %= NS_PER_S;
		(void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
	}
	printf("%.5f\n", seconds(CLOCK_PROCESS_CPUTIME_ID) / (seconds(CLOCK_MONOTONIC) - start));
	return 0;
}
