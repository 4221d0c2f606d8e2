// A batch is written beyond the end of its block.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
    for (int step = 0; step < 40; step++) {
        size_t rows = step < 30 ? 16 : 40;
        char *batch = malloc(16 * 64);
        memset(batch, 0xff, rows * 64);
        char *copy = malloc(200000 + 1000 * (size_t)step);
        copy[0] = batch[0];
        free(copy);
        if (step % 5 == 0) {
            printf("step %d loss %.3f\n", step, 2.5 / (1 + step));
            fflush(stdout);
        }
        usleep(80000);
    }
}
