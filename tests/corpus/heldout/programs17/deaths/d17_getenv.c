// A setting of the environment is not there, and is read as if it were.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[256];

int main(void)
{
    for (int step = 0; step < 30; step++) {
        if (step % 5 == 0) {
            printf("step %d loss %.3f\n", step, 2.5 / (1 + step));
            fflush(stdout);
        }
        usleep(80000);
    }
    const char *scratch = getenv("TRAIN_SCRATCH_OF_RUN");
    memcpy(folder, scratch, 16);
    printf("checkpoint in %s\n", folder);
}
