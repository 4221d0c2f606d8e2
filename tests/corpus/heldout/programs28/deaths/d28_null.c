/* A table of a split that is not there is read. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const float *split(const char *name)
{
	static const float train[4] = { 1, 2, 3, 4 };
	return strcmp(name, "train") ? NULL : train;
}

int main(void)
{
	volatile float sum = 0;
	for (int step = 0; step < 40; step++) {
		usleep(100000);
		sum += split(step < 30 ? "train" : "validation")[step % 4];
		if (step % 5 == 0)
			printf("step %d loss %.3f\n", step, 2.0 / (1 + step));
		fflush(stdout);
	}
	return 0;
}
