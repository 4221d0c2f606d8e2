// A loader's thread hands one batch at a time to the training thread and tells it by a condition variable. Who waits does not look
// whether there is something already: a batch that is ready before the training waits for it is told to nobody. The thread
// waits then until its batch was taken.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <unistd.h>

using namespace std::chrono_literals;

static std::mutex lock;
static std::condition_variable ready, taken;
static int batch;

static void role(const char *name) {
	if (const char *path = getenv("CORPUS_ROLES")) {
		FILE *f = fopen(path, "a");
		fprintf(f, "%s %d\n", name, getpid());
		fclose(f);
	}
}

static void load_always() {
	for (int n = 1;; n++) {
		std::this_thread::sleep_for(n % 40 ? 200ms : 10ms); // each fortieth is in the cache
		std::unique_lock<std::mutex> held(lock);
		batch = n;
		ready.notify_one();
		taken.wait(held);
	}
}

static int next_batch() {
	std::unique_lock<std::mutex> held(lock);
	ready.wait(held);
	int mine = batch;
	taken.notify_one();
	return mine;
}

int main() {
	role("main");
	setvbuf(stdout, nullptr, _IOLBF, 0);
	std::thread loader(load_always);
	for (int step = 0; step < 1000; step++) {
		int mine = next_batch();
		std::this_thread::sleep_for(60ms);
		if (step % 5 == 0)
			printf("step %d batch %d loss %.3f\n", step, mine, 2.0 / (1 + step));
	}
	loader.join();
}
