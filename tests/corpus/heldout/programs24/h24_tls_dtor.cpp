// Each worker thread has a buffer of metrics of its own, thread_local, that is given to a writing thread and waited for
// when the worker ends. At the epoch's end the writer is stopped and joined before the workers: the destructor of a
// worker's buffer waits for a thread that has ended, and main waits for the worker.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace std::chrono_literals;

static std::mutex lock;
static std::condition_variable changed;
static int given, written;
static bool writer_stops;
static std::atomic<bool> epoch_over;

static void role(const char *name) {
	if (const char *path = getenv("CORPUS_ROLES")) {
		FILE *f = fopen(path, "a");
		fprintf(f, "%s %d\n", name, getpid());
		fclose(f);
	}
}

struct Buffer {
	double sum = 0;
	~Buffer() {
		std::unique_lock<std::mutex> held(lock);
		int mine = ++given;
		changed.notify_all();
		changed.wait(held, [mine] { return written >= mine; });
	}
};

static thread_local Buffer buffer;

static void write_metrics() {
	std::unique_lock<std::mutex> held(lock);
	while (!writer_stops) {
		written = given;
		changed.notify_all();
		changed.wait(held);
	}
}

static void work() {
	while (!epoch_over) {
		std::this_thread::sleep_for(150ms);
		buffer.sum += 0.1;
	}
}

int main() {
	role("main");
	setvbuf(stdout, nullptr, _IOLBF, 0);
	std::thread writer(write_metrics);
	std::vector<std::thread> workers;
	for (int k = 0; k < 2; k++)
		workers.emplace_back(work);
	for (int step = 0; step < 40; step++) {
		std::this_thread::sleep_for(190ms);
		if (step % 5 == 0)
			printf("step %d loss %.3f\n", step, 1.0 / (1 + step));
	}
	{
		std::lock_guard<std::mutex> held(lock);
		writer_stops = true;
		changed.notify_all();
	}
	writer.join();
	epoch_over = true;
	for (auto &w : workers)
		w.join();
	printf("epoch 1 is over\n");
}
