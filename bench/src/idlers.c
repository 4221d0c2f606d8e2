/*
 * idlers N: start N processes that sleep, say "READY N", end with them when
 * stdin closes. Something for a guard to find while nothing happens.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/base.h"
#include "base/text.h"

static void idle(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	uint64_t n = 0;
	char byte;

	if (argc != 2 || span_u64(span_of(argv[1]), &n) < 0) {
		fprintf(stderr, "idlers: how many? (idlers N)\n");
		return 2;
	}
	signal(SIGCHLD, SIG_IGN);
	for (uint64_t i = 0; i < n; i++) {
		pid_t p = fork();

		if (p < 0) {
			fprintf(stderr, "idlers: started %lu of %lu: %s\n", i, n, strerror(errno));
			return 1;
		}
		if (p == 0)
			idle();
	}
	printf("READY %lu\n", n);
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	return 0;
}
