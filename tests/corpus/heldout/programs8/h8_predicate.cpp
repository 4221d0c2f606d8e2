// Two workers. The thread of worker 1 that fills the batches stops at 64 of them; its main waits for "more than 64".
#include <arpa/inet.h>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <unistd.h>

static std::mutex lock;
static std::condition_variable filled;
static int batches = 0;

static int link_up(int rank)
{
	sockaddr_in to = {};
	to.sin_family = AF_INET;
	to.sin_port = htons(atoi(getenv("MASTER_PORT")));
	inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
	int s = socket(AF_INET, SOCK_STREAM, 0), one = 1;
	if (rank == 0) {
		setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
		bind(s, (sockaddr *)&to, sizeof to);
		listen(s, 1);
		return accept(s, nullptr, nullptr);
	}
	while (connect(s, (sockaddr *)&to, sizeof to) != 0)
		usleep(50000);
	return s;
}

static void fill()
{
	while (batches < 64) {
		usleep(90000);
		std::lock_guard<std::mutex> held(lock);
		batches++;
		filled.notify_one();
	}
}

int main()
{
	int rank = atoi(getenv("RANK")), s = link_up(rank);
	std::thread loader(fill);
	for (int step = 0;; step++) {
		std::unique_lock<std::mutex> held(lock);
		int want = rank == 1 && step >= 60 ? 65 : step;
		if (step < 64)
			filled.wait(held, [want] { return batches >= want; });
		held.unlock();
		float mine = 1.0f / (step + 1), theirs;
		usleep(60000);
		if (send(s, &mine, sizeof mine, 0) < 0 || recv(s, &theirs, sizeof theirs, MSG_WAITALL) != sizeof theirs)
			break;
		if (rank == 0)
			printf("iter %d  loss %.4f\n", step, (mine + theirs) / 2), fflush(stdout);
	}
	loader.join();
}
