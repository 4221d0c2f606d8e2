// Spins on a counter in shared memory; the helper that counts is in pause().
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static void role(const char *name)
{
	const char *path = getenv("CORPUS_ROLES");
	FILE *f = path ? fopen(path, "a") : NULL;
	if (f) {
		fprintf(f, "%s %d\n", name, getpid());
		fclose(f);
	}
}

int main(void)
{
	atomic_int *n = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (fork() == 0) {
		role("helper");
		for (int i = 0; i < 8; i++) {
			usleep(300000);
			atomic_fetch_add(n, 1);
		}
		pause();
	}
	for (int i = 1; i < 100; i++) {
		while (atomic_load(n) < i)
			;
		printf("step %d loss %f\n", i, 1.0 / i);
		fflush(stdout);
	}
}
