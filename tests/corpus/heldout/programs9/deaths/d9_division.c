// The mean of a bucket without samples.
#include <stdio.h>
#include <unistd.h>

int main(void) {
    static volatile int count[12] = {4, 3, 5, 2, 6, 1, 3, 2, 0, 4, 5, 1};
    for (int k = 0; k < 12; k++) {
        usleep(150000);
        printf("bucket %d mean %d\n", k, 1000 / count[k]);
        fflush(stdout);
    }
    return 0;
}
