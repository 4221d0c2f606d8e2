/* A loader's thread and a trainer. `credit`: the trainer gives credit for four batches at a time, an `if` stands where a
 * `while` should, and the last credit is signalled before the loader waits: it has counted from the number that it read before it
 * had the lock. `barrier`: a barrier of five for four threads of a worker's group, made after a thread was taken out.
 * `barrier slow`: right count, a thread evaluates for 66 s. Steps are told by the main thread. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER, full = PTHREAD_COND_INITIALIZER;
static int ready, credit = 4, slow;
static pthread_barrier_t per_step, per_epoch;

static void note(const char *name)
{
	const char *path = getenv("CORPUS_ROLES");
	FILE *f = path ? fopen(path, "a") : NULL;
	if (f) {
		fprintf(f, "%s %d\n", name, (int)getpid());
		fclose(f);
	}
}

static void *load(void *arg)
{
	(void)arg;
	for (int k = 0;; k++) {
		int seen = credit;
		usleep(k == 111 ? 400000 : 20000);
		pthread_mutex_lock(&lock);
		if (k == 111 ? seen - k <= 8 : credit <= k)
			pthread_cond_wait(&more, &lock);
		ready++;
		pthread_cond_signal(&full);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static void *member(void *arg)
{
	for (int step = 0; step < (slow ? 125 : 4000); step++) {
		usleep(200000);
		pthread_barrier_wait(&per_step);
		if (!arg && step % 5 == 0) {
			printf("step %d loss %.3f\n", step, 3.0 / (1 + step));
			fflush(stdout);
		}
		if (step == 110) {
			if (slow && arg == (void *)2)
				sleep(66);
			pthread_barrier_wait(&per_epoch);
		}
	}
	return NULL;
}

int main(int n, char **args)
{
	note("main");
	slow = n > 2 && !strcmp(args[2], "slow");
	pthread_t t[4];
	if (!strcmp(args[1], "barrier")) {
		pthread_barrier_init(&per_step, NULL, 4);
		pthread_barrier_init(&per_epoch, NULL, slow ? 4 : 5);
		for (long k = 0; k < 4; k++)
			pthread_create(&t[k], NULL, member, (void *)k);
		for (int k = 0; k < 4; k++)
			pthread_join(t[k], NULL);
		return 0;
	}
	pthread_create(&t[0], NULL, load, NULL);
	for (int step = 0; step < 4000; step++) {
		pthread_mutex_lock(&lock);
		while (ready <= step)
			pthread_cond_wait(&full, &lock);
		if (step < 111) {
			credit = step + 4;
			pthread_cond_signal(&more);
		}
		pthread_mutex_unlock(&lock);
		usleep(200000);
		if (step % 5 == 0) {
			printf("step %d loss %.3f\n", step, 3.0 / (1 + step));
			fflush(stdout);
		}
	}
	return 0;
}
