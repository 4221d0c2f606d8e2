// A reading thread meets a shard with a bad header; nobody catches what it throws.
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>

static void read_shards() {
	for (int shard = 0;; shard++) {
		std::this_thread::sleep_for(std::chrono::milliseconds(250));
		if (shard == 8)
			throw std::runtime_error("shard-" + std::to_string(shard) + ".bin: bad magic number in header");
	}
}

int main() {
	setvbuf(stdout, nullptr, _IOLBF, 0);
	std::thread reader(read_shards);
	for (int step = 0; step < 200; step++) {
		std::this_thread::sleep_for(std::chrono::milliseconds(100));
		if (step % 5 == 0)
			printf("step %d loss %.3f\n", step, 2.0 / (1 + step));
	}
	reader.join();
}
