#include "testing.h"

#include <stdio.h>
#include <string.h>

#include "judge/memory/victim.h"

static struct unit_table table;

static struct unit *add(pid_t pid, uint64_t own, uint64_t start, uint16_t group_size)
{
	struct unit *u = &table.unit[table.n++];
	*u = (struct unit){.pid = pid,
			   .own_bytes = own,
			   .start_ticks = start,
			   .group_size = group_size,
			   .rank = -1,
			   .retriable = true,
			   .processes = 1};
	return u;
}

static pid_t first(enum victim_policy policy, uint64_t deficit)
{
	static struct victim_choice c;
	victim_choose(&table, policy, deficit, &c);
	assert_true(c.n > 0);
	return table.unit[c.order[0]].pid;
}

static int fresh(void **state)
{
	(void)state;
	table.n = 0;
	return 0;
}

static void each_policy_picks_its_own_victim(void **state)
{
	(void)state;
	add(1, 3 * GIB, 100, 3);
	add(2, 5 * GIB, 200, 3)->growth_bytes_per_s = 10;
	add(3, 4 * GIB, 300, 3)->growth_bytes_per_s = 99;
	add(4, 4 * GIB, 400, 1);
	assert_int_equal(first(POLICY_NEWEST, GIB), 4);
	assert_int_equal(first(POLICY_LARGEST, GIB), 2);
	assert_int_equal(first(POLICY_FASTEST, GIB), 3);
	assert_int_equal(first(POLICY_GROUP, GIB), 3);
}

static void retriable_units_go_first(void **state)
{
	(void)state;
	add(1, 9 * GIB, 100, 1)->retriable = false;
	add(2, 2 * GIB, 50, 1);
	assert_int_equal(first(POLICY_LARGEST, GIB), 2);
	assert_int_equal(first(POLICY_NEWEST, GIB), 2);
}

static void protected_units_are_never_chosen(void **state)
{
	(void)state;
	static struct victim_choice c;
	add(1, 9 * GIB, 100, 1)->protected_ = true;
	victim_choose(&table, POLICY_LARGEST, GIB, &c);
	assert_int_equal(c.n, 0);
	assert_int_equal(c.n_chosen, 0);
}

static void a_tiny_unit_is_passed_over_for_one_that_helps(void **state)
{
	(void)state;
	add(1, 8 * GIB, 100, 1);
	add(2, 1 * MIB, 900, 5);
	assert_int_equal(first(POLICY_NEWEST, 2 * GIB), 1);
	assert_int_equal(first(POLICY_GROUP, 2 * GIB), 1);
}

static void a_launcher_is_ended_last(void **state)
{
	(void)state;
	add(1, 6 * GIB, 900, 0)->launcher = true;
	add(2, 2 * GIB, 100, 1);
	assert_int_equal(first(POLICY_LARGEST, GIB), 2);
}

/* A node of Ray ends with its raylet, which frees little of what others hold. */
static void ray_s_own_programs_are_spared(void **state)
{
	(void)state;
	static struct victim_choice c;
	char why[120];
	struct unit *raylet = add(1, 100 * MIB, 900, 0);
	raylet->launcher = true;
	raylet->role = ROLE_RAY_SYSTEM;
	victim_choose(&table, POLICY_GROUP, GIB, &c);
	assert_int_equal(c.n, 0);
	assert_int_equal(c.n_chosen, 0);
	struct unit *shell = add(2, 10 * MIB, 100, 0);
	shell->launcher = true;
	assert_int_equal(first(POLICY_GROUP, GIB), 2);
	victim_choose(&table, POLICY_GROUP, GIB, &c);
	assert_int_equal(c.n_chosen, 1);
	victim_explain(&table, POLICY_GROUP, &c, 1, why, sizeof(why));
	assert_non_null(strstr(why, "spared"));
	raylet->own_bytes = GIB; /* it holds what is missing */
	assert_int_equal(first(POLICY_GROUP, GIB), 1);
}

static void many_that_are_called_like_ray_are_not_spared(void **state)
{
	(void)state;
	for (int i = 0; i < 5; i++) {
		struct unit *u = add(1 + i, 500 * MIB, 900 - (uint64_t)i, 0);
		u->launcher = true;
		u->role = ROLE_RAY_SYSTEM;
	}
	assert_int_not_equal(first(POLICY_GROUP, GIB), 0);
}

static void victims_are_added_until_the_deficit_is_covered(void **state)
{
	(void)state;
	static struct victim_choice c;
	for (pid_t i = 0; i < 10; i++)
		add(10 + i, GIB, (uint64_t)i, 10);
	victim_choose(&table, POLICY_NEWEST, 5 * GIB / 2, &c);
	assert_int_equal(c.n_chosen, 3);
	assert_true(c.enough);
	assert_int_equal(table.unit[c.order[0]].pid, 19);
	victim_choose(&table, POLICY_NEWEST, 100 * GIB, &c);
	assert_int_equal(c.n_chosen, 10);
	assert_false(c.enough);
}

static void shared_memory_counts_towards_what_ending_frees(void **state)
{
	(void)state;
	add(1, 64 * KIB, 100, 1)->shmem_bytes = 3 * GIB;
	add(2, 100 * MIB, 200, 1);
	assert_int_equal(first(POLICY_LARGEST, GIB), 1);
	assert_int_equal(first(POLICY_NEWEST, GIB), 1);
}

static void the_last_of_a_group_is_marked(void **state)
{
	(void)state;
	static struct victim_choice c;
	add(1, GIB, 100, 1);
	victim_choose(&table, POLICY_GROUP, GIB, &c);
	assert_true(c.last_of_group);
	victim_choose(&table, POLICY_LARGEST, GIB, &c);
	assert_false(c.last_of_group);
}

static void each_policy_has_a_name_and_what_is_none_is_unknown(void **state)
{
	(void)state;
	assert_string_equal(victim_policy_name(POLICY_GROUP), "group");
	assert_string_equal(victim_policy_name(POLICY_NEWEST), "newest");
	assert_string_equal(victim_policy_name(POLICY_LARGEST), "largest");
	assert_string_equal(victim_policy_name(POLICY_FASTEST), "fastest");
	assert_string_equal(victim_policy_name(POLICY_MAX), "unknown");
}

static void a_thousand_units_are_ranked_and_explained(void **state)
{
	(void)state;
	static struct victim_choice c;
	char why[160];
	for (pid_t i = 0; i < UNIT_MAX; i++)
		add(i + 1, (uint64_t)(i * 7919 % 1000) * MIB, (uint64_t)(i * 31 % 97), UNIT_MAX);
	victim_choose(&table, POLICY_LARGEST, 50 * GIB, &c);
	assert_int_equal(c.n, UNIT_MAX);
	for (size_t i = 1; i < c.n_chosen; i++)
		assert_true(unit_weight(&table.unit[c.order[i - 1]]) >= unit_weight(&table.unit[c.order[i]]));
	victim_explain(&table, POLICY_LARGEST, &c, 0, why, sizeof(why));
	assert_non_null(strstr(why, "the largest"));
}

static void a_preferred_unit_goes_first_where_it_helps_and_an_avoided_one_last(void **state)
{
	(void)state;
	static struct victim_choice c;
	char why[200];
	add(1, 5 * GIB, 100, 3);
	add(2, 3 * GIB, 200, 3)->wish = WISH_PREFER;
	add(3, 9 * GIB, 300, 3)->wish = WISH_AVOID;
	add(4, MIB, 400, 3)->wish = WISH_PREFER;
	assert_int_equal(first(POLICY_LARGEST, GIB), 2);
	victim_choose(&table, POLICY_LARGEST, GIB, &c);
	assert_int_equal(table.unit[c.order[3]].pid, 3);
	victim_explain(&table, POLICY_LARGEST, &c, 0, why, sizeof(why));
	assert_non_null(strstr(why, "--prefer names it"));
	/* an avoided one is not ended beside others: memory is looked at again first */
	victim_choose(&table, POLICY_LARGEST, 20 * GIB, &c);
	assert_int_equal(c.n_chosen, 3);
	assert_false(c.enough);
}

static void an_avoided_unit_is_ended_when_no_other_is_left(void **state)
{
	(void)state;
	static struct victim_choice c;
	char why[200];
	add(3, 9 * GIB, 300, 1)->wish = WISH_AVOID;
	add(4, 9 * GIB, 400, 1)->protected_ = true;
	victim_choose(&table, POLICY_LARGEST, GIB, &c);
	assert_int_equal(c.n_chosen, 1);
	victim_explain(&table, POLICY_LARGEST, &c, 0, why, sizeof(why));
	assert_non_null(strstr(why, "nobody else is left"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(each_policy_picks_its_own_victim, fresh),
		cmocka_unit_test_setup(retriable_units_go_first, fresh),
		cmocka_unit_test_setup(protected_units_are_never_chosen, fresh),
		cmocka_unit_test_setup(a_tiny_unit_is_passed_over_for_one_that_helps, fresh),
		cmocka_unit_test_setup(a_launcher_is_ended_last, fresh),
		cmocka_unit_test_setup(ray_s_own_programs_are_spared, fresh),
		cmocka_unit_test_setup(many_that_are_called_like_ray_are_not_spared, fresh),
		cmocka_unit_test_setup(victims_are_added_until_the_deficit_is_covered, fresh),
		cmocka_unit_test_setup(shared_memory_counts_towards_what_ending_frees, fresh),
		cmocka_unit_test_setup(the_last_of_a_group_is_marked, fresh),
		cmocka_unit_test_setup(each_policy_has_a_name_and_what_is_none_is_unknown, fresh),
		cmocka_unit_test_setup(a_preferred_unit_goes_first_where_it_helps_and_an_avoided_one_last, fresh),
		cmocka_unit_test_setup(an_avoided_unit_is_ended_when_no_other_is_left, fresh),
		cmocka_unit_test_setup(a_thousand_units_are_ranked_and_explained, fresh),
	};
	return cmocka_run_group_tests_name("judge/memory/victim", tests, NULL, NULL);
}
