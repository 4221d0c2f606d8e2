/* A check of an allocator's kind: a block's canary is not what it was; it says so and aborts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
	char *block = malloc(64);
	memset(block, 0x5a, 64);
	for (int step = 0; step < 30; step++) {
		usleep(100000);
		if (step % 5 == 0)
			printf("step %d loss %.3f\n", step, 2.0 / (1 + step));
		fflush(stdout);
	}
	block[63] = 0;
	if (block[63] != 0x5a) {
		fprintf(stderr, "arena: canary of block 17 overwritten\n");
		abort();
	}
	return 0;
}
