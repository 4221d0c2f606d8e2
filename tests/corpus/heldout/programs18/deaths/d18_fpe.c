// A batch without tokens, and a mean over its tokens in whole numbers.
#include <stdio.h>
#include <unistd.h>

static int mean_length(int characters, int tokens)
{
    return characters / tokens;
}

int main(int argc, char **argv)
{
    (void)argv;
    for (int step = 0; step < 60; step++) {
        volatile int tokens = step < 30 ? 16 : argc - 1;
        int length = mean_length(640 + step, tokens);
        if (step % 5 == 0) {
            printf("step %d length %d\n", step, length);
            fflush(stdout);
        }
        usleep(80000);
    }
}
