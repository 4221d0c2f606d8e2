#include "made_world.h"

#include "agent/wait/waitlocks.h"

static struct made_world made;
static struct waithint *hints;
static size_t n_hints, cap_hints;

static int begin(void **state)
{
	(void)state;
	made_begin(&made);
	made_now_ns = 100 * NS_PER_S;
	return 0;
}

static int end(void **state)
{
	(void)state;
	free(hints);
	hints = NULL;
	n_hints = cap_hints = 0;
	made_end(&made);
	return 0;
}

/* One process whose main thread waits for this; it has ended meanwhile, so nothing is found in it. */
static int read_of(enum waitfact_kind kind, uint64_t until_ns, const volatile bool *stop)
{
	struct waitfact_process process = {.pid = 40, .wanted = true, .n_threads = 1};
	struct waitfact_thread thread = {.pid = 40, .tid = 40, .n = 1};
	struct waitfact fact = {.kind = kind};
	const struct waitgraph_who who = {.pid = 40, .main = true};
	const struct waitfacts facts = {
		.process = &process, .n_processes = 1, .thread = &thread, .n_threads = 1, .fact = &fact, .n_facts = 1};
	return waitlocks_read(&made.w, NULL, &facts, &who, 1, until_ns, stop, &hints, &n_hints, &cap_hints);
}

static void a_lock_that_nobody_was_asked_about_is_told(void **state)
{
	(void)state;
	static const volatile bool stop = true;
	assert_int_equal(read_of(WAITFACT_FUTEX, made_now_ns + NS_PER_S, NULL), 0);
	assert_int_equal(read_of(WAITFACT_FUTEX, made_now_ns - 1, NULL), WAITLOCKS_LATE);
	assert_int_equal(read_of(WAITFACT_FUTEX, made_now_ns + NS_PER_S, &stop), WAITLOCKS_LATE);
	assert_int_equal(n_hints, 0);
}

static void who_has_no_question_for_python_is_never_late(void **state)
{
	(void)state;
	assert_int_equal(read_of(WAITFACT_TCP, made_now_ns - 1, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_lock_that_nobody_was_asked_about_is_told, begin, end),
		cmocka_unit_test_setup_teardown(who_has_no_question_for_python_is_never_late, begin, end),
	};
	return cmocka_run_group_tests_name("agent/waitlocks", tests, NULL, NULL);
}
