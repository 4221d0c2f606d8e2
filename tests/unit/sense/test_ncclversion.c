#include "testing.h"

#include "sense/collective/ncclversion.h"

static void the_version_is_found_in_a_log_line(void **state)
{
	(void)state;
	char v[16] = "";
	assert_true(nccl_version_find(span_of("node1:77:77 [0] NCCL INFO NCCL version 2.19.3+cuda12.3"), v));
	assert_string_equal(v, "2.19.3");
	assert_true(nccl_version_find(span_of("NCCL version 2.18.5\nNCCL version 2.27.1"), v));
	assert_string_equal(v, "2.18.5");
	assert_true(nccl_version_find(span_of("NCCL version 2.123456789012"), v));
	assert_string_equal(v, "2.12345678");
}

static void a_text_without_a_version_gives_none(void **state)
{
	(void)state;
	char v[16] = "as before";
	assert_false(nccl_version_find(span_of(""), v));
	assert_false(nccl_version_find(span_of("NCCL version unknown"), v));
	assert_string_equal(v, "as before");
}

static void only_the_librarys_own_text_names_cuda(void **state)
{
	(void)state;
	struct ncclras_version v = {.known = false};
	assert_false(nccl_version_own(span_of("requires NCCL version 2.14.3 or later"), &v));
	assert_false(v.known);
	assert_true(nccl_version_own(span_of("NCCL version 2.4 or later; NCCL version 2.28.9+cuda12.9"), &v));
	assert_true(v.known);
	assert_int_equal(v.major, 2);
	assert_int_equal(v.minor, 28);
	assert_int_equal(v.patch, 9);
}

static void a_cuda_far_behind_the_version_does_not_count(void **state)
{
	(void)state;
	struct ncclras_version v;
	assert_false(nccl_version_own(span_of("NCCL version 2.28.9, which is compiled with gcc+cuda12"), &v));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_version_is_found_in_a_log_line),
		cmocka_unit_test(a_text_without_a_version_gives_none),
		cmocka_unit_test(only_the_librarys_own_text_names_cuda),
		cmocka_unit_test(a_cuda_far_behind_the_version_does_not_count),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
