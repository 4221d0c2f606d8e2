// A trainer watches its memory beside its work, by std::async, of which it drops the result. The result's destructor
// waits for the end of that watch, which would come when the evaluation is done that main then begins.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <future>
#include <string>
#include <thread>
#include <unistd.h>

static std::atomic<bool> evaluated;

static void role(const char *name)
{
	if (const char *path = getenv("CORPUS_ROLES"))
		std::ofstream(path, std::ios::app) << name << " " << getpid() << std::endl;
}

static void pause_for(double seconds)
{
	std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

static long watch_memory()
{
	long most = 0, now = 0;
	while (!evaluated) {
		std::string word;
		std::ifstream("/proc/self/statm") >> word >> now;
		most = std::max(most, now);
		pause_for(0.5);
	}
	return most;
}

static void evaluate()
{
	std::async(std::launch::async, watch_memory);
	for (int k = 0; k < 20; k++)
		pause_for(0.2);
	evaluated = true;
}

int main()
{
	role("main");
	for (int step = 0; step < 45; step++) {
		pause_for(0.2);
		if (step % 5 == 0) {
			printf("step %d loss %.4f\n", step, 2.5 / (1 + 0.1 * step));
			fflush(stdout);
		}
	}
	evaluate();
	puts("finished");
}
