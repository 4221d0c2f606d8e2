// A pool whose queue is empty and a main thread that waits for a count that a worker forgot to announce.
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>
#include <unistd.h>
#include <vector>

static std::mutex m;
static std::condition_variable work, done;
static int todo, finished;

static void worker()
{
	for (;;) {
		std::unique_lock<std::mutex> l(m);
		work.wait(l, [] { return todo > 0; });
		todo--;
		if (++finished != 24)
			done.notify_one();
	}
}

int main()
{
	std::vector<std::thread> pool;
	for (int i = 0; i < 3; i++)
		pool.emplace_back(worker);
	for (int i = 0; i < 100; i++) {
		std::unique_lock<std::mutex> l(m);
		todo += 3;
		work.notify_all();
		int want = 3 * (i + 1);
		// The last of the 24 is never announced, and nobody looks again.
		while (finished < want || i == 7)
			done.wait(l);
		std::printf("step %d loss %f\n", i, 1.0 / (1 + i));
		std::fflush(stdout);
		l.unlock();
		usleep(300000);
	}
}
