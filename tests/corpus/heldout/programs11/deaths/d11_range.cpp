// A layer's number is asked of a vector that has fewer; nobody catches what at() throws.
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

static int heads(const std::vector<int> &layers, size_t which)
{
	return layers.at(which);
}

int main()
{
	std::vector<int> layers(24, 16);
	int sum = 0;
	for (size_t k = 0; k < 40; k++) {
		std::this_thread::sleep_for(std::chrono::milliseconds(80));
		sum += heads(layers, k);
		printf("layer %zu: %d heads\n", k, sum);
		fflush(stdout);
	}
	return 0;
}
