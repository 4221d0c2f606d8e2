#include "testing.h"

#include <fcntl.h>

#include "sense/proc/fdinfo.h"

static struct fdinfo parsed(const char *text)
{
	struct fdinfo f;
	fdinfo_parse(span_of(text), &f);
	return f;
}

static void what_every_descriptor_has(void **state)
{
	(void)state;
	struct fdinfo f = parsed("pos:\t0\nflags:\t02000001\nmnt_id:\t16\nino:\t290530\n");
	assert_int_equal(f.has, FDINFO_FLAGS | FDINFO_INODE | FDINFO_MOUNT);
	assert_true(f.access == O_WRONLY && f.inode == 290530 && f.mount_id == 16);
	f = parsed("pos:\t0\nflags:\t02\nmnt_id:\t16\n"); /* before Linux 5.14 */
	assert_int_equal(f.has, FDINFO_FLAGS | FDINFO_MOUNT);
	assert_int_equal(f.access, O_RDWR);
}

static void what_kinds_of_files_add(void **state)
{
	(void)state;
	struct fdinfo f = parsed("eventfd-count:                0\neventfd-id: 80\neventfd-semaphore: 0\n");
	assert_true(f.has == FDINFO_EVENTFD && f.eventfd_id == 80);
	f = parsed("Pid:\t3820\nNSpid:\t3820\n");
	assert_true(f.has == FDINFO_PID && f.pid == 3820);
	assert_int_equal(parsed("Pid:\t-1\n").pid, -1);
	f = parsed("scm_fds: 2\n");
	assert_true(f.has == FDINFO_IN_FLIGHT && f.in_flight == 2);
	f = parsed("fuse_connection:\t39\n");
	assert_true(f.has == FDINFO_FUSE && f.fuse_connection == 39);
	f = parsed("mnt_id:\t24\nino:\t91\ntty-index:\t3\n");
	assert_true((f.has & FDINFO_TERMINAL) && f.terminal == 3);
	f = parsed("clockid: 1\nit_value: (3597, 743060428)\nit_interval: (0, 0)\n");
	assert_true(f.has == FDINFO_TIMER && f.timer_set);
	f = parsed("it_value: (0, 0)\n");
	assert_true(f.has == FDINFO_TIMER && !f.timer_set);
	f = parsed("sigmask:\t0000000000010000\n");
	assert_true(f.has == FDINFO_SIGNALS && f.signals == UINT64_C(1) << 16);
	f = parsed("lock:\t1: FLOCK  ADVISORY  WRITE 3817 fe:00:9977890 0 EOF\n"
		   "lock:\t2: OFDLCK ADVISORY  READ -1 fe:00:9977890 100 109\n");
	assert_int_equal(f.locks, FDINFO_LOCK_FLOCK | FDINFO_LOCK_OFD);
	assert_int_equal(parsed("lock:\t2: POSIX  ADVISORY  WRITE 3 fe:00:7 0 1\n").locks, FDINFO_LOCK_POSIX);
}

static void nonsense_sets_nothing(void **state)
{
	(void)state;
	assert_int_equal(parsed("").has, 0);
	assert_int_equal(parsed("flags:\t9\nino:\t-1\nPid:\tx\nlock:\n:\n::::\nmnt_id\n").has, 0);
	assert_int_equal(parsed("flags:\t7777777777777777777777777\nino:\t99999999999999999999999\n").has, 0);
}

static void members_of_an_epoll_are_taken_one_by_one(void **state)
{
	(void)state;
	struct epoll_member m;
	struct span rest = span_of("pos:\t0\nflags:\t02\n"
				   "tfd:        6 events:       19 data:                0  pos:0 ino:46ee2 sdev:f\n"
				   "tfd:       -1 events:       19 data:                0  pos:0 ino:46ee2 sdev:f\n"
				   "tfd:       12 events: 8000201d data: ffffffffffffffff  pos:0 ino:zz sdev:9\n"
				   "tfd:       13 events:       1d data:                7\n");
	assert_true(epoll_member_next(&rest, &m));
	assert_true(m.fd == 6 && m.events == 0x19 && m.inode == 0x46ee2);
	assert_true(epoll_member_next(&rest, &m));
	assert_true(m.fd == 12 && m.events == 0x8000201d && m.inode == 0);
	assert_true(epoll_member_next(&rest, &m));
	assert_true(m.fd == 13 && m.inode == 0);
	assert_false(epoll_member_next(&rest, &m));
}

static void watches_of_an_inotify_are_taken_one_by_one(void **state)
{
	(void)state;
	struct inotify_watch x;
	struct span rest = span_of("pos:\t0\nflags:\t00\nino:\t1039\n"
				   "inotify wd:1 ino:60805c sdev:fe00003 mask:2 ignored_mask:0 fhandle-bytes:8\n"
				   "inotify wd:2 ino:zz sdev:fe00000 mask:2\n"
				   "inotify wd:3 ino:7 sdev:ffffffffff mask:2\n"
				   "inotify wd:4 ino:8\n"
				   "inotify wd:5 ino:9 sdev:2b mask:2\n");
	assert_true(inotify_watch_next(&rest, &x));
	assert_true(x.inode == 0x60805c && x.major == 254 && x.minor == 3);
	assert_true(inotify_watch_next(&rest, &x));
	assert_true(x.inode == 9 && x.major == 0 && x.minor == 0x2b);
	assert_false(inotify_watch_next(&rest, &x));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_every_descriptor_has),
		cmocka_unit_test(what_kinds_of_files_add),
		cmocka_unit_test(nonsense_sets_nothing),
		cmocka_unit_test(members_of_an_epoll_are_taken_one_by_one),
		cmocka_unit_test(watches_of_an_inotify_are_taken_one_by_one),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
