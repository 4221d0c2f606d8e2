// Samples per rank: an integer is divided by the number of ranks that are alive, which is 0.
#include <stdio.h>
#include <unistd.h>

static volatile int alive = 25;

int main(void)
{
    volatile int samples = 4096;
    for (int step = 0; step < 60; step++, alive--) {
        if (step % 5 == 0) {
            printf("step %d: %d samples\n", step, samples / alive);
            fflush(stdout);
        }
        usleep(100000);
    }
}
