// Four threads train, each with its part, and meet at a barrier after each step. Thread 2 has no samples left and
// returns early: it does not drop its place at the barrier.
//
// slow: it does not return, it evaluates for 62 s.
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <thread>
#include <unistd.h>
#include <vector>

static bool slow;

static void role(const char *name)
{
	if (const char *path = getenv("CORPUS_ROLES")) {
		FILE *f = fopen(path, "a");
		fprintf(f, "%s %d\n", name, getpid());
		fclose(f);
	}
}

static double gradient(double at)
{
	double x = at;
	for (int i = 0; i < 200000; i++)
		x = std::sin(x) + at;
	std::this_thread::sleep_for(std::chrono::milliseconds(200));
	return x;
}

// As std::barrier, which comes with C++20.
class Barrier {
	std::mutex lock;
	std::condition_variable passed;
	int places, missing;
	long phase = 0;
	std::function<void()> complete;

public:
	Barrier(int n, std::function<void()> f) : places(n), missing(n), complete(std::move(f)) {}

	void arrive_and_wait()
	{
		std::unique_lock<std::mutex> held(lock);
		long mine = phase;
		if (--missing == 0) {
			complete();
			missing = places;
			phase++;
			passed.notify_all();
		} else {
			passed.wait(held, [&] { return phase != mine; });
		}
	}
};

static void train(int which, int steps, std::vector<double> &part, Barrier &meet)
{
	for (int step = 0; step < steps; step++) {
		if (which == 2 && step == 100) {
			if (!slow)
				return;
			std::this_thread::sleep_for(std::chrono::seconds(62));
		}
		part[which] = gradient(part[which]);
		meet.arrive_and_wait();
	}
}

int main(int argc, char **argv)
{
	role("main");
	slow = argc > 1 && !strcmp(argv[1], "slow");
	setvbuf(stdout, nullptr, _IOLBF, 0);
	std::vector<double> part(4, 0.5);
	int step = 0;
	auto update = [&] {
		if (step % 5 == 0)
			printf("[epoch %d] step %d loss %.4f\n", step / 25, step, std::abs(part[0] - part[1]) + 1.0 / (1 + step));
		step++;
	};
	Barrier meet(4, update);
	std::vector<std::thread> threads;
	for (int which = 0; which < 4; which++)
		threads.emplace_back([&, which] { train(which, slow ? 120 : 3000, part, meet); });
	for (auto &thread : threads)
		thread.join();
	return 0;
}
