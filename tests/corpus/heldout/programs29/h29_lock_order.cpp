// A trainer in C++ with a cache of samples and a table of statistics, each with a mutex. The loader's thread takes the cache's and then
// the table's ("count a hit"); the reporter's thread, added later, walks over the table and looks into the cache for each of its rows.
//
// slow: the reporter takes them in the right order, and sorts the table for 66 s with both.
#include <pthread.h>
#include <unistd.h>
#include <ctime>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>

static bool slow;
static const int stall = 80;

struct Cache {
	std::mutex lock;
	std::map<int, float> samples;
};

struct Statistics {
	std::mutex lock;
	std::map<int, long> hits;
};

static Cache cache;
static Statistics statistics;
static std::atomic<int> now{0};
static pthread_barrier_t meet;

static void note_role()
{
	if (const char *path = getenv("CORPUS_ROLES"))
		if (FILE *f = fopen(path, "a")) {
			fprintf(f, "main %d\n", getpid());
			fclose(f);
		}
}

static double clock_s()
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec * 1e-9;
}

static void busy(double seconds)
{
	double end = clock_s() + seconds;

	while (clock_s() < end) {
		volatile double x = 1;
		for (int k = 0; k < 1000000; k++)
			x = x * 0.9999 + k;
		usleep(60000);
	}
}

static float load(int step)
{
	std::lock_guard<std::mutex> hold(cache.lock);
	auto found = cache.samples.find(step % 64);
	if (found == cache.samples.end())
		found = cache.samples.emplace(step % 64, 0.1f * step).first;
	if (step == stall)
		pthread_barrier_wait(&meet);
	usleep(2000);
	std::lock_guard<std::mutex> count(statistics.lock);
	statistics.hits[step % 64]++;
	return found->second;
}

static void report()
{
	if (slow) {
		pthread_barrier_wait(&meet);
		std::lock_guard<std::mutex> first(cache.lock);
		std::lock_guard<std::mutex> hold(statistics.lock);
		busy(66);
		return;
	}
	std::lock_guard<std::mutex> hold(statistics.lock);
	pthread_barrier_wait(&meet);
	long held = 0;
	for (auto &row : statistics.hits) {
		std::lock_guard<std::mutex> look(cache.lock);
		held += cache.samples.count(row.first);
	}
	printf("%ld of %zu rows are cached\n", held, statistics.hits.size());
}

static void reporter()
{
	while (now < stall)
		usleep(50000);
	report();
}

int main(int argc, char **argv)
{
	slow = argc > 1 && !strcmp(argv[1], "slow");
	note_role();
	pthread_barrier_init(&meet, nullptr, 2);
	std::thread second(reporter);
	double loss = 4;
	for (int step = 0; step < (slow ? 100 : 4000); step++) {
		float x = 0;
		std::thread loader([&] { x = load(step); });
		now = step;
		busy(0.25);
		loader.join();
		loss = loss * 0.99 + 1e-6 * x;
		if (step % 4 == 0) {
			printf("step %d/4000 loss %.5f\n", step, loss);
			fflush(stdout);
		}
	}
	second.join();
	return 0;
}
