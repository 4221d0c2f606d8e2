/* Details of the verdicts on the kernel's OOM killer; the recorded deaths show whole ones. */
#include "testing.h"

#include <signal.h>

#include "base/buf.h"
#include "judge/death/postmortem.h"

static struct death d;
static struct kernel_kill record;
static struct incident in;

/* Rank 0, pid 100, was ended by SIGKILL; the kernel's record names it. */
static int killed_by_the_kernel(void **state)
{
	(void)state;
	memset(&d, 0, sizeof(d));
	d = (struct death){.pid = 100, .rank = 0, .name = "python3", .cgroup = "/job", .has_status = true,
			   .wait_status = SIGKILL, .start_unix_ms = 100000, .end_unix_ms = 900000};
	record = (struct kernel_kill){.pid = 100,
				    .comm = "python3",
				    .time_unix_ms = 899900,
				    .memcg = true,
				    .oom_memcg = "/job",
				    .task_memcg = "/job",
				    .anon_rss_bytes = 6 * GIB,
				    .has_rss = true,
				    .usage_bytes = 8 * GIB,
				    .limit_bytes = 8 * GIB,
				    .line = "Killed process 100"};
	d.kernel_kills = &record;
	d.n_kernel_kills = 1;
	return 0;
}

static void judge(void)
{
	postmortem(&d, &in);
}

static void the_record_of_the_process_is_proof(void **state)
{
	(void)state;
	judge();
	assert_int_equal(in.kind, INCIDENT_CGROUP_OOM);
	assert_string_equal(in.cause.id, "cgroup_oom");
	assert_int_equal(in.cause.confidence, CONFIDENCE_HIGH);
	assert_non_null(strstr(in.cause.text, "The limit is that of the process's own group."));
	assert_int_equal(in.memory.total_bytes, 8 * GIB);
	assert_float_equal(in.memory.ratio, 1, 0);
	assert_int_equal(in.victim.own_bytes, 6 * GIB);
	assert_non_null(strstr(in.cause.advice[1], "--memory-limit 7782M"));
}

static void a_record_without_a_time_proves_less(void **state)
{
	(void)state;
	record.time_unix_ms = 0;
	judge();
	assert_string_equal(in.cause.id, "cgroup_oom");
	assert_int_equal(in.cause.confidence, CONFIDENCE_MEDIUM);
}

static void a_record_from_before_the_start_is_of_another_process(void **state)
{
	(void)state;
	record.time_unix_ms = d.start_unix_ms - 1500; /* clocks differ a little */
	judge();
	assert_string_equal(in.cause.id, "cgroup_oom");
	record.time_unix_ms--;
	judge();
	assert_string_equal(in.cause.id, "sigkill_unknown");
	assert_string_equal(in.evidence[1].kind, "neighbour");
	assert_non_null(strstr(in.evidence[1].text, "an earlier process with the same pid was killed"));
	d.stopping = true; /* the user asked for it: what the kernel killed before says nothing of that */
	judge();
	assert_string_equal(in.cause.id, "asked_to_stop");
	for (size_t i = 0; i < in.n_evidence; i++)
		assert_string_not_equal(in.evidence[i].kind, "neighbour");
}

static void a_limit_above_the_own_group_is_named_as_such(void **state)
{
	(void)state;
	TEXT_COPY(d.cgroup, "/pod/job");
	TEXT_COPY(record.oom_memcg, "/pod");
	judge();
	assert_non_null(strstr(in.cause.text, "The limit is that of a group above the process's own, /pod/job."));
	/* a name that only begins alike is no group above */
	TEXT_COPY(d.cgroup, "/podium/job");
	judge();
	assert_null(strstr(in.cause.text, "The limit is that of"));
}

static void a_worker_that_was_killed_takes_the_job_down(void **state)
{
	(void)state;
	const struct death_former worker = {.pid = 300, .rank = 2, .role = "loader", .name = "pt_data_worker"};
	d.wait_status = 1 << 8;
	d.former = &worker;
	d.n_former = 1;
	record.pid = 300;
	judge();
	assert_string_equal(in.cause.id, "cgroup_oom_worker");
	assert_true(in.victim.pid == 300 && in.victim.rank == 2 && in.victim.signal == SIGKILL);
	/* two minutes before the end at most */
	record.time_unix_ms = d.end_unix_ms - 120000;
	judge();
	assert_string_equal(in.cause.id, "cgroup_oom_worker");
	record.time_unix_ms--;
	judge();
	assert_string_equal(in.cause.id, "exit_1");
}

static void whatever_died_in_a_group_made_for_the_job_was_of_the_job(void **state)
{
	(void)state;
	d.wait_status = 1 << 8;
	d.own_group = true;
	TEXT_COPY(d.cgroup, "/vigil.slice/job-1");
	TEXT_COPY(record.task_memcg, "/machine/vigil.slice/job-1"); /* the kernel sees more of the path */
	record.pid = 4711;
	judge();
	assert_string_equal(in.cause.id, "cgroup_oom_worker");
	d.own_group = false;
	judge();
	assert_string_equal(in.cause.id, "exit_1");
}

static void inside_a_pid_namespace_name_and_moment_are_only_likely(void **state)
{
	(void)state;
	d.pid_namespaced = true;
	record.pid = 77777;
	judge();
	assert_string_equal(in.cause.id, "cgroup_oom");
	assert_int_equal(in.cause.confidence, CONFIDENCE_LOW);
	d.groups[0] = (struct group_counters){.valid = true, .group = "/job", .oom_kills_after = 1};
	d.n_groups = 1;
	judge();
	assert_int_equal(in.cause.confidence, CONFIDENCE_MEDIUM);
	TEXT_COPY(record.comm, "stress");
	record.time_unix_ms = 0;
	d.n_groups = 0;
	judge();
	assert_string_equal(in.cause.id, "sigkill_unknown");
}

static void special_kills_are_explained(void **state)
{
	(void)state;
	record.group_kill = record.allocating_task = record.by_hand = record.reap_failed = record.has_adj = true;
	record.sacrificed_for = 99;
	record.oom_score_adj = 500;
	TEXT_COPY(record.invoker, "java");
	judge();
	assert_non_null(strstr(in.cause.text, "memory.oom.group is set"));
	assert_non_null(strstr(in.cause.text, "vm.oom_kill_allocating_task is set"));
	assert_non_null(strstr(in.cause.text, "asked for by hand (sysrq f)"));
	assert_non_null(strstr(in.cause.text, "The kernel had chosen its parent (pid 99)"));
	assert_non_null(strstr(in.cause.text, "The allocation that failed was made by java."));
	assert_non_null(strstr(in.cause.text, "oom_score_adj of 500"));
	assert_non_null(strstr(in.cause.text, "the oom_reaper failed"));
}

static void memory_outside_of_the_processes_is_pointed_at(void **state)
{
	(void)state;
	record.tasks[0] = (struct kernel_task){.pid = 100, .comm = "python3", .rss_bytes = 4 * GIB};
	record.n_tasks = record.n_tasks_all = 1;
	judge();
	assert_null(strstr(in.cause.text, "shared memory or files in a tmpfs"));
	record.tasks[0].rss_bytes--;
	judge();
	assert_non_null(strstr(in.cause.text, "shared memory or files in a tmpfs"));
	record.n_tasks_all = KERNEL_KILL_TASKS + 1; /* the table is cut, so the sum says nothing */
	judge();
	assert_null(strstr(in.cause.text, "shared memory or files in a tmpfs"));
}

static void counters_that_a_neighbour_accounts_for_prove_nothing(void **state)
{
	(void)state;
	d.groups[0] = (struct group_counters){.valid = true,
					      .group = "/job",
					      .oom_kills_before = 3,
					      .oom_kills_after = 4,
					      .max_events_after = 1,
					      .limit_bytes = GIB};
	d.n_groups = 1;
	record.pid = 555;
	judge();
	assert_string_equal(in.cause.id, "sigkill_unknown");
	d.groups[0].oom_kills_after = 5;
	judge();
	assert_string_equal(in.cause.id, "cgroup_oom_counter");
	assert_int_equal(in.cause.confidence, CONFIDENCE_MEDIUM);
	assert_int_equal(in.memory.total_bytes, GIB);
	d.groups[0].max_events_after = 0;
	judge();
	assert_string_equal(in.cause.id, "kernel_oom_counter");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_record_of_the_process_is_proof, killed_by_the_kernel),
		cmocka_unit_test_setup(a_record_without_a_time_proves_less, killed_by_the_kernel),
		cmocka_unit_test_setup(a_record_from_before_the_start_is_of_another_process, killed_by_the_kernel),
		cmocka_unit_test_setup(a_limit_above_the_own_group_is_named_as_such, killed_by_the_kernel),
		cmocka_unit_test_setup(a_worker_that_was_killed_takes_the_job_down, killed_by_the_kernel),
		cmocka_unit_test_setup(whatever_died_in_a_group_made_for_the_job_was_of_the_job, killed_by_the_kernel),
		cmocka_unit_test_setup(inside_a_pid_namespace_name_and_moment_are_only_likely, killed_by_the_kernel),
		cmocka_unit_test_setup(special_kills_are_explained, killed_by_the_kernel),
		cmocka_unit_test_setup(memory_outside_of_the_processes_is_pointed_at, killed_by_the_kernel),
		cmocka_unit_test_setup(counters_that_a_neighbour_accounts_for_prove_nothing, killed_by_the_kernel),
	};
	return cmocka_run_group_tests_name("judge/death/postmortem_oom", tests, NULL, NULL);
}
