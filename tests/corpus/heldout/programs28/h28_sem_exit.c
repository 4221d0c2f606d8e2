/* Four forked workers add to a table in shared memory, under a semaphore of one place. Worker 2 meets a bad record and leaves by
 * exit(0) between sem_wait and sem_post; the others wait for the place, the parent for its children.
 * slow: worker 2 builds an index under the semaphore for 66 s. */
#define _GNU_SOURCE
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct table {
	sem_t place;
	double sum;
};

static void note(const char *name)
{
	const char *path = getenv("CORPUS_ROLES");
	FILE *f = path ? fopen(path, "a") : NULL;
	if (f) {
		fprintf(f, "%s %d\n", name, (int)getpid());
		fclose(f);
	}
}

static void work(struct table *table, int me, int slow)
{
	char name[16];
	snprintf(name, sizeof name, "worker%d", me);
	note(name);
	for (int step = 0; step < (slow ? 125 : 4000); step++) {
		usleep(200000);
		sem_wait(&table->place);
		if (me == 2 && step == 110) {
			if (!slow)
				exit(0);
			sleep(66);
		}
		table->sum += step;
		sem_post(&table->place);
		if (me == 0 && step % 5 == 0) {
			printf("worker 0: record %d of 4000, mean %.2f\n", step, table->sum / (step + 1));
			fflush(stdout);
		}
	}
	exit(0);
}

int main(int n, char **args)
{
	note("main");
	struct table *table = mmap(NULL, sizeof *table, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	sem_init(&table->place, 1, 1);
	for (int k = 0; k < 4; k++) {
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, 9);
			work(table, k, n > 1 && !strcmp(args[1], "slow"));
		}
	}
	while (wait(NULL) > 0) {
	}
	return 0;
}
