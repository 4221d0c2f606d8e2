#include "testing.h"
#include "logtext.h"

#include <stdio.h>

#include "base/text.h"
#include "sense/log/logprefix.h"
#include "sense/death/oomlog.h"

static struct kernel_kill kills[8];

static struct oomlog fed(const char *text)
{
	struct oomlog o;
	oomlog_init(&o, 4096, kills, ARRAY_SIZE(kills));
	logtext_oomlog(&o, span_of(text), 0);
	return o;
}

static void a_whole_report_becomes_one_record(void **state)
{
	(void)state;
	struct oomlog o = fed(
		"4,1,1000000,-;py,t invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0\n"
		"6,2,1000001,-;memory: usage 65536kB, limit 65536kB, failcnt 83\n"
		"6,3,1000002,-;[  pid  ]   uid  tgid total_vm      rss rss_anon pgtables_bytes swapents oom_score_adj "
		"name\n"
		"6,4,1000003,-;[    100]     0   100    19361      200    163   196608        0          -500 a b\n"
		"6,5,1000004,-;[    101]     0   101    19361    17695    163   196608        0             7 py,t\n"
		"6,6,1000005,-;oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/"
		"a,b,"
		"task_memcg=/a,b/c,task=py,t,pid=101,uid=7\n"
		"3,7,1500000,-;Memory cgroup out of memory: Killed process 101 (py,t) total-vm:77444kB, "
		"anon-rss:65272kB, "
		"file-rss:5508kB, shmem-rss:4kB, UID:7 pgtables:192kB oom_score_adj:-3\n");
	const struct kernel_kill *k = &kills[0];
	assert_int_equal(o.n, 1);
	assert_int_equal(k->pid, 101);
	assert_string_equal(k->comm, "py,t");
	assert_string_equal(k->invoker, "py,t");
	assert_string_equal(k->oom_memcg, "/a,b");
	assert_string_equal(k->task_memcg, "/a,b/c");
	assert_string_equal(k->constraint, "CONSTRAINT_MEMCG");
	assert_true(k->memcg && !k->bare && !k->group_kill);
	assert_int_equal(k->limit_bytes, 64 * MIB);
	assert_int_equal(k->anon_rss_bytes, 65272 * KIB);
	assert_int_equal(k->shmem_rss_bytes, 4 * KIB);
	assert_int_equal(k->uid, 7);
	assert_int_equal(k->oom_score_adj, -3);
	assert_int_equal(k->time_unix_ms, 1500);
	assert_int_equal(k->n_tasks, 2);
	assert_int_equal(k->tasks[0].pid, 101);
	assert_int_equal(k->tasks[0].rss_bytes, 17695 * 4096);
	assert_string_equal(k->tasks[1].comm, "a b");
	assert_int_equal(k->tasks[1].oom_score_adj, -500);
}

static void columns_are_found_by_name_in_the_old_table_too(void **state)
{
	(void)state;
	(void)fed("[    1.000000] x invoked oom-killer: gfp_mask=0x0, order=0, oom_score_adj=0\n"
		  "[    1.000001] [ pid ]   uid  tgid total_vm      rss nr_ptes nr_pmds swapents oom_score_adj name\n"
		  "[    1.000002] [ 2594]  1000  2594  8123456  7912345   15600       3        9           -17 mysqld\n"
		  "[    1.000003] Out of memory: Kill process 2594 (mysqld) score 948 or sacrifice child\n"
		  "[    1.000004] Killed process 2594 (mysqld) total-vm:1kB, anon-rss:2kB, file-rss:0kB\n");
	assert_int_equal(kills[0].tasks[0].rss_bytes, UINT64_C(7912345) * 4096);
	assert_int_equal(kills[0].tasks[0].oom_score_adj, -17);
	assert_string_equal(kills[0].tasks[0].comm, "mysqld");
	assert_false(kills[0].memcg);
}

static void a_group_kill_marks_its_first_victim_afterwards(void **state)
{
	(void)state;
	struct oomlog o =
		fed("6,1,1,-;oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/"
		    "g,task_memcg=/g,task=a,pid=5,uid=0\n"
		    "3,2,2,-;Memory cgroup out of memory: Killed process 5 (a) total-vm:1kB, anon-rss:1kB, "
		    "file-rss:0kB, shmem-rss:0kB\n"
		    "6,3,3,-;Tasks in /g are going to be killed due to memory.oom.group set\n"
		    "3,4,4,-;Memory cgroup out of memory: Killed process 6 (b) total-vm:1kB, anon-rss:1kB, "
		    "file-rss:0kB, shmem-rss:0kB\n"
		    "6,5,5,-;oom_reaper: reaped process 6 (b), now anon-rss:0kB, file-rss:0kB, shmem-rss:0kB\n"
		    "4,6,6,-;x invoked oom-killer: gfp_mask=0x0, order=0, oom_score_adj=0\n"
		    "3,7,7,-;Memory cgroup out of memory: Killed process 7 (c) total-vm:1kB, anon-rss:1kB, "
		    "file-rss:0kB, shmem-rss:0kB\n");
	assert_int_equal(o.n, 3);
	assert_true(kills[0].group_kill && kills[1].group_kill);
	assert_string_equal(kills[1].oom_memcg, "/g");
	assert_true(kills[1].reaped && !kills[0].reaped);
	assert_false(kills[2].group_kill);
	assert_string_equal(kills[2].oom_memcg, "");
}

static void a_kill_line_of_another_pid_does_not_inherit_a_report(void **state)
{
	(void)state;
	(void)fed("6,1,1,-;oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/"
		  "g,task_memcg=/g,task=a,pid=5,uid=0\n"
		  "3,2,2,-;Memory cgroup out of memory: Killed process 9 (z) total-vm:1kB, anon-rss:1kB, file-rss:0kB, "
		  "shmem-rss:0kB\n");
	assert_true(kills[0].bare);
	assert_string_equal(kills[0].oom_memcg, "");
}

static void talk_about_kills_is_no_record(void **state)
{
	(void)state;
	struct kernel_kill k;
	assert_false(oomlog_kill_parse(SPAN("Killed process 7 (c)"), &k));
	assert_false(oomlog_kill_parse(SPAN("my tool: Killed process 7 (c) total-vm:1kB"), &k));
	assert_false(oomlog_kill_parse(SPAN("Out of memory: Killed process (c) total-vm:1kB"), &k));
	assert_false(oomlog_kill_parse(SPAN("Out of memory: Killed process 99999999999 (c) total-vm:1kB"), &k));
	assert_false(oomlog_kill_parse(SPAN("Out of memory: Killed process 7 (c total-vm:1kB"), &k));
	assert_true(oomlog_kill_parse(
		SPAN("Out of memory: Killed process 7 () total-vm:99999999999999999999kB, anon-rss:1kB"), &k));
	assert_string_equal(k.comm, "");
}

static void absurd_numbers_saturate(void **state)
{
	(void)state;
	(void)fed("6,1,1,-;memory: usage 18446744073709551615kB, limit 18446744073709551615kB, failcnt 1\n"
		  "3,2,2,-;Memory cgroup out of memory: Killed process 9 (z) total-vm:1kB, "
		  "anon-rss:18446744073709551615kB, "
		  "file-rss:0kB, shmem-rss:0kB, oom_score_adj:99999999999\n");
	assert_true(kills[0].limit_bytes == UINT64_MAX && kills[0].anon_rss_bytes == UINT64_MAX);
	assert_false(kills[0].has_adj);
}

static void when_full_the_oldest_makes_room(void **state)
{
	(void)state;
	struct oomlog o;
	struct kernel_kill two[2];
	oomlog_init(&o, 4096, two, ARRAY_SIZE(two));
	for (int i = 1; i <= 3; i++) {
		char line[96];
		(void)snprintf(line, sizeof(line), "Out of memory: Killed process %d (c) total-vm:1kB, anon-rss:1kB",
			       i);
		oomlog_line(&o, span_of(line), i);
	}
	assert_int_equal(o.n, 2);
	assert_int_equal(o.dropped, 1);
	assert_int_equal(two[0].pid, 2);
	assert_int_equal(two[1].pid, 3);
}

static void prefixes_of_every_log_are_taken_off(void **state)
{
	(void)state;
	static const struct {
		const char *line, *text, *ident;
		int64_t unix_ms;
		uint64_t mono_us;
	} t[] = {
		{"3,7,1500000,-;hello", "hello", "kernel", 0, 1500000},
		{"[ 1234.000567] hello", "hello", "kernel", 0, 1234000567},
		{"<6>[    1.000000] hello", "hello", "kernel", 0, 1000000},
		{"kern  :err   : [    2.000000] hello", "hello", "kernel", 0, 2000000},
		{"[Fri Nov 20 10:04:41 2026] hello", "hello", "kernel", 0, 0},
		{"Nov 20 10:04:41 host kernel: [   12.000001] hello", "hello", "kernel", 0, 12000001},
		{"Nov 20 10:04:41 host systemd-oomd[588]: hello", "hello", "systemd-oomd", 0, 0},
		{"2026-11-20T23:04:58.288000+0000 h systemd[1]: hello", "hello", "systemd", 1795215898288, 0},
		{"2026-11-21T08:04:58+09:00 h kernel: hello", "hello", "kernel", 1795215898000, 0},
		{"2026-11-20T23:04:58Z h earlyoom[7]: hello", "hello", "earlyoom", 1795215898000, 0},
		{"plain words: nothing else", "plain words: nothing else", "", 0, 0},
		{"[1] done", "[1] done", "", 0, 0},
	};
	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		struct logprefix p;
		char text[64], ident[32];
		logprefix_parse(span_of(t[i].line), &p);
		span_copy(p.text, text, sizeof(text));
		span_copy(p.ident, ident, sizeof(ident));
		assert_string_equal(text, t[i].text);
		assert_string_equal(ident, t[i].ident);
		assert_true(p.has_unix == (t[i].unix_ms != 0) && p.unix_ms == t[i].unix_ms);
		assert_true(p.has_mono == (t[i].mono_us != 0) && p.mono_us == t[i].mono_us);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_report_becomes_one_record),
		cmocka_unit_test(columns_are_found_by_name_in_the_old_table_too),
		cmocka_unit_test(a_group_kill_marks_its_first_victim_afterwards),
		cmocka_unit_test(a_kill_line_of_another_pid_does_not_inherit_a_report),
		cmocka_unit_test(talk_about_kills_is_no_record),
		cmocka_unit_test(absurd_numbers_saturate),
		cmocka_unit_test(when_full_the_oldest_makes_room),
		cmocka_unit_test(prefixes_of_every_log_are_taken_off),
	};
	return cmocka_run_group_tests_name("sense/death/oomlog", tests, NULL, NULL);
}
