/*
 * gaps: a thread that does nothing but look at the clock, below some frames of its own, until its standard input ends. Each
 * look that comes late is a time during which the thread did not run: a profiler's pause as the program feels it, or
 * the machine's own doing. Prints the longest ones, in ns, one a line, the longest first.
 */
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define KEPT 65536
#define FRAMES 30
#define LEAST_NS 2000
#define ASK_EVERY 100000 /* looks */

static uint32_t gap[KEPT];
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
			if (now - last >= LEAST_NS && n_gaps < KEPT)
				gap[n_gaps++] = (uint32_t)(now - last > UINT32_MAX ? UINT32_MAX : now - last);
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

static int longest_first(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return x < y ? 1 : x > y ? -1 : 0;
}

int main(void)
{
	printf("begun\n");
	(void)fflush(stdout);
	(void)below(FRAMES);
	qsort(gap, n_gaps, sizeof(gap[0]), longest_first);
	for (size_t i = 0; i < n_gaps; i++)
		printf("%u\n", gap[i]);
	return 0;
}
