#include "testing.h"
#include "world_fixture.h"

#include "agent/memory/pss.h"

/* Static: a thread that is left behind may read from it. */
static struct world w;

static void a_process_is_measured_and_one_that_is_gone_is_not(void **state)
{
	(void)state;
	struct footprint_row rows[2] = {{.pid = getpid()}, {.pid = 4194304 + 1}};
	w = live_world();
	assert_int_equal(pss_read(&w, rows, 2, 30 * NS_PER_S), 0);
	assert_int_equal(rows[0].pss, PSS_KNOWN);
	assert_true(rows[0].pss_bytes > 4096);
	assert_int_equal(rows[1].pss, PSS_NOT_ASKED);
	assert_int_equal(rows[1].pss_bytes, 0);
	fixture_close(&w);
}

static void rows_beyond_the_limit_are_not_touched(void **state)
{
	(void)state;
	static struct footprint_row rows[70];
	w = live_world();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		rows[i] = (struct footprint_row){.pid = getpid()};
	assert_int_equal(pss_read(&w, rows, ARRAY_SIZE(rows), 30 * NS_PER_S), 0);
	assert_int_equal(rows[63].pss, PSS_KNOWN);
	assert_int_equal(rows[64].pss, PSS_NOT_ASKED);
	assert_int_equal(pss_read(&w, rows, 0, NS_PER_S), 0);
	fixture_close(&w);
}

static uint64_t stopped_ns(void)
{
	return 1; /* so that any deadline has passed on the real clock */
}

static void without_time_rows_are_late(void **state)
{
	(void)state;
	static struct world late; /* stays open for the thread */
	struct footprint_row rows[8];
	late = live_world();
	late.mono_ns = stopped_ns;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		rows[i] = (struct footprint_row){.pid = getpid()};
	size_t n = pss_read(&late, rows, ARRAY_SIZE(rows), 0), counted = 0;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_true(rows[i].pss == PSS_LATE || rows[i].pss == PSS_KNOWN);
		counted += rows[i].pss == PSS_LATE;
	}
	assert_int_equal(n, counted);
}

static void what_was_begun_is_taken_later_or_dropped(void **state)
{
	(void)state;
	static struct footprint_row rows[64];
	w = live_world();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		rows[i] = (struct footprint_row){.pid = getpid(), .own_bytes = UINT64_MAX};
	struct pss_work *k = pss_begin(&w, rows, ARRAY_SIZE(rows), 30 * NS_PER_S);
	assert_non_null(k);
	rows[0].rss_bytes = 7; /* filled meanwhile */
	assert_int_equal(pss_take(k, rows, ARRAY_SIZE(rows)), 0);
	assert_int_equal(rows[0].pss, PSS_KNOWN);
	assert_int_equal(rows[63].pss, PSS_KNOWN);
	assert_true(rows[0].own_bytes < UINT64_MAX && rows[0].rss_bytes == 7);
	static struct world dropped; /* stays open for the thread */
	dropped = live_world();
	assert_null(pss_drop(pss_begin(&dropped, rows, ARRAY_SIZE(rows), 30 * NS_PER_S)));
	assert_null(pss_drop(NULL));
	assert_null(pss_begin(&w, rows, 0, NS_PER_S));
	assert_int_equal(pss_take(NULL, rows, 3), 3);
	fixture_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_is_measured_and_one_that_is_gone_is_not),
		cmocka_unit_test(rows_beyond_the_limit_are_not_touched),
		cmocka_unit_test(without_time_rows_are_late),
		cmocka_unit_test(what_was_begun_is_taken_later_or_dropped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
