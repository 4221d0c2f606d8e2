#include "testing.h"

#include "judge/speed/threadplan.h"

static bool listed(void *ctx, const char *name)
{
	const char *const *set = ctx;
	for (; *set; set++)
		if (strcmp(*set, name) == 0)
			return true;
	return false;
}

static bool has(const struct threadplan *p, const char *item)
{
	for (size_t i = 0; i < p->n; i++)
		if (strcmp(p->item[i], item) == 0)
			return true;
	return false;
}

static void ranks_times_threads_fit_the_cores(void **state)
{
	(void)state;
	assert_int_equal(threadplan_threads(16, 0, 1), 16);
	assert_int_equal(threadplan_threads(16, 0, 4), 4);
	assert_int_equal(threadplan_threads(16, 0, 5), 3);
	assert_int_equal(threadplan_threads(16, 4.0, 2), 2);
	assert_int_equal(threadplan_threads(16, 1.5, 1), 1);
	assert_int_equal(threadplan_threads(16, 32, 1), 16);
}

static void each_rank_has_at_least_one_thread(void **state)
{
	(void)state;
	assert_int_equal(threadplan_threads(2, 0, 8), 1);
	assert_int_equal(threadplan_threads(1, 0.25, 1), 1);
	assert_int_equal(threadplan_threads(4, 0, 0), 4);
}

static void all_variables_are_set_where_the_user_has_none(void **state)
{
	(void)state;
	const char *set[] = {NULL};
	struct threadplan p;
	threadplan_make(3, listed, set, &p);
	assert_int_equal(p.n, THREADPLAN_VARIABLES);
	assert_int_equal(p.n_kept, 0);
	assert_true(has(&p, "OMP_NUM_THREADS=3") && has(&p, "OPENBLAS_NUM_THREADS=3") && has(&p, "MKL_NUM_THREADS=3"));
}

static void what_the_user_has_set_stays(void **state)
{
	(void)state;
	const char *set[] = {"MKL_NUM_THREADS", NULL};
	struct threadplan p;
	threadplan_make(3, listed, set, &p);
	assert_int_equal(p.n, THREADPLAN_VARIABLES - 1);
	assert_false(has(&p, "MKL_NUM_THREADS=3"));
	assert_int_equal(p.n_kept, 1);
	assert_string_equal(p.kept[0], "MKL_NUM_THREADS");
}

static void the_user_s_omp_counts_for_the_libraries_that_follow_it(void **state)
{
	(void)state;
	const char *set[] = {"OMP_NUM_THREADS", NULL};
	struct threadplan p;
	threadplan_make(3, listed, set, &p);
	assert_false(has(&p, "OPENBLAS_NUM_THREADS=3") || has(&p, "MKL_NUM_THREADS=3"));
	assert_true(has(&p, "NUMBA_NUM_THREADS=3"));
}

static void numexpr_is_given_no_more_than_it_takes(void **state)
{
	(void)state;
	const char *set[] = {NULL};
	struct threadplan p;
	threadplan_make(96, listed, set, &p);
	assert_true(has(&p, "NUMEXPR_NUM_THREADS=64") && has(&p, "OMP_NUM_THREADS=96"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_times_threads_fit_the_cores),
		cmocka_unit_test(each_rank_has_at_least_one_thread),
		cmocka_unit_test(all_variables_are_set_where_the_user_has_none),
		cmocka_unit_test(what_the_user_has_set_stays),
		cmocka_unit_test(the_user_s_omp_counts_for_the_libraries_that_follow_it),
		cmocka_unit_test(numexpr_is_given_no_more_than_it_takes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
