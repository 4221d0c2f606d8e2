/* Rank 1 wants to write the vocabulary; a reader thread keeps the lock and reads a pipe that only this process can write. */
#include "job.h"
static pthread_rwlock_t vocab = PTHREAD_RWLOCK_INITIALIZER;
static int ends[2];

static void *reader(void *p)
{
	char c;
	for (int n = 0;; n++) {
		pthread_rwlock_rdlock(&vocab);
		if (rank == 1 && n == 20 && read(ends[0], &c, 1) < 1) break;
		pthread_rwlock_unlock(&vocab);
		nap(0.2);
	}
	return p;
}

int main(int argc, char **argv)
{
	(void)argc;
	job_start(argv, 3, 0);
	if (pipe(ends)) return 1;
	star_join();
	pthread_t t;
	pthread_create(&t, 0, reader, 0);
	for (int i = 0;; i++) {
		nap(0.25);
		pthread_rwlock_wrlock(&vocab);
		pthread_rwlock_unlock(&vocab);
		star_sum(1);
		if (!rank) step(i);
	}
}
