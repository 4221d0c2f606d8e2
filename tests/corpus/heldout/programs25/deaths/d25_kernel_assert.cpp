// An operator's own check of shapes fails.
#include <cassert>
#include <chrono>
#include <cstdio>
#include <thread>

static void attention(int dim, int heads)
{
	assert(dim % heads == 0 && "embed_dim must be divisible by num_heads");
}

int main()
{
	for (int step = 0; step < 60; step += 5) {
		std::this_thread::sleep_for(std::chrono::milliseconds(100));
		printf("step %d\n", step);
		fflush(stdout);
		attention(768, step < 50 ? 12 : 10);
	}
}
