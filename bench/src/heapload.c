/*
 * Work for allocators, measured by bench/heap.py: a storm of small blocks from
 * several depths, and one that also touches what it got. heapload pair: what one
 * malloc and free costs, in nanoseconds.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WINDOW 1000

static void *window[WINDOW];
static uint32_t state = 12345;

static uint32_t next(void)
{
	return state = state * 1664525 + 1013904223;
}

static __attribute__((noinline)) void *from_depth(unsigned depth, size_t n)
{
	void *p = depth ? from_depth(depth - 1, n) : malloc(n);
	__asm__ volatile("" : "+r"(p)); /* no tail call */
	return p;
}

static void storm(unsigned long rounds, int touch)
{
	for (unsigned long i = 0; i < rounds; i++) {
		uint32_t x = next();
		size_t n = 16 + (x >> 20) * ((x >> 8 & 15) == 0 ? 4 : 1) / 2, slot = x % WINDOW;
		free(window[slot]);
		window[slot] = from_depth(8 + (x >> 12 & 7), n);
		if (touch && window[slot])
			memset(window[slot], (int)i, n);
	}
}

static void pair(void)
{
	enum { ROUNDS = 20000000 };
	struct timespec a, b;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
	for (int i = 0; i < ROUNDS; i++) {
		void *p = malloc(64);
		__asm__ volatile("" : "+r"(p));
		free(p);
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
	printf("%.3f\n", ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) / ROUNDS);
}

int main(int argc, char **argv)
{
	unsigned long rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 3000000;
	if (argc > 1 && strcmp(argv[1], "storm") == 0)
		storm(rounds, 0);
	else if (argc > 1 && strcmp(argv[1], "work") == 0)
		storm(rounds, 1);
	else if (argc > 1 && strcmp(argv[1], "pair") == 0)
		pair();
	else
		return fprintf(stderr, "heapload storm|work [ROUNDS] | pair\n") > 0 ? 2 : 1;
	return 0;
}
