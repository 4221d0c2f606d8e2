#include "world_fixture.h"

#include "sense/speed/resctrl.h"

static struct resctrl from, to;

static int both_read(void **state)
{
	(void)state;
	struct world w = fixture_world("imc-resctrl");
	assert_int_equal(resctrl_read(&w, &from), 0);
	assert_int_equal(resctrl_read(&w, &to), 0);
	fixture_close(&w);
	return 0;
}

static int both_done(void **state)
{
	(void)state;
	resctrl_done(&from);
	resctrl_done(&to);
	return 0;
}

static size_t group_named(const char *path)
{
	for (size_t i = 0; i < to.n_groups; i++)
		if (strcmp(to.group[i].path, path) == 0)
			return i;
	fail();
	return 0;
}

static struct resctrl_row *row_named(const char *path, uint32_t cache)
{
	for (size_t i = 0; i < to.n_rows; i++)
		if (to.row[i].group == group_named(path) && to.row[i].cache == cache)
			return &to.row[i];
	fail();
	return NULL;
}

static void groups_of_both_kinds_are_found(void **state)
{
	(void)state;
	assert_int_equal(to.n_groups, 4);
	assert_int_equal(to.n_rows, 8);
	assert_true(to.group[group_named("")].control && to.group[group_named("batch")].control);
	assert_true(!to.group[group_named("mon_groups/job")].control);
	assert_true(!to.group[group_named("batch/mon_groups/inner")].control);
	assert_true(group_named("mon_groups/job") > 1); /* control groups stand first */
	assert_true(!to.local_only && !to.cut);
	assert_int_equal(row_named("", 1)->bytes, 2000000);
	assert_true(!row_named("batch", 1)->has && row_named("batch/mon_groups/inner", 0)->has);
}

static void what_a_monitoring_group_moves_counts_once(void **state)
{
	(void)state;
	double bytes = 0;
	bool least = false;
	row_named("", 0)->bytes += 500;
	row_named("mon_groups/job", 0)->bytes += 400; /* part of the 500 */
	row_named("batch", 0)->bytes += 1000;
	assert_true(resctrl_moved_all(&from, &to, &bytes, &least));
	assert_true(bytes == 1500);
	assert_true(least); /* one cache of batch has no number */
	assert_true(resctrl_moved(&from, &to, group_named("mon_groups/job"), &bytes, &least));
	assert_true(bytes == 400 && !least);
	assert_true(resctrl_moved(&from, &to, group_named("batch"), &bytes, &least));
	assert_true(bytes == 1000 && least);
}

static void a_counter_that_goes_back_was_made_anew(void **state)
{
	(void)state;
	double bytes = 7;
	bool least = false;
	row_named("mon_groups/job", 0)->bytes = 5;
	row_named("mon_groups/job", 1)->has = false;
	assert_true(!resctrl_moved(&from, &to, group_named("mon_groups/job"), &bytes, &least));
	row_named("", 0)->bytes -= 1;
	row_named("", 1)->bytes += 9;
	assert_true(resctrl_moved(&from, &to, group_named(""), &bytes, &least));
	assert_true(bytes == 9 && least);
}

static void a_group_that_was_not_there_says_nothing(void **state)
{
	(void)state;
	double bytes = 7;
	bool least;
	from.n_rows = 0;
	assert_true(!resctrl_moved_all(&from, &to, &bytes, &least) && bytes == 7);
}

static void counts_are_numbers_or_words(void **state)
{
	(void)state;
	uint64_t v = 7;
	assert_true(resctrl_count(SPAN("123\n"), &v) && v == 123);
	assert_true(!resctrl_count(SPAN("Unavailable\n"), &v));
	assert_true(!resctrl_count(SPAN("Error\n"), &v));
	assert_true(!resctrl_count(SPAN("Unassigned\n"), &v));
	assert_true(!resctrl_count(SPAN(""), &v));
	assert_true(!resctrl_count(SPAN("18446744073709551616"), &v) && v == 123);
}

static void without_the_mount_it_is_absent(void **state)
{
	(void)state;
	struct world w = fixture_world("amd-umc");
	assert_int_equal(resctrl_read(&w, &from), WORLD_ABSENT);
	fixture_close(&w);
	w.sys_fd = -1;
	assert_int_equal(resctrl_read(&w, &from), WORLD_ABSENT);
}

static void tasks_are_handed_out_as_text(void **state)
{
	(void)state;
	struct world w = fixture_world("imc-resctrl");
	cleanup(freep) char *text = NULL;
	size_t len;
	assert_int_equal(resctrl_tasks(&w, &to.group[group_named("mon_groups/job")], &text, &len), 0);
	assert_string_equal(text, "1000\n1001\n");
	const struct resctrl_group gone = {.path = "gone"};
	char *none = NULL;
	assert_int_equal(resctrl_tasks(&w, &gone, &none, &len), WORLD_GONE);
	fixture_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(groups_of_both_kinds_are_found, both_read, both_done),
		cmocka_unit_test_setup_teardown(what_a_monitoring_group_moves_counts_once, both_read, both_done),
		cmocka_unit_test_setup_teardown(a_counter_that_goes_back_was_made_anew, both_read, both_done),
		cmocka_unit_test_setup_teardown(a_group_that_was_not_there_says_nothing, both_read, both_done),
		cmocka_unit_test(counts_are_numbers_or_words),
		cmocka_unit_test(without_the_mount_it_is_absent),
		cmocka_unit_test_setup_teardown(tasks_are_handed_out_as_text, both_read, both_done),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
