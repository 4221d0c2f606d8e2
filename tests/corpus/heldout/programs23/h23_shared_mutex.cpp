// A table of features that many read and one thread fills. Who does not find a feature asks the filling thread for it
// and waits, and has the table still locked for reading; the filling thread wants it for writing.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <unistd.h>

using namespace std::chrono_literals;

static std::shared_mutex table_lock;
static std::map<int, double> table;
static std::mutex asked_lock;
static std::condition_variable asked_more, filled_more;
static std::deque<int> asked;
static int filled = -1;

static void role(const char *name) {
	if (const char *path = getenv("CORPUS_ROLES")) {
		FILE *f = fopen(path, "a");
		fprintf(f, "%s %d\n", name, getpid());
		fclose(f);
	}
}

static void fill_always() {
	for (;;) {
		std::unique_lock<std::mutex> held(asked_lock);
		asked_more.wait(held, [] { return !asked.empty(); });
		int key = asked.front();
		asked.pop_front();
		held.unlock();
		{
			std::unique_lock<std::shared_mutex> writing(table_lock);
			table[key] = key * 0.5;
		}
		held.lock();
		filled = key;
		filled_more.notify_all();
	}
}

static void ask(int key, bool waits) {
	std::unique_lock<std::mutex> held(asked_lock);
	asked.push_back(key);
	asked_more.notify_one();
	if (waits)
		filled_more.wait(held, [key] { return filled >= key; });
}

static double feature(int key) {
	std::shared_lock<std::shared_mutex> reading(table_lock);
	auto found = table.find(key);
	if (found == table.end()) {
		ask(key, true);
		found = table.find(key);
	}
	return found->second;
}

int main() {
	role("main");
	setvbuf(stdout, nullptr, _IOLBF, 0);
	std::thread filler(fill_always);
	for (int step = 0; step < 1000; step++) {
		if (step < 35)
			ask(step, false);
		std::this_thread::sleep_for(190ms);
		double x = feature(step);
		if (step % 5 == 0)
			printf("step %d feature %.2f\n", step, x);
	}
	filler.join();
}
