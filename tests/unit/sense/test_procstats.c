#include "testing.h"
#include "world_fixture.h"

#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "sense/proc/procstats.h"

static const char io_text[] = "rchar: 3980\nwchar: 12\nsyscr: 7\nsyscw: 2\nread_bytes: 4096\nwrite_bytes: 8192\n"
			      "cancelled_write_bytes: 99\n";

static void io_is_read_whole_or_not_at_all(void **state)
{
	(void)state;
	struct procstats_io io = {.read_bytes = 5};
	assert_int_equal(procstats_io_parse(span_of(io_text), &io), 0);
	assert_int_equal(io.read_bytes, 3980);
	assert_int_equal(io.write_bytes, 12);
	assert_int_equal(io.read_calls, 7);
	assert_int_equal(io.write_calls, 2);
	assert_int_equal(io.disk_read_bytes, 4096);
	assert_int_equal(io.disk_write_bytes, 8192);
	assert_int_equal(procstats_io_parse(SPAN("rchar: 1\nwchar: 2\n"), &io), -EBADMSG);
	assert_int_equal(io.read_bytes, 3980); /* untouched */
	assert_int_equal(procstats_io_parse(SPAN("rchar: x\n"), &io), -EBADMSG);
	assert_int_equal(procstats_io_parse(SPAN(""), &io), -EBADMSG);
}

static void times_of_the_scheduler_are_three_numbers(void **state)
{
	(void)state;
	struct procstats_thread t = {.has_schedule = false};
	assert_int_equal(procstats_schedstat_parse(SPAN("123456 789 4\n"), &t), 0);
	assert_true(t.has_schedule);
	assert_int_equal(t.run_ns, 123456);
	assert_int_equal(t.queued_ns, 789);
	assert_int_equal(t.slices, 4);
	assert_int_equal(procstats_schedstat_parse(SPAN("1 2"), &t), -EBADMSG);
	assert_int_equal(procstats_schedstat_parse(SPAN("1 -2 3"), &t), -EBADMSG);
}

static int written[2], leave[2];

static void *writer(void *arg)
{
	(void)arg;
	(void)prctl(PR_SET_NAME, "NCCL Service 0");
	char data[512] = "";
	if (write(written[1], data, sizeof(data)) != sizeof(data))
		return NULL;
	(void)!read(leave[0], data, 1);
	return NULL;
}

static void a_thread_is_told_from_its_process(void **state)
{
	(void)state;
	struct world w = live_world();
	struct procstats *v = procstats_new(&w, 64);
	struct procstats_thread thread[8];
	struct procstats_process p;
	pthread_t t;
	size_t n = 0, found = 0;
	assert_int_equal(pipe(written), 0);
	assert_int_equal(pipe(leave), 0);
	assert_int_equal(pthread_create(&t, NULL, writer, NULL), 0);
	char data[512];
	assert_int_equal(read(written[0], data, sizeof(data)), sizeof(data));
	procstats_round(v);
	assert_int_equal(procstats_process_read(v, getpid(), &p), 0);
	assert_int_equal(p.threads, 2);
	assert_true(p.has_schedule && p.has_io && !p.has_status);
	assert_int_equal(procstats_threads_read(v, getpid(), thread, 8, &n), 0);
	assert_int_equal(n, 2);
	for (size_t i = 0; i < n; i++) {
		if (strcmp(thread[i].comm, "NCCL Service 0") != 0)
			continue;
		found++;
		assert_int_equal(thread[i].io.write_bytes, 512);
		assert_true(p.io.write_bytes >= 512);
	}
	assert_int_equal(found, 1);
	assert_int_equal(procstats_threads_read(v, getpid(), thread, 1, &n), 0);
	assert_int_equal(n, 2); /* so many there are */
	procstats_free(v);
	assert_int_equal(write(leave[1], "", 1), 1);
	assert_int_equal(pthread_join(t, NULL), 0);
	fixture_close(&w);
}

static void what_has_ended_says_how_until_it_is_waited_for(void **state)
{
	(void)state;
	struct world w = live_world();
	struct procstats *v = procstats_new(&w, 64);
	struct procstats_process p;
	pid_t pid = fork();
	if (pid == 0)
		_exit(3);
	siginfo_t si;
	assert_int_equal(waitid(P_PID, (id_t)pid, &si, WEXITED | WNOWAIT), 0);
	assert_int_equal(procstats_process_read(v, pid, &p), 0);
	assert_int_equal(p.state, 'Z');
	assert_true(p.has_status);
	assert_int_equal(WEXITSTATUS(p.wait_status), 3);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(procstats_process_read(v, pid, &p), WORLD_GONE);
	procstats_free(v);
	fixture_close(&w);
}

static size_t open_files(void)
{
	size_t n = 0;
	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void files_are_kept_within_what_is_allowed(void **state)
{
	(void)state;
	struct world w = live_world();
	for (size_t most = 0; most < 6; most++) {
		size_t before = open_files();
		struct procstats *v = procstats_new(&w, most);
		struct procstats_process p;
		for (int i = 0; i < 3; i++) {
			procstats_round(v);
			assert_int_equal(procstats_process_read(v, getpid(), &p), 0);
			assert_int_equal(open_files() - before, MIN(most, (size_t)3)); /* stat, schedstat, io */
		}
		procstats_round(v); /* asked for in the round before: kept */
		assert_int_equal(open_files() - before, MIN(most, (size_t)3));
		procstats_round(v); /* and not any more: closed */
		assert_int_equal(open_files(), before);
		assert_int_equal(procstats_process_read(v, getpid(), &p), 0);
		procstats_free(v);
		assert_int_equal(open_files(), before);
	}
	fixture_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(io_is_read_whole_or_not_at_all),
		cmocka_unit_test(times_of_the_scheduler_are_three_numbers),
		cmocka_unit_test(a_thread_is_told_from_its_process),
		cmocka_unit_test(what_has_ended_says_how_until_it_is_waited_for),
		cmocka_unit_test(files_are_kept_within_what_is_allowed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
