// An assertion of a kernel of its own.
#include <assert.h>
#include <stdio.h>
#include <unistd.h>

static int heads(int width, int n)
{
	assert(width % n == 0 && "width has to be a multiple of heads");
	return width / n;
}

int main(void)
{
	for (int step = 0; step < 30; step++) {
		usleep(100000);
		if (step % 5 == 0)
			printf("step %d loss %.3f\n", step, 1.0 / (step + 1)), fflush(stdout);
	}
	return heads(770, 12);
}
