// Four ranks on a common page of shared memory: two semaphores a rank make the sum. Rank 1's part of the mesh is refined and costs more.
// Started by kit4.py 4 -- s6_shm_sem; CORPUS_SCALE and CORPUS_LAPS as in kit6.py.
#include <fcntl.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 8 };

struct board {
	sem_t arrived, go[MOST];
	double part[MOST], sum;
};

static double at(clockid_t id)
{
	struct timespec t;
	clock_gettime(id, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int number(const char *name, int otherwise)
{
	const char *text = getenv(name);
	return text ? atoi(text) : otherwise;
}

static double relax(double seconds)
{
	double x = 1, end = at(CLOCK_THREAD_CPUTIME_ID) + seconds;
	while (at(CLOCK_THREAD_CPUTIME_ID) < end)
		for (int k = 0; k < 4000; k++)
			x = x * 0.999 + k;
	return x;
}

static void read_block(double seconds)
{
	struct timespec t = {0, (long)(seconds * 1e9)};
	nanosleep(&t, NULL);
}

static struct board *open_board(int rank, const char *port)
{
	char name[64];
	snprintf(name, sizeof name, "/s6-%s", port);
	int fd = -1;
	while (fd < 0) {
		fd = shm_open(name, rank == 0 ? O_RDWR | O_CREAT : O_RDWR, 0600);
		if (fd < 0)
			usleep(20000);
	}
	if (rank == 0 && ftruncate(fd, sizeof(struct board)))
		exit(1);
	while (lseek(fd, 0, SEEK_END) < (off_t)sizeof(struct board))
		usleep(20000);
	struct board *b = mmap(NULL, sizeof *b, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (rank == 0) {
		sem_init(&b->arrived, 1, 0);
		for (int r = 0; r < MOST; r++)
			sem_init(&b->go[r], 1, 0);
	}
	sleep(1);
	if (rank == 0)
		shm_unlink(name);
	return b;
}

static double all_sum(struct board *b, int rank, int world, double x)
{
	b->part[rank] = x;
	if (rank) {
		sem_post(&b->arrived);
		sem_wait(&b->go[rank]);
		return b->sum;
	}
	for (int r = 1; r < world; r++)
		sem_wait(&b->arrived);
	double sum = 0;
	for (int r = 0; r < world; r++)
		sum += b->part[r];
	b->sum = sum;
	for (int r = 1; r < world; r++)
		sem_post(&b->go[r]);
	return sum;
}

static FILE *open_laps(int rank)
{
	char path[4096];
	if (!getenv("CORPUS_LAPS"))
		return NULL;
	snprintf(path, sizeof path, "%s.%d", getenv("CORPUS_LAPS"), rank);
	return fopen(path, "a");
}

static double delayed(void)
{
	unsigned long long ran = 0, waited = 0;
	FILE *f = fopen("/proc/thread-self/schedstat", "r");
	if (f && fscanf(f, "%llu %llu", &ran, &waited) != 2)
		waited = 0;
	if (f)
		fclose(f);
	return (double)waited * 1e-9;
}

int main(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	int rank = number("RANK", 0), world = number("WORLD_SIZE", 1);
	double scale = getenv("CORPUS_SCALE") ? atof(getenv("CORPUS_SCALE")) : 1, begin = at(CLOCK_MONOTONIC), total = 0;
	struct board *b = open_board(rank, getenv("MASTER_PORT"));
	FILE *laps = open_laps(rank);
	for (int step = 1; total < 1000; step++) {
		double t0 = at(CLOCK_MONOTONIC), since = t0 - begin, late = laps ? delayed() : 0;
		read_block(0.3);
		relax(rank == 1 && since > 72 * scale ? 0.5 : 0.06);
		double t1 = at(CLOCK_MONOTONIC);
		late = laps ? delayed() - late : 0;
		total = all_sum(b, rank, world, rank == 0 && since > 210 * scale ? 1000 : 1);
		if (laps)
			fprintf(laps, "%d %d %.3f %.4f %.4f %.4f\n", rank, step - 1, since, t1 - t0, at(CLOCK_MONOTONIC) - t0, late);
		if (rank == 0 && step % 2 == 0)
			printf("iter: %d residual: %.6f\n", step, 1.0 / step), fflush(stdout);
	}
	return laps ? fclose(laps) : 0;
}
