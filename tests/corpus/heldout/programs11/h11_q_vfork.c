/* A converter is started by vfork and opens its FIFO before exec; the archive that reads it is busy for 52 s and then comes. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void role(const char *name, int pid)
{
	const char *path = getenv("CORPUS_ROLES");
	FILE *f = path ? fopen(path, "a") : NULL;
	if (f) {
		fprintf(f, "%s %d\n", name, pid);
		fclose(f);
	}
}

static void archive(const char *from)
{
	char line[100];
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sleep(56);
	FILE *f = fopen(from, "r");
	while (f && fgets(line, sizeof line, f))
		;
	_exit(0);
}

int main(void)
{
	mkfifo("out.fifo", 0600);
	role("main", getpid());
	pid_t reader = fork();
	if (reader == 0)
		archive("out.fifo");
	role("archive", reader);
	for (int k = 0; k < 12; k++) {
		usleep(300000);
		printf("image %d\n", k);
		fflush(stdout);
	}
	pid_t pid = vfork();
	if (pid == 0) {
		dup2(open("out.fifo", O_WRONLY), 1);
		execlp("echo", "echo", "converted", NULL);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
	waitpid(reader, NULL, 0);
	for (int k = 0; k < 10; k++) {
		usleep(300000);
		printf("indexed %d\n", k);
		fflush(stdout);
	}
	return 0;
}
