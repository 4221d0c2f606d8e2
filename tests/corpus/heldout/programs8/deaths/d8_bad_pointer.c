/* A pointer is moved on while it reads, and then freed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
	char *line = strdup("0.1 0.2 0.3 0.4 0.5 0.6");
	for (; *line; line += 4) {
		printf("value %.3s\n", line);
		fflush(stdout);
		usleep(150000);
		if (strlen(line) < 4)
			break;
	}
	free(line);
	return 0;
}
