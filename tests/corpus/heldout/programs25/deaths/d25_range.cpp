// A label is behind the end of the table of names.
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

int main()
{
	std::vector<std::string> names(80, "name");
	for (int step = 0; step < 90; step += 5) {
		std::this_thread::sleep_for(std::chrono::milliseconds(100));
		printf("step %d label %s\n", step, names.at(step).c_str());
		fflush(stdout);
	}
}
