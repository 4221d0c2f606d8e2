/* A dump of features grows over the limit of a file's size, which is 2 MiB here. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

int main(void)
{
	struct rlimit limit = { 2 << 20, 2 << 20 };
	static char block[1 << 16];
	FILE *out;

	setrlimit(RLIMIT_FSIZE, &limit);
	signal(SIGXFSZ, SIG_DFL);
	out = fopen("features.bin", "w");
	if (!out)
		return 1;
	memset(block, 'x', sizeof block);
	for (int step = 0; step < 1000; step++) {
		fwrite(block, sizeof block, 1, out);
		fflush(out);
		if (step % 5 == 0)
			printf("step %d dumped\n", step);
		fflush(stdout);
		usleep(60000);
	}
	return 0;
}
