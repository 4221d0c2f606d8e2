// A batch without tokens comes to a kernel that asserts that there are any.
#include <assert.h>
#include <stdio.h>
#include <unistd.h>

static double kernel(const int *tokens, int n_tokens)
{
    assert(n_tokens > 0);
    return tokens[0] / (double)n_tokens;
}

int main(void)
{
    int tokens[4] = {7, 2, 3, 9};
    for (int step = 0; step < 40; step++) {
        double loss = kernel(tokens, step < 30 ? 4 : 0);
        if (step % 5 == 0) {
            printf("step %d loss %.3f\n", step, loss);
            fflush(stdout);
        }
        usleep(80000);
    }
}
