#include "memfile.h"

#include "base/buf.h"
#include "model/incident/incident.h"
#include "tell/stacks/stack_show.h"

static struct memfile out;
static struct stackdump dump;
static struct dump_process process;
static struct dump_thread threads[4];
static struct dump_local local = {.name = (char *)"x", .value = (char *)"1\033[2J", .is_arg = true};
static struct dump_frame frames[2];
static struct dump_frame twin_frame = {
	.kind = FRAME_NATIVE, .name = (char *)"epoll_wait", .module = (char *)"libc.so.6"};

static int prepare(void **state)
{
	(void)state;
	frames[0] = (struct dump_frame){.kind = FRAME_PYTHON,
					.name = (char *)"step",
					.file = (char *)"/srv/train.py",
					.line = 7,
					.locals = &local,
					.n_locals = 1};
	frames[1] = (struct dump_frame){
		.kind = FRAME_PYTHON, .name = (char *)"inner", .file = (char *)"t.py", .interp_id = 2};
	threads[0] = (struct dump_thread){.tid = 10,
					  .name = "python",
					  .main = true,
					  .wait = {.kind = WAIT_RUNNING, .fd = -1, .text = "running"},
					  .wait_kind = "running",
					  .gil = DUMP_GIL_HOLDS,
					  .has_python = true,
					  .frames = frames,
					  .n_frames = 2};
	for (int i = 1; i < 4; i++)
		threads[i] = (struct dump_thread){.tid = 10 + i,
						  .name = "pool",
						  .wait = {.kind = WAIT_LOCK, .fd = -1, .owner = 10, .text = "futex"},
						  .wait_kind = "lock",
						  .frames = &twin_frame,
						  .n_frames = 1};
	process = (struct dump_process){.pid = 10,
					.rank = 3,
					.role = "main",
					.name = "python",
					.command = "python train.py",
					.state = 'S',
					.python = "3.11.2",
					.threads = threads,
					.n_threads = 4};
	dump = (struct stackdump){
		.captured_unix_ms = 5, .took_ns = 2500, .first_ns = 1000, .processes = &process, .n = 1};
	return 0;
}

static int finish(void **state)
{
	(void)state;
	memfile_done(&out);
	return 0;
}

static const char *shown(struct stack_show how)
{
	stack_text(&dump, &how, memfile_open(&out));
	return memfile_text(&out);
}

static void threads_without_python_are_counted_unless_asked_for(void **state)
{
	(void)state;
	assert_string_equal(shown((struct stack_show){0}),
			    "Process 10, rank 3, main, CPython 3.11.2: python train.py\n"
			    "  Thread 10 \"python\" (main): running, holds the GIL\n"
			    "      step (/srv/train.py:7)\n"
			    "          argument x = 1?[2J\n"
			    "      inner (t.py) [interpreter 2]\n"
			    "  3 more threads run no Python code (--threads all shows them)\n");
	const char *all = shown((struct stack_show){.all_threads = true});
	assert_has(all, "  Thread 13 \"pool\": futex\n      epoll_wait [libc.so.6]\n");
	assert_has_no(all, "the same:");
}

static void equal_threads_of_a_native_program_are_shown_once(void **state)
{
	(void)state;
	process.python[0] = '\0';
	const char *text = shown((struct stack_show){0});
	assert_has(text, "  Thread 11 \"pool\": futex\n  the same: 12, 13 (3 threads)\n      epoll_wait [libc.so.6]\n");
	assert_has_no(text, "Thread 12");
	threads[3].wait.kind = WAIT_DISK; /* waits for something else */
	text = shown((struct stack_show){0});
	assert_has(text, "  the same: 12 (2 threads)\n");
	assert_has(text, "  Thread 13 \"pool\"");
}

static void what_is_missing_is_said_in_plain_words(void **state)
{
	(void)state;
	process.n_threads = 2;
	threads[0].approximate = true;
	threads[0].incomplete = true;
	threads[1].n_frames = 0;
	threads[1].main = true;
	dump.cut = dump.wrong_possible = true;
	const char *text = shown((struct stack_show){0});
	assert_has(text, "holds the GIL, Python and native frames joined by a best guess\n");
	assert_has(text, "      … (the outermost native callers could not be found)\n");
	assert_has(text, "      (no frames)\n");
	assert_has(text, "\nincomplete: the time was up before all threads were read\n");
	assert_has(
		text,
		"\npossibly wrong: a thread ran while it was read, so some of its frames may be of another moment\n");
	assert_has_no(text, "locks and tasks");
	text = shown((struct stack_show){.waits_late = true});
	assert_has(text,
		   "\nincomplete: the time was up before all of Python's locks and tasks were read, so who waits");
	threads[0].cut = true;
	text = shown((struct stack_show){0});
	assert_has(text, "      … (the stack is deeper than what vigil keeps)\n");
	assert_has_no(text, "could not be found");
}

static void a_thread_of_unknown_number_shows_why(void **state)
{
	(void)state;
	threads[0].tid = 0;
	threads[0].gil = DUMP_GIL_WAITS;
	TEXT_COPY(threads[0].note, "CPython 3.8 does not tell");
	assert_has(shown((struct stack_show){0}),
		   "  A thread, waits for the GIL (CPython 3.8 does not tell)\n      step");
}

static void the_json_tells_state_and_wait(void **state)
{
	(void)state;
	threads[1].wait.owner_gone = true;
	cleanup(js_freep) struct js *j = stack_json(&dump, NULL);
	assert_string_equal(js_get_text(j, "schema", ""), "vigil.stacks/1");
	assert_int_equal(js_get_i64(j, "took_us", 0), 2);
	assert_null(js_get(j, "cut"));
	const struct js *all = js_get(js_at(js_get(j, "processes"), 0), "threads"), *first = js_at(all, 0),
			*second = js_at(all, 1);
	assert_int_equal(js_len(all), 4);
	assert_string_equal(js_get_text(first, "state", ""), "running");
	assert_true(js_get_bool(first, "holds_gil", false));
	assert_null(js_get(first, "wait"));
	assert_string_equal(js_get_text(second, "state", ""), "blocked");
	assert_null(js_get(second, "holds_gil"));
	assert_int_equal(js_get_i64(js_get(second, "wait"), "owner_tid", 0), 10);
	assert_true(js_get_bool(js_get(second, "wait"), "owner_gone", false));
	const struct js *frame = js_at(js_get(first, "frames"), 0);
	assert_int_equal(js_get_i64(frame, "line", 0), 7);
	assert_string_equal(js_get_text(js_at(js_get(frame, "locals"), 0), "value", ""), "1\033[2J");
	assert_int_equal(js_get_i64(js_at(js_get(first, "frames"), 1), "interpreter", 0), 2);
}

static void an_incident_takes_only_threads_with_frames(void **state)
{
	(void)state;
	threads[2].n_frames = 0;
	cleanup(js_freep) struct js *a = stack_incident_json(&dump, NULL);
	assert_int_equal(js_len(a), 3);
	assert_int_equal(js_get_i64(js_at(a, 0), "rank", -1), 3);
	assert_null(js_get(js_at(a, 0), "waiting_on"));
	assert_string_equal(js_get_text(js_at(a, 1), "waiting_on", ""), "futex");
	assert_int_equal(js_get_i64(js_at(a, 2), "tid", -1), 13);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(threads_without_python_are_counted_unless_asked_for, prepare),
		cmocka_unit_test_setup(equal_threads_of_a_native_program_are_shown_once, prepare),
		cmocka_unit_test_setup(what_is_missing_is_said_in_plain_words, prepare),
		cmocka_unit_test_setup(a_thread_of_unknown_number_shows_why, prepare),
		cmocka_unit_test_setup(the_json_tells_state_and_wait, prepare),
		cmocka_unit_test_setup(an_incident_takes_only_threads_with_frames, prepare),
	};
	return cmocka_run_group_tests(tests, NULL, finish);
}
