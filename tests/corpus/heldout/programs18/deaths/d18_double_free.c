// A batch is freed by the step that fails on it, and once more at the end of the epoch.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int step(double *batch, int number)
{
    batch[0] = 1.0 / (number + 1);
    if (number == 30) {
        free(batch);
        return -1;
    }
    return 0;
}

int main(void)
{
    for (int number = 0; number < 60; number++) {
        double *batch = malloc(64 * sizeof(*batch));
        if (step(batch, number))
            fprintf(stderr, "batch %d left out\n", number);
        if (number % 5 == 0) {
            printf("step %d\n", number);
            fflush(stdout);
        }
        usleep(80000);
        free(batch);
    }
}
