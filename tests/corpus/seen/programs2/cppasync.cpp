// A C++ job waits for the result of a long search in another thread and looks at it every now and then.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <thread>
#include <unistd.h>

static double search(double seconds)
{
	auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
	double best = 1;
	while (std::chrono::steady_clock::now() < end) {
		for (int k = 1; k < 100000; k++) best = best * 0.999999 + 1e-7 / k;
		std::this_thread::sleep_for(std::chrono::milliseconds(30));
	}
	return best;
}

int main()
{
	const char *s = getenv("CORPUS_SCALE");
	if (const char *r = getenv("CORPUS_ROLES")) {
		FILE *f = fopen(r, "a");
		fprintf(f, "main %d\n", (int)getpid());
		fclose(f);
	}
	for (int i = 0; i < 2; i++) {
		auto f = std::async(std::launch::async, search, 35 * (s ? atof(s) : 1));
		while (f.wait_for(std::chrono::seconds(5)) != std::future_status::ready) ;
		printf("trial %d best loss %.4f\n", i, f.get());
		fflush(stdout);
	}
}
