// Three ranks compile kernels with two slots, a semaphore in shared memory. Who cannot compile a kernel says so and goes on
// without giving its slot back; that happens to ranks 0 and 2.
//
// slow: the slot is given back; rank 1 and rank 2 compile for 66 s, rank 0 waits for a slot.
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <signal.h>

static int slow;
static sem_t *slots;

static void role(const char *name, int n)
{
	const char *path = getenv("CORPUS_ROLES");
	if (!path)
		return;
	FILE *f = fopen(path, "a");
	fprintf(f, n < 0 ? "%s" : "%s%d", name, n);
	fprintf(f, " %d\n", getpid());
	fclose(f);
}

static int compile(int rank, int step)
{
	usleep(60000);
	if (slow && step == 90 && rank > 0)
		sleep(66);
	if (!slow && (step == 60 + 15 * rank) && rank != 1) {
		fprintf(stderr, "rank %d: kernel_%d: register spill, falling back\n", rank, step);
		return -1;
	}
	return 0;
}

static void train(int rank)
{
	role("rank", rank);
	for (int step = 0; step < (slow ? 110 : 3000); step++) {
		if (slow && step == 90 && rank == 0)
			usleep(500000);
		sem_wait(slots);
		if (compile(rank, step) < 0)
			continue;
		sem_post(slots);
		usleep(150000);
		if (rank == 0 && step % 10 == 0) {
			printf("step %d loss %.3f\n", step, 2.0 / (1 + step));
			fflush(stdout);
		}
	}
}

int main(int argc, char **argv)
{
	slow = argc > 1 && !strcmp(argv[1], "slow");
	slots = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	sem_init(slots, 1, 2);
	role("launcher", -1);
	for (int rank = 0; rank < 3; rank++)
		if (fork() == 0) {
			char number[4];
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			snprintf(number, sizeof number, "%d", rank);
			setenv("RANK", number, 1);
			train(rank);
			exit(0);
		}
	while (wait(NULL) > 0)
		;
	return 0;
}
