// Two threads of a program build an index for 50 s, in which main waits for them.
#include <chrono>
#include <cstdio>
#include <thread>

using namespace std::chrono;

static double sum[2];

static void build(int n)
{
    for (int k = 0; k < 250; k++) {
        for (int i = 0; i < 2000000; i++)
            sum[n] += i * 1e-9;
        std::this_thread::sleep_for(milliseconds(190));
    }
}

static void epoch(int begin, int end)
{
    for (int step = begin; step < end; step++) {
        std::this_thread::sleep_for(milliseconds(120));
        if (step % 5 == 0) {
            printf("step %d loss %.4f\n", step, 2.5 / (1 + 0.1 * step));
            fflush(stdout);
        }
    }
}

int main()
{
    epoch(0, 60);
    puts("building index");
    fflush(stdout);
    std::thread one(build, 0), two(build, 1);
    one.join();
    two.join();
    epoch(60, 90);
}
