// A store of batches whose lock may be taken several times by one thread. `swap` takes it, and calls `take`, which takes
// it again and waits on a condition: the wait gives one of the two back. The loading thread never gets the lock.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>
#include <unistd.h>

using namespace std::chrono_literals;

static std::recursive_mutex lock;
static std::condition_variable_any filled;
static std::deque<int> batches;

static void role(const char *name) {
	if (const char *path = getenv("CORPUS_ROLES")) {
		FILE *f = fopen(path, "a");
		fprintf(f, "%s %d\n", name, getpid());
		fclose(f);
	}
}

static void load() {
	for (int k = 0; k < 1000; k++) {
		std::this_thread::sleep_for(k < 30 ? 150ms : 300ms);
		std::lock_guard<std::recursive_mutex> held(lock);
		batches.push_back(k);
		filled.notify_one();
	}
}

static int take() {
	std::unique_lock<std::recursive_mutex> held(lock);
	filled.wait(held, [] { return !batches.empty(); });
	int batch = batches.front();
	batches.pop_front();
	return batch;
}

static int swap_for(int old) {
	std::lock_guard<std::recursive_mutex> held(lock);
	int batch = take();
	batches.push_back(old);
	return batch;
}

int main() {
	role("main");
	setvbuf(stdout, nullptr, _IOLBF, 0);
	std::thread loader(load);
	for (int step = 0; step < 1000; step++) {
		int batch = take();
		std::this_thread::sleep_for(160ms);
		if (step == 33)
			batch = swap_for(batch);
		if (step % 5 == 0)
			printf("step %d batch %d\n", step, batch);
	}
	loader.join();
}
