/* The system gives two seconds of the processor; an unexpectedly large table takes more. */
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

int main(void)
{
	struct rlimit limit = {2, 5};
	volatile double x = 1;
	setrlimit(RLIMIT_CPU, &limit);
	for (int k = 0; k < 50; k++) {
		if (k % 5 == 0)
			printf("step %d\n", k);
		fflush(stdout);
		usleep(100000);
	}
	for (;;)
		x = x * 0.999 + 1;
}
