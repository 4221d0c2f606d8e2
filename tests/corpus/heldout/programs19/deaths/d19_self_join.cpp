// A loader's thread finds the end of its data and stops the loader, which joins that thread: itself.
#include <chrono>
#include <cstdio>
#include <thread>

struct Loader {
	std::thread thread;
	bool ended = false;

	void begin()
	{
		thread = std::thread([this] {
			std::this_thread::sleep_for(std::chrono::milliseconds(3500));
			stop();
		});
	}

	void stop()
	{
		ended = true;
		if (thread.joinable())
			thread.join();
	}
};

int main()
{
	Loader loader;
	loader.begin();
	for (int step = 0; step < 60; step++) {
		std::this_thread::sleep_for(std::chrono::milliseconds(100));
		if (step % 5 == 0) {
			printf("step %d loss %.4f\n", step, 2.5 / (1 + 0.1 * step));
			fflush(stdout);
		}
	}
	loader.stop();
}
