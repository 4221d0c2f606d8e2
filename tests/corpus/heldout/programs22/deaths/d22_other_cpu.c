/* A kernel that was compiled for newer processors; the instruction at its begin is none on this one. */
#include <stdio.h>
#include <unistd.h>

static __attribute__((noinline)) void fused_adam(float *weights) {
	__builtin_trap();
	weights[0] = 1;
}

int main(void) {
	float weights[16] = {0};
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int step = 0; step < 20; step++) {
		usleep(100000);
		if (step % 5 == 0)
			printf("step %d loss %.3f\n", step, 2.0 / (1 + step));
	}
	fused_adam(weights);
	printf("weight %f\n", weights[0]);
	return 0;
}
