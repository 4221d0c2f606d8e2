// Two ranks and a ring of eight batches in a shared file: rank 1 fills it, rank 0 takes from it. Rank 0 evaluates for
// two seconds at step 40, in which the ring becomes full. Rank 1 knows it by a count and waits for a free place; rank 0
// looks whether head and tail differ, as they do not now, and waits for a batch.
// With "slow" rank 0 looks at the count, and batch 40 takes 48 s.
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PLACES 8

struct ring {
	atomic_int used, head, tail;
	double batch[PLACES];
};

static int slow;

static void put(struct ring *r, double x)
{
	while (atomic_load(&r->used) == PLACES)
		usleep(20000);
	r->batch[atomic_load(&r->head)] = x;
	atomic_fetch_add(&r->used, 1);
	atomic_store(&r->head, (atomic_load(&r->head) + 1) % PLACES);
}

static double take(struct ring *r)
{
	while (slow ? atomic_load(&r->used) == 0 : atomic_load(&r->head) == atomic_load(&r->tail))
		usleep(20000);
	double x = r->batch[atomic_load(&r->tail)];
	atomic_store(&r->tail, (atomic_load(&r->tail) + 1) % PLACES);
	atomic_fetch_sub(&r->used, 1);
	return x;
}

int main(int argc, char **argv)
{
	slow = argc > 1 && !strcmp(argv[1], "slow");
	int rank = atoi(getenv("RANK")), steps = slow ? 60 : 400;
	int fd = open("batches.ring", O_RDWR | O_CREAT, 0644);
	if (fd < 0 || ftruncate(fd, sizeof(struct ring)))
		return 1;
	struct ring *r = mmap(NULL, sizeof *r, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (r == MAP_FAILED)
		return 1;
	for (int step = 0; step < steps; step++) {
		if (rank == 1) {
			usleep(slow && step == 40 ? 48000000 : 180000);
			put(r, step);
			continue;
		}
		double x = take(r);
		usleep(!slow && step == 40 ? 2500000 : 20000);
		if (step % 5 == 0) {
			printf("step %d loss %.4f\n", step, 2.5 / (1 + 0.1 * x));
			fflush(stdout);
		}
	}
}
