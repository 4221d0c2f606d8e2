/* Rank 2 asks for a System V semaphore of the shard cache; the cache process took it and pauses. */
#include "job.h"
#include <sys/ipc.h>
#include <sys/sem.h>
static int id;

static void cache(void)
{
	struct sembuf down = {0, -1, 0}, up = {0, 1, 0};
	for (int n = 0;; n++) {
		semop(id, &down, 1);
		if (n == 14) pause();
		nap(0.02);
		semop(id, &up, 1);
		nap(0.3);
	}
}

static void setup(void)
{
	char b[16];
	id = semget(IPC_PRIVATE, 1, 0600);
	semctl(id, 0, SETVAL, 1);
	snprintf(b, sizeof b, "%d", id);
	setenv("SEMID", b, 1);
	pid_t p = job_helper("cache", cache);
	if (fork() == 0) {          /* removes the semaphore when the job has gone */
		pid_t boss = getppid();
		signal(SIGTERM, SIG_DFL);
		while (getppid() == boss) nap(0.5);
		semctl(id, 0, IPC_RMID);
		kill(p, SIGKILL);
		_exit(0);
	}
}

int main(int argc, char **argv)
{
	(void)argc;
	job_start(argv, 4, setup);
	services(1);
	id = atoi(getenv("SEMID"));
	struct sembuf down = {0, -1, 0}, up = {0, 1, 0};
	star_join();
	for (int i = 0;; i++) {
		nap(0.25);
		if (rank == 2) { semop(id, &down, 1); semop(id, &up, 1); }
		star_sum(1);
		if (!rank) step(i);
	}
}
