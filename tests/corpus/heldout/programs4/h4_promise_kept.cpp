// Tasks with futures in a home-made executor; a task that waits for a task behind it in the queue.
#include "note.h"
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <iostream>
#include <memory>
#include <thread>

class Executor {
    std::mutex mutex;
    std::condition_variable more;
    std::deque<std::function<void()>> tasks;
    std::thread thread;

  public:
    Executor() : thread([this] { run(); }) {}
    std::future<double> post(std::function<double()> f)
    {
        auto task = std::make_shared<std::packaged_task<double()>>(std::move(f));
        auto future = task->get_future();
        {
            std::lock_guard<std::mutex> l(mutex);
            tasks.push_back([task] { (*task)(); });
        }
        more.notify_one();
        return future;
    }
    void run()
    {
        for (;;) {
            std::unique_lock<std::mutex> l(mutex);
            more.wait(l, [this] { return !tasks.empty(); });
            auto task = std::move(tasks.front());
            tasks.pop_front();
            l.unlock();
            task();
        }
    }
};

int main()
{
    note("main");
    Executor gpu;
    for (int i = 0; i < 100; i++) {
        double loss = gpu.post([&gpu, i] {
            double x = step_of(200);
            return i < 12 ? x : gpu.post([] { return step_of(10); }).get();
        }).get();
        std::cout << "step " << i << " loss " << loss << std::endl;
    }
}
