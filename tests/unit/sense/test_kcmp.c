#include "world_fixture.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sense/proc/kcmp.h"

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
		cmocka_unit_test(a_thread_may_have_descriptors_of_its_own),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
