// Folds are evaluated by a pool of two threads; each fold gives two halves to the same pool and waits for them.
// With one fold at a time that is well; in the third round two run at once, and both wait for halves that
// nobody takes.
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <thread>
#include <unistd.h>
#include <vector>

class Pool {
    std::mutex m;
    std::condition_variable c;
    std::deque<std::function<void()>> tasks;
    std::vector<std::thread> threads;
    bool end = false;

    void work()
    {
        for (;;) {
            std::unique_lock<std::mutex> lock(m);
            c.wait(lock, [this] { return end || !tasks.empty(); });
            if (tasks.empty())
                return;
            auto task = std::move(tasks.front());
            tasks.pop_front();
            lock.unlock();
            task();
        }
    }

public:
    explicit Pool(int n)
    {
        for (int i = 0; i < n; i++)
            threads.emplace_back([this] { work(); });
    }

    ~Pool()
    {
        { std::lock_guard<std::mutex> lock(m); end = true; }
        c.notify_all();
        for (auto &t : threads)
            t.join();
    }

    template <class F> std::future<double> give(F f)
    {
        auto task = std::make_shared<std::packaged_task<double()>>(f);
        auto result = task->get_future();
        { std::lock_guard<std::mutex> lock(m); tasks.push_back([task] { (*task)(); }); }
        c.notify_one();
        return result;
    }
};

static double half(int k)
{
    usleep(150000);
    return k;
}

static double fold(Pool &pool, int k)
{
    usleep(150000);
    auto a = pool.give([k] { return half(k); }), b = pool.give([k] { return half(k + 1); });
    return a.get() + b.get();
}

int main()
{
    if (const char *path = getenv("CORPUS_ROLES"))
        if (FILE *f = fopen(path, "a")) {
            fprintf(f, "main %d\n", getpid());
            fclose(f);
        }
    Pool pool(2);
    for (int round = 0; round < 20; round++) {
        std::vector<std::future<double>> scores;
        double sum = 0;
        for (int k = 0; k < 4; k++) {
            scores.push_back(pool.give([&pool, k] { return fold(pool, k); }));
            if (round < 6)
                scores.back().wait();
        }
        for (auto &s : scores)
            sum += s.get();
        printf("round %d: score %.2f\n", round, sum / 4);
        fflush(stdout);
    }
}
