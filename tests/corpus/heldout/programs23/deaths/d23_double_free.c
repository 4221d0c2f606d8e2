/* A buffer that two owners give back. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void *pinned[4];

static void release(int which) {
	free(pinned[which]);
}

int main(void) {
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int k = 0; k < 4; k++)
		pinned[k] = malloc(256);
	for (int step = 0; step < 200; step++) {
		usleep(100000);
		if (step % 5 == 0)
			printf("step %d loss %.3f\n", step, 2.0 / (1 + step));
		if (step == 20)
			for (int k = 0; k < 5; k++)
				release(k % 4);
	}
	return 0;
}
