#include "testing.h"

#include "sense/wait/kernelstack.h"

static void frames_have_a_name_and_a_module(void **state)
{
	(void)state;
	struct kernelstack s;
	kernelstack_parse(SPAN("[<0>] futex_wait_queue+0x66/0xa0\n"
			       "[<0>] uvm_ioctl+0x1/0x2 [nvidia_uvm]\n"
			       "rubbish\n"
			       "[<ffffffff811>] 0xffffffffffffffff\n"
			       "[<0>]\n"
			       "[<0>] entry_SYSCALL_64_after_hwframe+0x76/0x7e"),
			  &s);
	assert_int_equal(s.n, 3);
	assert_string_equal(s.frame[0].name, "futex_wait_queue");
	assert_string_equal(s.frame[0].module, "");
	assert_string_equal(s.frame[1].name, "uvm_ioctl");
	assert_string_equal(s.frame[1].module, "nvidia_uvm");
	assert_string_equal(s.frame[2].name, "entry_SYSCALL_64_after_hwframe");
	kernelstack_parse(SPAN(""), &s);
	assert_int_equal(s.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_have_a_name_and_a_module),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
