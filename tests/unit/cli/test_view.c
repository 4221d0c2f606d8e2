#include "cli_fixture.h"

#include <signal.h>

#include "base/clock.h"
#include "cli/options/commands.h"
#include "cli/screen/view.h"
#include "sense/proc/proc.h"

static struct made_world made;
static struct view view;

static int begin(void **state)
{
	(void)state;
	made_begin(&made);
	log_capture();
	view = (struct view){.store = NULL};
	return 0;
}

static int end(void **state)
{
	(void)state;
	log_set_sink(NULL, NULL);
	view.store = store_close(view.store);
	made_end(&made);
	return 0;
}

/* The made world in the place of the machine's. */
static void open_store(const struct job *jobs, size_t n)
{
	char note[256];
	struct fault f = {.text = ""};
	store_fill(made.dir, jobs, n);
	TEXT_COPY(view.state, made.dir);
	assert_int_equal(store_open(made.dir, STORE_READ, &view.store, note, &f), 0);
	view.world = made.w;
	view.has_world = true;
}

static void ends_are_written_as_people_say_them(void **state)
{
	(void)state;
	char text[24];
	assert_string_equal(view_exit(true, 3 << 8, text), "exit 3");
	assert_string_equal(view_exit(true, 0, text), "exit 0");
	assert_string_equal(view_exit(true, SIGKILL, text), "SIGKILL");
	assert_string_equal(view_exit(true, SIGSEGV | 0x80, text), "SIGSEGV"); /* with a core dump */
	assert_string_equal(view_exit(true, 40, text), "signal 40");
	assert_string_equal(view_exit(false, SIGKILL, text), "-");
}

static void the_last_column_gets_what_is_left(void **state)
{
	(void)state;
	view.paper.width = 0;
	assert_int_equal(view_rest(&view, 90), VIEW_UNCUT);
	view.paper.width = 120;
	assert_int_equal(view_rest(&view, 90), 30);
	assert_int_equal(view_rest(&view, 112), 8);
	assert_int_equal(view_rest(&view, 111), 9);
	assert_int_equal(view_rest(&view, 500), 8);
}

static void words_too_many_are_named(void **state)
{
	(void)state;
	char a[] = "a", b[] = "b", *argv[] = {a, b, NULL};
	assert_int_equal(view_words("show", 1, argv, 1), 0);
	assert_string_equal(logged, "");
	assert_int_equal(view_words("show", 2, argv, 1), EXIT_USAGE);
	assert_logged("vigil: vigil show: 'b' is one word too many; 'vigil show --help' shows how it is called\n");
}

static void the_time_a_job_ran_is_told_where_it_is_known(void **state)
{
	(void)state;
	char text[24];
	struct job j = {.state = JOB_DONE, .started_unix_ms = 1000, .ended_unix_ms = 91000};
	assert_string_equal(job_ran(&j, 0, text), "1 m 30 s");
	j.ended_unix_ms = 500; /* a clock that was set back */
	assert_string_equal(job_ran(&j, 0, text), "-");
	j = (struct job){.state = JOB_RUNNING, .adopted = true, .started_unix_ms = 1000};
	assert_string_equal(job_ran(&j, 11000, text), "10.0 s");
	j.state = JOB_LOST; /* when it ended is not known */
	assert_string_equal(job_ran(&j, 11000, text), "-");
	j.ended_unix_ms = 3000;
	assert_string_equal(job_ran(&j, 11000, text), "2.0 s");
}

static void three_states_are_live(void **state)
{
	(void)state;
	for (enum job_state s = JOB_STARTING; s < JOB_STATE_MAX; s++) {
		struct job j = {.state = s};
		assert_int_equal(job_is_open(&j), s == JOB_STARTING || s == JOB_RUNNING || s == JOB_WAITING);
	}
}

static void a_job_whose_vigil_is_gone_is_lost(void **state)
{
	(void)state;
	made_process(&made, &(struct made_process){.pid = 70, .ppid = 1, .start_ticks = 5000, .comm = "vigil"});
	made_process(&made,
		     &(struct made_process){.pid = 71, .ppid = 1, .start_ticks = 5000, .comm = "vigil", .state = 'Z'});
	view.world = made.w;
	view.has_world = true;
	static const struct {
		pid_t pid;
		uint64_t start;
		const char *node;
		enum job_state before, after;
	} cases[] = {
		{70, 5000, "", JOB_RUNNING, JOB_RUNNING},
		{70, 4999, "", JOB_RUNNING, JOB_LOST}, /* another process has its number now */
		{71, 5000, "", JOB_WAITING, JOB_LOST}, /* a zombie */
		{72, 5000, "", JOB_STARTING, JOB_LOST},
		{72, 5000, "another-machine.example.org", JOB_RUNNING, JOB_RUNNING},
		{72, 5000, "", JOB_DONE, JOB_DONE},
		{0, 0, "", JOB_RUNNING, JOB_RUNNING},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct job j = {.state = cases[i].before, .supervisor_pid = cases[i].pid};
		j.supervisor_start_ticks = cases[i].start;
		TEXT_COPY(j.node, cases[i].node);
		view_refresh(&view, &j);
		assert_int_equal(j.state, cases[i].after);
	}
}

static void a_running_process_is_shown_with_its_memory_of_now(void **state)
{
	(void)state;
	made_process(&made, &(struct made_process){.pid = 80, .ppid = 1, .start_ticks = 900, .comm = "python"});
	static const char status[] =
		"Name:\tpython\nUmask:\t0022\nState:\tS (sleeping)\nTgid:\t80\nPid:\t80\nPPid:\t1\n"
		"Uid:\t0\t0\t0\t0\nVmRSS:\t1000 kB\nRssAnon:\t700 kB\nRssFile:\t200 kB\n"
		"RssShmem:\t100 kB\nVmSwap:\t50 kB\n";
	made_write(&made, "proc/80/status", status, sizeof(status) - 1);
	view.world = made.w;
	view.has_world = true;
	struct job_process p = {.pid = 80, .start_ticks = 900, .peak_own_bytes = 600 * KIB};
	assert_true(view_process_now(&view, &p));
	assert_int_equal(p.rss_bytes, 1000 * KIB);
	assert_int_equal(p.shared_bytes, 300 * KIB);
	assert_int_equal(p.own_bytes, 700 * KIB);
	assert_int_equal(p.swap_bytes, 50 * KIB);
	assert_int_equal(p.peak_own_bytes, 700 * KIB);
	p = (struct job_process){.pid = 80, .start_ticks = 900};
	assert_true(view_process_now(&view, &p));
	assert_int_equal(p.peak_own_bytes, 0); /* it was never measured */
	p = (struct job_process){.pid = 80, .start_ticks = 901};
	assert_false(view_process_now(&view, &p));
	p = (struct job_process){.pid = 80, .start_ticks = 900, .ended_unix_ms = 1};
	assert_false(view_process_now(&view, &p));
	assert_int_equal(p.rss_bytes, 0);
}

static void a_job_is_found_or_the_nearest_is_named(void **state)
{
	(void)state;
	char want[400];
	struct job got = {.id = "untouched"};
	const struct job jobs[] = {job_of("digits-1", "digits", JOB_DONE, 1000),
				   job_of("train-2", "train", JOB_DONE, 2000)};
	open_store(jobs, ARRAY_SIZE(jobs));
	assert_int_equal(view_job(&view, "digits", &got), 0);
	assert_string_equal(got.id, "digits-1");
	assert_int_equal(view_job(&view, NULL, &got), 0);
	assert_string_equal(got.id, "train-2");
	assert_string_equal(logged, "");
	assert_int_equal(view_job(&view, "digist", &got), EXIT_ABSENT);
	TEXT_FORMAT(want, "vigil: no job 'digist' in %s; did you mean 'digits'?\n", made.dir);
	assert_logged(want);
	assert_int_equal(view_job(&view, "resnet", &got), EXIT_ABSENT);
	TEXT_FORMAT(want, "vigil: no job 'resnet' in %s; 'vigil jobs' lists the jobs\n", made.dir);
	assert_logged(want);
	assert_int_equal(view_job(&view, "17", &got), EXIT_ABSENT);
	/* Not every process of a watched job is recorded: that none had it is not known. */
	TEXT_FORMAT(want,
		    "vigil: nothing in %s tells of a process 17, and no job is called so; a job may have had it "
		    "without a record: 'vigil jobs' lists the jobs\n",
		    made.dir);
	assert_logged(want);
	assert_string_equal(got.id, "train-2");
}

static void a_pid_names_the_job_that_had_it(void **state)
{
	(void)state;
	struct job got;
	char note[256];
	struct fault f = {.text = ""};
	struct store *s = NULL;
	const struct job job = job_of("digits-1", "digits", JOB_DONE, 1000);
	struct job_process p = {.pid = 4711, .start_ticks = 9, .rank = 0};
	TEXT_COPY(p.job, "digits-1");
	store_fill(made.dir, &job, 1);
	assert_int_equal(store_open(made.dir, STORE_WRITE, &s, note, &f), 0);
	assert_int_equal(store_put_process(s, &p), 0);
	store_close(s);
	open_store(NULL, 0);
	assert_int_equal(view_job(&view, "4711", &got), 0);
	assert_string_equal(got.id, "digits-1");
}

static void without_a_store_its_absence_is_the_answer(void **state)
{
	(void)state;
	struct job got;
	char absent[100];
	TEXT_FORMAT(absent, "%s/none", made.dir);
	assert_int_equal(view_open(absent, &view), 0);
	assert_null(view.store);
	assert_string_equal(view.state, absent);
	assert_non_null(strstr(view.none, absent));
	assert_int_equal(view_job(&view, "last", &got), EXIT_ABSENT);
	assert_non_null(strstr(logged, view.none));
	view_done(&view);
	assert_false(view.has_world);
}

static void an_empty_store_has_no_last_job(void **state)
{
	(void)state;
	struct job got;
	char want[400];
	open_store(NULL, 0);
	assert_int_equal(view_job(&view, "last", &got), EXIT_ABSENT);
	TEXT_FORMAT(want, "vigil: no job has been recorded in %s yet; start one with 'vigil run -- COMMAND'\n",
		    made.dir);
	assert_logged(want);
}

static void errors_of_the_store_become_exit_statuses(void **state)
{
	(void)state;
	TEXT_COPY(view.state, "/s");
	assert_int_equal(view_failed(&view, -EACCES, "the jobs"), EXIT_DENIED);
	assert_logged("vigil: cannot read the jobs from the store in /s: Permission denied\n");
	assert_int_equal(view_failed(&view, -ENOENT, "the jobs"), EXIT_ABSENT);
	logged[0] = '\0';
	assert_int_equal(view_failed(&view, -EBADMSG, "the jobs"), EXIT_PROBLEM);
	assert_logged("vigil: cannot read the jobs: the store in /s is damaged; the next 'vigil run' moves it aside\n");
	assert_int_equal(view_failed(&view, 7, "the jobs"), EXIT_PROBLEM);
	assert_logged("vigil: cannot read the jobs from the store in /s: Input/output error\n");
}

#define VIEW_TEST(t) cmocka_unit_test_setup_teardown(t, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		VIEW_TEST(ends_are_written_as_people_say_them),
		VIEW_TEST(the_last_column_gets_what_is_left),
		VIEW_TEST(words_too_many_are_named),
		VIEW_TEST(the_time_a_job_ran_is_told_where_it_is_known),
		VIEW_TEST(three_states_are_live),
		VIEW_TEST(a_job_whose_vigil_is_gone_is_lost),
		VIEW_TEST(a_running_process_is_shown_with_its_memory_of_now),
		VIEW_TEST(a_job_is_found_or_the_nearest_is_named),
		VIEW_TEST(a_pid_names_the_job_that_had_it),
		VIEW_TEST(without_a_store_its_absence_is_the_answer),
		VIEW_TEST(an_empty_store_has_no_last_job),
		VIEW_TEST(errors_of_the_store_become_exit_statuses),
	};
	return cmocka_run_group_tests_name("cli/view", tests, NULL, NULL);
}
