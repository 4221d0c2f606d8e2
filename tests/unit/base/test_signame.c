/* Signals by name, both ways. */
#include "testing.h"

#include <signal.h>

#include "base/signame.h"

static void a_signal_has_its_shell_name(void **state)
{
	(void)state;
	assert_string_equal(signame(SIGKILL), "SIGKILL");
	assert_string_equal(signame(SIGSYS), "SIGSYS");
	assert_null(signame(0));
	assert_null(signame(33));
	assert_string_equal(signame(SIGRTMIN), "SIGRTMIN");
	assert_string_equal(signame(SIGRTMIN + 3), "SIGRTMIN+3");
	assert_string_equal(signame(49), "SIGRTMIN+15");
	assert_string_equal(signame(50), "SIGRTMAX-14");
	assert_string_equal(signame(SIGRTMAX), "SIGRTMAX");
}

static void every_way_of_writing_a_signal_is_understood(void **state)
{
	(void)state;
	assert_int_equal(signame_parse(SPAN("SIGTERM")), SIGTERM);
	assert_int_equal(signame_parse(SPAN("TERM")), SIGTERM);
	assert_int_equal(signame_parse(SPAN("Terminated")), SIGTERM);
	assert_int_equal(signame_parse(SPAN(" Bus error\n")), SIGBUS);
	assert_int_equal(signame_parse(SPAN("9")), SIGKILL);
	assert_int_equal(signame_parse(SPAN("64")), 64);
	assert_int_equal(signame_parse(SPAN("SIGRTMIN")), SIGRTMIN);
	assert_int_equal(signame_parse(SPAN("RTMAX-1")), SIGRTMAX - 1);
}

static void what_names_no_signal_is_0(void **state)
{
	(void)state;
	assert_int_equal(signame_parse(SPAN("")), 0);
	assert_int_equal(signame_parse(SPAN("0")), 0);
	assert_int_equal(signame_parse(SPAN("65")), 0);
	assert_int_equal(signame_parse(SPAN("-9")), 0);
	assert_int_equal(signame_parse(SPAN("SIGKILLED")), 0);
	assert_int_equal(signame_parse(SPAN("sigkill")), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_signal_has_its_shell_name),
		cmocka_unit_test(every_way_of_writing_a_signal_is_understood),
		cmocka_unit_test(what_names_no_signal_is_0),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
