// A trainer forks a process that reads records for it and writes them into a pipe. It has not closed the pipe's end for
// writing in itself, so the pipe has no end when that process has left: it waits for another record.
// With "slow" it has, and a record comes after 48 s.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void role(const char *name)
{
	const char *path = getenv("CORPUS_ROLES");
	FILE *f = path ? fopen(path, "a") : NULL;
	if (f) {
		fprintf(f, "%s %d\n", name, (int)getpid());
		fclose(f);
	}
}

static void feed(int to, int slow)
{
	for (int k = 0; k < 60; k++) {
		double record[64] = {k};
		usleep(slow && k == 40 ? 48000000 : 200000);
		if (write(to, record, sizeof record) != sizeof record)
			_exit(1);
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	int ends[2], slow = argc > 1 && !strcmp(argv[1], "slow"), step = 0;
	double record[64];
	role("main");
	if (pipe(ends))
		return 1;
	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		role("feeder");
		feed(ends[1], slow);
	}
	if (slow)
		close(ends[1]);
	while (read(ends[0], record, sizeof record) == sizeof record) {
		if (step % 5 == 0) {
			printf("step %d loss %.4f\n", step, 2.5 / (1 + 0.1 * record[0]));
			fflush(stdout);
		}
		step++;
	}
	wait(NULL);
	printf("%d steps\n", step);
}
