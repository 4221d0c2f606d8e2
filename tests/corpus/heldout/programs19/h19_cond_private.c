/* Two ranks share a ring of batches with a mutex and two conditions in shared memory, which rank 0 sets up as for
 * threads of one process: a signal wakes nobody in another process. Rank 1 compiles at first, and there is always a
 * batch for it; when it has caught up it waits at the condition. Rank 0 goes on until the ring is full, and waits
 * too. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { SLOTS = 24 };

struct ring {
	pthread_mutex_t lock;
	pthread_cond_t filled, taken;
	int count, head;
	double batches[SLOTS];
};

static void pause_for(double seconds)
{
	struct timespec t = { (time_t)seconds, (long)((seconds - (time_t)seconds) * 1e9) };
	nanosleep(&t, NULL);
}

static void put(struct ring *r, double batch)
{
	pthread_mutex_lock(&r->lock);
	while (r->count == SLOTS)
		pthread_cond_wait(&r->taken, &r->lock);
	r->batches[(r->head + r->count++) % SLOTS] = batch;
	pthread_cond_signal(&r->filled);
	pthread_mutex_unlock(&r->lock);
}

static double take(struct ring *r)
{
	pthread_mutex_lock(&r->lock);
	while (r->count == 0)
		pthread_cond_wait(&r->filled, &r->lock);
	double batch = r->batches[r->head];
	r->head = (r->head + 1) % SLOTS;
	r->count--;
	pthread_cond_signal(&r->taken);
	pthread_mutex_unlock(&r->lock);
	return batch;
}

int main(void)
{
	int rank = atoi(getenv("RANK")), fd;
	char name[64];

	snprintf(name, sizeof name, "/h19-ring-%s", getenv("MASTER_PORT"));
	if (rank == 0) {
		fd = shm_open(name, O_RDWR | O_CREAT, 0600);
		if (ftruncate(fd, sizeof(struct ring)))
			return 1;
	} else {
		while ((fd = shm_open(name, O_RDWR, 0600)) < 0)
			pause_for(0.05);
		pause_for(0.5);
	}
	struct ring *r = mmap(NULL, sizeof *r, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (rank == 0) {
		pthread_mutex_init(&r->lock, NULL);
		pthread_cond_init(&r->filled, NULL);
		pthread_cond_init(&r->taken, NULL);
		for (int step = 0;; step++) {
			pause_for(0.2);
			put(r, 0.5 * step);
		}
	}
	shm_unlink(name);
	pause_for(3.5);
	for (int step = 0;; step++) {
		double loss = 2.5 / (1 + take(r));
		pause_for(0.12);
		if (step % 5 == 0) {
			printf("step %d loss %.4f\n", step, loss);
			fflush(stdout);
		}
	}
}
