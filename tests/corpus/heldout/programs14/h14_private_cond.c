/* A process that decodes and a trainer share a ring of 64 places in memory, with a mutex that was made for
   two processes and conditions that were not. As long as nobody has to wait it is well. The trainer gets
   faster and waits for a batch: it is never woken, and the other one fills the ring and waits for a place. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PLACES = 64 };
struct ring { pthread_mutex_t lock; pthread_cond_t filled, freed; long put, taken; int batch[PLACES]; };
static struct ring *ring;

static void note(const char *role, int pid)
{
	FILE *f = getenv("CORPUS_ROLES") ? fopen(getenv("CORPUS_ROLES"), "a") : NULL;
	if (f) {
		fprintf(f, "%s %d\n", role, pid);
		fclose(f);
	}
}

static void put(int batch)
{
	pthread_mutex_lock(&ring->lock);
	while (ring->put - ring->taken == PLACES)
		pthread_cond_wait(&ring->freed, &ring->lock);
	ring->batch[ring->put++ % PLACES] = batch;
	pthread_cond_signal(&ring->filled);
	pthread_mutex_unlock(&ring->lock);
}

static int take(void)
{
	pthread_mutex_lock(&ring->lock);
	while (ring->put == ring->taken)
		pthread_cond_wait(&ring->filled, &ring->lock);
	int batch = ring->batch[ring->taken++ % PLACES];
	pthread_cond_signal(&ring->freed);
	pthread_mutex_unlock(&ring->lock);
	return batch;
}

int main(void)
{
	pthread_mutexattr_t shared;
	ring = mmap(NULL, sizeof *ring, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_init(&shared);
	pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&ring->lock, &shared);
	pthread_cond_init(&ring->filled, NULL);
	pthread_cond_init(&ring->freed, NULL);
	note("main", getpid());
	int decoder = fork();
	if (!decoder) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (int k = 0; k < 5000; k++) {
			usleep(110000);
			put(k);
		}
		_exit(0);
	}
	note("decoder", decoder);
	sleep(1);
	for (int step = 0; step < 5000; step++) {
		int batch = take();
		usleep(step < 60 ? 150000 : 20000);
		if (step % 5 == 0)
			printf("step %d batch %d\n", step, batch);
		fflush(stdout);
	}
	waitpid(decoder, NULL, 0);
	return 0;
}
