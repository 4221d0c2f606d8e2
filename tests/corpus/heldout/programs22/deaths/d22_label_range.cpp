// A label of the new data is larger than the table of class weights.
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

static double weigh(const std::vector<double> &weights, size_t label) { return weights.at(label); }

int main() {
	setvbuf(stdout, nullptr, _IOLBF, 0);
	std::vector<double> weights(80, 1.0);
	double sum = 0;
	for (int step = 0; step < 100; step++) {
		std::this_thread::sleep_for(std::chrono::milliseconds(100));
		sum += weigh(weights, step < 22 ? step : 90);
		if (step % 5 == 0)
			printf("step %d weighted loss %.3f\n", step, 1 / (1 + sum));
	}
}
