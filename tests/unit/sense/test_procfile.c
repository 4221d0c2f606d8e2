#include "testing.h"

#include "sense/proc/procfile.h"

static struct foreign_user user_of(const char *status)
{
	struct foreign_user u = {.uid = 99};
	assert_int_equal(procfile_user_parse(span_of(status), &u), 0);
	return u;
}

static void the_user_is_the_one_who_started_it(void **state)
{
	(void)state;
	struct foreign_user u = user_of("Name:\tx\nUid:\t7\t7\t7\t7\nGid:\t8\t8\t8\t8\nGroups:\t8 9 10 \n");
	assert_true(u.uid == 7 && u.gid == 8 && u.n_groups == 3 && u.group[2] == 10);
	u = user_of("Uid:\t7\t0\t0\t0\nGid:\t8\t0\t0\t0\nGroups:\t\n"); /* set-user-ID of root */
	assert_true(u.uid == 7 && u.gid == 8 && u.n_groups == 0);
	u = user_of("Uid:\t0\t7\t0\t7\nGid:\t0\t8\t0\t8\n"); /* root that gave rights up for a while */
	assert_true(u.uid == 7 && u.gid == 8);
	u = user_of("Uid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t5\n");
	assert_true(u.uid == 0 && u.gid == 5);
}

static void what_is_cut_names_nobody(void **state)
{
	(void)state;
	static const char *const bad[] = {"", "Uid:\t7\t7\t7\nGid:\t8\t8\t8\t8\n",
					  "Uid:\t7\t7\t7\tx\nGid:\t8\t8\t8\t8\n", "Uid:\t7\t7\t7\t7\n",
					  "Uid:\t7\t7\t7\t4294967296\nGid:\t8\t8\t8\t8\n"};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct foreign_user u;
		assert_int_equal(procfile_user_parse(span_of(bad[i]), &u), -EBADMSG);
	}
}

static void only_a_descriptor_for_writing_writes(void **state)
{
	(void)state;
	assert_true(procfile_writes_parse("pos:\t0\nflags:\t0100001\nmnt_id:\t29\n"));
	assert_true(procfile_writes_parse("pos:\t0\nflags:\t0102002\n"));
	assert_false(procfile_writes_parse("pos:\t0\nflags:\t0100000\n"));
	assert_false(procfile_writes_parse("pos:\t0\nflags:\t010000001\n")); /* O_PATH, whatever else is set */
	assert_false(procfile_writes_parse("pos:\t0\n"));
	assert_false(procfile_writes_parse(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_user_is_the_one_who_started_it),
		cmocka_unit_test(what_is_cut_names_nobody),
		cmocka_unit_test(only_a_descriptor_for_writing_writes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
