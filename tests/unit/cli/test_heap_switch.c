#include "cli_fixture.h"

#include <linux/auxvec.h>

#include "cli/heap/heap_switch.h"
#include "cli/options/commands.h"

static struct made_world made;
static struct subject subject;

static int begin(void **state)
{
	(void)state;
	made_begin(&made);
	log_capture();
	subject = (struct subject){.is_job = true, .job = job_of("train-1", "train", JOB_RUNNING, 1000)};
	TEXT_COPY(subject.job.log_dir, made.dir);
	TEXT_COPY(subject.text, "job train-1");
	TEXT_COPY(subject.key, "train-1");
	subject.job.attempt = 2;
	return 0;
}

static int end(void **state)
{
	(void)state;
	log_set_sink(NULL, NULL);
	made_end(&made);
	return 0;
}

static int run(struct heap_switch o)
{
	return heap_switch_run(&made.w, made.dir, &subject, &o);
}

static void a_rate_alone_changes_nothing(void **state)
{
	(void)state;
	const struct heap_switch none = HEAP_SWITCH_DEFAULTS;
	assert_false(heap_switch_wanted(&none));
	assert_false(heap_switch_wanted(&(struct heap_switch){.rate = 65536}));
	assert_true(heap_switch_wanted(&(struct heap_switch){.attach = true}));
	assert_true(heap_switch_wanted(&(struct heap_switch){.detach = true}));
	assert_true(heap_switch_wanted(&(struct heap_switch){.start = true}));
	assert_true(heap_switch_wanted(&(struct heap_switch){.stop = true}));
}

static void one_change_at_a_time(void **state)
{
	(void)state;
	assert_int_equal(run((struct heap_switch){.start = true, .stop = true, .rate = 65536}), EXIT_USAGE);
	assert_logged("vigil: one of --attach, --detach, --start and --stop is expected, not several\n");
	assert_int_equal(run((struct heap_switch){.rate = 65536}), EXIT_USAGE);
}

static void the_rate_has_bounds(void **state)
{
	(void)state;
	static const uint64_t wrong[] = {0, 4 * KIB - 1, 16 * MIB + 1};
	made_folder(&made, "attempt-2/heap");
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		assert_int_equal(run((struct heap_switch){.start = true, .rate = wrong[i]}), EXIT_USAGE);
		assert_logged("vigil: --rate: expected 4 KiB to 16 MiB; 512K is right for most programs\n");
	}
	assert_int_equal(run((struct heap_switch){.start = true, .rate = 4 * KIB}), 0);
	assert_int_equal(run((struct heap_switch){.start = true, .rate = 16 * MIB}), 0);
}

static void the_newest_attempt_is_switched(void **state)
{
	(void)state;
	made_folder(&made, "attempt-2/heap");
	assert_int_equal(run((struct heap_switch){.start = true, .rate = UINT64_MAX}), 0);
	assert_logged(
		"vigil: job train-1: one sample each 512 KiB; 0 processes told, others see it when they allocate\n");
	assert_int_equal(run((struct heap_switch){.stop = true, .rate = UINT64_MAX}), 0);
	assert_logged("vigil: job train-1: sampling is off; 0 processes told\n");
}

static void a_job_without_profiles_cannot_be_switched(void **state)
{
	(void)state;
	made_folder(&made, "attempt-1/heap"); /* of an attempt before */
	assert_int_equal(run((struct heap_switch){.start = true, .rate = UINT64_MAX}), EXIT_ABSENT);
	assert_logged(
		"vigil: job train-1 was not started with --heap or --heap-dormant, so there is nothing to switch: "
		"'vigil heap train-1 --attach' loads the sampler into what runs\n");
}

static void the_environment_of_a_process_names_its_folder(void **state)
{
	(void)state;
	char variables[200], folder[100];
	TEXT_FORMAT(folder, "%s/heap", made.dir);
	TEXT_FORMAT(variables, "HOME=/root\nVIGIL_HEAP_DIR=%s", folder);
	subject = (struct subject){.pid = 812};
	TEXT_COPY(subject.text, "process 812 and its descendants");
	TEXT_COPY(subject.key, "pid-812");
	made_process(&made, &(struct made_process){.pid = 812, .ppid = 1, .start_ticks = 5, .comm = "python"});
	assert_int_equal(run((struct heap_switch){.stop = true, .rate = UINT64_MAX}), EXIT_ABSENT);
	assert_non_null(strstr(logged, "'vigil heap pid-812 --attach'"));
	logged[0] = '\0';
	made_process(&made, &(struct made_process){
				    .pid = 812, .ppid = 1, .start_ticks = 5, .comm = "python", .environ = variables});
	made_folder(&made, "heap");
	/* what it names is opened below its root, as its user */
	char status[100], root[100];
	TEXT_FORMAT(status, "Uid:\t%d\t%d\t%d\t%d\nGid:\t0\t0\t0\t0\n", (int)geteuid(), (int)geteuid(),
		    (int)geteuid(), (int)geteuid());
	made_write(&made, "proc/812/status", status, strlen(status));
	TEXT_FORMAT(root, "%s/proc/812/root", made.dir);
	assert_int_equal(symlink("/", root), 0);
	made.w.recorded = false;
	uint64_t auxv[] = {AT_UID, 0, AT_GID, 0, AT_SECURE, 1, AT_NULL, 0};
	made_write(&made, "proc/812/auxv", (const char *)auxv, sizeof(auxv));
	if (geteuid() == 0) { /* the environment is not root's, though the process is */
		assert_int_equal(run((struct heap_switch){.stop = true, .rate = UINT64_MAX}), EXIT_DENIED);
		assert_non_null(strstr(logged, "process 812 runs a set-user-ID"));
		logged[0] = '\0';
	}
	auxv[5] = 0;
	made_write(&made, "proc/812/auxv", (const char *)auxv, sizeof(auxv));
	assert_int_equal(run((struct heap_switch){.stop = true, .rate = UINT64_MAX}), 0);
	assert_logged("vigil: process 812 and its descendants: sampling is off; 0 processes told\n");
}

static void a_job_without_processes_has_nothing_to_attach_to(void **state)
{
	(void)state;
	assert_int_equal(run((struct heap_switch){.attach = true, .rate = UINT64_MAX}), EXIT_ABSENT);
	assert_logged("vigil: job train-1 has no running process\n");
}

#define SWITCH_TEST(t) cmocka_unit_test_setup_teardown(t, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SWITCH_TEST(a_rate_alone_changes_nothing),
		SWITCH_TEST(one_change_at_a_time),
		SWITCH_TEST(the_rate_has_bounds),
		SWITCH_TEST(the_newest_attempt_is_switched),
		SWITCH_TEST(a_job_without_profiles_cannot_be_switched),
		SWITCH_TEST(the_environment_of_a_process_names_its_folder),
		SWITCH_TEST(a_job_without_processes_has_nothing_to_attach_to),
	};
	return cmocka_run_group_tests_name("cli/heap_switch", tests, NULL, NULL);
}
