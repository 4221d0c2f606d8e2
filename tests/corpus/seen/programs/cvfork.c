/* Rank 1 runs its hook through vfork; the hook opens a FIFO that has no reader before it executes. */
#include "job.h"
#include <sys/prctl.h>
#include <sys/stat.h>
static char path[80];

static void hook(int i)
{
	pid_t p = vfork();
	if (p == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (i == 12) {
			int fd = open(path, O_WRONLY);
			dup2(fd, 1);
		}
		execl("/bin/true", "true", (char *)0);
		_exit(1);
	}
	waitpid(p, 0, 0);
}

int main(int argc, char **argv)
{
	(void)argc;
	job_start(argv, 3, 0);
	star_join();
	if (rank == 1) {
		snprintf(path, sizeof path, "/dev/shm%s.hook", getenv("JOB_SHM"));
		mkfifo(path, 0600);
	}
	for (int i = 0;; i++) {
		nap(0.3);
		if (rank == 1 && i % 6 == 0) hook(i);
		star_sum(1);
		if (!rank) step(i);
	}
}
