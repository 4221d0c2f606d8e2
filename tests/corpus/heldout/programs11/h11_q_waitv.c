/* A scheduler waits by futex_waitv for one of two streams; one has ended, the other has a long batch of 52 s. */
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

static _Atomic uint32_t done[2];
static const int batches[2] = {8, 30};

static void *stream(void *arg)
{
	int me = *(const int *)arg == batches[1];
	for (int k = 0; k < batches[me]; k++) {
		usleep(me && k == 20 ? 52000000 : 300000);
		atomic_fetch_add(&done[me], 1);
		syscall(SYS_futex, &done[me], FUTEX_WAKE, 8, NULL, NULL, 0);
	}
	return NULL;
}

int main(void)
{
	const char *path = getenv("CORPUS_ROLES");
	FILE *f = path ? fopen(path, "a") : NULL;
	pthread_t t[2];
	uint32_t seen[2] = {0, 0};
	struct futex_waitv w[2];
	if (f) {
		fprintf(f, "main %d\n", (int)getpid());
		fclose(f);
	}
	memset(w, 0, sizeof w);
	for (int k = 0; k < 2; k++)
		pthread_create(&t[k], NULL, stream, (void *)&batches[k]);
	while (seen[0] + seen[1] < 38) {
		for (int k = 0; k < 2; k++)
			w[k] = (struct futex_waitv){.uaddr = (uintptr_t)&done[k], .val = seen[k], .flags = FUTEX_32};
		syscall(449, w, 2, 0, NULL, 0);
		for (int k = 0; k < 2; k++)
			seen[k] = atomic_load(&done[k]);
		printf("streams at %u %u\n", seen[0], seen[1]);
		fflush(stdout);
	}
	return 0;
}
