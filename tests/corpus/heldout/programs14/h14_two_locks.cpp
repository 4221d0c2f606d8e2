// A trainer with a thread that writes snapshots: the step locks the weights and then the metrics, the
// snapshot the metrics and then the weights.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace std::chrono_literals;

struct Model {
	std::mutex lock;
	std::vector<float> weights = std::vector<float>(1 << 16);
};

struct Metrics {
	std::mutex lock;
	double loss = 0;
	long steps = 0;
};

static Model model;
static Metrics metrics;

static void step(int number)
{
	std::lock_guard<std::mutex> hold(model.lock);
	for (auto &w : model.weights)
		w += 1e-4f;
	std::this_thread::sleep_for(120ms);
	std::lock_guard<std::mutex> also(metrics.lock);
	metrics.loss = 2.0 / (number + 1);
	metrics.steps++;
}

static void snapshots()
{
	for (int k = 0;; k++) {
		std::this_thread::sleep_for(8s);
		std::lock_guard<std::mutex> hold(metrics.lock);
		std::printf("snapshot %d at step %ld\n", k, metrics.steps);
		std::fflush(stdout);
		std::this_thread::sleep_for(300ms);
		std::lock_guard<std::mutex> also(model.lock);
		std::vector<float> copy = model.weights;
	}
}

int main()
{
	if (const char *path = std::getenv("CORPUS_ROLES"))
		if (FILE *f = std::fopen(path, "a")) {
			std::fprintf(f, "main %d\n", getpid());
			std::fclose(f);
		}
	std::thread(snapshots).detach();
	for (int k = 0; k < 10000; k++) {
		step(k);
		std::printf("step %d loss %.4f\n", k, metrics.loss);
		std::fflush(stdout);
		std::this_thread::sleep_for(30ms);
	}
}
