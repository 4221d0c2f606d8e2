// A collector waits until exactly as many shards are ready as there are readers; one was read again and counted twice.
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <mutex>
#include <thread>
#include <unistd.h>
#include <vector>

static std::mutex m;
static std::condition_variable ready;
static int have;

static void read_shard(int epoch, int k)
{
    std::this_thread::sleep_for(std::chrono::milliseconds(100 + 20 * k));
    std::lock_guard<std::mutex> hold(m);
    have += epoch == 25 && k == 3 ? 2 : 1;
    if (have >= 4)
        ready.notify_one();
}

int main()
{
    if (const char *path = std::getenv("CORPUS_ROLES"))
        std::ofstream(path, std::ios::app) << "main " << getpid() << "\n";
    for (int epoch = 0; epoch < 1000; epoch++) {
        have = 0;
        std::vector<std::thread> readers;
        for (int k = 0; k < 4; k++)
            readers.emplace_back(read_shard, epoch, k);
        for (auto &t : readers)
            t.detach();
        std::unique_lock<std::mutex> hold(m);
        ready.wait(hold, [] { return have == 4; });
        std::cout << "pass " << epoch << " merged 4 shards" << std::endl;
    }
}
