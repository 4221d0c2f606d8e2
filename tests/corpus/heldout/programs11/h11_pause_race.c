/* A feeder fills a buffer and sends SIGUSR1. Main looks at the flag that the handler sets, writes a line, and calls pause; the signal has come in between. The
   feeder waits for the word that the buffer is free. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static volatile sig_atomic_t full;

static void on_full(int sig)
{
	full = sig;
}

static void role(const char *name)
{
	const char *path = getenv("CORPUS_ROLES");
	FILE *f = path ? fopen(path, "a") : NULL;
	if (f) {
		fprintf(f, "%s %d\n", name, (int)getpid());
		fclose(f);
	}
}

static void feeder(int go)
{
	char c;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	role("feeder");
	while (read(go, &c, 1) == 1) {
		usleep(120000); /* reads the batch */
		kill(getppid(), SIGUSR1);
	}
	_exit(0);
}

int main(void)
{
	int go[2];
	role("main");
	signal(SIGUSR1, on_full);
	if (pipe(go))
		return 1;
	if (fork() == 0) {
		close(go[1]);
		feeder(go[0]);
	}
	close(go[0]);
	for (int k = 0; k < 200; k++) {
		full = 0;
		if (write(go[1], "g", 1) != 1)
			return 1;
		while (!full) {
			if (k % 25 == 24)
				usleep(120000 - 20000); /* a line of the log goes to a slow disk */
			if (k % 25 == 24 && !full) {
				for (volatile long x = 0; x < 60000000; x++)
					;
			}
			pause();
		}
		printf("batch %d\n", k);
		fflush(stdout);
	}
	return 0;
}
