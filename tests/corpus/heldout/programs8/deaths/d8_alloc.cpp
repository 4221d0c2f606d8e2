// A count of rows is read as negative and becomes a huge size.
#include <cstdio>
#include <new>
#include <unistd.h>
#include <vector>

int main()
{
	for (int s = 0; s < 10; s++)
		printf("row group %d\n", s), fflush(stdout), usleep(100000);
	volatile long rows = -4;
	std::vector<char> data((unsigned long)rows / 4);
	return data[7];
}
