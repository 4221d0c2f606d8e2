/*
 * A training job in C that comes to a standstill: mpiranks WHAT [KEY=NUMBER…]
 *
 * Each rank computes, meets the others in MPI_Allreduce (mpi_standin.h) and
 * prints its step. At step at= the culprit (all ranks, for some) does WHAT:
 * what hangs, hangs for ever; what is benign lasts for last= seconds. No
 * Python is near, so all that can be seen are native frames, system calls and
 * counters.
 *
 *     at=40 steps=400 culprit=1 last=16 step-ms=100 deaf=0 noise=0
 *     churn=1  another thread starts children that end at once, all the time
 *     spawn=N  start N ranks as a careless launcher does, which waits for one of them alone
 *     file=PATH  what "storage" reads
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/tool/mpi_standin.h"

void hang_in_vfork(void);
void hang_lock_over_fork(void);
void hang_openmp_over_fork(void);

static struct {
	const char *what, *file;
	long at, steps, culprit, last, step_ms, deaf, noise, churn, spawn, rank;
} job = {.at = 40, .steps = 400, .culprit = 1, .last = 16, .step_ms = 100};

#define STAY __asm__ volatile("")

static double now_s(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void rest_ms(long ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};
	while (nanosleep(&t, &t) < 0 && errno == EINTR)
		;
}

static void say(const char *text)
{
	(void)!write(STDOUT_FILENO, text, strlen(text));
}

/* ---- what hangs ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;

static void *keep_lock(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&lock);
	pthread_barrier_wait(&both);
	for (;;)
		pause();
	return NULL;
}

/* Another thread has taken the lock and does not give it back. */
static void do_lock(void)
{
	pthread_t t;
	pthread_barrier_init(&both, NULL, 2);
	pthread_create(&t, NULL, keep_lock, NULL);
	pthread_barrier_wait(&both);
	pthread_mutex_lock(&lock);
	STAY;
}

static void do_spin(void)
{
	for (volatile unsigned long n = 0;; n++)
		;
}

static void do_stop(void)
{
	raise(SIGSTOP);
}

static void do_kill(void)
{
	raise(SIGKILL);
}

static void do_exit(void)
{
	_exit(0);
}

static void do_fail(void)
{
	_exit(3);
}

static void do_desync(void)
{
	MPI_Barrier();
	STAY;
}

static void do_p2p(void)
{
	double got;
	MPI_Recv(&got);
	STAY;
}

/* All come to the same call, and it does not end. */
static void do_equal(void)
{
	mpi_link_broken = true;
}

static void do_disk(void)
{
	hang_in_vfork();
	STAY;
}

/* Of a file system that has stopped answering. */
static void do_storage(void)
{
	char data[4096];
	int fd = open(job.file, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, data, sizeof(data)) < 0)
		perror(job.file);
	STAY;
}

static void do_fork_lock(void)
{
	hang_lock_over_fork();
	STAY;
}

static void do_openmp(void)
{
	hang_openmp_over_fork();
	STAY;
}

/* A worker that makes batches comes to a standstill; the rank waits at the pipe between them. */
static void do_loader(void)
{
	int batch[2], never[2];
	char c;
	if (pipe(batch) < 0 || pipe(never) < 0)
		abort();
	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)!read(never[0], &c, 1);
		_exit(0);
	}
	(void)!read(batch[0], &c, 1);
	STAY;
}

static void *wait_for_ever(void *arg)
{
	for (;;)
		pause();
	return arg;
}

/* It says why it fails, and cannot end for a thread that it waits for. */
static void do_error(void)
{
	pthread_t t;
	pthread_create(&t, NULL, wait_for_ever, NULL);
	fprintf(stderr, "CUDA error: an illegal memory access was encountered\n");
	pthread_join(t, NULL);
	STAY;
}

/* ---- what is benign ---- */

static void do_sleep(void)
{
	rest_ms(job.last * 1000);
	STAY;
}

__attribute__((noinline)) static void save_checkpoint(void)
{
	static char data[1 << 20];
	char name[] = "/tmp/mpiranks-XXXXXX";
	int fd = mkstemp(name);
	unlink(name);
	for (double end = now_s() + (double)job.last; now_s() < end; rest_ms(100))
		if (write(fd, data, sizeof(data)) < 0)
			perror(name);
	close(fd);
	STAY;
}

__attribute__((noinline)) static void compute_ms(long ms)
{
	volatile double x = 1;
	for (double end = now_s() + (double)ms / 1000; now_s() < end;)
		for (int i = 0; i < 1000; i++)
			x = x * 1.0000001 + 1e-9;
}

static void do_evaluate(void)
{
	compute_ms(job.last * 1000);
	STAY;
}

/* As Ctrl-Z and fg do: all of the job is stopped, and goes on later. */
static void do_suspend(void)
{
	pid_t me = getpid(), child = fork();
	if (child == 0) {
		rest_ms(job.last * 1000);
		kill(me, SIGCONT);
		_exit(0);
	}
	raise(SIGSTOP);
	waitpid(child, NULL, 0);
}

static const struct {
	const char *name;
	void (*act)(void);
	bool all;
} troubles[] = {
	{"lock", do_lock, false},
	{"spin", do_spin, false},
	{"stop", do_stop, false},
	{"kill", do_kill, false},
	{"exit", do_exit, false},
	{"fail", do_fail, false},
	{"desync", do_desync, false},
	{"p2p", do_p2p, false},
	{"equal", do_equal, false},
	{"disk", do_disk, false},
	{"storage", do_storage, false},
	{"fork_lock", do_fork_lock, false},
	{"openmp", do_openmp, false},
	{"loader", do_loader, false},
	{"error", do_error, false},
	{"sleep", do_sleep, false},
	{"sleep_all", do_sleep, true},
	{"checkpoint", save_checkpoint, false},
	{"evaluate", do_evaluate, false},
	{"first_step", do_evaluate, false},
	{"suspend", do_suspend, true},
};

static void trouble(void)
{
	for (size_t i = 0; i < sizeof(troubles) / sizeof(*troubles); i++)
		if (strcmp(troubles[i].name, job.what) == 0 && (troubles[i].all || job.rank == job.culprit))
			troubles[i].act();
}

/* ---- the job ---- */

static void *chatter(void *arg)
{
	for (;;) {
		say("heartbeat ok\n");
		rest_ms(1000);
	}
	return arg;
}

/* Children that are gone before anybody has looked at them. */
static void *churn(void *arg)
{
	for (unsigned long n = 0;; n++) {
		pid_t child = fork();
		if (child == 0) {
			rest_ms((long)(n % 7 * 3));
			_exit(0);
		}
		waitpid(child, NULL, 0);
		rest_ms(5);
	}
	return arg;
}

static void steps(void)
{
	char line[80];
	double sum;
	if (job.at == 0)
		trouble();
	for (long step = 1; step <= job.steps; step++) {
		rest_ms(job.step_ms);
		MPI_Allreduce(1, &sum);
		snprintf(line, sizeof(line), "step %ld/%ld loss=%.3f\n", step, job.steps, 1.0 / (double)step);
		say(line);
		if (step == job.at)
			trouble();
	}
}

static void run(void)
{
	pthread_t t;
	job.rank = strtol(getenv("RANK") ? getenv("RANK") : "0", NULL, 10);
	mpi_deaf = job.deaf;
	if (job.noise)
		pthread_create(&t, NULL, chatter, NULL);
	if (job.churn)
		pthread_create(&t, NULL, churn, NULL);
	/* it never comes to the first meeting */
	if (strcmp(job.what, "missing") == 0 && job.rank == job.culprit)
		do_lock();
	MPI_Init();
	steps();
	MPI_Finalize();
}

/* It waits for one rank alone, which is not the culprit, and notices nothing of the others. */
static int launch(char **argv)
{
	char text[32];
	pid_t pids[64];
	int status = 0;
	snprintf(text, sizeof(text), "%d", 20000 + getpid() % 20000);
	setenv("MASTER_PORT", text, 1);
	setenv("MASTER_ADDR", "127.0.0.1", 1);
	snprintf(text, sizeof(text), "%ld", job.spawn);
	setenv("WORLD_SIZE", text, 1);
	for (long i = 0; i < job.spawn && i < 64; i++) {
		snprintf(text, sizeof(text), "%ld", i);
		setenv("RANK", text, 1);
		setenv("LOCAL_RANK", text, 1);
		pids[i] = fork();
		if (pids[i] == 0) {
			execv(argv[0], argv);
			_exit(127);
		}
	}
	waitpid(pids[job.culprit == 0 ? 1 : 0], &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static long *place_of(const char *key, size_t n)
{
	static const struct {
		const char *key;
		long *value;
	} keys[] = {
		{"at", &job.at},	   {"steps", &job.steps}, {"culprit", &job.culprit}, {"last", &job.last},
		{"step-ms", &job.step_ms}, {"deaf", &job.deaf},	  {"noise", &job.noise},     {"spawn", &job.spawn},
		{"churn", &job.churn},
	};
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (strlen(keys[i].key) == n && strncmp(keys[i].key, key, n) == 0)
			return keys[i].value;
	fprintf(stderr, "unknown key: %s\n", key);
	exit(2);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	job.what = argv[1];
	for (int i = 2; i < argc; i++) {
		char *is = strchr(argv[i], '=');
		if (!is)
			return 2;
		if (strncmp(argv[i], "file=", 5) == 0)
			job.file = is + 1;
		else
			*place_of(argv[i], (size_t)(is - argv[i])) = strtol(is + 1, NULL, 10);
	}
	if (job.spawn > 0 && !getenv("RANK"))
		return launch(argv);
	run();
	return 0;
}
