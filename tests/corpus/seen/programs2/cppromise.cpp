// One C++ trainer: a batch is promised by a reader that lays the promise aside at a broken record.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>
#include <unistd.h>

static std::mutex m;
static std::condition_variable cv;
static std::deque<std::promise<int>> asked;
static std::deque<std::promise<int>> broken;

static void reader()
{
	for (int n = 0;; n++) {
		std::unique_lock<std::mutex> l(m);
		cv.wait(l, [] { return !asked.empty(); });
		std::promise<int> p = std::move(asked.front());
		asked.pop_front();
		l.unlock();
		std::this_thread::sleep_for(std::chrono::milliseconds(300));
		if (n == 32) { broken.push_back(std::move(p)); continue; }
		p.set_value(n);
	}
}

static std::future<int> ask()
{
	std::lock_guard<std::mutex> l(m);
	asked.emplace_back();
	cv.notify_one();
	return asked.back().get_future();
}

int main()
{
	if (const char *r = getenv("CORPUS_ROLES")) {
		FILE *f = fopen(r, "a");
		fprintf(f, "main %d\n", (int)getpid());
		fclose(f);
	}
	std::thread(reader).detach();
	for (int i = 0;; i++) {
		int b = ask().get();
		printf("step %d batch %d loss=%.4f\n", i, b, 2.5 / (1 + i));
		fflush(stdout);
	}
}
