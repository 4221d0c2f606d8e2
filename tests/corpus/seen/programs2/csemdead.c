/* Rank 2 shares a semaphore with a cutting process, which is killed while it has it. Prints nothing. */
#include "../programs/job.h"

static void cut(sem_t *s)
{
	for (int n = 0;; n++) {
		sem_wait(s);
		nap(0.1);
		if (n == 30) kill(getpid(), SIGKILL);
		sem_post(s);
		nap(0.2);
	}
}

int main(int argc, char **argv)
{
	(void)argc;
	job_start(argv, 3, 0);
	star_join();
	sem_t *s = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	sem_init(s, 1, 1);
	if (rank == 2 && fork() == 0) { role("cutter2", 0); cut(s); }
	for (;;) {
		sem_wait(s);
		nap(0.05);
		sem_post(s);
		nap(0.3);
		star_sum(1);
	}
}
