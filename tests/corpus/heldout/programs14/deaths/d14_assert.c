/* A batch has one row less than the kernel was written for. */
#include <assert.h>
#include <stdio.h>
#include <unistd.h>

static double forward(int rows)
{
	assert(rows % 8 == 0 && "batch must be padded to 8 rows");
	return 1.0 / rows;
}

int main(void)
{
	double sum = 0;
	for (int k = 0; k < 100; k++) {
		sum += forward(k == 70 ? 31 : 32);
		if (k % 5 == 0)
			printf("step %d loss %f\n", k, sum);
		fflush(stdout);
		usleep(100000);
	}
	return 0;
}
