// Two processes share features and labels, each behind a SysV semaphore. The reader takes features, then labels; the process
// that deals anew takes labels, then features. Nothing is printed.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/wait.h>
#include <unistd.h>

static int set;

static void role(const char *name)
{
	const char *path = getenv("CORPUS_ROLES");
	if (!path)
		return;
	FILE *f = fopen(path, "a");
	fprintf(f, "%s %d\n", name, getpid());
	fclose(f);
}

static void change(int which, int by)
{
	struct sembuf op = {.sem_num = which, .sem_op = by};
	semop(set, &op, 1);
}

static void both(int first, int second, int pause)
{
	change(first, -1);
	usleep(pause);
	change(second, -1);
	usleep(1000);
	change(second, 1);
	change(first, 1);
}

static volatile sig_atomic_t ended;

static void end(int signal)
{
	(void)signal;
	ended = 1;
}

int main(void)
{
	role("main");
	set = semget(IPC_PRIVATE, 2, 0600);
	change(0, 1);
	change(1, 1);
	signal(SIGTERM, end);
	pid_t child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		signal(SIGTERM, SIG_DFL);
		role("dealer");
		for (int k = 0;; k++) {
			usleep(310000);
			both(1, 0, k < 50 ? 0 : 150000);
		}
	}
	for (int step = 0; step < 3000 && !ended; step++) {
		usleep(150000);
		both(0, 1, step < 100 ? 0 : 100000);
	}
	waitpid(child, NULL, 0);
	semctl(set, 0, IPC_RMID);
	return 0;
}
