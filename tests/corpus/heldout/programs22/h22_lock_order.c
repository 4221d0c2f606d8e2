// A service that keeps counts of features. The training thread locks the table and then the statistics; the thread that writes a
// snapshot locks the statistics and then the table. At a snapshot both have one and want the other one.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER, statistics = PTHREAD_MUTEX_INITIALIZER;
static long counts[256], updates;

static void role(const char *name) {
	const char *path = getenv("CORPUS_ROLES");
	if (!path)
		return;
	FILE *f = fopen(path, "a");
	fprintf(f, "%s %d\n", name, getpid());
	fclose(f);
}

static void update(int step) {
	pthread_mutex_lock(&table);
	counts[step % 256]++;
	usleep(180000);
	pthread_mutex_lock(&statistics);
	updates++;
	pthread_mutex_unlock(&statistics);
	pthread_mutex_unlock(&table);
}

static void *snapshots(void *unused) {
	(void)unused;
	for (int n = 0;; n++) {
		sleep(7);
		pthread_mutex_lock(&statistics);
		FILE *f = fopen("snapshot", "w");
		fprintf(f, "%ld\n", updates);
		pthread_mutex_lock(&table);
		fwrite(counts, sizeof counts, 1, f);
		pthread_mutex_unlock(&table);
		fclose(f);
		pthread_mutex_unlock(&statistics);
	}
	return NULL;
}

int main(void) {
	role("main");
	setvbuf(stdout, NULL, _IOLBF, 0);
	pthread_t thread;
	pthread_create(&thread, NULL, snapshots, NULL);
	for (int step = 0; step < 2000; step++) {
		update(step);
		usleep(5000);
		if (step % 5 == 0)
			printf("step %d updates %ld\n", step, updates);
	}
	return 0;
}
