// A thread sorts keys for 62 s; main waits for its end by a condition.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <iostream>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

static std::mutex m;
static std::condition_variable ready;
static bool done;

static void build()
{
    auto end = std::chrono::steady_clock::now() + std::chrono::seconds(62);
    std::mt19937 random(7);
    std::vector<unsigned> keys(1 << 18);
    while (std::chrono::steady_clock::now() < end) {
        std::generate(keys.begin(), keys.end(), random);
        std::sort(keys.begin(), keys.end());
    }
    std::lock_guard<std::mutex> hold(m);
    done = true;
    ready.notify_one();
}

int main()
{
    for (int n = 0; n < 10; n++) {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        std::cout << "read part " << n << " of 10" << std::endl;
    }
    std::thread builder(build);
    std::unique_lock<std::mutex> hold(m);
    ready.wait(hold, [] { return done; });
    hold.unlock();
    builder.join();
    std::cout << "index of 262144 keys is written" << std::endl;
}
