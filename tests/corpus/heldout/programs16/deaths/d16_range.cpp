// A token is larger than the vocabulary: at() says so, and nobody catches it.
#include <unistd.h>
#include <cstdio>
#include <vector>

int main()
{
    std::vector<float> bias(32000, 0.5f);
    float sum = 0;
    for (int step = 0; step < 60; step++) {
        if (step % 5 == 0) {
            printf("step %d %.1f\n", step, sum);
            fflush(stdout);
        }
        usleep(100000);
        sum += bias.at(step < 25 ? step : 32001);
    }
}
