/* An own lock on a raw futex in shared memory; rank 1 sleeps on a word that nobody wakes: the wake was sent to another word. */
#include "job.h"
#include <linux/futex.h>
#include <sys/syscall.h>
struct sh { volatile int word[16]; };

static void wait_word(volatile int *w, int v) { while (*w == v) syscall(SYS_futex, w, FUTEX_WAIT, v, 0, 0, 0); }

static void *credit(void *p)
{
	struct sh *s = p;
	for (int n = 1;; n++) {
		nap(0.2);
		int k = n < 20 ? rank : rank + 8;
		s->word[k]++;
		syscall(SYS_futex, &s->word[k], FUTEX_WAKE, 1, 0, 0, 0);
	}
	return 0;
}

int main(int argc, char **argv)
{
	(void)argc;
	job_start(argv, 3, 0);
	struct sh *s = job_shm(sizeof *s);
	star_join();
	pthread_t t;
	if (rank == 1) pthread_create(&t, 0, credit, s);
	for (int i = 0;; i++) {
		nap(0.25);
		if (rank == 1) { wait_word(&s->word[1], 0); s->word[1] = 0; }
		star_sum(1);
		if (!rank) step(i);
	}
}
