#include "testing.h"

#include "model/incident/reportroom.h"
#include "base/units.h"

static const struct reportroom_limit two = {.at_once = 2, .each_ns = 30 * NS_PER_S};

static bool taken(struct reportroom *r, uint64_t now_ns)
{
	if (!reportroom_has(r, two, now_ns))
		return false;
	reportroom_take(r);
	return true;
}

static void some_at_once_and_then_one_each_so_often(void **state)
{
	(void)state;
	struct reportroom r = {0};
	assert_true(taken(&r, 100 * NS_PER_S));
	assert_true(taken(&r, 101 * NS_PER_S));
	assert_false(taken(&r, 129 * NS_PER_S));
	assert_true(taken(&r, 130 * NS_PER_S));
	assert_false(taken(&r, 159 * NS_PER_S));
	assert_true(taken(&r, 161 * NS_PER_S));
	assert_true(taken(&r, 500 * NS_PER_S));
	assert_true(taken(&r, 500 * NS_PER_S));
	assert_false(taken(&r, 500 * NS_PER_S));
}

static void a_user_has_one_room_for_all_nodes(void **state)
{
	(void)state;
	static struct reportrooms all;
	assert_true(taken(reportrooms_of(&all, 1000, two, NS_PER_S), NS_PER_S));
	assert_true(taken(reportrooms_of(&all, 1000, two, NS_PER_S), NS_PER_S));
	assert_false(taken(reportrooms_of(&all, 1000, two, NS_PER_S), NS_PER_S));
	assert_true(taken(reportrooms_of(&all, 1001, two, NS_PER_S), NS_PER_S));
	assert_int_equal(all.n, 2);
}

static void more_users_than_places_share_the_last(void **state)
{
	(void)state;
	static struct reportrooms all;
	for (uint32_t uid = 0; uid < REPORTROOM_USERS; uid++)
		assert_true(taken(reportrooms_of(&all, 1000 + uid, two, NS_PER_S), NS_PER_S));
	assert_true(taken(reportrooms_of(&all, 5000, two, NS_PER_S), NS_PER_S));
	assert_false(taken(reportrooms_of(&all, 5001, two, NS_PER_S), NS_PER_S));
	/* places of users who have had none for long are given away */
	assert_true(taken(reportrooms_of(&all, 5001, two, 500 * NS_PER_S), 500 * NS_PER_S));
	assert_int_equal(all.n, REPORTROOM_USERS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(some_at_once_and_then_one_each_so_often),
		cmocka_unit_test(a_user_has_one_room_for_all_nodes),
		cmocka_unit_test(more_users_than_places_share_the_last),
	};
	return cmocka_run_group_tests_name("model/incident/reportroom", tests, NULL, NULL);
}
