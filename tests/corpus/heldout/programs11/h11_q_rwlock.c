/* A snapshot of a table is written under its lock for reading, which takes 50 s. Who wants to write waits, and readers wait behind it. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_rwlock_t lock;
static volatile int last;

static void *updates(void *unused)
{
	while (!last) {
		usleep(100000);
		pthread_rwlock_wrlock(&lock);
		pthread_rwlock_unlock(&lock);
	}
	return unused;
}

static void *snapshot(void *unused)
{
	sleep(6);
	pthread_rwlock_rdlock(&lock);
	sleep(50);
	pthread_rwlock_unlock(&lock);
	return unused;
}

int main(void)
{
	const char *path = getenv("CORPUS_ROLES");
	FILE *f = path ? fopen(path, "a") : NULL;
	pthread_t a, b;
	pthread_rwlockattr_t attr;
	if (f) {
		fprintf(f, "main %d\n", (int)getpid());
		fclose(f);
	}
	pthread_rwlockattr_init(&attr);
	pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&lock, &attr);
	pthread_create(&a, NULL, updates, NULL);
	pthread_create(&b, NULL, snapshot, NULL);
	for (int k = 0; k < 50; k++) {
		usleep(250000);
		pthread_rwlock_rdlock(&lock);
		printf("query %d\n", k);
		fflush(stdout);
		pthread_rwlock_unlock(&lock);
	}
	last = 1;
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
