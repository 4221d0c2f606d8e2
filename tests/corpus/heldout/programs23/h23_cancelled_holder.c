// A training with a thread that writes statistics every two seconds. Before each evaluation the thread is cancelled and
// afterwards started anew; one time it is cancelled while it has the lock of the statistics, which nobody gives back.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long updates;
static volatile int writing;

static void role(const char *name) {
	const char *path = getenv("CORPUS_ROLES");
	if (!path)
		return;
	FILE *f = fopen(path, "a");
	fprintf(f, "%s %d\n", name, getpid());
	fclose(f);
}

static void *write_always(void *unused) {
	(void)unused;
	for (;;) {
		sleep(2);
		pthread_mutex_lock(&lock);
		writing = 1;
		FILE *f = fopen("statistics", "w");
		fprintf(f, "%ld\n", updates);
		fclose(f);
		usleep(updates > 30 ? 900000 : 1000);
		writing = 0;
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static void update(void) {
	pthread_mutex_lock(&lock);
	updates++;
	pthread_mutex_unlock(&lock);
}

int main(void) {
	pthread_t writer;
	role("main");
	setvbuf(stdout, NULL, _IOLBF, 0);
	pthread_create(&writer, NULL, write_always, NULL);
	for (int step = 0; step < 2000; step++) {
		usleep(180000);
		update();
		if (step % 5 == 0)
			printf("step %d updates %ld\n", step, updates);
		if (step % 34 == 33) {
			while (!writing)
				usleep(20000);
			pthread_cancel(writer);
			pthread_join(writer, NULL);
			pthread_create(&writer, NULL, write_always, NULL);
		}
	}
	return 0;
}
