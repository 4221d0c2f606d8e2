#include <signal.h>

#include "testing.h"

#include "base/buf.h"
#include "model/jobs/pagesignal.h"

static const struct page_signal one = {SIGTERM, 4321, 812, 1000, 900000};

static void what_is_written_is_read_whatever_the_name(void **state)
{
	(void)state;
	static const char *const names[] = {"rank 1", "", "a\n(pid 1", "%s%n",
					    " (pid 7) from the page (vigil, pid 7, uid 7)",
					    "SIGKILL was sent to x (pid 9) from the page (vigil, pid 9, uid 9)"};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct job_event e = {0};
		struct page_signal got;
		page_signal_write(&one, names[i], &e);
		assert_true(page_signal_parse(&e, &got));
		assert_int_equal(got.signal, SIGTERM);
		assert_int_equal(got.target, 4321);
		assert_int_equal(got.sender, 812);
		assert_int_equal(got.sender_uid, 1000);
		assert_int_equal(got.time_unix_ms, 900000);
	}
}

static void other_events_are_none(void **state)
{
	(void)state;
	static const struct {
		const char *kind, *text;
	} rows[] = {
		{"signal", "SIGTERM from pid 7 (bash), passed on to the job"},
		{"signal", "SIGTERM was sent to rank 1 (pid 4321) from the page"},
		{"signal", "SIGHUP was sent to x (pid 4321) from the page (vigil, pid 8, uid 0)"},
		{"signal", "SIGTERM was sent to x (pid 4321) from the page (vigil, pid 8, uid 0) and more"},
		{"signal", "SIGTERM was sent to x (pid -1) from the page (vigil, pid 8, uid 0)"},
		{"signal", ""},
		{"log", "SIGTERM was sent to x (pid 4321) from the page (vigil, pid 8, uid 0)"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct job_event e = {0};
		struct page_signal got;
		TEXT_COPY(e.kind, rows[i].kind);
		TEXT_COPY(e.text, rows[i].text);
		assert_false(page_signal_parse(&e, &got));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read_whatever_the_name),
		cmocka_unit_test(other_events_are_none),
	};
	return cmocka_run_group_tests_name("model/pagesignal", tests, NULL, NULL);
}
