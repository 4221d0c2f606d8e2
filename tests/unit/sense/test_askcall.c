/* Which system calls ask and do not wait. */
#include "testing.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "sense/speed/askcall.h"

#define UNMAPPED 0x10

/* The memory of this very program, but for the first page. */
static ssize_t own_readv(struct remote *r, const struct iovec *into, size_t n_into, const struct iovec *from,
			 size_t n_from)
{
	(void)r;
	assert_int_equal(n_into, 1);
	assert_int_equal(n_from, 1);
	if ((uintptr_t)from->iov_base < 4096)
		return -EFAULT;
	memcpy(into->iov_base, from->iov_base, into->iov_len);
	return (ssize_t)into->iov_len;
}

static const struct remote_ops own = {.readv = own_readv};

static bool asks(uint32_t nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	struct remote r = {.mem_fd = -1, .proc_fd = -1, .ops = &own};
	return askcall_is(&r, nr, (const uint64_t[4]){a, b, c, d});
}

static uint64_t at(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

static void a_time_of_zero_asks(void **state)
{
	(void)state;
	assert_true(asks(SYS_poll, 1, 1, 0, 0));
	assert_true(asks(SYS_poll, 1, 1, UINT64_C(0xabcd) << 32, 0)); /* only the lower half is the time */
	assert_false(asks(SYS_poll, 1, 1, 1, 0));
	assert_false(asks(SYS_poll, 1, 1, (uint32_t)-1, 0));
	assert_true(asks(SYS_epoll_wait, 3, 1, 8, 0));
	assert_false(asks(SYS_epoll_wait, 3, 1, 8, (uint32_t)-1));
	assert_true(asks(SYS_epoll_pwait, 3, 1, 8, 0));
}

static void times_are_read_from_memory(void **state)
{
	(void)state;
	const struct timespec none = {0, 0}, some = {.tv_nsec = 1};
	assert_true(asks(SYS_ppoll, 1, 1, at(&none), 0));
	assert_false(asks(SYS_ppoll, 1, 1, at(&some), 0));
	assert_false(asks(SYS_ppoll, 1, 1, 0, 0)); /* for ever */
	assert_false(asks(SYS_ppoll, 1, 1, UNMAPPED, 0));
	assert_true(asks(SYS_nanosleep, at(&none), 0, 0, 0));
	assert_true(asks(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, at(&none), 0));
	assert_false(asks(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, at(&some), 0));
}

static void a_sleep_until_a_time_that_has_come_asks(void **state)
{
	(void)state;
	struct timespec until;
	assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &until), 0);
	assert_true(asks(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, at(&until), 0));
	until.tv_sec += 1000;
	assert_false(asks(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, at(&until), 0));
	assert_false(asks(SYS_clock_nanosleep, 999, TIMER_ABSTIME, at(&until), 0));
	assert_false(asks(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, UNMAPPED, 0));
}

static void a_flag_asks(void **state)
{
	(void)state;
	assert_true(asks(SYS_wait4, 0, 0, WNOHANG, 0));
	assert_false(asks(SYS_wait4, 0, 0, 0, 0));
	assert_true(asks(SYS_recvfrom, 3, 0, 0, MSG_DONTWAIT));
	assert_false(asks(SYS_recvfrom, 3, 0, 0, 0));
	assert_true(asks(SYS_kill, 1, 0, 0, 0));
	assert_false(asks(SYS_kill, 1, 15, 0, 0));
}

static void calls_that_do_something_do_not_ask(void **state)
{
	(void)state;
	assert_false(asks(SYS_read, 0, 0, 0, 0));
	assert_false(asks(SYS_write, 0, 0, 0, 0));
	assert_false(asks(SYS_futex, 0, 0, 0, 0));
	assert_false(asks(SYS_sched_yield, 0, 0, 0, 0));
	assert_false(asks(4000, 0, 0, 0, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_time_of_zero_asks),
		cmocka_unit_test(times_are_read_from_memory),
		cmocka_unit_test(a_sleep_until_a_time_that_has_come_asks),
		cmocka_unit_test(a_flag_asks),
		cmocka_unit_test(calls_that_do_something_do_not_ask),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
