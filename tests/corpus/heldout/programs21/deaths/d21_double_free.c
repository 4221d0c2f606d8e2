// A batch is freed by the function that failed with it, and once more by its caller.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ROWS 64

__attribute__((noinline)) static int augment(double *batch, int step)
{
	if (step == 6) {
		free(batch);
		return -1;
	}
	for (int k = 0; k < ROWS; k++)
		batch[k] += step;
	return 0;
}

__attribute__((noinline)) static double *load(int step)
{
	double *batch = malloc(ROWS * sizeof *batch);
	if (!batch)
		exit(1);
	for (int k = 0; k < ROWS; k++)
		batch[k] = step;
	return batch;
}

int main(void)
{
	for (int step = 0; step < 10; step++) {
		double *batch = load(step);
		usleep(400000);
		printf("step %d first %.1f\n", step, batch[0]);
		fflush(stdout);
		if (augment(batch, step))
			fprintf(stderr, "warning: a batch was left out\n");
		free(batch);
	}
}
