/*
 * A job in C whose ranks meet in each step by going round in a loop (mpispin.c): mpislow SHARED SLOW. Rank 1 sleeps in
 * each step as soon as the file SLOW is there. SHARED: a file that all ranks map.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "tests/tool/mpispin.h"

static void nap(long ms)
{
	struct timespec t = {.tv_nsec = ms * 1000000};
	(void)nanosleep(&t, NULL);
}

int main(int argc, char **argv)
{
	const char *rank = getenv("RANK"), *ranks = getenv("WORLD_SIZE");
	long n_ranks = ranks ? strtol(ranks, NULL, 10) : 0;
	if (argc != 3 || !rank || n_ranks < 1)
		return 2;
	int fd = open(argv[1], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, 4096) < 0)
		return 3;
	volatile uint32_t *come = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (come == MAP_FAILED)
		return 3;
	for (uint32_t step = 1; step < 100000; step++) {
		nap(100);
		if (strcmp(rank, "1") == 0 && access(argv[2], F_OK) == 0)
			nap(300);
		mpispin_meet(come, (uint32_t)n_ranks, step);
		printf("step %u/100000 loss 0.5\n", step);
		(void)fflush(stdout);
	}
	return 0;
}
