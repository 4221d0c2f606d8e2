#include "testing.h"

#include "base/clock.h"
#include "sense/death/journal.h"

static struct killer_line lines[4];

static void a_recorded_machine_has_no_journal(void **state)
{
	(void)state;
	struct world w = {.recorded = true, .mono_ns = clock_mono_ns, .unix_ms = clock_unix_ms};
	struct killerlog k;
	char why[120] = "";
	size_t n = 7;
	killerlog_init(&k, "journal", lines, ARRAY_SIZE(lines));
	assert_int_equal(journal_read_killers(&w, 0, INT64_MAX, UINT64_MAX, 10, &k, why, &n), WORLD_ABSENT);
	assert_true(why[0] != '\0');
	assert_int_equal(n, 7);
}

static void the_live_journal_is_read_or_says_why_not(void **state)
{
	(void)state;
	struct world w = {.mono_ns = clock_mono_ns, .unix_ms = clock_unix_ms};
	struct killerlog k;
	char why[120] = "";
	size_t n = 0;
	int64_t now = clock_unix_ms();
	killerlog_init(&k, "journal", lines, ARRAY_SIZE(lines));
	int r = journal_read_killers(&w, now - 60000, now, clock_mono_ns() + NS_PER_S, 100, &k, why, &n);
	assert_true(r == 0 || r == WORLD_ABSENT || r == WORLD_DENIED);
	assert_true((r == 0) == (why[0] == '\0'));
	assert_true(n <= 100 && k.n <= ARRAY_SIZE(lines));
}

static void a_deadline_in_the_past_reads_nothing(void **state)
{
	(void)state;
	struct world w = {.mono_ns = clock_mono_ns, .unix_ms = clock_unix_ms};
	struct killerlog k;
	char why[120] = "";
	size_t n = 0;
	killerlog_init(&k, "journal", lines, ARRAY_SIZE(lines));
	ignore(journal_read_killers(&w, 0, INT64_MAX, 0, 100, &k, why, &n), "any condition will do: it must not read");
	assert_int_equal(n, 0);
	assert_int_equal(k.n, 0);
}

static void what_another_user_writes_in_a_killers_name_is_not_believed(void **state)
{
	(void)state;
	const struct span none = {NULL, 0};
	assert_true(journal_sender_is_believed(SPAN("kernel"), none, 1000));
	assert_true(journal_sender_is_believed(SPAN("stdout"), SPAN("0"), 1000));
	assert_true(journal_sender_is_believed(SPAN("journal"), SPAN("997"), 0)); /* systemd-oom */
	assert_true(journal_sender_is_believed(SPAN("stdout"), SPAN("61440"), 0)); /* earlyoom, DynamicUser=yes */
	assert_true(journal_sender_is_believed(SPAN("stdout"), SPAN("1000"), 1000));
	assert_false(journal_sender_is_believed(SPAN("syslog"), SPAN("1000"), 0));
	assert_false(journal_sender_is_believed(SPAN("syslog"), SPAN("1001"), 1000));
	assert_false(journal_sender_is_believed(SPAN("syslog"), SPAN("65534"), 0)); /* nobody */
	assert_false(journal_sender_is_believed(SPAN("syslog"), none, 0));
	assert_false(journal_sender_is_believed(SPAN("syslog"), SPAN("0x"), 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_recorded_machine_has_no_journal),
		cmocka_unit_test(the_live_journal_is_read_or_says_why_not),
		cmocka_unit_test(a_deadline_in_the_past_reads_nothing),
		cmocka_unit_test(what_another_user_writes_in_a_killers_name_is_not_believed),
	};
	return cmocka_run_group_tests_name("sense/death/journal", tests, NULL, NULL);
}
