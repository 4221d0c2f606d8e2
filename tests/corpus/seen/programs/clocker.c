/* One process without ranks: two threads of a solver lock two cells in opposite order. */
#include "job.h"
static pthread_mutex_t cell[4];

static void pair(int a, int b)
{
	pthread_mutex_lock(&cell[a]);
	nap(0.02);
	pthread_mutex_lock(&cell[b]);
	pthread_mutex_unlock(&cell[b]);
	pthread_mutex_unlock(&cell[a]);
}

static void *solve(void *p)
{
	for (int i = 0;; i++) {
		if (i < 15) pair(2, 3); else pair(1, 0);
		nap(0.2);
	}
	return p;
}

int main(void)
{
	role("main", 0);
	for (int i = 0; i < 4; i++) pthread_mutex_init(&cell[i], 0);
	services(2);
	pthread_t t;
	pthread_create(&t, 0, solve, 0);
	for (int i = 0;; i++) {
		for (int k = 0; k < 20; k++) { pair(0, 1); nap(0.003); }
		step(i);
	}
}
