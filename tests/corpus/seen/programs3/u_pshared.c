// A process-shared mutex whose holder has stopped itself.
#include <pthread.h>
#include <signal.h>
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
	pthread_mutex_t *m = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_t a;
	pthread_mutexattr_init(&a);
	pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(m, &a);
	if (fork() == 0) {
		role("helper");
		sleep(3);
		pthread_mutex_lock(m);
		raise(SIGSTOP);
		pthread_mutex_unlock(m);
		pause();
	}
	for (int i = 0; i < 100; i++) {
		pthread_mutex_lock(m);
		printf("step %d loss %f\n", i, 1.0 / (1 + i));
		fflush(stdout);
		pthread_mutex_unlock(m);
		usleep(300000);
	}
}
