#include "world_fixture.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sense/proc/kcmp.h"
#include "sense/proc/mates.h"

static int stands(void *arg)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (!arg)
		(void)pause();
	return 0;
}

static void end(pid_t pid)
{
	(void)kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void a_process_may_have_its_parents_memory(void **state)
{
	static char stack[65536];
	(void)state;
	struct world w = live_world();
	const pid_t same = clone(stands, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);
	const pid_t copy = fork();
	if (copy == 0)
		_exit(stands(NULL));
	assert_true(same > 0 && copy > 0);
	if (syscall(SYS_kcmp, getpid(), getpid(), 1, 0, 0) != 0) {
		end(same);
		end(copy);
		fixture_close(&w);
		skip(); /* the kernel may not be asked here */
	}
	assert_int_equal(tasks_same_memory(&w, getpid(), same), 1);
	assert_int_equal(tasks_same_memory(&w, getpid(), copy), 0);
	w.recorded = true;
	assert_int_equal(tasks_same_memory(&w, getpid(), same), 0);
	end(same);
	end(copy);
	assert_int_equal(tasks_same_memory(&w, getpid(), same), 0);
	fixture_close(&w);
}

static int pid_order(const void *a, const void *b)
{
	return *(const pid_t *)a - *(const pid_t *)b;
}

/* Forty copies, of which two and their parent have one memory: each is told who has its own, in whatever order. */
static void who_has_the_same_memory_is_found_among_many_copies(void **state)
{
	static char stack[2][65536];
	struct mates_process p[43];
	pid_t pid[ARRAY_SIZE(p)];
	size_t n = 0;
	(void)state;
	struct world w = live_world();
	int order;
	if (tasks_memory_order(&w, getpid(), getppid(), &order) < 0)
		skip(); /* the kernel may not be asked here */
	pid[n++] = getpid();
	for (size_t i = 0; i < 2; i++)
		pid[n++] = clone(stands, stack[i] + sizeof(stack[i]), CLONE_VM | SIGCHLD, NULL);
	const pid_t same[3] = {pid[0], pid[1], pid[2]};
	while (n < ARRAY_SIZE(p)) {
		pid[n] = fork();
		if (pid[n] == 0)
			_exit(stands(NULL));
		n++;
	}
	qsort(pid, n, sizeof(pid[0]), pid_order);
	for (size_t i = 0; i < n; i++) /* the size of one was read before it grew */
		p[i] = (struct mates_process){.pid = pid[i],
					      .ppid = pid[i] == getpid() ? 1 : getpid(),
					      .size_bytes = pid[i] == same[2] ? 1 : 2};
	assert_int_equal(mates_read(&w, p, n), 0);
	for (size_t i = 0; i < n; i++) {
		const bool shares = pid[i] == same[0] || pid[i] == same[1] || pid[i] == same[2];
		assert_false(p[i].unknown);
		assert_int_equal(p[i].n_mates > 0, shares);
		for (size_t k = 0; k < p[i].n_mates; k++)
			assert_true(p[i].mate[k] == same[0] || p[i].mate[k] == same[1] || p[i].mate[k] == same[2]);
		if (pid[i] == getpid())
			assert_int_equal(p[i].n_mates, 2);
	}
	for (size_t i = 0; i < n; i++)
		if (pid[i] != getpid())
			end(pid[i]);
	fixture_close(&w);
}

static bool kcmp_refuse(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_kcmp, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filter = {.len = ARRAY_SIZE(code), .filter = code};
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

/* A filter of a container: who has the same pages may have the same memory, and nobody else. */
static void where_the_kernel_may_not_be_asked_nothing_is_sure(void **state)
{
	static char stack[65536];
	int status;
	(void)state;
	struct world w = live_world();
	const pid_t asker = fork();
	if (asker == 0) {
		const pid_t same = clone(stands, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);
		struct mates_process p[] = {{.pid = 1, .size_bytes = 7},
					    {.pid = getpid(), .size_bytes = 7},
					    {.pid = same, .size_bytes = 7}};
		/* the first time has what the second one needs */
		const bool asked = same > 0 && kcmp_refuse() && mates_read(&w, p, ARRAY_SIZE(p)) == 0 &&
				   mates_read(&w, p, ARRAY_SIZE(p)) == 0;
		const bool right = asked && !p[0].unknown && p[1].unknown && p[2].unknown && p[1].n_mates == 0;
		(void)kill(same, SIGKILL);
		_exit(right ? 0 : 1);
	}
	assert_int_equal(waitpid(asker, &status, 0), asker);
	assert_int_equal(status, 0);
	fixture_close(&w);
}

struct side {
	sem_t begun, over;
	bool apart;
	pid_t tid;
};

static void *has_files(void *arg)
{
	struct side *s = arg;
	s->tid = (pid_t)syscall(SYS_gettid);
	if (s->apart && unshare(CLONE_FILES) != 0)
		s->tid = 0;
	(void)sem_post(&s->begun);
	while (sem_wait(&s->over) != 0)
		;
	return NULL;
}

static bool parts_files(const struct world *w, bool apart)
{
	struct side s = {.apart = apart};
	pthread_t t;
	assert_int_equal(sem_init(&s.begun, 0, 0) + sem_init(&s.over, 0, 0), 0);
	assert_int_equal(pthread_create(&t, NULL, has_files, &s), 0);
	while (sem_wait(&s.begun) != 0)
		;
	assert_true(s.tid > 0);
	const bool parts = tasks_part_files(w, getpid(), s.tid);
	assert_int_equal(sem_post(&s.over), 0);
	assert_int_equal(pthread_join(t, NULL), 0);
	return parts;
}

static void a_thread_may_have_descriptors_of_its_own(void **state)
{
	(void)state;
	if (syscall(SYS_kcmp, getpid(), getpid(), 2, 0, 0) != 0)
		skip(); /* the kernel may not be asked here */
	struct world w = live_world();
	assert_true(parts_files(&w, true));
	assert_false(parts_files(&w, false));
	fixture_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_may_have_its_parents_memory),
		cmocka_unit_test(who_has_the_same_memory_is_found_among_many_copies),
		cmocka_unit_test(where_the_kernel_may_not_be_asked_nothing_is_sure),
		cmocka_unit_test(a_thread_may_have_descriptors_of_its_own),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
