/* Numbers of programs that were started side by side: from arguments and variables of any name. */
#include "testing.h"

#include <string.h>

#include "model/jobs/siblings.h"

static struct siblings_one all[8];
static size_t n;
static int32_t number[8];

static int begin(void **state)
{
	(void)state;
	n = 0;
	return 0;
}

#define ADD(arguments, environment)                                                                                    \
	(all[n++] = (struct siblings_one){{(arguments), sizeof(arguments)}, {(environment), sizeof(environment)}})
#define ARE(above) siblings_number(all, n, (struct span){(above), sizeof(above)}, number)
#define HAVE(above) (ARE(above) == SIBLINGS_RANKS)

static void variables_of_any_name_number_them(void **state)
{
	(void)state;
	ADD("python\0w.py", "HOME=/root\0TRAINER=1\0TRAINERS=3\0SLOT=1");
	ADD("python\0w.py", "HOME=/root\0TRAINER=0\0TRAINERS=3\0SLOT=0");
	ADD("python\0w.py", "HOME=/root\0TRAINER=2\0TRAINERS=3\0SLOT=2");
	assert_true(HAVE("HOME=/root"));
	assert_int_equal(number[0], 1);
	assert_int_equal(number[1], 0);
	assert_int_equal(number[2], 2);
	/* the size is the parent's own: it may count anything */
	assert_false(HAVE("HOME=/root\0TRAINERS=3"));
	assert_true(HAVE("HOME=/root\0TRAINERS=1"));
}

static void arguments_number_them(void **state)
{
	(void)state;
	ADD("python\0w.py\0001\0002", "A=b");
	ADD("python\0w.py\0000\0002", "A=b");
	assert_true(HAVE("A=b"));
	assert_int_equal(number[0], 1);
	(void)begin(NULL);
	ADD("./w\0--part=0\0--of\0002\0--log=out/0.txt", "A=b");
	ADD("./w\0--part=1\0--of\0002\0--log=out/1.txt", "A=b");
	assert_true(HAVE("A=b"));
	assert_int_equal(number[1], 1);
}

static void without_a_size_they_are_a_sweep(void **state)
{
	(void)state;
	ADD("python\0w.py\0--lr-index\0000", "SHLVL=2");
	ADD("python\0w.py\0--lr-index\0001", "SHLVL=2");
	assert_int_equal(ARE("SHLVL=1"), SIBLINGS_IF_LINKED);
	assert_int_equal(number[1], 1);
}

static void a_name_that_says_enough_needs_no_size(void **state)
{
	(void)state;
	ADD("python\0w.py\0--worker\0000\0--port\00040000", "A=b");
	ADD("python\0w.py\0--worker\0001\0--port\00040000", "A=b");
	assert_true(HAVE("A=b"));
	assert_int_equal(number[1], 1);
	(void)begin(NULL);
	ADD("./w", "NODE_NO=1");
	ADD("./w", "NODE_NO=0");
	assert_true(HAVE("A=b"));
	(void)begin(NULL);
	ADD("./w", "WORKER_SEED=1");
	ADD("./w", "WORKER_SEED=0");
	assert_false(HAVE("A=b"));
}

static void seeds_devices_and_threads_are_no_numbers_of_ranks(void **state)
{
	(void)state;
	ADD("python\0w.py\0--fold\0000\0--folds\0002", "CUDA_VISIBLE_DEVICES=0\0OMP_NUM_THREADS=2");
	ADD("python\0w.py\0--fold\0001\0--folds\0002", "CUDA_VISIBLE_DEVICES=1\0OMP_NUM_THREADS=2");
	assert_false(HAVE(""));
	(void)begin(NULL);
	ADD("python\0w.py\0--id\0000\0--epochs\0002", "X=0");
	ADD("python\0w.py\0--id\0001\0--epochs\0002", "X=1");
	assert_false(HAVE(""));
}

static void each_number_is_there_once(void **state)
{
	(void)state;
	ADD("w\0000\0003", "");
	ADD("w\0001\0003", "");
	ADD("w\0001\0003", "");
	assert_false(HAVE(""));
	(void)begin(NULL);
	ADD("w\0001\0003", "");
	ADD("w\0002\0003", "");
	ADD("w\0003\0003", "");
	assert_false(HAVE(""));
	(void)begin(NULL);
	ADD("w\0000\0002\0001", ""); /* two orders */
	ADD("w\0001\0002\0000", "");
	assert_false(HAVE(""));
	(void)begin(NULL);
	ADD("w\0000\0001", "");
	assert_false(HAVE(""));
}

static void what_is_cut_off_or_strange_says_nothing(void **state)
{
	(void)state;
	ADD("w\0000\0002", "N");
	ADD("w", "N");
	assert_false(HAVE(""));
	(void)begin(NULL);
	ADD("", "=\0=0\0\0N=99999999999999999999");
	ADD("", "=\0=1\0\0N=");
	assert_false(HAVE("="));
	assert_int_equal(siblings_number(all, 0, (struct span){NULL, 0}, number), SIBLINGS_NONE);
}

static void programs_that_differ_in_digits_alone_are_of_one_shape(void **state)
{
	(void)state;
	assert_int_equal(siblings_shape(SPAN("w\0001\0a9.txt")), siblings_shape(SPAN("w\00012\0a.txt")));
	assert_int_not_equal(siblings_shape(SPAN("w\0001")), siblings_shape(SPAN("ps\0001")));
	assert_int_equal(siblings_shape(SPAN("")), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(variables_of_any_name_number_them, begin),
		cmocka_unit_test_setup(arguments_number_them, begin),
		cmocka_unit_test_setup(without_a_size_they_are_a_sweep, begin),
		cmocka_unit_test_setup(a_name_that_says_enough_needs_no_size, begin),
		cmocka_unit_test_setup(seeds_devices_and_threads_are_no_numbers_of_ranks, begin),
		cmocka_unit_test_setup(each_number_is_there_once, begin),
		cmocka_unit_test_setup(what_is_cut_off_or_strange_says_nothing, begin),
		cmocka_unit_test_setup(programs_that_differ_in_digits_alone_are_of_one_shape, begin),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
