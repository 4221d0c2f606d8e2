/* A converter is started by vfork, with its output to a FIFO that somebody should read. It opens the FIFO before exec and waits for a reader; who has called
   vfork stands still until exec, and would itself be the one to start the reader. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void role(const char *name)
{
	const char *path = getenv("CORPUS_ROLES");
	char line[64];
	int fd = path ? open(path, O_WRONLY | O_APPEND | O_CREAT, 0644) : -1;
	if (fd < 0)
		return;
	int n = snprintf(line, sizeof line, "%s %d\n", name, (int)getpid());
	if (write(fd, line, n) != n)
		_exit(1);
	close(fd);
}

static pid_t converter(const char *to)
{
	pid_t pid = vfork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		role("converter");
		int fd = open(to, O_WRONLY);
		dup2(fd, 1);
		execlp("echo", "echo", "converted", NULL);
		_exit(127);
	}
	return pid;
}

int main(void)
{
	char line[100];
	role("main");
	for (int k = 0; k < 12; k++) {
		usleep(250000);
		printf("image %d\n", k);
		fflush(stdout);
	}
	mkfifo("out.fifo", 0600);
	pid_t pid = converter("out.fifo");
	FILE *f = fopen("out.fifo", "r");
	if (f && fgets(line, sizeof line, f))
		printf("%s", line);
	waitpid(pid, NULL, 0);
	return 0;
}
