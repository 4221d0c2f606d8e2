/* A file of features becomes larger than the limit that was set for the job's files. */
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

static void write_features(FILE *f, int step) {
	static char block[65536];
	for (int k = 0; k < 8; k++)
		fwrite(block, sizeof block, 1, f);
	fflush(f);
	if (step % 5 == 0)
		printf("step %d features %d\n", step, 8 * step);
}

int main(void) {
	setvbuf(stdout, NULL, _IOLBF, 0);
	setrlimit(RLIMIT_FSIZE, &(struct rlimit){12 << 20, 12 << 20});
	FILE *f = fopen("features.bin", "w");
	for (int step = 0; step < 200; step++) {
		usleep(100000);
		write_features(f, step);
	}
	return 0;
}
