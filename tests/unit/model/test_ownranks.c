/* Ranks that a program starts itself: who becomes which, and who is left as it was. */
#include "testing.h"

#include <string.h>

#include "model/jobs/ownranks.h"

static struct ownranks_process p[16];
static size_t n;

static int begin(void **state)
{
	(void)state;
	memset(p, 0, sizeof(p));
	n = 0;
	return 0;
}

static struct ownranks_process *add(pid_t pid, pid_t ppid, enum role role, int32_t rank)
{
	p[n] = (struct ownranks_process){
		.pid = pid, .ppid = ppid, .who = {.rank = rank, .local_rank = rank, .role = role}};
	return &p[n++];
}

static void told(pid_t pid, pid_t ppid, enum ownranks_source how, int32_t number)
{
	struct ownranks_process *one = add(pid, ppid, ROLE_LOADER, NO_RANK);
	one->reported = how;
	one->number = number;
}

static void is(size_t i, enum role role, int32_t rank)
{
	assert_int_equal(p[i].who.role, role);
	assert_int_equal(p[i].who.rank, rank);
}

static void children_that_tell_numbers_are_ranks(void **state)
{
	(void)state;
	add(10, 1, ROLE_MAIN, NO_RANK);
	told(11, 10, OWNRANKS_BY_TORCH, 1);
	told(12, 10, OWNRANKS_BY_TORCH, 0);
	add(13, 10, ROLE_HELPER, NO_RANK);
	add(14, 11, ROLE_LOADER, NO_RANK);
	add(15, 14, ROLE_LOADER, NO_RANK);
	ownranks_name(p, n);
	is(0, ROLE_LAUNCHER, NO_RANK);
	is(1, ROLE_MAIN, 1);
	is(2, ROLE_MAIN, 0);
	assert_int_equal(p[1].who.world_size, 2);
	is(3, ROLE_HELPER, NO_RANK);
	is(4, ROLE_LOADER, 1);
	is(5, ROLE_LOADER, 1);
	/* another one comes later: the same again, and it besides */
	told(16, 10, OWNRANKS_BY_TORCH, 2);
	assert_true(ownranks_may_be(&p[6].who, &p[0].who));
	ownranks_name(p, n);
	is(1, ROLE_MAIN, 1);
	is(6, ROLE_MAIN, 2);
	assert_int_equal(p[2].who.world_size, 3);
	is(5, ROLE_LOADER, 1);
}

static void of_world(pid_t pid, int32_t number, int32_t world)
{
	told(pid, 10, OWNRANKS_BY_WORLD, number);
	p[n - 1].world = world;
}

static void who_has_set_the_variables_of_a_rank_is_one_when_all_have(void **state)
{
	(void)state;
	add(10, 1, ROLE_MAIN, NO_RANK);
	of_world(11, 1, 3);
	of_world(12, 0, 3);
	ownranks_name(p, n);
	is(1, ROLE_LOADER, NO_RANK); /* one is missing */
	of_world(13, 2, 3);
	add(14, 12, ROLE_MAIN, 0); /* what a rank starts has its variables from it */
	add(15, 14, ROLE_MAIN, 0);
	ownranks_name(p, n);
	is(0, ROLE_LAUNCHER, NO_RANK);
	is(1, ROLE_MAIN, 1);
	is(2, ROLE_MAIN, 0);
	is(3, ROLE_MAIN, 2);
	is(4, ROLE_HELPER, 0);
	is(5, ROLE_HELPER, 0);
	assert_int_equal(p[1].who.world_size, 3);
}

static void neither_too_many_nor_the_same_number_twice_are_ranks(void **state)
{
	(void)state;
	add(10, 1, ROLE_MAIN, NO_RANK);
	of_world(11, 0, 2);
	of_world(12, 1, 2);
	of_world(13, 2, 3);
	of_world(14, 3, 2);
	ownranks_name(p, n);
	is(1, ROLE_LOADER, NO_RANK);
	(void)begin(NULL);
	add(10, 1, ROLE_MAIN, NO_RANK);
	of_world(11, 0, 2);
	of_world(12, 0, 2);
	ownranks_name(p, n);
	is(1, ROLE_LOADER, NO_RANK);
	(void)begin(NULL);
	add(10, 1, ROLE_MAIN, NO_RANK);
	of_world(11, 0, 2);
	of_world(12, 1, 2);
	add(13, 1, ROLE_MAIN, 1); /* another process is that rank */
	ownranks_name(p, n);
	is(1, ROLE_LOADER, NO_RANK);
}

static void optioned(pid_t pid, pid_t ppid, enum role role, int32_t number)
{
	struct ownranks_process *one = add(pid, ppid, role, NO_RANK);
	one->who.has_option = true;
	one->who.option = number;
	one->reported = OWNRANKS_BY_OPTION;
	one->number = number;
}

static void programs_with_a_number_as_an_option_are_ranks(void **state)
{
	(void)state;
	add(10, 1, ROLE_MAIN, NO_RANK);
	optioned(11, 10, ROLE_HELPER, 0);
	optioned(12, 10, ROLE_HELPER, 1);
	add(13, 12, ROLE_WORKER, NO_RANK);
	add(14, 10, ROLE_HELPER, NO_RANK);
	assert_true(ownranks_may_be(&p[1].who, &p[0].who));
	assert_false(ownranks_may_be(&p[4].who, &p[0].who));
	ownranks_name(p, n);
	is(0, ROLE_LAUNCHER, NO_RANK);
	is(1, ROLE_MAIN, 0);
	is(2, ROLE_MAIN, 1);
	is(3, ROLE_WORKER, 1);
	is(4, ROLE_HELPER, NO_RANK);
}

static void a_shell_may_start_them_in_a_loop(void **state)
{
	(void)state;
	add(10, 1, ROLE_SHELL, NO_RANK);
	optioned(11, 10, ROLE_MAIN, 0);
	optioned(12, 10, ROLE_MAIN, 1);
	assert_true(ownranks_may_be(&p[1].who, &p[0].who));
	ownranks_name(p, n);
	is(0, ROLE_SHELL, NO_RANK);
	is(1, ROLE_MAIN, 0);
	is(2, ROLE_MAIN, 1);
}

static void sizes_of_adapters_are_no_ranks(void **state)
{
	(void)state;
	add(10, 1, ROLE_SHELL, NO_RANK);
	optioned(11, 10, ROLE_MAIN, 4);
	optioned(12, 10, ROLE_MAIN, 8);
	optioned(13, 10, ROLE_MAIN, 16);
	ownranks_name(p, n);
	is(1, ROLE_MAIN, NO_RANK);
	is(3, ROLE_MAIN, NO_RANK);
	optioned(14, 10, ROLE_MAIN, 0);
	ownranks_name(p, n);
	is(1, ROLE_MAIN, 4);
	is(4, ROLE_MAIN, 0);
}

static void an_option_of_one_alone_says_nothing(void **state)
{
	(void)state;
	add(10, 1, ROLE_SHELL, NO_RANK);
	optioned(11, 10, ROLE_MAIN, 0);
	ownranks_name(p, n);
	is(1, ROLE_MAIN, NO_RANK);
	optioned(12, 10, ROLE_MAIN, 0); /* two sweeps of one's own, which are ranks of nothing */
	ownranks_name(p, n);
	is(1, ROLE_MAIN, NO_RANK);
	is(2, ROLE_MAIN, NO_RANK);
}

static void numbered(pid_t pid, enum role role, int32_t number, int32_t world)
{
	struct ownranks_process *one = add(pid, 10, role, NO_RANK);
	one->reported = OWNRANKS_BY_SIBLINGS;
	one->number = number;
	one->world = world;
}

static void siblings_that_were_started_with_numbers_are_ranks(void **state)
{
	(void)state;
	add(10, 1, ROLE_MAIN, NO_RANK);
	add(11, 10, ROLE_HELPER, NO_RANK); /* a server of theirs */
	numbered(12, ROLE_HELPER, 1, 2);
	ownranks_name(p, n);
	is(2, ROLE_HELPER, NO_RANK);
	numbered(13, ROLE_HELPER, 0, 2);
	add(14, 13, ROLE_WORKER, NO_RANK);
	ownranks_name(p, n);
	is(0, ROLE_LAUNCHER, NO_RANK);
	is(1, ROLE_HELPER, NO_RANK);
	is(2, ROLE_MAIN, 1);
	is(3, ROLE_MAIN, 0);
	is(4, ROLE_WORKER, 0);
	assert_int_equal(p[3].who.world_size, 2);
	(void)begin(NULL);
	add(10, 1, ROLE_SHELL, NO_RANK);
	numbered(12, ROLE_MAIN, 1, 2);
	numbered(13, ROLE_MAIN, 0, 2);
	ownranks_name(p, n);
	is(0, ROLE_SHELL, NO_RANK);
	is(1, ROLE_MAIN, 1);
}

static void one_alone_is_believed_of_torch_only(void **state)
{
	(void)state;
	add(10, 1, ROLE_MAIN, NO_RANK);
	told(11, 10, OWNRANKS_BY_NAME, 0);
	ownranks_name(p, n);
	is(0, ROLE_MAIN, NO_RANK);
	is(1, ROLE_LOADER, NO_RANK);
	p[1].reported = OWNRANKS_BY_TORCH;
	ownranks_name(p, n);
	is(0, ROLE_LAUNCHER, NO_RANK);
	is(1, ROLE_MAIN, 0);
}

static void a_number_that_two_have_makes_nobody_a_rank(void **state)
{
	(void)state;
	add(10, 1, ROLE_MAIN, NO_RANK);
	told(11, 10, OWNRANKS_BY_NAME, 3);
	told(12, 10, OWNRANKS_BY_NAME, 3);
	ownranks_name(p, n);
	is(0, ROLE_MAIN, NO_RANK);
	is(1, ROLE_LOADER, NO_RANK);
	/* unless one of them has ended: its place was taken */
	p[1].ended = true;
	told(13, 10, OWNRANKS_BY_NAME, 0);
	ownranks_name(p, n);
	is(1, ROLE_LOADER, NO_RANK);
	is(2, ROLE_MAIN, 3);
	is(3, ROLE_MAIN, 0);
}

static void a_launcher_s_rank_keeps_its_number(void **state)
{
	(void)state;
	add(10, 1, ROLE_MAIN, NO_RANK);
	add(11, 1, ROLE_MAIN, 1);
	told(12, 10, OWNRANKS_BY_NAME, 0);
	told(13, 10, OWNRANKS_BY_NAME, 1);
	ownranks_name(p, n);
	is(1, ROLE_MAIN, 1);
	is(2, ROLE_LOADER, NO_RANK);
	is(3, ROLE_LOADER, NO_RANK);
}

static void who_serves_a_rank_is_not_asked(void **state)
{
	(void)state;
	struct role_info alone = {.rank = NO_RANK, .role = ROLE_MAIN}, rank = {.rank = 2, .role = ROLE_MAIN},
			 launcher = {.rank = NO_RANK, .role = ROLE_LAUNCHER},
			 child = {.rank = NO_RANK, .role = ROLE_LOADER};
	assert_true(ownranks_may_be(&child, &alone));
	assert_false(ownranks_may_be(&child, &rank));
	assert_false(ownranks_may_be(&child, &launcher));
	assert_false(ownranks_may_be(&child, &child));
	assert_false(ownranks_may_be(&launcher, &alone));
}

static void lightning(int32_t first_child)
{
	add(10, 1, ROLE_MAIN, NO_RANK);
	for (int32_t i = 0; i < 2; i++) {
		struct ownranks_process *one = add(11 + i, 10, ROLE_MAIN, first_child + i);
		one->who.own_number = true;
		one->who.world_size = 3;
	}
	add(13, 10, ROLE_LOADER, NO_RANK);
}

static void the_parent_of_lightning_s_ranks_is_rank_0(void **state)
{
	(void)state;
	lightning(1);
	ownranks_name(p, n);
	is(0, ROLE_MAIN, 0);
	assert_true(p[0].who.own_number);
	assert_int_equal(p[0].who.world_size, 3);
	is(1, ROLE_MAIN, 1);
	is(3, ROLE_LOADER, 0);
}

static void it_is_not_where_somebody_else_is(void **state)
{
	(void)state;
	lightning(0);
	ownranks_name(p, n);
	is(0, ROLE_MAIN, NO_RANK);
	is(1, ROLE_MAIN, 0);
	is(3, ROLE_LOADER, NO_RANK);
}

static void nothing_told_changes_nothing(void **state)
{
	(void)state;
	ownranks_name(p, 0);
	add(10, 10, ROLE_MAIN, NO_RANK); /* its own parent, as a number that was given twice may show */
	add(11, 10, ROLE_LOADER, NO_RANK);
	add(12, 99, ROLE_LOADER, NO_RANK);
	ownranks_name(p, n);
	is(0, ROLE_MAIN, NO_RANK);
	is(1, ROLE_LOADER, NO_RANK);
	is(2, ROLE_LOADER, NO_RANK);
}

static void trains(pid_t pid, int32_t number, int32_t local)
{
	struct ownranks_process *one = add(pid, 10, ROLE_RAY_WORKER, NO_RANK);
	one->reported = OWNRANKS_BY_RAY;
	one->number = number;
	one->local = local;
}

static void workers_of_ray_train_stay_ray_workers(void **state)
{
	(void)state;
	add(10, 1, ROLE_RAY_SYSTEM, NO_RANK);
	trains(11, 5, 1);
	trains(12, 4, NO_RANK);
	add(13, 10, ROLE_RAY_WORKER, NO_RANK);
	add(14, 11, ROLE_WORKER, NO_RANK); /* a fork of rank 5 */
	ownranks_name(p, n);
	ownranks_name(p, n);
	is(0, ROLE_RAY_SYSTEM, NO_RANK);
	is(1, ROLE_RAY_WORKER, 5);
	assert_int_equal(p[1].who.local_rank, 1);
	assert_true(p[1].who.own_number);
	is(2, ROLE_RAY_WORKER, 4);
	assert_int_equal(p[2].who.local_rank, NO_RANK);
	is(3, ROLE_RAY_WORKER, NO_RANK);
	is(4, ROLE_WORKER, 5);
}

static void two_runs_of_ray_train_at_once_have_no_numbers(void **state)
{
	(void)state;
	add(10, 1, ROLE_RAY_SYSTEM, NO_RANK);
	trains(11, 0, 0);
	trains(12, 0, 1);
	trains(13, 1, 2);
	ownranks_name(p, n);
	is(1, ROLE_RAY_WORKER, NO_RANK);
	is(2, ROLE_RAY_WORKER, NO_RANK);
	is(3, ROLE_RAY_WORKER, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(children_that_tell_numbers_are_ranks, begin),
		cmocka_unit_test_setup(who_has_set_the_variables_of_a_rank_is_one_when_all_have, begin),
		cmocka_unit_test_setup(neither_too_many_nor_the_same_number_twice_are_ranks, begin),
		cmocka_unit_test_setup(programs_with_a_number_as_an_option_are_ranks, begin),
		cmocka_unit_test_setup(a_shell_may_start_them_in_a_loop, begin),
		cmocka_unit_test_setup(an_option_of_one_alone_says_nothing, begin),
		cmocka_unit_test_setup(sizes_of_adapters_are_no_ranks, begin),
		cmocka_unit_test_setup(siblings_that_were_started_with_numbers_are_ranks, begin),
		cmocka_unit_test_setup(one_alone_is_believed_of_torch_only, begin),
		cmocka_unit_test_setup(a_number_that_two_have_makes_nobody_a_rank, begin),
		cmocka_unit_test_setup(a_launcher_s_rank_keeps_its_number, begin),
		cmocka_unit_test_setup(who_serves_a_rank_is_not_asked, begin),
		cmocka_unit_test_setup(the_parent_of_lightning_s_ranks_is_rank_0, begin),
		cmocka_unit_test_setup(it_is_not_where_somebody_else_is, begin),
		cmocka_unit_test_setup(nothing_told_changes_nothing, begin),
		cmocka_unit_test_setup(workers_of_ray_train_stay_ray_workers, begin),
		cmocka_unit_test_setup(two_runs_of_ray_train_at_once_have_no_numbers, begin),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
