// Two ranks; a thread of each loads the next batch and sets a bool, for which main looks again and again. The bool is a
// plain one, and the compiler reads it once. Until step 40 it is set when main comes; then a load of rank 1 takes
// longer, and rank 1 looks for ever at what it has read. Rank 0 waits for it in a sum.
// With "slow" the bool is atomic, and that load takes 48 s.
#include <arpa/inet.h>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <netinet/in.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

static bool loaded;
static std::atomic<bool> loaded_atomic;
static bool slow;

static void pause_for(double seconds)
{
	std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

static void load(int rank, int step)
{
	bool long_one = rank == 1 && step == 40;
	pause_for(long_one ? slow ? 48 : 1.5 : 0.05);
	loaded = true;
	loaded_atomic = true;
}

static void wait_loaded()
{
	if (slow) {
		while (!loaded_atomic) {
		}
		return;
	}
	while (!loaded) {
	}
}

static int joined(int rank, int port)
{
	int s = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
	sockaddr_in a{};
	a.sin_family = AF_INET;
	a.sin_port = htons(port);
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (rank == 0) {
		setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
		if (bind(s, (sockaddr *)&a, sizeof a) || listen(s, 4))
			exit(1);
		return accept(s, nullptr, nullptr);
	}
	while (connect(s, (sockaddr *)&a, sizeof a)) {
		close(s);
		pause_for(0.05);
		s = socket(AF_INET, SOCK_STREAM, 0);
	}
	return s;
}

static double sum(int s, double x)
{
	double other;
	if (write(s, &x, sizeof x) != sizeof x || recv(s, &other, sizeof other, MSG_WAITALL) != sizeof other)
		exit(1);
	return x + other;
}

int main(int argc, char **argv)
{
	slow = argc > 1 && !strcmp(argv[1], "slow");
	int rank = atoi(getenv("RANK")), s = joined(rank, atoi(getenv("MASTER_PORT")));
	for (int step = 0; step < (slow ? 60 : 400); step++) {
		loaded = loaded_atomic = false;
		std::thread loader(load, rank, step);
		pause_for(0.2);
		wait_loaded();
		loader.join();
		sum(s, 0.4);
		if (rank == 0 && step % 5 == 0) {
			printf("step %d loss %.4f\n", step, 2.5 / (1 + 0.1 * step));
			fflush(stdout);
		}
	}
}
