/* A thread of four reads the table under a read lock, sees that it has to grow and takes the write lock as well. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_rwlock_t table = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
static long rows, size = 100;

static void *feed(void *number)
{
	for (;;) {
		pthread_rwlock_rdlock(&table);
		if (__atomic_add_fetch(&rows, 1, __ATOMIC_SEQ_CST) > size && (long)number == 3) {
			pthread_rwlock_wrlock(&table);
			size *= 2;
			pthread_rwlock_unlock(&table);
		}
		usleep(150000);
		pthread_rwlock_unlock(&table);
		usleep(20000);
	}
	return NULL;
}

static void note(const char *role)
{
	FILE *f = getenv("CORPUS_ROLES") ? fopen(getenv("CORPUS_ROLES"), "a") : NULL;
	if (!f)
		return;
	fprintf(f, "%s %d\n", role, getpid());
	fclose(f);
}

int main(void)
{
	note("main");
	pthread_t crew[4];
	for (long n = 0; n < 4; n++)
		pthread_create(&crew[n], NULL, feed, (void *)n);
	for (int n = 0;; n++) {
		usleep(500000);
		pthread_rwlock_rdlock(&table);
		printf("rows %ld of %ld\n", rows, size);
		fflush(stdout);
		pthread_rwlock_unlock(&table);
	}
}
