// A thread that was not joined when its owner went out of scope, at an early return.
#include <chrono>
#include <cstdio>
#include <thread>

static bool epoch(int number)
{
	std::thread loader([] { std::this_thread::sleep_for(std::chrono::seconds(1)); });

	for (int batch = 0; batch < 5; batch++)
		std::this_thread::sleep_for(std::chrono::milliseconds(60));
	printf("epoch %d loss %.3f\n", number, 1.0 / (number + 1));
	fflush(stdout);
	if (number == 5)
		return false;
	loader.join();
	return true;
}

int main()
{
	for (int number = 0; epoch(number); number++)
		;
	return 0;
}
