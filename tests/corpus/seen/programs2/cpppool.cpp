// One C++ trainer that does not end: its pool is told to stop, but the sleeping threads are not woken before the join.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <queue>
#include <thread>
#include <unistd.h>
#include <vector>

struct Pool {
	std::mutex m;
	std::condition_variable cv;
	std::queue<std::function<void()>> work;
	std::vector<std::thread> threads;
	bool stop = false;
	explicit Pool(int n)
	{
		for (int i = 0; i < n; i++) threads.emplace_back([this] { run(); });
	}
	void run()
	{
		for (;;) {
			std::unique_lock<std::mutex> l(m);
			cv.wait(l, [this] { return stop || !work.empty(); });
			if (work.empty()) return;
			auto f = std::move(work.front());
			work.pop();
			l.unlock();
			f();
		}
	}
	void add(std::function<void()> f)
	{
		std::lock_guard<std::mutex> l(m);
		work.push(std::move(f));
		cv.notify_one();
	}
	~Pool()
	{
		{ std::lock_guard<std::mutex> l(m); stop = true; }
		for (auto &t : threads) t.join();
	}
};

int main()
{
	if (const char *r = getenv("CORPUS_ROLES")) {
		FILE *f = fopen(r, "a");
		fprintf(f, "main %d\n", (int)getpid());
		fclose(f);
	}
	Pool pool(3);
	for (int i = 0; i < 30; i++) {
		for (int k = 0; k < 3; k++) pool.add([] { std::this_thread::sleep_for(std::chrono::milliseconds(100)); });
		std::this_thread::sleep_for(std::chrono::milliseconds(350));
		printf("epoch %d/30 val_loss: %.3f\n", i + 1, 1.9 / (1 + i));
		fflush(stdout);
	}
}
