/* Counts words in shards and then hands all of them to a child that merges the tables, for 50 s; it waits for
   its answer. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void note(const char *role, int pid)
{
	FILE *f = getenv("CORPUS_ROLES") ? fopen(getenv("CORPUS_ROLES"), "a") : NULL;
	if (f) {
		fprintf(f, "%s %d\n", role, pid);
		fclose(f);
	}
}

static void merge(int from, int to)
{
	char table[4096];
	long sum = 0, n;
	while ((n = read(from, table, sizeof table)) > 0)
		sum += n;
	time_t end = time(NULL) + 50;
	while (time(NULL) < end) {
		for (volatile int k = 0; k < 5000000; k = k + 1)
			;
		usleep(90000);
	}
	if (write(to, &sum, sizeof sum) < 0)
		_exit(1);
	_exit(0);
}

int main(void)
{
	int in[2], out[2];
	char table[4096] = "";
	long sum = 0;
	note("main", getpid());
	if (pipe(in) || pipe(out))
		return 1;
	int child = fork();
	if (!child) {
		close(in[1]);
		close(out[0]);
		merge(in[0], out[1]);
	}
	note("merger", child);
	close(in[0]);
	close(out[1]);
	for (int step = 0; step < 60; step++) {
		usleep(140000);
		if (write(in[1], table, sizeof table) < 0)
			return 1;
		if (step % 5 == 0) {
			printf("step %d counted\n", step);
			fflush(stdout);
		}
	}
	close(in[1]);
	if (read(out[0], &sum, sizeof sum) != sizeof sum)
		return 1;
	waitpid(child, NULL, 0);
	printf("merged %ld bytes\n", sum);
	return 0;
}
