/* Three ranks, forked, with a pipe into each. Rank 0 adds up and sends back. Every 40 steps rank 0 saves, and
   the barrier behind stands inside the branch of rank 0: it waits for the others' letters "b", they are at
   the next sum, whose letters it takes for those of the barrier, and then for an answer that rank 0 would
   give. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>

enum { WORLD = 3 };
static int to[WORLD][2];
struct letter { char kind; int rank; double x; };

static void note(const char *role, int number, int pid)
{
	FILE *f = getenv("CORPUS_ROLES") ? fopen(getenv("CORPUS_ROLES"), "a") : NULL;
	if (!f)
		return;
	if (number < 0)
		fprintf(f, "%s %d\n", role, pid);
	else
		fprintf(f, "%s%d %d\n", role, number, pid);
	fclose(f);
}

static void put(int rank, struct letter l)
{
	if (write(to[rank][1], &l, sizeof l) != sizeof l)
		exit(1);
}

static struct letter take(int rank)
{
	struct letter l;
	if (read(to[rank][0], &l, sizeof l) != sizeof l)
		exit(1);
	return l;
}

static double all_reduce(int rank, double x)
{
	if (rank) {
		put(0, (struct letter){'s', rank, x});
		return take(rank).x;
	}
	for (int r = 1; r < WORLD; r++)
		x += take(0).x;
	for (int r = 1; r < WORLD; r++)
		put(r, (struct letter){'s', 0, x});
	return x;
}

static void barrier(int rank)
{
	if (rank) {
		put(0, (struct letter){'b', rank, 0});
		take(rank);
		return;
	}
	for (int met = 0; met < WORLD - 1; met += take(0).kind == 'b')
		;
	for (int r = 1; r < WORLD; r++)
		put(r, (struct letter){'b', 0, 0});
}

static void save(int step)
{
	printf("saving model_%d.bin\n", step);
	fflush(stdout);
	usleep(300000);
}

static int train(int rank)
{
	double loss = 0;
	for (int step = 0; step < 200; step++) {
		usleep(150000);
		loss = all_reduce(rank, 1.0 / (step + 1));
		if (rank == 0) {
			printf("step %d loss %f\n", step, loss);
			fflush(stdout);
			if (step == 60) {
				save(step);
				barrier(rank);
			}
		}
	}
	return 0;
}

int main(void)
{
	note("launcher", -1, getpid());
	for (int r = 0; r < WORLD; r++)
		if (pipe(to[r]))
			return 1;
	for (int r = 0; r < WORLD; r++) {
		int pid = fork();
		if (!pid) {
			char number[8];
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			snprintf(number, sizeof number, "%d", r);
			setenv("RANK", number, 1);
			_exit(train(r));
		}
		note("rank", r, pid);
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
