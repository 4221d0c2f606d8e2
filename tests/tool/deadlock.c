/*
 * Two threads that take two mutexes in opposite order, after a second of
 * work: neither ever gets its second one. With the argument "once" a thread
 * takes one mutex twice instead.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static pthread_mutex_t stock = PTHREAD_MUTEX_INITIALIZER, book = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both_have_one;

__attribute__((noinline)) static void move_goods(void)
{
	(void)pthread_mutex_lock(&stock);
	(void)pthread_barrier_wait(&both_have_one);
	(void)pthread_mutex_lock(&book); /* MOVE */
	puts("moved");
}

__attribute__((noinline)) static void audit_books(void)
{
	(void)pthread_mutex_lock(&book);
	(void)pthread_barrier_wait(&both_have_one);
	(void)pthread_mutex_lock(&stock); /* AUDIT */
	puts("audited");
}

__attribute__((noinline)) static void take_twice(void)
{
	(void)pthread_mutex_lock(&stock);
	(void)pthread_mutex_lock(&stock); /* TWICE */
	puts("taken");
}

static void *auditor(void *arg)
{
	(void)arg;
	audit_books();
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t;
	(void)pthread_barrier_init(&both_have_one, NULL, 2);
	for (int i = 0; i < 20; i++) {
		printf("step %d/1000\n", i);
		(void)fflush(stdout);
		(void)nanosleep(&(struct timespec){.tv_nsec = 100 * 1000 * 1000}, NULL);
	}
	if (argc > 1 && strcmp(argv[1], "once") == 0) {
		take_twice();
		return 0;
	}
	if (pthread_create(&t, NULL, auditor, NULL) != 0)
		return 1;
	move_goods();
	(void)pthread_join(t, NULL);
	return 0;
}
