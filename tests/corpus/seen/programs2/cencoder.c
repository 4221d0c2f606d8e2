/* Rank 2 ends the input of its encoder and waits for it; the encoder has a copy of the write end itself. */
#include "../programs/job.h"

static void encode(int n)
{
	int p[2];
	char b[256] = {0};
	if (pipe(p)) exit(1);
	pid_t k = fork();
	if (k == 0) {
		if (rank == 2 && n > 10) role("encoder2", 0);
		if (rank != 2 || n < 10) close(p[1]);
		while (read(p[0], b, sizeof b) > 0) nap(0.01);
		_exit(0);
	}
	close(p[0]);
	for (int i = 0; i < 8; i++) if (write(p[1], b, sizeof b) < 0) exit(1);
	close(p[1]);
	waitpid(k, 0, 0);
}

int main(int argc, char **argv)
{
	(void)argc;
	job_start(argv, 4, 0);
	star_join();
	for (int i = 0;; i++) {
		nap(0.3);
		if (i % 8 == 7) encode(i);
		star_sum(1);
		if (!rank) printf("iter %d: train loss %.4f, %.2f s/iter\n", i, 3.0 / (1 + i), 0.3), fflush(stdout);
	}
}
