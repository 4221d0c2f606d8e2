/*
 * gaps: a thread that does nothing but look at the clock, below some frames of its own, until its standard input ends.
 * Each look that comes late is a time during which the thread did not run: a profiler's pause as the program feels it,
 * or the machine's own doing. Prints when each began and how long it was, in ns of CLOCK_MONOTONIC, one a line.
 */
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#define KEPT 262144
#define FRAMES 30
#define LEAST_NS 2000
#define ASK_EVERY 100000 /* looks */

static struct {
	uint64_t since_ns, ns;
} gap[KEPT];
static size_t n_gaps;

static uint64_t now_ns(void)
{
	struct timespec t;
	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int over(void)
{
	struct pollfd p = {.fd = 0, .events = POLLIN};
	return poll(&p, 1, 0) != 0;
}

/* Asking whether it is over takes its time, which is nobody's pause. */
static void look(void)
{
	while (!over()) {
		uint64_t last = now_ns();
		for (int i = 0; i < ASK_EVERY; i++) {
			uint64_t now = now_ns();
			if (now - last >= LEAST_NS && n_gaps < KEPT) {
				gap[n_gaps].since_ns = last;
				gap[n_gaps++].ns = now - last;
			}
			last = now;
		}
	}
}

static __attribute__((noinline)) int below(int frames)
{
	if (frames == 0)
		look();
	else
		below(frames - 1);
	__asm__ volatile("" ::: "memory"); /* a call, not a jump */
	return frames;
}

int main(void)
{
	printf("begun\n");
	(void)fflush(stdout);
	(void)below(FRAMES);
	for (size_t i = 0; i < n_gaps; i++)
		printf("%llu %llu\n", (unsigned long long)gap[i].since_ns, (unsigned long long)gap[i].ns);
	return 0;
}
