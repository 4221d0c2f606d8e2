#include "agent/scratch_fixture.h"

#include <poll.h>

#include "act/reaper.h"

#define DEADLINE_NS (20 * NS_PER_S)

static struct reaper reaper;

static int start(void **state)
{
	(void)state;
	return reaper_start(&reaper);
}

static bool comes_to_rest(void)
{
	const uint64_t until = clock_mono_ns() + DEADLINE_NS;
	while (!reaper_idle(&reaper) && clock_mono_ns() < until)
		(void)nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
	return reaper_idle(&reaper);
}

static void a_reaper_that_was_not_started_takes_nothing(void **state)
{
	(void)state;
	static struct reaper none;
	struct target t = {.pidfd = -1};
	assert_false(reaper_push(&none, &t));
	assert_true(reaper_idle(&none));
	assert_int_equal(reaper_worked(&none), 0);
}

static void a_process_that_lives_is_not_reaped(void **state)
{
	(void)state;
	struct world w = live_world();
	pid_t pid = child_start();
	struct target t = {.id = {pid, start_ticks_of(&w, pid)}, .pidfd = -1};
	uint32_t before = reaper_worked(&reaper);
	assert_int_equal(target_open(&w, &t, true), 0);
	assert_true(reaper_push(&reaper, &t));
	assert_true(comes_to_rest());
	assert_int_equal(reaper_worked(&reaper), before);
	assert_int_equal(kill(pid, 0), 0);
	target_close(&t);
	child_end(pid);
	fixture_close(&w);
}

static void more_than_the_queue_holds_goes_through_it(void **state)
{
	(void)state;
	struct target t = {.pidfd = -1}; /* cannot be reaped; is counted as done all the same */
	uint32_t before = reaper_worked(&reaper);
	const uint64_t until = clock_mono_ns() + DEADLINE_NS;
	for (size_t i = 0; i < 3 * REAPER_QUEUE;) {
		assert_true(clock_mono_ns() < until);
		i += reaper_push(&reaper, &t);
	}
	assert_true(comes_to_rest());
	assert_int_equal(atomic_load(&reaper.done), atomic_load(&reaper.pushed));
	assert_int_equal(reaper_worked(&reaper), before);
}

static void a_full_queue_refuses(void **state)
{
	(void)state;
	static struct reaper full; /* without threads nothing leaves the queue */
	int pair[2];
	assert_int_equal(pipe2(pair, O_CLOEXEC | O_NONBLOCK), 0);
	full.running = true;
	full.wake_fd = pair[1];
	struct target t = {.pidfd = -1};
	for (size_t i = 0; i < REAPER_QUEUE; i++)
		assert_true(reaper_push(&full, &t));
	assert_false(reaper_push(&full, &t));
	assert_false(reaper_idle(&full));
	closep(&pair[0]);
	closep(&pair[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_reaper_that_was_not_started_takes_nothing),
		cmocka_unit_test(a_process_that_lives_is_not_reaped),
		cmocka_unit_test(more_than_the_queue_holds_goes_through_it),
		cmocka_unit_test(a_full_queue_refuses),
	};
	return cmocka_run_group_tests(tests, start, NULL);
}
