/*
 * Allocations of which it is known exactly how many there are. The first
 * argument says which; what was done is printed as "site bytes blocks" lines.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

void *memalign(size_t a, size_t n);
void *pvalloc(size_t n);

#define SITE __attribute__((noinline, used))
#define KEPT 4000000

static void *kept[KEPT];
static size_t n_kept;

/* So that neither the allocation nor the frame it was made from is optimised away. */
static void *used(void *p)
{
	__asm__ volatile("" : "+r"(p) : : "memory");
	return p;
}

static void keep(void *p)
{
	if (!p || n_kept == KEPT)
		abort();
	kept[n_kept++] = p;
}

/* ---- sites ---- */

struct told {
	uint64_t bytes, blocks;
};

static SITE struct told site_small(void)
{
	struct told t = {};
	for (; t.bytes < 64 << 20; t.bytes += 64, t.blocks++)
		keep(used(malloc(64)));
	return t;
}

static SITE struct told site_page(void)
{
	struct told t = {};
	for (; t.bytes < 128 << 20; t.bytes += 4096, t.blocks++)
		keep(used(malloc(4096)));
	return t;
}

static SITE struct told site_mixed(void)
{
	struct told t = {};
	uint32_t x = 12345;
	while (t.bytes < 96 << 20) {
		x = x * 1664525 + 1013904223;
		size_t n = 16 + (x >> 18);
		if (x >> 8 & 1)
			n *= 20;
		keep(used(malloc(n)));
		t.bytes += n;
		t.blocks++;
	}
	return t;
}

static SITE struct told site_large(void)
{
	struct told t = {};
	for (; t.bytes < 128 << 20; t.bytes += 1 << 20, t.blocks++)
		keep(used(malloc(1 << 20)));
	return t;
}

static SITE struct told site_brief(void)
{
	struct told t = {};
	for (; t.bytes < 128 << 20; t.bytes += 300, t.blocks++)
		free(used(malloc(300)));
	return t;
}

static int sites(void)
{
	static const struct {
		const char *name;
		struct told (*run)(void);
	} all[] = {{"site_small", site_small},
		   {"site_page", site_page},
		   {"site_mixed", site_mixed},
		   {"site_large", site_large},
		   {"site_brief", site_brief}};
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct told t = all[i].run();
		printf("%s %llu %llu\n", all[i].name, (unsigned long long)t.bytes, (unsigned long long)t.blocks);
	}
	return 0;
}

/* ---- every function, and back to nothing ---- */

#define ROUNDS 400
#define EACH 40000

static SITE void by_malloc(void)
{
	free(used(malloc(EACH)));
}

static SITE void by_calloc(void)
{
	free(used(calloc(EACH / 8, 8)));
}

static SITE void by_realloc(void)
{
	void *p = NULL;
	for (size_t n = EACH / 8; n <= EACH; n *= 2)
		p = used(realloc(p, n));
	free(p);
}

static SITE void by_reallocarray(void)
{
	free(used(reallocarray(NULL, EACH / 8, 8)));
}

static SITE void by_posix_memalign(void)
{
	void *p = NULL;
	if (posix_memalign(&p, 64, EACH) != 0)
		abort();
	free(used(p));
}

static SITE void by_aligned_alloc(void)
{
	free(used(aligned_alloc(64, EACH)));
}

static SITE void by_memalign(void)
{
	free(used(memalign(4096, EACH)));
}

static SITE void by_valloc(void)
{
	free(used(valloc(EACH)));
}

static SITE void by_pvalloc(void)
{
	free(used(pvalloc(EACH)));
}

static void *map(size_t n)
{
	void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		abort();
	return used(p);
}

static SITE void by_mmap(void)
{
	munmap(map(EACH), EACH);
}

/* In three parts, the middle first; then over another one, then grown. */
static SITE void by_parts(void)
{
	char *p = map(3 << 20), *q = map(1 << 20);
	munmap(p + (1 << 20), 1 << 20);
	munmap(p, 1 << 20);
	munmap(p + (2 << 20), 1 << 20);
	if (mmap(q, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != q)
		abort();
	q = mremap(q, 1 << 20, 5 << 20, MREMAP_MAYMOVE);
	if (q == MAP_FAILED)
		abort();
	munmap(q, 5 << 20);
}

static SITE void failing(void)
{
	static volatile size_t all = SIZE_MAX; /* what the compiler would warn of */
	char *p = malloc(4 << 20);
	if (!p || realloc(p, all / 2 - 100) || malloc(all) || calloc(all, 2) || reallocarray(p, all, 2))
		abort();
	p[0] = 1;
	free(used(p));
}

static int zero(void)
{
	static void (*const all[])(void) = {by_malloc,	       by_calloc,	 by_realloc,  by_reallocarray,
					    by_posix_memalign, by_aligned_alloc, by_memalign, by_valloc,
					    by_pvalloc,	       by_mmap,		 by_parts,    failing};
	for (int round = 0; round < ROUNDS; round++)
		for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
			all[i]();
	puts("each 16000000 400");
	return 0;
}

/* ---- threads: what one allocates, another frees ---- */

#define THREADS 16
#define PASSED 2000

static void *slots[THREADS][PASSED];
static pthread_barrier_t barrier;

static SITE void thread_allocates(int who)
{
	for (int i = 0; i < PASSED; i++)
		__atomic_store_n(&slots[who][i], used(malloc(8192)), __ATOMIC_RELEASE);
}

static void *thread_main(void *arg)
{
	int who = (int)(intptr_t)arg;
	for (int round = 0; round < 10; round++) {
		thread_allocates(who);
		pthread_barrier_wait(&barrier);
		for (int i = 0; i < PASSED; i++)
			free(__atomic_exchange_n(&slots[(who + 1) % THREADS][i], NULL, __ATOMIC_ACQUIRE));
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

static int threads(void)
{
	pthread_t t[THREADS];
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (intptr_t i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, thread_main, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	printf("thread_allocates %llu %d\n", 8192ull * PASSED * THREADS * 10, PASSED * THREADS * 10);
	return 0;
}

/* ---- children ---- */

static SITE void in_parent(void)
{
	for (int i = 0; i < 16; i++)
		keep(used(malloc(4 << 20)));
}

static SITE void in_child(void)
{
	for (int i = 0; i < 8; i++)
		keep(used(malloc(4 << 20)));
}

static int children(void)
{
	in_parent();
	for (int i = 0; i < 64; i++) {
		pid_t pid = fork();
		if (pid == 0) {
			for (size_t k = 0; k < n_kept; k++)
				free(kept[k]); /* the parent's samples are none of the child's business */
			n_kept = 0;
			in_child();
			_exit(0);
		}
	}
	int status, bad = 0;
	while (wait(&status) > 0)
		bad += status != 0;
	printf("in_parent %d 16\nin_child %d 8\n", 64 << 20, 32 << 20);
	return bad;
}

/* A child that borrows the memory of its parent, and allocates in it. */
static int borrower(void)
{
	in_parent();
	pid_t pid = vfork();
	if (pid == 0) {
		void *p = used(malloc(32 << 20));
		free(p);
		_exit(p ? 0 : 1);
	}
	int status = 1;
	waitpid(pid, &status, 0);
	printf("in_parent %d 16\n", 64 << 20);
	return status;
}

static int again(char **argv, int left)
{
	char number[16];
	in_parent();
	snprintf(number, sizeof(number), "%d", left - 1);
	if (left > 0)
		execl("/proc/self/exe", argv[0], "again", number, NULL);
	return left > 0;
}

/* ---- to be killed ---- */

static SITE void first(void)
{
	keep(used(malloc(8000)));
}

static SITE void second(void)
{
	keep(used(malloc(4000)));
}

static SITE void third(void)
{
	free(used(malloc(30000)));
}

static void *growing(void *arg)
{
	for (;;) {
		free(used(malloc(1000)));
		sched_yield();
	}
	return arg;
}

/* Five sites that keep 64, 45, 32, 22 and 16 MiB, in blocks of other sizes than one might guess from that. */
#define FIVE(name, size, mib)                                                                                          \
	static void *name##_kept[((mib) << 20) / (size)];                                                              \
	static SITE void name(unsigned i)                                                                              \
	{                                                                                                              \
		void **at = &name##_kept[i % (sizeof(name##_kept) / sizeof(void *))];                                  \
		free(*at);                                                                                             \
		*at = used(malloc(size));                                                                              \
	}
FIVE(rank_1, 1000, 64)
FIVE(rank_2, 30000, 45)
FIVE(rank_3, 500, 32)
FIVE(rank_4, 8000, 22)
FIVE(rank_5, 3000, 16)

/* Each gets as many blocks a turn as keeps them full at the same time. */
static int five(void)
{
	unsigned at[5] = {0};
	for (unsigned turn = 0; turn < UINT32_MAX; turn++) {
		for (int i = 0; i < 671; i++)
			rank_1(at[0]++);
		for (int i = 0; i < 16; i++)
			rank_2(at[1]++);
		for (int i = 0; i < 671; i++)
			rank_3(at[2]++);
		for (int i = 0; i < 29; i++)
			rank_4(at[3]++);
		for (int i = 0; i < 56; i++)
			rank_5(at[4]++);
		if (turn == 110) {
			puts("warm");
			fflush(stdout);
		}
	}
	return 0;
}

static int victim(void)
{
	pthread_t t;
	pthread_create(&t, NULL, growing, NULL);
	for (size_t i = 0; n_kept < KEPT - 2; i++) {
		first();
		second();
		third();
		if (i == 40000) { /* 300 MiB more are enough: from here on as much is freed as is taken */
			puts("begun 0 0");
			fflush(stdout);
		}
		if (i > 40000) {
			free(kept[--n_kept]);
			free(kept[--n_kept]);
		}
	}
	return 0;
}

/* ---- signals that allocate, and leave by a jump ---- */

static volatile sig_atomic_t ticks;

static void tick(int number)
{
	(void)number;
	ticks++;
	munmap(map(2 << 20), 2 << 20); /* unlike malloc, mmap may be called here */
}

static int signals(void)
{
	struct sigaction a = {.sa_handler = tick};
	sigaction(SIGPROF, &a, NULL);
	timer_t timer;
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF};
	struct itimerspec each = {{0, 200000}, {0, 200000}};
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &each, NULL))
		return 1;
	while (ticks < 1000)
		for (int i = 0; i < 1000; i++)
			free(used(malloc(20000)));
	struct itimerspec none = {};
	timer_settime(timer, 0, &none, NULL);
	return 0;
}

/* Waits for a line, allocates 64 MiB, tells so, and so on: for switching on and off. */
static int lines(void)
{
	char line[64];
	keep(used(malloc(4 << 20))); /* dormant, the region is made with the first MiB */
	puts("begun 0 0");
	fflush(stdout);
	while (read(0, line, sizeof(line)) > 0) {
		site_brief();
		puts("done 0 0");
		fflush(stdout);
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} all[] = {{"sites", sites},	   {"zero", zero},     {"threads", threads}, {"children", children},
		   {"borrower", borrower}, {"victim", victim}, {"five", five}, {"signals", signals}, {"lines", lines}};
	for (size_t i = 0; argc > 1 && i < sizeof(all) / sizeof(all[0]); i++)
		if (strcmp(argv[1], all[i].name) == 0)
			return all[i].run();
	if (argc == 3 && strcmp(argv[1], "again") == 0)
		return again(argv, (int)strtol(argv[2], NULL, 10));
	fprintf(stderr, "patterns sites|zero|threads|children|borrower|victim|five|signals|lines|again N\n");
	return 2;
}
