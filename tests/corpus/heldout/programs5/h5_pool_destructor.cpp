// A thread pool's destructor sets `stop` without the lock; a worker has looked at it just before, and then waits.
#include "../programs4/note.h"
#include <atomic>
#include <condition_variable>
#include <functional>
#include <iostream>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>

class Pool {
    std::mutex lock;
    std::condition_variable more;
    std::queue<std::function<void()>> tasks;
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;

    void idle() // statistics, before a thread goes to sleep
    {
        step_of(800);
    }
    void work()
    {
        std::unique_lock<std::mutex> hold(lock);
        while (!stop) {
            if (tasks.empty()) {
                idle();
                more.wait(hold);
                continue;
            }
            auto task = tasks.front();
            tasks.pop();
            hold.unlock();
            task();
            hold.lock();
        }
    }

public:
    Pool()
    {
        threads.emplace_back([this] { work(); });
    }
    void add(std::function<void()> f)
    {
        std::lock_guard<std::mutex> hold(lock);
        tasks.push(f);
        more.notify_one();
    }
    ~Pool()
    {
        stop = true;
        more.notify_all();
        for (auto &t : threads)
            t.join();
    }
};

int main()
{
    note("main");
    for (int epoch = 0; epoch < 100; epoch++) {
        std::cout << "epoch " << epoch << std::endl;
        Pool pool;
        std::atomic<int> done{0};
        step_of(1000);
        for (int k = 0; k < 5; k++)
            pool.add([&] { step_of(100); done++; });
        while (done < 5)
            step_of(10);
        step_of(epoch < 3 ? 1500 : 300);
    }
}
