/* A ring of ranks over unix sockets in C: pace FOLDER CULPRIT. The culprit calculates three tenths longer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static struct sockaddr_un place(const char *folder, int rank)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	snprintf(a.sun_path, sizeof(a.sun_path), "%s/%d.sock", folder, rank);
	return a;
}

static void calculate(double seconds)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	for (double began = t.tv_sec + t.tv_nsec / 1e9; t.tv_sec + t.tv_nsec / 1e9 < began + seconds;) {
		nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
		clock_gettime(CLOCK_MONOTONIC, &t);
	}
}

int main(int argc, char **argv)
{
	int rank = atoi(getenv("RANK")), world = atoi(getenv("WORLD_SIZE")), culprit = argc > 2 ? atoi(argv[2]) : -1;
	struct sockaddr_un own = place(argv[1], rank), next = place(argv[1], (rank + 1) % world);
	int entry = socket(AF_UNIX, SOCK_STREAM, 0), onward = socket(AF_UNIX, SOCK_STREAM, 0);
	char word[4096] = "";
	if (bind(entry, (struct sockaddr *)&own, sizeof(own)) || listen(entry, 8))
		return 1;
	while (connect(onward, (struct sockaddr *)&next, sizeof(next)))
		nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
	int back = accept(entry, NULL, NULL);
	for (int step = 1; step <= 2000; step++) {
		calculate(rank == culprit ? 0.195 : 0.15);
		for (int turn = 1; turn < world; turn++)
			if (send(onward, word, sizeof(word), 0) < 0 || recv(back, word, sizeof(word), MSG_WAITALL) <= 0)
				return 2;
		printf("step %d/2000 loss 0.5\n", step);
		fflush(stdout);
	}
	return 0;
}
