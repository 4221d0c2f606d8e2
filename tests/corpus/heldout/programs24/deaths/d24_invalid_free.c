// A buffer's start was moved on while it was read, and is given back where it stands.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(void) {
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int step = 0; step < 60; step++) {
		usleep(100000);
		char *text = calloc(1, 4096);
		char *at = text;
		while (step > 22 && at < text + 24)
			at++;
		free(at);
		if (step % 5 == 0)
			printf("step %d rows %d\n", step, 8 * step);
	}
	return 0;
}
