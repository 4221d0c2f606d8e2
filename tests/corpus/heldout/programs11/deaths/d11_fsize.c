/* The system lets no file grow over 4 MiB; a checkpoint is larger. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

int main(void)
{
	struct rlimit limit = {4 << 20, 4 << 20};
	char *block = malloc(1 << 20);
	setrlimit(RLIMIT_FSIZE, &limit);
	for (int k = 0; k < 12; k++) {
		printf("step %d\n", k);
		fflush(stdout);
		usleep(150000);
	}
	FILE *f = tmpfile();
	if (!block || !f)
		return 1;
	memset(block, 7, 1 << 20);
	for (int k = 0; k < 16; k++) {
		fwrite(block, 1, 1 << 20, f);
		fflush(f);
	}
	puts("checkpoint written");
	return 0;
}
