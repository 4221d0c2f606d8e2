// A decoder and a training with a ring of bytes in shared memory. A record lies in one piece: what does not fit before
// the ring's end begins at its start. A record of 600 of the 1000 bytes fits neither before nor behind the middle,
// where the reader has stopped: the ring is empty, the decoder waits for room, the training for a record.
//
// slow: records are small, and one takes the training 48 s.
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define RING 1000

struct ring {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int put, taken, at, from;
	struct {
		int begin, size;
	} records[512];
};

static void role(const char *name) {
	const char *path = getenv("CORPUS_ROLES");
	if (!path)
		return;
	FILE *f = fopen(path, "a");
	fprintf(f, "%s %d\n", name, getpid());
	fclose(f);
}

static struct ring *new_ring(void) {
	struct ring *r = mmap(NULL, sizeof *r, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_t m;
	pthread_condattr_t c;
	pthread_mutexattr_init(&m);
	pthread_mutexattr_setpshared(&m, PTHREAD_PROCESS_SHARED);
	pthread_condattr_init(&c);
	pthread_condattr_setpshared(&c, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&r->lock, &m);
	pthread_cond_init(&r->changed, &c);
	return r;
}

static int place(const struct ring *r, int size) {
	bool wrapped = r->put > r->taken && r->at <= r->from;
	if (!wrapped && r->at + size <= RING)
		return r->at;
	if (!wrapped && size < r->from)
		return 0;
	if (wrapped && r->at + size < r->from)
		return r->at;
	return -1;
}

static void put(struct ring *r, int size) {
	pthread_mutex_lock(&r->lock);
	int begin;
	while ((begin = place(r, size)) < 0)
		pthread_cond_wait(&r->changed, &r->lock);
	r->records[r->put % 512].begin = begin;
	r->records[r->put % 512].size = size;
	r->at = begin + size;
	r->put++;
	pthread_cond_broadcast(&r->changed);
	pthread_mutex_unlock(&r->lock);
}

static int take(struct ring *r) {
	pthread_mutex_lock(&r->lock);
	while (r->put == r->taken)
		pthread_cond_wait(&r->changed, &r->lock);
	int size = r->records[r->taken % 512].size;
	r->from = r->records[r->taken % 512].begin + size;
	r->taken++;
	pthread_cond_broadcast(&r->changed);
	pthread_mutex_unlock(&r->lock);
	return size;
}

static void decode(struct ring *r, bool slow) {
	for (int k = 0; k < (slow ? 60 : 400); k++) {
		usleep(k == 36 ? 1000000 : 120000);
		put(r, !slow && k == 36 ? 600 : 125);
	}
}

int main(int argc, char **argv) {
	bool slow = argc > 1 && !strcmp(argv[1], "slow");
	setvbuf(stdout, NULL, _IOLBF, 0);
	role("main");
	struct ring *r = new_ring();
	pid_t decoder = fork();
	if (!decoder) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		role("decoder");
		decode(r, slow);
		return 0;
	}
	for (int step = 0; step < (slow ? 60 : 400); step++) {
		int size = take(r);
		usleep(150000);
		if (slow && step == 36)
			sleep(48);
		if (step % 5 == 0)
			printf("step %d record %d\n", step, size);
	}
	waitpid(decoder, NULL, 0);
	return 0;
}
