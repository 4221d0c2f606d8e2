#include "testing.h"

#include "agent/hang/hangprocs.h"
#include "made_world.h"

static struct made_world made;
static struct procstats *procstats;
static struct hangprocs *procs;
static struct hang_job job;

static struct made_process launcher = {
	.pid = 60, .ppid = 1, .start_ticks = 100, .comm = "torchrun", .children = "61 62"};
static struct made_process rank0 = {
	.pid = 61, .ppid = 60, .start_ticks = 110, .comm = "python", .command = "python train.py", .environ = "RANK=0"};
static struct made_process rank1 = {
	.pid = 62, .ppid = 60, .start_ticks = 110, .comm = "python", .command = "python train.py", .environ = "RANK=1"};

static int begin(void **state)
{
	(void)state;
	made_begin(&made);
	made_process(&made, &launcher);
	made_process(&made, &rank0);
	made_process(&made, &rank1);
	procstats = procstats_new(&made.w, 0); /* no file stays open: it would show the state before */
	procs = hangprocs_new(procstats);
	job = (struct hang_job){.active = true, .root = 60, .root_is_ours = true};
	assert_non_null(procs);
	return 0;
}

static int end(void **state)
{
	(void)state;
	procs = hangprocs_free(procs);
	procstats = procstats_free(procstats);
	made_end(&made);
	return 0;
}

static void sample(void)
{
	uint64_t thread_ns = NS_PER_S;
	made_now_ns += NS_PER_S;
	hangprocs_sample(procs, &made.w, &job, made_now_ns, &thread_ns);
}

static void each_rank_has_a_main_process(void **state)
{
	(void)state;
	sample();
	assert_int_equal(procs->n_now, 3);
	assert_int_equal(hangprocs_main(procs, 0)->pid, 61);
	assert_int_equal(hangprocs_main(procs, 1)->pid, 62);
	assert_null(hangprocs_main(procs, 2));
	assert_true(hangprocs_find(procs, 61)->young);
	assert_null(hangprocs_find(procs, 63));
	assert_null(hangprocs_before(procs, hangprocs_find(procs, 61)));
}

static void a_second_sample_knows_the_first(void **state)
{
	(void)state;
	sample();
	struct made_process busy = rank0;
	busy.cpu_ticks = 250;
	made_process(&made, &busy);
	sample();
	const struct hangprocs_member *m = hangprocs_find(procs, 61), *before = hangprocs_before(procs, m);
	assert_false(m->young);
	assert_non_null(before);
	assert_true(m->cpu_ns - before->cpu_ns == 2500 * NS_PER_MS);
	assert_int_equal(procs->n_gone, 0);
}

static void an_ended_process_is_reported_once(void **state)
{
	(void)state;
	sample();
	made_gone(&made, 62);
	sample();
	assert_int_equal(procs->n_gone, 1);
	assert_int_equal(procs->gone[0].pid, 62);
	assert_int_equal(procs->gone[0].rank, 1);
	assert_true(procs->gone[0].main);
	assert_string_equal(procs->gone[0].name, "python");
	assert_null(hangprocs_main(procs, 1));
	assert_true(hangprocs_knows(procs, 62)); /* of the attempt still */
	sample();
	assert_int_equal(procs->n_gone, 0);
}

static void a_zombie_has_ended_and_is_reported_once(void **state)
{
	(void)state;
	sample();
	struct made_process dead = rank1;
	dead.state = 'Z';
	made_process(&made, &dead);
	sample();
	assert_int_equal(procs->n_gone, 1);
	sample();
	assert_int_equal(procs->n_gone, 0);
	made_gone(&made, 62);
	sample();
	assert_int_equal(procs->n_gone, 0);
}

static void short_child(pid_t pid, int status)
{
	static const char io[] = "rchar: 0\nwchar: 0\nsyscr: 0\nsyscw: 0\nread_bytes: 0\nwrite_bytes: 0\n"
				 "cancelled_write_bytes: 0\n";
	char path[32];
	struct made_process dead = {
		.pid = pid, .ppid = 60, .start_ticks = 900, .comm = "export", .state = 'Z', .status = status};
	made_process(&made, &dead);
	TEXT_FORMAT(path, "proc/%d/io", (int)pid);
	made_write(&made, path, io, sizeof(io) - 1);
	launcher.children = "61 62 63 64";
	made_process(&made, &launcher);
}

static void a_child_that_was_only_seen_as_a_zombie_counts_if_it_failed(void **state)
{
	(void)state;
	sample();
	short_child(63, 0);
	sample();
	assert_int_equal(procs->n_gone, 0);
	short_child(64, 3 << 8);
	sample();
	launcher.children = "61 62";
	assert_int_equal(procs->n_gone, 1);
	assert_int_equal(procs->gone[0].pid, 64);
	assert_int_equal(procs->gone[0].wait_status, 3 << 8);
	sample();
	assert_int_equal(procs->n_gone, 0);
}

/* A launcher in Python starts ranks in Python: the name does not tell whether a child has called exec yet. */
static void who_was_read_before_its_exec_is_read_again(void **state)
{
	(void)state;
	struct made_process parent = launcher, child = rank1;
	parent.comm = "python";
	parent.command = "python launch.py";
	made_process(&made, &parent);
	child.command = "python launch.py";
	child.environ = "HOME=/root";
	made_process(&made, &child);
	sample();
	assert_null(hangprocs_main(procs, 1));
	made_process(&made, &rank1);
	sample();
	assert_non_null(hangprocs_main(procs, 1));
}

/* In the middle of its exec a process has no command line, nor an environment. */
static void who_was_read_in_its_exec_is_read_again(void **state)
{
	(void)state;
	struct made_process child = rank1;
	child.command = "";
	child.environ = "";
	made_process(&made, &child);
	sample();
	sample();
	sample();
	assert_null(hangprocs_main(procs, 1));
	made_process(&made, &rank1);
	sample();
	assert_non_null(hangprocs_main(procs, 1));
}

static void another_process_of_the_same_number_is_new(void **state)
{
	(void)state;
	sample();
	struct made_process other = rank1;
	other.start_ticks = 900;
	other.environ = "RANK=5";
	made_process(&made, &other);
	sample();
	assert_int_equal(procs->n_gone, 1);
	assert_true(hangprocs_find(procs, 62)->young);
	assert_null(hangprocs_before(procs, hangprocs_find(procs, 62)));
	assert_int_equal(hangprocs_main(procs, 5)->pid, 62);
}

static void another_attempt_knows_nobody(void **state)
{
	(void)state;
	sample();
	hangprocs_forget(procs);
	assert_false(hangprocs_knows(procs, 61));
	assert_false(hangprocs_knows(procs, 0));
	assert_null(hangprocs_find(procs, 61));
	sample();
	assert_int_equal(procs->n_gone, 0);
	assert_true(hangprocs_find(procs, 61)->young);
}

static void schedule(pid_t pid, uint64_t run_ns)
{
	char path[64], text[64];
	TEXT_FORMAT(path, "proc/%d/schedstat", (int)pid);
	TEXT_FORMAT(text, "%llu 0 1\n", (unsigned long long)run_ns);
	made_write(&made, path, text, strlen(text));
}

static bool stirred(uint64_t within_ns)
{
	return hangprocs_stirred(procs, made_now_ns, within_ns);
}

static void schedule_all(void)
{
	for (pid_t pid = 60; pid <= 62; pid++)
		schedule(pid, 1000);
}

static void a_job_that_only_sleeps_does_not_stir(void **state)
{
	(void)state;
	schedule_all();
	assert_true(stirred(NS_PER_S)); /* nothing is known yet */
	sample();
	assert_true(stirred(NS_PER_S));
	sample();
	assert_false(stirred(100 * NS_PER_S));
	schedule(61, 1001); /* a nanosecond on a processor */
	sample();
	assert_true(stirred(0));
	for (int i = 0; i < 5; i++)
		sample();
	assert_true(stirred(5 * NS_PER_S));
	assert_false(stirred(4 * NS_PER_S));
	hangprocs_forget(procs);
	sample();
	assert_true(stirred(0));
	sample();
	assert_false(stirred(100 * NS_PER_S));
}

static void processes_that_come_or_go_stir_it(void **state)
{
	(void)state;
	schedule_all();
	sample();
	sample();
	struct made_process dead = rank1;
	dead.state = 'Z';
	made_process(&made, &dead);
	sample();
	assert_true(stirred(0));
	sample(); /* it still waits to be reaped */
	assert_false(stirred(0));
	made_process(&made, &rank1);
	sample();
	assert_false(stirred(0));
	made_gone(&made, 62);
	sample();
	assert_true(stirred(0));
	made_process(&made, &rank1);
	schedule(62, 1000);
	sample();
	assert_true(stirred(0));
	sample();
	assert_false(stirred(0));
}

static void whose_threads_are_not_read_may_have_run(void **state)
{
	(void)state;
	schedule_all();
	char path[96];
	TEXT_FORMAT(path, "%s/proc/61/schedstat", made.dir);
	sample();
	sample();
	assert_false(stirred(0));
	assert_int_equal(remove(path), 0); /* a kernel without these numbers */
	sample();
	assert_true(stirred(0));
	sample();
	assert_true(stirred(0));
	schedule(61, 1000);
	sample();
	sample();
	assert_false(stirred(0));
	struct made_process threads = rank0;
	threads.threads = 2;
	made_process(&made, &threads);
	sample();
	assert_true(stirred(0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_rank_has_a_main_process, begin, end),
		cmocka_unit_test_setup_teardown(a_second_sample_knows_the_first, begin, end),
		cmocka_unit_test_setup_teardown(who_was_read_before_its_exec_is_read_again, begin, end),
		cmocka_unit_test_setup_teardown(who_was_read_in_its_exec_is_read_again, begin, end),
		cmocka_unit_test_setup_teardown(an_ended_process_is_reported_once, begin, end),
		cmocka_unit_test_setup_teardown(a_zombie_has_ended_and_is_reported_once, begin, end),
		cmocka_unit_test_setup_teardown(a_child_that_was_only_seen_as_a_zombie_counts_if_it_failed, begin, end),
		cmocka_unit_test_setup_teardown(another_process_of_the_same_number_is_new, begin, end),
		cmocka_unit_test_setup_teardown(another_attempt_knows_nobody, begin, end),
		cmocka_unit_test_setup_teardown(a_job_that_only_sleeps_does_not_stir, begin, end),
		cmocka_unit_test_setup_teardown(processes_that_come_or_go_stir_it, begin, end),
		cmocka_unit_test_setup_teardown(whose_threads_are_not_read_may_have_run, begin, end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
