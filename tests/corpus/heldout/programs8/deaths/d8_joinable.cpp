// The thread that reads in advance is still running when its object is destroyed.
#include <cstdio>
#include <thread>
#include <unistd.h>

int main()
{
	std::thread prefetch([] { sleep(60); });
	for (int s = 0; s < 10; s++)
		printf("batch %d\n", s), fflush(stdout), usleep(100000);
	return 0;
}
