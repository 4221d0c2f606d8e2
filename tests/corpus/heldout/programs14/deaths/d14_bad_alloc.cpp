// An index grows until the limit of the data segment, and nobody catches what new throws.
#include <cstdio>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

int main()
{
	rlimit limit = {256 << 20, 256 << 20};
	setrlimit(RLIMIT_DATA, &limit);
	std::vector<std::vector<float>> index;
	for (int k = 0; k < 500; k++) {
		index.emplace_back(1 << 20, 0.5f);
		if (k % 5 == 0)
			std::printf("step %d, %d vectors\n", k, k << 14);
		std::fflush(stdout);
		usleep(100000);
	}
}
