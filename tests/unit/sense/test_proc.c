#include "testing.h"
#include "world_fixture.h"

#include "sense/proc/proc.h"

static void names_may_hold_brackets_and_blanks(void **state)
{
	(void)state;
	struct world w = fixture_world("hybrid-v1");
	struct proc_stat s;
	assert_int_equal(proc_stat_read(&w, 4242, &s), 0);
	assert_string_equal(s.comm, "python (train) x)");
	assert_int_equal(s.pid, 4242);
	assert_int_equal(s.ppid, 1);
	assert_int_equal(s.state, 'S');
	assert_int_equal(s.minor_faults, 1234);
	assert_int_equal(s.major_faults, 7);
	assert_int_equal(s.utime_ticks, 250);
	assert_int_equal(s.stime_ticks, 50);
	assert_int_equal(s.threads, 4);
	assert_int_equal(s.start_ticks, 88123);
	assert_false(s.kernel_thread);
	assert_int_equal(proc_stat_read(&w, 2, &s), 0);
	assert_true(s.kernel_thread);
	fixture_close(&w);
}

static void processes_that_are_not_there_are_gone(void **state)
{
	(void)state;
	struct world w = fixture_world("hybrid-v1");
	struct proc_stat s;
	struct proc_statm m;
	struct proc_status st;
	char text[64];
	assert_int_equal(proc_stat_read(&w, 999999, &s), WORLD_GONE);
	assert_int_equal(proc_statm_read(&w, 999999, &m), WORLD_GONE);
	assert_int_equal(proc_status_read(&w, 999999, &st), WORLD_GONE);
	assert_int_equal(proc_command_read(&w, 999999, text, sizeof(text)), WORLD_GONE);
	assert_int_equal(proc_stat_read(&w, 10001, &s), -EBADMSG);
	fixture_close(&w);
	w.proc_fd = -1;
	assert_int_equal(proc_stat_read(&w, 1, &s), WORLD_ABSENT);
}

static void truncated_stat_is_refused_at_every_length(void **state)
{
	(void)state;
	const char text[] = "7 (a) S 1 7 7 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 99";
	struct proc_stat s;
	assert_int_equal(proc_stat_parse(SPAN(text), &s), 0);
	assert_int_equal(s.start_ticks, 99);
	for (size_t len = 0; len < sizeof(text) - 3; len++)
		assert_int_equal(proc_stat_parse((struct span){text, len}, &s), -EBADMSG);
	assert_int_equal(proc_stat_parse(SPAN(") 7 ("), &s), -EBADMSG);
	assert_int_equal(proc_stat_parse(SPAN("99999999999 (a) S 1 7 7 0 -1 0 1 2 3 4 5 6 7 8 20 0 1 0 99"), &s),
			 -EBADMSG);
}

static void how_a_zombie_ended_is_the_last_column_of_its_stat(void **state)
{
	(void)state;
	const char text[] =
		"7 (a ) b) Z 1 7 7 0 -1 4227084 0 0 0 0 3 1 0 0 20 0 1 0 99 0 0 18446744073709551615 0 0 0 0 0 0 0 "
		"0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 768\n";
	int status = -1;
	assert_int_equal(proc_exit_parse(SPAN(text), &status), 0);
	assert_int_equal(status, 3 << 8);
	for (size_t len = 0; len < sizeof(text) - 5; len++)
		assert_int_equal(proc_exit_parse((struct span){text, len}, &status), -EBADMSG);
	assert_int_equal(status, 3 << 8);
}

static void status_gives_memory_and_the_innermost_pid(void **state)
{
	(void)state;
	struct world w = fixture_world("hybrid-v1");
	struct proc_status s;
	assert_int_equal(proc_status_read(&w, 4242, &s), 0);
	assert_int_equal(s.uid, 1000);
	assert_int_equal(s.euid, 1001);
	assert_int_equal(s.ns_pid, 17);
	assert_int_equal(s.tracer, 77);
	assert_true(s.has_memory);
	assert_true(s.rss_bytes == 307200 * KIB);
	assert_true(s.rss_anon_bytes + s.rss_file_bytes + s.rss_shmem_bytes == s.rss_bytes);
	assert_true(s.swap_bytes == 4096 * KIB && s.hugetlb_bytes == 2048 * KIB);
	assert_true(s.peak_rss_bytes == 400000 * KIB && s.locked_bytes == 64 * KIB);
	assert_true(s.cap_effective == UINT64_C(0x1ffffffffff));
	assert_int_equal(proc_status_read(&w, 2, &s), 0);
	assert_false(s.has_memory);
	assert_int_equal(s.ns_pid, 2);
	assert_int_equal(proc_status_parse(SPAN("Name: x\n"), &s), -EBADMSG);
	assert_int_equal(proc_status_parse(SPAN("Pid: 1\nUid: 0 0\nCapEff: xyz\n"), &s), -EBADMSG);
	assert_int_equal(proc_status_parse(SPAN("Pid: 1\nUid: 0 0\nVmRSS: 99999999999999999999 kB"), &s), 0);
	assert_false(s.has_memory);
	assert_int_equal(proc_status_parse(SPAN("Pid: 1\nUid: 0 0\nSigCgt:\t0000000000002200\n"), &s), 0);
	assert_true(s.handled == (UINT64_C(1) << 9 | UINT64_C(1) << 13)); /* SIGUSR1, SIGALRM */
	assert_int_equal(proc_status_parse(SPAN("Pid: 1\nUid: 0 0\nSigCgt: 12345678123456781\n"), &s), -EBADMSG);
	fixture_close(&w);
}

static void the_rollup_adds_up_what_is_private(void **state)
{
	(void)state;
	struct world w = fixture_world("hybrid-v1");
	struct proc_rollup v;
	assert_int_equal(proc_rollup_read(&w, 4242, &v), 0);
	assert_true(v.private_bytes == (1000 + 296960 + 2048) * KIB);
	assert_true(v.shared_bytes == 9240 * KIB);
	assert_true(v.pss_bytes == 301000 * KIB && v.swap_pss_bytes == 4000 * KIB);
	assert_true(v.pss_anon_bytes == 296960 * KIB && v.pss_shmem_bytes == 140 * KIB);
	assert_int_equal(proc_rollup_parse(SPAN("Rss: 9 kB\nPss: 4 kB\nShared_Clean: 3 kB\nShared_Dirty: 5 kB\n"), &v),
			 0);
	assert_true(v.shared_bytes == 8 * KIB && v.shared_dirty_bytes == 5 * KIB);
	assert_int_equal(proc_rollup_parse(SPAN("Rss: 1 kB\n"), &v), -EBADMSG);
	fixture_close(&w);
}

static void commands_are_readable_and_cut(void **state)
{
	(void)state;
	struct world w = fixture_world("hybrid-v1");
	char text[64], small[8];
	assert_int_equal(proc_command_read(&w, 4242, text, sizeof(text)), 0);
	assert_string_equal(text, "python train.py --lr?1e-3");
	assert_int_equal(proc_command_read(&w, 4242, small, sizeof(small)), 0);
	assert_string_equal(small, "python ");
	assert_int_equal(proc_command_read(&w, 2, text, sizeof(text)), 0);
	assert_string_equal(text, "[kthreadd]");
	fixture_close(&w);
}

static void a_value_of_the_auxiliary_vector_is_found_by_its_type(void **state)
{
	(void)state;
	struct world w = fixture_world("hybrid-v1");
	uint64_t value = 7;
	assert_int_equal(proc_auxv_read(&w, 4242, 25, &value), 0);
	assert_true(value == UINT64_C(0x7ffd12345679));
	value = 7;
	assert_int_equal(proc_auxv_read(&w, 4242, 4096, &value), WORLD_ABSENT); /* a value, not a type */
	assert_int_equal(proc_auxv_read(&w, 999999, 25, &value), WORLD_GONE);
	assert_int_equal(value, 7);
	fixture_close(&w);
}

static void the_environment_is_searched_by_whole_names(void **state)
{
	(void)state;
	struct world w = fixture_world("hybrid-v1");
	char block[256];
	size_t len;
	assert_int_equal(proc_environ_read(&w, 4242, block, sizeof(block), &len), 0);
	struct span env = {block, len};
	assert_true(span_eq(environ_get(env, "RANK"), "3"));
	assert_true(span_eq(environ_get(env, "RANKS"), "9"));
	assert_non_null(environ_get(env, "EMPTY").p);
	assert_int_equal(environ_get(env, "EMPTY").len, 0);
	assert_null(environ_get(env, "RAN").p);
	assert_null(environ_get((struct span){NULL, 0}, "X").p);
	fixture_close(&w);
}

static void the_score_adjustment_is_read(void **state)
{
	(void)state;
	struct world w = fixture_world("hybrid-v1");
	int adj = 5;
	assert_int_equal(proc_oom_score_adj_read(&w, 4242, &adj), 0);
	assert_int_equal(adj, -17);
	assert_int_equal(proc_oom_score_adj_read(&w, 1, &adj), WORLD_GONE);
	fixture_close(&w);
}

static void this_process_reads_itself(void **state)
{
	(void)state;
	struct world w = live_world();
	struct proc_stat s;
	struct proc_status st;
	struct proc_rollup v;
	char text[512];
	assert_int_equal(proc_stat_read(&w, getpid(), &s), 0);
	assert_int_equal(s.pid, getpid());
	assert_int_equal(s.ppid, getppid());
	assert_true(s.start_ticks > 0);
	assert_int_equal(proc_status_read(&w, getpid(), &st), 0);
	assert_int_equal(st.euid, geteuid());
	assert_true(st.has_memory && st.rss_bytes > 100 * KIB);
	assert_int_equal(proc_rollup_read(&w, getpid(), &v), 0);
	assert_true(v.rss_bytes > 0 && v.private_bytes > 0);
	assert_int_equal(proc_command_read(&w, getpid(), text, sizeof(text)), 0);
	assert_true(strstr(text, "proc") != NULL);
	fixture_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_may_hold_brackets_and_blanks),
		cmocka_unit_test(processes_that_are_not_there_are_gone),
		cmocka_unit_test(truncated_stat_is_refused_at_every_length),
		cmocka_unit_test(how_a_zombie_ended_is_the_last_column_of_its_stat),
		cmocka_unit_test(status_gives_memory_and_the_innermost_pid),
		cmocka_unit_test(the_rollup_adds_up_what_is_private),
		cmocka_unit_test(commands_are_readable_and_cut),
		cmocka_unit_test(a_value_of_the_auxiliary_vector_is_found_by_its_type),
		cmocka_unit_test(the_environment_is_searched_by_whole_names),
		cmocka_unit_test(the_score_adjustment_is_read),
		cmocka_unit_test(this_process_reads_itself),
	};
	return cmocka_run_group_tests_name("sense/proc", tests, NULL, NULL);
}
