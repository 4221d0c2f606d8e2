/* A preparation in C: the parent forks three workers for each round of shards, and waits for a semaphore in shared memory once for each of
 * them. A worker with an empty shard returns early, without sem_post(). Nothing is printed but a first line.
 *
 * slow: it posts; a worker compresses for 67 s. */
#include <fcntl.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

enum { WORKERS = 3, STALL = 20 };

struct shared {
	sem_t done;
	double sums[WORKERS];
};

static bool slow;

static void note(const char *role, pid_t pid)
{
	const char *path = getenv("CORPUS_ROLES");
	FILE *f = path ? fopen(path, "a") : NULL;

	if (!f)
		return;
	fprintf(f, "%s %d\n", role, (int)pid);
	fclose(f);
}

static double clock_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec * 1e-9;
}

static double work(double seconds)
{
	volatile double x = 1;
	double end = clock_s() + seconds;

	while (clock_s() < end) {
		for (int k = 0; k < 1000000; k++)
			x = x * 0.9999 + k;
		usleep(60000);
	}
	return x;
}

static int worker(struct shared *shared, int index, int round)
{
	int rows = index == 1 && round == STALL ? 0 : 100;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (slow && rows == 0)
		work(67);
	else if (rows == 0)
		return 0;
	shared->sums[index] = work(1.0) * rows;
	sem_post(&shared->done);
	return 0;
}

int main(int argc, char **argv)
{
	struct shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	slow = argc > 1 && !strcmp(argv[1], "slow");
	note("main", getpid());
	sem_init(&shared->done, 1, 0);
	puts("preparing shards with 3 workers");
	fflush(stdout);
	for (int round = 0; round < (slow ? STALL + 4 : 1000); round++) {
		pid_t pids[WORKERS];

		for (int w = 0; w < WORKERS; w++) {
			pids[w] = fork();
			if (pids[w] == 0)
				_exit(worker(shared, w, round));
		}
		if (round == STALL)
			note("worker1", pids[1]);
		for (int w = 0; w < WORKERS; w++)
			sem_wait(&shared->done);
		for (int w = 0; w < WORKERS; w++)
			waitpid(pids[w], NULL, 0);
	}
	return 0;
}
