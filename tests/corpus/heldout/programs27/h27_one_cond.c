// A ring of four batches, a decoder and a trainer with one condition. Only the decoder tells of a change: it was always the slower
// one. While the trainer saves a checkpoint the ring becomes full, and the decoder waits for a word that nobody says.
//
// slow: the trainer tells as well; the decoder decodes for 68 s.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ring[4], filled, slow;

static void role(const char *name)
{
	const char *path = getenv("CORPUS_ROLES");
	if (!path)
		return;
	FILE *f = fopen(path, "a");
	fprintf(f, "%s %d\n", name, getpid());
	fclose(f);
}

static void put(int x)
{
	pthread_mutex_lock(&lock);
	while (filled == 4)
		pthread_cond_wait(&changed, &lock);
	ring[filled++] = x;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&lock);
}

static int take(void)
{
	pthread_mutex_lock(&lock);
	while (filled == 0)
		pthread_cond_wait(&changed, &lock);
	int x = ring[--filled];
	if (slow)
		pthread_cond_signal(&changed);
	pthread_mutex_unlock(&lock);
	return x;
}

static void *decode(void *nothing)
{
	for (int k = 0; k < (slow ? 110 : 3000); k++) {
		usleep(200000);
		if (slow && k == 100)
			sleep(68);
		put(k);
	}
	return nothing;
}

int main(int argc, char **argv)
{
	role("main");
	slow = argc > 1 && !strcmp(argv[1], "slow");
	setvbuf(stdout, NULL, _IOLBF, 0);
	pthread_t decoder;
	pthread_create(&decoder, NULL, decode, NULL);
	for (int step = 0; step < (slow ? 110 : 3000); step++) {
		int k = take();
		usleep(100000);
		if (step == 90) {
			printf("saving checkpoint-%d\n", step);
			sleep(3);
		}
		if (step % 10 == 0)
			printf("[%d] loss: %.4f\n", step, 1.5 / (1 + k));
	}
	pthread_join(decoder, NULL);
	return 0;
}
