#include "testing.h"

#include <stdlib.h>

#include "agent/rules/rulefiles.h"
#include "made_world.h"

static struct made_world made;

static int begin(void **state)
{
	(void)state;
	made_begin(&made);
	made_folder(&made, "data/rules");
	made_write(&made, "data/rules/kernel.rules", "", 0);
	return 0;
}

static int end(void **state)
{
	(void)state;
	made_end(&made);
	return unsetenv("VIGIL_DATA_DIR");
}

static const char *path_of(const char *name, char dst[static 200])
{
	(void)text_format(dst, 200, "%s/%s", made.dir, name);
	return dst;
}

static void data_dir_use(const char *name)
{
	char path[200];
	assert_int_equal(setenv("VIGIL_DATA_DIR", path_of(name, path), 1), 0);
}

static void a_missing_file_is_named(void **state)
{
	(void)state;
	cleanup(rulebook_done) struct rulebook b = {.rules = NULL};
	struct fault f = {.text = ""};
	assert_int_equal(rulefiles_add(&b, "/nowhere/x.rules", &f), -ENOENT);
	assert_string_equal(f.text, "cannot read the rules /nowhere/x.rules: No such file or directory");
}

static void a_mistake_is_reported_with_its_file_and_line(void **state)
{
	(void)state;
	cleanup(rulebook_done) struct rulebook b = {.rules = NULL};
	struct fault f = {.text = ""};
	char path[200], where[220];
	made_write(&made, "bad.rules", "\nthis is no rule\n", 17);
	assert_true(rulefiles_add(&b, path_of("bad.rules", path), &f) < 0);
	TEXT_FORMAT(where, "%s:2", path);
	assert_non_null(strstr(f.text, where));
}

static void no_list_and_empty_parts_of_a_list_add_nothing(void **state)
{
	(void)state;
	cleanup(rulebook_done) struct rulebook b = {.rules = NULL};
	struct fault f = {.text = ""};
	assert_int_equal(rulefiles_add_list(&b, NULL, &f), 0);
	assert_int_equal(rulefiles_add_list(&b, " , ,", &f), 0);
	assert_int_equal(b.n, 0);
}

static void each_file_of_a_list_is_added(void **state)
{
	(void)state;
	cleanup(rulebook_done) struct rulebook one = {.rules = NULL}, two = {.rules = NULL};
	struct fault f = {.text = ""};
	char list[900];
	TEXT_FORMAT(list, "%s/kernel.rules", RULES);
	assert_int_equal(rulefiles_add(&one, list, &f), 0);
	TEXT_FORMAT(list, "%s/kernel.rules , %s/data.rules,/nowhere/y.rules", RULES, RULES);
	assert_int_equal(rulefiles_add_list(&two, list, &f), -ENOENT);
	assert_non_null(strstr(f.text, "/nowhere/y.rules"));
	assert_true(one.n > 0 && two.n > one.n);
}

static void own_rules_are_found_in_the_data_folder_or_missed_by_name(void **state)
{
	(void)state;
	cleanup(rulebook_done) struct rulebook b = {.rules = NULL};
	struct fault f = {.text = ""};
	data_dir_use("data");
	assert_int_equal(rulefiles_there(&made.w, &f), 0);
	assert_int_equal(rulefiles_own(&made.w, &b, &f), 0);
	assert_int_equal(b.n, 0);
	data_dir_use("no-data");
	assert_int_equal(rulefiles_there(&made.w, &f), -ENOENT);
	assert_non_null(strstr(f.text, "no-data/rules; set VIGIL_DATA_DIR"));
	assert_int_equal(rulefiles_try(&made.w, NULL, &f), -ENOENT);
}

static void files_that_are_hidden_or_no_rules_are_not_read(void **state)
{
	(void)state;
	cleanup(rulebook_done) struct rulebook b = {.rules = NULL};
	struct fault f = {.text = ""};
	data_dir_use("data");
	made_write(&made, "data/rules/.old.rules", "broken\n", 7);
	made_write(&made, "data/rules/README", "broken\n", 7);
	made_write(&made, "data/rules/.rules", "broken\n", 7);
	assert_int_equal(rulefiles_own(&made.w, &b, &f), 0);
	made_write(&made, "data/rules/z.rules", "broken\n", 7);
	assert_true(rulefiles_try(&made.w, NULL, &f) < 0);
	assert_non_null(strstr(f.text, "z.rules:1"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_missing_file_is_named),
		cmocka_unit_test(a_mistake_is_reported_with_its_file_and_line),
		cmocka_unit_test(no_list_and_empty_parts_of_a_list_add_nothing),
		cmocka_unit_test(each_file_of_a_list_is_added),
		cmocka_unit_test(own_rules_are_found_in_the_data_folder_or_missed_by_name),
		cmocka_unit_test(files_that_are_hidden_or_no_rules_are_not_read),
	};
	return cmocka_run_group_tests(tests, begin, end);
}
