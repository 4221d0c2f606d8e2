#include "testing.h"
#include "world_fixture.h"

#include <sys/wait.h>

#include "sense/proc/lastpid.h"

static void the_last_word_is_the_number(void **state)
{
	(void)state;
	pid_t pid = 0;
	assert_int_equal(lastpid_parse(span_of("18470\n"), &pid), 0);
	assert_int_equal(pid, 18470);
	assert_int_equal(lastpid_parse(span_of("9.07 12.23 9.55 11/501 18471\n"), &pid), 0);
	assert_int_equal(pid, 18471);
}

static void what_is_no_number_is_refused(void **state)
{
	(void)state;
	static const char *const texts[] = {"", "\n", "0", "-1", "12x", "9.07", "4294967296", "99999999999999999999"};
	pid_t pid = 7;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		assert_int_equal(lastpid_parse(span_of(texts[i]), &pid), -EBADMSG);
	assert_int_equal(pid, 7);
}

/* Numbers begin anew at times: then it is tried again. */
static void who_begins_has_a_number_between_two_readings(void **state)
{
	(void)state;
	struct world w = live_world();
	for (int tries = 0; tries < 3; tries++) {
		pid_t before, after;
		if (lastpid_read(&w, &before) != 0)
			skip();
		pid_t child = fork();
		if (child == 0)
			_exit(0);
		assert_int_equal(waitpid(child, NULL, 0), child);
		assert_int_equal(lastpid_read(&w, &after), 0);
		if (after < before)
			continue;
		assert_true(child > before && child <= after);
		break;
	}
	fixture_close(&w);
}

static void a_world_without_it_is_absent(void **state)
{
	(void)state;
	struct world w = {.proc_fd = -1, .recorded = true};
	pid_t pid;
	assert_int_equal(lastpid_read(&w, &pid), WORLD_ABSENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_word_is_the_number),
		cmocka_unit_test(what_is_no_number_is_refused),
		cmocka_unit_test(who_begins_has_a_number_between_two_readings),
		cmocka_unit_test(a_world_without_it_is_absent),
	};
	return cmocka_run_group_tests_name("sense/proc/lastpid", tests, NULL, NULL);
}
