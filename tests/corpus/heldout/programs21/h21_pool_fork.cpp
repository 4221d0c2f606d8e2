// A trainer whose image library has a pool of two threads. After it has used the pool it forks a loader. The loader gives work
// to the pool as well, whose threads are not there after a fork: it waits for the work's end, main for the loader's batch.
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <functional>
#include <mutex>
#include <signal.h>
#include <sys/prctl.h>
#include <thread>
#include <unistd.h>

class Pool {
public:
	void parallel(int parts, const std::function<void(int)> &work)
	{
		std::unique_lock<std::mutex> held(lock);
		if (!begun)
			for (int k = 0; k < 2; k++)
				std::thread([this] { serve(); }).detach();
		begun = true;
		left = parts;
		for (int part = 0; part < parts; part++)
			todo.push_back([&work, part] { work(part); });
		more.notify_all();
		done.wait(held, [this] { return left == 0; });
	}

private:
	void serve()
	{
		std::unique_lock<std::mutex> held(lock);
		for (;;) {
			more.wait(held, [this] { return !todo.empty(); });
			auto work = todo.front();
			todo.pop_front();
			held.unlock();
			work();
			held.lock();
			if (--left == 0)
				done.notify_all();
		}
	}

	std::mutex lock;
	std::condition_variable more, done;
	std::deque<std::function<void()>> todo;
	bool begun = false;
	int left = 0;
};

static Pool pool;

static void role(const char *name)
{
	if (const char *path = getenv("CORPUS_ROLES"))
		std::ofstream(path, std::ios::app) << name << " " << getpid() << "\n";
}

static void resize(int)
{
	usleep(60000);
}

static int start_loader()
{
	int ends[2];
	if (pipe(ends))
		exit(1);
	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		role("loader");
		close(ends[0]);
		for (double x = 0;; x += 1) {
			pool.parallel(4, resize);
			if (write(ends[1], &x, sizeof x) != sizeof x)
				_exit(1);
		}
	}
	close(ends[1]);
	return ends[0];
}

int main()
{
	role("main");
	for (int step = 0, from = -1; step < 400; step++) {
		double x = step;
		if (step == 40)
			from = start_loader();
		if (from < 0)
			pool.parallel(4, resize);
		else if (read(from, &x, sizeof x) != sizeof x)
			return 1;
		usleep(80000);
		if (step % 5 == 0) {
			printf("step %d loss %.4f\n", step, 2.5 / (1 + 0.1 * x));
			fflush(stdout);
		}
	}
}
