/*
 * Ways to hang that Python cannot make: loaded with ctypes by
 * tests/workloads/hangs.py. None of them returns.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(_OPENMP)
#include <omp.h>
#endif

void hang_in_vfork(void);
void hang_lock_over_fork(void);
void hang_openmp_over_fork(void);

/* A parent is in state D until its vfork child execs or ends. */
void hang_in_vfork(void)
{
	pid_t pid = vfork();
	if (pid == 0) {
		for (;;)
			pause();
	}
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int locked[2];

static void *holder(void *arg)
{
	char c = 1;
	(void)arg;
	(void)pthread_mutex_lock(&lock);
	if (write(locked[1], &c, 1) != 1)
		abort();
	for (;;)
		pause();
	return NULL;
}

static void wait_for(pid_t pid)
{
	while (waitpid(pid, NULL, 0) != pid)
		;
}

/* A worker that is forked while another thread holds a lock finds it locked for ever. */
void hang_lock_over_fork(void)
{
	pthread_t t;
	char c;
	if (pipe(locked) < 0 || pthread_create(&t, NULL, holder, NULL) != 0 || read(locked[0], &c, 1) != 1)
		abort();
	pid_t pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)pthread_mutex_lock(&lock);
		_exit(0);
	}
	wait_for(pid);
}

static void parallel_work(void)
{
#if defined(_OPENMP)
	static volatile int sink;
#pragma omp parallel num_threads(4)
	sink += omp_get_thread_num();
#endif
}

/* GNU's OpenMP in a child waits for a team that stayed with its parent. */
void hang_openmp_over_fork(void)
{
	parallel_work();
	pid_t pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		parallel_work();
		_exit(0);
	}
	wait_for(pid);
}
