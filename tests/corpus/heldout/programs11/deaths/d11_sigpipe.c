/* Samples are written to a viewer, which takes twenty and leaves. */
#include <stdio.h>
#include <unistd.h>

int main(void)
{
	FILE *viewer = popen("head -n 20 > /dev/null", "w");
	if (!viewer)
		return 1;
	for (int k = 0; k < 400; k++) {
		fprintf(viewer, "sample %d\n", k);
		fflush(viewer);
		printf("sample %d\n", k);
		fflush(stdout);
		usleep(100000);
	}
	return pclose(viewer);
}
