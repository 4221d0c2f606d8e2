/* Who has made the files of a folder, by the kinds of their names. */
#include "testing.h"

#include "base/buf.h"
#include "model/jobs/filehist.h"

static struct filehist h;
static struct filehist_found found;

static void row(uint64_t folder, const char *name, pid_t pid, bool ours, bool went)
{
	filehist_add(&h, &(struct filehist_row){folder, name, pid, ours, !went, went});
}

static bool asks(const char *name, pid_t looker)
{
	return filehist_find(&h, 7, name, looker, &found);
}

static int begin(void **state)
{
	(void)state;
	h = (struct filehist){.n_folders = 0};
	assert_true(filehist_watch(&h, 7));
	return 0;
}

static void files_that_differ_in_numbers_are_of_one_kind(void **state)
{
	(void)state;
	row(7, "step-9.done", 11, true, false);
	row(7, "step-10.done", 11, true, false);
	row(7, "step-10.part", 12, true, false);
	assert_true(asks("step-11.done", 20));
	assert_int_equal(found.n, 2);
	assert_int_equal(found.pid, 11);
	assert_string_equal(found.last, "step-10.done");
	assert_false(found.by_others);
	assert_int_equal(found.n_folder, 3);
	assert_int_equal(found.removed_by, 0);
	assert_true(asks("stop-11.done", 20));
	assert_int_equal(found.n, 0);
	assert_string_equal(found.last, "");
}

static void what_the_one_that_looks_has_made_does_not_count(void **state)
{
	(void)state;
	row(7, "done-3.0", 10, true, false);
	row(7, "done-3.1", 11, true, false);
	row(7, "done-3.2", 12, true, false);
	row(7, "done-4.0", 10, true, false);
	assert_true(asks("done-4.1", 10));
	assert_int_equal(found.n, 2);
	assert_int_equal(found.pid, 12);
}

static void what_somebody_else_has_made_is_known(void **state)
{
	(void)state;
	row(7, "score-1", 11, true, false);
	row(7, "score-2", 99, false, false);
	row(7, "part-1", 11, true, false);
	assert_true(asks("score-3", 20));
	assert_true(found.by_others && found.folder_by_others);
	assert_true(asks("part-2", 20));
	assert_true(!found.by_others && found.folder_by_others);
}

static void who_removed_a_file_is_known(void **state)
{
	(void)state;
	row(7, "ckpt-100", 11, true, false);
	row(7, "ckpt-100", 12, true, true);
	row(7, "ckpt-90", 13, true, true);
	assert_true(asks("ckpt-100", 20));
	assert_int_equal(found.removed_by, 12);
	assert_true(asks("ckpt-110", 20));
	assert_int_equal(found.removed_by, 0);
}

static void whose_file_is_in_the_way_and_how_that_one_ended_is_known(void **state)
{
	(void)state;
	row(7, "op.lock", 11, true, false);
	row(7, "op.lock", 11, true, true);
	row(7, "op.lock", 12, true, false);
	assert_true(asks("op.lock", 20));
	assert_true(found.made_by == 12 && !found.maker_ended && !found.taken_by_others);
	filehist_end(&h, 11, 256);
	filehist_end(&h, 12, 9);
	filehist_end(&h, 12, 0); /* told again, of another one with its number */
	assert_true(asks("op.lock", 20));
	assert_true(found.made_by == 12 && found.maker_ended && found.maker_status == 9);
	row(7, "op.lock", 13, true, true);
	assert_true(asks("op.lock", 20));
	assert_true(found.made_by == 0 && found.taken_by_others);
	row(7, "new.lock", 12, true, false);
	row(7, "new.lock", 14, true, false); /* written over */
	assert_true(asks("new.lock", 20));
	assert_true(found.made_by == 14 && !found.maker_ended && !found.taken_by_others);
}

static void a_folder_that_is_not_watched_says_nothing(void **state)
{
	(void)state;
	row(8, "ckpt-1", 11, true, false);
	assert_false(filehist_find(&h, 8, "ckpt-2", 20, &found));
	h.lost = true;
	assert_false(asks("ckpt-2", 20));
	h.lost = false;
	for (uint64_t i = 1; i < FILEHIST_FOLDERS; i++)
		assert_true(filehist_watch(&h, 100 + i));
	assert_true(filehist_watch(&h, 7));
	assert_false(filehist_watch(&h, 8));
}

/* Names without number, as of temporary files, push out what is known of others: that those were there stays known. */
static void many_kinds_push_out_the_oldest(void **state)
{
	(void)state;
	char name[8] = "tmp-aa";
	row(7, "score-1", 99, false, false);
	for (int i = 0; i < FILEHIST_KINDS; i++) {
		name[4] = (char)('a' + i / 26);
		name[5] = (char)('a' + i % 26);
		row(7, name, 11, true, false);
	}
	row(7, "score-2", 11, true, false);
	row(7, "score-3", 11, true, false);
	assert_true(asks("score-4", 20));
	assert_int_equal(found.n, 2);
	assert_true(found.by_others);
}

static void a_name_that_is_too_long_is_left_out(void **state)
{
	(void)state;
	char name[2 * FILEHIST_NAME];
	for (size_t i = 0; i + 1 < sizeof(name); i++)
		name[i] = 'x';
	name[sizeof(name) - 1] = '\0';
	row(7, name, 11, true, false);
	assert_false(asks(name, 20));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(files_that_differ_in_numbers_are_of_one_kind, begin),
		cmocka_unit_test_setup(what_the_one_that_looks_has_made_does_not_count, begin),
		cmocka_unit_test_setup(what_somebody_else_has_made_is_known, begin),
		cmocka_unit_test_setup(who_removed_a_file_is_known, begin),
		cmocka_unit_test_setup(whose_file_is_in_the_way_and_how_that_one_ended_is_known, begin),
		cmocka_unit_test_setup(a_folder_that_is_not_watched_says_nothing, begin),
		cmocka_unit_test_setup(many_kinds_push_out_the_oldest, begin),
		cmocka_unit_test_setup(a_name_that_is_too_long_is_left_out, begin),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
