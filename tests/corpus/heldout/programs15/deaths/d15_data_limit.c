/* A cache of samples grows up to the limit of data (ulimit -d); malloc gives nothing, which the program tells. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

int main(void)
{
    struct rlimit limit = {64 << 20, 64 << 20};
    setrlimit(RLIMIT_DATA, &limit);
    for (int step = 0; step < 300; step++) {
        if (step % 5 == 0) {
            printf("step %d loss %.4f\n", step, 2.5 / (1 + 0.1 * step));
            fflush(stdout);
        }
        usleep(100000);
        char *sample = malloc(1 << 20);
        if (!sample) {
            fprintf(stderr, "cannot allocate 1048576 bytes for sample %d\n", step);
            return 1;
        }
        memset(sample, 1, 1 << 20);
    }
}
