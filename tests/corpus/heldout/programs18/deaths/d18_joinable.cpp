// A trainer returns early from an epoch, and leaves a thread that nobody has joined.
#include <chrono>
#include <cstdio>
#include <thread>

static double epoch(int first)
{
    std::thread loader([] { std::this_thread::sleep_for(std::chrono::seconds(20)); });
    for (int step = first; step < first + 40; step++) {
        double loss = 2.5 / (1 + 0.1 * step);
        if (step % 5 == 0) {
            std::printf("step %d loss %.3f\n", step, loss);
            std::fflush(stdout);
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(80));
        if (loss < 0.7)
            return loss;
    }
    loader.join();
    return 0;
}

int main()
{
    std::printf("ended at loss %.3f\n", epoch(0));
}
