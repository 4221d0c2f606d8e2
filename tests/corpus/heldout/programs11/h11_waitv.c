/* A scheduler of two streams waits by futex_waitv until one of them has moved on. Workers wake its word only if the count of sleepers is not zero, which this way
   of waiting forgets to raise. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct stream {
	_Atomic uint32_t done, sleepers;
	int batches;
};
static struct stream streams[2];

static void *worker(void *arg)
{
	struct stream *s = arg;
	for (int k = 0; k < s->batches; k++) {
		usleep(200000);
		atomic_fetch_add(&s->done, 1);
		if (atomic_load(&s->sleepers))
			syscall(SYS_futex, &s->done, FUTEX_WAKE, 1, NULL, NULL, 0);
	}
	return NULL;
}

static void wait_one(struct stream *s, uint32_t seen)
{
	atomic_fetch_add(&s->sleepers, 1);
	while (atomic_load(&s->done) == seen)
		syscall(SYS_futex, &s->done, FUTEX_WAIT, seen, NULL, NULL, 0);
	atomic_fetch_sub(&s->sleepers, 1);
}

static void wait_any(uint32_t *seen)
{
	struct futex_waitv w[2];
	memset(w, 0, sizeof w);
	for (int k = 0; k < 2; k++) {
		w[k].uaddr = (uintptr_t)&streams[k].done;
		w[k].val = seen[k];
		w[k].flags = FUTEX_32;
	}
	syscall(449, w, 2, 0, NULL, 0);
}

int main(void)
{
	const char *path = getenv("CORPUS_ROLES");
	FILE *f = path ? fopen(path, "a") : NULL;
	pthread_t t;
	uint32_t seen[2] = {0, 0};
	if (f) {
		fprintf(f, "main %d\n", (int)getpid());
		fclose(f);
	}
	for (int k = 0; k < 2; k++) {
		streams[k].batches = 200;
		pthread_create(&t, NULL, worker, &streams[k]);
	}
	for (int step = 0; step < 200; step++) {
		if (step < 20)
			wait_one(&streams[0], seen[0]);
		else
			wait_any(seen);
		for (int k = 0; k < 2; k++)
			seen[k] = atomic_load(&streams[k].done);
		printf("step %d: streams at %u %u\n", step, seen[0], seen[1]);
		fflush(stdout);
	}
	return 0;
}
