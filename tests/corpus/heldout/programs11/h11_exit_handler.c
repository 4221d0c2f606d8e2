/* A worker thread meets an error and calls exit(1). A handler of the end of the program joins all threads of the prefetcher; one of them waits until main takes
   its batch, and main waits for the worker. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t taken = PTHREAD_COND_INITIALIZER;
static pthread_t prefetcher, worker;
static int batch, stop;

static void *prefetch(void *unused)
{
	pthread_mutex_lock(&lock);
	while (!stop) {
		while (batch)
			pthread_cond_wait(&taken, &lock);
		batch = 1;
	}
	pthread_mutex_unlock(&lock);
	return unused;
}

static void stop_prefetcher(void)
{
	pthread_mutex_lock(&lock);
	stop = 1;
	pthread_mutex_unlock(&lock);
	pthread_join(prefetcher, NULL);
}

static void *work(void *unused)
{
	for (int k = 0; k < 30; k++) {
		usleep(200000);
		pthread_mutex_lock(&lock);
		batch = 0;
		pthread_cond_signal(&taken);
		pthread_mutex_unlock(&lock);
		printf("batch %d\n", k);
		fflush(stdout);
	}
	usleep(50000);
	fprintf(stderr, "worker: loss is not finite, giving up\n");
	exit(1);
	return unused;
}

int main(void)
{
	const char *path = getenv("CORPUS_ROLES");
	FILE *f = path ? fopen(path, "a") : NULL;
	if (f) {
		fprintf(f, "main %d\n", (int)getpid());
		fclose(f);
	}
	atexit(stop_prefetcher);
	pthread_create(&prefetcher, NULL, prefetch, NULL);
	pthread_create(&worker, NULL, work, NULL);
	pthread_join(worker, NULL);
	return 0;
}
