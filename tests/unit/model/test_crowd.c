#include "testing.h"

#include "model/jobs/crowd.h"

static struct crowd_member m[80];
static size_t n;

static int none(void **state)
{
	(void)state;
	n = 0;
	return 0;
}

static void add(uid_t uid, uint64_t mib, bool has_place)
{
	m[n] = (struct crowd_member){.pid = (pid_t)n + 1, .uid = uid, .bytes = mib * MIB, .has_place = has_place};
	n++;
}

static size_t chosen_of(uid_t uid)
{
	size_t found = 0;
	for (size_t i = 0; i < n; i++)
		found += m[i].uid == uid && m[i].chosen;
	return found;
}

static void whoever_fits_is_chosen(void **state)
{
	(void)state;
	add(1, 1, false);
	add(1, 1, true);
	assert_int_equal(crowd_choose(m, n, 64), 0);
	assert_int_equal(chosen_of(1), 2);
	assert_int_equal(crowd_choose(m, 0, 64), 0);
}

static void a_crowd_of_one_user_leaves_a_place_for_each_other(void **state)
{
	(void)state;
	for (int i = 0; i < 70; i++)
		add(1, 1, i < 64);
	add(2, 1, false);
	add(3, 500, false);
	assert_int_equal(crowd_choose(m, n, 64), 0);
	assert_int_equal(chosen_of(1), 62);
	assert_true(m[70].chosen && m[71].chosen);
}

static void the_largest_of_a_user_come_first(void **state)
{
	(void)state;
	for (int i = 0; i < 64; i++)
		add(1, 1, true);
	add(1, 900, false);
	assert_int_equal(crowd_choose(m, n, 64), 0);
	assert_true(m[64].chosen);
	assert_int_equal(chosen_of(1), 64);
}

static void of_more_users_than_places_the_largest_are_chosen(void **state)
{
	(void)state;
	for (uid_t u = 1; u <= 70; u++)
		add(u, u, false);
	assert_int_equal(crowd_choose(m, n, 64), 0);
	assert_true(!m[0].chosen && !m[5].chosen && m[6].chosen && m[69].chosen);
}

static void who_has_a_place_keeps_it_until_another_is_twice_as_large(void **state)
{
	(void)state;
	add(1, 100, true);
	add(1, 190, false);
	assert_int_equal(crowd_choose(m, n, 1), 0);
	assert_true(m[0].chosen && !m[1].chosen);
	m[1].bytes = 210 * MIB;
	assert_int_equal(crowd_choose(m, n, 1), 0);
	assert_true(!m[0].chosen && m[1].chosen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(whoever_fits_is_chosen, none),
		cmocka_unit_test_setup(a_crowd_of_one_user_leaves_a_place_for_each_other, none),
		cmocka_unit_test_setup(the_largest_of_a_user_come_first, none),
		cmocka_unit_test_setup(of_more_users_than_places_the_largest_are_chosen, none),
		cmocka_unit_test_setup(who_has_a_place_keeps_it_until_another_is_twice_as_large, none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
