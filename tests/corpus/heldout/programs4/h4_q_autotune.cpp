// Tries kernels in one thread while the main thread waits on a condition variable for the best.
#include "note.h"
#include <chrono>
#include <condition_variable>
#include <iostream>
#include <mutex>
#include <thread>

int main()
{
    std::mutex m;
    std::condition_variable found;
    bool ready = false;
    note("main");
    std::cout << "autotuning 512 variants" << std::endl;
    std::thread t([&] {
        auto end = std::chrono::steady_clock::now() + std::chrono::seconds(64);
        volatile double x = 1;
        while (std::chrono::steady_clock::now() < end)
            for (int i = 0; i < 100000; i++)
                x = x * 0.9999 + i;
        std::lock_guard<std::mutex> l(m);
        ready = true;
        found.notify_one();
    });
    std::unique_lock<std::mutex> l(m);
    found.wait(l, [&] { return ready; });
    t.join();
    std::cout << "best: variant 37" << std::endl;
}
