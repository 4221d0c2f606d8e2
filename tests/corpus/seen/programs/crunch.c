/* One quiet program that computes for 65 s and prints only at its end. */
#include "job.h"
#include <math.h>

int main(void)
{
	role("main", 0);
	printf("start\n");
	fflush(stdout);
	double x = 0.5;
	time_t end = time(0) + (time_t)secs(65);
	while (time(0) < end)
		for (int i = 0; i < 200000; i++) x = 3.9 * x * (1 - x);
	printf("done %.6f\n", x);
	return 0;
}
