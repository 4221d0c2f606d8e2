#include "testing.h"

#include <signal.h>

#include "sense/death/killerlog.h"

static struct killer_line lines[8];

static size_t fed(const char *ident, const char *text)
{
	struct killerlog k;
	struct span rest = span_of(text), line;
	killerlog_init(&k, "test", lines, ARRAY_SIZE(lines));
	while (span_line(&rest, &line))
		killerlog_line(&k, span_of(ident), line, 17);
	return k.n;
}

static void systemd_oomd_s_pressure_is_read_in_both_wordings(void **state)
{
	(void)state;
	const char *both[] = {
		"Killed /a.slice/b due to memory pressure for /a.slice being 57.97% > 50.00% for > 1min 20s with "
		"reclaim activity",
		"Marked /a.slice/b for killing due to memory pressure for /a.slice being 57.97% > 50.00% for > 80s "
		"with reclaim activity",
	};
	for (size_t i = 0; i < ARRAY_SIZE(both); i++) {
		assert_int_equal(fed("systemd-oomd", both[i]), 1);
		assert_int_equal(lines[0].killer, KILLER_SYSTEMD_OOMD);
		assert_string_equal(lines[0].group, "/a.slice/b");
		assert_string_equal(lines[0].monitored, "/a.slice");
		assert_true(lines[0].pressure && lines[0].value_ratio > 0.5796 && lines[0].value_ratio < 0.5798);
		assert_int_equal(lines[0].duration_ms, 80000);
		assert_int_equal(lines[0].time_unix_ms, 17);
	}
}

static void only_the_writer_s_own_words_count(void **state)
{
	(void)state;
	const char *oomd =
		"Killed /a due to memory pressure for /a being 57.97% > 50.00% for > 20s with reclaim activity";
	assert_int_equal(fed("python", oomd), 0);
	assert_int_equal(fed("", oomd), 1);
	const char *nothing[] = {
		"Killed /a due to boredom",
		"Killed",
		"Killed /",
		"a.service: Failed with result 'exit-code'.",
		"a.service: Killing process x (y) with signal SIGKILL.",
		"a b.service: Failed with result 'oom-kill'.",
		"sending SIGKILL to process",
		"sending SIGTERM when mem <= 10.00% and swap <= 10.00%,",
		"low memory! at or below",
		"oomd kill: a b c",
		"oomd kill: 1 2 3",
		"Detected oom_kill event",
		"srun: error: n1: task 0: ",
		"*** JOB 7 ON n1 ***",
		"Selected to kill: (pid=7)",
		"Memory on the node (IP: x) where the pid=7 was running was",
		"  Sending SIGTERM to the cat",
		"x Workers (tasks / actors) killed due to memory pressure (OOM)",
	};
	for (size_t i = 0; i < ARRAY_SIZE(nothing); i++)
		assert_int_equal(fed("", nothing[i]), 0);
}

static void earlyoom_and_nohang_name_their_victim(void **state)
{
	(void)state;
	assert_int_equal(fed("earlyoom", "sending SIGTERM to process 194 uid 0 \"h og\": badness 1161, VmRSS 525 MiB"),
			 1);
	assert_int_equal(lines[0].pid, 194);
	assert_int_equal(lines[0].signal, SIGTERM);
	assert_string_equal(lines[0].name, "h og");
	assert_int_equal(lines[0].victim_bytes, 525 * MIB);
	assert_int_equal(fed("nohang", "  PID: 461, name: hog, badness: 1182\n  Sending SIGKILL to the victim"), 1);
	assert_int_equal(lines[0].pid, 461);
	assert_int_equal(fed("nohang", "  PID: 461, Name: hog, badness: 1182\n  [ OK ] Sending SIGTERM to hog: 1"), 0);
}

static void units_are_told_apart_by_their_last_words(void **state)
{
	(void)state;
	assert_int_equal(fed("systemd", "a.service: A process of this unit has been killed by the OOM killer.\n"
					"a.service: systemd-oomd killed 3 process(es) in this unit.\n"
					"a.service: systemd-oomd killed some process(es) in this unit.\n"
					"a.service: Failed with result 'oom-kill'.\n"
					"a.service: Sent signal SIGKILL to main process 542 (hog) on client request.\n"
					"a.service: State 'stop-sigterm' timed out. Killing.\n"),
			 6);
	assert_string_equal(lines[0].action, "unit");
	assert_int_equal(lines[1].count, 3);
	assert_string_equal(lines[3].action, "unit_result");
	assert_int_equal(lines[4].pid, 542);
	assert_string_equal(lines[5].action, "stop_timeout");
}

static void ray_s_joined_block_gives_each_victim(void **state)
{
	(void)state;
	assert_int_equal(
		fed("raylet",
		    "2 worker(s) were killed due to the node running low on memory. Memory on the node (IP: x, ID: y) "
		    "was "
		    "2.00GB / 4.00GB (0.5);Considered workers: [;Selected to kill: (Task: task name=f, pid=10, actual "
		    "memory used=0.50GB, worker ID=a);Selected to kill: (Task: task name=g, pid=11, actual memory "
		    "used=1.00GB, worker ID=b);(Task: task name=h, pid=12, actual memory used=1.00GB, worker ID=c)"),
		2);
	assert_int_equal(lines[0].pid, 10);
	assert_int_equal(lines[0].memory_total_bytes, 4 * GIB);
	assert_int_equal(lines[1].pid, 11);
	assert_int_equal(lines[1].victim_bytes, GIB);
	assert_string_equal(lines[1].name, "g");
	assert_string_equal(lines[0].ray_id, "worker ID a");
	assert_string_equal(lines[1].ray_id, "worker ID b");
}

/* As Ray 2.60 writes it into raylet.out, without the lines on its object store. */
static void the_raylet_s_own_words_on_a_kill_are_read(void **state)
{
	(void)state;
	assert_int_equal(
		fed("", "[2026-11-28 12:47:00,852 I 1468 1519] (raylet) threshold_memory_monitor.cc:128: Node memory "
			"usage above threshold, used: 2397732864, threshold_bytes: 2375991808, total bytes: "
			"25276510208, threshold fraction: 0.094000\n"
			"[2026-11-28 12:47:00,927 I 1468 1468] (raylet) node_manager.cc:3199: Killing 1 worker(s), "
			"kill details: Memory on the node (IP: 127.0.0.2, ID: e19f6eb9) was 2.26GB used / 23.54GB "
			"limit (0.095846)\n"
			"OOM kill reason: Memory usage 2397732864B exceeded threshold of 2375991808B (9.4% of "
			"25276510208B limit)\n"
			"Ray killed 1 worker(s) based on the killing policy\n"
			"Considered workers: [\n"
			"Selected to kill: (Task: job ID=01000000, lease ID=00, task name=leak, required "
			"resources={CPU: 1}, pid=1580, actual memory used=1.21GB, worker ID=188fb9b5)\n"
			"]\n"
			"Top 10 memory users: PID\tMEM(GB)\tCOMMAND\n"
			"1580\t1.21\tray::leak\n"),
		1);
	assert_int_equal(lines[0].pid, 1580);
	assert_string_equal(lines[0].name, "leak");
	assert_string_equal(lines[0].ray_id, "worker ID 188fb9b5");
	assert_true(lines[0].memory_total_bytes > 23 * GIB && lines[0].victim_bytes > GIB);
	assert_true(lines[0].limit_ratio > 0.0939 && lines[0].limit_ratio < 0.0941);
}

static void slurm_s_steps_and_cancellations_are_read(void **state)
{
	(void)state;
	assert_int_equal(
		fed("", "slurmstepd: error: Detected 2 oom_kill events in StepId=11.0. Some of the step tasks have "
			"been OOM Killed.\n"
			"slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2023-12-05T07:16:01 DUE TO TIME LIMIT ***\n"
			"srun: error: n1: task 3: Killed\n"),
		3);
	assert_int_equal(lines[0].count, 2);
	assert_string_equal(lines[0].name, "11.0");
	assert_string_equal(lines[1].action, "time_limit");
	assert_string_equal(lines[1].name, "JOB 7");
	assert_int_equal(lines[2].signal, SIGKILL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(systemd_oomd_s_pressure_is_read_in_both_wordings),
		cmocka_unit_test(only_the_writer_s_own_words_count),
		cmocka_unit_test(earlyoom_and_nohang_name_their_victim),
		cmocka_unit_test(units_are_told_apart_by_their_last_words),
		cmocka_unit_test(ray_s_joined_block_gives_each_victim),
		cmocka_unit_test(the_raylet_s_own_words_on_a_kill_are_read),
		cmocka_unit_test(slurm_s_steps_and_cancellations_are_read),
	};
	return cmocka_run_group_tests_name("sense/death/killerlog", tests, NULL, NULL);
}
