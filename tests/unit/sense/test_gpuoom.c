#include "testing.h"

#include "sense/gpu/gpuoom.h"

static struct gpuoom parsed(const char *text)
{
	struct gpuoom g;
	memset(&g, 0xff, sizeof(g));
	assert_true(gpuoom_parse(span_of(text), &g));
	return g;
}

static uint64_t mib(double v)
{
	return (uint64_t)(v * 1048576 + 0.5);
}

#define assert_size(size, mebibytes)                                                                                   \
	do {                                                                                                           \
		assert_true((size).valid);                                                                             \
		assert_int_equal((size).bytes, mib(mebibytes));                                                        \
	} while (0)

static void the_first_wording_calls_what_is_kept_cached(void **state)
{
	(void)state;
	struct gpuoom g = parsed(
		"RuntimeError: CUDA out of memory. Tried to allocate 12.50 MiB (GPU 3; 10.92 GiB total capacity; "
		"8.57 MiB already allocated; 9.28 GiB free; 4.68 MiB cached)");
	assert_string_equal(g.kind, "CUDA");
	assert_true(g.has_device);
	assert_int_equal(g.device, 3);
	assert_size(g.tried, 12.5);
	assert_size(g.total, 10.92 * 1024);
	assert_size(g.allocated, 8.57);
	assert_size(g.free, 9.28 * 1024);
	assert_true(g.reserved.valid);
	assert_int_equal(g.reserved.bytes, g.allocated.bytes + mib(4.68));
	assert_false(g.process.valid || g.allowed.valid || g.private_pools.valid);
}

static void from_1_5_on_it_is_reserved_in_total(void **state)
{
	(void)state;
	struct gpuoom g = parsed(
		"torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.65 GiB (GPU 1; 7.79 GiB total "
		"capacity; 3.53 GiB already allocated; 1.40 GiB free; 6.00 GiB allowed; 5.28 GiB reserved in total "
		"by PyTorch) If reserved memory is >> allocated memory try setting max_split_size_mb to avoid "
		"fragmentation.  See documentation for Memory Management and PYTORCH_CUDA_ALLOC_CONF");
	assert_int_equal(g.device, 1);
	assert_size(g.tried, 1.65 * 1024);
	assert_size(g.reserved, 5.28 * 1024);
	assert_size(g.allowed, 6 * 1024);
	assert_size(g.free, 1.40 * 1024);
}

static void sentences_of_2_1_have_a_typing_mistake(void **state)
{
	(void)state;
	struct gpuoom g = parsed(
		"torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 32.00 MiB. GPU 0 has a total "
		"capacty of 4.00 GiB of which 41.56 MiB is free. Including non-PyTorch memory, this process has "
		"3.44 GiB memory in use. Of the allocated memory 2.58 GiB is allocated by PyTorch, and 1.90 MiB is "
		"reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting "
		"max_split_size_mb to avoid fragmentation.  See documentation for Memory Management and "
		"PYTORCH_CUDA_ALLOC_CONF.");
	assert_size(g.tried, 32);
	assert_size(g.total, 4096);
	assert_size(g.free, 41.56);
	assert_size(g.process, 3.44 * 1024);
	assert_size(g.allocated, 2.58 * 1024);
	assert_int_equal(g.reserved.bytes, g.allocated.bytes + mib(1.90));
	assert_int_equal(g.n_other, 0);
}

static void other_processes_and_private_pools_are_named(void **state)
{
	(void)state;
	struct gpuoom g = parsed(
		"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 42.00 MiB. GPU 0 has a total capacity "
		"of 47.27 GiB of which 9.38 MiB is free. Process 644963 has 5.59 MiB memory in use. Process 3053273 "
		"has 29.04 GiB memory in use. Process 3120922 has 14.74 GiB memory in use. Including non-PyTorch "
		"memory, this process has 3.14 GiB memory in use. 40.00 GiB allowed; Of the allocated memory 2.92 GiB "
		"is allocated by PyTorch, with 105.08 MiB allocated in private pools (e.g., CUDA Graphs), and 34.62 "
		"MiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting "
		"PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See documentation for "
		"Memory Management  (https://pytorch.org/docs/stable/notes/cuda.html#environment-variables)");
	assert_int_equal(g.n_other, 3);
	assert_int_equal(g.other[1].pid, 3053273);
	assert_int_equal(g.other[1].bytes, mib(29.04 * 1024));
	assert_int_equal(g.other_bytes, mib(5.59) + mib(29.04 * 1024) + mib(14.74 * 1024));
	assert_size(g.process, 3.14 * 1024);
	assert_size(g.private_pools, 105.08);
	assert_size(g.allowed, 40960);
	assert_int_equal(g.reserved.bytes, g.allocated.bytes + mib(34.62));
}

static void in_a_container_the_process_is_named_as_if_it_were_another(void **state)
{
	(void)state;
	struct gpuoom g = parsed(
		"torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 224.00 MiB. GPU  has a total "
		"capacity of 44.34 GiB of which 160.81 MiB is free. Process 47694 has 44.17 GiB memory in use. Of the "
		"allocated memory 43.36 GiB is allocated by PyTorch, and 396.27 MiB is reserved by PyTorch but "
		"unallocated.");
	assert_false(g.has_device);
	assert_int_equal(g.n_other, 0);
	assert_int_equal(g.other_bytes, 0);
	assert_size(g.process, 44.17 * 1024);
}

static void other_makers_devices_and_wrapped_lines_are_read(void **state)
{
	(void)state;
	struct gpuoom g =
		parsed("RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB (NPU 5; 60.97 GiB total capacity;\n"
		       "55.10 GiB already allocated; 55.10 GiB current active; 1.02 GiB free;\n 58.00 GiB reserved in "
		       "total by "
		       "PyTorch) If reserved memory is >> allocated memory");
	assert_string_equal(g.kind, "NPU");
	assert_int_equal(g.device, 5);
	assert_size(g.allocated, 55.10 * 1024);
	assert_size(g.reserved, 58 * 1024);
	g = parsed("torch.OutOfMemoryError: XPU out of memory. Tried to allocate 9.28 GiB. GPU 0 has a total capacity "
		   "of 14.00 GiB. Of the "
		   "allocated memory 5.00 GiB is allocated by PyTorch, and 1.00 GiB is reserved by PyTorch but "
		   "unallocated. Please "
		   "use `empty_cache` to release all unoccupied cached memory.");
	assert_size(g.total, 14 * 1024);
	assert_false(g.free.valid);
	assert_size(g.reserved, 6 * 1024);
	g = parsed("HIP out of memory. Tried to allocate 20.00 MiB. GPU 2 has a total capacity of 63.98 GiB of which 0 "
		   "bytes is free.");
	assert_int_equal(g.device, 2);
	assert_true(g.free.valid);
	assert_int_equal(g.free.bytes, 0);
}

static void of_two_messages_the_first_keeps_to_its_numbers(void **state)
{
	(void)state;
	struct gpuoom g = parsed(
		"CUDA out of memory. Tried to allocate 1.00 GiB. CUDA out of memory. Tried to allocate 2.00 GiB. GPU 1 "
		"has a total capacity of 8.00 GiB of which 1.00 GiB is free.");
	assert_size(g.tried, 1024);
	assert_false(g.total.valid);
}

static void what_has_no_numbers_is_no_message(void **state)
{
	(void)state;
	struct gpuoom g = {.kind = "kept"};
	assert_false(gpuoom_parse(SPAN("RuntimeError: CUDA error: out of memory"), &g));
	assert_false(gpuoom_parse(SPAN("CUDA out of memory."), &g));
	assert_false(gpuoom_parse(
		SPAN("CUDA out of memory. Tried to allocate xxx MiB (GPU 0; xxx GiB total capacity; xxx)"), &g));
	assert_false(gpuoom_parse(SPAN("CUDA out of memory. Tried to allocate 99999999999999999999 GiB"), &g));
	assert_false(gpuoom_parse(SPAN(""), &g));
	assert_string_equal(g.kind, "kept");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_wording_calls_what_is_kept_cached),
		cmocka_unit_test(from_1_5_on_it_is_reserved_in_total),
		cmocka_unit_test(sentences_of_2_1_have_a_typing_mistake),
		cmocka_unit_test(other_processes_and_private_pools_are_named),
		cmocka_unit_test(in_a_container_the_process_is_named_as_if_it_were_another),
		cmocka_unit_test(other_makers_devices_and_wrapped_lines_are_read),
		cmocka_unit_test(of_two_messages_the_first_keeps_to_its_numbers),
		cmocka_unit_test(what_has_no_numbers_is_no_message),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
