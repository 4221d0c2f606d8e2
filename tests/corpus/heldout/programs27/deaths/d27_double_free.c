// A buffer is given back twice, once on the path of errors and once at the end.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void batch(int step)
{
	char *volatile pixels = malloc(64);
	if (step == 30)
		free(pixels);
	free(pixels);
}

int main(void)
{
	for (int step = 0; step < 60; step++) {
		usleep(100000);
		batch(step);
		if (step % 5 == 0)
			printf("step %d\n", step), fflush(stdout);
	}
	return 0;
}
