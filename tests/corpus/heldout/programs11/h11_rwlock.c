/* A table of embeddings under a lock that prefers writers. A lookup that misses calls the lookup of the default, which locks for reading once more; in between
   a writer has come, who waits for the first and is before the second. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_rwlock_t lock;
static float table[1024];

static float lookup(int id, int depth)
{
	pthread_rwlock_rdlock(&lock);
	float x = table[id % 1024];
	if (id > 1000 && depth == 0) {
		usleep(300000); /* the miss is noted */
		x = lookup(0, 1);
	}
	pthread_rwlock_unlock(&lock);
	return x;
}

static void *updates(void *unused)
{
	for (int k = 0;; k++) {
		usleep(100000);
		pthread_rwlock_wrlock(&lock);
		table[k % 1024] = k;
		pthread_rwlock_unlock(&lock);
	}
	return unused;
}

static void role(const char *name)
{
	const char *path = getenv("CORPUS_ROLES");
	FILE *f = path ? fopen(path, "a") : NULL;
	if (f) {
		fprintf(f, "%s %d\n", name, (int)getpid());
		fclose(f);
	}
}

int main(void)
{
	pthread_t thread;
	pthread_rwlockattr_t attr;
	role("main");
	pthread_rwlockattr_init(&attr);
	pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&lock, &attr);
	pthread_create(&thread, NULL, updates, NULL);
	for (int k = 0; k < 2000; k += 40) {
		usleep(150000);
		printf("query %d: %.1f\n", k, lookup(k, 0));
		fflush(stdout);
	}
	return 0;
}
