// A loader with a thread that fills a queue of eight batches. At the end of an epoch main tells it to stop and joins it; the
// thread looks at that only when it has put a batch, and it waits for a place in the full queue, as nobody takes any more.
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <mutex>
#include <thread>
#include <unistd.h>

class Loader {
public:
	Loader() : filler([this] { fill(); }) {}

	double next()
	{
		std::unique_lock<std::mutex> held(lock);
		filled.wait(held, [this] { return !batches.empty(); });
		double x = batches.front();
		batches.pop_front();
		taken.notify_one();
		return x;
	}

	void stop()
	{
		{
			std::lock_guard<std::mutex> held(lock);
			stopped = true;
		}
		filler.join();
	}

private:
	void fill()
	{
		for (int k = 0; !stopped; k++) {
			usleep(20000);
			std::unique_lock<std::mutex> held(lock);
			taken.wait(held, [this] { return batches.size() < 8; });
			batches.push_back(1.0 / (1 + k));
			filled.notify_one();
		}
	}

	std::mutex lock;
	std::condition_variable filled, taken;
	std::deque<double> batches;
	bool stopped = false;
	std::thread filler;
};

int main()
{
	if (const char *path = getenv("CORPUS_ROLES"))
		std::ofstream(path, std::ios::app) << "main " << getpid() << "\n";
	for (int epoch = 0; epoch < 10; epoch++) {
		Loader loader;
		for (int step = 0; step < 40; step++) {
			double x = loader.next();
			usleep(200000);
			if (step % 5 == 0) {
				printf("epoch %d step %d loss %.4f\n", epoch, step, x);
				fflush(stdout);
			}
		}
		loader.stop();
	}
}
