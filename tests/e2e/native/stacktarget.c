/*
 * Programs whose stacks are known. Prints the functions' addresses and the
 * thread to look at, then "ready", and stands in read(0) (or works) until its
 * input ends; then says "done".
 */
#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__clang__)
#define far_away __attribute__((noinline))
#else
#define far_away __attribute__((noinline, noclone))
#endif
/* Something after a call, so that it is no jump. */
#define STAY __asm__ volatile("" ::: "memory")

static volatile int mode_busy, depth_now;
static volatile unsigned long counter;

static far_away void stand(void)
{
	char c;
	if (mode_busy) {
		for (;;)
			counter++;
	}
	while (read(0, &c, 1) > 0)
		STAY;
}

static far_away void ready(void)
{
	printf("tid %ld\nready\n", syscall(SYS_gettid));
	fflush(stdout);
	stand();
	STAY;
}

static far_away void level_c(int n)
{
	ready();
	STAY;
	depth_now = n;
}

static far_away void level_b(int n)
{
	level_c(n + 1);
	STAY;
}

static far_away void level_a(int n)
{
	level_b(n + 1);
	STAY;
}

static far_away void deep(int n)
{
	volatile char room[200];
	room[n % 200] = 1;
	if (n > 0)
		deep(n - 1);
	else
		level_a(0);
	STAY;
	depth_now = room[n % 200];
}

static far_away void changing(int n)
{
	volatile char *room = alloca((size_t)n);
	room[n - 1] = 1;
	level_a(n);
	STAY;
	depth_now = room[0];
}

static far_away void aligned(int n)
{
	volatile char room[128] __attribute__((aligned(64)));
	volatile char *more = alloca((size_t)n);
	room[n] = more[0] = 1;
	level_a(n);
	STAY;
	depth_now = room[0] + more[0];
}

static far_away void to_changing(int n)
{
	changing(n);
	STAY;
}

static far_away void to_aligned(int n)
{
	aligned(n);
	STAY;
}

static far_away int compare(const void *a, const void *b)
{
	(void)a;
	(void)b;
	level_a(0);
	STAY;
	exit(0);
}

static far_away void sorting(void)
{
	int v[2] = {2, 1};
	qsort(v, 2, sizeof(v[0]), compare);
	STAY;
}

static far_away void on_signal(int sig)
{
	level_a(sig);
	STAY;
}

static far_away void interrupted(void)
{
	raise(SIGUSR1);
	STAY;
}

static far_away void signalled(void)
{
	static char other[256 * 1024];
	stack_t s = {.ss_sp = other, .ss_size = sizeof(other)};
	struct sigaction a = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
	sigaltstack(&s, NULL);
	sigaction(SIGUSR1, &a, NULL);
	interrupted();
	STAY;
}

static far_away void *thread_first(void *arg)
{
	level_a(0);
	STAY;
	return arg;
}

static far_away void in_thread(void)
{
	pthread_t t;
	pthread_create(&t, NULL, thread_first, NULL);
	pthread_join(t, NULL);
}

/* The thread works on after main has ended by itself; "ready" is said when the kernel shows main as a zombie. */
static far_away void *headless_first(void *arg)
{
	char path[64], text[256] = "";
	snprintf(path, sizeof(path), "/proc/%d/stat", getpid());
	do {
		FILE *f = fopen(path, "r");
		if (!f || !fgets(text, sizeof(text), f))
			exit(1);
		fclose(f);
	} while (!strstr(text, ") Z "));
	level_a(0);
	STAY;
	return arg;
}

static far_away void headless(void)
{
	pthread_t t;
	pthread_create(&t, NULL, headless_first, NULL);
	pthread_exit(NULL);
}

static far_away void nowhere(void)
{
	void (*volatile call)(void) = NULL;
	struct sigaction a = {.sa_handler = on_signal};
	sigaction(SIGSEGV, &a, NULL);
	call();
	STAY;
}

static far_away void forked(void)
{
	printf("tid %ld\nready\n", syscall(SYS_gettid));
	fflush(stdout);
	pid_t child = vfork();
	if (child == 0) {
		char c;
		while (read(0, &c, 1) > 0)
			STAY;
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static void *sleeper(void *arg)
{
	level_c(0);
	return arg;
}

/* Works in libc through the PLT, so that any instruction of it may be the one it is stopped at. */
static far_away void working(void)
{
	printf("tid %ld\nready\n", syscall(SYS_gettid));
	fflush(stdout);
	char text[64];
	for (;;) {
		snprintf(text, sizeof(text), "%lu %s", counter++, "x");
		free(malloc(strlen(text)));
	}
}

static far_away void work_b(void)
{
	working();
	STAY;
}

static far_away void work_a(void)
{
	work_b();
	STAY;
}

/* One loop of fixed work after the other, each timed by the test through its output. */
static void measured(int n_sleepers)
{
	pthread_t t;
	for (int i = 0; i < n_sleepers; i++)
		pthread_create(&t, NULL, sleeper, NULL);
	printf("tid %ld\nready\n", syscall(SYS_gettid));
	fflush(stdout);
	for (;;) {
		for (volatile unsigned long i = 0; i < 100000000; i++)
			counter += i;
		printf("lap\n");
		fflush(stdout);
	}
}

static void clean(int *p)
{
	depth_now = *p;
}

/* With -fexceptions: a function that something else's exception would pass through. */
static far_away void unwindable(void)
{
	__attribute__((cleanup(clean))) int kept = 1;
	level_a(kept);
	STAY;
}

#if defined(__x86_64__)
/*
 * Hand-written code as in BLAS libraries: it says that it has taken nothing of the stack, has taken a lot, and has lost
 * the frame pointer. It stops at the first byte of its third argument that is not 0.
 */
void lying(volatile unsigned long *count, unsigned long step, const volatile char *until);
__asm__(".text\n.globl lying\n.type lying, @function\nlying:\n.cfi_startproc\n"
	"push %rbp\npush %rbx\nsub $96, %rsp\nmov %rsp, %rbx\nsub $12288, %rsp\nand $-4096, %rsp\nxor %ebp, %ebp\n"
	"1: add %rsi, (%rdi)\ncmpb $0, (%rdx)\nje 1b\n"
	"mov %rbx, %rsp\nadd $96, %rsp\npop %rbx\npop %rbp\nret\n.cfi_endproc\n.size lying, .-lying\n");

/* The same without any information: it has only pushed what it gives back. rbp is not the frame pointer meanwhile. */
void silent(volatile unsigned long *count, unsigned long step, const volatile char *until);
__asm__(".text\n.globl silent\n.type silent, @function\nsilent:\n"
	"push %r13\npush %r12\npush %rbx\npush %rbp\nxor %ebp, %ebp\n"
	"1: add %rsi, (%rdi)\ncmpb $0, (%rdx)\nje 1b\n"
	"pop %rbp\npop %rbx\npop %r12\npop %r13\nret\n.size silent, .-silent\n");

static far_away void to_silent(void)
{
	static volatile char never;
	volatile char room[4096];
	for (size_t i = 0; i < sizeof(room); i++)
		room[i] = 'A';
	printf("tid %ld\nready\n", syscall(SYS_gettid));
	fflush(stdout);
	silent(&counter, 1, &never);
	STAY;
	depth_now = room[5];
}

static far_away void to_lying(void)
{
	static volatile char never;
	volatile char room[4096];
	for (size_t i = 0; i < sizeof(room); i++)
		room[i] = 'A';
	printf("tid %ld\nready\n", syscall(SYS_gettid));
	fflush(stdout);
	lying(&counter, 1, &never);
	STAY;
	depth_now = room[5];
}
#endif

static void names(void)
{
#define NAME(f) printf("function %s %p\n", #f, (void *)f)
	NAME(stand);
	NAME(ready);
	NAME(level_c);
	NAME(level_b);
	NAME(level_a);
	NAME(deep);
	NAME(changing);
	NAME(aligned);
	NAME(to_changing);
	NAME(to_aligned);
	NAME(compare);
	NAME(sorting);
	NAME(on_signal);
	NAME(interrupted);
	NAME(signalled);
	NAME(thread_first);
	NAME(in_thread);
	NAME(headless_first);
	NAME(nowhere);
	NAME(forked);
	NAME(working);
	NAME(work_b);
	NAME(work_a);
	NAME(unwindable);
#if defined(__x86_64__)
	NAME(lying);
	NAME(to_lying);
	NAME(silent);
	NAME(to_silent);
#endif
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "chain";
	int n = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 64;
	static const struct {
		const char *name;
		void (*plain)(void);
		void (*number)(int);
	} programs[] = {
		{"chain", NULL, level_a},	  {"deep", NULL, deep},		{"changing", NULL, to_changing},
		{"aligned", NULL, to_aligned},	  {"unproven", NULL, changing}, {"sorting", sorting, NULL},
		{"signal", signalled, NULL},	  {"thread", in_thread, NULL},	{"nowhere", nowhere, NULL},
		{"vfork", forked, NULL},	  {"working", work_a, NULL},	{"measured", NULL, measured},
		{"unwindable", unwindable, NULL}, {"headless", headless, NULL},
#if defined(__x86_64__)
		{"lying", to_lying, NULL},	  {"silent", to_silent, NULL},
#endif
	};
	names();
	mode_busy = argc > 3;
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		if (strcmp(programs[i].name, what) != 0)
			continue;
		if (programs[i].plain)
			programs[i].plain();
		else
			programs[i].number(n);
		STAY;
		printf("done\n");
	}
	return 0;
}
