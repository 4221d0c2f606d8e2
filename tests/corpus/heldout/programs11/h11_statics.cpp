// Two objects that are made at their first use, each of which wants the other while it is made. Two threads come to them at once, each by another one.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <unistd.h>

static void pause_ms(int ms)
{
	std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

struct Registry;
struct Allocator {
	Allocator();
	static Allocator &get()
	{
		static Allocator one;
		return one;
	}
	size_t bytes = 0;
};
struct Registry {
	Registry();
	static Registry &get()
	{
		static Registry one;
		return one;
	}
	std::string name = "ops";
};

Allocator::Allocator()
{
	pause_ms(200);
	bytes = Registry::get().name.size();
}

Registry::Registry()
{
	pause_ms(200);
	name += std::to_string(Allocator::get().bytes);
}

int main()
{
	const char *path = getenv("CORPUS_ROLES");
	if (FILE *f = path ? fopen(path, "a") : nullptr) {
		fprintf(f, "main %d\n", static_cast<int>(getpid()));
		fclose(f);
	}
	for (int k = 0; k < 8; k++) {
		pause_ms(250);
		printf("warmup %d\n", k);
		fflush(stdout);
	}
	std::thread loader([] { printf("%s\n", Registry::get().name.c_str()); });
	std::thread runner([] { printf("%zu\n", Allocator::get().bytes); });
	loader.join();
	runner.join();
	return 0;
}
