#include "testing.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "sense/log/kmsg.h"

static void a_record_is_taken_apart(void **state)
{
	(void)state;
	struct kmsg_record r;
	assert_int_equal(
		kmsg_parse(SPAN("30,423,2104191886,-,caller=T1;systemd[1]: hi; there\n SUBSYSTEM=x\n DEVICE=y\n"), &r),
		0);
	assert_int_equal(r.priority, 6);
	assert_int_equal(r.facility, 3);
	assert_int_equal(r.seq, 423);
	assert_int_equal(r.mono_us, 2104191886);
	assert_true(span_eq(r.text, "systemd[1]: hi; there"));
	assert_true(span_eq(r.more, " SUBSYSTEM=x\n DEVICE=y\n"));
}

static void what_is_no_record_is_refused(void **state)
{
	(void)state;
	struct kmsg_record r = {.seq = 7};
	const char *bad[] = {"",	";",	  "6;", "6,1;", "6,,1,-;x", "a,1,1,-;x", "6,1,99999999999999999999,-;x",
			     "6,1,1,-", "[1.0] x"};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(kmsg_parse(span_of(bad[i]), &r), -EBADMSG);
	assert_int_equal(r.seq, 7);
}

static void escapes_are_undone_and_control_bytes_hidden(void **state)
{
	(void)state;
	char out[32];
	assert_int_equal(kmsg_unescape(SPAN("a\\x5cb\\xe4\\x0ac\\xZZ\\x1"), out, sizeof(out)), 13);
	assert_string_equal(out, "a\\b\xe4?c\\xZZ\\x1");
	assert_int_equal(kmsg_unescape(SPAN("abcdef"), out, 4), 3);
	assert_string_equal(out, "abc");
}

struct seen {
	size_t n;
	uint64_t last;
	char text[64];
	size_t more;
};

static void see(const struct kmsg_record *r, void *data)
{
	struct seen *s = data;
	s->n++;
	s->last = r->seq;
	s->more += r->more.len;
	span_copy(r->text, s->text, sizeof(s->text));
}

static struct world file_world(const char *text, size_t len)
{
	char path[] = "/tmp/vigil-kmsg-XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(file_write_all(fd, text, len), 0);
	return (struct world){
		.kmsg_fd = fd, .proc_fd = -1, .recorded = true, .mono_ns = clock_mono_ns, .unix_ms = clock_unix_ms};
}

static void a_recorded_log_is_read_across_buffer_ends(void **state)
{
	(void)state;
	static char text[60000];
	size_t len = 0;
	for (int i = 0; i < 1000; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "6,%d,%d,-;record number %d\n A=b\n", i, i * 10,
					i);
	struct world w = file_world(text, len);
	struct kmsg k;
	struct seen s = {0};
	size_t n;
	assert_int_equal(kmsg_open(&w, KMSG_FROM_START, &k), 0);
	assert_int_equal(kmsg_drain(&k, 100000, see, &s, &n), 0);
	assert_int_equal(n, 1000);
	assert_int_equal(s.last, 999);
	assert_int_equal(s.more, 5 * 1000);
	assert_string_equal(s.text, "record number 999");
	kmsg_close(&k);
	close(w.kmsg_fd);
}

static void a_log_that_we_may_not_open_is_not_absent(void **state)
{
	(void)state;
	struct world w = {.kmsg_fd = -1, .kmsg_denied = true};
	struct kmsg k;
	assert_int_equal(kmsg_open(&w, KMSG_FROM_START, &k), WORLD_DENIED);
	w.kmsg_denied = false;
	assert_int_equal(kmsg_open(&w, KMSG_FROM_START, &k), WORLD_ABSENT);
}

static void garbage_between_records_is_passed_over(void **state)
{
	(void)state;
	static char text[20000];
	memset(text, 'x', sizeof(text));
	memcpy(text, "6,1,1,-;one\n", 12);
	memcpy(text + sizeof(text) - 13, "\n6,2,2,-;two\n", 13);
	struct world w = file_world(text, sizeof(text));
	struct kmsg k;
	struct seen s = {0};
	size_t n;
	assert_int_equal(kmsg_open(&w, KMSG_FROM_START, &k), 0);
	assert_int_equal(kmsg_drain(&k, 100, see, &s, &n), 0);
	assert_int_equal(s.n, 2);
	assert_string_equal(s.text, "two");
	close(w.kmsg_fd);
}

static void no_kernel_log_is_a_condition(void **state)
{
	(void)state;
	struct world w = {.kmsg_fd = -1};
	struct kmsg k;
	assert_int_equal(kmsg_open(&w, KMSG_FROM_END, &k), WORLD_ABSENT);
}

static void the_live_log_gives_back_what_is_written_into_it(void **state)
{
	(void)state;
	struct world w = {.proc_fd = open("/proc", O_RDONLY | O_DIRECTORY),
			  .kmsg_fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK),
			  .mono_ns = clock_mono_ns,
			  .unix_ms = clock_unix_ms};
	cleanup(closep) int out = open("/dev/kmsg", O_WRONLY);
	struct kmsg k, other;
	if (w.kmsg_fd < 0 || out < 0 || kmsg_open(&w, KMSG_FROM_END, &k) != 0) {
		print_message("skipped: no kernel log may be written here\n");
		skip();
	}
	struct seen s = {0}, second = {0};
	size_t n;
	assert_int_equal(kmsg_open(&w, KMSG_FROM_END, &other), 0);
	assert_int_equal(file_write_all(out, "<6>vigil unit test\n", 19), 0);
	assert_int_equal(kmsg_drain(&k, 1000, see, &s, &n), 0);
	assert_true(s.n >= 1);
	assert_int_equal(kmsg_drain(&other, 1000, see, &second, &n), 0);
	assert_int_equal(second.last, s.last); /* each has a position of its own */
	assert_true(kmsg_unix_offset_ms(&w) > 0);
	kmsg_close(&k);
	kmsg_close(&other);
	close(w.kmsg_fd);
	close(w.proc_fd);
}

/* Others write into the log as well. */
static void see_mine(const struct kmsg_record *r, void *data)
{
	char mark[40];
	(void)snprintf(mark, sizeof(mark), "vigil-two-%d ", (int)getpid());
	if (span_has(r->text, mark))
		see(r, data);
}

/* The descriptor came from elsewhere and may not be opened again: its position is everybody's. */
static void two_readers_of_one_descriptor_take_nothing_from_each_other(void **state)
{
	(void)state;
	struct world w = {.proc_fd = -1, .kmsg_fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK)};
	static struct kmsg one, other;
	struct seen by_one = {0}, by_other = {0};
	size_t n;
	char line[80];
	cleanup(closep) int out = open("/dev/kmsg", O_WRONLY);
	if (w.kmsg_fd < 0 || out < 0 || kmsg_open(&w, KMSG_FROM_END, &one) != 0)
		skip();
	assert_true(one.rewinds);
	int len = snprintf(line, sizeof(line), "<7>vigil-two-%d first\n", (int)getpid());
	if (write(out, line, (size_t)len) != len)
		skip();
	assert_int_equal(kmsg_open(&w, KMSG_FROM_END, &other), 0);
	len = snprintf(line, sizeof(line), "<7>vigil-two-%d second\n", (int)getpid());
	assert_int_equal(write(out, line, (size_t)len), len);
	/* whoever comes later still gets what came after it had begun, and nothing before */
	assert_int_equal(kmsg_drain(&one, 100000, see_mine, &by_one, &n), 0);
	assert_int_equal(kmsg_drain(&other, 100000, see_mine, &by_other, &n), 0);
	assert_int_equal(by_one.n, 2);
	assert_int_equal(by_other.n, 1);
	assert_non_null(strstr(by_other.text, "second"));
	assert_int_equal(kmsg_drain(&one, 100000, see_mine, &by_one, &n), 0);
	assert_int_equal(by_one.n, 2);
	assert_int_equal(one.lost + other.lost, 0);
	kmsg_close(&one);
	kmsg_close(&other);
	closep(&w.kmsg_fd);
}

static void lines_of_the_kernel_name_their_process(void **state)
{
	(void)state;
	static const struct {
		const char *line;
		pid_t pid;
	} rows[] = {
		{"Memory cgroup out of memory: Killed process 4242 (python3) total-vm:1kB", 4242},
		{"Out of memory: Killed process 7 (a) total-vm:1kB", 7},
		{"oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),task_memcg=/x,task=python3,pid=812,uid=0", 812},
		{"INFO: task python:99:312 blocked for more than 120 seconds.", 312},
		{"python3[5150]: segfault at 0 ip 00007f sp 00007f error 4 in libnccl.so", 5150},
		{"NVRM: Xid (PCI:0000:05:00): 79, GPU has fallen off the bus.", 0},
		{"nfs: server s not responding, still trying", 0},
		{"Killed process", 0},
		{"Killed process -3 (x)", 0},
		{"task blocked for more than", 0},
		{"]: segfault at", 0},
		{"Memory cgroup out of memory: OOM victim 27007 (hog) is already exiting. Skip killing the task",
		 27007},
		/* a user's program calls itself as it likes, in 15 bytes */
		{"python[77][8888]: segfault at 0 ip 00007f sp 00007f error 4 in a[77]: segfault at 0", 8888},
		{"x[77]: segfault[8888]: segfault at 0 ip 00007f sp 00007f error 4", 8888},
		{"traps: a[7]trap int3 [8888] trap int3 ip:4 sp:8 error:0", 8888},
		{"python,pid=77[8888]: segfault at 0 ip 00007f sp 00007f error 4", 8888},
		{"OOM victim 7777[8888]: segfault at 0 ip 00007f sp 00007f error 4", 8888},
		{"a kill process 7[8888] general protection fault ip:4 sp:8 error:0", 8888},
		{"oom-kill:constraint=C,nodemask=(null),task_memcg=/x,pid=5,task=a,pid=77,uid=0,pid=8888,uid=1", 8888},
		{"process '/tmp/Killed process 77 (x)' started with executable stack", 0},
		{"", 0},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(kmsg_subject(span_of(rows[i].line)), rows[i].pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_of_the_kernel_name_their_process),
		cmocka_unit_test(a_record_is_taken_apart),
		cmocka_unit_test(what_is_no_record_is_refused),
		cmocka_unit_test(escapes_are_undone_and_control_bytes_hidden),
		cmocka_unit_test(a_recorded_log_is_read_across_buffer_ends),
		cmocka_unit_test(a_log_that_we_may_not_open_is_not_absent),
		cmocka_unit_test(garbage_between_records_is_passed_over),
		cmocka_unit_test(no_kernel_log_is_a_condition),
		cmocka_unit_test(the_live_log_gives_back_what_is_written_into_it),
		cmocka_unit_test(two_readers_of_one_descriptor_take_nothing_from_each_other),
	};
	return cmocka_run_group_tests_name("sense/log/kmsg", tests, NULL, NULL);
}
