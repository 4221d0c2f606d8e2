/* Two children sort records and send them by pipes; the second one needs 62 s before its first record. Main merges. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int smaller(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void sort_for(int seconds)
{
	static int x[500000];
	for (time_t end = time(NULL) + seconds; time(NULL) < end;) {
		for (int i = 0; i < 500000; i++)
			x[i] = rand();
		qsort(x, 500000, sizeof *x, smaller);
	}
}

static void child(int number, int out)
{
	for (int record = 0; record < 30; record++) {
		usleep(150000);
		if (number == 1 && record == 15)
			sort_for(62);
		if (write(out, &record, sizeof record) < 0)
			_exit(1);
	}
	_exit(0);
}

int main(void)
{
	int ends[2][2], record;
	for (int c = 0; c < 2; c++) {
		if (pipe(ends[c]) != 0)
			return 1;
		if (fork() == 0)
			child(c, ends[c][1]);
		close(ends[c][1]);
	}
	for (int n = 0; n < 30; n++)
		for (int c = 0; c < 2; c++)
			if (read(ends[c][0], &record, sizeof record) == sizeof record && c == 1)
				printf("merged %d\n", record), fflush(stdout);
	while (wait(NULL) > 0)
		;
}
