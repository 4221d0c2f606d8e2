#include "agent/made_world.h"

#include "sense/proc/slurmjob.h"

static struct made_world made;

static int begin(void **state)
{
	(void)state;
	made_begin(&made);
	made_folder(&made, "proc/self");
	return 0;
}

static int end(void **state)
{
	(void)state;
	made_end(&made);
	return 0;
}

static void text_write(const char *path, const char *text)
{
	made_write(&made, path, text, strlen(text));
}

/* The mounts of a machine whose groups are all of version 2. */
static void mount_v2(void)
{
	text_write("proc/self/mountinfo", "30 21 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
}

/* The mounts of a machine with these version 1 hierarchies, and an empty one of version 2. */
static void mount_v1(bool memory, bool freezer)
{
	char text[600];
	TEXT_FORMAT(text, "%s%s%s33 25 0:30 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
		    "31 25 0:28 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n",
		    memory ? "30 25 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n" : "",
		    freezer ? "32 25 0:29 / /sys/fs/cgroup/freezer rw - cgroup cgroup rw,freezer\n" : "");
	text_write("proc/self/mountinfo", text);
}

static void process(pid_t pid, pid_t ppid, uid_t uid, const char *comm, const char *groups, const char *variables,
		    const char *command)
{
	char path[64], text[200];
	const struct made_process p = {
		.pid = pid, .ppid = ppid, .comm = comm, .environ = variables, .command = command};
	made_process(&made, &p);
	TEXT_FORMAT(path, "proc/%d/cgroup", (int)pid);
	text_write(path, groups);
	TEXT_FORMAT(path, "proc/%d/status", (int)pid);
	TEXT_FORMAT(text, "Name:\t%s\nPid:\t%d\nTracerPid:\t0\nUid:\t%u\t%u\t%u\t%u\nNSpid:\t%d\nCapEff:\t0\n", comm,
		    (int)pid, uid, uid, uid, uid, (int)pid);
	text_write(path, text);
}

static struct slurmjob found(uint32_t job, uid_t uid, int expected)
{
	struct slurmjob j = {.n_roots = 0};
	assert_int_equal(slurmjob_find(&made.w, job, uid, &j), expected);
	return j;
}

static void names_of_groups_are_slurms_in_every_layout(void **state)
{
	(void)state;
	static const struct {
		const char *group;
		size_t len; /* 0: it is not of job 7 */
	} known[] = {
		{"/slurm/uid_1000/job_7/step_0/task_2", 21},
		{"/slurm/uid_1000/job_7", 21},
		{"/slurm_node1/uid_1000/job_7/step_batch", 27},
		{"/system.slice/slurmstepd.scope/job_7/step_0/user/task_0", 36},
		{"/system.slice/node1_slurmstepd.scope/job_7/step_extern", 42},
		{"/docker/4f2/system.slice/slurmstepd.scope/job_7", 47},
		{"system.slice/slurmstepd.scope/job_7", 35},
		{"/slurm/uid_1000/job_77/step_0", 0},
		{"/slurm/uid_1000/job_7x", 0},
		{"/slurm/uid_7", 0},
		{"/user.slice/user-1000.slice/job_7", 0},
		{"/myslurm/uid_1000/job_7", 0},
		{"/job_7/slurm", 0},
		{"/", 0},
		{"", 0},
	};
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		size_t len = 0;
		assert_int_equal(slurmjob_group_parse(span_of(known[i].group), 7, &len), known[i].len > 0);
		assert_int_equal(len, known[i].len);
	}
}

static void a_job_on_version_2_is_its_group(void **state)
{
	(void)state;
	mount_v2();
	made_folder(&made, "cgroup/system.slice/slurmstepd.scope/job_7/step_0/user/task_0");
	process(40, 1, 0, "slurmstepd", "0::/system.slice/slurmstepd.scope/job_7/step_0/slurm\n", "A=1", NULL);
	process(41, 40, 1000, "python", "0::/system.slice/slurmstepd.scope/job_7/step_0/user/task_0\n",
		"SLURM_JOB_ID=7", NULL);
	struct slurmjob j = found(7, 1000, 0);
	assert_string_equal(j.group, "system.slice/slurmstepd.scope/job_7");
	assert_string_equal(j.group_name, "/system.slice/slurmstepd.scope/job_7");
	(void)found(8, 1000, WORLD_GONE);
}

static void a_node_of_several_daemons_on_version_2(void **state)
{
	(void)state;
	mount_v2();
	made_folder(&made, "cgroup/system.slice/node1_slurmstepd.scope/job_7/step_batch/user/task_special");
	process(41, 1, 1000, "bash", "0::/system.slice/node1_slurmstepd.scope/job_7/step_batch/user/task_special\n",
		"SLURM_JOB_ID=7", NULL);
	assert_string_equal(found(7, 0, 0).group, "system.slice/node1_slurmstepd.scope/job_7");
}

static void a_job_on_version_1_is_its_group_that_counts_memory(void **state)
{
	(void)state;
	static const char groups[] = "3:memory:/slurm/uid_1000/job_7/step_0/task_0\n"
				     "2:freezer:/slurm/uid_1000/job_7/step_0\n1:cpuset:/slurm/uid_1000/job_7/step_0\n"
				     "0::/\n";
	mount_v1(true, true);
	made_folder(&made, "cgroup/memory/slurm/uid_1000/job_7/step_0/task_0");
	made_folder(&made, "cgroup/freezer/slurm/uid_1000/job_7/step_0");
	process(41, 1, 1000, "python", groups, "A=1", NULL);
	assert_string_equal(found(7, 1000, 0).group, "memory/slurm/uid_1000/job_7");
	assert_string_equal(found(7, 1000, 0).group_name, "/slurm/uid_1000/job_7");
}

static void without_a_limit_on_memory_the_freezer_tells(void **state)
{
	(void)state;
	mount_v1(true, true);
	made_folder(&made, "cgroup/memory");
	made_folder(&made, "cgroup/freezer/slurm_n2/uid_1000/job_7/step_0");
	process(41, 1, 1000, "python", "3:memory:/\n2:freezer:/slurm_n2/uid_1000/job_7/step_0\n", "A=1", NULL);
	assert_string_equal(found(7, 1000, 0).group, "freezer/slurm_n2/uid_1000/job_7");
}

/* A group of cpuset alone names the processes, but is none that vigil can read. */
static void another_controllers_group_still_names_the_processes(void **state)
{
	(void)state;
	mount_v1(false, false);
	process(40, 1, 0, "slurmstepd", "1:cpuset:/slurm/uid_1000/job_7/step_0\n", "A=1", NULL);
	process(41, 40, 1000, "python", "1:cpuset:/slurm/uid_1000/job_7/step_0\n", "A=1", NULL);
	process(42, 41, 1000, "worker", "1:cpuset:/slurm/uid_1000/job_7/step_0\n", "A=1", NULL);
	process(50, 1, 1000, "liar", "1:cpuset:/\n", "SLURM_JOB_ID=7", NULL);
	struct slurmjob j = found(7, 0, 0);
	assert_string_equal(j.group, "");
	assert_int_equal(j.n_roots, 1);
	assert_int_equal(j.root[0].pid, 41);
}

static void without_a_group_the_environment_names_the_outermost_processes(void **state)
{
	(void)state;
	mount_v2();
	process(41, 1, 1000, "slurm_script", "0::/system.slice/slurmd.service\n", "A=1\nSLURM_JOB_ID=7", NULL);
	process(42, 41, 1000, "srun", "0::/system.slice/slurmd.service\n", "SLURM_JOB_ID=7", NULL);
	process(44, 1, 1000, "python", "0::/system.slice/slurmd.service\n", "SLURM_JOB_ID=7\nSLURM_PROCID=0", NULL);
	process(45, 1, 1000, "python", "0::/system.slice/slurmd.service\n", "SLURM_JOB_ID=71", NULL);
	process(46, 1, 1001, "python", "0::/user.slice\n", "SLURM_JOB_ID=7", NULL);
	struct slurmjob j = found(7, 1000, 0);
	assert_string_equal(j.group, "");
	assert_int_equal(j.n_roots, 2);
	assert_int_equal(j.root[0].pid + j.root[1].pid, 41 + 44);
	(void)found(7, 1002, WORLD_GONE);
}

/* Anybody can set a variable: two users' claims leave root without a job, unless one descends from slurmstepd. */
static void of_two_users_only_whom_slurmstepd_started_is_believed(void **state)
{
	(void)state;
	mount_v2();
	process(41, 40, 1000, "python", "0::/\n", "SLURM_JOB_ID=7", NULL);
	process(46, 1, 1001, "python", "0::/\n", "SLURM_JOB_ID=7", NULL);
	process(40, 1, 1001, "slurmstepd", "0::/\n", "A=1", "slurmstepd: [7.0]");
	(void)found(7, 0, SLURMJOB_CLAIMED);
	process(40, 1, 0, "slurmstepd", "0::/\n", "A=1", "slurmstepd: [77.0]");
	(void)found(7, 0, SLURMJOB_CLAIMED);
	process(40, 1, 0, "slurmstepd", "0::/\n", "A=1", "slurmstepd: [7.0]");
	struct slurmjob j = found(7, 0, 0);
	assert_int_equal(j.n_roots, 1);
	assert_int_equal(j.root[0].pid, 41);
}

#define SLURM_TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_groups_are_slurms_in_every_layout),
		SLURM_TEST(a_job_on_version_2_is_its_group),
		SLURM_TEST(a_node_of_several_daemons_on_version_2),
		SLURM_TEST(a_job_on_version_1_is_its_group_that_counts_memory),
		SLURM_TEST(without_a_limit_on_memory_the_freezer_tells),
		SLURM_TEST(another_controllers_group_still_names_the_processes),
		SLURM_TEST(without_a_group_the_environment_names_the_outermost_processes),
		SLURM_TEST(of_two_users_only_whom_slurmstepd_started_is_believed),
	};
	return cmocka_run_group_tests_name("sense/slurmjob", tests, NULL, NULL);
}
