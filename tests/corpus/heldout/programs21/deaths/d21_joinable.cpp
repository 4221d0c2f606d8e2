// A reading thread has to be joined before its object goes; an early return for a bad file goes past that.
#include <chrono>
#include <cstdio>
#include <thread>

static bool read_header(int k)
{
	return k != 3;
}

static int load(int k)
{
	std::thread reader([] { std::this_thread::sleep_for(std::chrono::milliseconds(700)); });
	if (!read_header(k))
		return -1;
	reader.join();
	return k;
}

int main()
{
	for (int step = 0; step < 8; step++) {
		int got = load(step);
		printf("step %d shard %d\n", step, got);
		fflush(stdout);
	}
}
