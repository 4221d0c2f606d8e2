/* Three children read record numbers from pipes until their ends. Each has kept the writing end of its own pipe. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void note(const char *role, int number, int pid)
{
	FILE *f = getenv("CORPUS_ROLES") ? fopen(getenv("CORPUS_ROLES"), "a") : NULL;
	if (!f)
		return;
	if (number < 0)
		fprintf(f, "%s %d\n", role, pid);
	else
		fprintf(f, "%s%d %d\n", role, number, pid);
	fclose(f);
}

static int child(int in)
{
	int record, count = 0;
	while (read(in, &record, sizeof record) == sizeof record)
		count++;
	printf("child: %d records\n", count);
	return 0;
}

int main(void)
{
	int ends[3][2];
	note("main", -1, getpid());
	for (int c = 0; c < 3; c++) {
		if (pipe(ends[c]) != 0)
			return 1;
		int pid = fork();
		if (pid == 0)
			return child(ends[c][0]);
		note("child", c, pid);
		close(ends[c][0]);
	}
	for (int record = 0; record < 60; record++) {
		usleep(120000);
		if (write(ends[record % 3][1], &record, sizeof record) < 0)
			return 1;
		printf("sent record %d\n", record);
		fflush(stdout);
	}
	for (int c = 0; c < 3; c++)
		close(ends[c][1]);
	while (wait(NULL) > 0)
		;
	puts("all records written");
}
