/* A batch is given back by the loader and by the trainer. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct batch {
	float *x;
};

__attribute__((noinline)) static void release(struct batch *b)
{
	free(b->x);
}

int main(void)
{
	for (int k = 0; k < 40; k++) {
		struct batch b = {malloc(200)};
		usleep(120000);
		b.x[k] = k;
		printf("batch %d of %p\n", k, (void *)b.x);
		fflush(stdout);
		release(&b);
		if (k == 18)
			release(&b);
	}
	return 0;
}
