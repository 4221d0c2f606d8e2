// An assertion of a kernel about the length of a sequence does not hold.
#include <cassert>
#include <cstdio>
#include <unistd.h>
#include <vector>

static float attend(const std::vector<float> &q, size_t max_len)
{
    assert(q.size() <= max_len && "sequence longer than max_len");
    return q[0];
}

int main()
{
    float sum = 0;
    for (int step = 0; step < 100; step++) {
        if (step % 5 == 0) {
            printf("step %d loss %.4f\n", step, 2.5 / (1 + 0.1 * step));
            fflush(stdout);
        }
        usleep(100000);
        sum += attend(std::vector<float>(step == 70 ? 4096 : 512), 2048);
    }
    return sum != 0;
}
