#include "testing.h"

#include "judge/gpu/gpuoom.h"

static struct log_hint message(const char *text)
{
	struct log_hint h = {.has_gpu = true, .gpu_messages = 1};
	assert_true(gpuoom_parse(span_of(text), &h.gpu));
	h.gpu_first_allocated_bytes = h.gpu.allocated.bytes;
	return h;
}

static struct gpuoom_verdict judged(const char *text)
{
	struct gpuoom_verdict v;
	struct log_hint h = message(text);
	gpuoom_judge(&h, &v);
	return v;
}

static void more_than_the_device_has_is_too_big_for_certain(void **state)
{
	(void)state;
	struct gpuoom_verdict v =
		judged("CUDA out of memory. Tried to allocate 184.13 GiB. GPU 2 has a total capacity of 79.14 GiB of "
		       "which 37.02 GiB is free. Including non-PyTorch memory, this process has 42.05 GiB memory "
		       "in use. Of the allocated memory 38.58 GiB is allocated by PyTorch, and 850.91 MiB is "
		       "reserved by PyTorch but unallocated.");
	assert_int_equal(v.cause, GPUOOM_TOO_BIG);
	assert_int_equal(v.confidence, CONFIDENCE_HIGH);
	assert_non_null(strstr(v.text, "184 GiB"));
	assert_non_null(strstr(v.text, "79.1 GiB"));
}

static void enough_that_no_tensor_uses_is_fragmentation(void **state)
{
	(void)state;
	struct gpuoom_verdict v =
		judged("CUDA out of memory. Tried to allocate 1.70 GiB. GPU 0 has a total capacty of 6.00 GiB of which "
		       "0 bytes is free. Of the allocated memory 2.93 GiB is allocated by PyTorch, and 2.30 GiB is "
		       "reserved by PyTorch but unallocated.");
	assert_int_equal(v.cause, GPUOOM_FRAGMENTATION);
	assert_int_equal(v.confidence, CONFIDENCE_HIGH);
	assert_non_null(strstr(v.text, "2.30 GiB"));
	assert_non_null(strstr(v.advice[0], "expandable_segments"));
	v = judged("CUDA out of memory. Tried to allocate 1.65 GiB (GPU 1; 7.79 GiB total capacity; 3.53 GiB already "
		   "allocated; 1.40 GiB "
		   "free; 5.28 GiB reserved in total by PyTorch)");
	assert_int_equal(v.cause, GPUOOM_FRAGMENTATION);
}

static void others_that_hold_the_device_are_blamed_with_their_number(void **state)
{
	(void)state;
	struct gpuoom_verdict v =
		judged("CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 31.36 GiB of "
		       "which 2.62 MiB is free. Process 81034 has 30.57 GiB memory in use. Including non-PyTorch "
		       "memory, this process has 784.00 MiB memory in use. Of the allocated memory 179.69 MiB is "
		       "allocated by PyTorch, and 12.31 MiB is reserved by PyTorch but unallocated.");
	assert_int_equal(v.cause, GPUOOM_OTHER_PROCESS);
	assert_int_equal(v.confidence, CONFIDENCE_HIGH);
	assert_non_null(strstr(v.text, "81034"));
	assert_non_null(strstr(v.text, "30.6 GiB"));
	/* the old wording names nobody: what is missing is only guessed at */
	v = judged("CUDA out of memory. Tried to allocate 112.00 MiB (GPU 0; 31.75 GiB total capacity; 1.29 GiB "
		   "already allocated; "
		   "3.75 MiB free; 1.30 GiB reserved in total by PyTorch)");
	assert_int_equal(v.cause, GPUOOM_OTHER_PROCESS);
	assert_int_equal(v.confidence, CONFIDENCE_LOW);
}

static void a_full_device_is_too_big_and_a_small_request_leaves_doubt(void **state)
{
	(void)state;
	struct gpuoom_verdict v =
		judged("CUDA out of memory. Tried to allocate 12.55 GiB (GPU 1; 23.69 GiB total capacity; 12.58 GiB "
		       "already allocated; 10.38 GiB free; 12.58 GiB reserved in total by PyTorch)");
	assert_int_equal(v.cause, GPUOOM_TOO_BIG);
	assert_int_equal(v.confidence, CONFIDENCE_MEDIUM);
	assert_null(strstr(v.text, "leak"));
	v = judged("CUDA out of memory. Tried to allocate 128.00 MiB. GPU 0 has a total capacity of 14.56 GiB of which "
		   "111.81 MiB is "
		   "free. Including non-PyTorch memory, this process has 14.45 GiB memory in use. Of the allocated "
		   "memory 14.25 GiB is "
		   "allocated by PyTorch, and 60.81 MiB is reserved by PyTorch but unallocated.");
	assert_int_equal(v.cause, GPUOOM_TOO_BIG);
	assert_int_equal(v.confidence, CONFIDENCE_LOW);
	assert_non_null(strstr(v.text, "leak"));
}

static void tensors_that_grow_from_message_to_message_are_a_leak(void **state)
{
	(void)state;
	struct gpuoom_verdict v;
	struct log_hint h = message(
		"CUDA out of memory. Tried to allocate 128.00 MiB (GPU 0; 14.56 GiB total capacity; 14.00 GiB already "
		"allocated; 11.81 MiB free; 14.06 GiB reserved in total by PyTorch)");
	h.gpu_messages = 3;
	h.gpu_first_allocated_bytes = 9 * GIB;
	gpuoom_judge(&h, &v);
	assert_int_equal(v.cause, GPUOOM_LEAK);
	assert_non_null(strstr(v.text, "9.00 GiB"));
	h.gpu_fell = true;
	gpuoom_judge(&h, &v);
	assert_int_equal(v.cause, GPUOOM_TOO_BIG);
	h.gpu_fell = false;
	h.gpu_messages = 2;
	gpuoom_judge(&h, &v);
	assert_int_equal(v.cause, GPUOOM_TOO_BIG);
}

static void numbers_that_do_not_explain_it_stay_unexplained(void **state)
{
	(void)state;
	/* the device had room, and nobody else was on it */
	struct gpuoom_verdict v =
		judged("CUDA out of memory. Tried to allocate 12.50 MiB (GPU 0; 10.92 GiB total capacity; 8.57 MiB "
		       "already allocated; 9.28 GiB free; 4.68 MiB cached)");
	assert_int_equal(v.cause, GPUOOM_UNKNOWN);
	assert_string_equal(gpuoom_cause_id(v.cause), "gpu_out_of_memory");
	v = judged("CUDA out of memory. Tried to allocate 2.50 GiB, halving the batch");
	assert_int_equal(v.cause, GPUOOM_UNKNOWN);
	const struct log_hint bare = {.id = "cuda_oom"};
	gpuoom_judge(&bare, &v);
	assert_int_equal(v.cause, GPUOOM_UNKNOWN);
}

static void a_share_that_the_job_set_itself_is_its_limit(void **state)
{
	(void)state;
	struct gpuoom_verdict v = judged(
		"CUDA out of memory. Tried to allocate 9.00 GiB (GPU 0; 24.00 GiB total capacity; 1.00 GiB already "
		"allocated; 22.00 GiB free; 8.00 GiB allowed; 1.00 GiB reserved in total by PyTorch)");
	assert_int_equal(v.cause, GPUOOM_TOO_BIG);
	assert_non_null(strstr(v.text, "8.00 GiB"));
	assert_non_null(strstr(v.advice[1], "set_per_process_memory_fraction"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(more_than_the_device_has_is_too_big_for_certain),
		cmocka_unit_test(enough_that_no_tensor_uses_is_fragmentation),
		cmocka_unit_test(others_that_hold_the_device_are_blamed_with_their_number),
		cmocka_unit_test(a_full_device_is_too_big_and_a_small_request_leaves_doubt),
		cmocka_unit_test(tensors_that_grow_from_message_to_message_are_a_leak),
		cmocka_unit_test(numbers_that_do_not_explain_it_stay_unexplained),
		cmocka_unit_test(a_share_that_the_job_set_itself_is_its_limit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
