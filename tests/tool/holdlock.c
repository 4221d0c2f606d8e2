/*
 * A process whose memory lock nobody else gets, so that whoever reads its command line, its environment or its mappings
 * waits: a neighbour for tests of what must not wait.
 *
 *   holdlock busy         six threads change the protection of 1.2 GiB in turns: readers wait for seconds
 *   holdlock dead FOLDER  replaces a mapping of a file in a folder of deadfs (tests/tool/deadfs), which keeps the lock
 *                         until that file system ends: readers wait for ever
 *
 * Prints "ready" when the lock is taken, or is about to be.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define AREA (1229ul << 20)
#define PIECE 4096ul
#define THREADS 6

static void *change(void *area)
{
	for (int prot = 0;; prot ^= PROT_READ)
		mprotect(area, AREA, prot | PROT_WRITE);
	return NULL;
}

static int busy(void)
{
	char *area = mmap(NULL, AREA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (area == MAP_FAILED)
		return 1;
	/* the zero page everywhere: tables to walk, and next to no memory */
	for (size_t at = 0; at < AREA; at += PIECE)
		(void)*(volatile char *)(area + at);
	puts("ready");
	fflush(stdout);
	for (int i = 0; i < THREADS; i++) {
		pthread_t t;
		if (pthread_create(&t, NULL, change, area) != 0)
			return 1;
	}
	for (;;)
		pause();
}

static int dead(const char *folder)
{
	char path[400];
	snprintf(path, sizeof(path), "%s/paper", folder);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	char *page = fd < 0 ? MAP_FAILED : mmap(NULL, PIECE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED) {
		perror(path);
		return 1;
	}
	page[0] = 1;
	puts("ready");
	fflush(stdout);
	/* the old mapping is closed, and its page written, under the lock */
	(void)mmap(page, PIECE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	puts("over");
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "busy") == 0)
		return busy();
	if (argc > 2 && strcmp(argv[1], "dead") == 0)
		return dead(argv[2]);
	return 2;
}
