#include "testing.h"

#include "sense/framework/storesetter.h"

static void of_rank(const char *key, int32_t rank)
{
	int32_t got = -1;
	assert_int_equal(storesetter_of(key, &got), STORESETTER_RANK);
	assert_int_equal(got, rank);
}

static void of(const char *key, enum storesetter who)
{
	int32_t got = -1;
	assert_int_equal(storesetter_of(key, &got), who);
	assert_int_equal(got, -1);
}

static void the_address_of_a_rank_is_set_by_it(void **state)
{
	(void)state;
	of_rank("/default_pg/0//cpu//0/2", 2);
	of_rank("/default_pg/0//cpu//0/0", 0);
	of_rank("/default_pg/0//0/13", 13);
	of_rank("default_pg/0//cpu//1/7", 7);
	of_rank("/worker/attempt_0/default_pg/0//cpu//0/1", 1);
	of_rank("/worker/attempt_12/default_pg/0//cpu//0/100000", 100000);
}

static void the_barrier_s_key_is_set_by_the_last_to_come(void **state)
{
	(void)state;
	of("/default_pg/store_based_barrier_key:0:last_worker", STORESETTER_LAST);
	of("/default_pg/store_based_barrier_key:3:last_worker", STORESETTER_LAST);
	of("/default_pg/0//store_based_barrier_key:1:last_worker", STORESETTER_LAST);
	of("/worker/attempt_0/default_pg/store_based_barrier_key:1:last_worker", STORESETTER_LAST);
}

static void of_all_else_nothing_is_said(void **state)
{
	(void)state;
	static const char *const keys[] = {
		"", "/", "/default_pg/", "/default_pg/0//", "/default_pg/0//shard/1", "/default_pg/0//cpu//0/",
		"/default_pg/0//cpu//0/1/2", "/default_pg/0//cpu//0/x1", "/default_pg/0//cpu//0/01",
		"/default_pg/0//cpu//0/1000000", "/default_pg/0//cpu//0/99999999999999999999", "/default_pg/0//cpu/0/1",
		/* a further group: its numbers are its own */
		"/default_pg/0//1//cpu//0/2", "/default_pg/1//cpu//0/1",
		"/default_pg/0a//cpu//0/1", "/default_pg/0//cuda//0", "/my/default_pg/0//cpu//0/1",
		"/worker/attempt_/default_pg/0//cpu//0/1", "/default_pg/store_based_barrier_key:0:last_workers",
		"/default_pg/store_based_barrier_key::last_worker/x", "/default_pg/store_based_barrier_key:last_worker",
		/* a barrier of the members of one group alone */
		"/default_pg/abc//store_based_barrier_key:abc:last_worker", "shard/1",
	};
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		of(keys[i], STORESETTER_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_address_of_a_rank_is_set_by_it),
		cmocka_unit_test(the_barrier_s_key_is_set_by_the_last_to_come),
		cmocka_unit_test(of_all_else_nothing_is_said),
	};
	return cmocka_run_group_tests_name("sense/storesetter", tests, NULL, NULL);
}
