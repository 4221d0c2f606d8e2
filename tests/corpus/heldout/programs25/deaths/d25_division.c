/* A mean over an epoch without a sample. */
#include <stdio.h>
#include <unistd.h>

static int mean(int sum, volatile int *n)
{
	return sum / *n;
}

int main(void)
{
	volatile int n = 10;
	for (int step = 0; step < 60; step += 5) {
		usleep(150000);
		if (step == 50)
			n = 0;
		printf("step %d mean %d\n", step, mean(1000, &n));
		fflush(stdout);
	}
	return 0;
}
