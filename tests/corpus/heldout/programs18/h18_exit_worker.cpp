// A trainer has a pool of two threads, an object of static storage. Its destructor waits until no task runs. A task that
// finds no more shards calls exit(), as all is done: that runs the destructor in the task's own thread, which waits for
// the end of the task. main waits for the shard.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <unistd.h>

static double work(double seconds)
{
    auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    double x = 1;
    while (std::chrono::steady_clock::now() < end) {
        for (int k = 0; k < 100000; k++)
            x = x * 0.999 + k;
        usleep(20000);
    }
    return x;
}

class Pool {
public:
    Pool()
    {
        for (int k = 0; k < 2; k++)
            std::thread([this] { run(); }).detach();
    }
    ~Pool()
    {
        std::unique_lock<std::mutex> held(mutex);
        changed.wait(held, [this] { return running == 0; });
    }
    void add(std::function<void()> task)
    {
        std::lock_guard<std::mutex> held(mutex);
        tasks.push_back(std::move(task));
        running++;
        changed.notify_all();
    }
    void wait()
    {
        std::unique_lock<std::mutex> held(mutex);
        changed.wait(held, [this] { return running == 0; });
    }

private:
    void run()
    {
        for (;;) {
            std::unique_lock<std::mutex> held(mutex);
            changed.wait(held, [this] { return !tasks.empty(); });
            auto task = std::move(tasks.front());
            tasks.pop_front();
            held.unlock();
            task();
            held.lock();
            running--;
            changed.notify_all();
        }
    }

    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::function<void()>> tasks;
    int running = 0;
};

static Pool pool;

static void read_shard(int number)
{
    if (number == 45) {
        std::printf("all shards are read\n");
        std::fflush(stdout);
        std::exit(0);
    }
    work(0.1);
}

int main()
{
    if (const char *path = std::getenv("CORPUS_ROLES"))
        if (FILE *f = std::fopen(path, "a")) {
            std::fprintf(f, "main %d\n", int(getpid()));
            std::fclose(f);
        }
    for (int step = 0;; step++) {
        pool.add([step] { read_shard(step); });
        work(0.1);
        pool.wait();
        if (step % 5 == 0) {
            std::printf("step %d loss %.3f\n", step, 2.5 / (1 + 0.1 * step));
            std::fflush(stdout);
        }
    }
}
