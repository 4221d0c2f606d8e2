/* Real threads that wait for real locks, and who is said to hold them. */
#include "testing.h"

#include <linux/futex.h>
#include <pthread.h>

#include "wait_fixture.h"

#include "sense/wait/threadlist.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void *hold_mutex(void *unused_argument)
{
	(void)unused_argument;
	prctl(PR_SET_NAME, "loader");
	pthread_mutex_lock(&mutex);
	for (;;)
		pause();
	return NULL;
}

static void body_mutex(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, hold_mutex, NULL);
	while (*(volatile int *)&mutex == 0)
		pause_1ms();
	pthread_mutex_lock(&mutex);
}

static void a_lock_names_the_thread_that_holds_it(void **state)
{
	(void)state;
	start(body_mutex);
	struct threadwait t = await_child(WAIT_LOCK);
	cleanup(freep) pid_t *tids = NULL;
	size_t n = 0;
	assert_int_equal(threads_read(&w, child, &tids, &n), 0);
	assert_int_equal(n, 2);
	assert_int_equal(t.owner, tids[tids[0] == child]); /* where numbers began anew its own is the larger one */
	assert_false(t.owner_gone);
	assert_text(&t, "held by thread");
	assert_text(&t, "(loader)");
}

/* Without memory access the lock is a lock, and nobody is accused. */
static void without_memory_no_owner_is_named(void **state)
{
	(void)state;
	start(body_mutex);
	(void)await_child(WAIT_LOCK);
	struct threadwait t;
	assert_int_equal(threadwait_read(&w, child, child, NULL, true, &t), 0);
	assert_int_equal(t.owner, 0);
	assert_text(&t, "does not say who holds it");
}

static void *hold_and_end(void *unused_argument)
{
	(void)unused_argument;
	pthread_mutex_lock(&mutex);
	return NULL;
}

static void fork_and_lock(void)
{
	pid_t self = getpid(), inner = fork();
	if (inner == 0) {
		end_with(self);
		pthread_mutex_lock(&mutex);
		_exit(0);
	}
	waitpid(inner, NULL, 0);
}

static void body_fork_with_holder_alive(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, hold_mutex, NULL);
	while (*(volatile int *)&mutex == 0)
		pause_1ms();
	fork_and_lock();
}

static void body_fork_with_holder_ended(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, hold_and_end, NULL);
	pthread_join(thread, NULL);
	fork_and_lock();
}

/* The child of the child; the outer one waits for it. */
static pid_t await_inner(void)
{
	struct threadwait t;
	do
		t = await_child(WAIT_CHILD);
	while (strncmp(t.target, "pid ", 4) != 0);
	uint64_t pid = 0;
	assert_int_equal(span_u64_prefix(span_of(t.target + 4), &pid), 0);
	return (pid_t)pid;
}

static void a_lock_inherited_over_fork_is_proven(void **state)
{
	(void)state;
	start(body_fork_with_holder_alive);
	pid_t inner = await_inner();
	struct threadwait t = await_kind(inner, inner, WAIT_LOCK);
	assert_true(t.owner_gone);
	cleanup(freep) pid_t *tids = NULL;
	size_t n = 0;
	assert_int_equal(threads_read(&w, child, &tids, &n), 0);
	assert_int_equal(n, 2);
	assert_int_equal(t.owner, tids[tids[0] == child]);
	assert_text(&t, "inherited over fork");
}

static void a_lock_of_a_thread_that_ended_before_the_fork_is_inherited_too(void **state)
{
	(void)state;
	start(body_fork_with_holder_ended);
	pid_t inner = await_inner();
	struct threadwait t = await_kind(inner, inner, WAIT_LOCK);
	if (inner < child)
		skip(); /* the numbers began anew between the two: then there is no proof */
	assert_true(t.owner_gone);
	assert_true(t.owner > child && t.owner < inner);
}

static void body_own_thread_ended(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, hold_and_end, NULL);
	pthread_join(thread, NULL);
	pthread_mutex_lock(&mutex);
}

static void a_lock_whose_thread_ended_here_is_not_blamed_on_a_fork(void **state)
{
	(void)state;
	start(body_own_thread_ended);
	struct threadwait t = await_saying(WAIT_LOCK, "not in this process");
	assert_false(t.owner_gone);
}

static void body_condition(void)
{
	pthread_mutex_lock(&mutex);
	pthread_cond_wait(&condition, &mutex);
}

/* An int that happens to be 2, with a living thread's number two words on: a lock of another make. */
static uint32_t foreign_lock[10] = {2};

static void body_foreign_lock(void)
{
	foreign_lock[2] = (uint32_t)getppid(); /* as a stale owner would stand there */
	foreign_lock[3] = 0x7f31;
	foreign_lock[4] = 0xdeadbeef;
	syscall(SYS_futex, foreign_lock, 0, 2, NULL, NULL, 0);
}

static void conditions_and_foreign_locks_have_no_owner(void **state)
{
	(void)state;
	void (*const bodies[])(void) = {body_condition, body_foreign_lock};
	for (size_t i = 0; i < ARRAY_SIZE(bodies); i++) {
		start(bodies[i]);
		struct threadwait t = await_child(WAIT_LOCK);
		assert_int_equal(t.owner, 0);
		assert_false(t.owner_gone);
		assert_text(&t, "the futex itself does not say who holds it");
		child_end();
	}
}

static void body_pi(void)
{
	pthread_mutexattr_t attr;
	pthread_t thread;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&mutex, &attr);
	pthread_create(&thread, NULL, hold_mutex, NULL);
	while (*(volatile int *)&mutex == 0)
		pause_1ms();
	pthread_mutex_lock(&mutex);
}

static void a_priority_inheriting_lock_names_its_holder(void **state)
{
	(void)state;
	start(body_pi);
	struct threadwait t = await_child(WAIT_LOCK);
	assert_true(t.owner > 0 && t.owner != child);
	assert_text(&t, "(loader)");
}

/* A word that has the number of a thread by chance, as a counter has in a pid namespace; bits: those beside it. */
static void wait_at_number(uint32_t bits, int operation)
{
	static uint32_t word[16];
	pthread_t thread;
	pthread_create(&thread, NULL, hold_mutex, NULL);
	while (*(volatile int *)&mutex == 0)
		pause_1ms();
	word[0] = (uint32_t)((int *)&mutex)[2] | bits; /* the mutex has the number of the thread that holds it */
	for (;;)
		(void)syscall(SYS_futex, word, operation, word[0], NULL, NULL, 0);
}

static void body_counter(void)
{
	wait_at_number(0, FUTEX_WAIT);
}

static void body_readers(void)
{
	wait_at_number(FUTEX_WAITERS, FUTEX_WAIT_PRIVATE);
}

static void a_number_that_a_thread_has_as_well_names_no_thread(void **state)
{
	(void)state;
	start(body_counter);
	struct threadwait t = await_saying(WAIT_LOCK, "does not say who holds it");
	assert_int_equal(t.owner, 0);
}

static void readers_that_are_counted_with_a_bit_for_waiters_are_no_owner(void **state)
{
	(void)state;
	start(body_readers);
	struct threadwait t = await_saying(WAIT_LOCK, "does not say who holds it");
	assert_int_equal(t.owner, 0);
}

static void *hold_robust(void *lock)
{
	pthread_mutex_lock(lock);
	for (;;)
		pause();
	return NULL;
}

static void body_robust(void)
{
	static pthread_mutex_t robust;
	pthread_mutexattr_t kind;
	pthread_t thread;
	pthread_mutexattr_init(&kind);
	pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&robust, &kind);
	pthread_create(&thread, NULL, hold_robust, &robust);
	while (*(volatile int *)&robust == 0)
		pause_1ms();
	pthread_mutex_lock(&robust);
}

static void a_robust_lock_names_its_holder(void **state)
{
	(void)state;
	start(body_robust);
	struct threadwait t = await_saying(WAIT_LOCK, "held by thread");
	cleanup(freep) pid_t *tids = NULL;
	size_t n = 0;
	assert_int_equal(threads_read(&w, child, &tids, &n), 0);
	assert_int_equal(n, 2);
	assert_int_equal(t.owner, tids[tids[0] == child]);
}

static void body_join(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, hold_mutex, NULL);
	pthread_join(thread, NULL);
}

static void a_join_names_the_thread_that_is_awaited(void **state)
{
	(void)state;
	start(body_join);
	struct threadwait t = await_saying(WAIT_LOCK, "(loader)"); /* the thread gives itself its name a moment later */
	assert_text(&t, "pthread_join");
	assert_int_equal(t.owner, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		LIVE(a_lock_names_the_thread_that_holds_it),
		LIVE(without_memory_no_owner_is_named),
		LIVE(a_lock_inherited_over_fork_is_proven),
		LIVE(a_lock_of_a_thread_that_ended_before_the_fork_is_inherited_too),
		LIVE(a_lock_whose_thread_ended_here_is_not_blamed_on_a_fork),
		LIVE(conditions_and_foreign_locks_have_no_owner),
		LIVE(a_priority_inheriting_lock_names_its_holder),
		LIVE(a_join_names_the_thread_that_is_awaited),
		LIVE(a_number_that_a_thread_has_as_well_names_no_thread),
		LIVE(readers_that_are_counted_with_a_bit_for_waiters_are_no_owner),
		LIVE(a_robust_lock_names_its_holder),
	};
	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
