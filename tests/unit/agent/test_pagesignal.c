#include "testing.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/jobs/pagesignal.h"
#include "scratch_fixture.h"

static struct store *opened(void)
{
	char note[256];
	struct fault f = {.text = ""};
	struct store *s;
	assert_int_equal(store_open(scratch, STORE_WRITE, &s, note, &f), 0);
	return s;
}

static void what_was_sent_is_read_for_its_job_alone(void **state)
{
	(void)state;
	cleanup(store_closep) struct store *s = opened();
	const struct signal_sent term = {.signal = SIGTERM,
					 .target = 50,
					 .target_start_ticks = 7,
					 .sender = 9,
					 .sender_uid = 1000,
					 .page_role = "admin",
					 .time_unix_ms = 1795215897900};
	struct signal_sent kill = term, got[4];
	kill.signal = SIGKILL;
	assert_int_equal(pagesignal_put(s, "a", &term), 0);
	assert_int_equal(pagesignal_put(s, "a", &kill), 0);
	assert_int_equal(pagesignal_read(s, NULL, "b", got, 4), 0);
	assert_int_equal(pagesignal_read(NULL, scratch, "a", got, 4), 0);
	assert_int_equal(pagesignal_read(s, NULL, "a", got, 1), 1);
	assert_int_equal(pagesignal_drop(s, "a", &kill), 0);
	assert_int_equal(pagesignal_read(s, NULL, "a", got, 4), 1);
	assert_int_equal(got[0].signal, SIGTERM);
	assert_int_equal(got[0].target, 50);
	assert_int_equal(got[0].target_start_ticks, 7);
	assert_int_equal(got[0].sender, 9);
	assert_int_equal(got[0].sender_uid, 1000);
	assert_int_equal(got[0].time_unix_ms, 1795215897900);
	assert_string_equal(got[0].page_role, "admin");
	assert_string_equal(got[0].sender_comm, "vigil");
}

static void a_note_that_says_something_else_is_passed_over(void **state)
{
	(void)state;
	static const struct {
		const char *key, *value;
	} wrong[] = {
		{"page_signal", "1795215897900 9 0 admin"},
		{"page_signal x 7 15", "1795215897900 9 0 admin"},
		{"page_signal 50 7 99", "1795215897900 9 0 admin"},
		{"page_signal 50 7 15", "1795215897900 9 0"},
		{"page_signal 50 7 9", "-1 9 0 admin"},
		{"page_signals 50 7 15", "1795215897900 9 0 admin"},
		{"guard_threshold_ratio", "0.9"},
	};
	cleanup(store_closep) struct store *s = opened();
	struct signal_sent got[8];
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_int_equal(store_put_note(s, "a", wrong[i].key, wrong[i].value), 0);
	assert_int_equal(pagesignal_read(s, NULL, "a", got, 8), 0);
}

static void what_no_store_took_is_in_the_folder(void **state)
{
	(void)state;
	struct signal_sent term = {.signal = SIGTERM,
				   .target = 50,
				   .target_start_ticks = 7,
				   .sender = 9,
				   .page_role = "admin",
				   .time_unix_ms = 1795215897900};
	struct signal_sent kill = term, got[4];
	kill.signal = SIGKILL;
	assert_int_equal(pagesignal_keep(scratch, &term), 0);
	assert_int_equal(pagesignal_keep(scratch, &kill), 0);
	term.time_unix_ms += 100;
	assert_int_equal(pagesignal_keep(scratch, &term), 0);
	assert_int_equal(pagesignal_read(NULL, scratch, "a", got, 4), 2);
	assert_int_equal(got[0].signal, SIGKILL);
	assert_int_equal(got[1].signal, SIGTERM);
	assert_int_equal(got[1].time_unix_ms, 1795215898000);
	assert_string_equal(got[1].page_role, "admin");
	assert_int_equal(pagesignal_unkeep(scratch, &term), 0);
	assert_int_equal(pagesignal_read(NULL, scratch, "a", got, 4), 1);
	assert_int_equal(got[0].signal, SIGKILL);
	/* both have it: it is one */
	cleanup(store_closep) struct store *s = opened();
	assert_int_equal(pagesignal_put(s, "c", &kill), 0);
	assert_int_equal(pagesignal_read(s, scratch, "c", got, 4), 1);
}

static void a_folder_of_others_or_a_link_in_it_is_not_written_to(void **state)
{
	(void)state;
	const struct signal_sent term = {.signal = SIGTERM, .target = 50, .sender = 9, .time_unix_ms = 1};
	struct signal_sent got[2];
	assert_int_equal(symlink(scratch_path("elsewhere"), scratch_path("page-signals")), 0);
	assert_true(pagesignal_keep(scratch, &term) < 0);
	assert_int_equal(access(scratch_path("elsewhere"), F_OK), -1);
	assert_int_equal(unlink(scratch_path("page-signals")), 0);
	assert_int_equal(mkfifo(scratch_path("page-signals"), 0600), 0);
	assert_true(pagesignal_keep(scratch, &term) < 0);
	assert_int_equal(pagesignal_read(NULL, scratch, "a", got, 2), 0); /* and waits for nobody */
	assert_true(pagesignal_keep(scratch_path("missing"), &term) < 0);
	assert_true(pagesignal_keep("", &term) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_was_sent_is_read_for_its_job_alone, scratch_make, scratch_remove),
		cmocka_unit_test_setup_teardown(what_no_store_took_is_in_the_folder, scratch_make, scratch_remove),
		cmocka_unit_test_setup_teardown(a_folder_of_others_or_a_link_in_it_is_not_written_to, scratch_make,
						scratch_remove),
		cmocka_unit_test_setup_teardown(a_note_that_says_something_else_is_passed_over, scratch_make,
						scratch_remove),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
