/* The kind of a wait by its call, its descriptor or the kernel's function, and the names of calls. Pure. */
#include "testing.h"

#include <sys/syscall.h>

#include "sense/wait/threadwait_parts.h"

static void a_call_implies_a_kind_of_wait(void **state)
{
	(void)state;
	assert_int_equal(call_shape(SYS_read), CALL_FD);
	assert_int_equal(call_shape(SYS_openat), CALL_FILE);
	assert_int_equal(call_shape(SYS_futex), CALL_LOCK);
	assert_int_equal(call_shape(SYS_clock_nanosleep), CALL_SLEEP);
	assert_int_equal(call_shape(SYS_ppoll), CALL_POLL);
	assert_int_equal(call_shape(SYS_wait4), CALL_CHILD);
	assert_int_equal(call_shape(SYS_rt_sigtimedwait), CALL_SIGNAL);
	assert_int_equal(call_shape(SYS_madvise), CALL_MEMORY);
	assert_int_equal(call_shape(SYS_clone), CALL_VFORK);
	assert_int_equal(call_shape(SYS_restart_syscall), CALL_RESTART);
	assert_int_equal(call_shape(SYS_getpid), CALL_OTHER);
	assert_int_equal(call_shape(-1), CALL_OTHER);
}

static void a_descriptor_decides_what_a_read_waits_for(void **state)
{
	(void)state;
	assert_int_equal(wait_kind_of_fd(FD_FILE), WAIT_FILE);
	assert_int_equal(wait_kind_of_fd(FD_PIPE), WAIT_PIPE);
	assert_int_equal(wait_kind_of_fd(FD_GPU), WAIT_GPU);
	assert_int_equal(wait_kind_of_fd(FD_EVENT), WAIT_POLL);
	assert_int_equal(wait_kind_of_fd(FD_TIMER), WAIT_SLEEP);
	assert_int_equal(wait_kind_of_fd(FD_SIGNAL), WAIT_SIGNAL);
	assert_int_equal(wait_kind_of_fd(FD_OTHER), WAIT_UNKNOWN);
}

static void a_kernel_function_counts_by_the_state(void **state)
{
	(void)state;
	assert_int_equal(wait_kind_of_wchan("futex_wait_queue", 'S'), WAIT_LOCK);
	assert_int_equal(wait_kind_of_wchan("futex_wait_queue", 'D'), WAIT_UNKNOWN);
	assert_int_equal(wait_kind_of_wchan("do_freezer_trap", 'S'), WAIT_STOPPED);
	assert_int_equal(wait_kind_of_wchan("__refrigerator", 'D'), WAIT_STOPPED);
	assert_int_equal(wait_kind_of_wchan("mem_cgroup_handle_over_high", 'D'), WAIT_MEMORY);
	assert_int_equal(wait_kind_of_wchan("handle_userfault", 'S'), WAIT_MEMORY);
	assert_int_equal(wait_kind_of_wchan("kernel_clone", 'D'), WAIT_CHILD);
	assert_int_equal(wait_kind_of_wchan("", 'S'), WAIT_UNKNOWN);
}

static void a_freezer_holds_threads_in_interruptible_waits_only(void **state)
{
	(void)state;
	assert_true(wchan_of_frozen("__refrigerator"));
	assert_true(wchan_of_frozen("do_nanosleep"));
	assert_true(wchan_of_frozen("exit_to_user_mode_loop"));
	assert_false(wchan_of_frozen("io_schedule"));
	assert_false(wchan_of_frozen(""));
}

static void calls_and_kinds_have_names(void **state)
{
	(void)state;
	assert_string_equal(syscall_name(SYS_futex), "futex");
	assert_string_equal(syscall_name(99999), "syscall 99999");
	assert_string_equal(syscall_name(-1), "syscall -1");
	assert_string_equal(wait_kind_name(WAIT_ZOMBIE), "zombie");
	assert_string_equal(wait_kind_name((enum wait_kind)(WAIT_ZOMBIE + 1)), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_implies_a_kind_of_wait),
		cmocka_unit_test(a_descriptor_decides_what_a_read_waits_for),
		cmocka_unit_test(a_kernel_function_counts_by_the_state),
		cmocka_unit_test(a_freezer_holds_threads_in_interruptible_waits_only),
		cmocka_unit_test(calls_and_kinds_have_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
