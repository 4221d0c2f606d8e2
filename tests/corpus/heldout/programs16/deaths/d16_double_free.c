// A batch is freed by the one who made it and by the one who used it.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct batch {
    int tokens[100];
};

static struct batch *volatile current;

__attribute__((noinline)) static void use(int step)
{
    current->tokens[step] = step;
    if (step == 25)
        free(current);
}

int main(void)
{
    for (int step = 0; step < 60; step++) {
        current = malloc(sizeof(struct batch));
        if (step % 5 == 0) {
            printf("step %d\n", step);
            fflush(stdout);
        }
        usleep(100000);
        use(step);
        free(current);
    }
}
