// A vocabulary has been made smaller, and a text still has a word of the larger one.
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

static double embed(const std::vector<double> &table, size_t word)
{
	return table.at(word);
}

int main()
{
	std::vector<double> table(32000, 0.1);
	for (int step = 0; step < 60; step++) {
		std::this_thread::sleep_for(std::chrono::milliseconds(100));
		double x = embed(table, step == 34 ? 32007 : step);
		if (step % 5 == 0) {
			printf("step %d loss %.4f\n", step, 2.5 / (1 + step * x));
			fflush(stdout);
		}
	}
}
