// It leaves with 7, without a word.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(void)
{
	for (int step = 0; step < 40; step++) {
		usleep(100000);
		if (step % 5 == 0)
			printf("step %d\n", step), fflush(stdout);
	}
	_exit(7);
}
