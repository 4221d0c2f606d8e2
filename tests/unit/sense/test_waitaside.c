/* What a process has open beside its descriptors: through a thread, a ring or an epoll. Who has it may end a wait. */
#include "testing.h"

#include <fcntl.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

#include "base/buf.h"
#include "base/file.h"
#include "waitfacts_fixture.h"

static int ends[2];
static sem_t parted, over;

static void must(bool ok)
{
	if (!ok)
		_exit(99);
}

static void body_reads(void)
{
	char c;
	close(ends[1]);
	while (read(ends[0], &c, 1) < 0 && errno == EINTR)
		;
}

static void *parts(void *failed)
{
	*(bool *)failed = unshare(CLONE_FILES) != 0;
	sem_post(&parted);
	while (sem_wait(&over) < 0)
		;
	return NULL;
}

static void what_a_thread_has_for_itself_is_found(void **state)
{
	(void)state;
	const struct waitfact_thread *t;
	pthread_t thread;
	bool failed = false;
	assert_int_equal(pipe(ends), 0);
	start(body_reads);
	assert_int_equal(sem_init(&parted, 0, 0) | sem_init(&over, 0, 0), 0);
	assert_int_equal(pthread_create(&thread, NULL, parts, &failed), 0);
	while (sem_wait(&parted) < 0)
		;
	close(ends[0]);
	close(ends[1]);
	if (!failed)
		await_fact((struct expected){WAITFACT_PIPE, true, 1, getpid()}, &t);
	sem_post(&over);
	pthread_join(thread, NULL);
	if (failed)
		skip();
}

/* A ring that keeps a descriptor which is closed then; -1: none may be made. */
static int ring_that_keeps(int fd)
{
	struct io_uring_params p = {.flags = 0};
	const int ring = (int)syscall(SYS_io_uring_setup, 1, &p);
	if (ring >= 0 && syscall(SYS_io_uring_register, ring, IORING_REGISTER_FILES, &fd, 1) != 0) {
		close(ring);
		return -1;
	}
	return ring;
}

static void what_a_ring_keeps_is_found(void **state)
{
	(void)state;
	const struct waitfact_thread *t;
	assert_int_equal(pipe(ends), 0);
	start(body_reads);
	const int ring = ring_that_keeps(ends[1]);
	close(ends[0]);
	close(ends[1]);
	if (ring < 0)
		skip();
	await_fact((struct expected){WAITFACT_PIPE, false, 1, getpid()}, &t);
	close(ring);
}

static void *pauses(void *arg)
{
	(void)arg;
	pause_for_ever();
}

static void body_leader_ends(void)
{
	pthread_t thread;
	must(pthread_create(&thread, NULL, pauses, NULL) == 0);
	syscall(SYS_exit, 0);
}

static void a_process_lives_as_long_as_one_of_its_threads(void **state)
{
	(void)state;
	const uint64_t until = clock_mono_ns() + DEADLINE_NS;
	const struct waitfact_thread *t;
	start(body_leader_ends);
	do {
		facts_read(&child, 1);
		t = waitfacts_thread(&facts, child, child);
	} while (!(t && t->ended) && clock_mono_ns() < until);
	const struct waitfact_process *p = waitfacts_process(&facts, child);
	assert_true(t && t->ended && p && p->n_threads == 2);
	assert_int_equal(p->state, 'S');
	assert_false(p->has_exit);
}

static void body_reads_timer(void)
{
	uint64_t n;
	while (read(ends[0], &n, sizeof(n)) < 0 && errno == EINTR)
		;
}

static void a_timer_may_be_set_by_who_has_a_copy(void **state)
{
	(void)state;
	const struct waitfact_thread *t;
	ends[0] = timerfd_create(CLOCK_MONOTONIC, 0);
	start(body_reads_timer);
	await_fact((struct expected){WAITFACT_EVENTFD, false, 1, child}, &t);
	assert_false(fact_of(child, WAITFACT_EVENTFD, &t)->complete);
	close(ends[0]);
	if (!a_ring_is_somewhere())
		await_fact((struct expected){WAITFACT_EVENTFD, true, 1, child}, &t);
}

static void body_epoll(void)
{
	struct epoll_event e = {.events = EPOLLIN};
	const int event = eventfd(0, EFD_CLOEXEC);
	must(event >= 0 && epoll_ctl(ends[0], EPOLL_CTL_ADD, event, &e) == 0);
	while (epoll_wait(ends[0], &e, 1, -1) < 0 && errno == EINTR)
		;
}

static bool await_cut(bool cut)
{
	const uint64_t until = clock_mono_ns() + DEADLINE_NS;
	const struct waitfact_thread *t = NULL;
	do {
		facts_read(&child, 1);
		const struct waitfact *f = fact_of(child, WAITFACT_EVENTFD, &t);
		if (f && t->cut == cut)
			return true;
		pause_1ms();
	} while (clock_mono_ns() < until);
	return false;
}

static void an_epoll_may_watch_more_for_who_has_a_copy(void **state)
{
	(void)state;
	ends[0] = epoll_create1(0);
	start(body_epoll);
	assert_true(await_cut(true));
	close(ends[0]);
	assert_true(await_cut(false));
}

/* The number of a timer that was closed, and that the epoll watches by its copy, is an event's now. */
static void body_epoll_by_number(void)
{
	struct epoll_event e = {.events = EPOLLIN};
	const int epoll = epoll_create1(0), timer = timerfd_create(CLOCK_MONOTONIC, 0), copy = dup(timer);
	must(copy >= 0 && epoll_ctl(epoll, EPOLL_CTL_ADD, timer, &e) == 0);
	must(dup2(eventfd(0, EFD_CLOEXEC), timer) == timer);
	while (epoll_wait(epoll, &e, 1, -1) < 0 && errno == EINTR)
		;
}

static void the_number_of_what_an_epoll_watches_may_be_anothers(void **state)
{
	(void)state;
	const struct waitfact_thread *t;
	const uint64_t until = clock_mono_ns() + DEADLINE_NS;
	start(body_epoll_by_number);
	do
		facts_read(&child, 1);
	while (!fact_of(child, WAITFACT_UNKNOWN, &t) && clock_mono_ns() < until);
	assert_non_null(fact_of(child, WAITFACT_UNKNOWN, &t));
	assert_null(fact_of(child, WAITFACT_EVENTFD, &t));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FACTS(what_a_thread_has_for_itself_is_found),
		FACTS(what_a_ring_keeps_is_found),
		FACTS(a_process_lives_as_long_as_one_of_its_threads),
		FACTS(a_timer_may_be_set_by_who_has_a_copy),
		FACTS(an_epoll_may_watch_more_for_who_has_a_copy),
		FACTS(the_number_of_what_an_epoll_watches_may_be_anothers),
	};
	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
